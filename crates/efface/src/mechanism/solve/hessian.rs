//! The Hessian that `perfect` state keeps for the next request, and its point or factor.

use efface_learn::mechanism::{OutputNoisePlan, Prepared, newton, solve};
use efface_learn::objective::LARGEST_HESSIAN;
use efface_learn::solver::Solver;
use efface_privacy::event::{Procedure, State};

use super::run::checked;
use crate::context::Watch;
use crate::error::{Code, Error, Result};
use crate::mechanism::{foreign, objective, passes, refused};
use crate::plan::{Plan, Schedule};
use crate::rows::Rows;

/// Refuses plans whose requests would not use a Hessian.
pub(crate) fn check(output: &OutputNoisePlan, plan: &Plan) -> Result<()> {
    let refuse = |why: &str, hint: &str| {
        let message = format!("no Hessian is kept for this model: {why}");
        Err(Error::refused(Code::By(plan.mechanism), message).hint(hint))
    };
    if super::procedure(plan) == Procedure::Retrain {
        let why = "`retrain` starts every request from zeros and uses nothing kept";
        return refuse(why, "train with `§mechanism solve`, which starts from the published model");
    }
    if plan.state == State::Secret {
        let why = "`secret` state already keeps one between requests";
        return refuse(why, "requests use it without being asked");
    }
    if plan.in_parts {
        let why = "its rows are in parts elsewhere, so no check could compare it with them";
        return refuse(why, "requests are served without it");
    }
    match output.solver {
        Solver::Automatic | Solver::Newton | Solver::Lbfgs => Ok(()),
        solver @ (Solver::NewtonCg | Solver::GradientDescent) => {
            let why = format!("its requests are solved by `{}`, which uses none", solver.name());
            refuse(&why, "train without `§solver`")
        }
    }
}

/// Computes it from the published weights over all rows, for the request that follows `version`: a point near
/// the optimum if a bound can do without a pass, else a factor at the published weights.
pub(crate) fn prepare(
    plan: &Plan,
    rows: &dyn Rows,
    weights: &[f64],
    version: u64,
    tell: &mut Watch<'_>,
) -> Result<Prepared> {
    let Schedule::Output(output) = &plan.schedule else { return Err(foreign(plan)) };
    check(output, plan)?;
    if weights.len() > LARGEST_HESSIAN {
        let message = format!(
            "a Hessian is kept for at most {LARGEST_HESSIAN} weights, but this model has {}",
            weights.len()
        );
        return Err(Error::refused(Code::By(plan.mechanism), message)
            .hint("requests are served without it"));
    }
    let constants = plan.constants()?;
    let objective = objective(&constants, rows)?;
    let watch = &mut passes(None, tell);
    let point = if prepares_point(plan) {
        let checked = checked(output, plan, &constants, objective.records())?;
        newton::prepare(&objective, &checked, weights, version, watch)
    } else {
        Ok(None)
    };
    let prepared = match point {
        Ok(None) => solve::prepare(&objective, weights, version, watch),
        Ok(Some(prepared)) => Ok(prepared),
        Err(error) => Err(error),
    };
    prepared.map_err(|error| rows.failure().unwrap_or_else(|| refused(plan.mechanism)(error)))
}

/// Returns whether a point may be kept for the next request, which needs the rows that change. If
/// preprocessing is fitted or classes are balanced, all rows change.
pub(crate) fn prepares_point(plan: &Plan) -> bool {
    plan.prepares() && plan.fitting.is_none() && !plan.balances()
}
