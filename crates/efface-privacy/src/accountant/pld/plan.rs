//! Chooses the tilt, the window and the grid. A bad plan costs accuracy, never soundness.

use super::cumulant::{Cumulant, Moments, total};
use crate::special::{erfcx, mills_decay};

#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    /// The epsilon at this delta.
    AtDelta(f64),
    /// The epsilon at this delta of a sum that is far from Gaussian.
    Anyhow(f64),
    /// The delta at this epsilon.
    AtEpsilon(f64),
}

/// Tilt, window and grid of one composition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Masses are weighted by exp(theta loss).
    pub(super) theta: f64,
    /// The tilt by which what lies above the window is bounded.
    pub(super) far: f64,
    /// The epsilon and delta that are expected.
    pub(super) epsilon: f64,
    pub(super) delta: f64,
    /// Distance of the grid's losses.
    pub(super) h: f64,
    /// Length of the window in grid points, a power of two, and its first index.
    pub(super) length: usize,
    pub(super) first: i64,
    /// What the grid adds to epsilon, relatively, about.
    pub(super) coarse: f64,
    /// Whether there is no room for a finer grid.
    pub(super) limited: bool,
}

/// How fine a grid should be if there is room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fineness {
    /// What it may add to epsilon, relatively.
    pub(super) added: f64,
    /// The largest distance of its points.
    pub(super) widest: f64,
}

impl Fineness {
    /// As fine as answers should be.
    pub(super) const FINE: Self = Self { added: 1e-5, widest: f64::INFINITY };
    /// Fine enough to compare two numbers that differ.
    pub(super) const ROUGH: Self = Self { added: 1e-3, widest: f64::INFINITY };
}

/// The grid may add this many times the wanted error if that saves many points.
const GOOD: f64 = 5.0;
/// With so few points it is not worth to save more.
const SHORTEST: f64 = 16_384.0;
/// The longest window, of 50 MB and a quarter of a second.
const LONG: f64 = 1_048_576.0;
/// The longest window, of 200 MB, if `LONG` adds more than `POOR` to epsilon.
const LONGEST: f64 = 4_194_304.0;
const POOR: f64 = 1e-3;
/// The most grid points of one step: the first if the grid is then good enough, else the second.
const FEW_CELLS: f64 = 262_144.0;
const CELLS: f64 = 2_097_152.0;
/// Tails of exp(-this) are cut off.
const TAIL: f64 = 27.0;

impl Plan {
    /// Returns the plan for a question on steps with these cumulants.
    pub(super) fn new(parts: &[Cumulant], steps: u64, question: Question, fine: Fineness) -> Self {
        let losses = parts.iter().map(Cumulant::ends);
        let (low, high) =
            losses.fold((0.0, 0.0), |(a, b), (c, d)| (f64::min(a, c), f64::max(b, d)));
        let scale = (high - low).max(f64::MIN_POSITIVE);
        // The range of ln theta: at one end a tilt changes nothing, at the other only the largest loss is
        // left.
        let rare = -libm::log(1e-300) + libm::log(1.0 + steps as f64);
        let ends =
            (libm::log(1e-6 / (scale * (1.0 + steps as f64))), libm::log(1e3 * rare / scale));
        // Chernoff's bound holds for any sum, and is close enough to look around.
        let chernoff = |delta: f64| {
            let tilt = |i| libm::exp(ends.0 + (ends.1 - ends.0) * f64::from(i) / 80.0);
            let tilts = (0..=80).map(tilt);
            let bounds = tilts.map(|theta| (total(parts, theta).value - libm::log(delta)) / theta);
            bounds.fold(f64::INFINITY, f64::min)
        };
        let aim = match question {
            Question::AtDelta(_) => 0.0,
            Question::Anyhow(delta) => chernoff(delta),
            Question::AtEpsilon(epsilon) => epsilon,
        };
        let enough = |theta: f64| {
            let here = total(parts, theta);
            match question {
                Question::AtDelta(delta) => ln_delta(theta, here, here.mean) <= libm::log(delta),
                Question::Anyhow(_) | Question::AtEpsilon(_) => here.mean >= aim,
            }
        };
        let (mut less, mut more) = ends;
        let theta = if enough(0.0) {
            0.0
        } else {
            for _ in 0..48 {
                let middle = 0.5 * (less + more);
                if enough(libm::exp(middle)) { more = middle } else { less = middle }
            }
            libm::exp(more)
        };
        let here = total(parts, theta);
        let (epsilon, ln_delta) = match question {
            Question::AtDelta(delta) => (here.mean, libm::log(delta)),
            Question::Anyhow(delta) => (aim, libm::log(delta)),
            Question::AtEpsilon(epsilon) => (epsilon, ln_delta(theta, here, epsilon).min(0.0)),
        };
        let epsilon = if theta == 0.0 { 0.0 } else { epsilon.max(0.0) };
        let width = here.variance.sqrt().max(1e-4 * epsilon).max(f64::MIN_POSITIVE);
        // Chernoff bounds on both sides of the tilted sum, each by the best of some tilts.
        let tilts = (0..24).map(|i| 0.5 * libm::exp(0.2 * f64::from(i)) / width);
        let (mut far, mut top) = (theta, f64::INFINITY);
        let (mut highest, mut bottom) = (f64::INFINITY, f64::NEG_INFINITY);
        for tilt in tilts {
            let above = total(parts, theta + tilt).value;
            let mass = (above - ln_delta + TAIL) / (theta + tilt);
            if mass < top {
                (far, top) = (theta + tilt, mass);
            }
            // Tilted mass from outside the window comes back inside.
            highest = f64::min(highest, (above - here.value + TAIL) / tilt);
            let below = total(parts, theta - tilt).value;
            bottom = f64::max(bottom, (here.value - below - TAIL) / tilt);
        }
        let top = top.max(highest);
        let bottom = bottom.min(epsilon);
        let top = top.max(epsilon + width);
        let floors = parts.iter().map(|part| (floor(part, theta), part.ends()));
        let scale = floors.map(|(floor, (low, high))| high - low.max(floor)).fold(0.0, f64::max);
        let asked = if epsilon > 0.0 { epsilon } else { width };
        let count = steps as f64;
        // How fast delta falls with epsilon, relatively: what a wider sum costs.
        let steep = theta + 1.0 + 1.0 / width;
        let added = |h: f64| (count * h).min(count * h * h * steep / 12.0);
        let wanted = (12.0 * fine.added * asked / (count * steep)).sqrt().min(fine.widest);
        let good = (scale / FEW_CELLS).min(wanted * GOOD.sqrt()).min(fine.widest);
        let longest = if added((top - bottom) / LONG) > POOR * asked { LONGEST } else { LONG };
        let length = ((top - bottom) / wanted).clamp(SHORTEST, longest).log2().ceil().exp2();
        // A coarse grid moves the sum upward; the window must still hold it.
        let (mut h, mut moved) = (0.0, 0.0);
        for _ in 0..3 {
            h = f64::max((top + moved - bottom) / (length - 4.0), good).max(scale / CELLS);
            moved = 1.2 * added(h);
        }
        Self {
            theta,
            far,
            epsilon,
            delta: libm::exp(ln_delta),
            h,
            length: length as usize,
            first: (bottom / h).floor() as i64 - 1,
            coarse: added(h) / asked,
            limited: h * 0.99 < scale / CELLS || (length == longest && h > good * 1.01),
        }
    }
}

impl Plan {
    /// Returns the spacing of a grid whose error is smaller by slightly more than this factor.
    pub(super) fn finer(&self, factor: f64) -> f64 {
        0.7 * self.h / factor.sqrt()
    }
}

/// Returns a loss of one step below which nothing matters under a tilt.
pub(super) fn floor(part: &Cumulant, theta: f64) -> f64 {
    if theta == 0.0 {
        return f64::NEG_INFINITY;
    }
    let steps = part.steps();
    (part.at(theta).value / steps - TAIL - libm::log(steps)) / theta
}

/// Returns ln of delta at an epsilon near the mean of the tilted sum, as if that sum were Gaussian.
fn ln_delta(theta: f64, here: Moments, epsilon: f64) -> f64 {
    let width = here.variance.sqrt();
    let tail = |theta: f64| 0.5 * erfcx(theta * width / std::f64::consts::SQRT_2);
    let share = if theta > 1e4 || width < 1e-4 {
        width * mills_decay(theta * width) / (2.0 * std::f64::consts::PI).sqrt()
    } else {
        tail(theta) - tail(theta + 1.0)
    };
    here.value - theta * epsilon + libm::log(share.max(f64::MIN_POSITIVE))
}
