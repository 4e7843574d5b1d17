//! Whether a model that an erasure withdrew can be followed by another one.

use efface_privacy::event::State;

use super::{MechanismName, Plan};
use crate::error::{Error, Result};

impl Plan {
    /// Whether a new model can follow a withdrawn one in the same vault.
    ///
    /// `noisy-gd` and the `perfect` variant of `descent-to-delete` account every release as a step
    /// further in one history, which a fresh start is not.
    pub(crate) fn can_start_anew(&self) -> bool {
        match self.mechanism {
            MechanismName::NoisyGd => false,
            MechanismName::DescentToDelete => self.state == State::Secret,
            MechanismName::Solve
            | MechanismName::Retrain
            | MechanismName::Ridge
            | MechanismName::ObjectivePerturbation
            | MechanismName::DistributedDescent => true,
        }
    }

    /// The refusal of whatever needs the model that an erasure withdrew.
    pub(crate) fn withdrawn(&self) -> Error {
        let error = Error::refused(
            "withdrawn",
            "the model was withdrawn when records were erased (`--erase-only`): the vault publishes none",
        );
        if self.can_start_anew() {
            error.hint("`efface refresh` trains a model on the remaining records")
        } else {
            error.hint(self.no_way_on())
        }
    }

    /// Refuses to train anew where the accounting cannot go on.
    pub(crate) fn check_can_start_anew(&self) -> Result<()> {
        if self.can_start_anew() {
            return Ok(());
        }
        let message = format!(
            "`{}` counts all releases of a model as one sequence of steps, and the withdrawn \
             model, from which the next step would start, is gone",
            self.mechanism.name()
        );
        Err(Error::refused("withdrawn", message).hint(self.no_way_on()))
    }

    fn no_way_on(&self) -> String {
        format!(
            "train a new model on the remaining records: `{}` cannot continue",
            self.mechanism.name()
        )
    }
}
