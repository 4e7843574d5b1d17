//! Where the public data sets are and how each is read, and tables that are made.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use efface::Source;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::Failure;

/// A training table and a test table.
pub(crate) struct Split {
    /// What is learnt from.
    pub(crate) train: Source<'static>,
    /// What it is measured on.
    pub(crate) test: Source<'static>,
}

/// A folder in the one that `EFFACE_DATA` names.
fn folder(name: &str) -> Result<PathBuf, Failure> {
    let given = std::env::var_os("EFFACE_DATA").map(PathBuf::from).unwrap_or_default();
    if given.is_dir() {
        Ok(given.join(name))
    } else {
        let path = given.display();
        Err(format!("`EFFACE_DATA` must name the folder of public data sets, got `{path}`").into())
    }
}

/// MNIST; `classes` picks some of the digits, the last of two being the positive one.
pub(crate) fn mnist(classes: impl IntoIterator<Item = u8>) -> Result<Split, Failure> {
    let folder = folder("mnist")?;
    let classes: Vec<String> = classes.into_iter().map(|class| class.to_string()).collect();
    let part = |name: &str| Source {
        path: Some(folder.join(format!("{name}-images-idx3-ubyte.gz"))),
        labels: Some(folder.join(format!("{name}-labels-idx1-ubyte.gz"))),
        classes: Some(classes.clone()),
        ..Source::default()
    };
    Ok(Split { train: part("train"), test: part("t10k") })
}

/// SST as embeddings of MiniLM, two classes.
pub(crate) fn sst() -> Result<Split, Failure> {
    let folder = folder("sst")?;
    let part = |name: &str| Source {
        path: Some(folder.join(format!("sst_minilm_{name}_X.npy"))),
        labels: Some(folder.join(format!("sst_minilm_{name}_y.npy"))),
        ..Source::default()
    };
    Ok(Split { train: part("train"), test: part("test") })
}

/// a9a: 123 binary columns, sparse, with its own test part.
pub(crate) fn a9a() -> Result<Split, Failure> {
    let folder = folder("libsvm")?;
    let part = |name: &str| Source {
        path: Some(folder.join(name)),
        format: Some("libsvm".to_owned()),
        classes: Some(vec!["-1".to_owned(), "+1".to_owned()]),
        width: Some(123),
        ..Source::default()
    };
    Ok(Split { train: part("a9a.gz"), test: part("a9a.t.gz") })
}

/// The table that [`generate`] wrote to a folder.
pub(crate) fn generated(folder: &Path) -> Source<'static> {
    let array = |name: &str| Some(folder.join(name));
    Source { path: array("x.npy"), labels: array("y.npy"), ..Source::default() }
}

/// Writes `x.npy`, standard normal as f32, and `y.npy`, 0 or 1 by a hyperplane with noise: always the same.
pub(crate) fn generate(folder: &Path, rows: usize, columns: usize) -> Result<(), Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let truth: Vec<f64> = (0..columns).map(|_| normal(&mut rng)).collect();
    let mut x = array(folder.join("x.npy"), "<f4", &format!("({rows}, {columns})"))?;
    let mut y = array(folder.join("y.npy"), "|i1", &format!("({rows},)"))?;
    for _ in 0..rows {
        let mut score = 3.0 * normal(&mut rng);
        for w in &truth {
            let value = normal(&mut rng) as f32;
            score += w * f64::from(value);
            x.write_all(&value.to_le_bytes())?;
        }
        y.write_all(&[u8::from(score > 0.0)])?;
    }
    x.flush()?;
    Ok(y.flush()?)
}

/// A table in LIBSVM's format, about this share of whose values is not zero: always the same.
pub(crate) fn sparse(
    folder: &Path,
    rows: usize,
    columns: usize,
    density: f64,
) -> Result<Source<'static>, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let path = folder.join("x.svm");
    let mut out = BufWriter::new(File::create(&path)?);
    for _ in 0..rows {
        let (mut line, mut sum) = (String::new(), 0.0);
        for column in 1..=columns {
            let draw = rng.next_u64();
            if (draw >> 32) as f64 / 4_294_967_296.0 < density {
                let value = f64::from(draw as u32) / 4_294_967_296.0 - 0.5;
                sum += if column % 2 == 0 { value } else { -value };
                line += &format!(" {column}:{value:.4}");
            }
        }
        writeln!(out, "{}{line}", u8::from(sum > 0.0))?;
    }
    out.flush()?;
    Ok(Source { path: Some(path), ..Source::default() })
}

/// An NPY file up to its data: magic, version, length of the header, header filled up to 128 bytes.
fn array(path: PathBuf, kind: &str, shape: &str) -> Result<BufWriter<File>, Failure> {
    let mut out = BufWriter::new(File::create(path)?);
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    out.write_all(b"\x93NUMPY\x01\x00\x76\x00")?;
    writeln!(out, "{header:<117}")?;
    Ok(out)
}

/// Standard normal by Box and Muller.
fn normal(rng: &mut impl Rng) -> f64 {
    let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (a, b) = (uniform(), uniform());
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}
