//! Whole lives of models: train, delete, add, update, verify.

use std::path::Path;

use efface::{
    CheckOutcome, Code, Delete, ExportFormat, Selector, Settings, Status, add, certificate, delete,
    delete_dry_run, entries, evaluate, export, predict, refresh, report, show, status, update,
    verify, verify_ledger,
};

use serde_json::{Value, json};

use crate::world::World;

fn by_id(ids: &[&str]) -> Delete {
    Delete {
        what: Selector::Ids(ids.iter().map(|id| (*id).to_owned()).collect()),
        request_id: None,
    }
}

fn by_subject(name: &str) -> Delete {
    Delete { what: Selector::Subjects(vec![name.to_owned()]), request_id: None }
}

fn live(settings: Settings) {
    let world = World::new();
    let regression = settings.loss.as_deref() == Some("squared");
    let classes = match settings.loss.as_deref() {
        Some("softmax") => 3,
        Some("squared") => 0,
        _ => 2,
    };
    let (vault, first) = world.trained(settings).unwrap();
    assert_eq!((first.version, first.records, first.index), (1, Some(120), 0));

    let dry = delete_dry_run(&vault, &by_subject("who-3"), &world.keyring).unwrap();
    let served = world.run(|s| delete(&vault, &by_subject("who-3"), s)).unwrap();
    assert_eq!((served.records, served.remaining, served.version), (Some(3), 117, 2));
    assert_eq!((dry.records, dry.remaining), (3, 117));
    assert_eq!(dry.claims, served.claims, "a dry run foretells the claims");

    let served = world.run(|s| delete(&vault, &by_id(&["id-50", "id-90"]), s)).unwrap();
    assert_eq!((served.records, served.remaining), (Some(2), 115));
    let more = world.table("more.csv", 200, 4, classes);
    let served = world.run(|s| add(&vault, &more, None, s)).unwrap();
    assert_eq!((served.records, served.remaining), (Some(4), 119));
    let again = world.table("again.csv", 100, 2, classes);
    let served = world.run(|s| update(&vault, &again, Some("ticket-9"), s)).unwrap();
    assert_eq!((served.records, served.remaining, served.version), (Some(2), 119, 5));
    let replayed = world.run(|s| update(&vault, &again, Some("ticket-9"), s)).unwrap();
    assert!(replayed.replayed);
    assert_eq!(replayed.certificate, served.certificate);

    let key = world.keyring.public_key();
    let verdict =
        verify_ledger(&vault, Some(&key), Some(&served.head), Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    for entry in entries(&vault).unwrap() {
        let text = certificate(&vault, &entry.index.to_string()).unwrap();
        let verdict = verify(&text, Some(&key), Some(&vault), None).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
        assert!(show(&text).unwrap().text().contains("NOT covered"));
    }
    let scores = evaluate(&vault, &world.table("test.csv", 300, 60, classes)).unwrap();
    assert_eq!(scores.rmse.is_some(), regression);
    let mut count = 0;
    predict(&vault, &world.table("test.csv", 300, 60, classes), &mut |p| {
        assert!(p.id.is_some());
        count += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(count, 60);
    let json = world.run(|s| export(&vault, ExportFormat::Json, s)).unwrap();
    assert!(String::from_utf8(json).unwrap().contains("coef"));
    let status = status(&vault).unwrap();
    assert_eq!((status.records, status.exports.count), (119, 1));
    page(&report(&vault, &[]).unwrap(), &status);
    audited(&vault, &status);
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

/// A report is one page that needs nothing else, with every certificate in it.
fn page(html: &str, status: &Status) {
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    for outside in ["http", "src=", "@import", "url(", "<script"] {
        assert!(!html.contains(outside), "{outside}");
    }
    let count = |what: &str| html.matches(what).count();
    for element in ["main", "figure", "table", "section", "svg", "dl", "ul", "p"] {
        let opened = count(&format!("<{element}>")) + count(&format!("<{element} "));
        assert_eq!(opened, count(&format!("</{element}>")), "{element}");
    }
    assert_eq!(count("<table>"), count("<caption>"));
    assert_eq!(count("<svg "), count("role=\"img\" aria-label"));
    assert_eq!((count("<h1>"), count("The ledger verifies.")), (1, 1));
    assert!(html.contains(&format!("is now trained on {} records", status.records)));
    assert!(html.contains(&status.head.1));
    for claim in &status.claims {
        assert!(html.contains(claim.notion.name()));
    }
}

/// Audits stand beside the claims, unless they are of something else.
fn audited(vault: &Path, status: &Status) {
    let (index, hash) = &status.head;
    let audit = json!({
        "schema": "efface.audit/1",
        "vault": status.vault,
        "head": { "index": index, "hash": hash },
        "notion": "indistinguishable-from-retraining",
        "deleted": { "count": 1, "found": "largest <influence>", "positions": [3] },
        "runs": { "direction": 10, "threshold": 10, "counted": 500 },
        "mu_lower": 0.123_456,
        "epsilon_lower": 0.2,
        "mu_reach": 3.0,
        "epsilon_reach": 4.0,
        "certified": [{ "accountant": "gdp", "mu": "0.5", "epsilon": "1", "delta": "0.001" }],
        "confidence": 0.999_999,
        "verdict": "consistent",
        "notes": [],
    });
    let shown = |audit: &Value| report(vault, &[audit.to_string()]);
    let html = shown(&audit).unwrap();
    page(&html, status);
    for text in ["no contradiction found", "1 record: largest &lt;influence&gt;", "0.1234, 0.2000"]
    {
        assert!(html.contains(text), "{text}");
    }
    let mut refuted = audit.clone();
    refuted["verdict"] = json!("refuted");
    refuted["mu_lower"] = json!(0.6);
    assert!(shown(&refuted).unwrap().contains("An audit refutes a claim."));
    for (field, value, said) in [
        ("/schema", json!("efface.audit/2"), "must be `efface.audit/1`, got `efface.audit/2`"),
        ("/vault", json!("another"), "the audit is of vault `another`"),
        ("/head/hash", json!("00"), "has another hash"),
        ("/runs", json!(3), "not the result of an audit"),
        ("/mu_lower", json!(5), "its numbers make it refuted, and it says consistent"),
        ("/verdict", json!("refuted"), "its numbers make it consistent, and it says refuted"),
        ("/certified", json!([]), "its numbers make it undecided"),
        ("/mu_reach", json!(-3), "`mu_reach` must be at least 0, got -3"),
        ("/confidence", json!(1), "`confidence` must be in (0, 1)"),
        ("/deleted/count", json!(0), "`deleted.count` must be at least 1"),
        ("/certified/0/delta", json!("2"), "delta below 1"),
    ] {
        let mut other = audit.clone();
        *other.pointer_mut(field).unwrap() = value;
        let error = shown(&other).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    assert!(report(vault, &["no JSON".into()]).is_err());
    let first = entries(vault).unwrap().swap_remove(0);
    let mut early = audit.clone();
    early["head"] = json!({ "index": first.index, "hash": first.hash });
    let error = shown(&early).unwrap_err().to_string();
    assert!(error.contains("(delete) deleted records since"), "{error}");
}

#[test]
fn fitted_preprocessing() {
    for loss in ["logistic", "softmax", "squared"] {
        live(Settings {
            preprocess: Some("fitted".into()),
            loss: Some(loss.into()),
            excess_risk: Some(0.5),
            ..Settings::default()
        });
    }
}

#[test]
fn solve_lives() {
    live(Settings::default());
}

#[test]
fn retrain_lives() {
    live(Settings { mechanism: Some("retrain".into()), ..Settings::default() });
}

#[test]
fn noisy_gd_lives() {
    live(Settings {
        mechanism: Some("noisy-gd".into()),
        lambda: Some(0.05),
        max_group: Some(5),
        ..Settings::default()
    });
}

#[test]
fn shards_live() {
    live(Settings {
        mechanism: Some("shards".into()),
        network: Some("dense:8".into()),
        shards: Some(6),
        ..Settings::default()
    });
}

#[test]
fn networks_live() {
    live(Settings {
        mechanism: Some("dp-sgd".into()),
        network: Some("dense:8".into()),
        steps: Some(30),
        unit: Some("record".into()),
        deletions: Some(5),
        ..Settings::default()
    });
}

#[test]
fn noisy_gd_over_batches_lives() {
    live(Settings {
        mechanism: Some("noisy-gd".into()),
        batches: Some(4),
        lambda: Some(0.05),
        max_group: Some(5),
        ..Settings::default()
    });
}

#[test]
fn secret_state_lives() {
    live(Settings { state: Some("secret".into()), releases: Some(9), ..Settings::default() });
}

#[test]
fn distributed_descent_lives() {
    let settings = |accountant: &str| Settings {
        mechanism: Some("distributed-descent".into()),
        accountant: Some(accountant.into()),
        lambda: Some(0.1),
        releases: Some(9),
        ..Settings::default()
    };
    live(settings("gdp"));
    live(settings("descent"));
    live(Settings { xi: Some(1.25), copies: Some(2), ..settings("gdp") });
    live(Settings { loss: Some("softmax".into()), ..settings("gdp") });
}

#[test]
fn the_published_numbers_need_half_of_the_records() {
    let world = World::new();
    let settings = Settings {
        mechanism: Some("distributed-descent".into()),
        accountant: Some("descent".into()),
        lambda: Some(0.1),
        releases: Some(9),
        ..Settings::default()
    };
    let (vault, first) = world.trained(settings).unwrap();
    assert!(first.certificate.contains(r#"{"name":"minimum","origin":"data","value":"60"}"#));
    let most: Vec<String> = (0..61).map(|k| format!("id-{k}")).collect();
    let request = |count: usize| Delete {
        what: Selector::Ids(most.iter().take(count).cloned().collect()),
        request_id: None,
    };
    let error = world.run(|s| delete(&vault, &request(61), s)).unwrap_err();
    assert!(error.to_string().contains("at least 60"), "{error}");
    let served = world.run(|s| delete(&vault, &request(60), s)).unwrap();
    assert_eq!(served.remaining, 60);
    world.run(|s| refresh(&vault, None, s)).unwrap();
    let verdict =
        verify_ledger(&vault, Some(&world.keyring.public_key()), None, Some(&world.keyring))
            .unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

#[test]
fn softmax_lives() {
    live(Settings { loss: Some("softmax".into()), lambda: Some(0.01), ..Settings::default() });
}

#[test]
fn regression_lives() {
    live(Settings {
        loss: Some("squared".into()),
        target_range: Some((0.0, 10.0)),
        lambda: Some(0.01),
        ..Settings::default()
    });
}

#[test]
fn huber_hinge_lives() {
    live(Settings { loss: Some("huber-hinge".into()), lambda: Some(0.01), ..Settings::default() });
}

#[test]
fn mean_normalizer_lives() {
    live(Settings { normalizer: Some("mean".into()), ..Settings::default() });
    live(Settings {
        normalizer: Some("mean".into()),
        mechanism: Some("noisy-gd".into()),
        lambda: Some(0.05),
        max_group: Some(5),
        ..Settings::default()
    });
}

#[test]
fn newton_cg_and_lbfgs_live() {
    for solver in ["newton-cg", "lbfgs", "gradient-descent"] {
        live(Settings { solver: Some(solver.into()), lambda: Some(0.05), ..Settings::default() });
    }
}

#[test]
fn secret_state_counts_releases_until_a_refresh() {
    let world = World::new();
    let settings =
        Settings { state: Some("secret".into()), releases: Some(2), ..Settings::default() };
    let (vault, _) = world.trained(settings).unwrap();
    world.run(|s| delete(&vault, &by_id(&["id-1"]), s)).unwrap();
    let error = world.run(|s| delete(&vault, &by_id(&["id-2"]), s)).unwrap_err();
    assert_eq!(error.code(), Code::ReleasesExhausted);
    assert_eq!(status(&vault).unwrap().releases_left, Some(0));
    world.run(|s| refresh(&vault, None, s)).unwrap();
    assert_eq!(status(&vault).unwrap().releases_left, Some(1));
    world.run(|s| delete(&vault, &by_id(&["id-2"]), s)).unwrap();
}

#[test]
fn the_last_record_may_go_under_fixed_and_not_under_mean() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let all: Vec<String> = (0..120).map(|k| format!("id-{k}")).collect();
    let request = Delete { what: Selector::Ids(all.clone()), request_id: None };
    let served = world.run(|s| delete(&vault, &request, s)).unwrap();
    assert_eq!(served.remaining, 0);
    let again = world.run(|s| delete(&vault, &request, s)).unwrap();
    assert!(again.replayed && again.certificate == served.certificate);

    let world = World::new();
    let settings = Settings { normalizer: Some("mean".into()), ..Settings::default() };
    let (vault, _) = world.trained(settings).unwrap();
    let request = Delete { what: Selector::Ids(all), request_id: None };
    let error = world.run(|s| delete(&vault, &request, s)).unwrap_err();
    assert_eq!(error.kind(), efface::Kind::Refused, "{error}");
    assert_eq!(status(&vault).unwrap().records, 120);
}
