//! Claims of averages over a uniform sample.

use super::account::{Account, Bound, Listed, Terms, gaussian_bound, unaccounted};
use super::{ClaimError, Question, Requests};
use crate::accountant::{Accountant, gdp};
use crate::event::DistributedDescent;
use crate::quantity::Delta;

impl Account for DistributedDescent {
    fn constants(&self) -> Vec<(&'static str, String)> {
        let mut list = vec![
            ("sample", self.sample.to_string()),
            ("parts", self.parts.to_string()),
            ("copies", self.copies.to_string()),
            ("distance", self.distance.to_string()),
            ("noise", self.noise.to_string()),
            ("releases", self.joint_releases.to_string()),
        ];
        list.extend(self.iterations.map(|count| ("iterations", count.to_string())));
        list
    }

    fn bound(&self, question: &Question, accountant: Accountant) -> Result<Bound, ClaimError> {
        let terms = Terms {
            requests: Requests::NonAdaptive,
            group: "any".to_owned(),
            reference: "the same mechanism trained on the data after the request, with \
                        a sample of its own, then served the same later requests",
            theorem: "Gaussian mechanism around averages of parts, given the same uniform sample",
        };
        let mu = |world| gdp::mu_distributed_descent(self, world);
        match (accountant, question) {
            (Accountant::Gdp, _) => gaussian_bound(self, question, terms, mu),
            (Accountant::Descent, Question::Indistinguishable { delta }) => {
                let (_, epsilon) = gdp::published_epsilon(self, Delta::new(*delta)?)?;
                let theorem =
                    "neel2020, Theorem 4.5, with C copies all noised and R releases joint";
                let terms = Terms { theorem, ..terms };
                Ok(Bound { epsilon, ..gaussian_bound(self, question, terms, mu)? })
            }
            (Accountant::Descent, _) => Err(unaccounted(
                accountant,
                "the published theorem covers (epsilon, delta)-indistinguishability only",
            )),
            _ => {
                Err(unaccounted(accountant, "only `gdp` and `descent` apply to averages of parts"))
            }
        }
    }

    fn states_counts(&self) -> Result<bool, String> {
        Err("a sample of the records needs a public row count".into())
    }

    fn steps_are_fixed(&self, _: &Listed<'_>) -> Result<(), String> {
        Err("which parts are optimised depends on the sample and the request".into())
    }
}
