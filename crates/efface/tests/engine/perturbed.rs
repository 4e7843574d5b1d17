//! Objective perturbation: it runs as published, and nothing it certifies is believed.

use efface::{CheckOutcome, Delete, Settings, Which, add, delete, refresh, status, verify};

use crate::world::World;

fn settings() -> Settings {
    Settings {
        mechanism: Some("objective-perturbation".into()),
        lambda: Some(0.05),
        noise: Some(2.0),
        capacity: Some(200),
        delta: Some(1e-4),
        ..Settings::default()
    }
}

fn delete_one(row: usize) -> Delete {
    Delete { what: Which::Ids(vec![format!("id-{row}")]), request_id: None }
}

#[test]
fn requests_are_served_the_budget_is_shown_and_no_certificate_holds() {
    let world = World::new();
    // So regularised that by the worst case all three requests fit into the budget.
    let (vault, trained) = world.trained(Settings { lambda: Some(1.0), ..settings() }).unwrap();
    let at_first = status(&vault).unwrap().residual.unwrap();
    assert!(0.0 < at_first.bound && at_first.bound < 0.011 * at_first.budget);
    let batch = Which::Subjects(vec!["who-5".into()]);
    let batch = Delete { what: batch, request_id: None };
    let more = world.table("more.csv", 500, 4, 2);
    let served = [
        world.run(|s| delete(&vault, &delete_one(7), s)).unwrap(),
        world.run(|s| delete(&vault, &batch, s)).unwrap(),
        world.run(|s| add(&vault, &more, None, s)).unwrap(),
    ];
    let key = world.keyring.public_key();
    for served in [&trained].into_iter().chain(&served) {
        let verdict = verify(&served.certificate, Some(&key), Some(&vault), None).unwrap();
        let failing: Vec<_> =
            verdict.checks.iter().filter(|check| check.outcome == CheckOutcome::Fails).collect();
        assert_eq!(failing.len(), 1, "{failing:?}");
        assert_eq!(failing[0].reason, "NOT SOUND: residual depends on the perturbation");
        assert_eq!(served.claims.len(), 1);
        assert!(served.claims[0].words.starts_with("NOT SOUND"));
        assert!((served.claims[0].epsilon.0 - 1.0).abs() < 1e-6);
    }
    let now = status(&vault).unwrap().residual.unwrap();
    assert!(now.bound > at_first.bound && now.bound <= now.budget);
    assert!(status(&vault).unwrap().releases_left.is_none());
    let residual = served[2].work.as_ref().unwrap().residual.unwrap();
    assert!(residual.step.is_some_and(|(share, _)| share > 0.0));
    // A refresh trains anew: only the trainer's own residual is left.
    world.run(|s| refresh(&vault, None, s)).unwrap();
    assert!(status(&vault).unwrap().residual.unwrap().bound < 0.011 * now.budget);
}

#[test]
fn a_spent_budget_trains_anew() {
    let world = World::new();
    let (vault, _) = world.trained(Settings { noise: Some(0.02), ..settings() }).unwrap();
    let mut anew = 0;
    for row in 0..8 {
        let served = world.run(|s| delete(&vault, &delete_one(row), s)).unwrap();
        let residual = served.work.unwrap().residual.unwrap();
        assert!(residual.bound <= residual.budget);
        anew += usize::from(residual.step.is_none());
    }
    assert!(anew > 0);
}

#[test]
fn settings_it_was_not_published_for_are_refused() {
    let refused = |settings: Settings| World::new().trained(settings).unwrap_err().to_string();
    for (settings, told) in [
        (Settings { state: Some("perfect".into()), ..settings() }, "`state perfect`"),
        (Settings { loss: Some("huber-hinge".into()), ..settings() }, "`logistic`"),
        (Settings { notion: Some("differential-privacy".into()), ..settings() }, "notion"),
        (Settings { accountant: Some("gdp".into()), ..settings() }, "accountant"),
        (Settings { epsilon: Some(2.0), ..settings() }, "epsilon above 1"),
        (Settings { releases: Some(3), ..settings() }, "`releases`"),
        (Settings { noise: Some(1e-9), ..settings() }, "distance"),
    ] {
        let text = refused(settings);
        assert!(text.contains(told), "{told}: {text}");
    }
    let borrowed = Settings {
        mechanism: Some("solve".into()),
        accountant: Some("objective".into()),
        noise: None,
        ..settings()
    };
    assert!(refused(borrowed).contains("objective"));
}
