//! Learning and serving requests: samples, modified parts, averages, noise.

use std::ops::ControlFlow;

use efface_privacy::event::{DistributedDescent, Event, Normalizer, State};
use efface_privacy::quantity::Decimal;
use rand_core::CryptoRng;
use rayon::prelude::*;

use super::Load;
use super::kept::{KeptCopy, KeptParts};
use super::part::{Job, Part};
use super::plan::{CheckedDistributed, Reach, normalizer};
use super::sample::{Membership, Sample, part_of, positions};
use crate::mechanism::kept::foreign;
use crate::mechanism::{Evidence, MechanismError, Released};
use crate::objective::{Objective, too_few};
use crate::outward;
use crate::solver::{Progress, SolveError, Watch, check_start};

/// Rows held in memory at a time, unless a single part has more.
const ROWS: usize = 1 << 16;

/// The records at hand and how to read them.
pub struct Records<'a, 'l> {
    /// Who is in the data now, and what the request changed (nothing when learning).
    pub members: Membership<'a>,
    /// Reads rows by key.
    pub load: &'a mut Load<'l>,
}

/// What a run hands back.
#[derive(Debug, Clone, PartialEq)]
pub struct Averages {
    /// The weights to publish: multiples of the grid.
    pub weights: Vec<f64>,
    /// Secret: what the next request starts from.
    pub kept: KeptParts,
    /// Largest proven mean distance of a copy's parts to their optima.
    pub distance: f64,
    /// Parts that were optimised, over all copies; a part that needed further steps counts again.
    pub optimised: u64,
    /// Positions that got another record, over all copies (all of them when learning).
    pub replaced: u64,
    /// Gradients of single records that were computed.
    pub gradients: u64,
    /// Records the sample is uniform on.
    pub records: u64,
}

impl Averages {
    /// Returns the release with its event; `releases` counts the model's distinct releases, this one
    /// included.
    #[must_use]
    pub fn released(self, plan: &CheckedDistributed, releases: u64) -> Released {
        let event = plan.event(self.records, releases);
        let evidence = Evidence::Parts {
            distance: self.distance,
            optimised: self.optimised,
            replaced: self.replaced,
            passes: self.gradients.div_ceil(self.records.max(1)),
        };
        let kept = Some(self.kept.to_kept());
        Released { weights: self.weights, event: Event::DistributedDescent(event), evidence, kept }
    }
}

impl CheckedDistributed {
    /// Returns the event of release number `releases` on `records` records: public numbers alone.
    #[must_use]
    pub fn event(&self, records: u64, releases: u64) -> DistributedDescent {
        let plan = self.plan();
        DistributedDescent {
            setting: self.constants().setting(plan.group),
            sample: plan.sample,
            parts: plan.parts,
            copies: plan.copies,
            distance: Decimal(plan.distance),
            iterations: match plan.reach {
                Reach::Measured(_) => None,
                Reach::Counted { iterations } => Some(iterations),
            },
            noise: Decimal(self.grid().noise()),
            grid: Decimal(self.grid().spacing()),
            state: State::Secret,
            joint_releases: plan.joint_releases,
            releases,
            records,
        }
    }
}

/// Draws the samples, optimises every part from `start` and publishes: the first training, and a
/// refresh (from the published weights, or from zeros).
///
/// `budget` is the number of single-record gradients to spend on each copy if steps are counted (T steps: T B
/// of them); a measured distance needs none.
///
/// # Errors
/// See [`MechanismError`]; nothing was released then.
pub fn learn(
    plan: &CheckedDistributed,
    mut records: Records<'_, '_>,
    start: &[f64],
    budget: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Averages, MechanismError> {
    check_members(plan, records.members)?;
    let expected = plan.constants().parameters();
    check_start(start, expected)?;
    let far = outward::add(outward::norm(start), plan.part_constants(0).optimum_bound());
    let part = Part { weights: start.to_vec(), distance: far };
    let all: Vec<usize> = (0..plan.parts()).collect();
    let mut run = Run::new(plan, &mut records, watch);
    let mut copies = Vec::new();
    for _ in 0..plan.plan().copies {
        let sample = Sample::draw(plan.sample(), run.records.members.present, rng);
        let mut copy = KeptCopy { sample, parts: vec![part.clone(); plan.parts()] };
        run.replaced += plan.plan().sample;
        run.serve(&mut copy, &all, budget)?;
        copies.push(copy);
    }
    run.publish(KeptParts { copies, releases: 1, updates: 0 }, rng)
}

/// Updates the samples, optimises the parts that changed and publishes.
///
/// `budget` is the number of single-record gradients to spend on each copy if steps are counted (n T_i of the
/// published theorem, summed over the records of the request).
///
/// # Errors
/// See [`MechanismError`]; nothing was released then.
pub fn request(
    plan: &CheckedDistributed,
    mut records: Records<'_, '_>,
    kept: &KeptParts,
    budget: u64,
    rng: &mut impl CryptoRng,
    watch: &mut Watch<'_>,
) -> Result<Averages, MechanismError> {
    let (spent, limit) = (kept.releases, plan.plan().joint_releases);
    if spent >= limit {
        return Err(MechanismError::Releases { spent, limit });
    }
    let members = records.members;
    check_members(plan, members)?;
    check_kept(plan, kept, members)?;
    let mut run = Run::new(plan, &mut records, watch);
    let mut copies = kept.copies.clone();
    for copy in &mut copies {
        let changed = copy.sample.change(members, rng);
        run.replaced += changed.len() as u64;
        let modified = run.moved(copy, &changed);
        run.serve(copy, &modified, budget)?;
    }
    let touched = members.added.len() as u64 + members.removed.len() as u64;
    let updates = kept.updates.saturating_add(touched);
    run.publish(KeptParts { copies, releases: spent + 1, updates }, rng)
}

struct Run<'a, 'r, 'l, 'w> {
    plan: &'a CheckedDistributed,
    records: &'a mut Records<'r, 'l>,
    watch: &'a mut Watch<'w>,
    optimised: u64,
    replaced: u64,
    gradients: u64,
}

impl<'a, 'r, 'l, 'w> Run<'a, 'r, 'l, 'w> {
    fn new(
        plan: &'a CheckedDistributed,
        records: &'a mut Records<'r, 'l>,
        watch: &'a mut Watch<'w>,
    ) -> Self {
        Self { plan, records, watch, optimised: 0, replaced: 0, gradients: 0 }
    }

    /// Returns the parts that hold a changed position, ascending; their distances grow by as much as the
    /// change may have moved their optima.
    fn moved(&self, copy: &mut KeptCopy, changed: &[usize]) -> Vec<usize> {
        let (size, parts) = (self.plan.sample(), self.plan.parts());
        let place = |position: &usize| part_of(size, parts, *position);
        let mut modified = Vec::new();
        for run in changed.chunk_by(|a, b| place(a) == place(b)) {
            let part = place(&run[0]);
            let held = positions(size, parts, part).len();
            let constants = self.plan.part_constants(held);
            let gradient = outward::mul(2.0 * run.len() as f64, constants.lipschitz());
            let shift =
                outward::div(outward::div(gradient, held as f64), constants.strong_convexity());
            let kept = &mut copy.parts[part];
            let far = outward::add(outward::norm(&kept.weights), constants.optimum_bound());
            kept.distance = outward::add(kept.distance, shift).min(far);
            modified.push(part);
        }
        modified
    }

    /// Optimises the named parts, then those that leave the mean distance too large.
    fn serve(
        &mut self,
        copy: &mut KeptCopy,
        modified: &[usize],
        budget: u64,
    ) -> Result<(), MechanismError> {
        let steps = match self.plan.plan().reach {
            Reach::Measured(_) => 0,
            Reach::Counted { .. } => self.steps(budget, modified.len()),
        };
        self.optimise(copy, modified, steps, None)?;
        let goal = self.plan.part_distance();
        if mean_distance(copy) <= goal {
            return Ok(());
        }
        // Once no part is beyond the goal, neither is the mean.
        let far = |part: &usize| copy.parts[*part].distance > goal;
        let far: Vec<usize> = (0..copy.parts.len()).filter(far).collect();
        self.optimise(copy, &far, 0, Some(goal))
    }

    /// Returns ceil(K `budget`/(B `modified`)): what the budget buys each modified part.
    fn steps(&self, budget: u64, modified: usize) -> u64 {
        let positions = u128::from(self.plan.plan().sample) * modified.max(1) as u128;
        let steps = (u128::from(budget) * u128::from(self.plan.plan().parts)).div_ceil(positions);
        u64::try_from(steps).unwrap_or(u64::MAX)
    }

    fn optimise(
        &mut self,
        copy: &mut KeptCopy,
        parts: &[usize],
        steps: u64,
        distance: Option<f64>,
    ) -> Result<(), MechanismError> {
        let largest = self.plan.sample().div_ceil(self.plan.parts());
        for batch in parts.chunks((ROWS / largest).max(1)) {
            let mut jobs = Vec::with_capacity(batch.len());
            for &part in batch {
                let range = positions(self.plan.sample(), self.plan.parts(), part);
                let keys = &copy.sample.keys()[range];
                let data = (self.records.load)(keys)?;
                if data.rows() != keys.len() {
                    let (expected, got) = (keys.len(), data.rows());
                    refuse!("{expected} rows were asked for, got {got}");
                }
                jobs.push(Job { part, data, start: copy.parts[part].clone(), steps, distance });
            }
            let plan = self.plan;
            let done: Vec<_> = jobs.par_iter().map(|job| job.run(plan)).collect();
            let mut largest = 0.0_f64;
            for done in done {
                let done = done?;
                self.gradients += done.gradients;
                self.optimised += 1;
                largest = largest.max(done.end.distance);
                copy.parts[done.part] = done.end;
            }
            self.tell(largest)?;
        }
        Ok(())
    }

    fn tell(&mut self, largest: f64) -> Result<(), MechanismError> {
        let m = self.plan.constants().strong_convexity();
        let passes = self.gradients.div_ceil(self.records.members.present.len().max(1) as u64);
        let target = m * self.plan.part_distance();
        match (self.watch)(&Progress { passes, gradient_norm: m * largest, target }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(SolveError::Cancelled { passes }.into()),
        }
    }

    /// Noises the average of every copy; the one of least objective on the records is published.
    fn publish(
        mut self,
        kept: KeptParts,
        rng: &mut impl CryptoRng,
    ) -> Result<Averages, MechanismError> {
        let mut noisy = Vec::with_capacity(kept.copies.len());
        for copy in &kept.copies {
            noisy.push(self.plan.grid().publish(&average(&copy.parts), rng)?);
        }
        let weights = self.best(noisy)?;
        Ok(Averages {
            weights,
            distance: kept.copies.iter().map(mean_distance).fold(0.0, f64::max),
            kept,
            optimised: self.optimised,
            replaced: self.replaced,
            gradients: self.gradients,
            records: self.records.members.present.len() as u64,
        })
    }

    fn best(&mut self, mut noisy: Vec<Vec<f64>>) -> Result<Vec<f64>, MechanismError> {
        let mut best = 0;
        if noisy.len() > 1 {
            let data = (self.records.load)(self.records.members.present)?;
            let objective = Objective::new(self.plan.constants(), &data)?;
            let mut least = f64::INFINITY;
            for (number, weights) in noisy.iter().enumerate() {
                let value = objective.evaluate(weights)?.value;
                self.gradients += data.rows() as u64;
                if value < least {
                    (best, least) = (number, value);
                }
            }
        }
        Ok(noisy.swap_remove(best))
    }
}

/// Returns the mean of the parts' distances, rounded up.
fn mean_distance(copy: &KeptCopy) -> f64 {
    let sum = copy.parts.iter().fold(0.0, |sum, part| outward::add(sum, part.distance));
    outward::div(sum, copy.parts.len() as f64)
}

/// Returns the mean of the parts' weights, summed in their order.
fn average(parts: &[Part]) -> Vec<f64> {
    let mut sum = vec![0.0; parts.first().map_or(0, |part| part.weights.len())];
    for part in parts {
        for (sum, weight) in sum.iter_mut().zip(&part.weights) {
            *sum += weight;
        }
    }
    sum.iter().map(|sum| sum / parts.len() as f64).collect()
}

/// Returns the error of keys that do not ascend, or that do not fit together.
fn wrong_keys(name: &str, rule: &str) -> MechanismError {
    MechanismError::Keys(refusal!("`{name}` must be {rule}"))
}

fn check_members(plan: &CheckedDistributed, members: Membership<'_>) -> Result<(), MechanismError> {
    let minimum = match plan.constants().declared().normalizer {
        Normalizer::Mean { minimum } => minimum.max(1),
        Normalizer::Fixed { .. } => return Err(normalizer().into()),
    };
    let got = members.present.len();
    if (got as u64) < minimum {
        return Err(too_few(minimum, got).into());
    }
    let lists =
        [("present", members.present), ("added", members.added), ("removed", members.removed)];
    for (name, keys) in lists {
        if keys.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(wrong_keys(name, "strictly ascending"));
        }
    }
    let present = |key: &u64| members.present.binary_search(key).is_ok();
    if !members.added.iter().all(present) {
        return Err(wrong_keys("added", "among the present keys"));
    }
    if members.removed.iter().any(present) {
        return Err(wrong_keys("removed", "absent from the present keys"));
    }
    Ok(())
}

/// Checks that the kept state belongs to this plan, with a sample of the records before the request.
fn check_kept(
    plan: &CheckedDistributed,
    kept: &KeptParts,
    members: Membership<'_>,
) -> Result<(), MechanismError> {
    let parameters = plan.constants().parameters();
    let fits = |copy: &KeptCopy| {
        copy.sample.keys().len() == plan.sample()
            && copy.parts.len() == plan.parts()
            && copy.parts.iter().all(|part| part.weights.len() == parameters)
    };
    if kept.copies.len() as u64 != plan.plan().copies || !kept.copies.iter().all(fits) {
        return Err(foreign("it has other copies, parts or weights").into());
    }
    let before = |key: &u64| {
        members.removed.binary_search(key).is_ok()
            || (members.present.binary_search(key).is_ok()
                && members.added.binary_search(key).is_err())
    };
    if !kept.copies.iter().all(|copy| copy.sample.keys().iter().all(before)) {
        return Err(foreign("its sample has keys that were in no data set").into());
    }
    Ok(())
}
