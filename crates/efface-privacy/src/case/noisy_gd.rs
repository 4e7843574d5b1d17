//! Cases of noisy gradient descent over all records or over batches in turn, by the Gaussian
//! accountant.

use super::Result;
use super::form::equally_long;
use super::given::{
    DELTA, ETA, Given, SIGMA, count, counts, nonnegative, numbers, positive, requests, word,
};
use super::kind::{Answer, exp, number, table};
use super::requests::{Phase, phases};
use crate::accountant::gdp::cyclic::{self, Differing};
use crate::accountant::gdp::{Stretch, interpolation};
use crate::gaussian::unrounded;

const SOURCE: &str = "Bok, Su and Altschuler (2024), shifted interpolation";
const NOTES: &str = "Steps w <- w - eta grad F(w) + sqrt(2 eta) sigma Z with full batches, from \
                     a start that no record influences, against a run of as many steps on the \
                     latest data set alone. Exact arithmetic: certificates add what their grid \
                     and floats cost.";
const CYCLIC: &str = "Bok, Su and Altschuler (2024), shifted interpolation over batches in cyclic \
                      order; the derivation for requests is beside the accountant `gdp`";
const LAMBDA: Given<f64> = nonnegative("loss/weight^2", "L2 regularisation: strong convexity");
const LIPSCHITZ: Given<f64> = positive("loss/weight", "G, bound on one record's gradient");
const NOISE: Given<f64> = SIGMA.meaning("noise: each step adds sqrt(2 eta) sigma Z");
const STEPS: Given<u64> = count(0, "steps", "T, on the first data set");
const N: Given<u64> = count(1, "records", "N, which divides the sum of losses");
const BETA: Given<f64> = nonnegative("loss/weight^2", "smoothness of the averaged loss");
const ADJACENCY: Given<&str> = word(
    &["replace", "remove-fixed", "remove-mean"],
    "records are replaced, or removed with N fixed, or removed with N their current number",
);
const BATCHES: Given<u64> = count(1, "batches", "l, visited in turn");
const SIZE: Given<f64> = positive("records", "b, which divides the sum over a batch");
const BETA_OF_BATCH: Given<f64> = BETA.meaning(
    "smoothness of the loss of any batch: its largest number of records over b times a record's",
);
const ETA_OF_BATCH: Given<f64> =
    ETA.meaning("step size, at most 2/(beta + lambda) so that no step expands");
const STEPS_OF_BATCHES: Given<u64> =
    STEPS.meaning("steps on the first data set, each over one batch");
const ADJACENCY_OF_BATCH: Given<&str> =
    word(&["replace", "remove-fixed"], "records are replaced, or removed with b fixed");
const MU: Answer = number("", "mu of the last iterates");
const EPSILON: Answer = number("nats", "epsilon at `delta`");

table! {
    /// mu of noisy gradient descent after one request and further steps
    "noisy-gd-gdp": Tight, SOURCE, NOTES;
    inputs {
        n: N, lambda: LAMBDA, beta: BETA, lipschitz: LIPSCHITZ, eta: ETA, sigma: NOISE,
        learning_steps: STEPS,
        unlearning_steps: count(0, "steps", "K, after the request"),
        group: count(0, "records", "S, records of the request"),
        adjacency: ADJACENCY,
        delta: DELTA,
    }
    where group "at most `n`": adjacency == "replace" || group <= n;
    compute {
        let after = if adjacency == "replace" { n } else { n - group };
        let phases = [
            Phase { steps: learning_steps, only_then: group, only_now: 0, records: n },
            Phase { steps: unlearning_steps, only_then: 0, only_now: 0, records: after },
        ];
        let step = noisy_step(lambda, beta, eta, sigma);
        let ln_mu = ln_mu_of_phases(step, eta * lipschitz, n, adjacency, &phases)?;
    }
    results { "mu": MU => exp(ln_mu), "epsilon": EPSILON => epsilon(ln_mu, delta) }

    /// mu of noisy gradient descent after a sequence of deletions and additions
    "noisy-gd-gdp-sequence": Tight, SOURCE, NOTES;
    inputs {
        n: N, lambda: LAMBDA, beta: BETA, lipschitz: LIPSCHITZ, eta: ETA, sigma: NOISE,
        learning_steps: STEPS,
        adjacency: ADJACENCY,
        requests: requests(
            "in order: ids to delete, ids to add, steps after them; an id is never used again",
        ),
        delta: DELTA,
    }
    compute {
        let phases = phases(&requests, n, learning_steps)?;
        let step = noisy_step(lambda, beta, eta, sigma);
        let ln_mu = ln_mu_of_phases(step, eta * lipschitz, n, adjacency, &phases)?;
    }
    results { "mu": MU => exp(ln_mu), "epsilon": EPSILON => epsilon(ln_mu, delta) }

    /// mu of two runs of noisy steps given step by step
    ///
    /// The lists are of equal length, one entry per step.
    "noisy-gd-gdp-schedule": Tight, SOURCE;
    inputs {
        contraction: numbers("", "Lipschitz constant of each step's map"),
        shift: numbers("weight", "distance of the two runs' maps"),
        noise_std: numbers("weight", "standard deviation of each noise"),
        initial_distance: nonnegative("weight", "distance of the starts"),
        delta: DELTA,
    }
    compute {
        let lengths = [("shift", shift.len()), ("noise_std", noise_std.len())];
        equally_long("contraction", contraction.len(), &lengths)?;
        let step = |i: usize| Stretch {
            steps: 1,
            ln_contraction: libm::log(contraction[i]),
            shift: shift[i],
            noise: noise_std[i],
        };
        let stretches: Vec<_> = (0..contraction.len()).map(step).collect();
        let ln_mu = interpolation::ln_mu(initial_distance, &stretches)?;
    }
    results { "mu": MU => exp(ln_mu), "epsilon": EPSILON => epsilon(ln_mu, delta) }

    /// mu of noisy descent over batches after one request and further steps
    ///
    /// Steps w <- w - eta ((1/b) sum of the gradients of one batch + lambda w) + sqrt(2 eta) sigma
    /// Z, the batches in a fixed order again and again, a record's batch fixed for good. Against a
    /// run of as many steps on the latest data alone. Not for batches that are drawn or shuffled.
    /// Exact arithmetic: certificates add what their grid and floats cost.
    "noisy-cgd": Tight, CYCLIC;
    inputs {
        batches: BATCHES, size: SIZE, lambda: LAMBDA, beta: BETA_OF_BATCH, lipschitz: LIPSCHITZ,
        eta: ETA_OF_BATCH, sigma: NOISE, learning_steps: STEPS_OF_BATCHES,
        unlearning_steps: count(0, "steps", "K, after the request"),
        group: count(0, "records", "S, records of the request, all in one batch"),
        offset: count(
            0,
            "steps",
            "steps of learning after the last one that visited this batch; 0 is the worst",
        )
        .or("0"),
        adjacency: ADJACENCY_OF_BATCH,
        delta: DELTA,
    }
    where eta "at most 2/(`beta` + `lambda`)": eta * (beta + lambda) - 1.0 <= 1.0;
    compute {
        let shift = gradients(adjacency) * eta * lipschitz / size * group as f64;
        let request = Differing { until: learning_steps.saturating_sub(offset), shift };
        let step = noisy_step(lambda, beta, eta, sigma);
        let steps = learning_steps + unlearning_steps; // Both are at most 2^53.
        let stretches = cyclic::stretches(batches, steps, &[request], step)?;
        let ln_mu = interpolation::ln_mu(0.0, &stretches)?;
    }
    results { "mu": MU => exp(ln_mu), "epsilon": EPSILON => epsilon(ln_mu, delta) }

    /// mu of noisy descent over batches after a sequence of requests
    ///
    /// As `noisy-cgd`. The lists are of equal length, one entry per request; the records of each
    /// are taken to be in the batch that was visited last before it, which bounds all others.
    /// Records added by a request count as those deleted.
    "noisy-cgd-sequence": Tight, CYCLIC;
    inputs {
        batches: BATCHES, size: SIZE, lambda: LAMBDA, beta: BETA_OF_BATCH, lipschitz: LIPSCHITZ,
        eta: ETA_OF_BATCH, sigma: NOISE, learning_steps: STEPS_OF_BATCHES,
        unlearning_steps: counts("steps", "steps after each request"),
        groups: counts("records", "records of each request"),
        adjacency: ADJACENCY_OF_BATCH,
        delta: DELTA,
    }
    where eta "at most 2/(`beta` + `lambda`)": eta * (beta + lambda) - 1.0 <= 1.0;
    where unlearning_steps "below 2^64 steps in all":
        unlearning_steps.iter().try_fold(learning_steps, |sum, &k| sum.checked_add(k)).is_some();
    compute {
        equally_long("unlearning_steps", unlearning_steps.len(), &[("groups", groups.len())])?;
        let reach = gradients(adjacency) * eta * lipschitz / size;
        let mut steps = learning_steps;
        let mut requests = Vec::with_capacity(groups.len());
        for (after, group) in unlearning_steps.into_iter().zip(groups) {
            requests.push(Differing { until: steps, shift: reach * group as f64 });
            steps += after;
        }
        let step = noisy_step(lambda, beta, eta, sigma);
        let stretches = cyclic::stretches(batches, steps, &requests, step)?;
        let ln_mu = interpolation::ln_mu(0.0, &stretches)?;
    }
    results { "mu": MU => exp(ln_mu), "epsilon": EPSILON => epsilon(ln_mu, delta) }
}

/// Returns the change of a sum of gradients by one record that differs, in multiples of their bound.
fn gradients(adjacency: &str) -> f64 {
    if adjacency == "replace" { 2.0 } else { 1.0 }
}

/// Returns a step on the same records in both runs.
fn noisy_step(lambda: f64, beta: f64, eta: f64, sigma: f64) -> Stretch {
    let flat = libm::log1p(-(eta * lambda).min(1.0));
    let steep = eta * (beta + lambda) - 1.0;
    let steep = if steep > 0.0 { libm::log(steep) } else { f64::NEG_INFINITY };
    let noise = (2.0 * eta).sqrt() * sigma;
    Stretch { steps: 1, ln_contraction: flat.max(steep), shift: 0.0, noise }
}

/// Returns ln mu after phases of steps over all records. `step` is one on the same records in both runs, and
/// `reach` is eta G, the most by which a gradient moves a step.
fn ln_mu_of_phases(
    step: Stretch,
    reach: f64,
    n: u64,
    adjacency: &str,
    phases: &[Phase],
) -> Result<f64> {
    let last = phases.last().map_or(n, |phase| phase.records) as f64;
    let stretch = |phase: &Phase| {
        let (then, now) = (phase.only_then as f64, phase.only_now as f64);
        let relative = match adjacency {
            "replace" => 2.0 * then.max(now) / n as f64,
            "remove-fixed" => (then + now) / n as f64,
            _ => 2.0 * then.max(now) / (phase.records as f64).max(last),
        };
        let shift = if then == 0.0 && now == 0.0 { 0.0 } else { reach * relative };
        Stretch { steps: phase.steps, shift, ..step }
    };
    let stretches: Vec<_> = phases.iter().map(stretch).collect();
    Ok(interpolation::ln_mu(0.0, &stretches)?)
}

fn epsilon(ln_mu: f64, delta: f64) -> f64 {
    unrounded::epsilon(libm::exp(ln_mu), delta)
}
