//! Cases of stochastic gradient descent with clipped gradients and Gaussian noise (DP-SGD).

use super::form::equally_long;
use super::given::{DELTA, EPSILON, Given, count, counts, nonnegative, numbers, positive};
use super::kind::{number, table};
use crate::accountant::pld::{self, Segment};
use crate::quantity::{Delta, Epsilon, Mu};

const NOISE: Given<f64> =
    positive("clipping norms", "standard deviation of the noise on the sum of clipped gradients");
const RATE: Given<f64> = nonnegative(
    "probability",
    "probability with which a unit is in the batch of a step, at most 1",
);
const STEPS: Given<u64> = count(0, "steps", "steps of training");
const GROUP: Given<u64> = count(0, "units", "units (records or subjects) in the group");

const SOURCE: &str = "Doroshenko et al. (2022) for the distribution of privacy losses; \
                      Ganesh (2024) for groups; the derivation is beside the accountant `pld`";
const NOTES: &str = "Units are drawn for each batch independently and afresh (Poisson sampling), \
                     their gradients clipped one by one; what is done with the noisy sums is \
                     free. The group is absent in one of the two runs. Rounded up; the grid adds \
                     less than a relative 1e-3 in ordinary cases and at most 1e-2. Not for \
                     batches that are shuffled or of fixed size.";

table! {
    /// The least epsilon at a delta of DP-SGD for a group, the larger of both directions
    "dp-sgd": Tight, SOURCE, NOTES;
    inputs { noise: NOISE, rate: RATE, steps: STEPS, group: GROUP, delta: DELTA }
    compute {
        let segment = Segment { steps, noise, rate, group };
    }
    results {
        "epsilon": number("nats", "epsilon with and without the group")
            => pld::epsilon(&[segment], Mu::new(0.0)?, Delta::new(delta)?)?.get(),
    }

    /// The least delta at an epsilon of DP-SGD for a group, the larger of both directions
    "dp-sgd-delta": Tight, SOURCE, NOTES;
    inputs { noise: NOISE, rate: RATE, steps: STEPS, group: GROUP, epsilon: EPSILON }
    compute {
        let segment = Segment { steps, noise, rate, group };
    }
    results {
        "delta": number("probability", "delta with and without the group")
            => pld::delta(&[segment], Mu::new(0.0)?, Epsilon::new(epsilon)?)?,
    }

    /// The least epsilon at a delta of several phases of DP-SGD and something Gaussian on top
    ///
    /// As `dp-sgd`, where each phase has its own noise, rate, steps and units of the group that
    /// were present in it. `mu` is that of what follows, such as a head trained on the features of
    /// a network, and must hold for every outcome before. Composed as distributions of privacy
    /// losses, which is sharper than adding (epsilon, delta).
    "dp-sgd-schedule": Tight, SOURCE;
    inputs {
        noise: numbers("clipping norms", "noise of each phase"),
        rate: numbers("probability", "sampling rate of each phase"),
        steps: counts("steps", "steps of each phase"),
        group: counts("units", "units of the group in each phase"),
        mu: nonnegative("", "mu of what follows the last phase").or("0"),
        delta: DELTA,
    }
    compute {
        let lengths = [("rate", rate.len()), ("steps", steps.len()), ("group", group.len())];
        equally_long("noise", noise.len(), &lengths)?;
        let phases = noise.iter().zip(rate).zip(steps).zip(group);
        let segments: Vec<_> = phases
            .map(|(((&noise, rate), steps), group)| Segment { steps, noise, rate, group })
            .collect();
    }
    results {
        "epsilon": number("nats", "epsilon of everything together")
            => pld::epsilon(&segments, Mu::new(mu)?, Delta::new(delta)?)?.get(),
    }

    /// The least noise with which DP-SGD reaches an epsilon at a delta for a group
    ///
    /// Found by bisection to a relative 1e-4; `dp-sgd` confirms epsilon for it. Searched from 0.3
    /// to 100,000 clipping norms.
    "dp-sgd-noise": Tight, SOURCE;
    inputs { rate: RATE, steps: STEPS, group: GROUP, epsilon: EPSILON, delta: DELTA }
    compute {
        let segment = Segment { steps, noise: 1.0, rate, group };
    }
    results {
        "noise": number("clipping norms", "the least noise, rounded up")
            => pld::noise(segment, Epsilon::new(epsilon)?, Delta::new(delta)?)?,
    }

    /// The Rényi divergence of DP-SGD for a group, at a whole order
    ///
    /// Of the run with the group from the run without it, in closed form. The same assumptions as
    /// `dp-sgd`; `order` times `group` is at most 4096.
    "dp-sgd-rdp": Tight, "Mironov, Talwar and Zhang (2019) for one unit; the derivation for groups \
                          is beside the accountant `pld`";
    inputs {
        noise: NOISE,
        rate: RATE,
        steps: STEPS,
        group: GROUP,
        order: count(2, "", "the order of the divergence"),
    }
    results {
        "epsilon": number("nats", "the divergence of all steps")
            => pld::rdp(Segment { steps, noise, rate, group }, order)?.get(),
    }
}
