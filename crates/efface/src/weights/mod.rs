//! The weights that a model publishes, and what is needed to use them.

pub(crate) mod predictor;

use efface_formats::FeatureNames;
use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::plan::{Plan, Task, Trunk};
use crate::rows::source::schema_of;

/// Weights as they are published.
pub(crate) struct Published {
    pub(crate) salt: [u8; 32],
    pub(crate) digest: [u8; 32],
    pub(crate) weights: Vec<f64>,
}

/// The published model of a vault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Weights {
    /// Identifier of the vault.
    pub vault: String,
    /// Version of the model.
    pub version: u64,
    /// Records the model is about.
    pub records: u64,
    /// Salted digest of the weights, as certificates state it.
    pub digest: String,
    /// The salt of that digest, in hexadecimal; it is deleted with the weights.
    pub salt: String,
    /// Whether a seed was given.
    pub not_for_release: bool,
    /// Name of the loss, such as `logistic`.
    pub loss: String,
    /// Clipping bound of residuals for `squared`, or width of `huber-hinge`.
    pub loss_width: Option<f64>,
    /// Names of the classes in order, the positive one of two last; `None` for regression.
    pub classes: Option<Vec<String>>,
    /// The declared range of y, for regression: outputs are mapped from [-1, 1] to it.
    pub target_range: Option<(f64, f64)>,
    /// Names of several targets, one per output; `None` if there is only one target.
    pub target_names: Option<Vec<String>>,
    /// Ranges of several targets: each output is mapped from [-1, 1] to its range.
    pub target_ranges: Option<Vec<(f64, f64)>>,
    /// Names of the features if the table has names; with fitted preprocessing, those it makes.
    pub names: Option<Vec<String>>,
    /// Names of the columns that fitted preprocessing reads, if the table has names.
    pub columns: Option<Vec<String>>,
    /// The text of the schema that turns a row into features, or into the input of the feature map.
    pub schema: String,
    /// The map from encoded rows to random features, as text; `None` if `coef` applies to the encoded rows.
    pub feature_map: Option<String>,
    /// The network that makes the features, as JSON, if a network makes them.
    pub trunk: Option<String>,
    /// Text with the layers of a network, the shape of its rows and, if there are several, their number;
    /// `None` if outputs are products with `coef`.
    pub network: Option<String>,
    /// Number of values of an encoded row before the feature map, if there is one.
    pub inputs: Option<u64>,
    /// Names of these values, if the table has names.
    pub input_names: Option<Vec<String>>,
    /// Fitted preprocessing as JSON, which takes raw rows; `None` if the schema encodes them.
    pub preprocessing: Option<String>,
    /// Mean and inverse scale by which each feature was standardised, 0 and 1 for features that are no
    /// numbers; `None` if preprocessing is declared. `coef` applies to standardised rows.
    pub units: Option<Vec<(f64, f64)>>,
    /// Bound on the Euclidean norm of a row.
    pub row_norm: f64,
    /// The row map: `clip`, `unit` or `refuse`.
    pub row_map: String,
    /// Whether the features are the table's numbers unchanged; if not, the schema encodes them.
    pub plain: bool,
    /// Whether records are stored without their zeros; additions must be of the same kind.
    pub sparse: bool,
    /// Whether records belong to subjects.
    pub subjects: bool,
    /// Number of outputs per row, which is the number of rows of `coef`: 1, or one per class of `softmax` and
    /// `squared-classes`, or one per target.
    pub outputs: u64,
    /// Number of features, which is the number of columns of `coef`.
    pub features: u64,
    /// Weights, outputs x features, row by row; for a network all of its weights in order, and for several
    /// networks one after another.
    #[serde(skip)]
    pub coef: Vec<f64>,
    /// Constant added to each output; zeros without an intercept.
    #[serde(skip)]
    pub intercept: Vec<f64>,
}

impl Weights {
    /// Returns the shape of `coef`: outputs x features; the number of weights for a network.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        match self.network {
            Some(_) => vec![self.coef.len() as u64],
            None => vec![self.outputs, self.features],
        }
    }
}

/// Describes a model about `records` records; `plan` has its statistics.
pub(crate) fn described(
    plan: &Plan,
    vault_id: &str,
    version: u64,
    published: &Published,
    records: u64,
) -> Result<Weights> {
    let parts = split(plan, &published.weights);
    let (classes, target_range) = match &plan.task {
        Task::Classes(names) => (Some(names.clone()), None),
        Task::Range(low, high) => (None, Some((low.0, high.0))),
        Task::Targets(_) => (None, None),
    };
    let several = matches!(plan.task, Task::Targets(_));
    let found = plan.statistics()?;
    let (names, plain) = match found {
        Some(found) => (found.feature_names(), false),
        None => {
            let schema = schema_of(&plan.rows.schema)?;
            (schema.feature_names(), schema.is_plain() && plan.feature_map.is_none())
        }
    };
    let map = plan.feature_map.as_ref();
    let inputs = map.map(|_| names.len() as u64);
    let names = match names {
        FeatureNames::Listed(names) => Some(names),
        FeatureNames::Numbered { .. } => None,
    };
    let (names, input_names) = match map {
        Some(map) => (Some(map.feature_names()), names),
        None => (names, None),
    };
    let columns = match found.map(|found| found.frame().feature_columns()) {
        Some(FeatureNames::Listed(names)) => Some(names),
        _ => None,
    };
    let preprocessing = found.map(serde_json::to_string).transpose();
    let preprocessing =
        preprocessing.map_err(|error| Error::storage(Code::Preprocessing, error.to_string()))?;
    Ok(Weights {
        vault: vault_id.to_owned(),
        version,
        records,
        digest: hex::encode(published.digest),
        salt: hex::encode(published.salt),
        not_for_release: plan.not_for_release,
        loss: plan.loss.clone(),
        loss_width: plan.loss_width.map(|width| width.0),
        classes,
        target_range,
        target_names: several.then(|| plan.task.target_names()),
        target_ranges: several.then(|| plan.task.ranges()),
        names,
        columns,
        schema: plan.rows.schema.clone(),
        row_norm: plan.rows.norm.0,
        row_map: plan.rows.map.clone(),
        plain,
        feature_map: map.map(ToString::to_string),
        trunk: plan.trunk.as_ref().map(Trunk::written).transpose()?,
        network: plan.network(),
        inputs,
        input_names,
        preprocessing,
        units: found.map(efface_formats::Fitted::units),
        sparse: plan.rows.sparse,
        subjects: plan.subjects,
        outputs: parts.outputs as u64,
        features: parts.features as u64,
        coef: parts.coef,
        intercept: parts.intercept,
    })
}

/// Coefficients (outputs x features) and intercepts (outputs), separated.
pub(crate) struct Parts {
    pub(crate) outputs: usize,
    pub(crate) features: usize,
    pub(crate) coef: Vec<f64>,
    pub(crate) intercept: Vec<f64>,
}

/// The intercept is the stored weight of its column times the constant.
pub(crate) fn split(plan: &Plan, weights: &[f64]) -> Parts {
    let (columns, features) = (plan.columns(), plan.rows.features as usize);
    let sampled = plan.sampled().map(|sampled| sampled.outputs);
    if let Some(outputs) = sampled.or(plan.sharded().map(|sharded| sharded.outputs)) {
        let outputs = outputs as usize;
        let (coef, intercept) = (weights.to_vec(), vec![0.0; outputs]);
        return Parts { outputs, features, coef, intercept };
    }
    let outputs = weights.len() / columns.max(1);
    let (mut coef, mut intercept) = (Vec::new(), Vec::new());
    for block in weights.chunks_exact(columns) {
        coef.extend_from_slice(&block[..features]);
        intercept.push(block.get(features).map_or(0.0, |w| w * plan.rows.intercept.0));
    }
    Parts { outputs, features, coef, intercept }
}
