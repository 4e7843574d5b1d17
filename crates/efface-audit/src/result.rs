//! What an audit found, as data and in words.

pub use efface::audit::{CanaryTest, Certified, Compared, Deleted, Head, SCHEMA, Split, Verdict};
use efface_page::number::{ceiling, counted, floor, near};
use serde::{Deserialize, Serialize};

use super::statistics::{ERROR, Errors, Shown};

/// The method of audits of exact removal.
pub(super) const BIT_BY_BIT: &str = "bit by bit";

/// The outcome of one audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditResult {
    /// Name and version of the form, always [`SCHEMA`].
    pub schema: String,
    /// Identifier of the vault.
    pub vault: String,
    /// Identifier of its latest certificate, which binds the plan.
    pub certificate: String,
    /// Head of its ledger.
    pub head: Head,
    /// Name of the mechanism under audit.
    pub mechanism: String,
    /// Name of the privacy notion tested.
    pub notion: String,
    /// The world that a deletion was compared with.
    pub reference: String,
    /// The records that both worlds were about.
    pub records: Records,
    /// The records that were deleted.
    pub deleted: Deleted,
    /// Steps of learning and of the deletion, if chains were run side by side.
    pub steps: Option<(u64, u64)>,
    /// How both worlds were run: `engine`, one by one; `batched`, as matrix products; `bit by bit`, if
    /// removal is exact; `canaries`, for networks with noise.
    pub method: String,
    /// Runs of each world, by what they were used for.
    pub runs: Split,
    /// All tests that were made.
    pub tests: Vec<Test>,
    /// The largest lower bound on mu of all tests.
    pub mu_lower: f64,
    /// The largest lower bound on epsilon, at the delta certified.
    pub epsilon_lower: f64,
    /// The largest mu that so many runs could have shown.
    pub mu_reach: f64,
    /// The largest epsilon that so many runs could have shown.
    pub epsilon_reach: f64,
    /// What a certificate of the simulated deletion would say; certificates of the vault's own
    /// requests may say less or more.
    pub certified: Vec<Certified>,
    /// Retrainings compared with the model bit by bit: for exact removal, which has no other tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// Canaries in batches under the plan's noise, weighed by their likelihood: for networks with noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub canaries: Vec<CanaryTest>,
    /// The probability with which all bounds hold together; `None` if models are compared bit by bit.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// Wall time of the audit in seconds.
    pub seconds: f64,
    /// Whether the tests refute the certified bound.
    pub verdict: Verdict,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// The records of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Records before the deletion, planted ones included.
    pub used: u64,
    /// Number of records in the vault.
    pub in_vault: u64,
}

/// One test and what its errors show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// What releases are projected to.
    pub direction: String,
    /// What the threshold was chosen for: `mu` or `epsilon`.
    pub chosen_for: String,
    /// Scores above it are taken for deletions.
    pub threshold: f64,
    /// How often it went wrong.
    pub errors: Errors,
    /// The mu the counts look like: no bound.
    pub mu_estimate: Option<f64>,
    /// Lower bounds that the counts prove.
    pub shown: Shown,
}

/// Returns the largest lower bounds of the tests: mu, epsilon.
#[must_use]
pub fn largest(tests: &[Test]) -> (f64, f64) {
    let most = |of: &dyn Fn(&Test) -> f64| tests.iter().map(of).fold(0.0, f64::max);
    (most(&|test| test.shown.mu_lower), most(&|test| test.shown.epsilon_lower))
}

/// Holds the tests against the bounds. `reach` is what tests without an error would have shown. Each
/// lower bound on epsilon is at the delta of `certified`, which all have in common.
#[must_use]
pub fn judge(tests: &[Test], reach: &Shown, certified: &[Certified]) -> Verdict {
    let reach = (!tests.is_empty()).then_some((reach.mu_lower, reach.epsilon_lower));
    Verdict::of_bounds(certified, largest(tests), reach)
}

impl AuditResult {
    /// Returns the outcome in one sentence.
    #[must_use]
    pub fn words(&self) -> String {
        if self.method == BIT_BY_BIT {
            return self.words_of_bits();
        }
        if let Some(words) = self.words_of_canaries() {
            return words;
        }
        let told = match self.deleted.count {
            1 => "a model that deleted the record from one that never saw it".to_owned(),
            n => format!("a model that deleted the {n} records from one that never saw them"),
        };
        let would = self.certified.first().map_or_else(String::new, |bound| {
            let mu = bound.mu.map_or_else(String::new, |mu| format!("mu {}, ", ceiling(mu.0)));
            let (epsilon, delta) = (ceiling(bound.epsilon.0), near(bound.delta.0, 4));
            format!("at most {mu}epsilon {epsilon} at delta {delta}")
        });
        let confidence = format!("with confidence 1 - {ERROR:e}");
        let (mu, epsilon) = (floor(self.mu_lower), floor(self.epsilon_lower));
        match self.verdict {
            Verdict::Consistent if self.mu_lower <= 0.0 && self.epsilon_lower <= 0.0 => format!(
                "over this many runs no test could be shown to distinguish {told} better than \
                 guessing; a \
                 certificate of this deletion would say {would}"
            ),
            Verdict::Consistent => format!(
                "the tests distinguish {told} by at least mu {mu}, epsilon {epsilon}, \
                 {confidence}; a \
                 certificate of this deletion would say {would}"
            ),
            Verdict::Refuted => format!(
                "a test distinguishes {told} by at least mu {mu}, epsilon {epsilon}, \
                 {confidence}; a \
                 certificate of this deletion would say {would}, which is false"
            ),
            Verdict::Undecided => format!(
                "{} runs of each world were counted, on which even tests without an error would \
                 have shown no more than mu {}, epsilon {}; a certificate of this deletion would \
                 say {would}: ask for more runs, or for more time where a limit ended them",
                self.runs.counted,
                floor(self.mu_reach),
                floor(self.epsilon_reach)
            ),
        }
    }

    /// Returns the verdict in words, if weighed runs decide and not the tests.
    fn words_of_canaries(&self) -> Option<String> {
        let shown = (self.mu_lower, self.epsilon_lower);
        let of_tests = self.certified.iter().any(|bound| bound.is_below(shown));
        let told = |one: &CanaryTest| match one.units {
            1 => "one planted canary".to_owned(),
            units => format!("{units} planted canaries"),
        };
        let false_one = self.canaries.iter().find(|one| one.lower > one.certified);
        if let (false, Some(one)) = (of_tests, false_one) {
            let (least, most) = (floor(one.lower), ceiling(one.certified));
            return Some(format!(
                "runs weighed by their likelihood show epsilon {least} or more at delta {}, by six standard                  errors, for {}; a certificate of this deletion would say at most {most}, which is false",
                near(one.delta, 4),
                told(one)
            ));
        }
        let shows_nothing = self.canaries.iter().find(|one| one.lower <= 0.0);
        let (Verdict::Undecided, Some(one)) = (self.verdict, shows_nothing) else { return None };
        Some(format!(
            "{} for {}, weighed by their likelihood, are too few to show anything: ask for more runs, or for \
             more time where a limit ended them",
            counted(one.runs, "run"),
            told(one)
        ))
    }

    /// Returns the verdict in words, for comparisons bit by bit.
    fn words_of_bits(&self) -> String {
        let weights: u64 = self.compared.iter().map(|one| one.weights).sum();
        let differ: u64 = self.compared.iter().map(|one| one.differ).sum();
        let trainings = counted(self.compared.len() as u64, "training");
        match self.verdict {
            Verdict::Refuted => format!(
                "{differ} of {weights} weights have other bits than those of {trainings} from nothing on \
                 the records that were left: removal is not exact"
            ),
            Verdict::Undecided => {
                "no request was followed by a training from nothing: ask for one run or more, and for more \
                 time where a limit ended them"
                    .into()
            }
            Verdict::Consistent => format!(
                "all {weights} weights have the bits of {trainings} from nothing on the records that were \
                 left, in other orders and with other numbers of threads"
            ),
        }
    }
}
