//! The story: what is done, in order, with a table at the end.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use efface::{
    CheckOutcome, Delete, Keyring, Notion, Selector, Served, Settings, Source, Verdict, add,
    delete, evaluate, refresh, report, train, verify, verify_ledger,
};

use crate::clock::timed;
use crate::wine::{Tables, schema};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// One line of the table.
struct Line {
    what: String,
    records: u64,
    served: Served,
    accuracy: f64,
    seconds: f64,
    /// The same rows solved afresh from zeros: seconds, passes, accuracy.
    afresh: (f64, u64, f64),
}

/// Does everything and tells it on standard output.
pub(crate) fn tell(folder: &Path) -> Outcome<()> {
    let mut out = io::stdout().lock();
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let source_folder = folder.join("source");
    fs::create_dir_all(&source_folder)?;
    let tables = Tables::new();
    tables.write(&source_folder)?;
    fs::write(source_folder.join("schema.toml"), schema())?;
    let keyring = new_keyring(&folder.join("keys").join("key.toml"))?;
    let vault_folder = folder.join("vault");
    fs::create_dir_all(&vault_folder)?;
    let path = vault_folder.join("wine.efface");

    writeln!(
        out,
        "A model of 1280 red wines, which learns to tell the good ones (6 points or more)."
    )?;
    writeln!(
        out,
        "Subjects by rule: eight consecutive wines belong to one cellar; every fifth wine is"
    )?;
    writeln!(out, "held out as public test data.\n")?;
    let wines = Source {
        path: Some(source_folder.join("wines.csv")),
        schema: Some(schema()),
        classes: Some(vec!["no".into(), "yes".into()]),
        ..Source::default()
    };
    let (trained, seconds) = timed(&keyring, |s| train(&wines, settings(), &path, s))?;
    let mut lines = vec![line("train", trained, seconds, &path, folder, &tables, &keyring)?];

    let cellar = tables.cellars[20].clone();
    let request = Delete { what: Selector::Subjects(vec![cellar.clone()]), request_id: None };
    let (served, seconds) = timed(&keyring, |s| delete(&path, &request, s))?;
    let what = format!("forget {cellar}");
    lines.push(line(&what, served, seconds, &path, folder, &tables, &keyring)?);

    let gone: Vec<String> = tables.ids.iter().step_by(60).take(20).cloned().collect();
    let request = Delete { what: Selector::Ids(gone.clone()), request_id: None };
    let (served, seconds) = timed(&keyring, |s| delete(&path, &request, s))?;
    lines.push(line("forget 20 wines", served, seconds, &path, folder, &tables, &keyring)?);

    let back = source_folder.join("back.csv");
    fs::write(&back, tables.again(&gone[..5], "back-"))?;
    let more = Source { path: Some(back), ..Source::default() };
    let (served, seconds) = timed(&keyring, |s| add(&path, &more, None, s))?;
    lines.push(line("add 5 back, new ids", served, seconds, &path, folder, &tables, &keyring)?);

    table(&mut out, &lines)?;
    promises(&mut out, &lines)?;
    let gone_ids: Vec<&str> = gone.iter().map(String::as_str).chain([cellar.as_str()]).collect();
    erased(&mut out, &vault_folder, &gone_ids)?;
    checked(&mut out, folder, &lines, &path, &keyring)?;
    refused(&mut out, &path, &keyring)?;
    fs::write(folder.join("report.html"), report(&path, &[])?)?;
    writeln!(out, "\nLeft in {}:", folder.display())?;
    for (name, what) in [
        ("vault/wine.efface", "the vault: model, rows, ledger"),
        ("certificates/", "one certificate for each request"),
        ("report.html", "what happened and what is promised, for people"),
        ("source/", "the tables; deleting there is up to their owner"),
        ("keys/", "the key that signs; keep it elsewhere in earnest"),
    ] {
        writeln!(out, "  {name:<20} {what}")?;
    }
    Ok(())
}

fn settings() -> Settings {
    // Eleven measurements within [-1, 1] rarely make a row longer than 2.
    Settings { lambda: Some(0.003), row_norm: Some(2.0), epsilon: Some(1.0), ..Settings::default() }
}

fn new_keyring(path: &Path) -> Outcome<Keyring> {
    let (mut seed, mut secret) = ([0; 32], [0; 32]);
    for bytes in [&mut seed, &mut secret] {
        getrandom::fill(bytes).map_err(|error| error.to_string())?;
    }
    Ok(Keyring::create(path, &seed, &secret)?)
}

/// Notes a served request, saves its certificate, and solves the same rows afresh for comparison.
fn line(
    what: &str,
    served: Served,
    seconds: f64,
    path: &Path,
    folder: &Path,
    tables: &Tables,
    keyring: &Keyring,
) -> Outcome<Line> {
    let certificates = folder.join("certificates");
    fs::create_dir_all(&certificates)?;
    fs::write(certificates.join(format!("{}.json", served.index)), &served.certificate)?;
    let holdout =
        Source { path: Some(folder.join("source").join("holdout.csv")), ..Source::default() };
    let accuracy = evaluate(path, &holdout)?.accuracy.unwrap_or(f64::NAN);
    let afresh = afresh(served.version, folder, tables, keyring, &holdout)?;
    let records = served.records.unwrap_or_default();
    Ok(Line { what: what.to_owned(), records, accuracy, seconds, afresh, served })
}

/// Trains anew on the rows that a version holds.
fn afresh(
    version: u64,
    folder: &Path,
    tables: &Tables,
    keyring: &Keyring,
    holdout: &Source<'_>,
) -> Outcome<(f64, u64, f64)> {
    let gone: Vec<&String> = tables.ids.iter().step_by(60).take(20).collect();
    let cellar = &tables.cellars[20];
    let keep = |line: &str| {
        let mut cells = line.split(',');
        let (id, of) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let left = version >= 2 && of == cellar
            || version == 3 && gone.iter().any(|g| *g == id)
            || version == 4 && gone[5..].iter().any(|g| *g == id);
        !left
    };
    let rows: Vec<&str> = tables.train.lines().filter(|line| keep(line)).collect();
    let csv = folder.join("source").join("afresh.csv");
    fs::write(&csv, rows.join("\n") + "\n")?;
    let path = folder.join("afresh.efface");
    let wines = Source {
        path: Some(csv.clone()),
        schema: Some(schema()),
        classes: Some(vec!["no".into(), "yes".into()]),
        ..Source::default()
    };
    let settings = Settings { public_n: Some(1280), ..settings() };
    let (served, seconds) = timed(keyring, |s| train(&wines, settings, &path, s))?;
    let accuracy = evaluate(&path, holdout)?.accuracy.unwrap_or(f64::NAN);
    fs::remove_file(&path)?;
    fs::remove_file(&csv)?;
    Ok((seconds, served.work.map_or(0, |work| work.passes), accuracy))
}

fn table(out: &mut impl Write, lines: &[Line]) -> Outcome<()> {
    writeln!(
        out,
        "{:<22}{:>8}{:>8}{:>10}{:>8}{:>9}   solved afresh:",
        "request", "records", "left", "accuracy", "passes", "ms"
    )?;
    writeln!(
        out,
        "{:<22}{:>8}{:>8}{:>10}{:>8}{:>9}{:>12}{:>8}{:>9}",
        "", "", "", "", "", "", "accuracy", "passes", "ms"
    )?;
    for line in lines {
        let passes = line.served.work.as_ref().map_or(0, |work| work.passes);
        let (seconds, afresh_passes, afresh) = line.afresh;
        writeln!(
            out,
            "{:<22}{:>8}{:>8}{:>10.4}{:>8}{:>9.1}{:>12.4}{:>8}{:>9.1}",
            line.what,
            line.records,
            line.served.remaining,
            line.accuracy,
            passes,
            line.seconds * 1e3,
            afresh,
            afresh_passes,
            seconds * 1e3
        )?;
    }
    writeln!(
        out,
        "(accuracy on the public test wines, with the noise of one draw; ms with reading,\nstoring and signing; on a table this small solving afresh is as quick)\n"
    )?;
    Ok(())
}

fn promises(out: &mut impl Write, lines: &[Line]) -> Outcome<()> {
    let Some(last) = lines.last() else { return Ok(()) };
    writeln!(out, "The latest certificate promises:")?;
    for claim in &last.served.claims {
        let mark = if claim.notion == Notion::DifferentialPrivacy { "-" } else { "*" };
        writeln!(out, "  {mark} {}: {}", claim.notion.name(), claim.words)?;
    }
    Ok(())
}

/// Looks for what was deleted in every file of the vault's folder.
fn erased(out: &mut impl Write, folder: &Path, gone: &[&str]) -> Outcome<()> {
    let mut found = 0;
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let content = fs::read(entry?.path())?;
        bytes += content.len();
        // Ids that were added back have the old id as a part, so look for the whole cell.
        for name in gone {
            let hits = content.windows(name.len()).enumerate().filter(|(at, window)| {
                *window == name.as_bytes() && !content[..*at].ends_with(b"back-")
            });
            found += hits.count();
        }
    }
    writeln!(
        out,
        "\nErased: {} ids and names looked for in {bytes} bytes of the vault's folder, found {found} times.",
        gone.len()
    )?;
    if found > 0 {
        return Err("a deleted id is still in the vault's folder".into());
    }
    Ok(())
}

fn checked(
    out: &mut impl Write,
    folder: &Path,
    lines: &[Line],
    path: &Path,
    keyring: &Keyring,
) -> Outcome<()> {
    let key = keyring.public_key();
    let head = &lines[lines.len() - 1].served.head;
    let ledger = verify_ledger(path, Some(&key), Some(head), Some(keyring))?;
    expect(&ledger, CheckOutcome::Holds, "the ledger")?;
    writeln!(out, "Verified: all {} entries of the ledger, from the events alone.", lines.len())?;
    let file = folder.join("certificates").join(format!("{}.json", lines[1].served.index));
    let text = fs::read_to_string(file)?;
    expect(
        &verify(&text, Some(&key), Some(path), Some(head))?,
        CheckOutcome::Holds,
        "the certificate",
    )?;
    let epsilon = format!("\"epsilon\":\"{}\"", lines[1].served.claims[0].epsilon);
    let forged = text.replace(&epsilon, "\"epsilon\":\"0.01\"");
    let verdict = verify(&forged, Some(&key), None, None)?;
    expect(&verdict, CheckOutcome::Fails, "a forged certificate")?;
    writeln!(out, "Forged: epsilon set to 0.01 in a certificate, and caught:")?;
    for check in verdict.checks.iter().filter(|check| check.outcome == CheckOutcome::Fails) {
        writeln!(out, "  {}: {}", check.name, check.reason)?;
    }
    Ok(())
}

fn expect(verdict: &Verdict, outcome: CheckOutcome, what: &str) -> Outcome<()> {
    if verdict.outcome() == outcome {
        return Ok(());
    }
    let reasons: Vec<String> =
        verdict.checks.iter().map(|check| format!("{}: {}", check.name, check.reason)).collect();
    Err(format!("{what} came out as {:?}: {}", verdict.outcome(), reasons.join("; ")).into())
}

/// What is not served: nothing falls back silently.
fn refused(out: &mut impl Write, path: &Path, keyring: &Keyring) -> Outcome<()> {
    let request = Delete { what: Selector::Ids(vec!["wine-9999".into()]), request_id: None };
    writeln!(out, "Refused, with nothing changed:")?;
    for error in [
        timed(keyring, |s| delete(path, &request, s)).err(),
        timed(keyring, |s| refresh(path, None, s)).err(),
    ] {
        let error = error.ok_or("a request that must be refused was served")?;
        writeln!(out, "  {}", error.message())?;
    }
    Ok(())
}
