//! A large table that follows a random hyperplane, written as arrays.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use efface::Source;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::Failure;

/// The table that [`generate`] wrote to a folder.
#[must_use]
pub fn source(folder: &Path) -> Source<'static> {
    let array = |name: &str| Some(folder.join(name));
    Source { path: array("x.npy"), labels: array("y.npy"), ..Source::default() }
}

/// Writes `x.npy`, standard normal as f32, and `y.npy`, 0 or 1 by a hyperplane with noise: always the same.
///
/// # Errors
/// Files that cannot be written.
pub fn generate(folder: &Path, rows: usize, columns: usize) -> Result<(), Failure> {
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
