//! What learning and requests will take, before any data are seen.

use super::plan::{CheckedDistributed, Reach, Step};
use crate::mechanism::forecast::{USUAL_OPTIMUM, USUAL_SHIFT, published_norm};
use crate::outward;
use crate::solver::{Solver, Stopping, hessian_in_passes, most_work, sufficient_steps, usual_work};

/// The kind of request being predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The first training, from zeros.
    Learning,
    /// A refresh: from published weights if distances are measured, else from zeros.
    Refresh,
    /// A request that changes some of the records that are present.
    Request {
        /// Records that the request takes out.
        changed: u64,
        /// Records before the request.
        records: u64,
    },
}

/// Numbers of gradients of single records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gradients {
    /// Upper bound on the number of gradients.
    pub at_most: u64,
    /// The number usually computed: an observation.
    pub usually: f64,
    /// What Hessians usually add, in gradients.
    pub hessians: f64,
}

impl CheckedDistributed {
    /// Returns the gradients that all copies take, without those that compare copies. `budget` is that of
    /// [`learn`](super::learn) and [`request`](super::request).
    ///
    /// At most: every part is modified, in exact arithmetic. Usually: B k/n positions change for k
    /// of n records, in parts at random.
    #[must_use]
    pub fn gradients(&self, occasion: Occasion, budget: u64) -> Gradients {
        let copies = self.plan().copies;
        let (at_most, usually, hessians) = match self.plan().reach {
            Reach::Measured(solver) => self.measured(occasion, solver),
            Reach::Counted { .. } => self.counted(occasion, budget),
        };
        let per_copy = copies as f64;
        Gradients {
            at_most: at_most.saturating_mul(copies),
            usually: usually * per_copy,
            hessians: hessians * per_copy,
        }
    }

    /// Each part is solved once. The Hessians of parts are not among the gradients.
    fn measured(&self, occasion: Occasion, solver: Solver) -> (u64, f64, f64) {
        let stopping = Stopping { distance: self.part_distance() };
        let norm = match occasion {
            Occasion::Learning => 0.0,
            Occasion::Refresh => {
                let plan = self.plan();
                let before = outward::add(self.reach(), plan.distance);
                published_norm(before, self.constants().parameters(), plan.noise, plan.grid)
            }
            Occasion::Request { .. } => outward::add(self.reach(), stopping.distance),
        };
        let most = |positions| {
            let work = most_work(self.part_constants(positions), solver, stopping, norm);
            work.passes.saturating_add(work.products)
        };
        let (small, large) = (self.sample() / self.parts(), self.sample().div_ceil(self.parts()));
        let at_most = most(small).max(most(large)).saturating_mul(self.plan().sample);
        let (modified, moved) = self.usually_modified(occasion);
        let constants = self.part_constants(small);
        let away = match occasion {
            Occasion::Learning => USUAL_OPTIMUM * self.reach(),
            Occasion::Refresh => self.plan().noise * (self.constants().parameters() as f64).sqrt(),
            Occasion::Request { .. } => USUAL_SHIFT * moved + stopping.distance,
        };
        let usual = usual_work(constants, solver, stopping, away);
        let rows = modified * self.plan().sample as f64 / self.plan().parts as f64;
        let hessians = usual.hessians as f64 * hessian_in_passes(constants.parameters());
        (at_most, rows * (usual.passes + usual.products) as f64, rows * hessians)
    }

    /// Returns the budget, rounded up to whole steps of each part, and further steps of all parts from the
    /// largest possible distance: the mean distance never exceeds tau, so that of one part never exceeds K
    /// tau.
    fn counted(&self, occasion: Occasion, budget: u64) -> (u64, f64, f64) {
        let (parts, goal) = (self.plan().parts, self.part_distance());
        let largest = self.sample().div_ceil(self.parts());
        let constants = self.part_constants(largest);
        let far = outward::add(
            outward::mul(2.0, self.reach()),
            outward::mul(parts as f64, self.plan().distance),
        );
        let further = |positions| {
            let constants = self.part_constants(positions);
            sufficient_steps(constants, far, constants.strong_convexity() * goal)
        };
        let further = further(self.sample() / self.parts()).max(further(largest));
        // K budget/B steps for each of so many parts, and one more for rounding up.
        let share = u128::from(budget) * u128::from(parts) / u128::from(self.plan().sample);
        let planned = (share + u128::from(parts)) * largest as u128;
        let planned = u64::try_from(planned).unwrap_or(u64::MAX);
        let at_most = planned.saturating_add(further.saturating_mul(self.plan().sample));
        let (modified, moved) = self.usually_modified(occasion);
        let rows = modified * self.plan().sample as f64 / parts as f64;
        let steps = (budget as f64 / rows).ceil();
        // Further steps are made if the budget leaves the mean of the distances too large.
        let rate = Step::new(constants).contraction.ln();
        let allowed = goal * parts as f64 / modified;
        let left = (moved + goal) * (steps * rate).exp();
        let more = if left > allowed { ((goal / left).ln() / rate).ceil() } else { 0.0 };
        (at_most, self.chance(occasion) * rows * (steps + more), 0.0)
    }

    /// Returns how many parts are usually modified, and the public bound on how far the optimum of one moves.
    fn usually_modified(&self, occasion: Occasion) -> (f64, f64) {
        let (sample, parts) = (self.plan().sample as f64, self.plan().parts as f64);
        match occasion {
            Occasion::Learning | Occasion::Refresh => (parts, self.reach()),
            Occasion::Request { changed, records } => {
                let positions = (sample * changed as f64 / records.max(1) as f64).max(1.0);
                let modified = (parts * (1.0 - (1.0 - 1.0 / parts).powf(positions))).max(1.0);
                let constants = self.constants();
                let each = 2.0 * constants.lipschitz() / constants.strong_convexity();
                (modified, positions / modified * each * parts / sample)
            }
        }
    }

    /// Estimates the probability that any position holds a deleted record.
    fn chance(&self, occasion: Occasion) -> f64 {
        match occasion {
            Occasion::Learning | Occasion::Refresh => 1.0,
            Occasion::Request { changed, records } => {
                let positions = self.plan().sample as f64 * changed as f64;
                1.0 - (-positions / records.max(1) as f64).exp()
            }
        }
    }

    /// Returns a bound on the norm of a part's optimum.
    fn reach(&self) -> f64 {
        self.part_constants(self.sample()).optimum_bound()
    }
}
