//! Where the public data sets are, and how each is read.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use efface::Source;
use flate2::read::GzDecoder;

use crate::Failure;

/// A training table and a test table.
#[derive(Debug, Clone)]
pub struct Split {
    /// What is learnt from.
    pub train: Source<'static>,
    /// What it is measured on.
    pub test: Source<'static>,
}

/// The folder that `EFFACE_DATA` names.
///
/// # Errors
/// When it is unset or no folder.
pub fn root() -> Result<PathBuf, Failure> {
    let given = std::env::var_os("EFFACE_DATA").ok_or(
        "`EFFACE_DATA` must name the folder of public data sets (mnist/, adult/, libsvm/, \
         parkinsons-telemonitoring/), got nothing",
    )?;
    let path = PathBuf::from(given);
    if path.is_dir() {
        Ok(path)
    } else {
        Err(format!("`EFFACE_DATA` must name a folder, got `{}`", path.display()).into())
    }
}

/// MNIST; `classes` picks some of the digits, the last of two being the positive one.
///
/// # Errors
/// See [`root`].
pub fn mnist(classes: &[&str]) -> Result<Split, Failure> {
    let folder = root()?.join("mnist");
    let classes: Vec<String> = classes.iter().map(|c| (*c).to_owned()).collect();
    let part = |name: &str| Source {
        path: Some(folder.join(format!("{name}-images-idx3-ubyte.gz"))),
        labels: Some(folder.join(format!("{name}-labels-idx1-ubyte.gz"))),
        classes: Some(classes.clone()),
        ..Source::default()
    };
    Ok(Split { train: part("train"), test: part("t10k") })
}

/// Adult by its schema. The publisher's test file marks labels with a full stop, which is taken
/// off in a copy in `scratch`.
///
/// # Errors
/// See [`root`]; files that cannot be read or written.
pub fn adult(scratch: &Path) -> Result<Split, Failure> {
    let folder = root()?.join("adult");
    let test = scratch.join("adult-test.csv");
    let mut out = fs::File::create(&test)?;
    for line in lines(&folder.join("adult.test.gz"))? {
        if !line.starts_with('|') && !line.is_empty() {
            writeln!(out, "{}", line.trim_end_matches('.'))?;
        }
    }
    let source = |path: PathBuf| Source {
        path: Some(path),
        format: Some("csv".to_owned()),
        ..Source::default()
    };
    Ok(Split {
        train: Source {
            schema: Some(include_str!("../adult.toml").to_owned()),
            classes: Some(vec!["<=50K".to_owned(), ">50K".to_owned()]),
            ..source(folder.join("adult.data.gz"))
        },
        test: source(test),
    })
}

/// a9a: 123 binary columns, sparse, with its own test part.
///
/// # Errors
/// See [`root`].
pub fn a9a() -> Result<Split, Failure> {
    let folder = root()?.join("libsvm");
    let part = |name: &str| sparse(folder.join(name), 123);
    Ok(Split { train: part("a9a.gz"), test: part("a9a.t.gz") })
}

/// w8a: 300 binary columns, sparse. It has no test part here and its rows are sorted, so every row
/// whose number times 2654435761 modulo 2^32 is below 2^32/5 is held out (a fifth of them).
///
/// # Errors
/// See [`root`]; files that cannot be read or written.
pub fn w8a(scratch: &Path) -> Result<Split, Failure> {
    let (train, test) = (scratch.join("w8a-train.txt"), scratch.join("w8a-test.txt"));
    let mut parts = [fs::File::create(&train)?, fs::File::create(&test)?];
    for (row, line) in lines(&root()?.join("libsvm").join("w8a.gz"))?.iter().enumerate() {
        let held_out = (row as u32).wrapping_mul(2_654_435_761) < u32::MAX / 5;
        writeln!(parts[usize::from(held_out)], "{line}")?;
    }
    Ok(Split { train: sparse(train, 300), test: sparse(test, 300) })
}

/// Parkinson's telemonitoring: motor UPDRS from age, sex, time and voice. The last visits of each
/// patient are held out: every row with `test_time` above 150 days.
///
/// # Errors
/// See [`root`]; files that cannot be read or written.
pub fn parkinsons(scratch: &Path) -> Result<Split, Failure> {
    let (train, test) = (scratch.join("updrs-train.csv"), scratch.join("updrs-test.csv"));
    let mut parts = [fs::File::create(&train)?, fs::File::create(&test)?];
    let folder = root()?.join("parkinsons-telemonitoring");
    let mut all = lines(&folder.join("parkinsons_updrs.data.gz"))?.into_iter();
    let head = all.next().ok_or("the table is empty")?;
    for part in &mut parts {
        writeln!(part, "{head}")?;
    }
    for line in all {
        let time: f64 = line.split(',').nth(3).ok_or("a row has no `test_time`")?.parse()?;
        writeln!(parts[usize::from(time > 150.0)], "{line}")?;
    }
    let source = |path: PathBuf| Source { path: Some(path), ..Source::default() };
    Ok(Split {
        train: Source {
            schema: Some(include_str!("../parkinsons.toml").to_owned()),
            ..source(train)
        },
        test: source(test),
    })
}

fn sparse(path: PathBuf, width: u32) -> Source<'static> {
    Source {
        path: Some(path),
        format: Some("libsvm".to_owned()),
        classes: Some(vec!["-1".to_owned(), "+1".to_owned()]),
        width: Some(width),
        ..Source::default()
    }
}

fn lines(path: &Path) -> Result<Vec<String>, Failure> {
    let file = fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let decoded: Box<dyn Read> = Box::new(GzDecoder::new(file));
    Ok(BufReader::new(decoded).lines().collect::<Result<_, _>>()?)
}
