//! Guo et al. (2020), Theorem 2: the residual of a Newton removal is a function of the perturbation that
//! is to hide it.
//!
//! One column, x = 1, y = (+1, +1, -1), the third record is deleted. With eps' the largest residual over all
//! perturbations b and noise 8 eps', Theorem 3 says (1, 1.9e-14). The removal moves almost all b of an interval out of
//! it, so that weights which retraining reaches in 5 of 100 runs are reached in 1 of 100: delta is 0.029.
//! This runs the removal as it was published ([`crate::perturbation`]).

use efface::Result;
use efface_learn::solver::{Solver, unwatched};
use efface_learn::{Constants, Dataset, Declared, Loss, Objective};
use efface_privacy::accountant::objective::claimed_delta;
use efface_privacy::claim::Question;
use efface_privacy::event::Normalizer;

use super::outcome::Tally;
use super::promise::claim;
use super::{Attack, Outcome, Setup};
use crate::perturbation::{Plan, request, train};
use crate::trial::engine::{constants, declared, line};
use crate::trial::{Engine, failed};

pub(super) const ATTACK: Attack = Attack {
    name: "perturbation",
    target: "objective perturbation with Newton removal and its accumulated residual",
    adversary: "non-adaptive; sees one release and says whether it is a removal or a retraining",
    reason: "the theorem convolves residual and perturbation as if they were independent",
    source: "a counterexample to guo2020, Theorem 2",
    run,
};

const LAMBDA: f64 = 0.005_952_251_7;
/// eps': the largest residual that a removal leaves, over all perturbations.
const LARGEST: f64 = 0.767_84;
const EPSILON: f64 = 1.0;
/// 1.5 exp(-8^2/2).
const CLAIMED: f64 = 1.9e-14;
/// Weights that retraining reaches more than e times as often as removal.
const RARE: std::ops::Range<f64> = 24.53..94.08;

fn records(count: usize) -> Result<Dataset> {
    line([1.0, 1.0, 0.0].into_iter().take(count))
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let normalizer = Normalizer::Mean { minimum: 1 };
    let public = Declared { normalizer, ..declared(Loss::Logistic, 1, LAMBDA, 3) };
    let constants = public.check().map_err(failed)?;
    Ok(vec![removals(&constants, setup)?, fresh_noise(setup)?])
}

/// Removal (first world) against retraining on the two records that remain (second world).
fn removals(constants: &Constants, setup: &Setup) -> Result<Outcome> {
    // The mechanism's own bound on the residual is far larger; so that it removes rather than trains
    // anew its budget is, too. The theorem is given the true residual.
    let plan = Plan::new(constants, 8.0 * LARGEST, 1e9, 1e-9, Solver::Newton)?;
    let (all, rest, none, third) = (records(3)?, records(2)?, line([])?, line([0.0])?);
    let before = Objective::new(constants, &all).map_err(failed)?;
    let after = Objective::new(constants, &rest).map_err(failed)?;
    let tally = Tally::of(setup, setup.trials(150_000), |retrained, trial| {
        let mut rng = setup.generator(trial, retrained);
        let watch = &mut unwatched;
        let released = if retrained {
            train(&after, &plan, &mut rng, watch)?
        } else {
            let first = train(&before, &plan, &mut rng, watch)?;
            request(&after, &plan, &first, (&third, &none), &mut rng, &mut unwatched)?
        };
        Ok(RARE.contains(&released.weights[0]))
    })?;
    // The paper's number is 1.5 exp(-32), rounded to two digits.
    let claimed = claimed_delta(8.0 * LARGEST, LARGEST, EPSILON).map_err(failed)?;
    if (claimed / CLAIMED - 1.0).abs() > 0.05 {
        return Err(failed(format!("the theorem claims delta {claimed}")));
    }
    Ok(tally
        .delta("objective perturbation with Newton removal", EPSILON, CLAIMED)
        .by("guo2020, Theorem 3: (1, 1.9e-14)")
        .must_break())
}

/// The same deletion by `solve`, with noise for mu of about 1, so that there is something to see.
fn fresh_noise(setup: &Setup) -> Result<Outcome> {
    let public = constants(Loss::Logistic, 1, LAMBDA, 3)?;
    let engine = Engine::solve(&public, 1.0, 0.5)?;
    let (all, rest) = (records(3)?, records(2)?);
    // The best test of a Gaussian pair with this mu is a threshold mu/2 + epsilon/mu = 1.5 deviations
    // from the first mean, which is where the optimum of the rest may be at most.
    let quiet = Engine::solve(&public, 1e-3, 1e-6)?;
    let optimum = quiet.train(&rest, &mut setup.generator(0, false))?.weights[0];
    let mut event = None;
    let tally = Tally::of(setup, setup.trials(30_000), |retrained, trial| {
        let mut rng = setup.generator(trial, retrained);
        let released = if retrained {
            engine.train(&rest, &mut rng)?
        } else {
            let first = engine.train(&all, &mut rng)?;
            engine.request(&rest, &first, (1, 0), &mut rng)?
        };
        event.get_or_insert(released.event);
        Ok(released.weights[0] > optimum + 1.5)
    })?;
    let claimed = claim(event.as_ref(), &Question::Indistinguishable { delta: 1e-6 })?;
    let mu = claimed.mu.ok_or_else(|| failed("no mu"))?.0;
    Ok(tally
        .delta(engine.name(), EPSILON, gaussian_delta(EPSILON, mu)?)
        .by(format!("indistinguishable from retraining, mu {mu:.3}")))
}

fn gaussian_delta(epsilon: f64, mu: f64) -> Result<f64> {
    use efface_privacy::gaussian::delta;
    use efface_privacy::quantity::{Epsilon, Mu};
    let epsilon = Epsilon::new(epsilon).map_err(failed)?;
    Ok(delta(epsilon, Mu::new(mu).map_err(failed)?))
}
