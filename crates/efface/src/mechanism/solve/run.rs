//! Runs `solve` and `retrain` on the current records.

use efface_learn::mechanism::{
    CheckedOutputNoise, MechanismError, OutputNoisePlan, Prepared, Released, Steering, newton,
    retrain, solve,
};
use efface_learn::newton::Point;
use efface_learn::solver::{SolveError, Watch};
use efface_learn::{Constants, Dataset};
use efface_page::number::bound;
use efface_privacy::certificate::Origin;
use efface_privacy::event::Procedure;

use crate::error::{Code, Error, Result};
use crate::mechanism::search::COARSEST;
use crate::mechanism::{Request, Run, Start, objective, refused};
use crate::plan::{MechanismName, Plan};

/// Solves, and publishes with fresh noise: from zeros, from given or published weights, or from what was
/// kept.
pub(super) fn run(
    output: &OutputNoisePlan,
    mut run: Run<'_>,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let records = run.rows.count()?;
    let checked = &checked(output, run.plan, run.constants, records)?;
    if super::remembers(output) {
        return remembered(run, checked, watch);
    }
    let anew = super::procedure(run.plan) == Procedure::Retrain;
    if let Start::Request(Request { prepared: Some(prepared), removed, added, .. }) = run.start
        && let Steering::Point(point) = &prepared.kept
        && !anew
    {
        let (removed, added) = (&removed.data, &added.data);
        if let Some(released) = from_point(&mut run, checked, point, removed, added, watch)? {
            return Ok(released);
        }
    }
    let objective = &run.objective()?;
    match run.start {
        Start::Request(Request { kept: Some(kept), .. }) => {
            solve::from_kept(objective, checked, kept, run.releases, run.rng, watch)
        }
        Start::Request(Request {
            weights,
            prepared: Some(Prepared { kept: Steering::Factor(factor), .. }),
            ..
        }) if !anew => {
            solve::from_prepared(objective, checked, weights, factor, run.releases, run.rng, watch)
        }
        Start::Given(weights) | Start::Request(Request { weights, .. }) if !anew => {
            solve::from_published(objective, checked, weights, run.releases, run.rng, watch)
        }
        _ => retrain::retrain(objective, checked, run.releases, run.rng, watch),
    }
    // Partitions report sums in float64, which certify less than what was checked.
    .map_err(|error| uncertified(output, run.plan, run.constants, records, error))
}

/// Takes a Newton step from what was prepared, and continues from there if its bound does not hold; `None` if
/// the Hessian no longer has a factor.
fn from_point(
    run: &mut Run<'_>,
    checked: &CheckedOutputNoise,
    point: &Point,
    removed: &Dataset,
    added: &Dataset,
    watch: &mut Watch<'_>,
) -> Result<Option<Released>> {
    let refused = refused(MechanismName::Solve);
    let pending = match newton::from_prepared(run.constants, checked, point, removed, added) {
        Err(MechanismError::NoFactor) => return Ok(None),
        other => other.map_err(&refused)?,
    };
    if pending.needs_pass(checked) {
        let objective = &run.objective()?;
        let solved = pending.solve(objective, checked, run.releases, run.rng, watch);
        return solved.map(Some).map_err(refused);
    }
    let published = pending.publish(run.constants, checked, run.releases, run.rng);
    published.map(Some).map_err(refused)
}

/// Takes Newton steps from the kept memory; reads all rows only if a pass is due.
fn remembered(
    run: Run<'_>,
    checked: &CheckedOutputNoise,
    watch: &mut Watch<'_>,
) -> Result<Released> {
    let Run { constants, rows, start, releases, rng, .. } = run;
    let pending = match start {
        Start::Request(Request { kept: Some(kept), removed, added, .. }) => {
            let mut pending = newton::change(constants, checked, kept, &removed.data, &added.data)
                .map_err(refused(MechanismName::Solve))?;
            let (known, count) = (pending.records(), rows.count()? as u64);
            if known != count {
                return Err(Error::storage(
                    Code::Damaged,
                    format!("the kept memory covers {known} records, but the vault has {count}"),
                )
                .hint("`§efface refresh` continues without it"));
            }
            if pending.needs_pass(checked) {
                pending
                    .correct(&objective(constants, rows)?, checked, watch)
                    .map_err(refused(MechanismName::Solve))?;
            }
            pending
        }
        _ => newton::begin(&objective(constants, rows)?, checked, start.weights(), watch)
            .map_err(refused(MechanismName::Solve))?,
    };
    pending.publish(constants, checked, releases, rng).map_err(refused(MechanismName::Solve))
}

/// Returns the learner's plan of `solve` and `retrain`.
pub(crate) fn checked(
    output: &OutputNoisePlan,
    plan: &Plan,
    constants: &Constants,
    records: usize,
) -> Result<CheckedOutputNoise> {
    output
        .clone()
        .check(constants, records)
        .map_err(|error| uncertified(output, plan, constants, records, error))
}

/// Explains a distance that cannot be certified in terms of settings; passes other errors on.
fn uncertified(
    output: &OutputNoisePlan,
    plan: &Plan,
    constants: &Constants,
    records: usize,
    error: MechanismError,
) -> Error {
    match error {
        MechanismError::Solve(SolveError::Unattainable { least, got }) if least.is_finite() => {
            let more = (least / got).max(for_the_grid(output, constants));
            too_fine(plan, records, least / got, more)
        }
        other => refused(plan.mechanism)(other),
    }
}

/// Returns by which factor the noise must grow for the coarsest allowed grid to hold the weights.
fn for_the_grid(output: &OutputNoisePlan, constants: &Constants) -> f64 {
    let reach = 2.0 * constants.optimum_bound();
    reach / (3.0 * 2.0_f64.powi(49 - COARSEST as i32)) / output.noise
}

/// Returns the error for an optimum that would have to be found `times` as closely as float64 can certify. It
/// names the settings that decide it: the distance grows with the noise, and the noise with the square root
/// of the excess risk; with `more` times as much noise nothing else prevents it.
fn too_fine(plan: &Plan, records: usize, times: f64, more: f64) -> Error {
    let chosen = plan.constants.iter().find(|c| c.name == "noise" && c.origin == Origin::User);
    let instead = match chosen.and_then(|noise| noise.value.parse::<f64>().ok()) {
        Some(noise) => format!("`§noise` to {}", bound(1.01 * noise * more)),
        None => format!("`§excess-risk` to {} times its value", bound(1.01 * more * more)),
    };
    Error::refused(
        Code::By(MechanismName::Solve),
        format!(
            "with `§lambda` {} and `§row-norm` {} the optimum of {records} records would have \
             to be found {} times closer than float64 can certify",
            plan.setting.strong_convexity,
            plan.rows.norm,
            bound(times)
        ),
    )
    .hint(format!("raise `§lambda`, or {instead}, or lower `§row-norm`"))
}
