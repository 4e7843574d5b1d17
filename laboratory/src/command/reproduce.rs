//! `efface-laboratory reproduce`: published experiments, repeated.

use std::env;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use efface::Kind;
use efface_laboratory::reproduce::{self, Done, Options};

use super::{Result, say, tell, words};
use crate::asked;

/// Repeat published experiments, and compare the papers' numbers with the results
///
/// Each experiment writes CSV files and a page (`index.html`) that sets what the paper
/// prints beside what is computed or measured here, says which agree, and explains what differs.
/// All randomness has a declared seed: no model from here may be released. The page shows only the
/// experiments of its run. A folder with results of these experiments is refused without `--force`;
/// other files in it stay as they are.
///
/// Exit code 0: every experiment was run, also where a claim differs (the line says so, and why); 2:
/// one could not be run, or Ctrl-C. Experiments that were complete by then are in the folder.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface-laboratory reproduce --list
  efface-laboratory reproduce chien2024-fig3b khi2024 -o results
  efface-laboratory reproduce --all --data public-data -o results")]
pub(crate) struct Reproduce {
    /// Experiments to run, by name
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "list"])]
    names: Vec<String>,

    /// Run every experiment
    #[arg(long, conflicts_with_all = ["names", "list"])]
    all: bool,

    /// List the experiments, and run none
    #[arg(long, conflicts_with = "names")]
    list: bool,

    /// Fewer rows, seeds and settings: to see that everything runs
    #[arg(long)]
    quick: bool,

    /// The folder of public data sets (mnist/, sst/, libsvm/, parkinsons-telemonitoring/)
    /// [default: what EFFACE_DATA names]
    #[arg(long, value_name = "FOLDER", verbatim_doc_comment)]
    data: Option<PathBuf>,

    /// The folder that results are written to
    #[arg(short, long, value_name = "FOLDER", default_value = "reproduced")]
    output: PathBuf,

    /// Replace results of these experiments
    #[arg(long)]
    force: bool,

    /// The time that pages state, as `2026-01-31T12:00:00Z`
    #[arg(long, value_name = "TIME", default_value = "not stated")]
    date: String,
}

impl Reproduce {
    pub(crate) fn run(self) -> Result {
        if self.list {
            for experiment in reproduce::experiments().map_err(|error| words(&error))? {
                let data = experiment.data_names().join(", ");
                let needs = if data.is_empty() { "no data".to_owned() } else { data };
                let reproduce::Experiment { name, title, paper, .. } = &experiment;
                tell(&format!("{name}\n    {title}\n    {paper}; {needs}"));
            }
            return Ok(ExitCode::SUCCESS);
        }
        let options = Options {
            names: self.names,
            quick: self.quick,
            data: self.data.or_else(|| env::var_os("EFFACE_DATA").map(PathBuf::from)),
            folder: self.output.clone(),
            replace: self.force,
            date: self.date,
            stop: asked,
        };
        let start = Instant::now();
        let done = reproduce::run(&options, &mut || start.elapsed().as_secs_f64(), &mut |what| {
            if asked() {
                return ControlFlow::Break(());
            }
            say(&mut std::io::stderr(), what);
            ControlFlow::Continue(())
        });
        let folder = self.output.display();
        let done = done.map_err(|error| match error.kind() {
            Kind::Interrupted => {
                format!("interrupted; experiments that were complete are in `{folder}`")
            }
            _ => words(&error),
        })?;
        done.iter().for_each(compared);
        tell(&format!("\nthe page is {}", self.output.join("index.html").display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// How many claims of an experiment agree, and which differ.
fn compared(done: &Done) {
    let agree = done.lines.iter().filter(|line| line.agrees).count();
    let printed = match done.printed {
        (_, 0) => String::new(),
        (agree, all) => format!("; {agree} of {all} printed numbers agree"),
    };
    tell(&format!("{}: {agree} of {} claims agree{printed}", done.name, done.lines.len()));
    for line in done.lines.iter().filter(|line| !line.agrees) {
        let (says, paper, ours, why) = (&line.says, &line.paper, &line.ours, &line.why);
        tell(&format!("  differs: {says} (paper: {paper}, here: {ours}). {why}"));
    }
}
