//! Rows that are read anew for every pass give what rows in memory give, byte for byte.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::{
    CheckOutcome, Code, Context, Delete, Error, MemoryBudget, NoticeCode, Progress, Resident,
    Result, RowStore, Selector, Served, Settings, Source, add, delete, erase, prepare, refresh,
    train, update, verify_ledger_within, weights,
};
use efface_vault::Vault;

use crate::world::World;

/// Enough for several chunks of every sum.
const ROWS: usize = 5000;

/// Bytes for rows: less than all of them need, and enough for a few chunks.
const LITTLE: usize = 300_000;

/// How the rows of the second vault are held.
pub(crate) enum Second {
    Within(MemoryBudget),
    Resident(Box<Resident>),
}

/// Two vaults of the same history: the first is read by each request, the second as it says.
pub(crate) struct Both {
    pub(crate) worlds: [World; 2],
    pub(crate) second: Second,
}

impl Both {
    fn new(little: usize) -> Self {
        Self::with(Second::Within(MemoryBudget::for_rows(little)))
    }

    pub(crate) fn with(second: Second) -> Self {
        Self { worlds: [World::new(), World::new()], second }
    }

    pub(crate) fn vaults(&self) -> [PathBuf; 2] {
        self.worlds.each_ref().map(|world| world.path("model.efface"))
    }

    pub(crate) fn run<T>(
        &self,
        work: impl Fn(&World, &Path, &mut Context<'_>) -> Result<T>,
    ) -> [Result<T>; 2] {
        let second = match &self.second {
            Second::Within(memory) => RowStore::Within(*memory),
            Second::Resident(resident) => RowStore::Resident(resident),
        };
        let stores = [RowStore::Vault, second];
        let [one, other] = [0, 1].map(|at| {
            let (world, store) = (&self.worlds[at], stores[at]);
            let vault = world.path("model.efface");
            world.run_on(store, |context| work(world, &vault, context))
        });
        [one, other]
    }

    /// The same answer, certificate, weights and kept state.
    pub(crate) fn agree(
        &self,
        work: impl Fn(&World, &Path, &mut Context<'_>) -> Result<Served>,
        what: &str,
    ) -> Served {
        let [one, other] =
            self.run(work).map(|served| served.map_err(|error| format!("{error:?}")));
        let (one, other) = (one.expect(what), other.expect(what));
        assert_eq!(one.certificate, other.certificate, "{what}");
        assert_eq!(one.work, other.work, "{what}");
        let [a, b] = self.vaults().map(|vault| (weights(&vault).unwrap(), kept(&vault)));
        assert!(a == b, "{what}");
        other
    }

    pub(crate) fn refused(
        &self,
        work: impl Fn(&World, &Path, &mut Context<'_>) -> Result<Served>,
    ) -> Error {
        self.run(work)[1].as_ref().map(|_| ()).unwrap_err().clone()
    }
}

pub(crate) fn kept(vault: &Path) -> Option<Vec<u8>> {
    Vault::open_read_only(vault).unwrap().caches().unwrap()
}

pub(crate) fn ids(list: &[usize]) -> Delete {
    let names = list.iter().map(|id| format!("id-{id}")).collect();
    Delete { what: Selector::Ids(names), request_id: Some(format!("leave-{}", list[0])) }
}

pub(crate) fn declared(world: &World, classes: usize) -> Source<'static> {
    let names = match classes {
        0 => None,
        2 => Some(vec!["no".to_owned(), "yes".to_owned()]),
        n => Some((0..n).map(|class| format!("class{class}")).collect()),
    };
    Source { classes: names, ..world.table("train.csv", 0, ROWS, classes) }
}

pub(crate) fn settings(more: Settings) -> Settings {
    Settings {
        preprocess: more.preprocess.clone().or_else(|| Some("declared".to_owned())),
        lambda: Some(0.02),
        ..more
    }
}

/// Trains in memory, as both vaults begin alike, then serves every kind of request.
fn live(classes: usize, given: Settings, what: &str) {
    live_in(&Both::new(LITTLE), classes, given, what);
}

pub(crate) fn live_in(both: &Both, classes: usize, given: Settings, what: &str) {
    let [..] = both.worlds.each_ref().map(|world| {
        let (source, vault) = (declared(world, classes), world.path("model.efface"));
        world.run(|s| train(&source, given.clone(), &vault, s)).expect(what);
    });
    both.agree(|_, vault, s| delete(vault, &ids(&[17]), s), what);
    both.agree(|_, vault, s| delete(vault, &ids(&[0, 1, 600, 4999]), s), what);
    let more = |world: &World| world.table("more.csv", 7000, 30, classes);
    both.agree(|world, vault, s| add(vault, &more(world), Some("more"), s), what);
    let again = |world: &World| world.table("again.csv", 100, 2, classes);
    both.agree(|world, vault, s| update(vault, &again(world), Some("again"), s), what);
    let who = Selector::Subjects(vec!["who-900".into()]);
    let request = Delete { what: who, request_id: Some("person".into()) };
    both.agree(|_, vault, s| delete(vault, &request, s), what);
}

#[test]
fn requests_of_solve_are_the_same_for_every_loss_and_state() {
    for (loss, classes) in [("logistic", 2), ("softmax", 3), ("huber-hinge", 2), ("squared", 0)] {
        for state in ["perfect", "secret"] {
            let range = (classes == 0).then_some((0.0, 10.0));
            let given = settings(Settings {
                loss: Some(loss.into()),
                state: Some(state.into()),
                releases: (state == "secret").then_some(40),
                target_range: range,
                excess_risk: Some(0.01),
                delta: Some(1e-3),
                ..Settings::default()
            });
            live(classes, given, &format!("{loss} {state}"));
        }
    }
}

#[test]
fn other_mechanisms_and_kinds_of_rows_are_the_same_too() {
    for (mechanism, more) in [
        ("retrain", Settings::default()),
        ("noisy-gd", Settings { noise: Some(0.05), ..Settings::default() }),
        ("descent-to-delete", Settings { noise: Some(0.05), ..Settings::default() }),
    ] {
        let given = Settings { mechanism: Some(mechanism.into()), ..more };
        live(2, settings(given), mechanism);
    }
    let by_steps = Settings {
        state: Some("secret".into()),
        solver: Some("newton".into()),
        releases: Some(40),
        excess_risk: Some(0.01),
        ..Settings::default()
    };
    live(2, settings(by_steps), "newton memory");
    let fitted = Settings { preprocess: Some("fitted".into()), ..Settings::default() };
    live(2, fitted, "fitted");
    let ridge = Settings { mechanism: Some("ridge".into()), ..Settings::default() };
    live(2, ridge.clone(), "ridge on fitted preprocessing");
    live(2, settings(ridge), "ridge");
}

#[test]
fn a_kept_hessian_and_a_new_start_are_the_same() {
    let both = Both::new(LITTLE);
    let given = settings(Settings { delta: Some(1e-3), ..Settings::default() });
    for world in &both.worlds {
        let (source, vault) = (declared(world, 2), world.path("model.efface"));
        world.run(|s| train(&source, given.clone(), &vault, s)).unwrap();
    }
    for made in both.run(|_, vault, s| prepare(vault, s)) {
        assert!(!made.unwrap().already);
    }
    let [a, b] = both.vaults().map(|vault| kept(&vault));
    assert!(a.is_some() && a == b);
    for (world, vault) in both.worlds.iter().zip(both.vaults()) {
        let keys = Some(&world.keyring);
        let key = world.keyring.public_key();
        let memory = Some(MemoryBudget::for_rows(LITTLE));
        let verdict = verify_ledger_within(&vault, memory, true, Some(&key), None, keys);
        let verdict = verdict.unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
        assert!(verdict.checks.iter().any(|check| check.name == "hessian"));
    }
    let served = both.agree(|_, vault, s| delete(vault, &ids(&[3, 4]), s), "prepared");
    assert!(served.work.unwrap().by_kept_hessian);
    for erased in both.run(|_, vault, s| erase(vault, &ids(&[9]), s)) {
        erased.unwrap();
    }
    both.agree(|_, vault, s| refresh(vault, Some("anew"), s), "refresh");
}

#[test]
fn requests_that_read_few_batches_are_the_same_and_others_refused() {
    let both = Both::new(LITTLE);
    let given = settings(Settings {
        mechanism: Some("noisy-gd".into()),
        noise: Some(0.05),
        batches: Some(4),
        ..Settings::default()
    });
    for world in &both.worlds {
        let (source, vault) = (declared(world, 2), world.path("model.efface"));
        world.run(|s| train(&source, given.clone(), &vault, s)).unwrap();
    }
    both.agree(|_, vault, s| delete(vault, &ids(&[5]), s), "batches");
    let (many, before): (Vec<usize>, _) = ((10..40).collect(), weights(&both.vaults()[1]).unwrap());
    let error = both.refused(|_, vault, s| delete(vault, &ids(&many), s));
    assert_eq!(error.code(), Code::Memory, "{error:?}");
    assert!(error.message().contains("`§memory` is"), "{error:?}");
    assert_eq!(weights(&both.vaults()[1]).unwrap(), before);
}

/// Sums are computed anew by windows, whatever they were computed by.
#[test]
fn sums_are_verified_within_little_memory() {
    for (preprocess, weighted) in [("declared", ""), ("fitted", ""), ("fitted", "balanced")] {
        let both = Both::new(LITTLE);
        let given = settings(Settings {
            mechanism: Some("ridge".into()),
            preprocess: Some(preprocess.into()),
            class_weight: weighted.split_whitespace().map(str::to_owned).collect(),
            ..Settings::default()
        });
        for (world, vault) in both.worlds.iter().zip(both.vaults()) {
            let source = declared(world, 2);
            world.run(|s| train(&source, given.clone(), &vault, s)).unwrap();
            let (keys, key) = (Some(&world.keyring), world.keyring.public_key());
            let memory = Some(MemoryBudget::for_rows(LITTLE));
            let verdict = verify_ledger_within(&vault, memory, true, Some(&key), None, keys);
            let verdict = verdict.unwrap();
            let sums = verdict.checks.iter().find(|check| check.name == "sums").unwrap();
            assert_eq!(sums.outcome, CheckOutcome::Holds, "{preprocess}: {sums:?}");
        }
    }
}

/// The same table trained within little memory and without a limit.
fn trained_alike(classes: usize, given: &Settings, name: &str, what: &str) {
    let source = |world: &World| Source {
        id: (name == "id").then(|| "id".to_owned()),
        ignore: if name == "id" { Vec::new() } else { vec!["id".to_owned()] },
        ..declared(world, classes)
    };
    alike_from(&Both::new(LITTLE), source, given, name, what);
}

/// The same, of any table; what the training within little memory answers.
fn alike_from(
    both: &Both,
    source: impl Fn(&World) -> Source<'static>,
    given: &Settings,
    name: &str,
    what: &str,
) -> Served {
    let served = both.agree(|world, vault, s| train(&source(world), given.clone(), vault, s), what);
    let one = if name == "id" { "id-17" } else { "row:17" };
    let request = Delete { what: Selector::Ids(vec![one.into()]), request_id: Some("one".into()) };
    both.agree(|_, vault, s| delete(vault, &request, s), what);
    let [a, b] = both.vaults().map(|vault| Vault::open_read_only(&vault).unwrap());
    let rows = |vault: &Vault| {
        let mut rows = Vec::new();
        vault
            .scan(|number, row| -> std::result::Result<(), efface_vault::ReadError> {
                let subject = row.subject.map(str::to_owned);
                rows.push((number, row.id.to_owned(), subject, row.features.to_vec(), row.target));
                Ok(())
            })
            .unwrap();
        rows
    };
    assert!(rows(&a) == rows(&b), "{what}");
    served
}

#[test]
fn trainings_on_tables_larger_than_memory_are_the_same() {
    for (loss, classes, name) in
        [("logistic", 2, "id"), ("softmax", 3, "row"), ("squared", 0, "id")]
    {
        let given = settings(Settings {
            loss: Some(loss.into()),
            target_range: (classes == 0).then_some((0.0, 10.0)),
            max_group: Some(3),
            ..Settings::default()
        });
        trained_alike(classes, &given, name, loss);
    }
    let ridge = settings(Settings { mechanism: Some("ridge".into()), ..Settings::default() });
    trained_alike(2, &ridge, "id", "ridge");
    for mechanism in ["solve", "ridge"] {
        let more = Settings { mechanism: Some(mechanism.into()), ..Settings::default() };
        let mapped = settings(Settings { features: Some("rff:8".into()), ..more.clone() });
        trained_alike(2, &mapped, "row", "random features");
        let weighted = settings(Settings { class_weight: vec!["yes=2".into()], ..more.clone() });
        trained_alike(2, &weighted, "id", "weights by class");
        let weighted = fitted(Settings { class_weight: vec!["no=3".into()], ..more });
        trained_alike(2, &weighted, "id", "weights by class, fitted");
    }
}

#[test]
fn several_targets_by_public_constants_larger_than_memory_are_the_same() {
    let given = settings(Settings {
        mechanism: Some("ridge".into()),
        target_range: Some((-10.0, 10.0)),
        ..Settings::default()
    });
    let source = |world: &World| Source {
        id: Some("id".to_owned()),
        more_labels: vec!["c".to_owned()],
        ..declared(world, 0)
    };
    alike_from(&Both::new(LITTLE), source, &given, "id", "several targets");
}

fn fitted(more: Settings) -> Settings {
    Settings { preprocess: Some("fitted".into()), ..more }
}

#[test]
fn preprocessing_is_fitted_to_tables_larger_than_memory_and_is_the_same() {
    for (loss, classes, name) in
        [("logistic", 2, "id"), ("softmax", 3, "row"), ("squared", 0, "id")]
    {
        let loss = Some(loss.to_owned());
        let given = fitted(Settings { loss, max_group: Some(3), ..Settings::default() });
        trained_alike(classes, &given, name, "fitted");
    }
    for (mechanism, classes, balanced) in [
        ("ridge", 2, false),
        ("ridge", 2, true),
        ("ridge", 3, true),
        ("retrain", 2, false),
        ("solve", 2, true),
    ] {
        let given = fitted(Settings {
            mechanism: Some(mechanism.into()),
            class_weight: if balanced { vec!["balanced".into()] } else { Vec::new() },
            ..Settings::default()
        });
        trained_alike(classes, &given, "id", mechanism);
    }
}

/// Models on the features of a network, and who was deleted from it.
#[test]
fn features_of_networks_larger_than_memory_are_the_same() {
    let both = Both::new(LITTLE);
    for world in &both.worlds {
        let (table, trunk) = (world.table("first.csv", 0, 300, 2), world.path("trunk.efface"));
        let network = Settings {
            mechanism: Some("dp-sgd".into()),
            network: Some("dense:6,dense:5".into()),
            steps: Some(10),
            unit: Some("record".into()),
            deletions: Some(4),
            ..Settings::default()
        };
        world.run(|s| train(&table, network, &trunk, s)).unwrap();
        world.run(|s| delete(&trunk, &ids(&[0]), s)).unwrap();
    }
    let on = |world: &World| Settings {
        mechanism: Some("ridge".into()),
        features: Some(format!("network:{}", world.path("trunk.efface").display())),
        ..Settings::default()
    };
    let rest = |world: &World, first| Source {
        classes: Some(vec!["no".into(), "yes".into()]),
        ..world.table("rest.csv", first, ROWS, 2)
    };
    let all = both.run(|world, vault, s| train(&rest(world, 0), on(world), vault, s));
    for error in all.map(|served| served.map(|_| ()).unwrap_err()) {
        assert!(error.message().starts_with("the record `id-0` was deleted"), "{error:?}");
    }
    both.agree(|world, vault, s| train(&rest(world, 1), on(world), vault, s), "network");
    both.agree(|_, vault, s| delete(vault, &ids(&[17]), s), "network");
}

/// Runs `work` again and again, stopped at the first question whether to go on, then at the second, until it
/// comes to its end; what it was told while it went on, and `stopped` looks each time at what it left.
fn stopped_everywhere(
    world: &World,
    work: impl Fn(&mut Context<'_>) -> Result<Served>,
    stopped: impl Fn(),
) -> Vec<Progress> {
    let store = RowStore::Within(MemoryBudget::for_rows(LITTLE));
    let mut last = 0;
    loop {
        let mut told = Vec::new();
        let done = world.run_on(store, |context| {
            let mut watch = |progress: &Progress| {
                told.push(*progress);
                if told.len() > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let Context { clock, keyring, wait, rows, .. } = *context;
            let entropy = &mut *context.entropy;
            work(&mut Context { clock, entropy, keyring, watch: &mut watch, wait, rows })
        });
        match done {
            Ok(_) => return told,
            Err(error) => assert_eq!(error.code(), Code::Interrupted, "{error:?}"),
        }
        stopped();
        last += 1;
    }
}

#[test]
fn work_within_little_memory_is_stopped_while_rows_are_read() {
    let world = World::new();
    let (source, vault) = (declared(&world, 2), world.path("model.efface"));
    let files = || std::fs::read_dir(world.path("")).unwrap().count();
    let before = files();
    let given = fitted(Settings::default());
    let told = stopped_everywhere(
        &world,
        |context| train(&source, given.clone(), &vault, context),
        || assert_eq!(files(), before),
    );
    // Beside the table's two readings, preprocessing is fitted, and passes ask more often than they end.
    let rows = |told: &Progress| matches!(told, Progress::Reading { .. });
    let again = told.windows(2).filter(|pair| match (pair[0], pair[1]) {
        (Progress::Reading { rows: before }, Progress::Reading { rows: now }) => now < before,
        _ => false,
    });
    assert!(again.count() >= 2, "{told:?}");
    let passes = told.iter().skip_while(|told| !matches!(told, Progress::Learning { .. }));
    assert!(!passes.clone().any(rows), "{told:?}");
    assert!(passes.collect::<Vec<_>>().windows(2).any(|pair| pair[0] == pair[1]), "{told:?}");

    let before = weights(&vault).unwrap();
    let request = ids(&[17]);
    stopped_everywhere(
        &world,
        |context| delete(&vault, &request, context),
        || assert_eq!(weights(&vault).unwrap(), before),
    );
    assert_ne!(weights(&vault).unwrap(), before);
}

/// A table of people with words, dates and missing cells.
fn people(world: &World) -> Source<'static> {
    let mut text = String::from("who,town,since,income,visits,w\n");
    for row in 0..ROWS {
        let town = ["Ulm", "Graz", "", "Basel"][row % 4];
        let income = if row % 7 == 0 { String::new() } else { format!("{}", row % 90) };
        let visits = format!("{:.2}", (row as f64 * 0.3).sin() + row as f64 % 5.0);
        let (month, person) = (1 + row % 12, row / 2);
        let weight = 1 + row % 3;
        text += &format!("p{person},{town},2024-{month:02}-01,{income},{visits},{weight}\n");
    }
    let path = world.path("raw.csv");
    std::fs::write(&path, text).unwrap();
    Source {
        path: Some(path),
        label: Some("visits".into()),
        subject: Some("who".into()),
        infers_task: true,
        ..Source::default()
    }
}

/// Labels that turn out to be numbers, with and without weights, and several of them.
#[test]
fn raw_tables_larger_than_memory_are_learnt_from_as_they_are() {
    let unweighted = |world: &World| Source { ignore: vec!["w".into()], ..people(world) };
    let weighted = |world: &World| Source { weight: Some("w".into()), ..people(world) };
    let both = Both::new(600_000);
    let served = alike_from(&both, unweighted, &Settings::default(), "row", "raw");
    let said: Vec<_> = served.notices.iter().map(|notice| notice.code).collect();
    assert!(said.contains(&NoticeCode::RegressionChosen), "{said:?}");
    let towns = served.preprocessing.iter().find(|line| line.trim().starts_with("town"));
    assert!(towns.unwrap().contains("3 categories"), "{:?}", served.preprocessing);

    let given = Settings { max_weight: Some(3.0), ..Settings::default() };
    alike_from(&Both::new(600_000), weighted, &given, "row", "weighted");

    let several = |world: &World| Source {
        more_labels: vec!["w".into()],
        infers_task: false,
        ..people(world)
    };
    let given = Settings {
        mechanism: Some("ridge".into()),
        loss: Some("squared".into()),
        ..Settings::default()
    };
    alike_from(&Both::new(600_000), several, &given, "row", "several");
}

/// Sparse rows without names of columns.
#[test]
fn sparse_rows_larger_than_memory_are_fitted_to() {
    let sparse = |world: &World| {
        let rows = (0..ROWS).map(|row| {
            let (one, other) = (1 + row % 5, 7 + row % 11);
            format!("{} {one}:{:.2} {other}:1\n", row % 2, (row as f64 * 0.7).sin())
        });
        let path = world.path("rows.libsvm");
        std::fs::write(&path, rows.collect::<String>()).unwrap();
        Source { path: Some(path), ..Source::default() }
    };
    let both = Both::new(600_000);
    let given = fitted(Settings::default());
    let served = both.agree(|world, vault, s| train(&sparse(world), given.clone(), vault, s), "");
    assert!(!served.preprocessing.is_empty());
}

/// What shows only once preprocessing is fitted ends a training that has written its rows.
#[test]
fn labels_that_hardly_vary_leave_nothing() {
    let world = World::new();
    let path = world.path("same.csv");
    let y = |row| if row == 17 { "100000000000000065536" } else { "100000000000000000000" };
    let rows: String = (0..ROWS).map(|row| format!("{row}.5,{}\n", y(row))).collect();
    std::fs::write(&path, format!("a,y\n{rows}")).unwrap();
    let source = Source { path: Some(path), label: Some("y".into()), ..Source::default() };
    let given = fitted(Settings { loss: Some("squared".into()), ..Settings::default() });
    let little = RowStore::Within(MemoryBudget::for_rows(LITTLE));
    let vault = world.path("model.efface");
    let served = world.run_on(little, |s| train(&source, given.clone(), &vault, s));
    assert_eq!(served.map(|_| ()).unwrap_err().code(), Code::Preprocessing);
    let left = std::fs::read_dir(vault.parent().unwrap()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.contains(".efface")));
}

#[test]
fn trainings_that_need_all_rows_are_refused_and_leave_nothing() {
    let world = World::new();
    let little = RowStore::Within(MemoryBudget::for_rows(LITTLE));
    let vault = world.path("model.efface");
    let ask = |source: Source<'static>, given: Settings| {
        let served = world.run_on(little, |s| train(&source, given.clone(), &vault, s));
        let error = served.map(|_| ()).expect_err(&format!("{given:?}"));
        let left = std::fs::read_dir(vault.parent().unwrap()).unwrap();
        let left =
            left.filter(|e| e.as_ref().unwrap().path().display().to_string().contains(".efface"));
        assert_eq!(left.count(), 0);
        error
    };
    let batches = settings(Settings {
        mechanism: Some("noisy-gd".into()),
        noise: Some(0.05),
        batches: Some(4),
        ..Settings::default()
    });
    let error = ask(declared(&world, 2), batches);
    assert_eq!(error.code(), Code::Memory, "{error:?}");
    assert!(error.message().contains("`§memory` is"), "{error:?}");
    // An id that is there twice.
    let source = declared(&world, 2);
    let path = world.path("train.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("id-4321,", "id-17,")).unwrap();
    let error = ask(source, settings(Settings::default()));
    assert_eq!(error.code(), Code::DuplicateId, "{error:?}");
    // A table that fits is trained as ever.
    let few = Source {
        classes: Some(vec!["no".into(), "yes".into()]),
        ..world.table("few.csv", 0, 300, 2)
    };
    world.run_on(little, |s| train(&few, settings(Settings::default()), &vault, s)).unwrap();
}
