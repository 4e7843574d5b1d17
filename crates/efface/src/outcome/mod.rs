//! What operations give back to the faces, ready to be shown or written as JSON.

pub(crate) mod audit;
pub(crate) mod notice;

use std::sync::Arc;

use efface_learn::mechanism::Evidence;
use efface_learn::solver::Solver;
use efface_privacy::claim::Claim;
use efface_privacy::event::Unit;
use serde::{Deserialize, Serialize, Serializer};

use crate::outcome::notice::Notice;
use crate::plan::Ids;
use crate::weights::Weights;

/// What faces call the kind of a request that erases without a release.
pub(crate) const ERASE: &str = "erase";

/// A served request (or the first training).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Served {
    /// The request's id.
    pub request_id: String,
    /// `train`, `delete`, `add`, `update` or `refresh`; `erase` for an erasure without a release.
    pub kind: String,
    /// Version of the model after.
    pub version: u64,
    /// Records touched; none for a request served before whose certificate hides the number.
    pub records: Option<u64>,
    /// Records left in the model.
    pub remaining: u64,
    /// True when nothing new was done: the request (or each of its records) was served before.
    pub replayed: bool,
    /// Position of the certificate in the ledger.
    pub index: u64,
    /// Position of the ledger's head after.
    pub head_index: u64,
    /// Hash of the ledger's head after; keep it elsewhere to notice a restored old vault.
    pub head: String,
    /// Claims of the certificate.
    pub claims: Vec<Claim>,
    /// What fitted preprocessing decided for each column, a line each, after a training; as in
    /// [`Status::preprocessing`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preprocessing: Vec<String>,
    /// The certificate, or the entry of an erasure; canonical JSON.
    #[serde(skip)]
    pub certificate: String,
    /// The weights that were published, as [`weights`](crate::weights()) tells them; none if nothing was.
    #[serde(skip)]
    pub weights: Option<Weights>,
    /// Private: work done and what was measured. It follows from the model before, is told once to
    /// whoever asked for the request and stored nowhere; none for a request served before.
    pub work: Option<Work>,
    /// Things the user should know.
    pub notices: Vec<Notice>,
}

/// What a request cost and reached; private, since it depends on the data.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Work {
    /// Passes over the data for gradients.
    pub passes: u64,
    /// Passes that built a Hessian.
    pub hessians: u64,
    /// Hessian-vector products.
    pub hessian_products: u64,
    /// Whether a Hessian that was kept before the request steered its first steps, or its only one.
    pub by_kept_hessian: bool,
    /// Noisy steps taken.
    pub steps: u64,
    /// Bound reached on the distance to the optimum; none for `noisy-gd`.
    pub distance: Option<f64>,
    /// The solver that finished.
    pub solver: Option<String>,
    /// Rows whose norm was above the bound and was shortened.
    pub clipped: Option<u64>,
}

impl Work {
    /// What a mechanism did, and how many rows were shortened before.
    pub(crate) fn of(evidence: &Evidence, clipped: Option<u64>) -> Self {
        let rest = Self { clipped, ..Self::default() };
        let solver = match evidence {
            Evidence::Optimum { solver, .. } => solver.name(),
            _ => Solver::Newton.name(),
        };
        match *evidence {
            Evidence::Optimum {
                distance,
                passes,
                hessians,
                hessian_products,
                by_kept_hessian,
                ..
            }
            | Evidence::Remembered {
                distance,
                passes,
                hessians,
                hessian_products,
                by_kept_hessian,
            } => Self {
                passes,
                hessians,
                hessian_products,
                by_kept_hessian,
                distance: Some(distance),
                solver: Some(solver.to_owned()),
                ..rest
            },
            Evidence::Parts { distance, passes, .. } => {
                Self { passes, distance: Some(distance), ..rest }
            }
            Evidence::Sampled { steps, passes } => Self { passes, steps, ..rest },
            Evidence::Steps { passes, steps, .. } => Self { passes, steps, ..rest },
            Evidence::Sums { .. } => rest,
        }
    }
}

/// A Hessian that is kept for the next request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// Version of the model whose next request it is for.
    pub version: u64,
    /// Records that it is over.
    pub records: u64,
    /// Weights that it is of.
    pub weights: u64,
    /// What it takes in the vault.
    pub bytes: u64,
    /// Whether it was kept before, so that nothing was done.
    pub already: bool,
}

/// What a delete request would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DryRun {
    /// Says whether records are named by ids of their own or by position.
    pub named_by: Ids,
    /// Records it would delete.
    pub records: u64,
    /// Ids of the records it would delete.
    pub ids: Vec<String>,
    /// Records that would remain.
    pub remaining: u64,
    /// Ids that were deleted before.
    pub already_deleted: Vec<String>,
    /// Steps per request of `noisy-gd` it would take.
    pub steps: Option<u64>,
    /// Claims it would earn.
    pub claims: Vec<Claim>,
}

/// What `efface status` shows of a vault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// Identifier of the vault.
    pub vault: String,
    /// UTC time when the vault was made, RFC 3339.
    pub created_at: String,
    /// The mechanism, loss and state by name.
    pub mechanism: String,
    /// Name of the loss, such as `logistic`.
    pub loss: String,
    /// Names of the classes, the positive one last; none of a regression.
    pub classes: Vec<String>,
    /// `perfect` or `secret`.
    pub state: String,
    /// True when a seed was given.
    pub not_for_release: bool,
    /// True when records were erased without a release: there is no model, and the version is that
    /// of the latest.
    pub withdrawn: bool,
    /// Records in the vault now.
    pub records: u64,
    /// Says whether records are named by ids of their own or by position.
    pub named_by: Ids,
    /// K of the name `row:K` that the next record gets, if records are named by position.
    pub next_row: Option<u64>,
    /// Distinct subjects now.
    pub subjects: u64,
    /// The most records it may have.
    pub capacity: Option<u64>,
    /// Version of the model.
    pub version: u64,
    /// Number of weights, all outputs together.
    pub parameters: u64,
    /// The map from rows to random features, as text; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<String>,
    /// What fitted preprocessing decided for each column, a line each; empty without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preprocessing: Vec<String>,
    /// Requests served, by kind.
    pub requests: Vec<(String, u64)>,
    /// Exports that the ledger records.
    pub exports: Exports,
    /// Releases left before a refresh, in `secret` state or under DP.
    pub releases_left: Option<u64>,
    /// Records or subjects that may be deleted before a network is trained anew; none for other
    /// models.
    pub deletions_left: Option<u64>,
    /// Which of both they are.
    pub deletions_of: Option<Unit>,
    /// What is left of the bound that serves requests without reading all rows. Depends on
    /// deleted records: for the operator alone.
    pub memory: Option<MemoryStatus>,
    /// Whether a Hessian is kept for the next request.
    pub prepared: bool,
    /// What the plan's constants warn of, for the records there are now.
    pub notices: Vec<Notice>,
    /// Claims of the latest certificate; none if the model is withdrawn.
    pub claims: Vec<Claim>,
    /// For each notion, whether further requests can be served, and why not.
    pub notions: Vec<NotionStatus>,
    /// Index and hash of the ledger's head.
    pub head: (u64, String),
    /// Short name of the signing key.
    pub key_id: String,
}

/// What is left of a Newton memory's bound. Private.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryStatus {
    /// Bound on the distance of the kept weights to the optimum.
    pub distance: f64,
    /// tau: the distance at which a pass over all rows is due.
    pub limit: f64,
    /// Part of the limit that is left.
    pub margin: f64,
    /// Records changed since the last pass over all rows.
    pub changes: u64,
    /// About how many more single records may change before the next pass; an estimate.
    pub expected_changes: u64,
}

/// Whether a notion can still be served.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotionStatus {
    /// Name of the privacy notion.
    pub notion: String,
    /// Whether the next request can earn it.
    pub available: bool,
    /// What is spent, or why not.
    pub note: String,
}

impl NotionStatus {
    /// As rows of a table: the notion, yes or no, and the note; one row for all if they say the same.
    #[must_use]
    pub fn table(notions: &[Self]) -> Vec<[String; 3]> {
        let row = |name: &str, of: &Self| {
            [name, if of.available { "yes" } else { "no" }, &of.note].map(str::to_owned)
        };
        match notions {
            [first, rest @ ..]
                if rest
                    .iter()
                    .all(|o| (o.available, &o.note) == (first.available, &first.note)) =>
            {
                vec![row("any notion", first)]
            }
            _ => notions.iter().map(|notion| row(&notion.notion, notion)).collect(),
        }
    }
}

/// The exports of a model: no later request reaches these copies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exports {
    /// How many the ledger notes.
    pub count: u64,
    /// The latest export; none if there was none.
    pub latest: Option<ExportNote>,
}

/// One export, as the ledger remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportNote {
    /// Version exported.
    pub version: u64,
    /// UTC time in the form of RFC 3339.
    pub at: String,
    /// Name of the format: npz, json or safetensors.
    pub format: String,
}

/// One ledger entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Index in the ledger, counted from 0.
    pub index: u64,
    /// `train`, `delete`, ..., `erase`, `export` or `checkpoint`.
    pub kind: String,
    /// UTC time in the form of RFC 3339.
    pub at: String,
    /// Whether that is before the time of an earlier entry: a clock was wrong or was set back.
    pub backwards: bool,
    /// Version of the model after.
    pub version: u64,
    /// The request's id, for certificates.
    pub request_id: Option<String>,
    /// Hash of the entry, 64 hexadecimal digits.
    pub hash: String,
}

impl Entry {
    /// Whether records that were there after the entry `before` are gone since this one, so that what
    /// was computed from them outlives them.
    #[must_use]
    pub fn outdates(&self, before: u64) -> bool {
        self.index > before && matches!(self.kind.as_str(), "delete" | "update" | "erase")
    }
}

/// One prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// Position in the input, counted from 0.
    pub position: u64,
    /// The id, if the input has one.
    pub id: Option<String>,
    /// The class label, or the number; empty if there are several targets.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prediction: String,
    /// Each of several targets and its prediction, in its units and in the order of training; else
    /// empty.
    #[serde(serialize_with = "by_name", skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<(Arc<str>, f64)>,
    /// Each class and its probability, in the order of the model's classes; empty for regression and
    /// hinge.
    #[serde(serialize_with = "by_name")]
    pub probabilities: Vec<(Arc<str>, f64)>,
}

fn by_name<S: Serializer>(list: &[(Arc<str>, f64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(list.iter().map(|(name, value)| (name.as_ref(), value)))
}

/// Quality on a table with labels.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Number of rows that were evaluated.
    pub rows: u64,
    /// How many of them have a class that the model does not know; they are counted as wrong.
    pub unknown: u64,
    /// Share of right classes.
    pub accuracy: Option<f64>,
    /// Share of the most frequent of the model's classes: the accuracy of always answering it.
    pub majority: Option<f64>,
    /// Mean negative log-likelihood in nats, over rows of known classes.
    pub log_loss: Option<f64>,
    /// Area under the ROC curve, over rows of known classes.
    pub auc: Option<f64>,
    /// Root mean squared error, in units of y.
    pub rmse: Option<f64>,
    /// The same of always answering the mean of these rows.
    pub mean_rmse: Option<f64>,
    /// Mean absolute error, in units of y.
    pub mae: Option<f64>,
    /// The errors of each of several targets, in the order of training; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetErrors>,
    /// What to know of the rows: texts in columns of numbers and dates that count as missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// The errors of one of several targets on a table, in its units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetErrors {
    /// Its name.
    pub name: String,
    /// Root mean squared error.
    pub rmse: f64,
    /// The same of always answering the mean of these rows.
    pub mean_rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
}
