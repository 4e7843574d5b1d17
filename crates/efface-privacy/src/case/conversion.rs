//! Cases that convert one guarantee into others: of another notion, for groups, or of two together.

use serde_json::Value;

use super::given::{DELTA, EPSILON, Given, above_one, count, nonnegative, word};
use super::kind::{Written, exp, number, table};
use crate::accountant::{compose, group};
use crate::advantage as bound;
use crate::gaussian::unrounded;
use crate::rdp::{Conversion, unrounded_epsilon};

const MU: Given<f64> = nonnegative("", "mu of Gaussian differential privacy");
const K: Given<f64> = count(1, "records", "records of the group").real();
const GAUSSIAN: &str = "Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8";

table! {
    /// The least delta at an epsilon of a mu-GDP pair
    ///
    /// Exact for two Gaussians mu standard deviations apart, an upper bound for every other mu-GDP
    /// pair.
    "gdp-delta": Tight, GAUSSIAN;
    inputs { mu: MU, epsilon: EPSILON }
    results { "delta": number("probability", "delta(epsilon; mu)") => gdp_delta(mu, epsilon) }

    /// The least epsilon at a delta of a mu-GDP pair
    ///
    /// 0 where delta suffices alone.
    "gdp-epsilon": Tight, GAUSSIAN;
    inputs { mu: MU, delta: DELTA }
    results {
        "epsilon": number("nats", "the epsilon where delta(epsilon; mu) = delta")
            => unrounded::epsilon(mu, delta),
    }

    /// The largest mu whose pairs are (epsilon, delta)-indistinguishable
    ///
    /// A mechanism with at most this mu is (epsilon, delta)-private.
    "gdp-mu": Tight, GAUSSIAN;
    inputs { epsilon: EPSILON, delta: DELTA }
    results {
        "mu": number("", "the mu where delta(epsilon; mu) = delta")
            => unrounded::mu(epsilon, delta),
    }

    /// The least epsilon at a delta that a curve of Rényi divergences gives
    ///
    /// Minimised over all orders alpha above 1, not over a grid. Both conversions are sound; the
    /// second is never worse.
    "rdp-epsilon": Tight, "Mironov (2017), Proposition 3; Canonne, Kamath and Steinke (2020), \
                           Proposition 12";
    inputs {
        curve: word(&["rho*alpha"], "the divergence of order alpha").or("rho*alpha"),
        rho: nonnegative("nats", "the factor of alpha in it"),
        delta: DELTA,
    }
    compute {
        let _ = curve; // There is one so far.
        let by = |conversion| unrounded_epsilon(|alpha| rho * alpha, delta, conversion);
    }
    results {
        "mironov": number("nats", "epsilon by Mironov's conversion") => by(Conversion::Mironov),
        "canonne-kamath-steinke": number("nats", "epsilon by the sharper conversion")
            => by(Conversion::CanonneKamathSteinke),
    }

    /// The largest advantage of an attacker who distinguishes two worlds
    ///
    /// The advantage is the true positive rate minus the false positive rate of the best test. Each
    /// result is for a different guarantee.
    "advantage": Tight, "Chourasia and Shah (2023), Theorem 4.1; Kairouz, Oh and Viswanath (2015); \
                         Dong, Roth and Su (2022)";
    inputs {
        q: above_one("", "order of the deletion privacy"),
        epsilon: nonnegative("nats", "epsilon, used by two results"),
        delta: DELTA,
        mu: MU,
    }
    results {
        "from_deletion_privacy": number("probability", "from (q, epsilon)")
            => bound::unrounded_from_deletion_privacy(q, epsilon),
        "from_gdp": number("probability", "between two worlds that are a mu-GDP pair")
            => bound::unrounded_from_mu(mu),
        "from_eps_delta": number("probability", "from (epsilon, delta)")
            => bound::unrounded_from_epsilon_delta(epsilon, delta),
    }

    /// (epsilon, delta) of a group from that of one record, and the reverse
    ///
    /// Sharp for (epsilon, delta) alone; a mechanism with a known mu has k mu for groups of k,
    /// which is smaller.
    "group-privacy": Tight, "Vadhan (2017), Lemma 2.2, with the geometric sum kept exact";
    inputs { epsilon: EPSILON, delta: DELTA, k: K.meaning("size of the group") }
    results {
        "group_epsilon": number("nats", "epsilon of a group of k") => k * epsilon,
        "group_delta": number("probability", "delta of a group of k; vacuous above 1")
            => exp(group::unrounded_ln_group_delta(epsilon, delta, k)),
        "single_epsilon_for_group_target": number("nats", "epsilon to ask for") => epsilon / k,
        "single_delta_for_group_target": number("probability", "delta to ask for")
            => exp(group::unrounded_ln_single_delta(epsilon, delta, k)),
    }

    /// What khi2024 asks of one record for a group target
    ///
    /// Sound but stricter than needed; `group-privacy` gives what is enough.
    "group-privacy-noted": Published, "Khi (2024), 2.2.2";
    inputs { epsilon: EPSILON, delta: DELTA, k: K }
    results {
        "epsilon": number("nats", "epsilon of one record") => epsilon / k,
        "delta": number("probability", "delta of one record, as noted")
            => exp(group::unrounded_ln_noted_delta(epsilon, delta, k)),
    }

    /// Unlearning on top of a differentially private learner or feature extractor
    ///
    /// The learner's guarantee is for one record in the remove sense and is taken for the group;
    /// the second must hold for every output of the learner. `epsilon`, `delta` and `mu` are tight;
    /// the note's deltas are given beside them.
    "compose": Tight, "Khi (2024), 2.3.2; Guo et al. (2020), Theorem 5; Dong, Roth and Su (2022)";
    inputs {
        epsilon: EPSILON,
        delta: DELTA,
        k: K,
        epsilon_second: EPSILON.meaning("epsilon of unlearning"),
        delta_second: DELTA.meaning("delta of unlearning"),
        mu: MU.meaning("mu of the learner for one record"),
        mu_second: MU.meaning("mu of unlearning"),
    }
    compute {
        let of_group = libm::exp(group::unrounded_ln_group_delta(epsilon, delta, k));
        let both =
            compose::unrounded_deltas((k * epsilon, of_group), (epsilon_second, delta_second));
    }
    results {
        "epsilon": number("nats", "of both together") => k * epsilon + epsilon_second,
        "delta": number("probability", "of both together") => both.tight.min(1.0),
        "delta_as_noted": number("probability", "as khi2024 states it") => both.noted.min(1.0),
        "delta_as_proven": number("probability", "as its proof supports it")
            => both.proven.min(1.0),
        "mu": number("", "of both together, Gaussian") => f64::hypot(k * mu, mu_second),
    }
}

fn gdp_delta(mu: f64, epsilon: f64) -> Value {
    let ln_delta = unrounded::ln_delta(epsilon, mu);
    if ln_delta > -690.0 { unrounded::delta(epsilon, mu).written() } else { exp(ln_delta) }
}
