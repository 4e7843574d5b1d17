//! Rows as bytes in the vault and as matrices in memory.

use efface_learn::Dataset;
use efface_matrix::{Matrix, Row};
use efface_vault::{ReadError, Vault};

use crate::error::{Error, Result};
use crate::plan::Plan;

/// The bytes of a row: little-endian f32 for dense, pairs of u32 and f32 for sparse rows. The
/// intercept is part of the row.
pub(crate) fn encode(row: Row<'_>, bytes: &mut Vec<u8>) {
    bytes.clear();
    match row {
        Row::Dense(values) => {
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        Row::Sparse { indices, values } => {
            for (index, value) in indices.iter().zip(values) {
                bytes.extend(index.to_le_bytes());
                bytes.extend(value.to_le_bytes());
            }
        }
    }
}

/// An error while scanning, the engine's or the vault's.
struct Stopped(Error);

impl From<ReadError> for Stopped {
    fn from(error: ReadError) -> Self {
        Self(error.into())
    }
}

/// Reads every record of the vault (or of the transaction in progress) into memory.
pub(crate) fn load(vault: &Vault, plan: &Plan) -> Result<Dataset> {
    let columns = plan.columns();
    let x = if plan.rows.sparse { Matrix::sparse(columns) } else { Matrix::dense(columns) };
    let mut data = Dataset::new(x, Vec::new()).map_err(damaged)?;
    let (mut values, mut indices): (Vec<f32>, Vec<u32>) = (Vec::new(), Vec::new());
    let sparse = plan.rows.sparse;
    vault
        .scan_features(|_, bytes, target| -> std::result::Result<(), Stopped> {
            decode(bytes, sparse, &mut indices, &mut values).map_err(Stopped)?;
            let row = if sparse {
                Row::Sparse { indices: &indices, values: &values }
            } else {
                Row::Dense(&values)
            };
            data.push(row, target).map_err(|error| Stopped(damaged(error)))?;
            Ok(())
        })
        .map_err(|Stopped(error)| error)?;
    Ok(data)
}

fn decode(bytes: &[u8], sparse: bool, indices: &mut Vec<u32>, values: &mut Vec<f32>) -> Result<()> {
    indices.clear();
    values.clear();
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || sparse && !words.len().is_multiple_of(2) {
        return Err(damaged("a row has a wrong number of bytes"));
    }
    if sparse {
        for pair in words.chunks_exact(2) {
            indices.push(u32::from_le_bytes(pair[0]));
            values.push(f32::from_le_bytes(pair[1]));
        }
    } else {
        values.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
    }
    Ok(())
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::storage("damaged", format!("the vault holds a row that cannot be read: {error}"))
}

/// Weights as little-endian f64.
pub(crate) fn weight_bytes(weights: &[f64]) -> Vec<u8> {
    weights.iter().flat_map(|weight| weight.to_le_bytes()).collect()
}

/// The way back of [`weight_bytes`], checked against the plan.
pub(crate) fn weights_of(bytes: &[u8], plan: &Plan) -> Result<Vec<f64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() || words.len() != plan.parameters() {
        return Err(Error::storage(
            "damaged",
            format!("the vault's model must have {} weights", plan.parameters()),
        ));
    }
    let weights: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
    if weights.iter().all(|w| w.is_finite()) {
        Ok(weights)
    } else {
        Err(Error::storage("damaged", "the vault's model holds a weight that is not finite"))
    }
}
