//! A network in another vault, as a training on its hidden features takes it.

use std::path::Path;

use efface_privacy::event::{Event, Unit};

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::plan::{TakenTrunk, Trunk};
use crate::settings::Settings;
use crate::store::{Current, open_for_reading};

/// The network that the settings name, read from its vault as it is now: what it published, and the
/// event of that with everybody deleted so far. None where features are others.
///
/// # Errors
/// A vault that cannot be read, is damaged, has withdrawn its model, or has no network.
pub(crate) fn named(settings: &Settings, context: &mut Context<'_>) -> Result<Option<TakenTrunk>> {
    let Some(text) = settings.network_features() else { return Ok(None) };
    let (path, layer) = match text.rsplit_once(",layer=") {
        None => (text, 1),
        Some((path, layer)) => {
            let number = layer.trim().parse().ok().filter(|number| (1..=64).contains(number));
            let number = number.ok_or_else(|| {
                let message = format!("`layer` in `§features` must be 1 to 64, got `{layer}`");
                Error::input(Code::Features, message)
            })?;
            (path, number)
        }
    };
    let (path, salt) = (Path::new(path.trim()), context.random::<32>()?);
    taken(path, layer, salt).map(Some).map_err(|error| error.of_vault(path))
}

fn taken(path: &Path, layer: u32, salt: [u8; 32]) -> Result<TakenTrunk> {
    let vault = open_for_reading(path)?;
    let current = Current::of(&vault)?;
    let published = current.published()?;
    let plan = &current.plan;
    let trunk = Trunk::of((plan, &published.weights), &current.genesis.vault_id, layer, salt)?;
    let Event::DpSgd(training) = &current.latest.event else {
        return Err(Error::storage(Code::Damaged, "the network's certificate is of no training"));
    };
    if training.unit == Unit::Subject {
        let message = "the network counts subjects, and a model on its features counts records";
        return Err(Error::refused(Code::Features, message)
            .hint("train a network that counts records: `§mechanism dp-sgd` with `§unit record`"));
    }
    Ok(TakenTrunk {
        trunk,
        training: training.clone(),
        epsilon: plan.target.epsilon.0,
        delta: plan.target.delta.0,
        schema: plan.rows.schema.clone(),
        not_for_release: plan.not_for_release,
        not_covered: plan.not_covered.clone(),
        assumptions: plan.assumptions.clone(),
    })
}
