//! The mechanism's own constants, and what the search for them starts from.

use efface_learn::Constants;
use efface_learn::risk::output_noise;
use efface_privacy::calibrate::least_count;
use efface_privacy::certificate::Origin;
use efface_privacy::event::{Composed, Event, Given, Setting};
use efface_privacy::sampler::{Grid, grid_for};

use super::constants::Constants as List;
use super::{
    Choices, MechanismName, Schedule, Target, descent, distributed_descent, noisy_gd,
    objective_perturbation, ridge, solve,
};
use crate::error::{Error, Result};

/// Finds them, and lists them with their origins.
pub(super) fn schedule(
    choices: &Choices,
    public: &Public<'_>,
    list: &mut List,
) -> Result<Schedule> {
    match choices.mechanism {
        MechanismName::Solve | MechanismName::Retrain => solve::schedule(choices, public, list),
        MechanismName::NoisyGd => noisy_gd::schedule(choices, public, list),
        MechanismName::Ridge => ridge::schedule(public, list),
        MechanismName::ObjectivePerturbation => {
            objective_perturbation::schedule(choices, public, list)
        }
        MechanismName::DistributedDescent => distributed_descent::schedule(choices, public, list),
        MechanismName::DescentToDelete => descent::schedule(choices, public, list),
    }
}

/// The excess risk that noise may cost unless the user says otherwise.
pub(crate) const EXCESS_RISK: f64 = 1e-3;

/// The fewest steps of a request with `ok(steps)`; none when even 2^32 are not enough.
pub(crate) fn least_steps(ok: impl FnMut(u64) -> Result<bool>) -> Result<Option<u64>> {
    least_count(1 << 32, ok)
}

/// Public numbers a schedule is computed from.
pub(super) struct Public<'a> {
    pub(super) constants: &'a Constants,
    pub(super) setting: &'a Setting,
    pub(super) target: &'a Target,
    pub(super) records: u64,
    /// Where the numbers of the normaliser come from.
    pub(super) normalizer_origin: Origin,
    /// The same with delta.
    pub(super) size_origin: Origin,
    pub(super) given: Option<&'a Given>,
}

impl Public<'_> {
    /// The event on top of what was given, once as many records are deleted as its figures are
    /// for. Later requests that delete more are accounted as they come.
    pub(super) fn composed(&self, inner: Event) -> Event {
        let Some(given) = self.given else { return inner };
        let removed = Some(given.group.max(self.setting.group));
        Event::Composed(Composed { given: given.clone(), removed, inner: Box::new(inner) })
    }

    pub(super) fn smooth(&self) -> f64 {
        self.constants.total_smoothness()
    }

    /// The most output noise whose bound on the excess risk is what it may cost, for a distance of
    /// `unit` times the noise.
    pub(super) fn affordable(&self, risk: Option<f64>, unit: f64) -> f64 {
        // The risk is a multiple of sigma^2 when distance and grid are multiples of sigma.
        let fine = 0.5_f64.powi(FINENESS as i32);
        let per_square = output_noise(self.constants, unit, 1.0, fine);
        (risk.unwrap_or(EXCESS_RISK) / per_square).sqrt() * (1.0 - 1e-6)
    }

    pub(super) fn infeasible(&self, what: &str) -> Error {
        let t = self.target;
        Error::refused(
            "infeasible",
            format!("{} with epsilon {} cannot be met {what}", t.notion.name(), t.epsilon),
        )
    }
}

/// Binary digits of the grid below the leading one of the noise.
const FINENESS: u32 = 30;

/// The grid for a noise, which is rounded up to a multiple of it.
pub(super) fn grid(noise: f64) -> Result<Grid> {
    grid_for(noise, FINENESS).map_err(|error| Error::refused("noise", error.to_string()))
}
