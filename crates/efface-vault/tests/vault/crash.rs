//! Killed at any moment, a vault holds every acknowledged change once and any other change wholly
//! or not at all, and nothing of what was deleted or never added.

use crate::child;
use crate::planted::{Needles, Planted, assert_clean, genesis, keyring, unlocked};
use efface_vault::{OpenError, ReadError, Request, StoreFault, Vault, WriteError};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Kills in one run of the test; `EFFACE_CRASHES` sets another number.
const KILLS: u64 = 20;

/// What a vault should hold after a number of changes: everything follows from the seed.
#[derive(Clone)]
struct Expected {
    seed: u64,
    changes: u64,
    rows: Vec<Planted>,
}

/// One change: what goes and what comes.
struct Plan {
    deleted: Vec<usize>,
    added: Vec<Planted>,
}

impl Expected {
    fn start(seed: u64) -> Self {
        let rows = (0..300).map(|i| record(seed, 0, i)).collect();
        Self { seed, changes: 0, rows }
    }

    /// The next change. Deletes up to a tenth and adds about as many; every seventh change is
    /// large enough to be written to the file before it is committed.
    fn plan(&self) -> Plan {
        let number = self.changes + 1;
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed << 32 | number);
        let mut below = |limit: u64| rng.next_u64() % limit.max(1);
        let mut deleted: Vec<usize> = (0..below(self.rows.len() as u64 / 10))
            .map(|_| below(self.rows.len() as u64) as usize)
            .collect();
        deleted.sort_unstable();
        deleted.dedup();
        let count = if number.is_multiple_of(7) { 900 } else { below(30) };
        let count = if self.rows.len() > 1500 { 0 } else { count };
        let added = (0..count).map(|i| record(self.seed, number, i)).collect();
        Plan { deleted, added }
    }

    fn apply(&mut self, plan: Plan) -> Vec<Planted> {
        self.changes += 1;
        let gone = plan.deleted.iter().rev().map(|&place| self.rows.remove(place)).collect();
        self.rows.extend(plan.added);
        gone
    }

    /// Whether the vault holds exactly this.
    fn assert_held(&self, vault: &Vault) {
        let mut place = 0;
        let read = vault.scan(|_, row| {
            let expected = &self.rows[place];
            assert_eq!(row.id, expected.id, "row {place} after {} changes", self.changes);
            assert!(row == expected.stored(), "row {place} after {} changes", self.changes);
            place += 1;
            Ok::<_, ReadError>(())
        });
        read.unwrap();
        assert_eq!(place, self.rows.len(), "after {} changes", self.changes);
        let number = self.changes;
        let model = vault.model().unwrap().unwrap();
        let kept = (model.version, model.weights, model.salt);
        assert_eq!(kept, (number, weights(number), salt(number)));
        assert_eq!(vault.head().unwrap().map_or(0, |head| head.index + 1), number);
        for earlier in 1..=number {
            let request = vault.request(&format!("r{earlier}")).unwrap().unwrap();
            assert_eq!((request.version, request.entry_index), (Some(earlier), earlier - 1));
            assert_eq!(vault.tombstone(&digest(earlier)).unwrap(), Some(earlier - 1));
        }
        assert_eq!(vault.request(&format!("r{}", number + 1)).unwrap(), None);
        vault.check_notes().unwrap();
    }
}

fn record(seed: u64, change: u64, place: u64) -> Planted {
    let own = seed << 40 | change << 16 | place;
    let size = [24, 300, 3136, 6000][place as usize % 4];
    Planted::new(own, size, (place.is_multiple_of(2)).then_some(own))
}

fn weights(number: u64) -> Vec<u8> {
    Planted::new(u64::MAX - number, 500 + number as usize % 9 * 700, None).features
}

fn digest(number: u64) -> [u8; 32] {
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&number.to_le_bytes());
    digest
}

fn salt(number: u64) -> [u8; 32] {
    digest(u64::MAX - number)
}

fn vault_in(folder: &Path) -> PathBuf {
    folder.join("m.efface")
}

fn create(folder: &Path, start: &Expected) {
    let mut creation = Vault::create(&vault_in(folder), &genesis(), &keyring()).unwrap();
    for row in &start.rows {
        row.insert(&mut creation);
    }
    creation.replace_model(0, &weights(0), &salt(0), &digest(0)).unwrap();
    creation.commit().unwrap();
}

/// One change as the engine would make it.
fn serve(vault: &mut Vault, number: u64, plan: &Plan) -> Result<(), WriteError> {
    let mut rows = Vec::new();
    let read = vault.scan(|id, _| {
        rows.push(id);
        Ok::<_, ReadError>(())
    });
    read.unwrap();
    let deleted: Vec<_> = plan.deleted.iter().map(|&place| rows[place]).collect();
    let mut change = vault.begin()?;
    change.delete_records(&deleted)?;
    for row in &plan.added {
        row.insert(&mut change);
    }
    change.replace_model(number, &weights(number), &salt(number), &digest(number))?;
    let entry = change.append_ledger("certificate", "{\"ok\":true}", &digest(number))?;
    change.set_tombstone(digest(number), entry)?;
    change.insert_request(&Request {
        request_id: format!("r{number}"),
        kind: "update".into(),
        body_digest: Some(digest(number)),
        version: Some(number),
        entry_index: entry,
    })?;
    change.commit()
}

/// The child: opens the vault and changes it until it is killed, acknowledging each change.
fn serve_until_killed(task: &str) {
    let (seed, folder) = task.split_once(' ').unwrap();
    let mut expected = Expected::start(seed.parse().unwrap());
    let mut vault = unlocked(&vault_in(Path::new(folder)));
    let done = vault.head().unwrap().map_or(0, |head| head.index + 1);
    while expected.changes < done {
        let plan = expected.plan();
        expected.apply(plan);
    }
    say("ready");
    loop {
        let plan = expected.plan();
        serve(&mut vault, expected.changes + 1, &plan).unwrap();
        expected.apply(plan);
        say(&format!("done {}", expected.changes));
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").unwrap();
    out.flush().unwrap();
}

#[test]
fn killed_at_random_moments() {
    if let Some(task) = child::task() {
        return serve_until_killed(&task);
    }
    let kills = std::env::var("EFFACE_CRASHES").map_or(KILLS, |number| number.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let seed = 1;
    let mut expected = Expected::start(seed);
    create(folder.path(), &expected);
    let mut gone = Needles::new();
    let mut clock = ChaCha20Rng::seed_from_u64(7);
    let (mut interrupted, mut unacknowledged) = (0, 0);
    for kill in 0..kills {
        let mut server = child::command(
            "crash::killed_at_random_moments",
            &format!("{seed} {}", folder.path().display()),
        )
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        lines.find(|line| line.as_ref().unwrap() == "ready").unwrap().unwrap();
        // At least some changes per life, then a kill at a random moment of the next ones.
        let mut acknowledged = expected.changes;
        let wanted = acknowledged + clock.next_u64() % 4;
        let number = |line: &str| line.strip_prefix("done ")?.parse().ok();
        while acknowledged < wanted {
            acknowledged = number(&lines.next().unwrap().unwrap()).unwrap_or(acknowledged);
        }
        std::thread::sleep(Duration::from_micros(clock.next_u64() % 40_000));
        server.kill().unwrap();
        server.wait().unwrap();
        let rest = lines.map_while(Result::ok).filter_map(|line| number(&line)).last();
        let acknowledged = rest.unwrap_or(acknowledged);
        interrupted += u32::from(folder.path().join("m.efface-journal").exists());

        let mut vault = unlocked(&vault_in(folder.path()));
        let held = vault.head().unwrap().map_or(0, |head| head.index + 1);
        assert!(
            held == acknowledged || held == acknowledged + 1,
            "kill {kill}: {acknowledged} changes acknowledged, {held} held"
        );
        unacknowledged += u32::from(held > acknowledged);
        while expected.changes < held {
            let plan = expected.plan();
            for row in expected.apply(plan) {
                gone.record(&row, true);
            }
        }
        expected.assert_held(&vault);
        let when = format!("kill {kill}");
        assert_clean(&mut vault, &when);
        drop(vault);
        // What the interrupted change would have added must not be there either.
        let mut never = Needles::new();
        expected.plan().added.iter().for_each(|row| never.record(row, true));
        never.assert_gone(folder.path(), &when);
        gone.assert_gone(folder.path(), &when);
        let files = std::fs::read_dir(folder.path()).unwrap();
        let files: Vec<_> = files.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(files, ["m.efface"], "{when}: only the vault is left");
    }
    println!(
        "{kills} kills in {} changes: {interrupted} left a journal, {unacknowledged} fell between \
         commit and acknowledgement",
        expected.changes
    );
}

#[test]
fn a_large_change_killed_before_its_commit_is_undone() {
    const TEST: &str = "crash::a_large_change_killed_before_its_commit_is_undone";
    let added = || (0..32_000).map(|i| record(9, 1, i));
    if let Some(folder) = child::task() {
        let mut vault = unlocked(&vault_in(Path::new(&folder)));
        let subject = Expected::start(9).rows[0].subject.clone().unwrap();
        let rows = vault.find_subject(&subject).unwrap();
        let mut change = vault.begin().unwrap();
        change.delete_records(&rows).unwrap();
        for row in added() {
            row.insert(&mut change);
        }
        std::process::abort();
    }
    let folder = tempfile::tempdir().unwrap();
    let expected = Expected::start(9);
    create(folder.path(), &expected);
    // Unused pages inside the file, which the change may write on without a journal.
    let mut vault = unlocked(&vault_in(folder.path()));
    let mut change = vault.begin().unwrap();
    let spare: Vec<_> = (0..200).map(|i| record(9, 2, i).insert(&mut change)).collect();
    change.commit().unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&spare).unwrap();
    change.commit().unwrap();
    drop(vault);

    let killed = child::command(TEST, folder.path().to_str().unwrap()).output().unwrap();
    assert!(!killed.status.success());
    assert!(folder.path().join("m.efface-journal").exists(), "nothing was interrupted");
    let mut never = Needles::new();
    added().for_each(|row| never.record(&row, true));
    assert!(never.find(folder.path()).len() > 1000, "the change was not yet in the file");

    let refused = Vault::open_read_only(&vault_in(folder.path())).unwrap_err();
    assert!(matches!(refused, OpenError::Store(StoreFault::NeedsRecovery)), "{refused}");
    let mut vault = unlocked(&vault_in(folder.path()));
    expected.assert_held(&vault);
    assert_clean(&mut vault, "recovery");
    drop(vault);
    never.assert_gone(folder.path(), "recovery");
    Vault::open_read_only(&vault_in(folder.path())).unwrap();
}

#[test]
fn a_creation_that_is_killed_leaves_no_vault_and_is_wiped_by_the_next() {
    const TEST: &str = "crash::a_creation_that_is_killed_leaves_no_vault_and_is_wiped_by_the_next";
    let rows = || (0..12_000).map(|i| record(5, 0, i));
    if let Some(folder) = child::task() {
        let mut creation =
            Vault::create(&vault_in(Path::new(&folder)), &genesis(), &keyring()).unwrap();
        for row in rows() {
            row.insert(&mut creation);
        }
        std::process::abort();
    }
    let folder = tempfile::tempdir().unwrap();
    let killed = child::command(TEST, folder.path().to_str().unwrap()).output().unwrap();
    assert!(!killed.status.success());
    let mut needles = Needles::new();
    rows().for_each(|row| needles.record(&row, true));
    assert!(needles.find(folder.path()).len() > 1000, "nothing was left to wipe");
    assert!(!vault_in(folder.path()).exists());

    // Another name for the left-over shows that it is overwritten, not only removed.
    let elsewhere = tempfile::tempdir_in(folder.path().parent().unwrap()).unwrap();
    let kept = std::fs::File::open(folder.path().join("m.efface.partial")).unwrap();
    let creation = Vault::create(&vault_in(folder.path()), &genesis(), &keyring()).unwrap();
    let mut copy = std::fs::File::create(elsewhere.path().join("copy")).unwrap();
    std::io::copy(&mut BufReader::new(kept), &mut copy).unwrap();
    assert!(copy.metadata().unwrap().len() > 1_000_000);
    needles.assert_gone(elsewhere.path(), "wiping");
    needles.assert_gone(folder.path(), "wiping");
    drop(creation);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
