//! Claims of an optimum published with noise.

use super::account::{Account, Bound, Listed, Terms, gaussian_bound, unaccounted, unavailable};
use super::{ClaimError, Question, Requests};
use crate::accountant::{Accountant, gdp};
use crate::event::{OutputNoise, Refitted};

const RETRAINED: &str =
    "`retrain` on the data after the request, with the same distance, noise and grid";
const RETRAINED_REFITTED: &str = "`retrain` on the data after the request, which fits its \
    preprocessing again to them, with the same distance, noise and grid";
const NEVER_SAW: &str =
    "the exact optimum on the remaining data, published with the same noise and grid";
const NEVER_SAW_REFITTED: &str = "preprocessing fitted to the remaining data and the exact optimum \
    on them, published with the same noise and grid";

impl Account for OutputNoise {
    fn steps_are_fixed(&self, _: &Listed<'_>) -> Result<(), String> {
        Ok(())
    }

    fn constants(&self) -> Vec<(&'static str, String)> {
        let mut list = vec![
            ("distance", self.distance.to_string()),
            ("noise", self.noise.to_string()),
            ("releases", self.joint_releases.to_string()),
        ];
        list.extend(self.preprocessing.iter().flat_map(Refitted::constants));
        list
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        if accountant != Accountant::Gdp {
            let reason = "only `gdp` applies to an optimum published with noise";
            return Err(unaccounted(accountant, reason));
        }
        let (any, group) = ("any".to_owned(), self.setting.group.to_string());
        let refitted = self.preprocessing.is_some();
        let (group, reference) = match question {
            Question::Differential { .. } => {
                (group, "the same releases from data that differ in the protected records")
            }
            Question::Deletion { requests, .. } => (
                if *requests == Requests::NonAdaptive { any } else { group },
                if refitted { NEVER_SAW_REFITTED } else { NEVER_SAW },
            ),
            _ => (any, if refitted { RETRAINED_REFITTED } else { RETRAINED }),
        };
        if refitted && let Question::Deletion { requests: Requests::PAdaptive(_), .. } = question {
            let reason = "earlier releases hold exact statistics of the deleted records, so that with \
                          fitted preprocessing requests must be `non-adaptive`";
            return Err(unavailable(question, reason));
        }
        let theorem =
            "Gaussian mechanism around an optimum found to a measured distance (strong convexity)";
        let terms = Terms { requests: Requests::Any, group, reference, theorem };
        gaussian_bound(self, question, terms, |world| gdp::mu_output_noise(self, world))
    }

    fn states_counts(&self) -> Result<bool, String> {
        Ok(self.records.is_some())
    }
}
