//! epsilon at delta and delta at epsilon of a composed distribution.

use super::compose::Composed;
use crate::outward::MARGIN;

/// A bound, and about how much of it the grid adds, relatively.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) value: f64,
    pub(super) coarse: f64,
}

impl Composed {
    /// Returns an upper bound on delta at `epsilon`, at most 1; above the window, the bound at its top.
    pub(super) fn delta(&self, epsilon: f64) -> Found {
        let epsilon = epsilon.min(self.top());
        let mut found = Found { value: 1.0, coarse: 0.0 };
        self.walk(|cell| {
            if epsilon >= cell.from && epsilon <= cell.to {
                let value = self.bound(&cell, epsilon);
                found = Found { value: value.min(1.0), coarse: self.grid_cost(&cell) / value };
            }
            epsilon < cell.from
        });
        found
    }

    /// Returns an upper bound on the least epsilon at `delta`; `None` if rounding alone exceeds `delta`.
    pub(super) fn epsilon(&self, delta: f64) -> Option<Found> {
        let mut found = None;
        self.walk(|cell| {
            if self.bound(&cell, cell.to) > delta {
                return false;
            }
            let (mut low, mut high) = (cell.from, cell.to);
            if self.bound(&cell, low) <= delta {
                high = low;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    break;
                }
                if self.bound(&cell, middle) <= delta { high = middle } else { low = middle }
            }
            let moved = self.grid_cost(&cell) / (cell.mass - cell.delta);
            found = Some(Found { value: high * (1.0 + MARGIN), coarse: moved / high });
            high <= cell.from
        });
        found
    }

    /// Estimates what the grid adds to delta in a cell: the variance that it adds to the sum, times half the
    /// second derivative of delta, which is the density of the sum.
    fn grid_cost(&self, cell: &Cell) -> f64 {
        self.steps * self.plan.h / 8.0 * cell.here
    }

    /// Returns the largest loss of the window.
    fn top(&self) -> f64 {
        (self.plan.first + self.masses.len() as i64 - 1) as f64 * self.plan.h
    }

    /// Returns how much of the bound on delta at `epsilon` is rounding of the transforms.
    pub(super) fn rounding_at(&self, epsilon: f64) -> f64 {
        let epsilon = epsilon.min(self.top());
        let (theta, h) = (self.plan.theta, self.plan.h);
        // The largest exp(-theta y) (1 - exp(-y)), and the sum of all of them over the grid.
        let most = if theta > 0.0 {
            libm::exp(-theta * libm::log1p(1.0 / theta)) / (1.0 + theta)
        } else {
            1.0
        };
        let all = (most + 1.0 / (h * theta * (1.0 + theta))).min(self.masses.len() as f64 * most);
        self.rounding * all * self.weight(epsilon)
    }

    /// Returns exp(ln_scale - theta loss), by which a tilted mass is multiplied, rounded up.
    fn weight(&self, loss: f64) -> f64 {
        let theta = self.plan.theta;
        let slack = 1e-15 * (self.ln_scale.abs() + (theta * loss).abs() + 8.0);
        libm::exp(self.ln_scale - theta * loss + slack)
    }

    /// Returns the bound on delta at an epsilon of a cell.
    fn bound(&self, cell: &Cell, epsilon: f64) -> f64 {
        let inside = cell.delta - libm::expm1(epsilon - cell.to) * (cell.mass - cell.delta);
        let summed = inside * (1.0 + 2e-9);
        let bound = (summed + self.rounding_at(epsilon)) * self.growth + self.lost;
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// Goes down the cells of epsilon, from the top of the window to 0, while `go_on`.
    fn walk(&self, mut go_on: impl FnMut(Cell) -> bool) {
        let h = self.plan.h;
        let shrink = libm::exp(-h);
        let grow = -libm::expm1(-h);
        let (mut delta, mut mass) = (0.0, 0.0);
        for (i, tilted) in self.masses.iter().enumerate().rev() {
            let index = self.plan.first + i as i64;
            let loss = index as f64 * h;
            if loss <= 0.0 {
                return;
            }
            let here = tilted * self.weight(loss);
            mass += here;
            // Below the window no mass is left to come.
            let from = if i == 0 { 0.0 } else { ((index - 1) as f64 * h).max(0.0) };
            if !go_on(Cell { from, to: loss, delta, mass, here }) {
                return;
            }
            delta = shrink * delta + grow * mass;
        }
    }
}

/// The epsilons between two neighbours of the grid.
#[derive(Debug, Clone, Copy)]
struct Cell {
    from: f64,
    to: f64,
    /// delta at `to` of the masses above.
    delta: f64,
    /// Mass at `to` and above, and at `to` alone.
    mass: f64,
    here: f64,
}
