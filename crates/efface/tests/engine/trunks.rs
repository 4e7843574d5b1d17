//! Models on the hidden features of a network: one certificate for both, in one vault.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::{
    CheckOutcome, Code, Delete, ExportFormat, Linear, NoticeCode, Selector, Settings, add,
    certificate, delete, delete_dry_run, erase, evaluate, export, margins, plan, predict, refresh,
    status, train, verify_ledger, weights,
};
use serde_json::Value;

use crate::world::World;

fn network() -> Settings {
    Settings {
        mechanism: Some("dp-sgd".into()),
        network: Some("dense:6,dense:5".into()),
        steps: Some(30),
        rate: Some(0.2),
        unit: Some("record".into()),
        deletions: Some(4),
        delta: Some(1e-4),
        ..Settings::default()
    }
}

fn on(trunk: &Path, mechanism: &str) -> Settings {
    Settings {
        mechanism: Some(mechanism.into()),
        features: Some(format!("network:{}", trunk.display())),
        ..Settings::default()
    }
}

/// A model by `solve`, which needs room beside the network.
fn solved(trunk: &Path) -> Settings {
    Settings {
        loss: Some("softmax".into()),
        lambda: Some(0.05),
        epsilon: Some(1.4),
        ..on(trunk, "solve")
    }
}

pub(crate) fn named(ids: &[&str]) -> Delete {
    Delete {
        what: Selector::Ids(ids.iter().map(|id| (*id).to_owned()).collect()),
        request_id: None,
    }
}

pub(crate) fn parsed(vault: &Path) -> Value {
    serde_json::from_str(&certificate(vault, "latest").unwrap()).unwrap()
}

pub(crate) fn holds(world: &World, vault: &Path) {
    let key = world.keyring.public_key();
    let verdict = verify_ledger(vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

/// Classes that nobody has to read off the data.
fn declared(table: efface::Source<'static>) -> efface::Source<'static> {
    efface::Source { classes: Some(vec!["no".to_owned(), "yes".to_owned()]), ..table }
}

fn change_plan(vault: &Path, change: &fn(&mut Value)) {
    let database = rusqlite::Connection::open(vault).unwrap();
    let text: String =
        database.query_row("SELECT config FROM genesis", [], |row| row.get(0)).unwrap();
    let mut plan: Value = serde_json::from_str(&text).unwrap();
    change(&mut plan);
    database.execute("UPDATE genesis SET config = ?1", [plan.to_string()]).unwrap();
}

/// A network, one of whose records is deleted since, and a model on its features.
struct Both {
    world: World,
    trunk: PathBuf,
    vault: PathBuf,
}

impl Both {
    fn new(model: fn(&Path) -> Settings) -> Self {
        let world = World::new();
        let trunk = world.path("trunk.efface");
        let table = declared(world.table("first.csv", 0, 120, 2));
        world.run(|s| train(&table, network(), &trunk, s)).unwrap();
        world.run(|s| delete(&trunk, &named(&["id-0"]), s)).unwrap();
        let vault = trunk.with_file_name("head.efface");
        let table = declared(world.table("later.csv", 1, 119, 2));
        world.run(|s| train(&table, model(&trunk), &vault, s)).unwrap();
        Self { world, trunk, vault }
    }

    fn refused(&self, settings: Settings) -> efface::Error {
        let table = self.world.table("again.csv", 1, 119, 2);
        let output = self.vault.with_file_name("other.efface");
        self.world.run(|s| train(&table, settings, &output, s)).unwrap_err()
    }
}

fn ridge(trunk: &Path) -> Settings {
    on(trunk, "ridge")
}

#[test]
fn an_exact_head_is_as_close_as_the_network_and_both_counts_add_up() {
    let Both { world, trunk, vault } = Both::new(ridge);
    let first = parsed(&vault);
    assert_eq!(first["event"]["removed"], 0);
    let training = &first["event"]["given"]["training"];
    assert_eq!(
        (&training["segments"][0]["deleted"], &training["unit"]),
        (&1.into(), &"record".into())
    );
    let claim = &first["claims"][0];
    assert_eq!(
        (&claim["notion"], &claim["group"]),
        (&"indistinguishable-from-retraining".into(), &"1".into())
    );
    assert_eq!(status(&vault).unwrap().deletions_left, Some(3));
    let kept = weights(&vault).unwrap();
    let served = world.run(|s| delete(&vault, &named(&["id-5", "id-9"]), s)).unwrap();
    assert!(served.notices.iter().any(|notice| notice.code == NoticeCode::NetworkElsewhere));
    let now = weights(&vault).unwrap();
    assert_ne!(now.coef, kept.coef, "the last layer is solved again");
    assert_eq!(now.trunk, kept.trunk, "the network stays");
    assert_eq!(served.claims[0].group, "3");
    // As close as the network's own vault is after as many deletions.
    world.run(|s| delete(&trunk, &named(&["id-5", "id-9"]), s)).unwrap();
    let own = &parsed(&trunk)["claims"][0]["epsilon"];
    assert_eq!(&parsed(&vault)["claims"][0]["epsilon"], own);
    // Bit for bit what is trained on the rows that remain, on the same network.
    holds(&world, &vault);
    // One more is the last.
    world.run(|s| delete(&vault, &named(&["id-11"]), s)).unwrap();
    assert_eq!(status(&vault).unwrap().deletions_left, Some(0));
    let dry = delete_dry_run(&vault, &named(&["id-12"]), &world.keyring).unwrap_err();
    let error = world.run(|s| delete(&vault, &named(&["id-12"]), s)).unwrap_err();
    assert_eq!((error.code(), dry.code()), (Code::BudgetExhausted, Code::BudgetExhausted));
    let hint = error.what_to_do().unwrap().to_owned();
    assert!(hint.contains("train the network again") && !hint.contains("erase-only"), "{hint}");
    assert_eq!(status(&vault).unwrap().records, 116, "nothing was deleted");
    // Nor does anybody come in who could not leave.
    let more = world.table("more.csv", 200, 4, 2);
    let error = world.run(|s| add(&vault, &more, None, s)).unwrap_err();
    assert_eq!(error.code(), Code::BudgetExhausted);
    assert!(error.message().contains("could not be deleted"), "{error}");
    holds(&world, &vault);
}

#[test]
fn a_head_with_noise_is_composed_with_the_network() {
    let Both { world, trunk, vault } = Both::new(solved);
    let alone = parsed(&trunk)["claims"][0]["epsilon"].as_str().unwrap().parse::<f64>().unwrap();
    // Those who come are nobody who went.
    world.run(|s| add(&vault, &world.table("more.csv", 200, 4, 2), None, s)).unwrap();
    let ids = ["id-5", "id-9", "id-11"];
    let served = world.run(|s| delete(&vault, &named(&ids), s)).unwrap();
    let epsilon = served.claims[0].epsilon.0;
    assert!((1.0..=1.4).contains(&epsilon) && epsilon > alone, "{epsilon}");
    // Its noise hides how it was solved and not a record, so that there is no bound, and no claim.
    assert_eq!(served.claims.len(), 1, "{:?}", served.claims);
    // Where the network's classes were read off its records, nobody of them is private.
    let read = trunk.with_file_name("read.efface");
    world.run(|s| train(&world.table("read.csv", 0, 120, 2), network(), &read, s)).unwrap();
    let other = trunk.with_file_name("other.efface");
    let table = declared(world.table("later.csv", 1, 119, 2));
    let served = world.run(|s| train(&table, solved(&read), &other, s)).unwrap();
    assert_eq!(served.claims.len(), 1, "{:?}", served.claims);
    let assumptions = parsed(&other)["assumptions"].to_string();
    assert!(assumptions.contains("of the network: the set of labels"), "{assumptions}");
    assert_eq!(parsed(&vault)["event"]["removed"], 3);
    holds(&world, &vault);
}

#[test]
fn the_vault_needs_no_other_and_says_where_the_network_comes_from() {
    let Both { world, trunk, vault } = Both::new(ridge);
    let origin = weights(&trunk).unwrap().vault;
    let document = parsed(&vault);
    let told = document["constants"].as_array().unwrap().iter().find(|c| c["name"] == "trunk");
    assert_eq!(told.unwrap()["value"], origin.as_str());
    assert!(document["scope"]["does_not_cover"].to_string().contains("`trunk`"));
    let notices = status(&vault).unwrap().notices;
    assert!(notices.iter().any(|notice| notice.message.contains(&origin)), "{notices:?}");
    fs::remove_file(&trunk).unwrap();
    let table = world.table("test.csv", 300, 60, 2);
    assert!(evaluate(&vault, &table).unwrap().accuracy.unwrap() > 0.5);
    world.run(|s| delete(&vault, &named(&["id-5"]), s)).unwrap();
    world.run(|s| add(&vault, &world.table("more.csv", 200, 4, 2), None, s)).unwrap();
    holds(&world, &vault);
    // The same outputs from what an export holds.
    let model = weights(&vault).unwrap();
    assert_eq!((model.inputs, model.features), (Some(3), 5));
    let linear = Linear {
        coef: &model.coef,
        intercept: &model.intercept,
        row_map: &model.row_map,
        row_norm: model.row_norm,
        preprocessing: None,
        feature_map: model.feature_map.as_deref(),
        trunk: model.trunk.as_deref(),
        network: None,
    };
    let source = efface::Source { schema: Some(model.schema.clone()), ..table.clone() };
    let mut watch = |_: &efface::Progress| ControlFlow::Continue(());
    let (outputs, _) = margins(&source, &linear, &mut watch).unwrap();
    let mut row = 0;
    let classes = model.classes.clone().unwrap();
    predict(&vault, &table, &mut |told| {
        let pair = &outputs[2 * row..2 * row + 2];
        assert_eq!(told.prediction, classes[usize::from(pair[1] > pair[0])]);
        row += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(row, 60);
    let without = Linear { trunk: None, ..linear };
    assert!(margins(&source, &without, &mut watch).is_err());
    let mut other: Value = serde_json::from_str(model.trunk.as_deref().unwrap()).unwrap();
    other["layer"] = 2.into();
    let other = other.to_string();
    let other = Linear { trunk: Some(&other), ..linear };
    assert_eq!(margins(&source, &other, &mut watch).unwrap_err().code(), Code::Features);
    let file = world.run(|s| export(&vault, ExportFormat::Json, s)).unwrap();
    let text: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(text["trunk"].as_str(), model.trunk.as_deref());
}

#[test]
fn layers_are_counted_from_the_last() {
    let both = Both::new(|trunk| Settings {
        features: Some(format!("network:{},layer=2", trunk.display())),
        ..ridge(trunk)
    });
    assert_eq!(weights(&both.vault).unwrap().features, 6);
    for (layer, part) in [("3", "no hidden features"), ("0", "1 to 64"), ("x", "1 to 64")] {
        let features = format!("network:{},layer={layer}", both.trunk.display());
        let error = both.refused(Settings { features: Some(features), ..ridge(&both.trunk) });
        assert_eq!(error.code(), Code::Features);
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn what_does_not_go_with_a_network_is_refused_in_words() {
    let both = Both::new(ridge);
    let trunk = &both.trunk;
    let with = |change: fn(&mut Settings), base: fn(&Path) -> Settings| {
        let mut settings = base(trunk);
        change(&mut settings);
        both.refused(settings)
    };
    for (change, part) in [
        ((|s| s.mechanism = Some("noisy-gd".into())) as fn(&mut Settings), "`noisy-gd`"),
        (|s| s.mechanism = Some("descent-to-delete".into()), "`descent-to-delete`"),
        (|s| s.state = Some("secret".into()), "secret"),
        (|s| s.notion = Some("renyi-unlearning".into()), "renyi-unlearning"),
        (|s| s.notion = Some("differential-privacy".into()), "differential-privacy"),
        (|s| s.epsilon = Some(0.9), "alone reaches epsilon"),
    ] {
        let error = with(change, solved);
        let text = format!("{error} {}", error.what_to_do().unwrap_or_default());
        assert!(text.contains(part), "{part}: {text}");
    }
    let error = with(|s| s.max_group = Some(2), ridge);
    assert!(error.to_string().contains("max-group"), "{error}");
    // No network, and no vault.
    let error = both.refused(ridge(&both.vault));
    assert!(error.to_string().contains("no network"), "{error}");
    let error = both.refused(ridge(Path::new("nowhere.efface")));
    assert_eq!(error.code(), Code::NotFound, "{error}");
    // A network that counts subjects.
    let world = World::new();
    let settings = Settings { unit: Some("subject".into()), ..network() };
    let (subjects, _) = world.trained(settings).unwrap();
    let error = both.refused(ridge(&subjects));
    assert!(error.to_string().contains("counts subjects"), "{error}");
    // Rows of another shape.
    let wide = both.vault.with_file_name("wide.csv");
    fs::write(&wide, "id,a,b,y\n1,0.5,1,no\n2,1,0.25,yes\n").unwrap();
    let table = efface::Source {
        path: Some(wide),
        id: Some("id".into()),
        label: Some("y".into()),
        ..efface::Source::default()
    };
    let output = both.vault.with_file_name("other.efface");
    let error = both.world.run(|s| train(&table, ridge(trunk), &output, s)).unwrap_err();
    assert!(error.to_string().contains("takes rows of 3"), "{error}");
}

#[test]
fn a_network_that_is_withdrawn_or_a_test_is_no_trunk_for_release() {
    let world = World::new();
    let (trunk, _) = world.trained(network()).unwrap();
    let request = named(&["id-3"]);
    world.run(|s| erase(&trunk, &request, s)).unwrap();
    let table = world.table("later.csv", 1, 119, 2);
    let vault = trunk.with_file_name("head.efface");
    let error = world.run(|s| train(&table, ridge(&trunk), &vault, s)).unwrap_err();
    assert!(error.to_string().contains("withdrawn"), "{error}");
    // What was erased before a refresh is not in the new network.
    world.run(|s| refresh(&trunk, None, s)).unwrap();
    let table = world.table("rest.csv", 4, 116, 2);
    world.run(|s| train(&table, ridge(&trunk), &vault, s)).unwrap();
    let given = parsed(&vault)["event"]["given"]["training"].clone();
    assert_eq!(
        (&given["segments"][0]["deleted"], &given["earlier_steps"]),
        (&0.into(), &30.into())
    );
    let other = World::new();
    let (seeded, _) = other.trained(Settings { seed: Some(1), ..network() }).unwrap();
    let vault = seeded.with_file_name("head.efface");
    let table = other.table("later.csv", 1, 119, 2);
    other.run(|s| train(&table, ridge(&seeded), &vault, s)).unwrap();
    assert!(plan(&vault).unwrap().not_for_release);
}

#[test]
fn who_was_deleted_from_the_network_is_not_learnt_again() {
    let Both { world, trunk, vault } = Both::new(ridge);
    let other = vault.with_file_name("other.efface");
    let try_on = |first, rows| {
        let table = world.table("again.csv", first, rows, 2);
        world.run(|s| train(&table, ridge(&trunk), &other, s))
    };
    let error = try_on(0, 120).unwrap_err();
    assert_eq!(error.code(), Code::Ids);
    let told = "the record `id-0` was deleted from the network's vault; nothing was learnt";
    assert_eq!(error.message(), told);
    assert!(!other.exists());
    world.run(|s| delete(&trunk, &named(&["id-2", "id-7"]), s)).unwrap();
    let error = try_on(1, 119).unwrap_err().to_string();
    assert!(error.contains("2 records of the table") && error.contains("`id-2`"), "{error}");
    try_on(8, 112).unwrap();
}

#[test]
fn an_erasure_is_refused_as_the_network_would_stay() {
    let Both { world, vault, .. } = Both::new(ridge);
    let error = world.run(|s| erase(&vault, &named(&["id-5"]), s)).unwrap_err();
    assert!(error.to_string().contains("may have learnt"), "{error}");
    assert_eq!(status(&vault).unwrap().records, 119);
    assert!(weights(&vault).is_ok());
}

/// Whoever changes the network that a vault keeps, or what it says of its training, is found out.
#[test]
fn a_changed_network_is_damage() {
    let both = Both::new(ridge);
    let changes: [fn(&mut Value); 6] = [
        |plan| {
            let weights = plan["trunk"]["weights"].as_str().unwrap().to_owned();
            let first = if weights.starts_with('0') { "1" } else { "0" };
            plan["trunk"]["weights"] = format!("{first}{}", &weights[1..]).into();
        },
        |plan| plan["trunk"]["deletions"] = 1000.into(),
        |plan| plan["trunk"]["layer"] = 2.into(),
        |plan| plan["given"]["training"]["segments"][0]["deleted"] = 0.into(),
        |plan| plan["given"]["training"]["noise"] = "1000".into(),
        |plan| {
            plan.as_object_mut().unwrap().remove("trunk");
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        let copy = both.vault.with_file_name(format!("changed-{number}.efface"));
        fs::copy(&both.vault, &copy).unwrap();
        change_plan(&copy, change);
        let error = weights(&copy).unwrap_err();
        assert_eq!(error.code(), Code::Damaged, "{number}: {error}");
        let error = both.world.run(|s| delete(&copy, &named(&["id-5"]), s)).unwrap_err();
        assert_eq!(error.code(), Code::Damaged, "{number}: {error}");
    }
}
