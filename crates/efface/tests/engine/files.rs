//! Vaults that are read, copied, moved and copied behind the engine's back while others use them.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use efface::{
    CheckOutcome, Code, Context, Delete, Error, Kind, Restore, Result, Selector, Served, Settings,
    backup, delete, entries, relocate, report, restore, status, verify, verify_ledger,
};
use serde_json::Value;

use crate::world::World;

/// Long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(300);

fn forget(world: &World, vault: &Path, record: u64, wait: Duration) -> Result<Served> {
    let what = Selector::Ids(vec![format!("id-{record}")]);
    world.run(|s| {
        let mut patient = Context {
            clock: s.clock,
            entropy: &mut *s.entropy,
            keyring: s.keyring,
            watch: &mut *s.watch,
            wait,
            rows: efface::RowStore::Vault,
        };
        delete(vault, &Delete { what, request_id: None }, &mut patient)
    })
}

/// While one thread serves request after request, others read: each command sees one state.
#[test]
fn readers_beside_a_writer_tell_no_lie() {
    const CALLS: u64 = 500;
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let key = world.keyring.public_key();
    let (calls, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let served = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut served = 0;
            // The last records stay: at the end readers read on.
            while served < 60 && !over.load(Ordering::Relaxed) {
                forget(&world, &vault, served, PATIENCE).unwrap();
                served += 1;
            }
            served
        });
        let readers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let call = calls.fetch_add(1, Ordering::Relaxed);
                        if call >= CALLS {
                            over.store(true, Ordering::Relaxed);
                            return;
                        }
                        match call % 4 {
                            0 => {
                                let verdict =
                                    verify_ledger(&vault, Some(&key), None, Some(&world.keyring))
                                        .unwrap();
                                assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
                            }
                            1 => drop(report(&vault, &[]).unwrap()),
                            2 => {
                                let now = status(&vault).unwrap();
                                assert_eq!(now.records + now.version, 121, "two states in one");
                                // Every 17th entry is a checkpoint.
                                let head = now.head.0;
                                assert_eq!(head + 1 - head / 17, now.version);
                            }
                            _ => {
                                let list = entries(&vault).unwrap();
                                assert!(list.iter().zip(0..).all(|(e, index)| e.index == index));
                            }
                        }
                    }
                })
            })
            .collect();
        for reader in readers {
            reader.join().unwrap();
        }
        writer.join().unwrap()
    });
    assert!(served > 5, "the writer served {served} requests only");
}

/// A deletion that was acknowledged is in the vault wherever it is, and every copy is whole.
#[test]
fn moves_and_backups_that_race_with_deletions_lose_none() {
    let world = World::new();
    let (mut vault, _) = world.trained(Settings::default()).unwrap();
    let (mut gone, mut refused) = (0, 0);
    for race in 0..200 {
        let target = world.path(&format!("moved-{race}.efface"));
        let copy = world.path("copy.efface");
        let (deleted, moved) = thread::scope(|scope| {
            let deleting = scope.spawn(|| {
                thread::sleep(Duration::from_micros(race % 10 * 700));
                forget(&world, &vault, gone, Duration::ZERO)
            });
            thread::sleep(Duration::from_micros(race / 10 % 10 * 700));
            let mut watch = |_: &efface::Progress| ControlFlow::Continue(());
            let moved = if race % 2 == 0 {
                relocate(&vault, &target, PATIENCE, &mut watch).map(|_| true)
            } else {
                backup(&vault, &copy, PATIENCE, &mut watch).map(|_| false)
            };
            (deleting.join().unwrap(), moved.unwrap())
        });
        if moved {
            assert!(!vault.exists());
            vault = target;
        }
        match deleted {
            Ok(_) => gone += 1,
            // Another had it, or it was elsewhere by then.
            Err(error) => {
                assert!(error.kind() == Kind::Busy || error.code() == Code::NotFound, "{error}");
                refused += 1;
            }
        }
        let now = status(&vault).unwrap();
        assert_eq!((now.records, now.version), (120 - gone, 1 + gone), "race {race}");
        if copy.exists() {
            let then = status(&copy).unwrap();
            assert_eq!(then.records + then.version, 121, "race {race}");
            std::fs::remove_file(&copy).unwrap();
        }
        if gone == 100 {
            break;
        }
    }
    assert!(gone > 10 && refused > 0, "{gone} deletions, {refused} refused: no race");
    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

fn assumption(certificate: &str) -> Option<String> {
    let document: Value = serde_json::from_str(certificate).unwrap();
    let all = document["assumptions"].as_array().unwrap();
    let place = all.iter().find(|assumption| assumption["name"] == "place")?;
    assert_eq!(place["evidence"], "measured");
    place["value"].as_str().map(str::to_owned)
}

/// Two copies of a vault would each serve all releases that are promised: the copy says so, in
/// this certificate and in all later ones, and they hold.
#[cfg(unix)]
#[test]
fn a_copy_that_goes_on_serving_says_so() {
    let world = World::new();
    let (vault, trained) = world.trained(Settings::default()).unwrap();
    let copy = world.path("copy.efface");
    std::fs::copy(&vault, &copy).unwrap();
    let key = world.keyring.public_key();
    let here = forget(&world, &vault, 1, Duration::ZERO).unwrap();
    assert!(assumption(&trained.certificate).is_none() && assumption(&here.certificate).is_none());
    let there = forget(&world, &copy, 1, Duration::ZERO).unwrap();
    let words = assumption(&there.certificate).unwrap();
    assert!(words.contains("releases made from a copy elsewhere are not counted"), "{words}");
    assert!(there.notices.iter().any(|n| n.message == words), "{:?}", there.notices);
    let later = forget(&world, &copy, 2, Duration::ZERO).unwrap();
    assert_eq!(assumption(&later.certificate), Some(words));
    for served in [&trained, &here, &there, &later] {
        let document: Value = serde_json::from_str(&served.certificate).unwrap();
        let limits = document["scope"]["does_not_cover"].as_array().unwrap();
        assert!(limits.iter().any(|l| l == "releases made from other copies of the vault"));
        let verdict = verify(&served.certificate, Some(&key), None, None).unwrap();
        // Only the vault knows the weights.
        assert_ne!(verdict.outcome(), CheckOutcome::Fails, "{verdict:?}");
    }
    let verdict = verify_ledger(&copy, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");

    // A move by efface is no copy.
    let moved = world.path("moved.efface");
    relocate(&vault, &moved, Duration::ZERO, &mut |_| ControlFlow::Continue(())).unwrap();
    let served = forget(&world, &moved, 3, Duration::ZERO).unwrap();
    assert!(assumption(&served.certificate).is_none());
}

fn restored(
    world: &World,
    backup: &Path,
    destination: &Path,
    replace: bool,
    head: Option<&str>,
) -> std::result::Result<(), Error> {
    let how = Restore { backup, destination, replace, head };
    world.run(|context| restore(&how, context)).map(drop)
}

#[test]
fn a_backup_is_checked_before_it_takes_a_place() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let copy = world.path("backup.efface");
    let mut go_on = |_: &efface::Progress| ControlFlow::Continue(());
    let made = backup(&vault, &copy, Duration::ZERO, &mut go_on).unwrap();
    assert_eq!((made.records, made.version), (120, 1));
    let later = forget(&world, &vault, 5, Duration::ZERO).unwrap();

    let target = world.path("restored.efface");
    let refused = restored(&world, &copy, &target, false, Some(&later.head)).unwrap_err();
    assert!(refused.message().contains("head"), "{refused}");
    assert!(!target.exists());
    restored(&world, &copy, &target, false, Some(&made.head.1)).unwrap();
    assert_eq!(status(&target).unwrap().records, 120);
    #[cfg(unix)]
    assert!(assumption(&forget(&world, &target, 6, Duration::ZERO).unwrap().certificate).is_some());
    // What is there stays, unless it is to go.
    assert_eq!(restored(&world, &copy, &target, false, None).unwrap_err().code(), Code::Exists);
    assert_eq!(status(&target).unwrap().records, 119);
    restored(&world, &copy, &target, true, None).unwrap();
    assert_eq!(status(&target).unwrap().records, 119, "what was deleted stays so");

    // A changed entry of the ledger, found before anything is overwritten.
    let forged = world.path("forged.efface");
    std::fs::copy(&copy, &forged).unwrap();
    let database = rusqlite::Connection::open(&forged).unwrap();
    database
        .execute_batch(
            "CREATE TEMP TABLE t AS SELECT sql FROM sqlite_schema \
             WHERE name = 'ledger_is_append_only'; DROP TRIGGER ledger_is_append_only; \
             UPDATE ledger SET body = replace(body, '\"version\":1', '\"version\":2');",
        )
        .unwrap();
    let trigger: String = database.query_row("SELECT sql FROM t", [], |row| row.get(0)).unwrap();
    database.execute_batch(&trigger).unwrap();
    drop(database);
    let before = std::fs::read(&target).unwrap();
    assert!(restored(&world, &forged, &target, true, None).is_err());
    assert!(std::fs::read(&target).unwrap() == before);
    let names = std::fs::read_dir(target.parent().unwrap()).unwrap();
    let left = names.map(|e| e.unwrap().file_name()).find(|n| n.to_string_lossy().contains(".p"));
    assert_eq!(left, None, "a checked copy was left behind");
}

/// The request is refused by a name of its own, and served by who waits.
#[test]
fn a_busy_vault_is_waited_for() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let held = efface_vault::Vault::open_for(&vault, "efface add, since noon").unwrap();
    let refused = forget(&world, &vault, 1, Duration::from_millis(120)).unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (Kind::Busy, Code::InUse));
    assert!(refused.message().contains("(efface add, since noon)"), "{refused}");
    let waited = thread::scope(|scope| {
        let waiting = scope.spawn(|| forget(&world, &vault, 1, PATIENCE));
        thread::sleep(Duration::from_millis(200));
        drop(held);
        waiting.join().unwrap()
    });
    assert_eq!(waited.unwrap().remaining, 119);
}

/// Asked to stop at any report of a large deletion, the engine stops there: reports are frequent,
/// and the vault is as it was.
#[test]
fn a_large_deletion_is_stopped_between_any_two_records() {
    let world = World::new();
    let source = world.table("train.csv", 0, 3000, 2);
    let vault = world.path("model.efface");
    world.run(|s| efface::train(&source, Settings::default(), &vault, s)).unwrap();
    let before = status(&vault).unwrap();
    let what = Selector::Ids((0..2500).map(|record| format!("id-{record}")).collect());
    let request = Delete { what, request_id: None };
    let attempt = |stop_at: u64| {
        let mut reports = 0;
        let done = world.run(|s| {
            let mut watch = |_: &efface::Progress| {
                reports += 1;
                if reports == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            delete(
                &vault,
                &request,
                &mut Context {
                    clock: s.clock,
                    entropy: &mut *s.entropy,
                    keyring: s.keyring,
                    watch: &mut watch,
                    wait: Duration::ZERO,
                    rows: efface::RowStore::Vault,
                },
            )
        });
        (done, reports)
    };
    let mut stop_at = 1;
    loop {
        match attempt(stop_at) {
            (Err(error), _) => {
                assert_eq!(error.kind(), Kind::Interrupted, "at report {stop_at}: {error}");
                assert_eq!(status(&vault).unwrap(), before);
                stop_at += 1 + stop_at / 4;
            }
            (Ok(served), reports) => {
                assert_eq!(served.remaining, 500);
                // Each 512 records are found, described, deleted and marked.
                assert!(reports > 4 * 2500 / 512, "{reports} reports in all");
                return;
            }
        }
    }
}
