//! Exports: the published weights for other programs, noted in the ledger before they leave.

use std::io::Cursor;
use std::path::Path;

use efface_vault::Vault;
use npyz::WriterBuilder;
use npyz::npz::NpzWriter;
use npyz::zip::write::FileOptions;
use serde_json::json;

use crate::certify::{hash_bytes, sealed};
use crate::error::{Error, Result};
use crate::plan::{Plan, Task};
use crate::store::{Current, EXPORT, EXPORT_SCHEMA, Published};
use crate::surroundings::Surroundings;

/// The formats of exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// NumPy archive: `coef` (outputs x features) and `intercept` (outputs), f64.
    Npz,
    /// JSON with weights as numbers.
    Json,
    /// safetensors: `coef` and `intercept`, F64.
    Safetensors,
}

impl ExportFormat {
    /// Names users type.
    pub const NAMES: [&'static str; 3] = ["npz", "json", "safetensors"];

    /// The name users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Npz => "npz",
            Self::Json => "json",
            Self::Safetensors => "safetensors",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Npz, Self::Json, Self::Safetensors].into_iter().find(|f| f.name() == name)
    }
}

/// The published model as bytes of a format. The ledger notes the export first: whatever leaves is
/// not covered by later deletions.
///
/// # Errors
/// A vault that cannot be read or written.
pub fn export(
    path: &Path,
    format: ExportFormat,
    surroundings: &mut Surroundings<'_>,
) -> Result<Vec<u8>> {
    let mut vault = Vault::open_for(path, "efface export")?;
    let current = Current::of(&vault)?;
    current.check_keyring(surroundings.keyring)?;
    let published = current.published()?;
    let bytes = rendered(&current, format)?;
    let index = current.head.index + 1;
    let note = json!({
        "schema": EXPORT_SCHEMA,
        "vault": current.genesis.vault_id,
        "at": surroundings.now(),
        "format": format.name(),
        "model": { "version": current.version, "digest": hex::encode(published.digest) },
        "chain": { "index": index, "previous": hex::encode(current.head.hash), "hash": "" },
    });
    let (text, hash) = sealed(note, surroundings.keyring)?;
    let mut transaction = vault.begin()?;
    transaction.append_ledger(EXPORT, &text, &hash_bytes(&hash)?)?;
    transaction.commit()?;
    Ok(bytes)
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
    let outputs = weights.len() / columns.max(1);
    let (mut coef, mut intercept) = (Vec::new(), Vec::new());
    for block in weights.chunks_exact(columns) {
        coef.extend_from_slice(&block[..features]);
        intercept.push(block.get(features).map_or(0.0, |w| w * plan.rows.intercept.0));
    }
    Parts { outputs, features, coef, intercept }
}

fn rendered(current: &Current, format: ExportFormat) -> Result<Vec<u8>> {
    let published = current.published()?;
    let weights = split(&current.plan, &published.weights);
    match format {
        ExportFormat::Json => json_bytes(current, published, &weights),
        ExportFormat::Npz => {
            npz(&weights).map_err(|error| Error::storage("export", error.to_string()))
        }
        ExportFormat::Safetensors => Ok(safetensors(current, published, &weights)),
    }
}

fn json_bytes(current: &Current, published: &Published, weights: &Parts) -> Result<Vec<u8>> {
    let plan = &current.plan;
    let task = match &plan.task {
        Task::Classes(names) => json!({ "classes": names }),
        Task::Range(low, high) => json!({ "target_range": [low.0, high.0] }),
    };
    let rows: Vec<&[f64]> = weights.coef.chunks_exact(weights.features.max(1)).collect();
    let document = json!({
        "schema": "efface.model/0",
        "vault": current.genesis.vault_id,
        "version": current.version,
        "digest": hex::encode(published.digest),
        "salt": hex::encode(published.salt),
        "not_for_release": plan.not_for_release,
        "loss": plan.loss,
        "task": task,
        "row_norm": plan.rows.norm.0,
        "row_map": plan.rows.map,
        "coef": rows,
        "intercept": weights.intercept,
    });
    serde_json::to_vec_pretty(&document)
        .map_err(|error| Error::storage("export", error.to_string()))
}

fn npz(weights: &Parts) -> std::io::Result<Vec<u8>> {
    let mut archive = NpzWriter::new(Cursor::new(Vec::new()));
    let (outputs, features) = (weights.outputs as u64, weights.features as u64);
    let arrays: [(&str, &[u64], &[f64]); 2] = [
        ("coef", &[outputs, features], &weights.coef),
        ("intercept", &[outputs], &weights.intercept),
    ];
    for (name, shape, values) in arrays {
        let mut array =
            archive.array(name, FileOptions::default())?.default_dtype().shape(shape).begin_nd()?;
        array.extend(values.iter().copied())?;
        array.finish()?;
    }
    Ok(archive.zip_writer().finish()?.into_inner())
}

/// The safetensors container: length of the header, header, tensors, all little-endian.
fn safetensors(current: &Current, published: &Published, weights: &Parts) -> Vec<u8> {
    let first = 8 * weights.coef.len();
    let end = first + 8 * weights.intercept.len();
    let header = json!({
        "__metadata__": {
            "vault": current.genesis.vault_id,
            "version": current.version.to_string(),
            "digest": hex::encode(published.digest),
            "salt": hex::encode(published.salt),
            "loss": current.plan.loss,
            "not_for_release": current.plan.not_for_release.to_string(),
        },
        "coef": {
            "dtype": "F64",
            "shape": [weights.outputs, weights.features],
            "data_offsets": [0, first],
        },
        "intercept": { "dtype": "F64", "shape": [weights.outputs], "data_offsets": [first, end] },
    })
    .to_string();
    // Tensors start at a multiple of 8 bytes; the header is filled up with spaces.
    let padded = header.len().next_multiple_of(8);
    let mut bytes = (padded as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.resize(8 + padded, b' ');
    bytes.extend(weights.coef.iter().chain(&weights.intercept).flat_map(|w| w.to_le_bytes()));
    bytes
}
