#![doc = include_str!("solver.md")]

mod blocks;
mod by_factor;
mod factor;
mod gradient_descent;
mod last_resort;
mod lbfgs;
mod line_search;
mod newton;
mod newton_cg;
mod run;
mod work;

#[cfg(test)]
mod tests;

pub use factor::Factor;
pub use gradient_descent::sufficient_steps;
pub use last_resort::{accelerated_steps, newton_steps};
pub use run::{Progress, Watch, unwatched};
pub use work::{Work, hessian_in_passes, most_work, usual_work};

use efface_matrix::Refusal;
use work::blocks_in_passes;

use serde::{Deserialize, Serialize};

use crate::constants::{Constants, Summation};
use crate::objective::{LARGEST_HESSIAN, Objective};
use crate::outward;
use run::{Point, Run};

efface_privacy::named! {
    /// Which solver looks for the optimum; all obey the same stopping rule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Solver {
        /// `Newton` if one Hessian is worth its price, `NewtonCg` if its blocks for each class are, else
        /// `Lbfgs`; decided by P, the number of classes and L/m alone (see [`cheapest`]).
        #[default]
        Automatic = "automatic",
        /// Newton with a Cholesky factor that is kept while it serves.
        Newton = "newton",
        /// Newton with conjugate gradients: Hessian-vector products, and for losses of several classes
        /// the block of each class to precondition them.
        NewtonCg = "newton-cg",
        /// Limited-memory BFGS.
        Lbfgs = "lbfgs",
        /// Gradient descent with step 2/(L + m): slow, for comparison.
        GradientDescent = "gradient-descent",
    }
}

/// The method that reached an optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// The solver that was chosen.
    By(Solver),
    /// The methods with a proven number of steps, after it gave up.
    LastResort,
}

impl Reached {
    /// In words: the solver's name, or that it was the last resort.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::By(solver) => solver.name(),
            Self::LastResort => "last resort",
        }
    }
}

/// The public stopping rule: accept w when |grad F(w)| + slack <= m `distance`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// tau: how far the accepted weights may be from the optimum, in weight units.
    pub distance: f64,
}

/// The start of a solver.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// Weights: zeros, the published model, or in `secret` state what was kept.
    pub weights: &'a [f64],
    /// A factor of an earlier Hessian (`secret` state only); used by `Newton`.
    pub factor: Option<&'a Factor>,
}

/// Weights within the distance asked for of the exact optimum, with the evidence.
///
/// Everything but `distance`'s bound depends on the data and is stored nowhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The accepted weights, unperturbed: never to be published.
    pub weights: Vec<f64>,
    /// Norm of the computed gradient there, rounded up.
    pub gradient_norm: f64,
    /// Bound on what float64 may have changed in the gradient.
    pub slack: f64,
    /// Upper bound on the distance to the exact optimum, (gradient_norm + slack)/m.
    pub distance: f64,
    /// Gradient passes made.
    pub passes: u64,
    /// Hessians formed and factored.
    pub hessians: u64,
    /// Hessian-vector products, and passes that prepare them.
    pub hessian_products: u64,
    /// Whether a factor that was [prepared](solve_prepared) steered the first steps.
    pub by_prepared: bool,
    /// Which method reached the optimum.
    pub solver: Reached,
    /// The last Cholesky factor, if one was used: secret state, to be erased unless kept on purpose.
    pub factor: Option<Factor>,
}

/// Why no optimum was returned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// The distance cannot be certified in float64, whatever the data.
    #[error(
        "`distance` (tau) must be at least {least:e} for float64 to certify it with these public \
         constants, got {got:e}; raise the noise or lambda"
    )]
    Unattainable {
        /// The least distance that is attainable.
        least: f64,
        /// The requested distance.
        got: f64,
    },
    /// The watcher asked to stop.
    #[error("cancelled after {passes} gradient passes")]
    Cancelled {
        /// Passes made.
        passes: u64,
    },
    /// An invalid distance or start, too many parameters, records that could not be summed, or no point that
    /// reaches the stopping rule.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Not even the last resort reached the stopping rule: rounding errors beyond what the slack
/// foresees for the accepting pass alone, accumulated over the steps.
pub(crate) fn not_converged(passes: u64, gradient_norm: f64, target: f64) -> Refusal {
    refusal!(
        "no point with gradient norm at most {target:e} was found in {passes} passes, the last \
         had {gradient_norm:e}; raise the noise or lambda"
    )
}

/// Refuses a distance that is not a positive number.
pub(crate) fn check_distance(tau: f64) -> Result<(), Refusal> {
    if tau > 0.0 && tau.is_finite() {
        return Ok(());
    }
    Err(refusal!("`distance` (tau) must be finite and above 0, got {tau}"))
}

/// Refuses a start that does not have `expected` finite weights.
pub(crate) fn check_start(start: &[f64], expected: usize) -> Result<(), Refusal> {
    let got = start.iter().filter(|w| w.is_finite()).count();
    if start.len() == expected && got == expected {
        return Ok(());
    }
    Err(refusal!("the start must have {expected} finite weights, got {got}"))
}

/// Returns the solver that [`Solver::Automatic`] chooses, from public constants alone.
///
/// Forming a Hessian costs about as much as P/10 gradient passes (it is bound by arithmetic, a pass by
/// memory), and Newton forms one to five; L-BFGS makes about sqrt(L/m) passes. So Newton when 3 P/10 <=
/// sqrt(L/m) + 20 and P <= [`LARGEST_HESSIAN`]. With C classes, P = C d, L-BFGS makes about C sqrt(L/m)/6
/// passes, and `NewtonCg` what is worth about d/14 + 20 with the blocks that couple no classes: so `NewtonCg`
/// if that is less, Newton (whose factor can be kept) is not worth it, and d <= [`LARGEST_HESSIAN`].
#[must_use]
pub fn cheapest(constants: &Constants) -> Solver {
    let (parameters, classes) = (constants.parameters(), constants.loss().outputs());
    let root = root_of_condition(constants);
    if 3.0 * hessian_in_passes(parameters) <= root + 20.0 && parameters <= LARGEST_HESSIAN {
        return Solver::Newton;
    }
    let formed = classes > 1 && parameters / classes <= LARGEST_HESSIAN;
    let fewer = blocks_in_passes(constants) < classes as f64 * root / 6.0;
    if formed && fewer { Solver::NewtonCg } else { Solver::Lbfgs }
}

/// sqrt(L/m).
fn root_of_condition(constants: &Constants) -> f64 {
    (constants.total_smoothness() / constants.strong_convexity()).sqrt()
}

/// Refuses a distance that sums made so cannot certify: m tau < 2 times the public slack.
///
/// Depends on public constants alone (and on the number of records under `mean`).
///
/// # Errors
/// Fails with [`SolveError::Unattainable`] and the least attainable distance, or if the distance is no
/// positive number.
pub fn check_attainable(
    constants: &Constants,
    summation: Summation,
    stopping: Stopping,
    records: usize,
) -> Result<(), SolveError> {
    let tau = stopping.distance;
    check_distance(tau)?;
    if attains(constants, summation, tau, records) {
        return Ok(());
    }
    Err(SolveError::Unattainable { least: least_distance(constants, summation, records), got: tau })
}

fn attains(constants: &Constants, summation: Summation, tau: f64, records: usize) -> bool {
    let slack = constants.public_slack_of(summation, tau, records);
    constants.strong_convexity() * tau >= 2.0 * slack
}

/// Returns the least tau with m tau >= 2 times the public slack of sums made so, within a factor 1 + 1e-9
/// above it; infinity if there is none.
#[must_use]
pub fn least_distance(constants: &Constants, summation: Summation, records: usize) -> f64 {
    let origin = constants.public_slack_of(summation, 0.0, records);
    // The slack grows with tau, so nothing below this will do.
    let mut high = 2.0 * origin / constants.strong_convexity();
    let mut low = high;
    while high.is_finite() && !attains(constants, summation, high, records) {
        low = high;
        high *= 2.0;
    }
    while high.is_finite() && high > low * (1.0 + 1e-9) {
        let middle = low + 0.5 * (high - low);
        match attains(constants, summation, middle, records) {
            true => high = middle,
            false => low = middle,
        }
    }
    if high.is_finite() { high } else { f64::INFINITY }
}

/// Finds weights within `stopping.distance` of the optimum.
///
/// A solver that has not converged within its fixed, public cap gives way to a last resort from
/// the same start, for a number of steps that suffices in exact arithmetic
/// ([`accelerated_steps`]); `Optimum::solver` says so. `watch` is called once per pass.
///
/// # Errors
/// Fails before any pass if the distance cannot be certified; see [`SolveError`].
pub fn solve(
    objective: &Objective<'_>,
    solver: Solver,
    stopping: Stopping,
    start: Start<'_>,
    watch: &mut Watch<'_>,
) -> Result<Optimum, SolveError> {
    solve_by(objective, solver, stopping, start, None, watch)
}

/// Solves as [`solve`] does from these weights, at first by steps that a factor of a nearby Hessian
/// preconditions: for at most 20 passes, after which the solver continues without it. Gradient descent does
/// not use it, and a factor of another dimension is ignored.
///
/// # Errors
/// Fails as [`solve`] does, whatever the factor is.
pub fn solve_prepared(
    objective: &Objective<'_>,
    solver: Solver,
    stopping: Stopping,
    weights: &[f64],
    prepared: &Factor,
    watch: &mut Watch<'_>,
) -> Result<Optimum, SolveError> {
    let start = Start { weights, factor: None };
    solve_by(objective, solver, stopping, start, Some(prepared), watch)
}

fn solve_by(
    objective: &Objective<'_>,
    solver: Solver,
    stopping: Stopping,
    start: Start<'_>,
    prepared: Option<&Factor>,
    watch: &mut Watch<'_>,
) -> Result<Optimum, SolveError> {
    let constants = objective.constants();
    check_attainable(constants, objective.finest(), stopping, objective.records())?;
    let expected = constants.parameters();
    check_start(start.weights, expected)?;
    let solver = match solver {
        Solver::Automatic => match cheapest(constants) {
            // Blocks can be formed only if the records are in one place.
            Solver::NewtonCg if objective.is_in_parts() => Solver::Lbfgs,
            other => other,
        },
        Solver::Newton if expected > LARGEST_HESSIAN => refuse!(
            "`newton` takes at most {LARGEST_HESSIAN} parameters, got {expected}; choose \
             `newton-cg` or `lbfgs`"
        ),
        other => other,
    };
    let target = (constants.strong_convexity() * stopping.distance).next_down();
    let mut run = Run::new(objective, target, watch);
    let mut factor = start.factor.filter(|f| f.dimension() == expected).cloned();
    let prepared =
        prepared.filter(|f| f.dimension() == expected && solver != Solver::GradientDescent);
    let weights = start.weights.to_vec();
    let (first, bent) = match solver {
        Solver::Newton if factor.is_none() && prepared.is_none() => {
            let products = newton::first_products(expected);
            let (first, bent) = run.visit_bent(weights, products)?;
            (first, Some(bent))
        }
        _ => (run.visit(weights)?, None),
    };
    if !run.accepts(&first) {
        run.by_prepared = prepared.is_some();
        let near = match prepared {
            Some(prepared) => by_factor::descend(&mut run, first.clone(), prepared, solver)?,
            None => first.clone(),
        };
        let fast = match solver {
            Solver::Newton => newton::descend(&mut run, near, &mut factor, bent)?,
            Solver::NewtonCg => newton_cg::descend(&mut run, near)?,
            Solver::Lbfgs => lbfgs::descend(&mut run, near)?,
            _ => gradient_descent::descend(&mut run, near)?,
        };
        if run.accepts(&fast) {
            return Ok(finish(&run, fast, Reached::By(solver), factor));
        }
        // Gradient descent makes the number of steps that suffices.
        let last = match solver {
            Solver::GradientDescent => fast,
            _ => last_resort::descend(&mut run, first)?,
        };
        if run.accepts(&last) {
            return Ok(finish(&run, last, Reached::LastResort, None));
        }
        return Err(not_converged(run.passes, last.at.gradient_norm, target).into());
    }
    Ok(finish(&run, first, Reached::By(solver), factor))
}

fn finish(run: &Run<'_, '_>, point: Point, solver: Reached, factor: Option<Factor>) -> Optimum {
    let bound = outward::add(point.at.gradient_norm, point.at.slack);
    Optimum {
        distance: outward::div(bound, run.objective.constants().strong_convexity()),
        gradient_norm: point.at.gradient_norm,
        slack: point.at.slack,
        weights: point.weights,
        passes: run.passes,
        hessians: run.hessians,
        hessian_products: run.products,
        by_prepared: run.by_prepared,
        solver,
        factor,
    }
}
