//! The distribution of one step's loss on a grid, at or above the exact one (connect the dots).

use super::mixture::{Mixture, Point};
use crate::special::normal_cdf;

/// Nodes in (0, 1) or at 0 and weights of the rules of Gauss and Legendre on [-1, 1].
const THREE: &[(f64, f64)] =
    &[(0.0, 0.888_888_888_888_889), (0.774_596_669_241_483_4, 0.555_555_555_555_555_6)];
const FOUR: &[(f64, f64)] = &[
    (0.339_981_043_584_856_26, 0.652_145_154_862_546_1),
    (0.861_136_311_594_052_6, 0.347_854_845_137_453_86),
];
const SIX: &[(f64, f64)] = &[
    (0.238_619_186_083_196_9, 0.467_913_934_572_691_05),
    (0.661_209_386_466_264_5, 0.360_761_573_048_138_6),
    (0.932_469_514_203_152, 0.171_324_492_379_170_35),
];

/// Relative margin by which a mass is raised: covers the error of the quadrature rules and of the densities.
const MASS: f64 = 2e-12;
/// Margin by which the share of a mass that goes to the cell's upper end is raised.
const SHARE: f64 = 1e-10;
/// Edges of cells are found to this part of a cell.
const EDGE: f64 = 1e-7;

/// Which of the two distributions an observer is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The mixture, against the noise alone: loss L(x).
    Added,
    /// The noise alone, against the mixture: loss -L(x).
    Removed,
}

impl Direction {
    /// Returns the loss at a point, and the density of what the observer is given.
    pub(super) fn view(self, point: &Point) -> (f64, f64) {
        match self {
            Self::Added => (point.loss, point.p),
            Self::Removed => (-point.loss, point.q),
        }
    }
}

/// One step whose losses lie in [first, last] but for a mass of `beyond` above.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) mixture: &'a Mixture,
    pub(super) direction: Direction,
    /// The ends in x: losses are least at `from` and largest at `to`.
    pub(super) from: f64,
    pub(super) to: f64,
    /// Mass above the largest loss, which counts as infinite loss.
    pub(super) beyond: f64,
    /// Mass below the least loss.
    below: f64,
    near: usize,
}

impl<'a> Step<'a> {
    /// Returns the step with at most `tail` of mass beyond either end.
    pub(super) fn new(mixture: &'a Mixture, direction: Direction, tail: f64) -> Self {
        let (low, high) = mixture.range(tail, direction == Direction::Added);
        let (from, to, beyond) = match direction {
            Direction::Added => (low, high, mixture.p_above(high)),
            Direction::Removed => (high, low, normal_cdf(low / mixture.noise())),
        };
        let mut step = Self {
            mixture,
            direction,
            from,
            to,
            beyond: rounded_up(beyond),
            below: 0.0,
            near: usize::MAX,
        };
        step.start(from);
        step
    }

    /// Lets the range begin at `x`: all losses before it count as the one there.
    fn start(&mut self, x: f64) {
        self.from = x;
        self.below = rounded_up(match self.direction {
            Direction::Added => self.mixture.p_below(x),
            Direction::Removed => normal_cdf(-x / self.mixture.noise()),
        });
    }

    /// Counts losses far below `floor` as about that.
    pub(super) fn raise(&mut self, floor: f64) {
        let (mut below, mut above) = (self.from, self.to);
        if self.look(below).loss >= floor || self.look(above).loss <= floor {
            return;
        }
        for _ in 0..60 {
            let middle = 0.5 * (below + above);
            if self.look(middle).loss < floor { below = middle } else { above = middle }
        }
        self.start(below);
    }

    /// Returns an upper bound on the loss at x, its error, |dL/dx|, and the density.
    pub(super) fn look(&mut self, x: f64) -> Look {
        let point = self.mixture.at(x, &mut self.near);
        let (loss, density) = self.direction.view(&point);
        Look { loss: loss + point.error, error: point.error, slope: point.slope, density }
    }

    /// Calls `mass` with each grid index and an upper bound on the mass there, from low to high; the losses
    /// of the grid are index * `h`.
    pub(super) fn spread(&mut self, h: f64, mut mass: impl FnMut(i64, f64)) {
        let whole = -libm::expm1(-h);
        let last = self.look(self.to);
        let weights = 2.0 * self.mixture.weight_error();
        let (mut x, mut here) = (self.from, self.look(self.from));
        let mut index = (here.loss / h).floor() as i64;
        if here.loss > (index + 1) as f64 * h {
            index += 1; // the quotient was rounded down to the number below
        }
        let (mut at_index, mut at_next) = (0.0, self.below);
        while x != self.to {
            let lower = index as f64 * h;
            let (end, there) = self.edge((x, here), (index + 1) as f64 * h, last, h);
            let (total, upper) = self.integrate(x, end, lower);
            // The cell begins below `lower` by as much as its edge was not found exactly.
            let short = (lower - here.loss).max(0.0) / h.min(1.0);
            let total = total * (1.0 + MASS + weights);
            let upper = (upper / whole + (SHARE + 4.0 * short) * total).clamp(0.0, total);
            mass(index, at_index + (total - upper));
            (at_index, at_next) = (at_next + upper, 0.0);
            (x, here, index) = (end, there, index + 1);
        }
        mass(index, at_index);
    }

    /// Returns the end of the cell that starts at `start`: a point up to which no loss is above `target`.
    fn edge(&mut self, start: (f64, Look), target: f64, last: Look, h: f64) -> (f64, Look) {
        if last.loss <= target {
            return (self.to, last);
        }
        let forward = (self.to - self.from).signum();
        let (mut good, mut bad) = (start, self.to);
        let (mut x, mut here) = start;
        for _ in 0..200 {
            let near = EDGE * h + 8.0 * here.error;
            // Newton's step; L is convex and increasing, so that it overshoots once at most.
            let guess = x + forward * (target - 0.5 * near - here.loss) / here.slope;
            let middle = 0.5 * (good.0 + bad);
            x = if (guess - good.0) * forward > 0.0 && (bad - guess) * forward > 0.0 {
                guess
            } else {
                middle
            };
            if x == good.0 || x == bad {
                break;
            }
            here = self.look(x);
            if here.loss > target {
                bad = x;
            } else {
                good = (x, here);
                if target - here.loss <= near {
                    break;
                }
            }
        }
        good
    }

    /// Mass between two points of one cell, and the integral of 1 - exp(`lower` - loss) over it.
    fn integrate(&mut self, one: f64, other: f64, lower: f64) -> (f64, f64) {
        let width = (other - one).abs();
        let (noise, group) = (self.mixture.noise(), self.mixture.group());
        let most = one.abs().max(other.abs());
        // How fast the densities change: the half width of a panel against this decides the rule.
        let pace = ((most + group) / noise).max(1.0) / noise;
        let (rule, middle_node, panels) = match 0.5 * width * pace {
            speed if speed <= 1.0 / 256.0 => (THREE, true, 1.0),
            speed if speed <= 1.0 / 64.0 => (FOUR, false, 1.0),
            speed => (SIX, false, (8.0 * speed).ceil()),
        };
        let half = 0.5 * width / panels;
        let (mut total, mut upper) = (0.0, 0.0);
        for panel in 0..panels as u64 {
            let centre = one.min(other) + half * (2 * panel + 1) as f64;
            for (number, &(node, weight)) in rule.iter().enumerate() {
                let both = [centre + half * node, centre - half * node];
                let nodes = if middle_node && number == 0 { &both[..1] } else { &both[..] };
                for &x in nodes {
                    let here = self.look(x);
                    let mass = weight * half * here.density;
                    total += mass;
                    upper += mass * -libm::expm1(lower - here.loss);
                }
            }
        }
        (total, upper)
    }
}

/// Returns a tail of a distribution with its relative error.
fn rounded_up(tail: f64) -> f64 {
    tail * (1.0 + 1e-9)
}

/// A step's loss at one x.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Not below the exact loss, and above it by at most twice `error`.
    pub(super) loss: f64,
    error: f64,
    slope: f64,
    /// Density of what the observer is given.
    pub(super) density: f64,
}
