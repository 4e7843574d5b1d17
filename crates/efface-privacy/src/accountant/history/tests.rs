use super::*;
use crate::accountant::gdp::{World, mu_noisy_gd};
use crate::accountant::langevin::Langevin;
use crate::event::{Adjacency, NoisyGd, Normalizer, Phase, Setting};
use crate::quantity::{Decimal, Delta};

fn phase(steps: u64, only_then: u64) -> Phase {
    Phase { steps, releases: 1, only_then, only_now: 0, records: Some(11_982) }
}

/// The published MNIST setting: 100 records, sigma 0.03, eta 1/L.
fn event(removal: u64) -> NoisyGd {
    let step = 1.0 / 0.262_f64;
    NoisyGd {
        setting: Setting {
            parameters: 784,
            normalizer: Normalizer::Fixed { n: 11_982, capacity: 11_982 },
            lipschitz: Decimal(1.0),
            smoothness: Decimal(0.25),
            strong_convexity: Decimal(0.011_982),
            group: 100,
        },
        step: Decimal(step),
        noise: Decimal((2.0 * step).sqrt() * 0.03),
        grid: Decimal(2f64.powi(-44)),
        rounding: Decimal(1e-13),
        radius: None,
        replaced: Some(vec![100]),
        phases: vec![phase(10_000, 100), phase(removal, 0)],
        longest: 10_000,
        learning: 10_000,
        releases: 2,
        batches: None,
    }
}

fn published(event: &NoisyGd) -> Langevin {
    Langevin {
        records: 11_982.0,
        strong_convexity: 0.011_982,
        lipschitz: 1.0,
        step: event.step.0,
        noise: 0.03,
        group: 100.0,
        learning_steps: Some(10_000),
    }
}

#[test]
fn langevin_is_the_published_number_and_a_little_more() {
    let delta = 1.0 / 11_982.0;
    let event = event(2000);
    let want = published(&event).epsilon(2000, delta).unwrap();
    let got = Sequence::new(&event).unwrap().epsilon(delta);
    // Some delta is given away: ln(1/(1 - 2^-8)) over the best order less 1.
    assert!(got > want && got < want * 1.001, "{got} {want}");
    let tight = mu_noisy_gd(&event, World::Retraining).unwrap();
    let tight = crate::gaussian::epsilon(tight, Delta::new(delta).unwrap()).unwrap();
    assert!(tight.get() < got);
}

#[test]
fn langevin_sequences_are_those_of_the_corollary() {
    let (delta, steps) = (1.0 / 11_982.0, [2100, 2300, 2500]);
    let mut event = event(1);
    event.phases =
        vec![phase(10_000, 300), phase(steps[0], 200), phase(steps[1], 100), phase(steps[2], 0)];
    (event.releases, event.replaced) = (4, Some(vec![100; 3]));
    let want = Langevin { learning_steps: None, ..published(&event) };
    let want = want.epsilon_of_sequence(&steps, delta).unwrap();
    let got = Sequence::new(&event).unwrap().epsilon(delta);
    assert!(got > want && got < want * 1.001, "{got} {want}");
    // A request that changes nothing costs nothing.
    event.phases.push(phase(5, 0));
    (event.releases, event.replaced) = (5, Some(vec![100, 100, 100, 0]));
    let more = Sequence::new(&event).unwrap().epsilon(delta);
    assert!(more < got && more > 0.99 * got);
}

#[test]
fn hypotheses_that_do_not_hold_are_refused() {
    let refused = |change: &dyn Fn(&mut NoisyGd)| {
        let mut event = event(100);
        change(&mut event);
        let langevin = Sequence::new(&event).map(|_| ()).map_err(|e| e.to_string());
        let deletion = Deletion::new(&event, Adjacency::Replace).map(|_| ());
        (langevin.unwrap_err(), deletion.map_err(|e| e.to_string()))
    };
    let (l, d) = refused(&|e| e.setting.strong_convexity = Decimal(0.0));
    assert!(l.contains("vacuous") && d.unwrap_err().contains("lambda"));
    let (l, d) = refused(&|e| e.step = Decimal(1.5 / 0.262));
    assert!(l.contains("1/L") && d.unwrap_err().contains("1/(lambda + beta)"));
    let (l, d) = refused(&|e| e.replaced = None);
    assert!(l.contains("replaced") && d.is_ok());
    // Counts that cannot be: 100 records differ, 99 were replaced.
    let (l, d) = refused(&|e| e.replaced = Some(vec![99]));
    assert!(l.contains("`replaced`") && d.unwrap_err().contains("`replaced`"));
    let (l, _) = refused(&|e| {
        e.setting.normalizer = Normalizer::Mean { minimum: 10_000 };
        e.phases[0].records = Some(11_983);
    });
    assert!(l.contains("`mean`"));
    let event = event(100);
    assert!(Ball::new(&event).is_err());
    let mut mean = event;
    mean.setting.normalizer = Normalizer::Mean { minimum: 10_000 };
    assert!(Deletion::new(&mean, Adjacency::Remove).is_err());
    assert!(Deletion::new(&mean, Adjacency::Replace).is_ok());
}

#[test]
fn deletion_rdp_is_the_published_number_and_a_little_more() {
    let event = event(500);
    let (q, sigma, lambda) = (8.0, 0.03, 0.011_982);
    let scale = 4.0 * q * (100.0_f64 / 11_982.0).powi(2) / (lambda * sigma * sigma);
    let fade = (-lambda * event.step.0 * 500.0 / 2.0).exp();
    let mut event = event;
    event.step = Decimal(event.step.0 * 0.999);
    event.noise = Decimal((2.0 * event.step.0).sqrt() * sigma);
    let deletion = Deletion::new(&event, Adjacency::Remove).unwrap();
    let got = deletion.at_rest(q).unwrap();
    assert!(got > scale * fade && got < scale * fade * 1.02, "{got} {}", scale * fade);
    let one = deletion.one_release(q);
    assert!(one > scale * (1.0 - 1e-9) && one < scale * 1.003, "{one} {scale}");
    // The Gaussian accountant has half the constant and four times the exponent.
    let tight = mu_noisy_gd(&event, World::DeletionPrivacy(Adjacency::Remove)).unwrap().get();
    assert!(0.5 * q * tight * tight < got);
}

#[test]
fn the_triangle_is_tight_where_arithmetic_is_exact_and_gives_up_where_it_is_coarse() {
    let near = |nu| Nearby { nu };
    let exact = |delta: f64| crate::gaussian::unrounded::epsilon(0.5, delta);
    let delta = 1e-5;
    let got = near(1e-9).epsilon(delta, exact);
    assert!(got > exact(delta) && got < exact(delta) * 1.001);
    assert_eq!(near(0.01).epsilon(delta, exact), f64::INFINITY);
    // Two Gaussians at distance 0.5, each moved by 1e-4: the truth is order (0.5 + 2e-4)^2/2.
    for order in [1.5, 8.0, 100.0] {
        let got = near(1e-4).renyi(order, |a| 0.5 * a * 0.25);
        assert!(got >= 0.5 * order * (0.5_f64 + 2e-4).powi(2), "{got}");
        assert!(got < 0.5 * order * 0.25 * 1.02, "{got}");
    }
}

#[test]
fn the_ball_contracts_more_than_its_late_start_bound() {
    let delta = Delta::new(1e-5).unwrap();
    let mut event = event(200);
    event.setting.strong_convexity = Decimal(0.0);
    let radius = 2.0 * event.noise.0;
    event.radius = Some(Decimal(radius));
    let ball = Ball::new(&event).unwrap();
    let mu = mu_noisy_gd(&event, World::Retraining).unwrap();
    let late = crate::gaussian::epsilon(mu, delta).unwrap().get();
    let got = ball.epsilon(delta).get();
    assert!(got < 0.5 * late, "{got} {late}");
    // Never worse, whatever the radius.
    for factor in [0.1, 1.0, 10.0, 1e3] {
        event.radius = Some(Decimal(factor * radius));
        let mu = mu_noisy_gd(&event, World::Retraining).unwrap();
        let late = crate::gaussian::epsilon(mu, delta).unwrap().get();
        assert!(Ball::new(&event).unwrap().epsilon(delta).get() <= late);
    }
    // One step from anywhere in the ball: the Gaussian of distance D.
    event.radius = Some(Decimal(radius));
    event.phases[1].steps = 1;
    event.phases[0].only_then = 11_982;
    event.replaced = Some(vec![11_982]);
    let one = Ball::new(&event).unwrap().epsilon(delta).get();
    let gaussian = crate::gaussian::unrounded::epsilon(4.0, 1e-5);
    assert!(one <= gaussian * 1.01 && one > 0.9 * gaussian, "{one} {gaussian}");
}
