//! Rows that are outputs of a public model: certificates name it, and say what that leaves open.

use efface::{CheckOutcome, Code, Settings, certificate, verify, verify_ledger};
use serde_json::Value;

use crate::world::World;

fn settings(extractor: &str) -> Settings {
    Settings { extractor: Some(extractor.into()), ..Settings::default() }
}

#[test]
fn a_public_model_is_named_and_its_limits_are_told() {
    let world = World::new();
    let (vault, _) = world.trained(settings("encoder 3, sha256 0123")).unwrap();
    let text = certificate(&vault, "latest").unwrap();
    let stated: Value = serde_json::from_str(&text).unwrap();
    let named = |list: &str| -> Vec<&Value> {
        stated[list].as_array().unwrap().iter().filter(|x| x["name"] == "extractor").collect()
    };
    let listed = named("constants");
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (&listed[0]["value"], &listed[0]["origin"]),
        (&"encoder 3, sha256 0123".into(), &"user".into())
    );
    assert_eq!(named("assumptions")[0]["evidence"], "declared");
    let open = stated["scope"]["does_not_cover"].to_string();
    assert!(open.contains("what the public model") && open.contains("raw records"), "{open}");
    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

#[test]
fn a_certificate_that_is_silent_about_the_public_model_fails() {
    let world = World::new();
    let (vault, _) = world.trained(settings("encoder 3")).unwrap();
    let text = certificate(&vault, "latest").unwrap();
    let scope = |text: &str| {
        let verdict = verify(text, None, None, None).unwrap();
        verdict.checks.into_iter().find(|check| check.name == "scope").unwrap()
    };
    assert_eq!(scope(&text).outcome, CheckOutcome::Holds);
    for limit in ["what the public model", "the raw records that"] {
        let mut stated: Value = serde_json::from_str(&text).unwrap();
        let list = stated["scope"]["does_not_cover"].as_array_mut().unwrap();
        list.retain(|line| !line.as_str().unwrap().starts_with(limit));
        let check = scope(&serde_json::to_string(&stated).unwrap());
        assert_eq!(check.outcome, CheckOutcome::Fails);
        assert!(check.reason.contains(limit), "{}", check.reason);
    }
}

#[test]
fn what_saw_the_records_is_no_public_model() {
    let privacy = efface::Privacy { epsilon: Some(0.1), delta: Some(1e-9), mu: None, group: 1 };
    let settings = Settings { extractor_privacy: Some(privacy), ..settings("encoder 3") };
    let error = World::new().trained(settings).unwrap_err();
    assert_eq!(error.code(), Code::Settings, "{error}");
}

#[test]
fn names_that_have_no_place_in_a_certificate_are_refused() {
    for name in ["", "  ", "two\nlines", &"x".repeat(201)] {
        let error = World::new().trained(settings(name)).unwrap_err();
        assert_eq!(error.code(), Code::Range, "{error}");
        assert!(error.to_string().contains("extractor"), "{error}");
    }
}
