use super::*;

#[test]
fn names_are_read_back_and_distinct() {
    for loss in LossName::ALL {
        assert_eq!(LossName::named(loss.name()), Ok(loss));
    }
    assert_eq!(Loss::NAMES, LossName::ALL.map(LossName::name));
}

#[test]
fn a_loss_is_rebuilt_from_its_name_and_its_parameter() {
    for name in LossName::ALL {
        let parameter = name.parameter().map(|_| 0.5);
        let classes = match name.task() {
            Task::Binary => Some(2),
            Task::Multiclass => Some(7),
            Task::Regression => None,
        };
        let loss = Loss::from_name(name.name(), parameter, classes).unwrap();
        assert_eq!((loss.kind(), loss.parameter(), loss.classes()), (name, parameter, classes));
        assert_eq!(loss.check(), Ok(loss));
        assert_eq!(name.link_bounds(parameter), Ok(loss.link_bounds()));
    }
}

#[test]
fn nothing_is_guessed() {
    let unknown = Loss::from_name("hinge", None, Some(2)).unwrap_err();
    let names = Loss::NAMES.join(", ");
    assert_eq!(unknown.to_string(), format!("`loss` must be one of {names}, got `hinge`"));
    let missing = Loss::from_name("huber-hinge", None, Some(2)).unwrap_err();
    assert_eq!(missing.to_string(), "`huber-hinge` needs `hinge-width`, got none");
    let missing = LossName::Squared.link_bounds(None).unwrap_err();
    assert_eq!(missing.to_string(), "`squared` needs `clip`, got none");
    let needless = Loss::from_name("logistic", Some(1.0), Some(2)).unwrap_err();
    assert_eq!(needless.to_string(), "`logistic` has no parameter, got 1");
    for (name, parameter, classes) in [
        ("logistic", None, Some(3)),
        ("logistic", None, None),
        ("huber-hinge", Some(1.0), Some(1)),
        ("softmax", None, Some(1)),
        ("softmax", None, Some(65537)),
        ("softmax", None, None),
        ("squared", Some(1.0), Some(2)),
    ] {
        let refused = Loss::from_name(name, parameter, classes).unwrap_err().to_string();
        let got = format!(", got {}", classes.unwrap_or(0));
        assert!(refused.contains("classes") && refused.ends_with(&got), "{name}: {refused}");
    }
}

#[test]
fn parameters_outside_their_rules_are_refused() {
    for clip in [0.0, -1.0, f64::NAN] {
        let refused = Loss::Squared { clip }.check().unwrap_err().to_string();
        assert!(refused.starts_with("`clip` must be above 0"), "{refused}");
    }
    assert_eq!(Loss::UNCLIPPED.check(), Ok(Loss::UNCLIPPED));
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Loss::HuberHinge { width }.check().unwrap_err().to_string();
        assert!(refused.starts_with("`hinge-width` must be finite and above 0"), "{refused}");
    }
    let refused = Loss::HuberHinge { width: f64::INFINITY }.check().unwrap_err();
    assert_eq!(refused.to_string(), "`hinge-width` must be finite and above 0, got inf");
    for classes in [0, 1, 65537] {
        let refused = Loss::Softmax { classes }.check().unwrap_err().to_string();
        assert_eq!(refused, format!("`softmax` needs 2 to 65536 classes, got {classes}"));
    }
}

#[test]
fn targets_outside_their_rules_are_not_accepted() {
    assert!(!Loss::Logistic.accepts(0.5, 0.0));
    assert!(!Loss::Logistic.accepts(f64::NAN, 0.0));
    assert!(!Loss::Softmax { classes: 3 }.accepts(3.0, 0.0));
    assert!(!Loss::Squared { clip: 1.0 }.accepts(2.5, 2.0));
    assert_eq!(Loss::Logistic.target_rule(1.0), "0 or 1");
    assert_eq!(Loss::Softmax { classes: 3 }.target_rule(1.0), "a class index below 3");
    assert_eq!(Loss::UNCLIPPED.target_rule(2.0), "within [-2, 2]");
    assert_eq!(Loss::UNCLIPPED.target_rule(f64::MAX), "finite");
}

#[test]
fn constants_at_known_bounds() {
    assert_eq!(Loss::Logistic.lipschitz(1.0), 1.0);
    assert_eq!(Loss::Logistic.smoothness(1.0), 0.25);
    assert_eq!(Loss::Softmax { classes: 10 }.smoothness(2.0), 2.0);
    assert!(Loss::Softmax { classes: 10 }.lipschitz(1.0) >= 2.0_f64.sqrt());
    assert_eq!(Loss::Softmax { classes: 10 }.curvature_trace(), 4.5);
    assert_eq!(Loss::Squared { clip: 3.0 }.lipschitz(2.0), 6.0);
    assert_eq!(Loss::Squared { clip: 3.0 }.derivative_within(2.0), 2.0);
    assert_eq!(Loss::HuberHinge { width: 0.5 }.smoothness(1.0), 2.0);
}
