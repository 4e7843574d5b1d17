//! A million rows of a hundred columns: memory and time of training and of deletions, each in a
//! process of its own, so that the peak is that of one command.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};

use efface::{Delete, Keyring, Resident, RowStore, Settings, Which};
use efface_bench::Failure;
use efface_bench::bench::{run, say, timed};
use efface_bench::machine::peak_memory;
use efface_bench::shop::{Run, Shop, observed, observed_on};
use efface_bench::synthetic;
use efface_bench::table::{Table, ms};
use efface_vault::{ReadError, Vault};

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
        let ((), seconds) = timed(|| synthetic::generate(shop.folder(), ROWS, COLUMNS))?;
        let matrix = ROWS * (COLUMNS + 1) * 4;
        say(&format!(
            "{ROWS} x {COLUMNS} standard normal features as f32 and an intercept: {} MB as a \
             matrix in memory. Labels follow a random hyperplane with noise. Made in {seconds:.1} \
             s. All settings are the defaults, with declared preprocessing (rows clipped to norm 1, lambda 1e-3; \
             once more with lambda 1/n) and with fitted (standardised anew by each request, lambda \
             1/n); and in `secret` state with the Newton memory and 20 releases. Each line is a process of \
             its own; `held` are the second and the third request of one that keeps the rows in memory \
             between them.\n",
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
        let steps = [
            "train",
            "open",
            "scan",
            "delete 1",
            "delete 1",
            "delete 1000",
            "delete 1, held",
            "delete 1000, held",
            "examine",
        ];
        for preprocess in ["declared", "declared, 1/n", "declared, secret", "fitted"] {
            for step in steps {
                let out = Command::new(std::env::current_exe()?)
                    .args([preprocess.as_ref(), step.as_ref(), shop.folder().as_os_str()])
                    .output()?;
                if !out.status.success() {
                    return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned().into());
                }
                let line = String::from_utf8(out.stdout)?;
                for line in line.trim().lines() {
                    let mut cells: Vec<String> = line.split('|').map(str::to_owned).collect();
                    let peak: f64 = cells.get(5).ok_or("a step said too little")?.parse()?;
                    cells[5] = format!("{:.0} MB", peak / 1e6);
                    cells.insert(6, format!("{:.2}", peak / matrix as f64));
                    cells.insert(0, preprocess.to_owned());
                    table.row(cells);
                }
            }
        }
        say(&table.render())
    })
}

/// One step in this process; its lines of the table with the peak in bytes.
fn one(preprocess: &str, step: &str, folder: &Path) -> Result<String, Failure> {
    let path = folder.join(format!("{}.efface", preprocess.replace("/", " of ")));
    let keyring = Shop::keys_of(folder)?;
    let cells = match step {
        "train" => {
            let (kind, more) = match preprocess.split_once(", ") {
                Some((kind, "secret")) => {
                    let (state, solver) = (Some("secret".into()), Some("newton".into()));
                    let releases = Some(20);
                    (kind, Settings { state, solver, releases, ..Settings::default() })
                }
                Some((kind, _)) => {
                    let lambda = Some(1.0 / ROWS as f64);
                    (kind, Settings { lambda, ..Settings::default() })
                }
                None => (preprocess, Settings::default()),
            };
            let settings = Settings { preprocess: Some(kind.into()), ..more };
            let run = observed(&keyring, |around| {
                efface::train(&synthetic::source(folder), settings, &path, around)
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
        delete => match delete.strip_suffix(", held") {
            Some(delete) => {
                let resident = Resident::new();
                let rows = RowStore::Resident(&resident);
                deleted(delete, &path, rows, &keyring)?;
                let line = |cells: (String, String)| with_peak(step, &cells);
                let second = line(deleted(delete, &path, rows, &keyring)?)?;
                let third = line(deleted(delete, &path, rows, &keyring)?)?;
                return Ok(format!("{second}\n{third}"));
            }
            None => deleted(delete, &path, RowStore::Vault, &keyring)?,
        },
    };
    with_peak(step, &cells)
}

/// Deletes rows that are there: a stride passes over those of earlier steps.
fn deleted(
    step: &str,
    path: &Path,
    rows: RowStore<'_>,
    keyring: &Keyring,
) -> Result<(String, String), Failure> {
    let count: usize = step.trim_start_matches("delete ").parse()?;
    let already = ROWS - Vault::open_read_only(path)?.counts()?.records as usize;
    let ids = (0..count).map(|i| efface::row_id((already + 997 * i) as u64)).collect();
    let request = Delete { what: Which::Ids(ids), request_id: None };
    Ok(served(&observed_on(rows, keyring, |around| efface::delete(path, &request, around))?))
}

fn with_peak(step: &str, cells: &(String, String)) -> Result<String, Failure> {
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
