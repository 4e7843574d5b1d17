//! Notices that follow from the public constants of a plan alone.

use efface_learn::{Constants, Declared};
use efface_page::number::near;
use efface_privacy::certificate::Origin;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Normalizer, Unit};

use super::{Notice, NoticeCode};
use crate::error::{Code, Error, Result};
use crate::plan::Plan;

/// How far `--public-n` may be from the number it declares.
const FAR: f64 = 2.0;

/// The data set as large as it is now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) records: u64,
    /// The sum of weights, if records have weights and it is known.
    pub(crate) weight: Option<f64>,
}

/// Everything a plan's constants warn of, for a data set of this size.
pub(crate) fn of_plan(plan: &Plan, sizes: Sizes) -> Result<Vec<Notice>> {
    let all = [
        noise(plan)?,
        loud(plan),
        delta(plan, sizes.records),
        public_n(plan, sizes),
        no_request_covered(plan),
        trained_elsewhere(plan),
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Warns if noise is expected to cost at least what a model of zeros loses.
fn noise(plan: &Plan) -> Result<Option<Notice>> {
    let constants = at_its_size(&plan.constants()?)?;
    let cost = plan.schedule.noise_risk(&constants);
    let Some(cost) = cost else { return Ok(None) };
    let trivial = constants.zero_value();
    if cost < trivial {
        return Ok(None);
    }
    let message = format!(
        "the noise outweighs the data: its predicted excess risk is {}, and a model that ignores \
         its input loses at most {}; more records, a larger `§lambda` or `§epsilon`, or a notion \
         that needs less noise help (`§efface plan` compares)",
        near(cost, 3),
        near(trivial, 3)
    );
    Ok(Some(Notice::new(NoticeCode::NoiseDominates, message)))
}

/// Warns if the noise of a training is longer than any path on which the records could lead the weights.
pub(crate) fn loud(plan: &Plan) -> Option<Notice> {
    let signal = plan.schedule.signal().filter(|signal| *signal < 1.0)?;
    let message = format!(
        "the noise outweighs the data: over all steps it is {} times as long as the farthest that the \
         gradients of all records could move the weights together, so that nothing is likely to be \
         learnt; more records, a larger `§epsilon`, fewer `§deletions` or a smaller `§network` help",
        near(1.0 / signal, 2)
    );
    Some(Notice::new(NoticeCode::NoiseDominates, message))
}

/// Says that features come from a training that saw records of its own: of a network in another vault, or
/// elsewhere, as is declared.
pub(crate) fn trained_elsewhere(plan: &Plan) -> Option<Notice> {
    if let Some(trunk) = &plan.trunk {
        let message = format!(
            "the network that makes the features comes from vault {}, which has a copy of its own of \
             the records: who is deleted here is to be deleted there, too",
            trunk.vault
        );
        return Some(Notice::new(NoticeCode::NetworkElsewhere, message));
    }
    plan.given.as_ref()?.declared.as_ref()?;
    let message = "that the extractor was trained as `§extractor-training` says is taken on your word, \
        and the extractor stays as it is: who is deleted here is to be deleted from the records that it \
        was trained on, too, or counted as `deleted` by whoever uses it elsewhere";
    Some(Notice::new(NoticeCode::ExtractorElsewhere, message))
}

/// The constants of a data set of N records: the capacity that bounds all later ones is beside the
/// point here.
fn at_its_size(constants: &Constants) -> Result<Constants> {
    let declared = constants.declared().clone();
    let normalizer = match declared.normalizer {
        Normalizer::Fixed { n, .. } => Normalizer::Fixed { n, capacity: n },
        mean @ Normalizer::Mean { .. } => mean,
    };
    // With weights N is their sum, to which every record contributes at its own.
    let max_weight = match (declared.max_weight, normalizer) {
        (Some(_), Normalizer::Fixed { .. }) => None,
        (weight, _) => weight,
    };
    let checked = Declared { normalizer, max_weight, ..declared }.check_convex();
    let checked = checked.map_err(|error| {
        Error::storage(Code::Plan, format!("the vault's plan is damaged: {error}"))
    })?;
    Ok(match constants.mean_weight() {
        Some(mean) => checked.with_mean_weight(mean),
        None => checked,
    })
}

/// Warns if delta is so large that it may give away single records whole.
fn delta(plan: &Plan, records: u64) -> Option<Notice> {
    if plan.mechanism.is_exact() && !plan.learnt_features() {
        return None;
    }
    let n = match plan.setting.normalizer {
        Normalizer::Fixed { n, .. } if plan.max_weight.is_none() => n,
        _ => records,
    };
    let delta = plan.target.delta;
    if n == 0 || delta.0 * n as f64 <= 1.0 {
        return None;
    }
    let message = format!(
        "`§delta` {delta} is above 1/{n}, one over the number of records: even publishing some \
         records in full would satisfy it; give a much smaller `§delta`"
    );
    Some(Notice::new(NoticeCode::LargeDelta, message))
}

/// Warns if N was declared far from what it stands for.
fn public_n(plan: &Plan, sizes: Sizes) -> Option<Notice> {
    let Normalizer::Fixed { n, .. } = plan.setting.normalizer else { return None };
    let given = plan.constants.iter().any(|c| c.name == "n" && c.origin == Origin::User);
    let (actual, what) = match (plan.max_weight, sizes.weight) {
        (None, _) => (sizes.records as f64, format!("{} records", sizes.records)),
        (Some(_), Some(weight)) => (weight, format!("sum {} of the weights", near(weight, 3))),
        (Some(_), None) => return None,
    };
    let ratio = n as f64 / actual;
    if !given || actual == 0.0 || (1.0 / FAR..=FAR).contains(&ratio) {
        return None;
    }
    let way = if ratio > 1.0 {
        "each record counts for less against `§lambda` than it could"
    } else {
        "each record moves the model further than necessary, which costs noise or steps"
    };
    let message = format!("`§public-n` {n} is far from the {what} of these data: {way}");
    Some(Notice::new(NoticeCode::PublicNFarOff, message))
}

/// Warns if the first training uses up every release.
fn no_request_covered(plan: &Plan) -> Option<Notice> {
    // `secret` state refuses to count a single release.
    if plan.releases > 1 || plan.target.notion != Notion::DifferentialPrivacy {
        return None;
    }
    let message = "`§releases` is 1, and training used it: every later request will be refused; \
        give the number of expected requests plus 1";
    Some(Notice::new(NoticeCode::NoRequestCovered, message))
}

/// Subjects with so many records that they cannot be deleted, if each record counts for one.
pub(crate) fn beyond_deletions(plan: &Plan, largest: Option<u64>) -> Option<Notice> {
    let (plan, largest) = (plan.sampled()?, largest?);
    if plan.unit == Unit::Subject || largest <= plan.deletions {
        return None;
    }
    let message = format!(
        "a subject has {largest} records, and the noise is enough for the deletion of {}: nobody \
         with more can be deleted without training anew; leave out `§unit`, so that whole subjects are \
         counted, or give a larger `§deletions`",
        plan.deletions
    );
    Some(Notice::new(NoticeCode::SubjectsBeyondDeletions, message))
}
