#![doc = include_str!("last_resort.md")]

use super::SolveError;
use super::factor::Factor;
use super::gradient_descent::{self, sufficient_steps};
use super::run::{Point, Run, dot};
use super::work::hessian_in_passes;
use crate::constants::Constants;
use crate::loss::with;
use crate::objective::{LARGEST_HESSIAN, farthest};
use crate::outward;

/// The public numbers of steps of one last resort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caps {
    /// Damped Newton steps; 0 if no Hessian is formed.
    pub(super) newton: u64,
    /// Gradient steps, which suffice alone.
    pub(super) gradient: u64,
    /// Whether they are accelerated: if that takes fewer.
    pub(super) accelerated: bool,
}

impl Caps {
    /// Plans for a start of norm at most `start_norm` and a gradient norm of at most `target`.
    pub(super) fn of(constants: &Constants, start_norm: f64, target: f64) -> Self {
        let distance = outward::add(start_norm, constants.optimum_bound());
        let plain = sufficient_steps(constants, distance, target);
        let fast = accelerated_steps(constants, distance, target);
        let (gradient, accelerated) = (plain.min(fast), fast < plain);
        let each = hessian_in_passes(constants.parameters()) + 4.0;
        let worth = (gradient as f64 / each).ceil() as u64;
        let newton = match newton_steps(constants, start_norm, target) {
            Some(sure) if gradient > FEW => sure.min(worth),
            _ => 0,
        };
        Self { newton, gradient, accelerated }
    }
}

/// Gradient steps that are made without trying Newton steps before.
const FEW: u64 = 10_000;

/// Returns a number of accelerated gradient steps after which, in exact arithmetic, every start within
/// `start_distance` of the optimum has gradient norm at most `gradient_norm`/2 at the point of measurement.
#[must_use]
pub fn accelerated_steps(constants: &Constants, start_distance: f64, gradient_norm: f64) -> u64 {
    let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
    let ratio = 6.0 * l * start_distance * ((l + m) / m).sqrt() / gradient_norm;
    if ratio <= 1.0 {
        return 1;
    }
    // -ln(1 - q) >= q.
    let steps = 2.0 * libm::log(ratio) * (1.0 + 1e-12) / (m / l).sqrt();
    (steps.ceil() as u64).saturating_add(2)
}

/// Returns a number of damped Newton steps after which, in exact arithmetic, every start of norm at
/// most `start_norm` has gradient norm at most `gradient_norm`/2; `None` for losses that are not generalised
/// self-concordant and for more parameters than a Hessian may have.
#[must_use]
pub fn newton_steps(constants: &Constants, start_norm: f64, gradient_norm: f64) -> Option<u64> {
    if constants.parameters() > LARGEST_HESSIAN {
        return None;
    }
    let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
    let loss = constants.loss();
    let row = constants.declared().row_bound;
    let bending = with(loss, |link| link.bending(&farthest(loss.outputs(), row)))?;
    if bending == 0.0 {
        return Some(1);
    }
    let gap = if start_norm == 0.0 {
        constants.zero_value()
    } else {
        let distance = outward::add(start_norm, constants.optimum_bound());
        0.5 * l * distance * distance
    };
    let far = bending * (2.0 * gap / m).sqrt();
    let near = far.max(1.0);
    let ratio = (8.0 * l * gap / (gradient_norm * gradient_norm)).max(1.0);
    let steps = 1.56 * far * near.sqrt() + std::f64::consts::E * near * libm::log(ratio);
    Some(((steps * (1.0 + 1e-9)).ceil() as u64).saturating_add(2))
}

/// Makes damped Newton steps if a Hessian is formed and gradient steps would be many, then gradient steps
/// from the same start, accelerated if that takes fewer: at most the public [`Caps`] of each.
pub(super) fn descend(run: &mut Run<'_, '_>, start: Point) -> Result<Point, SolveError> {
    let caps = Caps::of(run.objective.constants(), outward::norm(&start.weights), run.target);
    // From here on a gradient is trusted only if it is longer than its slack.
    run.drowned = 1.0;
    let near = damped_newton(run, start.clone(), caps.newton)?;
    if run.accepts(&near) {
        return Ok(near);
    }
    if caps.accelerated {
        accelerated(run, start, caps.gradient)
    } else {
        gradient_descent::descend(run, start)
    }
}

/// Makes Newton steps of a length that provably lowers F, or of full length if that lowers it as much.
pub(super) fn damped_newton(
    run: &mut Run<'_, '_>,
    mut point: Point,
    steps: u64,
) -> Result<Point, SolveError> {
    for _ in 0..steps {
        if run.accepts(&point) {
            break;
        }
        let curvature = run.objective.curvature(&point.weights)?;
        run.multiplied(1, point.at.gradient_norm)?;
        run.hessians += 1;
        // No factor in float64: rounding rules here.
        let Some(factor) = Factor::new(run.objective.hessian(&curvature)?) else { break };
        let mut direction: Vec<f64> = point.at.gradient.iter().map(|g| -g).collect();
        factor.solve_in_place(&mut direction);
        let decrement = -dot(&point.at.gradient, &direction);
        if !direction.iter().all(|d| d.is_finite()) {
            break;
        }
        let Some(bending) = run.objective.bending(&direction)? else { break };
        run.multiplied(1, point.at.gradient_norm)?;
        if bending > 1.0 {
            let full = run.visit(moved(&point.weights, &direction, 1.0))?;
            let enough = point.at.value - decrement * least_gain(bending);
            if full.at.value <= enough || run.accepts(&full) {
                point = full;
                continue;
            }
        }
        let length = if bending > 0.0 { libm::log1p(bending) / bending } else { 1.0 };
        point = run.visit(moved(&point.weights, &direction, length))?;
    }
    Ok(point)
}

/// Returns ((1 + D) log(1 + D) - D)/D^2: the least by which a damped step lowers F, over g H^-1 g.
fn least_gain(bending: f64) -> f64 {
    ((1.0 + bending) * libm::log1p(bending) - bending) / (bending * bending)
}

fn moved(weights: &[f64], direction: &[f64], length: f64) -> Vec<f64> {
    weights.iter().zip(direction).map(|(w, d)| w + length * d).collect()
}

/// Runs Nesterov's method with constant momentum for L-smooth, m-strongly convex functions.
pub(super) fn accelerated(
    run: &mut Run<'_, '_>,
    mut point: Point,
    steps: u64,
) -> Result<Point, SolveError> {
    let constants = run.objective.constants();
    let (l, m) = (constants.total_smoothness(), constants.strong_convexity());
    let (root_l, root_m) = (l.sqrt(), m.sqrt());
    let momentum = (root_l - root_m) / (root_l + root_m);
    let mut before = point.weights.clone();
    for _ in 0..steps {
        if run.accepts(&point) {
            break;
        }
        let gradient = point.at.gradient.iter();
        let after: Vec<f64> = point.weights.iter().zip(gradient).map(|(y, g)| y - g / l).collect();
        let ahead: Vec<f64> =
            after.iter().zip(&before).map(|(x, b)| x + momentum * (x - b)).collect();
        before = after;
        point = run.visit(ahead)?;
    }
    Ok(point)
}
