use super::*;
use efface_matrix::Refusal;

fn declared() -> Declared {
    Declared {
        loss: Loss::Logistic,
        cols: 784,
        lambda: 1e-3,
        normalizer: Normalizer::Fixed { n: 1000, capacity: 1250 },
        row_bound: 1.0,
        target_bound: 0.0,
        max_weight: None,
    }
}

#[test]
fn constants_follow_from_the_declared_ones() {
    let c = declared().check().unwrap();
    assert_eq!((c.parameters(), c.lipschitz(), c.load()), (784, 1.0, 1.25));
    assert_eq!((c.smoothness(), c.strong_convexity()), (0.3125, 1e-3));
    assert!(c.total_smoothness() >= 0.3135 && c.total_smoothness() < 0.313_500_000_000_1);
    // F0 = 1.25 log 2, so |w*| <= sqrt(2500 log 2).
    let bound = (2500.0 * std::f64::consts::LN_2).sqrt();
    assert!(c.optimum_bound() >= bound && c.optimum_bound() < bound * (1.0 + 1e-14));
    let setting = c.setting(3);
    assert_eq!((setting.parameters, setting.group, setting.smoothness.0), (784, 3, 0.3125));
    let mean = Declared { normalizer: Normalizer::Mean { minimum: 10 }, ..declared() };
    let mean = mean.check().unwrap();
    assert_eq!((mean.smoothness(), mean.load(), mean.normalizer(77)), (0.25, 1.0, 77.0));
    assert_eq!(c.normalizer(77), 1000.0);
    let softmax = Declared { loss: Loss::Softmax { classes: 10 }, ..declared() };
    assert_eq!(softmax.check().unwrap().parameters(), 7840);
}

#[test]
fn the_slack_is_the_formula_and_grows_with_the_norm() {
    let c = declared().check().unwrap();
    // K = 1250 + 784 + 8 + 8; every other factor is exact to a few units.
    let k = 2050.0 * f64::EPSILON / 2.0;
    for norm in [0.0, 1.0, 50.0] {
        let plain = k / (1.0 - k) * (1.25 * (1.0 + 0.25 * norm) + 1e-3 * norm);
        let slack = c.slack(norm, 5);
        assert!(slack >= plain && slack <= plain * (1.0 + 1e-11), "{slack} {plain}");
    }
    assert_eq!(c.slack(2.0, 5), c.slack(2.0, 1250), "public: not from the number of records");
    assert!(c.slack(f64::INFINITY, 5) == f64::INFINITY);
    let mean = Declared { normalizer: Normalizer::Mean { minimum: 0 }, ..declared() };
    let mean = mean.check().unwrap();
    assert!(mean.slack(1.0, 2000) > mean.slack(1.0, 1000));
    let far = Declared { normalizer: Normalizer::Fixed { n: 1, capacity: 1 << 48 }, ..declared() };
    assert!(far.check().unwrap().slack(1.0, 1) > 1.0);
}

#[test]
fn what_breaks_a_rule_is_refused_by_name() {
    let name = |change: &dyn Fn(&mut Declared)| {
        let mut d = declared();
        change(&mut d);
        let said = d.check().unwrap_err().to_string();
        said.split("` must be ").next().unwrap().trim_start_matches('`').to_owned()
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
        assert_eq!(name(&|d| d.lambda = bad), "lambda");
        assert_eq!(name(&|d| d.row_bound = bad), "row-norm");
    }
    let squared = Loss::Squared { clip: 1.0 };
    assert_eq!(name(&|d| (d.loss, d.target_bound) = (squared, f64::NAN)), "target-bound");
    let normalizer = |n, capacity| Normalizer::Fixed { n, capacity };
    assert_eq!(name(&|d| d.normalizer = normalizer(0, 5)), "public-n");
    assert_eq!(name(&|d| d.normalizer = normalizer(5, 0)), "capacity");
    let none = Declared { cols: 0, ..declared() }.check();
    assert_eq!(
        none,
        Err(Refusal::new(
            "`parameters` (columns times outputs) must be between 1 and 2^32, got 0 x 1"
        ))
    );
    let loss = Declared { loss: Loss::Softmax { classes: 1 }, ..declared() }.check();
    assert!(loss.is_err());
    let text = Declared { lambda: 0.0, ..declared() }.check().unwrap_err().to_string();
    assert_eq!(text, "`lambda` must be between 1e-100 and 1e100, got 0");
}

#[test]
fn the_effective_row_bound_covers_the_intercept() {
    assert_eq!(effective_row_bound(3.0, 4.0), 5.0);
    assert!(effective_row_bound(1.0, 1.0) >= std::f64::consts::SQRT_2);
    assert_eq!(effective_row_bound(1.0, 0.0), 1.0);
}

/// Both kinds of smaller slack are below that of any order, and what is public covers what an
/// accepting pass computes.
#[test]
fn fixed_trees_and_twice_the_precision_ask_for_less() {
    for loss in [Loss::Logistic, Loss::Softmax { classes: 5 }, Loss::UNCLIPPED] {
        for (n, cols) in [(1, 1), (1000, 784), (10_000_000, 1000)] {
            let normalizer = Normalizer::Mean { minimum: 0 };
            let c = Declared { loss, cols, normalizer, target_bound: 3.0, ..declared() };
            let c = c.check().unwrap();
            let tree = Summation::Additions(efface_matrix::additions(n));
            for norm in [0.0, 1.0, 37.0] {
                let any = c.slack(norm, n);
                let by_tree = c.slack_of(tree, norm, n, f64::INFINITY);
                let twice = c.slack_of(Summation::Twice, norm, n, f64::INFINITY);
                assert!(by_tree <= any, "{loss:?} {n}: {by_tree} {any}");
                assert!(n == 1 || twice <= by_tree, "{loss:?} {n}: {twice} {by_tree}");
                assert!(n < 10_000_000 || by_tree < 1e-3 * any);
            }
            for summation in [tree, Summation::Twice, Summation::AnyOrder] {
                let public = c.public_slack_of(summation, 0.1, n);
                let norm = outward::add(0.1, c.optimum_bound());
                let computed = c.loss_above(c.zero_value(), norm, n);
                let accepting = c.slack_of(summation, norm, n, c.loss_above(computed, norm, n));
                let any = c.slack_of(Summation::AnyOrder, norm, n, c.loss_above(computed, norm, n));
                assert!(accepting.min(any) <= public, "{loss:?} {summation:?}");
                assert!(public <= c.public_slack(0.1, n), "never more than before");
            }
        }
    }
    let c = declared().check().unwrap();
    assert_eq!(c.slack_of(Summation::Twice, 1e16, 5, 1.0), f64::INFINITY);
    let heavy = Declared { max_weight: Some(3.0), lambda: 1e-9, ..declared() }.check().unwrap();
    for summation in [Summation::AnyOrder, Summation::Additions(74), Summation::Twice] {
        let light = Declared { lambda: 1e-9, ..declared() }.check().unwrap();
        let slack = |c: &Constants| c.slack_of(summation, 1e-3, 5, f64::INFINITY);
        assert!(slack(&heavy) >= 3.0 * slack(&light), "{summation:?}");
    }
    // Weights that are 1 on average cost sums nothing, however heavy one of them is.
    let mean = Normalizer::Mean { minimum: 0 };
    let equal = Declared { normalizer: mean, ..declared() }.check().unwrap();
    let one = Declared { normalizer: mean, max_weight: Some(1.0), ..declared() }.check().unwrap();
    let balanced = Declared { normalizer: mean, max_weight: Some(500.0), ..declared() };
    let balanced = balanced.check().unwrap().with_mean_weight(1.0);
    assert_eq!(balanced.smoothness(), equal.smoothness());
    assert_eq!(balanced.curvature_trace(), equal.curvature_trace());
    assert_eq!(balanced.optimum_bound(), equal.optimum_bound());
    assert!((balanced.lipschitz() / equal.lipschitz() - 500.0).abs() < 1e-9);
    for summation in [Summation::AnyOrder, Summation::Twice] {
        let slack = |c: &Constants| c.slack_of(summation, 1e-3, 1000, f64::INFINITY);
        assert!((slack(&balanced) / slack(&one) - 1.0).abs() < 1e-9, "{summation:?}");
    }
    // The formula: (8 + 16) units of the mean slope and lambda W, the rest far below.
    let plain = 24.0 * f64::EPSILON / 2.0 * (1.25 + 1e-3);
    let slack = c.slack_of(Summation::Twice, 1.0, 5, f64::INFINITY);
    assert!(slack >= plain && slack < 1.001 * plain, "{slack} {plain}");
}

/// scikit-learn's C = 1, lambda = 1/n, on standardised columns (rows bounded by 2 sqrt(d)).
#[test]
fn a_lambda_of_one_over_n_can_be_certified() {
    for (n, d) in [(1_000, 10), (100_000, 100), (10_000_000, 1000)] {
        let c = Declared {
            cols: d,
            lambda: 1.0 / n as f64,
            normalizer: Normalizer::Mean { minimum: 0 },
            row_bound: 2.0 * (d as f64).sqrt(),
            ..declared()
        };
        let c = c.check().unwrap();
        // Noise that costs at most 1e-5 of log-loss, masked at mu = 0.1.
        let noise = (2e-5 / c.curvature_trace()).sqrt();
        let goal = c.strong_convexity() * 0.05 * noise;
        let twice = c.public_slack_of(Summation::Twice, 0.05 * noise, n);
        assert!(goal >= 2.0 * twice, "{n}: {goal} {twice}");
        let any = c.public_slack(0.05 * noise, n);
        assert!(n == 1_000 || goal < any, "{n}: {goal} {any}");
    }
}
