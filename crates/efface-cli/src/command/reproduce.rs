//! `efface reproduce`: published experiments, repeated.

use std::env;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use efface::{Error, Kind};
use efface_lab::reproduce::{self, Done, Options};
use efface_page::{Item, Page, Section};
use serde_json::json;

use crate::arguments::ForceArgument;
use crate::context;
use crate::destination::Existing;
use crate::failure::{Outcome, Result};
use crate::interrupt;
use crate::output::Output;
use crate::progress::Bar;

/// Repeat published experiments, and compare the papers' numbers with the results
///
/// Each experiment writes CSV and SVG files and a page (`index.html`) that sets what the paper
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
  efface reproduce --list
  efface reproduce chien2024-fig3b khi2024 -o results
  efface reproduce --all --data public-data -o results")]
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

    #[command(flatten)]
    force: ForceArgument,
}

impl Reproduce {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        if self.list {
            return list(output);
        }
        interrupt::listen()?;
        let options = Options {
            names: self.names,
            quick: self.quick,
            data: self.data.or_else(|| env::var_os("EFFACE_DATA").map(PathBuf::from)),
            folder: self.output.clone(),
            replace: self.force.existing() == Existing::Replace,
            date: context::now(),
            stop: interrupt::asked,
        };
        let mut bar = Bar::new(output.is_json());
        let start = Instant::now();
        let done = reproduce::run(&options, &mut || start.elapsed().as_secs_f64(), &mut |what| {
            if interrupt::asked() {
                return ControlFlow::Break(());
            }
            bar.say(what);
            ControlFlow::Continue(())
        });
        bar.clear();
        let done = done.map_err(|error| match error.kind() {
            Kind::Interrupted => Error::input(
                error.code(),
                format!(
                    "interrupted; experiments that were complete are in `{}`",
                    self.output.display()
                ),
            ),
            _ => error,
        })?;
        done.iter().try_for_each(|one| tell(output, one))?;
        if !output.is_json() {
            output.text(&format!("\nthe page is {}", self.output.join("index.html").display()))?;
        }
        Ok(Outcome::Done)
    }
}

fn list(output: &mut Output) -> Result<Outcome> {
    let experiments = reproduce::experiments()?;
    let values = experiments.iter().map(|experiment| {
        json!({
            "name": experiment.name,
            "title": experiment.title,
            "paper": experiment.paper,
            "about": experiment.about,
            "data": experiment.data_names(),
            "seeds": experiment.seeds,
        })
    });
    output.list(&values.collect::<Vec<_>>(), || {
        let items = experiments.iter().map(|experiment| {
            let data = experiment.data_names().join(", ");
            let needs = if data.is_empty() { "no data".to_owned() } else { data };
            Item::new(&experiment.name, &experiment.title)
                .more([format!("{}; {needs}", experiment.paper)])
        });
        Page::default().with(Section::new("").terms(items))
    })?;
    Ok(Outcome::Done)
}

fn tell(output: &mut Output, done: &Done) -> Result<()> {
    let agree = done.lines.iter().filter(|line| line.agrees).count();
    let claims = done.lines.iter().map(|line| {
        json!({ "says": line.says, "paper": line.paper, "here": line.ours,
            "agrees": line.agrees, "why": line.why })
    });
    let value = json!({
        "name": done.name,
        "claims": claims.collect::<Vec<_>>(),
        "printed_agree": done.printed.0,
        "printed": done.printed.1,
        "provenance": done.provenance.line(),
    });
    output.show(&value, || {
        let printed = match done.printed {
            (_, 0) => String::new(),
            (agree, all) => format!("; {agree} of {all} printed numbers agree"),
        };
        let (name, all) = (&done.name, done.lines.len());
        let differ = done.lines.iter().filter(|line| !line.agrees).map(|line| {
            let text = format!("{} (paper: {}, here: {})", line.says, line.paper, line.ours);
            Item::new("differs", format!("{text}. {}", line.why))
        });
        Page::new(format!("{name}: {agree} of {all} claims agree{printed}"))
            .with(Section::new("").list(differ))
    })
}
