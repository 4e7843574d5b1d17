//! Regularisation so faint that float64 alone certifies nothing.

use efface::{Delete, Selector, Settings, delete};

use crate::world::World;

fn faint(loss: &str, lambda: f64, risk: f64) -> Settings {
    Settings {
        loss: Some(loss.into()),
        clip: (loss == "squared").then_some(f64::INFINITY),
        target_range: (loss == "squared").then_some((0.0, 10.0)),
        lambda: Some(lambda),
        excess_risk: Some(risk),
        ..Settings::default()
    }
}

/// lambda = 1e-9 on labels that a line separates: trained, and served.
#[test]
fn models_of_faint_regularisation_are_certified() {
    for loss in ["logistic", "softmax", "squared"] {
        let world = World::new();
        let (vault, served) =
            world.trained(faint(loss, 1e-9, 1e-3)).unwrap_or_else(|e| panic!("{loss}: {e}"));
        let solver = served.work.as_ref().and_then(|work| work.solver.clone());
        assert_eq!(solver.as_deref(), Some("newton"), "{loss}");
        let what = Selector::Ids(vec!["id-7".into()]);
        world.run(|s| delete(&vault, &Delete { what, request_id: None }, s)).unwrap();
    }
}

/// Beyond that a refusal names what decides, with a value that works.
#[test]
fn what_cannot_be_certified_is_refused_with_a_value_that_works() {
    for lambda in [1e-9, 1e-7] {
        let world = World::new();
        let error = world.trained(faint("logistic", lambda, 1e-16)).unwrap_err();
        assert!(error.to_string().contains("closer than float64 can certify"), "{error}");
        let hint = error.what_to_do().unwrap().to_owned();
        let factor = hint.split("`§excess-risk` to ").nth(1).unwrap();
        let factor: f64 = factor.split(' ').next().unwrap().parse().unwrap();
        assert!(factor > 1.0 && hint.contains("`§lambda`") && hint.contains("`§row-norm`"));
        world.trained(faint("logistic", lambda, 1e-16 * factor)).unwrap();
    }
}
