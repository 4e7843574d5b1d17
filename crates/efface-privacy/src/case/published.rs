//! Cases of the bounds that are kept as their papers state them.

use serde_json::{Map, Value};

use super::Problem;
use super::inputs::{Inputs, decimal};
use crate::accountant::PublishedError;
use crate::accountant::deletion_rdp::ConvexDeletion;
use crate::accountant::descent::Descent;
use crate::accountant::langevin::Langevin;

type Result<T = Map<String, Value>> = std::result::Result<T, Problem>;

fn refused(error: PublishedError) -> Problem {
    Problem::Refused(error.to_string())
}

fn whole(name: &str, value: u64) -> (String, Value) {
    (name.to_owned(), value.into())
}

fn read_langevin(inputs: &Inputs<'_>) -> Result<Langevin> {
    Ok(Langevin {
        records: inputs.count("n", 1)? as f64,
        strong_convexity: inputs.positive("strong_convexity")?,
        lipschitz: inputs.positive("lipschitz")?,
        step: inputs.positive("eta")?,
        noise: inputs.positive("sigma")?,
        group: inputs.count("group", 1)? as f64,
        learning_steps: None,
    })
}

pub(super) fn langevin(inputs: &Inputs<'_>) -> Result {
    let descent = read_langevin(inputs)?;
    let (delta, target) = (inputs.delta()?, inputs.positive("target_epsilon")?);
    let epsilon = descent.epsilon(inputs.count("steps", 0)?, delta).map_err(refused)?;
    let least = descent.least_steps(target, delta).map_err(refused)?;
    Ok(Map::from_iter([
        decimal("epsilon_at_steps", epsilon),
        whole("least_steps_for_target", least),
    ]))
}

pub(super) fn langevin_sequence(inputs: &Inputs<'_>) -> Result {
    let descent = read_langevin(inputs)?;
    let (delta, target) = (inputs.delta()?, inputs.positive("target_epsilon")?);
    let requests = inputs.count("requests", 0)?;
    let steps = descent.least_steps_of_sequence(requests, target, delta).map_err(refused)?;
    Ok(Map::from_iter([("steps".to_owned(), steps.into())]))
}

pub(super) fn chourasia_convex(inputs: &Inputs<'_>) -> Result {
    let deletion = ConvexDeletion {
        regularisation: inputs.positive("lambda")?,
        step: inputs.positive("eta")?,
        order: inputs.order("q")?,
        lipschitz: inputs.positive("lipschitz")?,
        noise: inputs.positive("sigma")?,
        records: inputs.count("n", 1)? as f64,
    };
    let least = deletion.least_steps(inputs.positive("epsilon_dd")?).map_err(refused)?;
    Ok(Map::from_iter([whole("least_steps", least)]))
}

pub(super) fn descent_to_delete(inputs: &Inputs<'_>) -> Result {
    let descent = Descent {
        lipschitz: inputs.positive("lipschitz")?,
        strong_convexity: inputs.positive("strong_convexity")?,
        smoothness: inputs.positive("smoothness")?,
        records: inputs.count("n", 1)? as f64,
        parameters: inputs.count("d", 1)? as f64,
        epsilon: inputs.positive("epsilon")?,
        delta: inputs.delta()?,
    };
    let iterations = inputs.count("iterations", 1)?;
    let least = descent.perfect_iterations().map_err(refused)?;
    let learning = descent.learning_steps(iterations, inputs.positive("diameter")?);
    let at_least = descent.perfect_noise(least).map_err(refused)?;
    let update = |number| descent.perfect_steps(least, number).map_err(refused);
    Ok(Map::from_iter([
        decimal("thm31_sigma", descent.secret_noise(iterations).map_err(refused)?),
        whole("thm31_learning_steps", learning.map_err(refused)?),
        whole("thm32_min_iterations", least),
        decimal("thm32_sigma_at_min", at_least),
        whole("thm32_steps_update_1", update(1)?),
        whole("thm32_steps_update_100", update(100)?),
    ]))
}
