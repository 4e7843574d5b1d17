//! A network in another vault whose hidden features a training uses.

use std::collections::BTreeSet;
use std::path::Path;

use efface_privacy::event::{Event, Unit};
use efface_vault::Keyring;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::plan::{TakenTrunk, Trunk};
use crate::settings::Settings;
use crate::store::{Current, open_for_reading};

/// Returns the network that the settings name, read from its vault as it is now: what it published, and the
/// event of that including all deletions so far. `None` if the features do not come from a network.
///
/// # Errors
/// Fails if the vault cannot be read, is damaged, has withdrawn its model, or has no network.
pub(crate) fn named(settings: &Settings, context: &mut Context<'_>) -> Result<Option<TakenTrunk>> {
    let Some((path, layer)) = place(settings)? else { return Ok(None) };
    let salt = context.random::<32>()?;
    taken(path, layer, salt).map(Some).map_err(|error| error.of_vault(path))
}

/// Returns the network's vault and which of its last layers the features are the input of.
fn place(settings: &Settings) -> Result<Option<(&Path, u32)>> {
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
    Ok(Some((Path::new(path.trim()), layer)))
}

/// Refuses records that were deleted from the network, if their names show it: by ids and subjects of the
/// table, and by the key of both vaults.
pub(crate) fn refuse_deleted(
    settings: &Settings,
    ids: Option<&[Box<str>]>,
    subjects: Option<&[Box<str>]>,
    keyring: &Keyring,
) -> Result<()> {
    let Some((path, _)) = place(settings)? else { return Ok(()) };
    let vault = open_for_reading(path)?;
    let vault_id = Current::of(&vault)?.genesis.vault_id;
    for (what, names) in [("record", ids), ("subject", subjects)] {
        let names: BTreeSet<&str> = names.into_iter().flatten().map(AsRef::as_ref).collect();
        let (mut gone, mut first) = (0_u64, None);
        for name in names {
            if vault.tombstone(&keyring.hmac(&vault_id, what, name.as_bytes()))?.is_some() {
                first = first.or(Some(name));
                gone += 1;
            }
        }
        let Some(first) = first else { continue };
        let message = match gone {
            1 => format!("the {what} `{first}` was deleted from the network's vault"),
            _ => format!(
                "{gone} {what}s of the table were deleted from the network's vault, `{first}` the first"
            ),
        };
        return Err(Error::refused(Code::Ids, format!("{message}; nothing was learnt"))
            .hint("leave them out of the table; new records need names that were never used"));
    }
    Ok(())
}

fn taken(path: &Path, layer: u32, salt: [u8; 32]) -> Result<TakenTrunk> {
    let vault = open_for_reading(path)?;
    let current = Current::of(&vault)?;
    let published = current.published()?;
    let plan = &current.plan;
    let trunk = Trunk::of(plan, &published.weights, &current.genesis.vault_id, layer, salt)?;
    let Event::DpSgd(training) = &current.latest.event else {
        return Err(Error::storage(
            Code::Damaged,
            "the network's certificate is not about a training",
        ));
    };
    if training.unit == Unit::Subject {
        let message = "the network counts subjects, but a model on its features counts records";
        return Err(Error::refused(Code::Features, message)
            .hint("train a network that counts records: `§mechanism dp-sgd` with `§unit record`"));
    }
    Ok(TakenTrunk { trunk, training: training.clone(), plan: current.plan })
}
