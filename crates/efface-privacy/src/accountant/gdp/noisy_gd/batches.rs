//! The worlds of noisy gradient descent over batches.

use super::super::check::{self, malformed};
use super::super::cyclic::{self, Differing};
use super::super::{AccountantError, World, interpolation};
use super::History;
use crate::event::{Adjacency, Batches, NoisyGd, Normalizer, Phase};

/// Refuses batches that contradict the rest of an event, or that it combines with something not proven for
/// batches.
pub(super) fn check(event: &NoisyGd) -> Result<(), AccountantError> {
    let Some(batches) = &event.batches else { return Ok(()) };
    for (name, count) in [("count", batches.count), ("size", batches.size), ("most", batches.most)]
    {
        check::count(name, count)?;
    }
    check::require("count", "at least 2", batches.count, batches.count >= 2)?;
    if let Normalizer::Mean { .. } = event.setting.normalizer {
        return Err(malformed("normalizer", "`fixed` with `batches`", "`mean`"));
    }
    if let Some(radius) = event.radius {
        return Err(malformed("radius", "left out with `batches`", radius));
    }
    let Some(changed) = &batches.changed else { return Ok(()) };
    if changed.len() + 1 != event.phases.len() {
        return Err(malformed("changed", "one number for each phase but the last", changed.len()));
    }
    let mut since = 0_u64;
    for (phase, changed) in event.phases.iter().zip(changed).rev() {
        since = since.saturating_add(*changed);
        check::size("changed", since)?;
        if phase.only_then.saturating_add(phase.only_now) > since {
            return Err(malformed("changed", "at least what earlier phases differ by", since));
        }
    }
    Ok(())
}

impl History<'_> {
    /// Returns ln mu of the pair of `world`: records are assumed to be in the batch that shows them most.
    pub(super) fn over(&self, batches: &Batches, world: World) -> Result<f64, AccountantError> {
        let group = |adjacency| {
            let records = check::group(&self.event.setting)?;
            let sides = if adjacency == Adjacency::Replace { 2.0 } else { 1.0 };
            Ok::<_, AccountantError>(sides * records)
        };
        match world {
            World::Retraining => self.changes(batches),
            World::DeletionPrivacy(adjacency) => {
                let until = self.before_last()?;
                self.visits(batches, self.steps()?, &[(until, group(adjacency)?)])
            }
            World::DifferentialPrivacyOneRelease(adjacency) => {
                self.release(batches, self.event.longest, group(adjacency)?)
            }
            World::DifferentialPrivacyAllReleases(adjacency) => {
                let records = group(adjacency)?;
                let one_by_one = self.one_by_one(batches, records)?;
                Ok(one_by_one.min(self.by_visits(batches, records)?))
            }
        }
    }

    /// Returns ln mu of so many steps in which the runs differ in these records, each until some step.
    fn visits(
        &self,
        batches: &Batches,
        steps: u64,
        differing: &[(u64, f64)],
    ) -> Result<f64, AccountantError> {
        let shift = |records: f64| self.reach * records / batches.size as f64;
        let differing: Vec<Differing> = differing
            .iter()
            .map(|&(until, records)| Differing { until, shift: shift(records) })
            .collect();
        let each = self.stretch(1, 0.0);
        let stretches = cyclic::stretches(batches.count, steps, &differing, each)?;
        Ok(interpolation::ln_mu(0.0, &stretches)?)
    }

    /// Bounds the distance to a run on the latest data: each request's records make the runs differ until
    /// then.
    fn changes(&self, batches: &Batches) -> Result<f64, AccountantError> {
        let changed = batches.changed.as_ref().ok_or(AccountantError::Unsupported {
            notion: World::Retraining.notion(),
            reason: "the numbers of records that requests changed are private",
        })?;
        let steps = self.steps()?;
        let mut until = 0;
        let differing: Vec<(u64, f64)> = self
            .event
            .phases
            .iter()
            .zip(changed)
            .map(|(phase, &records)| {
                until += phase.steps;
                (until, records as f64)
            })
            .collect();
        self.visits(batches, steps, &differing)
    }

    /// Returns ln mu of one release of so many steps, given the model before it.
    fn release(&self, batches: &Batches, steps: u64, records: f64) -> Result<f64, AccountantError> {
        self.visits(batches, steps, &[(steps, records)])
    }

    /// Bounds all releases, each as if the records were in the batch that its last step visits.
    fn one_by_one(&self, batches: &Batches, records: f64) -> Result<f64, AccountantError> {
        let mut ln_total = f64::NEG_INFINITY;
        // Requests mostly make the same number of steps.
        let mut known: Option<(u64, f64)> = None;
        for phase in &self.event.phases {
            let steps = if phase.releases == 1 { phase.steps } else { self.event.longest };
            let ln_mu = match known {
                Some((same, ln_mu)) if same == steps => ln_mu,
                _ => self.release(batches, steps, records)?,
            };
            known = Some((steps, ln_mu));
            let ln_square = libm::log(phase.releases as f64) + 2.0 * ln_mu;
            ln_total = interpolation::ln_add(ln_total, ln_square);
        }
        Ok(0.5 * ln_total)
    }

    /// Learning, and then every visit of all later steps together as a release of its own: these are
    /// l steps apart, wherever releases are made.
    fn by_visits(&self, batches: &Batches, records: f64) -> Result<f64, AccountantError> {
        let [Phase { steps: learning, releases: 1, .. }, later @ ..] = &self.event.phases[..]
        else {
            return Ok(f64::INFINITY);
        };
        let steps = later.iter().try_fold(0_u64, |sum, phase| sum.checked_add(phase.steps));
        let steps =
            steps.ok_or_else(|| malformed("steps", "below 2^64 in all phases together", "more"))?;
        let learning = self.release(batches, *learning, records)?;
        let shift = self.reach * records / batches.size as f64 + self.arithmetic;
        let square = |shift: f64| (shift / self.noise) * (shift / self.noise);
        let visits = steps.div_ceil(batches.count) as f64 * square(shift);
        let others = steps as f64 * square(self.arithmetic);
        Ok(0.5 * interpolation::ln_add(2.0 * learning, libm::log(visits + others)))
    }
}
