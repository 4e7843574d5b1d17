//! Starting weights given by a user.

use std::io::{BufReader, Cursor};

use efface_formats::read_npy_floats;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Code, Error, Result};
use crate::plan::Plan;

/// The first bytes of a zip archive, which an NPZ file is.
const ZIP: &[u8] = b"PK";

/// Reads the weights in the engine's order: for each output those of the features, then that of the
/// intercept.
///
/// An NPZ archive holds `coef` (outputs x features) and, with an intercept, `intercept` (outputs), like an
/// export; an NPY file holds all weights in order, the intercept's in units of the constant that is appended
/// to rows. Both may be float64 or float32.
///
/// # Errors
/// Fails if the bytes have another format, the arrays have other shapes than the plan's, or numbers are not
/// finite.
pub(crate) fn read(bytes: &[u8], plan: &Plan) -> Result<Vec<f64>> {
    let (columns, features) = (plan.columns(), plan.rows.features as usize);
    let outputs = plan.parameters() / columns.max(1);
    let weights = if bytes.starts_with(ZIP) {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
        let coef = named(&mut archive, "coef", outputs * features)?
            .ok_or_else(|| wrong("it has no array `coef`".to_owned()))?;
        let intercept = named(&mut archive, "intercept", outputs)?;
        let constant = plan.rows.intercept.0;
        let mut weights = Vec::with_capacity(plan.parameters());
        for (output, block) in coef.chunks_exact(features.max(1)).enumerate() {
            weights.extend_from_slice(block);
            let own = intercept.as_ref().map_or(0.0, |values| values[output]);
            if constant != 0.0 {
                weights.push(own / constant);
            } else if own != 0.0 {
                return Err(wrong("it has an intercept, but the model has none".to_owned()));
            }
        }
        weights
    } else {
        read_npy_floats("weights", &mut &*bytes, plan.parameters())
            .map_err(|fault| wrong(fault.to_string()))?
    };
    if weights.len() != plan.parameters() {
        return Err(wrong(format!(
            "it has {} weights, but the model has {}",
            weights.len(),
            plan.parameters()
        )));
    }
    if weights.iter().any(|w| !w.is_finite()) {
        return Err(wrong("it has a number that is not finite".to_owned()));
    }
    Ok(weights)
}

fn named(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
    expected: usize,
) -> Result<Option<Vec<f64>>> {
    match archive.by_name(&format!("{name}.npy")) {
        Err(ZipError::FileNotFound) => Ok(None),
        Err(error) => Err(unreadable(error)),
        Ok(entry) => read_npy_floats(name, &mut BufReader::new(entry), expected)
            .map(Some)
            .map_err(|fault| wrong(fault.to_string())),
    }
}

fn unreadable(error: ZipError) -> Error {
    wrong(format!("it is not an NPY or NPZ file of float64 or float32 ({error})"))
}

fn wrong(reason: String) -> Error {
    Error::input(Code::Start, format!("the start cannot be used: {reason}"))
        .hint("give an NPZ file as written by `§efface export --to npz`, or an NPY file")
}
