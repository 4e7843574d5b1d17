//! Exports: the published weights for other programs, noted in the ledger before they leave.

use std::io::{self, Cursor, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::requests::serve::in_line;
use crate::show::status::published;
use crate::store::ledger::{EXPORT, EXPORT_SCHEMA, append};
use crate::store::open_to_serve;
use crate::store::seal::sealed;
use crate::weights::Weights;

efface_privacy::named! {
    /// File formats of exports.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ExportFormat {
        /// NumPy archive of named arrays.
        Npz = "npz",
        /// One JSON object.
        Json = "json",
        /// safetensors: `coef` and `intercept` as F64, all else in its metadata.
        Safetensors = "safetensors",
    }
}

impl ExportFormat {
    /// The names that users type.
    pub const NAMES: [&'static str; 3] = ["npz", "json", "safetensors"];
}

/// Returns the published model as a file of a format, with everything needed to reproduce its predictions:
/// `coef` (outputs x features; for a network all of its weights, whose layers are in `network`) and
/// `intercept` (outputs), both for standardised rows if preprocessing is fitted, with the mean and the
/// inverse scale of each feature (`units`); the classes or the range of y; the names of the features; the row
/// map and its norm; the schema that turns a row into features; the map to random features, if there is one;
/// and the loss. The ledger notes the export first: later deletions do not cover an exported model.
///
/// # Errors
/// Fails if the vault cannot be read or written.
pub fn export(path: &Path, format: ExportFormat, context: &mut Context<'_>) -> Result<Vec<u8>> {
    let (mut vault, current) = open_to_serve(path, "efface export", context)?;
    let mut transaction = vault.begin()?;
    // In the transaction nobody else can write: the note follows the last head.
    in_line(&transaction, &current)?;
    let model = published(&transaction, &current)?;
    let bytes = rendered(&model, format)?;
    let index = current.head.index + 1;
    let note = json!({
        "schema": EXPORT_SCHEMA,
        "vault": current.genesis.vault_id,
        "at": context.now()?,
        "format": format.name(),
        "model": { "version": current.version, "digest": model.digest },
        "chain": { "index": index, "previous": hex::encode(current.head.hash), "hash": "" },
    });
    let (text, hash) = sealed(note, context.keyring)?;
    append(&mut transaction, EXPORT, &text, &hash, context.keyring)?;
    transaction.commit()?;
    Ok(bytes)
}

/// Everything about a model but its numbers, as written to JSON.
#[derive(Serialize)]
struct Document<'a> {
    /// The kind of document.
    format: &'static str,
    #[serde(flatten)]
    model: &'a Weights,
    /// Rows of `coef`, one per output.
    coef: Vec<&'a [f64]>,
    intercept: &'a [f64],
}

fn rendered(model: &Weights, format: ExportFormat) -> Result<Vec<u8>> {
    let failed = |error: &dyn std::fmt::Display| Error::storage(Code::Export, error.to_string());
    match format {
        ExportFormat::Json => {
            let width = model.shape().last().map_or(1, |width| *width as usize);
            let document = Document {
                format: "efface.model/1",
                model,
                coef: model.coef.chunks_exact(width.max(1)).collect(),
                intercept: &model.intercept,
            };
            serde_json::to_vec_pretty(&document).map_err(|error| failed(&error))
        }
        ExportFormat::Npz => npz(model).map_err(|error| failed(&error)),
        ExportFormat::Safetensors => safetensors(model),
    }
}

/// Returns the properties of a model in words, by name; lists stay lists.
fn words(model: &Weights) -> Vec<(&'static str, Vec<String>)> {
    let mut words = vec![
        ("loss", vec![model.loss.clone()]),
        ("row_map", vec![model.row_map.clone()]),
        ("schema", vec![model.schema.clone()]),
        ("vault", vec![model.vault.clone()]),
        ("preprocessing", vec![model.preprocessing.clone().unwrap_or_default()]),
        ("feature_map", vec![model.feature_map.clone().unwrap_or_default()]),
        ("trunk", vec![model.trunk.clone().unwrap_or_default()]),
        ("network", vec![model.network.clone().unwrap_or_default()]),
        ("digest", vec![model.digest.clone()]),
        ("salt", vec![model.salt.clone()]),
    ];
    let lists = [
        ("classes", &model.classes),
        ("target_names", &model.target_names),
        ("feature_names", &model.names),
    ];
    for (name, list) in lists {
        words.extend(list.clone().map(|list| (name, list)));
    }
    words
}

/// Returns whether these words are a list, even one of a single word.
fn is_list(name: &str) -> bool {
    matches!(name, "classes" | "target_names" | "feature_names")
}

/// Returns the numbers that a reader needs besides the weights.
fn numbers(model: &Weights) -> Vec<(&'static str, Vec<f64>)> {
    let mut numbers = vec![("row_norm", vec![model.row_norm])];
    numbers.extend(model.target_range.map(|(low, high)| ("target_range", vec![low, high])));
    let ranges = model.target_ranges.iter();
    numbers.extend(ranges.map(|ranges| {
        ("target_ranges", ranges.iter().flat_map(|(low, high)| [*low, *high]).collect())
    }));
    let units = model.units.iter();
    numbers.extend(units.map(|units| {
        ("units", units.iter().flat_map(|(mean, inverse)| [*mean, *inverse]).collect())
    }));
    numbers.extend(model.loss_width.map(|width| ("loss_width", vec![width])));
    numbers
}

/// Writes an archive of arrays: `coef` (outputs x features), `intercept` (outputs), and whatever else
/// prediction needs. A single value is an array without axes.
fn npz(model: &Weights) -> io::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut put = |name: &str, array: Vec<u8>| -> io::Result<()> {
        // Without a timestamp, so that the same model gives the same bytes.
        let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
        archive.start_file(format!("{name}.npy"), options)?;
        archive.write_all(&array)
    };
    put("coef", npy_of_numbers(&model.shape(), &model.coef))?;
    put("intercept", npy_of_numbers(&[model.outputs], &model.intercept))?;
    for (name, values) in numbers(model) {
        let shape = match name {
            "target_range" => vec![2],
            "target_ranges" => vec![model.outputs, 2],
            "units" => vec![model.features, 2],
            _ => Vec::new(),
        };
        put(name, npy_of_numbers(&shape, &values))?;
    }
    put("version", npy_of_numbers(&[], &[model.version as f64]))?;
    put("not_for_release", npy_of_numbers(&[], &[f64::from(u8::from(model.not_for_release))]))?;
    for (name, texts) in words(model) {
        put(name, npy_of_texts(&texts, is_list(name)))?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns an NPY file of float64 numbers in C order.
fn npy_of_numbers(shape: &[u64], values: &[f64]) -> Vec<u8> {
    let mut bytes = npy_header("<f8", shape);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// Returns an NPY file of texts, each padded to the same length in UTF-32.
fn npy_of_texts(texts: &[String], list: bool) -> Vec<u8> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let shape = if list { vec![texts.len() as u64] } else { Vec::new() };
    let mut bytes = npy_header(&format!("<U{width}"), &shape);
    for text in texts {
        let points = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        bytes.extend(points.flat_map(u32::to_le_bytes));
    }
    bytes
}

/// Returns the header that precedes the elements of an NPY file of version 2.
fn npy_header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    // Magic, version and length take 12 bytes; the header ends with a line end at a multiple of 64.
    let padded = (12 + header.len() + 1).next_multiple_of(64) - 12;
    header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header.bytes());
    bytes
}

/// Returns the safetensors container: length of the header, header, tensors, all little-endian. Everything
/// else is text in its metadata, lists and numbers as JSON.
fn safetensors(model: &Weights) -> Result<Vec<u8>> {
    let first = 8 * model.coef.len();
    let end = first + 8 * model.intercept.len();
    let mut metadata = serde_json::Map::new();
    for (name, texts) in words(model) {
        let text = if is_list(name) { json!(texts).to_string() } else { texts.concat() };
        metadata.insert(name.to_owned(), text.into());
    }
    for (name, values) in numbers(model) {
        let text = match name {
            "target_range" => json!(values),
            "target_ranges" | "units" => json!(values.as_chunks::<2>().0),
            _ => json!(values[0]),
        };
        metadata.insert(name.to_owned(), text.to_string().into());
    }
    metadata.insert("version".to_owned(), model.version.to_string().into());
    metadata.insert("not_for_release".to_owned(), model.not_for_release.to_string().into());
    let header = json!({
        "__metadata__": metadata,
        "coef": {
            "dtype": "F64",
            "shape": model.shape(),
            "data_offsets": [0, first],
        },
        "intercept": { "dtype": "F64", "shape": [model.outputs], "data_offsets": [first, end] },
    })
    .to_string();
    // Tensors start at a multiple of 8 bytes; the header is padded with spaces.
    let padded = header.len().next_multiple_of(8);
    let mut bytes = (padded as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.resize(8 + padded, b' ');
    bytes.extend(model.coef.iter().chain(&model.intercept).flat_map(|w| w.to_le_bytes()));
    Ok(bytes)
}
