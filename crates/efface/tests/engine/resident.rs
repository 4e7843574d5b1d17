//! Rows that stay in memory between requests give what rows read by each request give, byte for byte, and
//! are given up where the vault is not as the last request left it.

use std::fs::{File, FileTimes};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use efface::{
    Code, Context, Delete, Progress, Resident, RowStore, Selector, Settings, delete, erase,
    prepare, refresh, train,
};

use crate::streamed::{Both, Second, declared, ids, kept, live_in, settings};
use crate::world::World;

/// Records that [`live_in`] leaves.
const LEFT: usize = 5000 - 5 + 30 - 3;

fn both() -> Both {
    Both::with(Second::Resident(Box::default()))
}

impl Both {
    fn resident(&self) -> &Resident {
        match &self.second {
            Second::Resident(resident) => resident,
            Second::Within(_) => unreachable!("its rows are held"),
        }
    }
}

/// What was held at the end, and how often it was read.
fn lived(classes: usize, given: Settings, what: &str) -> (usize, u64) {
    let both = both();
    live_in(&both, classes, given, what);
    (both.resident().rows(), both.resident().readings())
}

#[test]
fn requests_of_solve_are_the_same_and_read_the_rows_once() {
    for (loss, classes) in [("logistic", 2), ("softmax", 3), ("huber-hinge", 2), ("squared", 0)] {
        for state in ["perfect", "secret"] {
            let given = settings(Settings {
                loss: Some(loss.into()),
                state: Some(state.into()),
                releases: (state == "secret").then_some(40),
                target_range: (classes == 0).then_some((0.0, 10.0)),
                excess_risk: Some(0.01),
                delta: Some(1e-3),
                ..Settings::default()
            });
            let what = format!("{loss} {state}");
            assert_eq!(lived(classes, given, &what), (LEFT, 1), "{what}");
        }
    }
}

#[test]
fn other_mechanisms_and_kinds_of_rows_are_the_same_too() {
    let noise = Some(0.05);
    for (mechanism, more) in [
        ("retrain", Settings::default()),
        ("noisy-gd", Settings { noise, ..Settings::default() }),
        ("descent-to-delete", Settings { noise, ..Settings::default() }),
    ] {
        let given = settings(Settings { mechanism: Some(mechanism.into()), ..more });
        assert_eq!(lived(2, given, mechanism), (LEFT, 1), "{mechanism}");
    }
    let ridge = settings(Settings { mechanism: Some("ridge".into()), ..Settings::default() });
    // It adds to its sums what leaves and comes, and needs no row that stays.
    assert_eq!(lived(2, Settings { lambda: None, ..ridge }, "ridge"), (0, 0));
    let given = settings(Settings {
        state: Some("secret".into()),
        solver: Some("newton".into()),
        releases: Some(40),
        excess_risk: Some(0.01),
        ..Settings::default()
    });
    lived(2, given, "newton memory");
    let fitted = Settings { preprocess: Some("fitted".into()), ..Settings::default() };
    assert_eq!(lived(2, fitted, "fitted"), (LEFT, 1));
}

/// Both vaults, trained, and one record deleted from each.
fn begun() -> Both {
    let both = both();
    for world in &both.worlds {
        let (source, vault) = (declared(world, 2), world.path("model.efface"));
        let given = settings(Settings { delta: Some(1e-3), ..Settings::default() });
        world.run(|s| train(&source, given, &vault, s)).unwrap();
    }
    both.agree(|_, vault, s| delete(vault, &ids(&[17]), s), "first");
    assert_eq!((both.resident().rows(), both.resident().readings()), (4999, 1));
    both
}

#[test]
fn a_kept_hessian_an_erasure_and_a_new_start_go_on_with_the_rows() {
    let both = begun();
    for already in [false, true] {
        for made in both.run(|_, vault, s| prepare(vault, s)) {
            assert_eq!(made.unwrap().already, already);
        }
        // Beside rows in memory it is in no file.
        assert_eq!(both.vaults().map(|vault| kept(&vault).is_some()), [true, false]);
    }
    let served = both.agree(|_, vault, s| delete(vault, &ids(&[3, 4]), s), "prepared");
    assert!(served.work.unwrap().by_kept_hessian);
    for erased in both.run(|_, vault, s| erase(vault, &ids(&[9]), s)) {
        erased.unwrap();
    }
    both.agree(|_, vault, s| refresh(vault, Some("anew"), s), "refresh");
    assert_eq!((both.resident().rows(), both.resident().readings()), (4996, 1));
}

#[test]
fn what_is_prepared_in_memory_serves_one_request_of_the_vault_as_it_was() {
    let both = begun();
    let vault = &both.vaults()[1];
    let work = |world: &World, vault: &Path, list: &[usize], store: RowStore<'_>| {
        world.run_on(store, |s| delete(vault, &ids(list), s)).unwrap().work.unwrap()
    };
    let (world, store) = (&both.worlds[1], RowStore::Resident(both.resident()));
    let ready = |store| world.run_on(store, |s| prepare(vault, s)).unwrap();
    assert!(!ready(store).already);
    assert!(work(world, vault, &[3], store).by_kept_hessian);
    assert!(!work(world, vault, &[4], store).by_kept_hessian);
    // Another process serves a request in between.
    ready(store);
    assert!(!work(world, vault, &[5], RowStore::Vault).by_kept_hessian);
    assert!(!work(world, vault, &[6], store).by_kept_hessian);
    // A refused request leaves it.
    ready(store);
    let nobody = Delete { what: Selector::Ids(vec!["nobody".into()]), request_id: None };
    world.run_on(store, |s| delete(vault, &nobody, s)).unwrap_err();
    assert!(work(world, vault, &[7], store).by_kept_hessian);
    // What the vault keeps is used, and goes.
    assert!(!ready(RowStore::Vault).already);
    assert!(ready(store).already);
    assert!(kept(vault).is_some());
    assert!(work(world, vault, &[8], store).by_kept_hessian);
    assert_eq!(kept(vault), None);
    // With the rows it goes as well.
    ready(store);
    both.resident().wipe();
    assert!(!work(world, vault, &[9], store).by_kept_hessian);
}

#[test]
fn a_request_that_is_refused_leaves_the_rows_or_gives_them_up() {
    let both = begun();
    // Before anything was taken out.
    let nobody = Delete { what: Selector::Ids(vec!["nobody".into()]), request_id: None };
    let error = both.refused(|_, vault, s| delete(vault, &nobody, s));
    assert_eq!(error.code(), Code::UnknownRecord);
    assert_eq!(both.resident().rows(), 4999);
    // After: all of one class leave.
    let text = std::fs::read_to_string(both.worlds[1].path("train.csv")).unwrap();
    let yes = text.lines().filter(|line| line.contains(",yes,"));
    let names = yes.filter_map(|line| line.split(',').next().map(str::to_owned));
    let names = names.filter(|name| name != "id-17").collect::<Vec<_>>();
    let count = names.len();
    let most = Delete { what: Selector::Ids(names), request_id: Some("most".into()) };
    both.agree(|_, vault, s| delete(vault, &most, s), "most");
    assert_eq!((both.resident().rows(), both.resident().readings()), (4999 - count, 1));
    for stopped in both.run(|_, vault, context| {
        let mut begun = false;
        let mut watch = |progress: &Progress| {
            begun |= matches!(progress, Progress::Learning { .. });
            if begun { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (clock, keyring, wait, rows) =
            (context.clock, context.keyring, context.wait, context.rows);
        let (entropy, watch) = (&mut *context.entropy, &mut watch);
        delete(vault, &left(&text), &mut Context { clock, entropy, keyring, watch, wait, rows })
    }) {
        assert_eq!(stopped.unwrap_err().code(), Code::Interrupted);
    }
    both.agree(|_, vault, s| delete(vault, &left(&text), s), "again");
    assert_eq!(both.resident().readings(), 2);
}

/// A request on a record of the class that is left.
fn left(text: &str) -> Delete {
    let no = text.lines().find(|line| line.contains(",no,")).unwrap();
    let name = no.split(',').next().unwrap().to_owned();
    Delete { what: Selector::Ids(vec![name]), request_id: Some("left".into()) }
}

#[test]
fn requests_from_elsewhere_and_foreign_hands_are_noticed() {
    let both = begun();
    // Another process serves the vault.
    for world in &both.worlds {
        world.run(|s| delete(&world.path("model.efface"), &ids(&[100]), s)).unwrap();
    }
    both.agree(|_, vault, s| delete(vault, &ids(&[101]), s), "after another");
    assert_eq!((both.resident().rows(), both.resident().readings()), (4997, 2));
    // Another writes to its file, whatever time it leaves on it.
    let path = &both.vaults()[1];
    let before = std::fs::metadata(path).unwrap().modified().unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(SystemTime::now() + Duration::from_secs(9)))
        .unwrap();
    file.set_times(FileTimes::new().set_modified(before)).unwrap();
    drop(file);
    both.agree(|_, vault, s| delete(vault, &ids(&[102]), s), "after hands");
    assert_eq!(both.resident().readings(), 3);
}

#[test]
fn rows_of_another_vault_are_not_taken_for_its_own() {
    let both = begun();
    let world = &both.worlds[1];
    let other = world.path("other.efface");
    let source = world.table("other.csv", 20_000, 300, 2);
    let source = efface::Source { classes: Some(vec!["no".into(), "yes".into()]), ..source };
    let given = settings(Settings { delta: Some(1e-2), ..Settings::default() });
    world.run(|s| train(&source, given, &other, s)).unwrap();
    let store = RowStore::Resident(both.resident());
    world.run_on(store, |s| delete(&other, &ids(&[20_001]), s)).unwrap();
    assert_eq!((both.resident().rows(), both.resident().readings()), (299, 2));
    both.resident().wipe();
    assert_eq!(both.resident().rows(), 0);
    world.run_on(store, |s| delete(&other, &ids(&[20_002]), s)).unwrap();
    assert_eq!((both.resident().rows(), both.resident().readings()), (298, 3));
}

#[test]
fn an_index_that_hides_a_person_is_found_before_rows_are_held() {
    let world = World::new();
    let vault = world.path("model.efface");
    let source = declared(&world, 2);
    let given = settings(Settings { delta: Some(1e-3), ..Settings::default() });
    world.run(|s| train(&source, given, &vault, s)).unwrap();
    let connection = rusqlite::Connection::open(&vault).unwrap();
    connection.execute("DELETE FROM owned WHERE subject = 'who-5' AND number = 16", ()).unwrap();
    drop(connection);
    let resident = Resident::new();
    let error = world
        .run_on(RowStore::Resident(&resident), |s| delete(&vault, &ids(&[17]), s))
        .unwrap_err();
    assert_eq!(error.code(), Code::Damaged, "{error:?}");
}
