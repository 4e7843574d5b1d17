//! Cases that convert one guarantee into another.

use serde_json::Map;

use super::inputs::{Inputs, decimal, decimal_of_ln};
use super::kind::{DELTA, EPSILON};
use super::{Answer, Form, Input, Kind, Result, Soundness};
use crate::accountant::group;
use crate::gaussian::unrounded;
use crate::rdp::{Conversion, unrounded_epsilon};

const MU: Input = Input::new("mu", Form::Nonnegative, "", "mu of Gaussian differential privacy");
const GAUSSIAN: &str = "Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8";

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "gdp-delta",
        summary: "The least delta at an epsilon of a mu-GDP pair",
        source: GAUSSIAN,
        soundness: Soundness::Tight,
        notes: "Exact for two Gaussians mu standard deviations apart, an upper bound for every \
                other mu-GDP pair.",
        inputs: &[MU, EPSILON],
        results: &[Answer::new("delta", "probability", "delta(epsilon; mu)")],
        compute: gdp_delta,
    },
    Kind {
        name: "gdp-epsilon",
        summary: "The least epsilon at a delta of a mu-GDP pair",
        source: GAUSSIAN,
        soundness: Soundness::Tight,
        notes: "0 where delta suffices alone.",
        inputs: &[MU, DELTA],
        results: &[Answer::new("epsilon", "nats", "the epsilon where delta(epsilon; mu) = delta")],
        compute: gdp_epsilon,
    },
    Kind {
        name: "gdp-mu",
        summary: "The largest mu whose pairs are (epsilon, delta)-indistinguishable",
        source: GAUSSIAN,
        soundness: Soundness::Tight,
        notes: "A mechanism with at most this mu is (epsilon, delta)-private.",
        inputs: &[EPSILON, DELTA],
        results: &[Answer::new("mu", "", "the mu where delta(epsilon; mu) = delta")],
        compute: gdp_mu,
    },
    Kind {
        name: "rdp-epsilon",
        summary: "The least epsilon at a delta that a curve of Rényi divergences gives",
        source: "Mironov (2017), Proposition 3; Canonne, Kamath and Steinke (2020), \
                 Proposition 12",
        soundness: Soundness::Tight,
        notes: "Minimised over all orders alpha above 1, not over a grid. Both conversions are \
                sound; the second is never worse.",
        inputs: &[
            Input::new("curve", Form::Word(&["rho*alpha"]), "", "the divergence of order alpha")
                .or("rho*alpha"),
            Input::new("rho", Form::Nonnegative, "nats", "the factor of alpha in it"),
            DELTA,
        ],
        results: &[
            Answer::new("mironov", "nats", "epsilon by Mironov's conversion"),
            Answer::new("canonne-kamath-steinke", "nats", "epsilon by the sharper conversion"),
        ],
        compute: rdp_epsilon,
    },
    Kind {
        name: "advantage",
        summary: "The largest advantage of an attacker who distinguishes two worlds",
        source: "Chourasia and Shah (2023), Theorem 4.1; Kairouz, Oh and Viswanath (2015); Dong, \
                 Roth and Su (2022)",
        soundness: Soundness::Tight,
        notes: "The advantage is the true positive rate minus the false positive rate of the best \
            test. Each result is for a different guarantee.",
        inputs: &[
            Input::new("q", Form::AboveOne, "", "order of the deletion privacy"),
            Input::new("epsilon", Form::Nonnegative, "nats", "epsilon, used by two results"),
            DELTA,
            MU,
        ],
        results: &[
            Answer::new("from_deletion_privacy", "probability", "from (q, epsilon)"),
            Answer::new("from_gdp", "probability", "between two worlds that are a mu-GDP pair"),
            Answer::new("from_eps_delta", "probability", "from (epsilon, delta)"),
        ],
        compute: advantage,
    },
    Kind {
        name: "group-privacy",
        summary: "(epsilon, delta) of a group from that of one record, and the reverse",
        source: "Vadhan (2017), Lemma 2.2, with the geometric sum kept exact",
        soundness: Soundness::Tight,
        notes: "Sharp for (epsilon, delta) alone; a mechanism with a known mu has k mu for \
                groups of k, which is smaller.",
        inputs: &[EPSILON, DELTA, Input::new("k", Form::Count(1), "records", "size of the group")],
        results: &[
            Answer::new("group_epsilon", "nats", "epsilon of a group of k"),
            Answer::new("group_delta", "probability", "delta of a group of k; vacuous above 1"),
            Answer::new("single_epsilon_for_group_target", "nats", "epsilon to ask for"),
            Answer::new("single_delta_for_group_target", "probability", "delta to ask for"),
        ],
        compute: group_privacy,
    },
];

fn gdp_delta(inputs: &Inputs<'_>) -> Result {
    let (mu, epsilon) = (inputs.number("mu")?, inputs.number("epsilon")?);
    let ln_delta = unrounded::ln_delta(epsilon, mu);
    let delta = if ln_delta > -690.0 {
        decimal("delta", unrounded::delta(epsilon, mu))
    } else {
        decimal_of_ln("delta", ln_delta)
    };
    Ok(Map::from_iter([delta]))
}

fn gdp_epsilon(inputs: &Inputs<'_>) -> Result {
    let (mu, delta) = (inputs.number("mu")?, inputs.number("delta")?);
    Ok(Map::from_iter([decimal("epsilon", unrounded::epsilon(mu, delta))]))
}

fn gdp_mu(inputs: &Inputs<'_>) -> Result {
    let (epsilon, delta) = (inputs.number("epsilon")?, inputs.number("delta")?);
    Ok(Map::from_iter([decimal("mu", unrounded::mu(epsilon, delta))]))
}

fn rdp_epsilon(inputs: &Inputs<'_>) -> Result {
    inputs.word("curve")?;
    let (rho, delta) = (inputs.number("rho")?, inputs.number("delta")?);
    let by = |conversion| unrounded_epsilon(|alpha| rho * alpha, delta, conversion);
    Ok(Map::from_iter([
        decimal("mironov", by(Conversion::Mironov)),
        decimal("canonne-kamath-steinke", by(Conversion::CanonneKamathSteinke)),
    ]))
}

fn advantage(inputs: &Inputs<'_>) -> Result {
    use crate::advantage as bound;
    let (q, epsilon) = (inputs.number("q")?, inputs.number("epsilon")?);
    let (delta, mu) = (inputs.number("delta")?, inputs.number("mu")?);
    Ok(Map::from_iter([
        decimal("from_deletion_privacy", bound::unrounded_from_deletion_privacy(q, epsilon)),
        decimal("from_gdp", bound::unrounded_from_mu(mu)),
        decimal("from_eps_delta", bound::unrounded_from_epsilon_delta(epsilon, delta)),
    ]))
}

fn group_privacy(inputs: &Inputs<'_>) -> Result {
    let (epsilon, delta) = (inputs.number("epsilon")?, inputs.number("delta")?);
    let k = inputs.number("k")?;
    Ok(Map::from_iter([
        decimal("group_epsilon", k * epsilon),
        decimal_of_ln("group_delta", group::unrounded_ln_group_delta(epsilon, delta, k)),
        decimal("single_epsilon_for_group_target", epsilon / k),
        decimal_of_ln(
            "single_delta_for_group_target",
            group::unrounded_ln_single_delta(epsilon, delta, k),
        ),
    ]))
}
