#![doc = include_str!("sampled.md")]

mod canaries;
mod power;
#[cfg(test)]
mod tests;
mod weighed;

use std::ops::Range;
use std::path::Path;

use efface::{AuditSample, Claim, Code, Error, Result, SampledPlan, certificate};
use efface_privacy::accountant::Accountant;
use efface_privacy::accountant::pld::{self, Segment};
use efface_privacy::certificate::Certificate;
use efface_privacy::claim::{Question, evaluate};
use efface_privacy::event::{DpSgd, Event, Segment as Steps};
use efface_privacy::quantity::{Epsilon, Mu};
use rayon::prelude::*;

use super::examine::{Budget, Direction, Examined, Means, examine};
use super::options::Options;
use super::result::{
    AuditResult, Certified, Deleted, Head, Records, SCHEMA, Verdict, judge, largest,
};
use super::statistics::ERROR;
use super::worlds::{Ended, Seeds, Side, Worlds};
use crate::failed;
use canaries::{Canaries, Ratio, Step};
use weighed::Weighed;

/// The name of the method.
pub(super) const METHOD: &str = "canaries";
/// Runs between two looks at the time.
const ROUND: u64 = 64;
/// Least number of canaries that are deleted together, next to a single one; the plan's capacity counts if it
/// is larger.
const SEVERAL: u64 = 4;

/// Audits a network with noise: canaries under its plan's clip, noise, rate and number of steps.
pub(super) fn audit(
    path: &Path,
    sample: &AuditSample,
    plan: &SampledPlan,
    options: &Options,
    seed: [u8; 32],
    budget: &Budget<'_>,
) -> Result<AuditResult> {
    if options.rows.is_some() || !options.records.is_empty() {
        let message = "a network is audited by planted canaries, not by records of its vault";
        return Err(
            Error::refused(Code::Audit, message).hint("leave out `rows` and the names of records")
        );
    }
    if plan.rate.0 >= 1.0 {
        let message = "every record is in every batch of this network, so that nothing is sampled: what a \
                       deletion reveals is Gaussian, by a closed formula";
        return Err(Error::refused(Code::Audit, message));
    }
    let parsed = Certificate::parse(&certificate(path, "latest")?);
    let event = parsed.map_err(|error| Error::storage(Code::Damaged, error.to_string()))?.event;
    let Event::DpSgd(event) = &event else {
        return Err(Error::storage(Code::Damaged, "the vault's event is not one of `dp-sgd`"));
    };
    let (clip, delta) = (plan.clip.0, sample.plan.target.delta.0);
    let segment =
        |group| Segment { steps: plan.steps, noise: plan.noise.0, rate: plan.rate.0, group };
    let units = plan.deletions.max(SEVERAL);
    // Each of three parts has its share of the time.
    let part = |number: f64| Budget { limit: budget.limit.map(|l| l * number / 3.0), ..*budget };
    let often = common(segment(units))?;
    let claimed = claim(event, segment(units), often)?;
    let certified = Certified::of(&claimed);
    let worlds = LossWorlds::new(segment(units), segment(units), clip, Seeds::new(seed))?;
    let Examined { tests, split, reach } = told(&worlds, often, &part(1.0))?;
    let made = Budget { runs: split.threshold + split.counted, limit: None, ..*budget };
    let (below, told_by) = (certified.epsilon.0, split.counted);
    let least = match power::found_noise(segment(units), (below, often), seed, &made)? {
        Some(part) => format!("they find noise below {part} of what is stated in 19 of 20 audits"),
        None => "they would not reliably find any smaller noise: more runs (`--runs`) would".into(),
    };
    let mut canaries = Vec::new();
    for (number, group) in [1, units].into_iter().enumerate() {
        let epsilon = claim(event, segment(group), delta)?.epsilon.0;
        let weighed = Weighed { segment: segment(group), epsilon, delta };
        let mut own = seed;
        own[0] ^= 1 + number as u8;
        canaries.push(weighed.measure(clip, &Seeds::new(own), &part(2.0 + number as f64))?);
    }
    let verdict = judge(&tests, &reach, std::slice::from_ref(&certified));
    let (mu_lower, epsilon_lower) = largest(&tests);
    Ok(AuditResult {
        schema: SCHEMA.to_owned(),
        vault: sample.vault.clone(),
        certificate: sample.certificate.clone(),
        head: Head { index: sample.head.0, hash: sample.head.1.clone() },
        mechanism: sample.plan.mechanism.name().to_owned(),
        notion: claimed.notion.name().to_owned(),
        reference: claimed.reference.clone(),
        records: Records { used: units, in_vault: sample.records.rows() as u64 },
        deleted: Deleted {
            count: units,
            found: "planted canaries, a unit each, whose gradients are longer than the clip and have one \
                    direction"
                .into(),
            positions: Vec::new(),
        },
        steps: Some((plan.steps, 0)),
        method: METHOD.to_owned(),
        runs: split,
        tests,
        mu_lower,
        epsilon_lower,
        mu_reach: reach.mu_lower,
        epsilon_reach: reach.epsilon_lower,
        certified: vec![certified],
        compared: Vec::new(),
        verdict: verdict.and(Verdict::of_canaries(&canaries)),
        canaries,
        confidence: Some(1.0 - ERROR),
        seconds: (budget.elapsed)(),
        notes: vec![
            "canaries alone were trained on, in a network of one layer, under the plan's clip, noise, rate \
             and number of steps: what the engine draws, clips, rounds and releases is tested, and the \
             accountant, not the vault's own network and records"
                .into(),
            format!("tests count errors in {told_by} runs of each world: {least}"),
            "the attacker sees the sum of every step, as the certificate allows; who sees the released \
             weights alone sees less"
                .into(),
            "tests count errors at a delta that is not rare; runs weighed by their likelihood hold the \
             accountant at the delta of the target against sums that are released as is stated, by six \
             standard errors"
                .into(),
        ],
    })
}

/// Returns what a certificate says of a training after so many units were deleted.
fn claim(event: &DpSgd, segment: Segment, delta: f64) -> Result<Claim> {
    let segments = vec![Steps { steps: segment.steps, deleted: segment.group }];
    let event = DpSgd { segments, earlier_steps: 0, ..event.clone() };
    let question = Question::Indistinguishable { delta };
    evaluate(&Event::DpSgd(event), &question, Accountant::Pld).map_err(failed)
}

/// Returns a delta that is not rare: half of that at epsilon 0.
fn common(segment: Segment) -> Result<f64> {
    let zero = Epsilon::new(0.0).map_err(failed)?;
    let none = Mu::new(0.0).map_err(failed)?;
    Ok(0.5 * pld::delta(&[segment], none, zero).map_err(failed)?)
}

/// Returns what tests on the loss show at this delta.
fn told(worlds: &dyn Worlds, delta: f64, budget: &Budget<'_>) -> Result<Examined> {
    let loss = Direction { name: "loss of all released sums".into(), vector: vec![1.0] };
    examine(worlds, vec![loss], Means::Untried, delta, budget)
}

/// Trainings with canaries and without, each represented by one number: the loss of all sums it released.
struct LossWorlds {
    with: Step,
    without: Step,
    ratio: Ratio,
    steps: u64,
    seeds: Seeds,
}

impl LossWorlds {
    /// Runs what `actual` says, with the loss of what is `stated`: the two differ only for planted faults.
    fn new(stated: Segment, actual: Segment, clip: f64, seeds: Seeds) -> Result<Self> {
        let there = |count| Step::new(actual, clip, Canaries { count, together: false });
        Ok(Self {
            with: there(actual.group as usize)?,
            without: there(0)?,
            ratio: Ratio::new(stated),
            steps: actual.steps,
            seeds,
        })
    }
}

impl Worlds for LossWorlds {
    fn parameters(&self) -> usize {
        1
    }

    fn round(&self) -> u64 {
        ROUND
    }

    fn releases(&self, side: Side, runs: Range<u64>, ended: &Ended<'_>) -> Result<Vec<f64>> {
        let step = match side {
            Side::Deleted => &self.with,
            Side::Reference => &self.without,
        };
        let run = |run| {
            let rng = &mut self.seeds.generator(side, run);
            (0..self.steps).map(|_| Ok(self.ratio.at(step.released(rng, ended)?))).sum()
        };
        runs.into_par_iter().map(run).collect()
    }
}
