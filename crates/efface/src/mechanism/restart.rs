//! Whether another model can follow one that an erasure withdrew.

use crate::error::{Code, Error, Result};
use crate::plan::Plan;

impl Plan {
    /// Returns whether a new model can follow a withdrawn one in the same vault.
    pub(crate) fn can_restart(&self) -> bool {
        !self.conduct().never_restarts
    }

    /// Returns the error for whatever needs the model that an erasure withdrew.
    pub(crate) fn withdrawn(&self) -> Error {
        let error = Error::refused(
            Code::Withdrawn,
            "the model was withdrawn when records were erased (`§erase-only`): the vault publishes none",
        );
        if self.can_restart() {
            error.hint("`§efface refresh` trains a model on the remaining records")
        } else {
            error.hint(self.no_way_on())
        }
    }

    /// Returns the error if no record is left either, so that nothing can be trained or added in this vault.
    pub(crate) fn spent(&self) -> Error {
        Error::refused(
            Code::Withdrawn,
            "all records were erased, and the model with them: there is nothing left to train on or to add to",
        )
        .hint("train a new model in a vault of its own: `§efface train`; this one keeps the ledger of what was erased")
    }

    /// Refuses to train again if the accounting cannot continue.
    pub(crate) fn check_can_restart(&self) -> Result<()> {
        if self.can_restart() {
            return Ok(());
        }
        let message = format!(
            "`{}` counts all releases of a model as one sequence of steps, and the withdrawn \
             model, from which the next step would start, is gone",
            self.mechanism.name()
        );
        Err(Error::refused(Code::Withdrawn, message).hint(self.no_way_on()))
    }

    fn no_way_on(&self) -> String {
        format!(
            "train a new model on the remaining records: `{}` cannot continue",
            self.mechanism.name()
        )
    }
}
