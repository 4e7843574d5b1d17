//! Running `solve` and `retrain` on the current records.

use efface_learn::Constants;
use efface_learn::mechanism::{
    CheckedOutputNoise, OutputNoiseError, OutputNoisePlan, Released, newton, retrain, solve,
};
use efface_learn::solver::{SolveError, Watch};
use efface_privacy::certificate::Origin;
use efface_privacy::event::{Event, Procedure};
use efface_privacy::quantity::rounded_up;
use rand_chacha::ChaCha20Rng;

use super::{Request, Start, objective};
use crate::error::{Error, Result};
use crate::plan::{MechanismName, Plan, Schedule};
use crate::rows::Rows;

/// Solves, and publishes with fresh noise: from zeros, from given or published weights, or from
/// what was kept.
pub(super) fn run(
    plan: &Plan,
    constants: &Constants,
    rows: &Rows<'_>,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let checked = output_plan(plan, constants, rows.count()?)?;
    if plan.remembers() {
        return remembered(constants, &checked, rows, start, releases, rng, watch);
    }
    let objective = objective(constants, rows)?;
    match start {
        Start::Request(Request { kept: Some(kept), .. }) => {
            solve::from_kept(&objective, &checked, kept, releases, rng, watch)
        }
        Start::Given(weights) | Start::Request(Request { weights, .. })
            if plan.mechanism != MechanismName::Retrain =>
        {
            solve::from_published(&objective, &checked, weights, releases, rng, watch)
        }
        _ => retrain::retrain(&objective, &checked, releases, rng, watch),
    }
    .map_err(refused)
}

/// Newton steps from the kept memory; all rows are read only where a pass is due.
fn remembered(
    constants: &Constants,
    checked: &CheckedOutputNoise,
    rows: &Rows<'_>,
    start: &Start<'_>,
    releases: u64,
    rng: &mut ChaCha20Rng,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let pending = match start {
        Start::Request(Request { kept: Some(kept), removed, added, .. }) => {
            let mut pending = newton::change(constants, checked, kept, &removed.data, &added.data)
                .map_err(refused)?;
            let (known, count) = (pending.records(), rows.count()? as u64);
            if known != count {
                return Err(Error::storage(
                    "damaged",
                    format!("the kept memory is of {known} records, but the vault has {count}"),
                )
                .hint("`efface refresh` continues without it"));
            }
            if pending.needs_pass(checked) {
                pending.correct(&objective(constants, rows)?, checked, watch).map_err(refused)?;
            }
            pending
        }
        _ => newton::begin(&objective(constants, rows)?, checked, start.weights(), watch)
            .map_err(refused)?,
    };
    pending.publish(constants, checked, releases, rng).map_err(refused)
}

/// The learner's plan of `solve` and `retrain`.
pub(crate) fn output_plan(
    plan: &Plan,
    constants: &Constants,
    records: usize,
) -> Result<CheckedOutputNoise> {
    let Schedule::Output { distance, noise, grid } = &plan.schedule else {
        return Err(Error::storage("damaged", "the plan publishes no optimum"));
    };
    OutputNoisePlan {
        distance: distance.0,
        noise: noise.0,
        grid: grid.0,
        state: plan.state,
        joint_releases: plan.joint_releases(),
        group: plan.setting.group,
        solver: plan.solver(),
    }
    .check(constants, records)
    .map_err(|error| match error {
        OutputNoiseError::Solve(SolveError::Unattainable { least, got }) if least.is_finite() => {
            too_fine(plan, records, least / got)
        }
        other => refused(other),
    })
}

/// An optimum would have to be found `times` as closely as float64 can certify. Named by the settings
/// that decide it: the distance grows with the noise, and that with the root of the excess risk.
fn too_fine(plan: &Plan, records: usize, times: f64) -> Error {
    let chosen = plan.constants.iter().find(|c| c.name == "noise" && c.origin == Origin::User);
    let instead = match chosen.and_then(|noise| noise.value.parse::<f64>().ok()) {
        Some(noise) => format!("`--noise` to {}", rounded_up(1.01 * noise * times)),
        None => format!("`--excess-risk` to {} times its value", rounded_up(1.01 * times * times)),
    };
    Error::refused(
        "solve",
        format!(
            "with `--lambda` {} and `--row-norm` {} the optimum of {records} records would have \
             to be found {} times closer than float64 can certify",
            plan.setting.strong_convexity,
            plan.rows.norm,
            rounded_up(times)
        ),
    )
    .hint(format!("raise `--lambda`, or {instead}, or lower `--row-norm`"))
}

/// The event the first training would have.
pub(super) fn first_event(plan: &Plan, constants: &Constants, records: usize) -> Result<Event> {
    let checked = output_plan(plan, constants, records)?;
    Ok(Event::OutputNoise(checked.event(constants, records, Procedure::Retrain, 1)))
}

fn refused(error: OutputNoiseError) -> Error {
    let text = error.to_string();
    match error {
        OutputNoiseError::Solve(SolveError::Cancelled { .. }) => Error::interrupted(),
        OutputNoiseError::Releases { .. } => Error::refused("releases-exhausted", text)
            .hint("run `efface refresh` to start a new count"),
        OutputNoiseError::Solve(SolveError::Unattainable { least, .. }) if least.is_infinite() => {
            Error::refused(
                "solve",
                "no distance to the optimum can be certified in float64 for data sets this large",
            )
            .hint("lower `--capacity` or `--row-norm`, or raise `--lambda`")
        }
        _ => Error::refused("solve", text),
    }
}
