//! A million rows of a hundred columns: memory and time of training and of deletions, each in a
//! process of its own, so that the peak is that of one command.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use efface::{Delete, Settings, Source, Which};
use efface_bench::Failure;
use efface_bench::bench::{run, say, timed};
use efface_bench::machine::peak_memory;
use efface_bench::shop::{Run, Shop, observed};
use efface_bench::table::{Table, ms};
use efface_vault::{ReadError, Vault};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

const ROWS: usize = 1_000_000;
const COLUMNS: usize = 100;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [preprocess, step, folder] = arguments.as_slice() {
        let result = one(preprocess, step, Path::new(folder));
        return match result.and_then(|line| say(&line)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "error: {error}");
                ExitCode::from(2)
            }
        };
    }
    run("A million rows", || {
        let shop = Shop::open()?;
        let ((), seconds) = timed(|| generate(shop.folder()))?;
        let matrix = ROWS * (COLUMNS + 1) * 4;
        say(&format!(
            "{ROWS} x {COLUMNS} standard normal features as f32 and an intercept: {} MB as a \
             matrix in memory. Labels follow a random hyperplane with noise. Made in {seconds:.1} \
             s. All settings are the defaults, with declared preprocessing (rows clipped to norm 1, lambda 1e-3; \
             once more with lambda 1/n) and with fitted (standardised anew by each request, lambda \
             1/n). Each line is a process of its own.\n",
            matrix / 1_000_000
        ))?;
        let mut table = Table::new(&[
            "preprocessing",
            "step",
            "total",
            "before",
            "learning",
            "storing",
            "peak memory",
            "over the matrix",
            "work",
        ]);
        for preprocess in ["declared", "declared, 1/n", "fitted"] {
            for step in ["train", "open", "scan", "delete 1", "delete 1", "delete 1000", "examine"]
            {
                let out = Command::new(std::env::current_exe()?)
                    .args([preprocess.as_ref(), step.as_ref(), shop.folder().as_os_str()])
                    .output()?;
                if !out.status.success() {
                    return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned().into());
                }
                let line = String::from_utf8(out.stdout)?;
                let mut cells: Vec<String> = line.trim().split('|').map(str::to_owned).collect();
                let peak: f64 = cells.get(5).ok_or("a step said too little")?.parse()?;
                cells[5] = format!("{:.0} MB", peak / 1e6);
                cells.insert(6, format!("{:.2}", peak / matrix as f64));
                cells.insert(0, preprocess.to_owned());
                table.row(cells);
            }
        }
        say(&table.render())
    })
}

/// One step in this process; its line of the table with the peak in bytes.
fn one(preprocess: &str, step: &str, folder: &Path) -> Result<String, Failure> {
    let path = folder.join(format!("{}.efface", preprocess.replace("/", " of ")));
    let keyring = Shop::keys_of(folder)?;
    let cells = match step {
        "train" => {
            let (kind, lambda) = match preprocess.split_once(", ") {
                Some((kind, _)) => (kind, Some(1.0 / ROWS as f64)),
                None => (preprocess, None),
            };
            let settings =
                Settings { preprocess: Some(kind.into()), lambda, ..Settings::default() };
            let run = observed(&keyring, |around| {
                efface::train(&source(folder), settings, &path, around)
            })?;
            served(&run)
        }
        "open" => plain(timed(|| Vault::open(&path).map(drop))?.1),
        "scan" => {
            let mut vault = Vault::open_read_only(&path)?;
            vault.unlock(&keyring)?;
            let mut sum = 0;
            let scan = || {
                vault.scan(|_, row| {
                    sum += row.features.len();
                    Ok::<_, ReadError>(())
                })
            };
            plain(timed(scan)?.1)
        }
        "examine" => {
            let mut vault = Vault::open(&path)?;
            plain(timed(|| vault.examine().map(drop))?.1)
        }
        delete => {
            let count: usize = delete.trim_start_matches("delete ").parse()?;
            // Rows that an earlier step deleted are passed over by a stride that differs.
            let already = 1_000_000 - Vault::open_read_only(&path)?.counts()?.records as usize;
            let ids = (0..count).map(|i| efface::row_id((already + 997 * i) as u64)).collect();
            let request = Delete { what: Which::Ids(ids), request_id: None };
            served(&observed(&keyring, |around| efface::delete(&path, &request, around))?)
        }
    };
    let peak = peak_memory().ok_or("this system does not tell how much memory a process took")?;
    Ok(format!("{step}|{}|{peak}|{}", cells.0, cells.1))
}

fn served(run: &Run) -> (String, String) {
    let p = run.phases;
    let times = [p.total(), p.before, p.learning, p.storing].map(ms);
    (times.join("|"), run.work())
}

fn plain(seconds: f64) -> (String, String) {
    (format!("{}|||", ms(seconds)), String::new())
}

fn source(folder: &Path) -> Source<'static> {
    let array = |name: &str| Some(folder.join(name));
    Source { path: array("x.npy"), labels: array("y.npy"), ..Source::default() }
}

/// Writes `x.npy` and `y.npy`, always the same.
fn generate(folder: &Path) -> Result<(), Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let truth: Vec<f64> = (0..COLUMNS).map(|_| normal(&mut rng)).collect();
    let mut x = array(folder.join("x.npy"), "<f4", &format!("({ROWS}, {COLUMNS})"))?;
    let mut y = array(folder.join("y.npy"), "|i1", &format!("({ROWS},)"))?;
    for _ in 0..ROWS {
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
