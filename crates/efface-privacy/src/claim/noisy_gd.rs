//! Claims of noisy gradient descent.

use super::account::{Account, Bound, Terms, gaussian_bound, unaccounted};
use super::{ClaimError, Question, Requests};
use crate::accountant::{Accountant, gdp};
use crate::event::{NoisyGd, Normalizer, Phase, Setting, State};
use crate::quantity::Decimal;

impl Account for NoisyGd {
    fn setting(&self) -> &Setting {
        &self.setting
    }

    fn releases(&self) -> u64 {
        self.releases
    }

    fn joint_releases(&self) -> u64 {
        1
    }

    fn state(&self) -> State {
        State::Perfect
    }

    fn grid(&self) -> Option<Decimal> {
        Some(self.grid)
    }

    fn constants(&self) -> Vec<(&'static str, String)> {
        vec![
            ("eta", self.step.to_string()),
            ("step-noise", self.noise.to_string()),
            ("steps", self.learning.to_string()),
        ]
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        if accountant != Accountant::Gdp {
            return Err(unaccounted(accountant, "noisy gradient descent has `gdp` only"));
        }
        let group = self.setting.group.to_string();
        let (group, reference) = match question {
            Question::Differential { .. } => {
                (group, "the same releases from data that differ in the protected records")
            }
            Question::Deletion { .. } => (
                group,
                "the same schedule of steps with records of one person among the request's, at most \
                 the stated group, absent from the start",
            ),
            _ => (
                self.differing().to_string(),
                "all steps of learning and of every request from the same start, on the data as \
                 they are after the request",
            ),
        };
        let theorem = "shifted interpolation (Bok, Su, Altschuler, ICML 2024)";
        let terms = Terms { requests: Requests::NonAdaptive, group, reference, theorem };
        gaussian_bound(self, question, terms, |world| gdp::mu_noisy_gd(self, world))
    }

    fn states_counts(&self) -> Result<bool, String> {
        let Normalizer::Fixed { capacity, .. } = self.setting.normalizer else {
            return Err("under `mean` the row count is public".into());
        };
        let earlier = self.phases.split_last().map_or(&[][..], |(_, earlier)| earlier);
        Ok(self.phases.iter().any(|phase| phase.records.is_some())
            || earlier.iter().any(|p| p.only_then != capacity || p.only_now != capacity))
    }

    /// The steps of every request must be the listed constant `removal-steps`.
    fn steps_are_fixed(
        &self,
        listed: &dyn Fn(&'static str) -> Result<String, String>,
    ) -> Result<(), String> {
        let listed = listed("removal-steps")?;
        let fixed = listed.parse::<u64>().ok();
        let follows =
            |phase: &Phase| fixed.and_then(|k| k.checked_mul(phase.releases)) == Some(phase.steps);
        if self.phases.iter().skip(1).all(follows) {
            return Ok(());
        }
        Err(format!(
            "`removal-steps` is `{listed}`, which the event's steps do not follow: a number that \
             follows the request tells its size"
        ))
    }
}

impl NoisyGd {
    /// The largest number of records in which an earlier phase's data and the latest differ.
    fn differing(&self) -> u64 {
        let differing = self.phases.iter().map(|p| p.only_then.saturating_add(p.only_now));
        differing.max().unwrap_or(0)
    }
}
