//! Models on features whose training was made elsewhere, on the word of whoever uses them.

use std::path::Path;

use efface::{
    Code, Notice, NoticeCode, Settings, add, delete, delete_dry_run, erase, status, weights,
};
use efface_privacy::certificate::{DECLARED, DECLARED_EXTRACTOR};
use serde_json::Value;

use crate::trunks::{holds, named, parsed};
use crate::world::World;

const TRAINING: &str = "noise=6,rate=0.05,steps=200";

fn settings(mechanism: &str) -> Settings {
    Settings {
        mechanism: Some(mechanism.into()),
        extractor_training: Some(TRAINING.into()),
        deletions: Some(4),
        delta: Some(1e-4),
        ..Settings::default()
    }
}

fn ridge() -> Settings {
    Settings { epsilon: Some(2.0), ..settings("ridge") }
}

fn elsewhere(notices: &[Notice]) -> bool {
    notices.iter().any(|notice| notice.code == NoticeCode::ExtractorElsewhere)
}

fn claimed(vault: &Path) -> f64 {
    parsed(vault)["claims"][0]["epsilon"].as_str().unwrap().parse().unwrap()
}

#[test]
fn an_exact_model_is_as_close_as_the_declared_steps_until_they_are_spent() {
    let world = World::new();
    let (vault, trained) =
        world.trained(Settings { extractor: Some("mine 1".into()), ..ridge() }).unwrap();
    let notices = trained.notices;
    let first = parsed(&vault);
    assert_eq!(
        (&first["claims"][0]["notion"], first["claims"][0]["group"].as_str()),
        (&"indistinguishable-from-retraining".into(), Some("0"))
    );
    let stated = |list: &str, name: &str| -> Value {
        let found = first[list].as_array().unwrap().iter().find(|x| x["name"] == name);
        found.cloned().unwrap_or_default()
    };
    assert_eq!(stated("constants", "given-training")["value"], TRAINING);
    assert_eq!(stated("constants", "deletions")["value"], "4");
    for (name, words) in DECLARED.iter().chain([&DECLARED_EXTRACTOR]) {
        let said = stated("assumptions", name);
        assert_eq!((&said["evidence"], &said["value"]), (&"declared".into(), &(*words).into()));
    }
    let public = stated("assumptions", "extractor")["value"].to_string();
    assert!(public.contains("as declared") && !public.contains("without these"), "{public}");
    let open = first["scope"]["does_not_cover"].to_string();
    assert!(open.contains("on the user's word") && !open.contains("public model"), "{open}");
    assert_eq!(status(&vault).unwrap().deletions_left, Some(4));
    let sentence = first["claims"][0]["words"].as_str().unwrap();
    assert!(sentence.starts_with("if the extractor was trained as declared, "), "{sentence}");
    assert!(elsewhere(&notices) && elsewhere(&status(&vault).unwrap().notices));
    let kept = weights(&vault).unwrap();
    let mut last = 0.0;
    for (ids, left) in [(&["id-5"][..], 3), (&["id-9", "id-11"], 1), (&["id-20"], 0)] {
        let served = world.run(|s| delete(&vault, &named(ids), s)).unwrap();
        assert!(elsewhere(&served.notices));
        assert_eq!(status(&vault).unwrap().deletions_left, Some(left));
        assert!(claimed(&vault) > last, "{}", claimed(&vault));
        last = claimed(&vault);
    }
    assert!(last < 2.0 && weights(&vault).unwrap().coef != kept.coef);
    let dry = delete_dry_run(&vault, &named(&["id-30"]), &world.keyring).unwrap_err();
    let error = world.run(|s| delete(&vault, &named(&["id-30"]), s)).unwrap_err();
    assert_eq!((error.code(), dry.code()), (Code::BudgetExhausted, Code::BudgetExhausted));
    let hint = error.what_to_do().unwrap();
    assert!(hint.contains("train the extractor again") && !hint.contains("erase-only"), "{hint}");
    // Nor does anybody come in who could not leave.
    let more = world.table("more.csv", 200, 4, 2);
    let error = world.run(|s| add(&vault, &more, None, s)).unwrap_err();
    assert_eq!(error.code(), Code::BudgetExhausted);
    assert_eq!((&parsed(&vault)["event"]["removed"], claimed(&vault)), (&4.into(), last));
    let error = world.run(|s| erase(&vault, &named(&["id-31"]), s)).unwrap_err();
    assert!(error.to_string().contains("extractor"), "{error}");
    holds(&world, &vault);
}

#[test]
fn those_deleted_before_and_phases_count() {
    let of = |text: &str, ids: &[&str]| {
        let world = World::new();
        let settings = Settings { extractor_training: Some(text.into()), ..ridge() };
        let (vault, _) = world.trained(settings).unwrap();
        world.run(|s| delete(&vault, &named(ids), s)).unwrap();
        holds(&world, &vault);
        (claimed(&vault), status(&vault).unwrap().deletions_left)
    };
    let (one, _) = of(TRAINING, &["id-5"]);
    let (three, left) = of(TRAINING, &["id-5", "id-6", "id-7"]);
    let before = format!("{TRAINING},deleted=2,clip=0.5");
    assert_eq!(of(&before, &["id-5"]), (three, left));
    assert_eq!(left, Some(1));
    let parts = "noise=6,rate=0.05,steps=50;noise=6,rate=0.05,steps=150";
    assert_eq!(of(parts, &["id-5"]).0, one);
    let longer = format!("{TRAINING};noise=8,rate=0.02,steps=100");
    assert!(of(&longer, &["id-5"]).0 > 1.01 * one && three > 1.5 * one);
}

#[test]
fn a_model_with_noise_is_composed_with_the_training() {
    let world = World::new();
    let more = |base| Settings { lambda: Some(0.05), epsilon: Some(2.5), ..base };
    let (vault, _) = world.trained(more(settings("solve"))).unwrap();
    let served =
        world.run(|s| delete(&vault, &named(&["id-5", "id-9", "id-11", "id-12"]), s)).unwrap();
    let epsilon = served.claims[0].epsilon.0;
    let alone = World::new();
    let (exact, _) = alone.trained(ridge()).unwrap();
    alone.run(|s| delete(&exact, &named(&["id-5", "id-9", "id-11", "id-12"]), s)).unwrap();
    assert!(claimed(&exact) < epsilon && epsilon <= 2.5, "{} {epsilon}", claimed(&exact));
    // Its noise hides how it was solved and not a record, so that there is no bound, and no claim.
    assert!(served.claims.iter().all(|c| c.notion.name() != "differential-privacy"));
    assert!(served.claims.iter().all(|c| c.words.starts_with("if the extractor was trained")));
    holds(&world, &vault);
}

#[test]
fn what_does_not_go_with_a_declared_training_is_refused_in_words() {
    let refused = |settings: Settings| {
        let error = World::new().trained(settings).unwrap_err();
        format!("{error} {}", error.what_to_do().unwrap_or_default())
    };
    type Change = fn(&mut Settings);
    let changes: [(&str, Change); 18] = [
        ("`noisy-gd`", |s| s.mechanism = Some("noisy-gd".into())),
        ("`dp-sgd`", |s| s.mechanism = Some("dp-sgd".into())),
        ("secret", |s| s.state = Some("secret".into())),
        ("renyi-unlearning", |s| s.notion = Some("renyi-unlearning".into())),
        ("exact-removal", |s| {
            (s.mechanism, s.notion) = (Some("ridge".into()), Some("exact-removal".into()));
        }),
        ("extractor-privacy", |s| {
            let figures = efface::Privacy { epsilon: None, delta: None, mu: Some(0.1), group: 1 };
            s.extractor_privacy = Some(figures);
        }),
        ("alone reaches epsilon", |s| s.epsilon = Some(0.2)),
        ("from 1 to 1024", |s| s.deletions = Some(1025)),
        ("fitted", |s| s.preprocess = Some("fitted".into())),
        ("deleted before", |s| {
            s.extractor_training = Some(format!("{TRAINING},deleted=4"));
        }),
        ("`noise`, `rate` and `steps`", |s| s.extractor_training = Some("noise=1".into())),
        ("made of", |s| s.extractor_training = Some("epsilon=1".into())),
        ("`rate` must be", |s| s.extractor_training = Some("noise=1,rate=2,steps=3".into())),
        ("`noise` must be", |s| s.extractor_training = Some("noise=0,rate=0.1,steps=3".into())),
        ("`steps` must be", |s| s.extractor_training = Some("noise=1,rate=0.1,steps=0".into())),
        ("fewer phases, or fewer deletions", |s| {
            s.extractor_training = Some([TRAINING; 64].join(";"));
            s.deletions = Some(512);
        }),
        ("given", |s| s.extractor_training = None),
        ("nowhere.efface", |s| s.features = Some("network:nowhere.efface".into())),
    ];
    for (part, change) in changes {
        let mut settings = Settings { epsilon: Some(2.0), lambda: Some(0.05), ..settings("solve") };
        change(&mut settings);
        let text = refused(settings);
        assert!(text.contains(part), "{part}: {text}");
    }
}
