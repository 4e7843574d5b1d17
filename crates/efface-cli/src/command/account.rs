//! `efface account`: privacy accounting by itself.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::{Outcome, Result, unreadable};
use crate::output::Output;

/// Compute privacy bounds for a batch of cases
///
/// Reads JSON, `{"cases": [{"kind": ..., "inputs": {...}}, ...]}`, and writes the same with a
/// `result` in each case. Numbers are decimal strings; results are not rounded to the safe
/// side as those of certificates are.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Kinds:
  gdp-delta               mu, epsilon -> delta of Gaussian differential privacy
  gdp-epsilon             mu, delta -> epsilon
  gdp-mu                  epsilon, delta -> mu
  rdp-epsilon             a curve of Rényi bounds, delta -> epsilon
  noisy-gd-gdp            one deletion from noisy gradient descent -> mu
  noisy-gd-gdp-sequence   a sequence of additions and deletions -> mu
  noisy-gd-gdp-schedule   steps given one by one -> mu
  advantage               the best advantage of an attacker
  group-privacy           a group's bound from one record's, and back
  bounded-domain          noisy gradient descent in a ball -> ln delta
  langevin                published Langevin bound -> epsilon, fewest steps
  langevin-sequence       the same for a sequence of requests -> fewest steps
  chourasia-convex        published deletion privacy -> fewest steps
  descent-to-delete       published bounds -> noise, iterations, steps

Example:
  efface account --batch cases.json")]
pub(crate) struct Account {
    /// The cases; `-` for standard input
    #[arg(long, value_name = "FILE")]
    batch: PathBuf,
}

impl Account {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let path = &self.batch;
        let text = if path == Path::new("-") {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map(|_| text)
        } else {
            fs::read_to_string(path)
        };
        let text = text.map_err(|error| unreadable(path, &error))?;
        let results = efface::account(&text)?;
        output.text(&results)?;
        Ok(Outcome::Done)
    }
}
