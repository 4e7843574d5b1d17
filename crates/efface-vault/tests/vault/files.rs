//! Journals, copies, moves, names and locks of a vault's file: what is put beside it, taken away
//! from it or opened next to it changes nothing that was acknowledged.

use crate::child;
use crate::planted::{Needles, Planted, assert_clean, genesis, keyring, unlocked};
use efface_vault::{
    CreateError, Existing, LockError, OpenError, ReadError, StoreFault, Vault, WriteError,
};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

const ROWS: u64 = 60;

fn row(seed: u64) -> Planted {
    Planted::new(seed, [40, 900, 9000][seed as usize % 3], Some(seed))
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join("m.efface")
}

fn create(folder: &Path) -> PathBuf {
    let mut creation = Vault::create(&path_in(folder), &genesis(), &keyring()).unwrap();
    for seed in 0..ROWS {
        row(seed).insert(&mut creation);
    }
    creation.commit().unwrap();
    path_in(folder)
}

/// Deletes the record of this seed.
fn delete(path: &Path, seed: u64) {
    let mut vault = unlocked(path);
    let rows = vault.find_subject(row(seed).subject.as_deref().unwrap()).unwrap();
    assert_eq!(rows.len(), 1);
    let mut change = vault.begin().unwrap();
    change.delete_records(&rows).unwrap();
    change.commit().unwrap();
}

fn count(path: &Path) -> u64 {
    Vault::open_read_only(path).unwrap().counts().unwrap().records
}

/// As many rows as make a change be written to the file before its commit.
fn many() -> impl Iterator<Item = Planted> {
    (10_000..18_000).map(|seed| Planted::new(seed, 9000, None))
}

/// A process that begins a change too large for the memory and is killed in it. The test called
/// `test` calls [`killed`] first.
fn kill_in_a_change(test: &str, path: &Path) {
    let ended = child::command(test, path.to_str().unwrap()).output().unwrap();
    assert!(!ended.status.success());
    assert!(journal(path).exists(), "nothing was interrupted");
}

fn killed() -> bool {
    let Some(path) = child::task() else { return false };
    let mut vault = unlocked(Path::new(&path));
    let rows = vault.find_subject(row(7).subject.as_deref().unwrap()).unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&rows).unwrap();
    for row in many() {
        row.insert(&mut change);
    }
    std::process::abort();
}

fn journal(path: &Path) -> PathBuf {
    path.with_file_name("m.efface-journal")
}

/// Blocks of a file that is removed as it is keep the rows of the last deletion.
#[test]
fn the_journal_is_overwritten_before_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let mut vault = unlocked(&path);
    let rows = vault.find_subject(row(8).subject.as_deref().unwrap()).unwrap();
    for undone in [true, false] {
        let mut change = vault.begin().unwrap();
        change.delete_records(&rows).unwrap();
        let mut kept = fs::File::open(journal(&path)).unwrap();
        if undone {
            drop(change);
        } else {
            change.commit().unwrap();
        }
        assert!(!journal(&path).exists());
        let mut bytes = Vec::new();
        kept.seek(SeekFrom::Start(0)).unwrap();
        kept.read_to_end(&mut bytes).unwrap();
        assert!(bytes.len() > 8192, "{} bytes: the journal was not looked at", bytes.len());
        assert!(bytes.iter().all(|&byte| byte == 0), "undone: {undone}");
    }
}

/// A process killed between its commit and the end of the journal leaves the rows in a void one.
#[test]
fn a_void_journal_is_overwritten_by_the_next_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let mut left = vec![0; 512];
    left.extend_from_slice(&row(900).features);
    fs::write(journal(&path), &left).unwrap();
    assert_eq!(count(&path), ROWS);
    let mut kept = fs::File::open(journal(&path)).unwrap();
    drop(Vault::open(&path).unwrap());
    assert!(!journal(&path).exists());
    let mut bytes = Vec::new();
    kept.read_to_end(&mut bytes).unwrap();
    assert!(bytes.len() == left.len() && bytes.iter().all(|&byte| byte == 0));
}

#[test]
fn a_backup_put_back_beside_a_journal_is_refused_and_left_alone() {
    const TEST: &str = "files::a_backup_put_back_beside_a_journal_is_refused_and_left_alone";
    if killed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let earlier = fs::read(&path).unwrap();
    delete(&path, 3);
    let latest = fs::read(&path).unwrap();
    kill_in_a_change(TEST, &path);
    let (interrupted, left) = (fs::read(&path).unwrap(), fs::read(journal(&path)).unwrap());

    // Of an earlier state, written over the file or in its place.
    for renamed in [false, true] {
        if renamed {
            fs::write(folder.path().join("b"), &earlier).unwrap();
            fs::rename(folder.path().join("b"), &path).unwrap();
        } else {
            fs::write(&path, &earlier).unwrap();
        }
        for refused in [Vault::open(&path).unwrap_err(), Vault::open_read_only(&path).unwrap_err()]
        {
            assert!(matches!(refused, OpenError::ForeignJournal(_)), "{refused}");
            assert!(refused.to_string().contains("remove the journal"), "{refused}");
        }
        assert!(fs::read(&path).unwrap() == earlier && fs::read(journal(&path)).unwrap() == left);
    }
    // Of another vault under the same name, which a new vault does not get.
    fs::remove_file(&path).unwrap();
    let refused = Vault::create(&path, &genesis(), &keyring()).unwrap_err();
    assert!(
        refused.to_string().contains("is the journal of an interrupted request of another vault"),
        "{refused}"
    );

    // Of the very state before the interrupted change: to undo it changes nothing.
    fs::write(&path, &latest).unwrap();
    assert_eq!(Vault::open(&path).unwrap().counts().unwrap().records, ROWS - 1);
    // And the interrupted vault itself is recovered.
    fs::write(&path, &interrupted).unwrap();
    fs::write(journal(&path), &left).unwrap();
    let mut vault = Vault::open(&path).unwrap();
    assert_eq!(vault.counts().unwrap().records, ROWS - 1);
    assert_clean(&mut vault, "recovery");
    drop(vault);
    let mut never = Needles::new();
    many().for_each(|row| never.record(&row, true));
    never.assert_gone(folder.path(), "recovery");
}

#[test]
fn a_vault_taken_away_from_its_journal_is_refused_and_left_alone() {
    const TEST: &str = "files::a_vault_taken_away_from_its_journal_is_refused_and_left_alone";
    if killed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    kill_in_a_change(TEST, &path);
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let copy = path_in(&elsewhere);
    fs::copy(&path, &copy).unwrap();
    let bytes = fs::read(&copy).unwrap();
    for refused in [Vault::open(&copy).unwrap_err(), Vault::open_read_only(&copy).unwrap_err()] {
        assert!(matches!(refused, OpenError::WithoutJournal(_)), "{refused}");
        assert!(refused.to_string().contains("m.efface-journal"), "{refused}");
    }
    assert!(fs::read(&copy).unwrap() == bytes);
    // With it, the copy is recovered as the vault itself is.
    fs::copy(journal(&path), journal(&copy)).unwrap();
    for path in [&path, &copy] {
        drop(Vault::open(path).unwrap());
        assert_eq!(count(path), ROWS);
    }
}

/// Where each page of the file is named by the list of unused pages.
fn unused_pages(bytes: &[u8]) -> (usize, Vec<u32>) {
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let trunk = (word(32) as usize - 1) * 8192;
    (trunk, (0..word(trunk + 4) as usize).map(|entry| word(trunk + 8 + 4 * entry)).collect())
}

#[test]
fn a_damaged_list_of_unused_pages_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    for seed in [2, 5, 8, 11] {
        delete(&path, seed);
    }
    let whole = fs::read(&path).unwrap();
    let (trunk, leaves) = unused_pages(&whole);
    assert!(leaves.len() > 3);
    let live = (2..).find(|page| {
        let at = (*page as usize - 1) * 8192;
        !leaves.contains(page) && at != trunk && whole[at..at + 8192].iter().any(|&b| b != 0)
    });
    let number = |bytes: &mut [u8], at: usize, value: u32| {
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    };
    let itself = trunk as u32 / 8192 + 1;
    type Damage<'a> = &'a dyn Fn(&mut [u8]);
    let damages: [(&str, Damage<'_>); 6] = [
        ("points at itself", &|bytes| {
            number(bytes, trunk, itself);
            number(bytes, trunk + 4, 0);
            number(bytes, 36, u32::MAX);
        }),
        ("points at itself, with a likely length", &|bytes| {
            number(bytes, trunk, itself);
            number(bytes, trunk + 4, 0);
        }),
        ("names a page twice", &|bytes| number(bytes, trunk + 8, leaves[1])),
        ("names no page", &|bytes| number(bytes, trunk + 8, 0)),
        ("names a page beyond the end", &|bytes| number(bytes, trunk + 8, 1 << 24)),
        ("names a page with rows", &|bytes| number(bytes, trunk + 8, live.unwrap())),
    ];
    for (what, damage) in damages {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let refused = Vault::open(&path).unwrap_err();
        assert!(matches!(refused, OpenError::Store(StoreFault::Damaged(_))), "{what}: {refused}");
        assert!(fs::read(&path).unwrap() == bytes, "{what}: the file was changed");
    }
}

#[cfg(unix)]
#[test]
fn a_vault_with_two_names_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let other = folder.path().join("other.efface");
    fs::hard_link(&path, &other).unwrap();
    for path in [&path, &other] {
        for refused in [Vault::open(path).unwrap_err(), Vault::open_read_only(path).unwrap_err()] {
            assert!(refused.to_string().contains("has 2 names (hard links)"), "{refused}");
        }
    }
    fs::remove_file(&other).unwrap();
    assert_eq!(count(&path), ROWS);
}

/// The lock belongs to the file, not only to its name or to the file beside it.
#[cfg(target_os = "linux")]
#[test]
fn a_writer_is_alone_under_every_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let first = Vault::open(&path).unwrap();
    fs::remove_file(folder.path().join("m.efface.lock")).unwrap();
    // Closing a handle drops every POSIX lock that this process has on the file.
    drop(fs::read(&path).unwrap());
    let moved = folder.path().join("moved.efface");
    fs::rename(&path, &moved).unwrap();
    let refused = Vault::open(&moved).unwrap_err();
    assert!(matches!(refused, OpenError::Lock(LockError::InUse(_))), "{refused}");
    drop(first);
    Vault::open(&moved).unwrap();
}

/// A program that looks into its own vault with other means keeps the protection of what it reads.
#[cfg(target_os = "linux")]
#[test]
fn opening_the_own_vault_loses_no_lock() {
    const TEST: &str = "files::opening_the_own_vault_loses_no_lock";
    if let Some(path) = child::task() {
        let mut vault = unlocked(Path::new(&path));
        vault.set_patience(Duration::from_millis(50)).unwrap();
        let mut change = vault.begin().unwrap();
        row(500).insert(&mut change);
        match change.commit() {
            Ok(()) => println!("\ncommitted"),
            Err(WriteError::Store(StoreFault::Busy)) => println!("\nbusy"),
            Err(other) => panic!("{other}"),
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let commits = || {
        let output = child::command(TEST, path.to_str().unwrap()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        text.contains("\ncommitted")
    };
    let reader = Vault::open_read_only(&path).unwrap();
    drop(fs::read(&path).unwrap());
    assert!(!commits(), "a writer changed what a reader was looking at");
    assert_eq!(reader.counts().unwrap().records, ROWS);
    drop(reader);
    assert!(commits());
}

#[test]
fn a_copy_is_whole_private_and_swept() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    delete(&path, 5);
    let copy = folder.path().join("copy.efface");
    let reader = Vault::open_read_only(&path).unwrap();
    let copied = reader.copy_to(&copy, Existing::Keep, &mut || false).unwrap();
    assert!(!copy.exists() && copied.path().exists());
    copied.place().unwrap();
    drop(reader);
    let mut vault = unlocked(&copy);
    assert_eq!(vault.counts().unwrap().records, ROWS - 1);
    assert_clean(&mut vault, "a copy");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        // It has not served where it is, and says so once it does.
        let placed = vault.begin().unwrap().note_place().unwrap();
        assert!(placed.moved_now && placed.moves == 1, "{placed:?}");
    }
    drop(vault);
    let reader = Vault::open_read_only(&path).unwrap();
    let refused = reader.copy_to(&copy, Existing::Keep, &mut || false).unwrap_err();
    assert!(matches!(refused, CreateError::AlreadyExists(_)), "{refused}");
    let stopped = folder.path().join("stopped.efface");
    let refused = reader.copy_to(&stopped, Existing::Keep, &mut || true).unwrap_err();
    assert!(matches!(refused, CreateError::Write(WriteError::Stopped)), "{refused}");
    drop(reader);
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["copy.efface", "m.efface"]);
}

#[test]
fn a_copy_takes_the_place_of_a_vault_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let target = folder.path().join("other.efface");
    fs::write(&target, vec![b'x'; 9000]).unwrap();
    let reader = Vault::open_read_only(&path).unwrap();
    let refused = reader.copy_to(&target, Existing::Replace, &mut || false).unwrap_err();
    assert!(refused.to_string().contains("is not a vault and is not replaced"), "{refused}");
    assert_eq!(fs::read(&target).unwrap(), vec![b'x'; 9000]);
    fs::remove_file(&target).unwrap();

    let mut creation = Vault::create(&target, &genesis(), &keyring()).unwrap();
    let lost = Planted::new(700, 9000, None);
    lost.insert(&mut creation);
    creation.commit().unwrap();
    let beside = folder.path().join("other.efface-journal");
    fs::write(&beside, "x").unwrap();
    let refused = reader.copy_to(&target, Existing::Replace, &mut || false).unwrap_err();
    assert!(
        refused.to_string().contains("is the journal of an interrupted request of another vault"),
        "{refused}"
    );
    fs::remove_file(&beside).unwrap();
    let mut replaced = fs::File::open(&target).unwrap();
    reader.copy_to(&target, Existing::Replace, &mut || false).unwrap().place().unwrap();
    assert_eq!(count(&target), ROWS);
    let mut bytes = Vec::new();
    replaced.read_to_end(&mut bytes).unwrap();
    assert!(bytes.len() > 9000 && bytes.iter().all(|&byte| byte == 0));
}

/// Also a vault that a killed process left in the middle of a change.
#[test]
fn a_moved_vault_leaves_nothing_behind() {
    const TEST: &str = "files::a_moved_vault_leaves_nothing_behind";
    if killed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    kill_in_a_change(TEST, &path);
    let mut old = fs::File::open(&path).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("kept.efface");
    Vault::open(&path).unwrap().move_to(&target, &mut || false).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut bytes = Vec::new();
    old.read_to_end(&mut bytes).unwrap();
    assert!(!bytes.is_empty() && bytes.iter().all(|&byte| byte == 0));

    let mut vault = unlocked(&target);
    let mut place = 0;
    let read = vault.scan(|_, stored| {
        assert!(stored == row(place).stored());
        place += 1;
        Ok::<_, ReadError>(())
    });
    read.unwrap();
    assert_eq!(place, ROWS);
    assert_clean(&mut vault, "a move");
    // It was the vault itself that moved, so no other copy serves.
    assert_eq!(vault.begin().unwrap().note_place().unwrap().moves, 0);
    let refused = vault.move_to(&target, &mut || false).unwrap_err();
    assert!(matches!(refused, CreateError::AlreadyExists(_)), "{refused}");
    assert_eq!(count(&target), ROWS);
}

/// Lets a vault serve once: whether it was found moved, and how often it was.
#[cfg(unix)]
fn note(path: &Path) -> (bool, u64) {
    let mut vault = unlocked(path);
    let mut change = vault.begin().unwrap();
    let placed = change.note_place().unwrap();
    change.commit().unwrap();
    (placed.moved_now, placed.moves)
}

/// What a kill leaves between the two ends of a move: two vaults, of which the old one says so.
#[cfg(unix)]
#[test]
fn of_two_vaults_that_an_interrupted_move_leaves_one_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let target = folder.path().join("kept.efface");
    // In the way of the old file, once the new one has its name.
    let obstacle = folder.path().join("m.efface.partial");
    fs::create_dir(&obstacle).unwrap();
    let error = Vault::open(&path).unwrap().move_to(&target, &mut || false).unwrap_err();
    assert!(error.to_string().contains("the vault is in its new place, but"), "{error}");
    assert_eq!((count(&path), count(&target)), (ROWS, ROWS));
    assert_eq!(note(&target), (false, 0));
    assert_eq!(note(&path), (true, 1));
}

/// A move that fails before the new file has its name leaves the vault where it was.
#[cfg(unix)]
#[test]
fn a_move_that_fails_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let target = folder.path().join("kept.efface");
    let mut taken = || {
        fs::write(&target, "mine").unwrap();
        false
    };
    let refused = Vault::open(&path).unwrap().move_to(&target, &mut taken).unwrap_err();
    assert!(matches!(refused, CreateError::AlreadyExists(_)), "{refused}");
    assert_eq!(fs::read(&target).unwrap(), b"mine");
    assert_eq!((count(&path), note(&path)), (ROWS, (false, 0)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn a_copy_that_serves_is_noticed_and_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    assert_eq!(note(&path), (false, 0));
    let copy = folder.path().join("copy.efface");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(note(&copy), (true, 1));
    assert_eq!(note(&copy), (false, 1));
    assert_eq!(note(&path), (false, 0));
    let renamed = folder.path().join("renamed.efface");
    fs::rename(&path, &renamed).unwrap();
    assert_eq!(note(&renamed), (false, 0), "another name is not another file");
}

/// Another program puts an older copy in the vault's place, or takes the file away, while a change is
/// under way: nobody is told that the record is gone from what lies there.
#[cfg(unix)]
#[test]
fn a_file_that_was_replaced_under_a_change_is_no_vault_that_forgot() {
    for put_back in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let path = create(folder.path());
        let (copy, aside) = (folder.path().join("copy"), folder.path().join("aside"));
        fs::copy(&path, &copy).unwrap();
        let mut vault = unlocked(&path);
        let rows = vault.find_subject(row(4).subject.as_deref().unwrap()).unwrap();
        let mut change = vault.begin().unwrap();
        change.delete_records(&rows).unwrap();
        fs::rename(&path, &aside).unwrap();
        if put_back {
            fs::rename(&copy, &path).unwrap();
        }
        let error = change.commit().unwrap_err();
        assert!(error.to_string().contains("in its place; nothing was changed"), "{error}");
        assert!(error.to_string().contains("nothing was changed"), "{error}");
        drop(vault);
        // Back at its place it is as it was, and forgets.
        fs::rename(&aside, &path).unwrap();
        assert_eq!(count(&path), ROWS);
        delete(&path, 4);
        assert_eq!(count(&path), ROWS - 1);
    }
}

/// `cp older vault`: the file stays, its bytes do not. What was put there is left as it is, and nobody is
/// told that it forgot.
#[test]
fn bytes_written_over_a_file_under_a_change_are_no_vault_that_forgot() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let earlier = fs::read(&path).unwrap();
    delete(&path, 3);
    let latest = fs::read(&path).unwrap();
    // Before the change has written anything; and between its pages and its commit.
    for asked in [0, 1, 2] {
        fs::write(&path, &latest).unwrap();
        let mut vault = unlocked(&path);
        let rows = vault.find_subject(row(4).subject.as_deref().unwrap()).unwrap();
        let mut change = vault.begin().unwrap();
        change.delete_records(&rows).unwrap();
        let mut kept = fs::File::open(journal(&path)).unwrap();
        let mut times = 0;
        if asked == 0 {
            fs::write(&path, &earlier).unwrap();
        }
        let error = change.commit_unless(&mut || {
            times += 1;
            if times == asked {
                fs::write(&path, &earlier).unwrap();
            }
            false
        });
        let error = error.unwrap_err();
        let said = error.to_string();
        assert!(
            error.to_string().ends_with("and is not known to have forgotten anything"),
            "{said}"
        );
        assert!(said.contains("not known to have forgotten"), "{asked}: {said}");
        assert!(times >= asked, "{times}");
        drop(vault);
        assert!(fs::read(&path).unwrap() == earlier, "{asked}: what was put there was changed");
        let mut bytes = Vec::new();
        kept.read_to_end(&mut bytes).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 0) && !journal(&path).exists(), "{asked}");
        assert_eq!(count(&path), ROWS);
    }
    delete(&path, 4);
    assert_eq!(count(&path), ROWS - 1);
}

/// A handle whose file was replaced between two changes begins no third one, and leaves the journal of
/// what is there now alone.
#[cfg(unix)]
#[test]
fn a_change_of_a_file_that_is_elsewhere_is_not_begun() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let (copy, aside) = (folder.path().join("copy"), folder.path().join("aside"));
    fs::copy(&path, &copy).unwrap();
    let mut vault = unlocked(&path);
    fs::rename(&path, &aside).unwrap();
    fs::rename(&copy, &path).unwrap();
    fs::write(journal(&path), vec![7; 600]).unwrap();
    let error = vault.begin().unwrap_err();
    assert!(error.to_string().contains("in its place; nothing was changed"), "{error}");
    assert_eq!(fs::read(journal(&path)).unwrap(), vec![7; 600]);
}

/// Another file in the place of the one to replace is not replaced.
#[cfg(unix)]
#[test]
fn a_copy_replaces_what_it_looked_at_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = create(folder.path());
    let target = folder.path().join("other.efface");
    fs::copy(&path, &target).unwrap();
    let reader = Vault::open_read_only(&path).unwrap();
    let copied = reader.copy_to(&target, Existing::Replace, &mut || false).unwrap();
    fs::remove_file(&target).unwrap();
    fs::write(&target, "mine").unwrap();
    let refused = copied.place().unwrap_err();
    assert!(matches!(refused, CreateError::AlreadyExists(_)), "{refused}");
    assert_eq!(fs::read(&target).unwrap(), b"mine");
}
