//! Plans for the wines against what trainings and deletions take.

use std::fs;
use std::ops::ControlFlow;

use efface::planner::{Advice, Count, Lasts, Machine, PlanRequest, Workload, chosen, plan};
use efface::{Delete, Keyring, Selector, Served, Settings, Source, delete, train_as_planned};

use crate::clock::timed;
use crate::wine::{Tables, schema};

/// The plan for settings, a pass taken to last a twentieth of a millisecond.
fn planned(wines: &Source<'_>, settings: Settings) -> Advice {
    let workload = Workload { deletions_per_month: 30.0, groups: vec![1, 8], pass_ms: Some(0.05) };
    let mut machine = Machine { seconds: &mut || 0.0, watch: &mut |_| ControlFlow::Continue(()) };
    plan(&PlanRequest::Table(wines), workload, settings, &mut machine).unwrap()
}

fn held(name: &str, planned: &Count, served: &Served, exactly: u64) {
    let made = served.work.as_ref().unwrap().passes;
    assert!(made <= planned.passes_at_most, "{name}: {made}");
    if planned.exact {
        assert_eq!(made, exactly, "{name}");
    }
}

#[test]
fn plans_hold_for_the_wines() {
    let folder = std::env::temp_dir().join(format!("efface-planned-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let tables = Tables::new();
    tables.write(&folder).unwrap();
    let keyring = Keyring::create(&folder.join("key.toml"), &[3; 32], &[4; 32]).unwrap();
    let wines = Source {
        path: Some(folder.join("wines.csv")),
        schema: Some(schema()),
        classes: Some(vec!["no".into(), "yes".into()]),
        ..Source::default()
    };
    for (lambda, notion) in [
        (0.01, "indistinguishable-from-retraining"),
        (0.03, "indistinguishable-from-retraining"),
        (0.03, "deletion-privacy"),
    ] {
        let settings =
            Settings { lambda: Some(lambda), notion: Some(notion.into()), ..Settings::default() };
        let advice = planned(&wines, settings);
        // 1280 wines are solved anew in no time.
        assert_eq!(advice.choices[0].name, "retrain");
        assert!(advice.advice[0].starts_with("retrain: "), "{:?}", advice.advice);
        let text = advice.to_json().unwrap();
        for choice in &advice.choices {
            let name = &choice.name;
            let vault = folder.join(format!("{lambda}-{notion}-{name}.efface"));
            let pick = chosen(&text, Some(name)).unwrap();
            let (served, _) =
                timed(&keyring, |s| train_as_planned(&wines, &pick, None, &vault, s)).unwrap();
            held(name, &choice.training, &served, choice.training.passes_at_most);
            // What is learnt with noise counts people, and deletes whole ones.
            let [one, eight] = if ["dp-sgd", "trunk-ridge"].contains(&name.as_str()) {
                [&tables.cellars[..1], &tables.cellars[1..3]]
                    .map(|all| Selector::Subjects(all.to_vec()))
            } else {
                [tables.ids[3..4].to_vec(), tables.ids[100..108].to_vec()].map(Selector::Ids)
            };
            let lasts = match choice.lasts {
                Lasts::Until { requests, refresh: false, .. } => requests as usize,
                _ => usize::MAX,
            };
            for (position, what) in [one, eight].into_iter().enumerate().take(lasts) {
                let request = Delete { what, request_id: None };
                let (served, _) = timed(&keyring, |s| delete(&vault, &request, s)).unwrap();
                let most = choice.request.passes_at_most;
                let steps = choice.steps.get(position).copied().unwrap_or(most);
                held(name, &choice.request, &served, steps);
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
