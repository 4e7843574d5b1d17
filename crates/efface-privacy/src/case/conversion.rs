//! Cases that convert one guarantee into another.

use serde_json::{Map, Value};

use super::Problem;
use super::inputs::{Inputs, decimal, decimal_of_ln, malformed};
use crate::accountant::group;
use crate::gaussian::unrounded;
use crate::rdp::{Conversion, unrounded_epsilon};

type Result = std::result::Result<Map<String, Value>, Problem>;

pub(super) fn gdp_delta(inputs: &Inputs<'_>) -> Result {
    let (mu, epsilon) = (inputs.nonnegative("mu")?, inputs.nonnegative("epsilon")?);
    let ln_delta = unrounded::ln_delta(epsilon, mu);
    let delta = if ln_delta > -690.0 {
        decimal("delta", unrounded::delta(epsilon, mu))
    } else {
        decimal_of_ln("delta", ln_delta)
    };
    Ok(Map::from_iter([delta]))
}

pub(super) fn gdp_epsilon(inputs: &Inputs<'_>) -> Result {
    let (mu, delta) = (inputs.nonnegative("mu")?, inputs.delta()?);
    Ok(Map::from_iter([decimal("epsilon", unrounded::epsilon(mu, delta))]))
}

pub(super) fn gdp_mu(inputs: &Inputs<'_>) -> Result {
    let (epsilon, delta) = (inputs.nonnegative("epsilon")?, inputs.delta()?);
    Ok(Map::from_iter([decimal("mu", unrounded::mu(epsilon, delta))]))
}

pub(super) fn rdp_epsilon(inputs: &Inputs<'_>) -> Result {
    let rule = "`rho*alpha`";
    if inputs.text("curve", rule)? != "rho*alpha" {
        return Err(malformed("curve", rule, inputs.get("curve")?));
    }
    let (rho, delta) = (inputs.nonnegative("rho")?, inputs.delta()?);
    let by = |conversion| unrounded_epsilon(|alpha| rho * alpha, delta, conversion);
    Ok(Map::from_iter([
        decimal("mironov", by(Conversion::Mironov)),
        decimal("canonne-kamath-steinke", by(Conversion::CanonneKamathSteinke)),
    ]))
}

pub(super) fn advantage(inputs: &Inputs<'_>) -> Result {
    use crate::advantage as bound;
    let (q, epsilon) = (inputs.order("q")?, inputs.nonnegative("epsilon")?);
    let (delta, mu) = (inputs.delta()?, inputs.nonnegative("mu")?);
    Ok(Map::from_iter([
        decimal("from_deletion_privacy", bound::unrounded_from_deletion_privacy(q, epsilon)),
        decimal("from_gdp", bound::unrounded_from_mu(mu)),
        decimal("from_eps_delta", bound::unrounded_from_epsilon_delta(epsilon, delta)),
    ]))
}

pub(super) fn group_privacy(inputs: &Inputs<'_>) -> Result {
    let (epsilon, delta) = (inputs.nonnegative("epsilon")?, inputs.delta()?);
    let k = inputs.count("k", 1)? as f64;
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
