use super::super::cyclic::{Differing, stretches};
use super::super::*;
use super::events::phase;
use crate::accountant::Accountant;
use crate::claim::{Question, evaluate};
use crate::event::{Adjacency, Batches, Event, NoisyGd, Normalizer, Phase, Setting};
use crate::quantity::{Decimal, Mu};
use proptest::prelude::*;

/// Small enough a grid that its terms vanish against 1e-8.
fn event(count: u64, phases: Vec<Phase>, changed: Vec<u64>) -> NoisyGd {
    NoisyGd {
        setting: Setting {
            parameters: 100,
            normalizer: Normalizer::Fixed { n: 1_000_000, capacity: 1_250_000 },
            lipschitz: Decimal(1.0),
            smoothness: Decimal(0.3),
            strong_convexity: Decimal(0.01),
            group: 1,
        },
        step: Decimal(2.0),
        noise: Decimal(0.04),
        grid: Decimal(1e-20),
        rounding: Decimal(0.0),
        radius: None,
        replaced: None,
        longest: phases.iter().map(|phase| phase.steps).max().unwrap(),
        learning: phases[0].steps,
        releases: phases.iter().map(|phase| phase.releases).sum(),
        phases,
        batches: Some(Batches { count, size: 100, most: 160, changed: Some(changed) }),
    }
}

fn mu(event: &NoisyGd, world: World) -> f64 {
    mu_noisy_gd(event, world).unwrap().get()
}

const REMOVED: World = World::DeletionPrivacy(Adjacency::Remove);

/// s/s~ of one record.
const ONE: f64 = 2.0 / 100.0 / 0.04;

fn close(got: f64, want: f64) {
    assert!(got >= want * (1.0 - 1e-12) && got <= want * (1.0 + 1e-8), "got {got}, want {want}");
}

#[test]
fn one_deletion_is_that_of_the_cycle() {
    let event = event(50, vec![phase(1000, 1, 0), phase(10, 0, 0)], vec![1]);
    let each = Stretch { steps: 1, ln_contraction: 0.98_f64.ln(), shift: 0.0, noise: 1.0 };
    let want = |until, steps, shift| {
        let list = stretches(50, steps, &[Differing { until, shift }], each).unwrap();
        interpolation::ln_mu(0.0, &list).unwrap().exp()
    };
    close(mu(&event, World::Retraining), want(1000, 1010, ONE));
    close(mu(&event, REMOVED), want(1000, 1010, ONE));
    close(mu(&event, World::DeletionPrivacy(Adjacency::Replace)), want(1000, 1010, 2.0 * ONE));
    let dp = World::DifferentialPrivacyOneRelease(Adjacency::Remove);
    close(mu(&event, dp), want(1000, 1000, ONE));
    // The record that is visited last has no step left to hide it.
    assert!(mu(&event, dp) > ONE);
    let mut two = event.clone();
    two.setting.group = 2;
    close(mu(&two, REMOVED), 2.0 * mu(&event, REMOVED));
    let mut coarse = event.clone();
    coarse.grid = Decimal(1e-9);
    coarse.rounding = Decimal(1e-6);
    assert!(mu(&coarse, World::Retraining) > mu(&event, World::Retraining) * (1.0 + 1e-6));
}

#[test]
fn each_request_counts_with_its_own_records_until_it_came() {
    let phases = vec![phase(400, 1, 1), phase(30, 1, 0), phase(30, 0, 0)];
    let of = |changed| mu(&event(50, phases.clone(), changed), World::Retraining);
    let (early, late) = (of(vec![3, 1]), of(vec![1, 3]));
    assert!(of(vec![1, 1]) < early && early < late, "{early} {late}");
    // In one phase both requests' records differ until the later one.
    let merged = vec![phase(400, 1, 1), Phase { releases: 1, ..phase(30, 1, 0) }, phase(30, 0, 0)];
    assert!(late <= mu(&event(50, merged, vec![0, 4]), World::Retraining));
}

#[test]
fn what_is_not_proven_for_batches_is_refused() {
    let good = || event(50, vec![phase(400, 1, 0), phase(30, 0, 0)], vec![1]);
    assert!(mu_noisy_gd(&good(), World::Retraining).is_ok());
    let refused = |change: &dyn Fn(&mut NoisyGd, &mut Batches), name: &str| {
        let mut event = good();
        let mut batches = event.batches.take().unwrap();
        change(&mut event, &mut batches);
        event.batches = Some(batches);
        let error = mu_noisy_gd(&event, World::Retraining).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    };
    refused(&|_, batches| batches.count = 1, "`count` must be at least 2");
    refused(&|_, batches| batches.size = 0, "`size`");
    refused(&|_, batches| batches.most = 0, "`most`");
    refused(&|event, _| event.radius = Some(Decimal(1.0)), "`radius` must be left out");
    let mean = Normalizer::Mean { minimum: 5 };
    refused(&|event, _| event.setting.normalizer = mean, "`fixed` with `batches`");
    refused(&|_, batches| batches.changed = Some(vec![]), "`changed`");
    refused(&|_, batches| batches.changed = Some(vec![0]), "`changed`");
    refused(&|_, batches| batches.changed = None, "private");
    refused(&|event, _| event.phases[0].steps = 1 << 40, "`longest`");
    refused(
        &|event, _| (event.phases[0].steps, event.longest) = (1 << 40, 1 << 40),
        "at most 100000 times",
    );
    let mut hidden = good();
    hidden.batches.as_mut().unwrap().changed = None;
    assert!(mu_noisy_gd(&hidden, REMOVED).is_ok());
    let question = Question::Indistinguishable { delta: 1e-6 };
    for accountant in [Accountant::Langevin, Accountant::BoundedDomain, Accountant::DeletionRdp] {
        let error = evaluate(&Event::NoisyGd(good()), &question, accountant).unwrap_err();
        assert!(error.to_string().contains("full batches"), "{error}");
    }
    assert!(evaluate(&Event::NoisyGd(good()), &question, Accountant::Gdp).is_ok());
}

#[test]
fn old_events_are_written_as_they_were() {
    let mut plain = event(50, vec![phase(400, 0, 0)], vec![]);
    plain.batches = None;
    let text = serde_json::to_string(&Event::NoisyGd(plain.clone())).unwrap();
    assert!(!text.contains("batches"), "{text}");
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), Event::NoisyGd(plain));
}

/// Squares of mu of all releases, for one record in one batch, from single steps.
fn releases_of(event: &NoisyGd, batch: u64) -> f64 {
    let count = event.batches.as_ref().unwrap().count;
    let each = |visited: bool| Stretch {
        steps: 1,
        ln_contraction: 0.98_f64.ln(),
        shift: if visited { ONE } else { 0.0 },
        noise: 1.0,
    };
    let mut done = 0;
    let mut sum = 0.0;
    for phase in &event.phases {
        let steps: Vec<Stretch> =
            (done..done + phase.steps).map(|k| each(k % count == batch)).collect();
        sum += interpolation::ln_mu(0.0, &steps).unwrap().exp().powi(2);
        done += phase.steps;
    }
    sum
}

proptest! {
    /// Above the exact sum of squares for a record anywhere; not far above it.
    #[test]
    fn releases_are_bounded_for_a_record_in_any_batch(
        count in 2_u64..60, learning in 1_u64..200, short in 1_u64..40, requests in 0_usize..12,
    ) {
        let mut phases = vec![phase(learning, 0, 0)];
        phases.extend((0..requests).map(|_| phase(short, 0, 0)));
        let event = event(count, phases, vec![0; requests]);
        let all = World::DifferentialPrivacyAllReleases(Adjacency::Remove);
        let bound = Mu::get(mu_noisy_gd(&event, all).unwrap());
        let worst = (0..count).map(|batch| releases_of(&event, batch)).fold(0.0, f64::max).sqrt();
        prop_assert!(worst <= bound, "{worst} {bound}");
        prop_assert!(bound <= 3.0 * worst, "{worst} {bound}");
        let one = World::DifferentialPrivacyOneRelease(Adjacency::Remove);
        prop_assert!(mu(&event, one) <= bound);
    }
}
