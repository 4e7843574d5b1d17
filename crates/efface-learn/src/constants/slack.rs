#![doc = include_str!("slack.md")]

use efface_matrix::additions;
use efface_privacy::event::Normalizer;

use super::Constants;
use crate::loss::{Task, with};
use crate::outward::{add, gamma, mul, sqrt};

/// How the sums of one gradient over the records are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summation {
    /// In float64, in any order: no record's term is under more additions than there are records.
    AnyOrder,
    /// In float64, no record's term under more additions than this, whatever the normaliser.
    Additions(usize),
    /// Margins and sums in twice the precision ([`efface_matrix::twice_pass`]).
    Twice,
}

/// Half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;

impl Constants {
    /// Returns an upper bound on the Euclidean distance between the gradient of F computed in float64 at w
    /// and the exact one, for |w| <= `weights_norm`, on any data set that obeys the constants and with sums
    /// in any order.
    ///
    /// `records` is used under `mean` only; under `fixed` the capacity replaces it, so that the bound is
    /// public.
    #[must_use]
    pub fn slack(&self, weights_norm: f64, records: usize) -> f64 {
        self.slack_of(Summation::AnyOrder, weights_norm, records, f64::INFINITY)
    }

    /// Returns [`slack`](Self::slack) for sums made so, if the data term of F, (1/N) sum s l, is at most
    /// `loss` at w (infinity: not known).
    #[must_use]
    pub fn slack_of(
        &self,
        summation: Summation,
        weights_norm: f64,
        records: usize,
        loss: f64,
    ) -> f64 {
        let r = self.declared.row_bound;
        let margin = self.farthest_margin(weights_norm);
        let slopes = mul(self.mean_slope(margin, loss), r);
        let ridge = mul(self.declared.lambda, weights_norm);
        let bent = mul(self.declared.loss.link_bounds().curvature, mul(r, margin));
        let bent = mul(self.weighted_load(), bent);
        let link = with(self.declared.loss, |link| link.rounding()) + self.weighing();
        let (records, cols) = (self.most_records(records), self.declared.cols as f64);
        let any_order = records as f64 + cols + 8.0 + link;
        let error = match summation {
            Summation::AnyOrder | Summation::Additions(_) => {
                let gamma = match summation {
                    Summation::Additions(most) => gamma(most as f64 + cols + 8.0 + link),
                    _ => gamma(any_order),
                };
                mul(mul(gamma, add(add(slopes, bent), ridge)), add(1.0, gamma))
            }
            Summation::Twice => {
                let shift = mul(4.0 * U, margin);
                if shift > 1e-3 {
                    return f64::INFINITY;
                }
                let once = mul(gamma(link + 16.0), add(slopes, ridge));
                let sums = gamma(additions(records) as f64 + 16.0);
                let sums = mul(mul(sums, sums), slopes);
                let dots = gamma(cols + 16.0);
                let dots = mul(mul(dots, add(dots, 0.5_f64.powi(27))), bent);
                let link = mul(mul(self.weighted_load(), r), mul(2.0, mul(shift, shift)));
                mul(add(add(once, sums), add(dots, link)), 1.0 + 1e-6)
            }
        };
        // Bounds the total loss from products that underflow.
        let steepest = self.declared.loss.link_bounds().curvature.max(1.0);
        let heaviest = mul(self.load(), self.max_weight().max(1.0));
        let lost = mul(
            mul(any_order, self.parameters() as f64),
            mul(f64::MIN_POSITIVE, add(1.0, mul(steepest, mul(r, heaviest)))),
        );
        add(error, lost)
    }

    /// Returns the public slack: [`slack`](Self::slack) at |w| <= `distance` +
    /// [`optimum_bound`](Self::optimum_bound), which every point within `distance` of a minimiser obeys.
    #[must_use]
    pub fn public_slack(&self, distance: f64, records: usize) -> f64 {
        self.slack(add(distance, self.optimum_bound()), records)
    }

    /// Returns the public slack of sums made so, or in float64 if that is less: no less than the smaller
    /// [`slack_of`](Self::slack_of), with the loss as computed ([`loss_above`](Self::loss_above)), at any
    /// point within `distance` of a minimiser.
    #[must_use]
    pub fn public_slack_of(&self, summation: Summation, distance: f64, records: usize) -> f64 {
        if summation == Summation::AnyOrder {
            return self.public_slack(distance, records);
        }
        let norm = add(distance, self.optimum_bound());
        // F(w) <= F(w*) + (L/2) |w - w*|^2 and F(w*) <= F(0).
        let risen = mul(0.5 * self.total_smoothness(), mul(distance, distance));
        let exact = add(self.zero_value(), risen);
        let computed = self.loss_above(exact, norm, records);
        let loss = self.loss_above(computed, norm, records);
        let slack = |summation| self.slack_of(summation, norm, records, loss);
        // For very few records float64 is as exact, and is tried first.
        slack(summation).min(slack(Summation::AnyOrder))
    }

    /// Returns an upper bound on the exact data term of F at |w| <= `weights_norm`, from the computed one;
    /// and on the computed one from the exact.
    #[must_use]
    pub fn loss_above(&self, loss: f64, weights_norm: f64, records: usize) -> f64 {
        let margin = self.farthest_margin(weights_norm);
        let sums = gamma(additions(self.most_records(records)) as f64 + 64.0);
        let dots = gamma(self.parameters() as f64 + 64.0);
        let steep = add(1.0, self.declared.loss.derivative_within(margin));
        let absolute = mul(mul(self.weighted_load(), steep), mul(dots, add(1.0, margin)));
        add(mul(loss, add(1.0, mul(2.0, sums))), mul(2.0, absolute))
    }

    /// Returns the most records that public constants allow; under `mean`, `records`.
    fn most_records(&self, records: usize) -> usize {
        match self.declared.normalizer {
            Normalizer::Fixed { capacity, .. } => usize::try_from(capacity).unwrap_or(usize::MAX),
            Normalizer::Mean { .. } => records,
        }
    }

    /// Returns a bound on |x||w| + |y|, |y| for regression only.
    fn farthest_margin(&self, weights_norm: f64) -> f64 {
        let target = match self.declared.loss.task() {
            Task::Regression => self.declared.target_bound,
            Task::Binary | Task::Multiclass => 0.0,
        };
        add(mul(self.declared.row_bound, weights_norm), target)
    }

    /// Returns a bound on (1/N) sum s |l'|, for a data term of at most `loss`.
    fn mean_slope(&self, margin: f64, loss: f64) -> f64 {
        let steepest = mul(self.weighted_load(), self.declared.loss.derivative_within(margin));
        // Links of several margins are computed with an error relative to the largest slope.
        if self.declared.loss.outputs() > 1 {
            return steepest;
        }
        let curvature = self.declared.loss.link_bounds().curvature;
        steepest.min(sqrt(mul(mul(2.0, curvature), mul(self.weighted_load(), loss))))
    }
}
