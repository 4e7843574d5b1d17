//! Rows and weights as the bytes that a vault keeps.

use efface_learn::Dataset;
use efface_matrix::Row;

use crate::error::{Code, Error, Result, Stopped, damaged};
use crate::plan::Plan;

/// Encodes a row: little-endian f32 for dense rows, pairs of u32 and f32 for sparse rows. The intercept is
/// part of the row. The targets after the first follow as f64, then the row's weight if records have weights.
pub(crate) fn encode(data: &Dataset, row: usize, weighted: bool, bytes: &mut Vec<u8>) {
    bytes.clear();
    match data.x().row(row) {
        Row::Dense(values) => {
            bytes.extend_from_slice(bytemuck::cast_slice(values));
            for value in bytes.as_chunks_mut::<4>().0 {
                *value = u32::from_ne_bytes(*value).to_le_bytes();
            }
        }
        Row::Sparse { indices, values } => {
            for (index, value) in indices.iter().zip(values) {
                bytes.extend(index.to_le_bytes());
                bytes.extend(value.to_le_bytes());
            }
        }
    }
    let further = data.targets_of(row).iter().skip(1);
    bytes.extend(further.flat_map(|target| target.to_le_bytes()));
    if weighted {
        bytes.extend(data.sample_weights()[row].to_le_bytes());
    }
}

/// Returns what [`encode`] writes: borrowed from memory if it is the row alone, else written to `bytes`.
pub(crate) fn encoded<'b>(
    data: &'b Dataset,
    row: usize,
    weighted: bool,
    bytes: &'b mut Vec<u8>,
) -> &'b [u8] {
    match data.x().row(row) {
        Row::Dense(values)
            if cfg!(target_endian = "little") && !weighted && data.targets() == 1 =>
        {
            bytemuck::cast_slice(values)
        }
        _ => {
            encode(data, row, weighted, bytes);
            bytes
        }
    }
}

/// Splits what [`encode`] wrote into row and targets, and the weight.
pub(crate) fn split_weight(
    bytes: &[u8],
    weighted: bool,
) -> std::result::Result<(&[u8], f64), Stopped> {
    match bytes.split_last_chunk::<8>() {
        _ if !weighted => Ok((bytes, 1.0)),
        Some((row, weight)) => Ok((row, f64::from_le_bytes(*weight))),
        None => Err(Stopped(damaged("a row has no weight"))),
    }
}

/// Splits off the row, and appends its targets after the first to `targets`; `bytes` is what [`encode`] wrote
/// for a model with `count` targets, without the weight.
pub(crate) fn split_targets<'a>(
    bytes: &'a [u8],
    count: usize,
    targets: &mut Vec<f64>,
) -> std::result::Result<&'a [u8], Stopped> {
    let length = 8 * count.saturating_sub(1);
    let split = bytes.len().checked_sub(length).and_then(|at| bytes.split_at_checked(at));
    let Some((row, further)) = split else {
        return Err(Stopped(damaged("a row lacks some of its targets")));
    };
    let (words, _) = further.as_chunks::<8>();
    targets.extend(words.iter().map(|word| f64::from_le_bytes(*word)));
    Ok(row)
}

/// Decodes a dense row and its targets, the first of which is `target`, from what [`encode`] wrote, without
/// the weight.
pub(crate) fn decode_dense(
    bytes: &[u8],
    target: f64,
    values: &mut [f32],
    targets: &mut [f64],
) -> std::result::Result<(), Stopped> {
    let wrong = || Stopped(damaged("a row has a wrong number of bytes"));
    let (row, further) = bytes.split_at_checked(size_of_val(values)).ok_or_else(wrong)?;
    let (first, others) = targets.split_first_mut().ok_or_else(wrong)?;
    if further.len() != size_of_val(others) {
        return Err(wrong());
    }
    bytemuck::cast_slice_mut::<f32, u8>(values).copy_from_slice(row);
    for value in values.iter_mut() {
        *value = f32::from_bits(u32::from_le(value.to_bits()));
    }
    *first = target;
    for (target, word) in others.iter_mut().zip(further.as_chunks::<8>().0) {
        *target = f64::from_le_bytes(*word);
    }
    Ok(())
}

pub(crate) fn decode(
    bytes: &[u8],
    sparse: bool,
    indices: &mut Vec<u32>,
    values: &mut Vec<f32>,
) -> Result<()> {
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

/// Returns weights as little-endian f64.
pub(crate) fn weight_bytes(weights: &[f64]) -> Vec<u8> {
    weights.iter().flat_map(|weight| weight.to_le_bytes()).collect()
}

/// Returns what a model publishes: its weights, preceded, if preprocessing is fitted, by the length in bytes
/// and the canonical JSON of the statistics.
pub(crate) fn release_bytes(plan: &Plan, weights: &[f64]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(found) = plan.statistics()? {
        let text = serde_json::to_string(found)
            .map_err(|error| Error::storage(Code::Preprocessing, error.to_string()))?;
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes.extend(weight_bytes(weights));
    Ok(bytes)
}

/// Reverses [`release_bytes`]: returns the plan with its statistics, and the weights.
pub(crate) fn released(bytes: &[u8], plan: Plan) -> Result<(Plan, Vec<f64>)> {
    if plan.fitting.is_none() {
        let weights = weights_of(bytes, &plan)?;
        return Ok((plan, weights));
    }
    let cut = || Error::storage(Code::Damaged, "the vault's model is cut short");
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
    let (text, weights) = rest.split_at_checked(length).ok_or_else(cut)?;
    let found = serde_json::from_slice(text).map_err(|error| {
        Error::storage(Code::Damaged, format!("the vault's preprocessing: {error}"))
    })?;
    let plan = plan.attach(found)?;
    let weights = weights_of(weights, &plan)?;
    Ok((plan, weights))
}

/// Reverses [`weight_bytes`], and checks the weights against the plan.
fn weights_of(bytes: &[u8], plan: &Plan) -> Result<Vec<f64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() || words.len() != plan.parameters() {
        return Err(Error::storage(
            Code::Damaged,
            format!("the vault's model must have {} weights", plan.parameters()),
        ));
    }
    let weights: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
    if weights.iter().all(|w| w.is_finite()) {
        Ok(weights)
    } else {
        Err(Error::storage(Code::Damaged, "the vault's model has a weight that is not finite"))
    }
}
