//! Settings of networks, and of linear models on random features.

use super::Inputs;
use super::settings::{bare, sums};
use crate::error::Result;
use crate::plan::DataSummary;
use crate::settings::{MechanismName, Settings};

/// Filters over images whose sides are at least so long; smaller ones are taken as rows of numbers.
const LEAST_SIDE: u32 = 20;

/// The layers that are proposed for images.
const FOR_IMAGES: &str = "conv:16x8/2,pool,conv:32x4/2,pool,dense:32";

/// Random filters over images of one channel.
pub(super) fn filters(facts: &DataSummary) -> Option<&'static str> {
    facts.gray().map(|_| "random-conv:64x6")
}

/// Random Fourier features, if rows are no such images.
pub(super) fn fourier(facts: &DataSummary) -> Option<&'static str> {
    facts.gray().is_none().then_some("rff:1024")
}

/// Random gated features, if rows are no such images.
pub(super) fn gated(facts: &DataSummary) -> Option<&'static str> {
    facts.gray().is_none().then_some("gated:512")
}

/// lambda for features of that many records, if none is asked for: about a tenth of a record's share, a
/// power of ten, so that features of many records are not held back.
fn lambda_of(settings: &Settings, records: u64) -> Option<f64> {
    let digits = records.max(1).ilog10().clamp(2, 7);
    settings.lambda.or(Some(0.1_f64.powi(1 + digits as i32)))
}

/// `ridge` on random features.
pub(in crate::planner) fn sums_of_features(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    let lambda = lambda_of(inputs.settings, inputs.facts.records);
    Ok(sums(inputs)?.map(|settings| Settings { lambda, ..settings }))
}

/// Settings of a mechanism that trains networks, without what these have no use for.
fn network(inputs: &Inputs<'_>, mechanism: MechanismName) -> Settings {
    let asked = inputs.settings;
    let image = inputs.facts.image.filter(|image| image.height.min(image.width) >= LEAST_SIDE);
    let layers = image.filter(|_| asked.features.is_none()).map(|_| FOR_IMAGES.to_owned());
    Settings {
        network: asked.network.clone().or(layers),
        loss: asked.loss.clone(),
        lambda: None,
        intercept: None,
        releases: None,
        ..bare(inputs, mechanism)
    }
}

/// `dp-sgd`, with as many deletions in advance as asked for, or those of a month.
pub(super) fn noisy(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    let deletions = inputs.settings.deletions.or(Some(inputs.workload.of_a_month()));
    Ok(Some(Settings { deletions, ..network(inputs, MechanismName::DpSgd) }))
}

/// The same for a model on the network's features, which counts records.
pub(super) fn trunk(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    let unit = inputs.facts.subjects.then(|| "record".to_owned());
    Ok(noisy(inputs)?.map(|settings| Settings { unit: settings.unit.clone().or(unit), ..settings }))
}

/// `shards`. Where closeness to retraining is asked for, removal that is exact is closer than any epsilon.
pub(super) fn shards(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    let exact = sums(inputs)?.unwrap_or_default();
    Ok(Some(Settings {
        notion: exact.notion,
        epsilon: None,
        delta: None,
        order: None,
        max_group: None,
        noise: None,
        ..network(inputs, MechanismName::Shards)
    }))
}

/// One shard: plain training anew.
pub(super) fn anew(inputs: &Inputs<'_>) -> Result<Option<Settings>> {
    if inputs.settings.shards.is_some() {
        return Ok(None);
    }
    Ok(shards(inputs)?.map(|settings| Settings { shards: Some(1), ..settings }))
}
