//! What an audit found, as data and in words.

use efface::Claim;
use efface_page::number::{ceiling, counted, floor, near};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use super::statistics::{ERROR, Errors, Shown};

/// The method of audits of exact removal.
pub(super) const BIT_BY_BIT: &str = "bit by bit";

/// Name and version of the form of [`AuditResult`].
pub const SCHEMA: &str = "efface.audit/1";

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
    /// The records deleted.
    pub deleted: Deleted,
    /// Steps of learning and of the deletion, where chains were run side by side.
    pub steps: Option<(u64, u64)>,
    /// How both worlds were run: `engine`, one by one; `batched`, as matrix products; `bit by bit`, where
    /// removal is exact; `canaries`, for networks with noise.
    pub method: String,
    /// Runs of each world, by what they were used for.
    pub runs: Split,
    /// Every test made.
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
    /// Trainings anew beside the model, bit by bit: for exact removal, which has no other tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// Canaries in batches under the plan's noise, weighed by their likelihood: for networks with noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub canaries: Vec<CanaryTest>,
    /// The probability with which all bounds hold together; none where models are compared bit by bit.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// Wall time of the audit in seconds.
    pub seconds: f64,
    /// Whether the tests refute the certified bound.
    pub verdict: Verdict,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// The last entry of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Index of the entry, counted from 0.
    pub index: u64,
    /// Hash of the entry, 64 hexadecimal digits.
    pub hash: String,
}

/// The records of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Records before the deletion, planted ones included.
    pub used: u64,
    /// Records in the vault.
    pub in_vault: u64,
}

/// The records that were deleted in one world. Ids and subjects are not named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deleted {
    /// Number of records deleted in one request.
    pub count: u64,
    /// How they were found.
    pub found: String,
    /// Their positions in the vault's order, from 0; none for planted ones.
    pub positions: Vec<u64>,
}

/// What runs of each world were used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// To find the direction of the means.
    pub direction: u64,
    /// Runs used to choose the thresholds.
    pub threshold: u64,
    /// Runs counted in the bounds.
    pub counted: u64,
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

/// A training anew on the records that were left, beside the model that deleted the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// After which of the audit's requests, from 1; none for the model before the first one.
    pub request: Option<u64>,
    /// Records that were left.
    pub records: u64,
    /// Threads of the training.
    pub threads: u64,
    /// Weights that were compared.
    pub weights: u64,
    /// Weights of other bits.
    pub differ: u64,
}

/// What an attacker wins who sees every sum that a network with noise releases, and knows the canaries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanaryTest {
    /// Canaries that are deleted together, each a unit of its own.
    pub units: u64,
    /// Trainings that were counted.
    pub runs: u64,
    /// How many canaries there were in these, and with which rate they were drawn, so that large losses are
    /// not rare: each training is weighed by how much less likely it is with `units` at the plan's rate.
    pub drawn: (u64, f64),
    /// The epsilon, at the certified delta, that the runs give: no bound.
    pub estimate: f64,
    /// The least that is consistent with them, by six standard errors of delta.
    pub lower: f64,
    /// The epsilon that is certified.
    pub certified: f64,
    /// delta of both, in (0, 1).
    pub delta: f64,
}

/// A certified upper bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certified {
    /// Name of the accountant behind the bound.
    pub accountant: String,
    /// mu, where the bound is one of Gaussian DP.
    pub mu: Option<Decimal>,
    /// epsilon of (epsilon, delta), rounded up.
    pub epsilon: Decimal,
    /// delta of (epsilon, delta), in (0, 1).
    pub delta: Decimal,
}

/// What an audit says about the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No test contradicts it, and one could have.
    Consistent,
    /// A test does.
    Refuted,
    /// Too few runs were counted for any test to contradict it.
    Undecided,
}

impl Verdict {
    /// The verdict as one word for tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Consistent => "consistent",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

/// The largest lower bounds of the tests: mu, epsilon.
#[must_use]
pub fn largest(tests: &[Test]) -> (f64, f64) {
    let most = |of: &dyn Fn(&Test) -> f64| tests.iter().map(of).fold(0.0, f64::max);
    (most(&|test| test.shown.mu_lower), most(&|test| test.shown.epsilon_lower))
}

/// Holds the tests against the bounds. `reach` is what tests without an error would have shown. Each
/// lower bound on epsilon is at the delta of `certified`, which all have in common.
#[must_use]
pub fn judge(tests: &[Test], reach: &Shown, certified: &[Certified]) -> Verdict {
    let (mu, epsilon) = largest(tests);
    let above = |mu: f64, epsilon: f64| {
        certified
            .iter()
            .any(|bound| bound.mu.is_some_and(|limit| mu > limit.0) || epsilon > bound.epsilon.0)
    };
    if above(mu, epsilon) {
        Verdict::Refuted
    } else if tests.is_empty() || !above(reach.mu_lower, reach.epsilon_lower) {
        Verdict::Undecided
    } else {
        Verdict::Consistent
    }
}

impl Verdict {
    /// What comparisons bit by bit come to: undecided without one after a request.
    #[must_use]
    pub fn of_bits(compared: &[Compared]) -> Self {
        if compared.iter().any(|one| one.differ > 0) {
            Self::Refuted
        } else if compared.iter().any(|one| one.request.is_some()) {
            Self::Consistent
        } else {
            Self::Undecided
        }
    }

    /// The graver of both: refuted, undecided, consistent.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Refuted, _) | (_, Self::Refuted) => Self::Refuted,
            (Self::Undecided, _) | (_, Self::Undecided) => Self::Undecided,
            _ => Self::Consistent,
        }
    }

    /// What canaries come to: undecided where so few runs show nothing.
    #[must_use]
    pub fn of_canaries(canaries: &[CanaryTest]) -> Self {
        if canaries.iter().any(|one| one.lower > one.certified) {
            Self::Refuted
        } else if canaries.iter().all(|one| one.lower > 0.0) && !canaries.is_empty() {
            Self::Consistent
        } else {
            Self::Undecided
        }
    }
}

impl Certified {
    /// The numbers of a claim.
    #[must_use]
    pub fn of(claim: &Claim) -> Self {
        Self {
            accountant: claim.accountant.name().to_owned(),
            mu: claim.mu,
            epsilon: claim.epsilon,
            delta: claim.delta.unwrap_or(Decimal(0.0)),
        }
    }
}

impl AuditResult {
    /// The outcome in one sentence.
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

    /// The same where weighed runs decide, and not the tests.
    fn words_of_canaries(&self) -> Option<String> {
        let of_tests = self.certified.iter().any(|bound| {
            bound.mu.is_some_and(|limit| self.mu_lower > limit.0)
                || self.epsilon_lower > bound.epsilon.0
        });
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

    /// The same of comparisons bit by bit.
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
