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
    /// The salt of that digest, hexadecimal; it goes with the weights.
    pub salt: String,
    /// True when a seed was given.
    pub not_for_release: bool,
    /// Name of the loss, such as `logistic`.
    pub loss: String,
    /// Where residuals of `squared` are clipped, or the width of `huber-hinge`.
    pub loss_width: Option<f64>,
    /// Names of the classes in order, the positive one of two last; none for regression.
    pub classes: Option<Vec<String>>,
    /// The declared range of y, for regression: outputs are mapped from [-1, 1] to it.
    pub target_range: Option<(f64, f64)>,
    /// The names of several targets, one for each output; none where there is one.
    pub target_names: Option<Vec<String>>,
    /// The range of each of several targets: its output is mapped from [-1, 1] to it.
    pub target_ranges: Option<Vec<(f64, f64)>>,
    /// Names of the features where the table had some; with fitted preprocessing those it makes.
    pub names: Option<Vec<String>>,
    /// Names of the columns that fitted preprocessing takes, where the table had some.
    pub columns: Option<Vec<String>>,
    /// How a row becomes features, or what the feature map takes: the text of a schema.
    pub schema: String,
    /// The map that encoded rows go through to random features, as text; none where `coef` is of the
    /// encoded rows.
    pub feature_map: Option<String>,
    /// The network that makes the features, as JSON, where the map is a network's.
    pub trunk: Option<String>,
    /// The layers of a network, the shape of its rows and, where there are several, their number, as text; none where outputs are products with
    /// `coef`.
    pub network: Option<String>,
    /// Numbers in an encoded row before the feature map, where there is one.
    pub inputs: Option<u64>,
    /// Their names, where the table had some.
    pub input_names: Option<Vec<String>>,
    /// Fitted preprocessing as JSON, which rows go through as they come; none where the schema encodes
    /// them.
    pub preprocessing: Option<String>,
    /// For each feature the mean and the inverse scale that its column's numbers were standardised by, 0
    /// and 1 for what is no number; none where preprocessing is declared. `coef` is of standardised rows.
    pub units: Option<Vec<(f64, f64)>>,
    /// Bound on the norm of a row.
    pub row_norm: f64,
    /// `clip`, `unit` or `refuse`.
    pub row_map: String,
    /// Whether the features are the table's numbers as they are; if not, the schema encodes them.
    pub plain: bool,
    /// Whether records are stored without their zeros; additions must be of the same kind.
    pub sparse: bool,
    /// Whether records belong to subjects.
    pub subjects: bool,
    /// Numbers that the model gives for a row, rows of `coef`: 1, or one for each class of `softmax` and `squared-classes`, or for each target.
    pub outputs: u64,
    /// Numbers of a row, columns of `coef`.
    pub features: u64,
    /// outputs x features, row by row; of a network all of its weights, in order, and of several one after another.
    #[serde(skip)]
    pub coef: Vec<f64>,
    /// What is added to each output; zeros without an intercept.
    #[serde(skip)]
    pub intercept: Vec<f64>,
}

impl Weights {
    /// The shape of `coef`: outputs x features; the number of weights for a network.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        match self.network {
            Some(_) => vec![self.coef.len() as u64],
            None => vec![self.outputs, self.features],
        }
    }
}

/// What is told of a model about so many `records`; `plan` has its statistics.
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

/// Coefficients and intercepts apart: outputs x features, and outputs.
pub(crate) struct Parts {
    pub(crate) outputs: usize,
    pub(crate) features: usize,
    pub(crate) coef: Vec<f64>,
    pub(crate) intercept: Vec<f64>,
}

/// The stored weight of the intercept's column times the constant is what is added to a margin.
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
