//! Runs experiments and writes what comes out, each as soon as it is done.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::{Code, Error, Result};

use super::bench::Bench;
use super::data::Shelf;
use super::outcome::{Line, Outcome};
use super::page;
use super::{Experiment, Provenance, experiments};

/// What to run, on what, and where results go.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of experiments; none means all.
    pub names: Vec<String>,
    /// The quick variants.
    pub quick: bool,
    /// The folder of public data sets.
    pub data: Option<PathBuf>,
    /// The folder results are written to; made if it is not there.
    pub folder: PathBuf,
    /// What earlier runs left there may be replaced.
    pub replace: bool,
    /// The date, for provenance.
    pub date: String,
    /// Whether the user asked to stop: heard at every pass over the data.
    pub stop: fn() -> bool,
}

/// One experiment that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Name of the experiment, also of its files.
    pub name: String,
    /// The declared claims beside what was measured.
    pub lines: Vec<Line>,
    /// Printed numbers that agree, and all of them.
    pub printed: (usize, usize),
    /// Where it comes from.
    pub provenance: Provenance,
}

/// Runs experiments in the order of the list and writes CSV files, the claims as Markdown,
/// and `index.html` with everything.
///
/// `seconds` is a clock, `tell` hears what is being done and may stop it. What was written before an
/// experiment fails stays; the page holds what was done in this run.
///
/// # Errors
/// An unknown name, data that are not there or not all there (named), a folder that cannot be written
/// or has results already that are not to be replaced, an interruption, or a fault of an experiment.
pub fn run(
    options: &Options,
    seconds: &mut dyn FnMut() -> f64,
    tell: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<Vec<Done>> {
    let chosen = chosen(options)?;
    let mut shelf = Shelf::new(options.data.clone());
    // Everything that is needed is found before anything is run.
    chosen.iter().flat_map(|experiment| &experiment.data).try_for_each(|set| shelf.find(*set))?;
    own(&options.folder.join("index.html"))?;
    if !options.replace {
        free(&options.folder, &chosen)?;
    }
    fs::create_dir_all(&options.folder).map_err(|error| unwritable(&options.folder, &error))?;
    let (mut done, mut sections) = (Vec::new(), Vec::new());
    for experiment in &chosen {
        let begin = seconds();
        let stop = options.stop;
        let mut bench = Bench { experiment, shelf: &mut shelf, seconds, tell, stop };
        bench.say(&experiment.name)?;
        let outcome = experiment.runner().and_then(|runner| (runner.run)(&mut bench));
        // Whatever came of it: it may have been cut short.
        if (options.stop)() {
            return Err(Error::interrupted());
        }
        let outcome = outcome?;
        let lines = experiment.lines(&outcome.measured)?;
        let data =
            experiment.data.iter().map(|set| shelf.checksums(*set)).collect::<Result<_>>()?;
        let (date, took) = (&options.date, seconds() - begin);
        let provenance = Provenance::new(experiment, date, options.quick, data, took);
        let files = write(&options.folder, experiment, &outcome, &lines)?;
        sections.extend(page::sections(experiment, &outcome, &lines, &provenance, &files));
        let printed = outcome.printed.iter().filter(|line| line.agrees).count();
        done.push(Done {
            name: experiment.name.clone(),
            lines,
            printed: (printed, outcome.printed.len()),
            provenance,
        });
        let shown = page::page(&chosen[..done.len()], &sections, options.quick);
        put(&options.folder.join("index.html"), &shown.document())?;
    }
    Ok(done)
}

fn chosen(options: &Options) -> Result<Vec<Experiment>> {
    let all = experiments()?;
    for name in &options.names {
        if !all.iter().any(|experiment| experiment.name == *name) {
            let names: Vec<&str> = all.iter().map(|e| e.name.as_str()).collect();
            let message = format!("experiments are called {}; got `{name}`", names.join(", "));
            return Err(Error::input(Code::Audit, message)
                .hint("`efface-laboratory reproduce --list` says what each is about"));
        }
    }
    all.into_iter()
        .filter(|e| options.names.is_empty() || options.names.contains(&e.name))
        .map(|e| if options.quick { e.quickly() } else { Ok(e) })
        .collect()
}

/// Writes the files of one experiment and returns their names.
fn write(
    folder: &Path,
    experiment: &Experiment,
    outcome: &Outcome,
    lines: &[Line],
) -> Result<Vec<String>> {
    let name = |part: &str, end: &str| match part {
        "" => format!("{}.{end}", experiment.name),
        part => format!("{}-{part}.{end}", experiment.name),
    };
    let mut files: Vec<(String, String)> = Vec::new();
    files.extend(
        outcome.sheets.iter().map(|sheet| (name(&sheet.name, "csv"), page::csv(&sheet.table))),
    );
    if !lines.is_empty() {
        files.push((name("", "md"), page::markdown(&page::claims(lines))));
    }
    files.iter().try_for_each(|(file, text)| put(&folder.join(file), text))?;
    Ok(files.into_iter().map(|(file, _)| file).collect())
}

/// Refuses to write over a page that is another's.
fn own(page: &Path) -> Result<()> {
    let refused = |what: String| {
        Err(Error::input(Code::Unwritable, format!("`{}` {what}", page.display()))
            .hint("give another folder with `-o`, or move the file away"))
    };
    match fs::read(page) {
        Ok(bytes) if page::is_one(&bytes) => Ok(()),
        Ok(_) => refused(
            "was not written by `efface-laboratory reproduce`, and would be overwritten".into(),
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        // The folder is a file: its own error follows.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(()),
        Err(error) => refused(format!("would be overwritten, and cannot be read: {error}")),
    }
}

/// Refuses a folder with a page, or with files of these experiments.
fn free(folder: &Path, chosen: &[Experiment]) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let taken = |name: &str| {
        name == "index.html"
            || chosen.iter().any(|experiment| {
                name.strip_prefix(&experiment.name).is_some_and(|end| end.starts_with(['.', '-']))
            })
    };
    let mut names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let Some(name) = names.find(|name| taken(name)) else { return Ok(()) };
    Err(Error::input(Code::Exists, format!("`{}` exists", folder.join(name).display())).hint(
        "give another folder with `-o`, or `--force` to replace what earlier runs left there",
    ))
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::storage(Code::Unwritable, format!("cannot write `{}`: {error}", path.display()))
}
