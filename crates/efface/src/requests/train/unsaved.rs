//! A model that was trained and is in no vault: all of it stays in this process's memory until it is saved.

use std::fmt;
use std::path::Path;

use efface_vault::{Keyring, Vault};
use zeroize::Zeroize;

use super::{First, Learnt, free_name, parts_apart};
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::outcome::Served;
use crate::plan::Plan;
use crate::requests::serve::FIRST;
use crate::rows::residue::ResidueCheck;
use crate::rows::source::Source;
use crate::rows::{Access, InVault, Records, RowStore, Rows};
use crate::settings::Settings;

/// Like [`train`](super::train()), without a vault: certified, but on no disk.
///
/// The certificate says so. Requests need a vault: [`Unsaved::save`] makes it.
///
/// # Errors
/// Like [`train`](super::train()), except for those about its file; also if records are in parts, or the
/// context's rows are elsewhere than in a vault.
pub fn train_unsaved(
    source: &Source<'_>,
    settings: Settings,
    context: &mut Context<'_>,
) -> Result<Unsaved> {
    let mut first = First { unsaved: true, ..First::of(source, settings, None, context)? };
    if source.parts.is_some() {
        return Err(parts_apart());
    }
    if !matches!(context.rows, RowStore::Vault) {
        let message = "a model that is in no vault has its rows in memory";
        return Err(Error::refused(Code::Memory, message).hint("leave out `§memory`"));
    }
    let options = first.reading(source)?;
    first.of_rows(source, &options, context)
}

/// A certified model whose records are in this process's memory and in no vault. The records, and what
/// `secret` state keeps, are overwritten when it is dropped and when [`save`](Self::save) has put them into a
/// vault.
pub struct Unsaved {
    plan: Plan,
    learnt: Learnt,
    /// `None` once they are in a vault.
    records: Option<Records>,
}

impl Drop for Unsaved {
    fn drop(&mut self) {
        // Clears the state kept besides the model; the records clear themselves.
        self.learnt.certified.kept.zeroize();
    }
}

impl fmt::Debug for Unsaved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vault = &self.learnt.genesis.vault_id;
        formatter.debug_struct("Unsaved").field("vault", vault).finish_non_exhaustive()
    }
}

impl Unsaved {
    pub(super) fn of(plan: Plan, learnt: Learnt, records: Records) -> Self {
        Self { plan, learnt, records: Some(records) }
    }

    /// Returns the outcome of the training, as [`save`](Self::save) will return it.
    #[must_use]
    pub fn served(&self) -> &Served {
        &self.learnt.certified.served
    }

    /// Returns whether it is in a vault, and its records no longer here.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        self.records.is_none()
    }

    /// Creates the vault at `output`, with the keys of the training. It appears complete under its name or
    /// not at all; after a failure the model is unchanged.
    ///
    /// # Errors
    /// Fails if the name is taken, the keys are others, the disk is full or fails, or the model was saved
    /// before.
    pub fn save(&mut self, output: &Path, keyring: &Keyring) -> Result<Served> {
        let Learnt { genesis, .. } = &self.learnt;
        if keyring.public_key() != genesis.public_key {
            let message = "these are not the keys that the model was trained with";
            return Err(
                Error::input(Code::Key, message).hint("save it with the keys of the training")
            );
        }
        let Some(records) = &self.records else {
            let message = "the model is in a vault already";
            return Err(Error::refused(Code::Exists, message).hint("copy it with `§efface backup`"));
        };
        free_name(output)?;
        let mut creation = Vault::create(output, genesis, keyring)?;
        if let Some(read) = records.read {
            creation.take_positions(read)?;
        }
        let (nobody, batch) = (ResidueCheck::default(), records.batch());
        let numbers = InVault::of(Access::Changing(&mut creation), &self.plan, &nobody)
            .insert(&batch, FIRST)?;
        // Learning used these numbers.
        if !numbers.into_iter().eq(1..=batch.rows() as i64) {
            let message = "a new vault does not number its records from 1";
            return Err(Error::storage(Code::Damaged, message));
        }
        let served = self.learnt.finish(creation, keyring)?;
        self.records = None;
        Ok(served)
    }
}
