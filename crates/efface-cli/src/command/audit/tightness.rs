//! `efface audit tightness`: instances that attain the certified mu, and planted faults.

use clap::Args;
use efface_lab::audit::{FAULTY, Fault, Measured, Seeds, TIGHT, Verdict};
use serde_json::json;

use super::{seed, within};
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Measure how tight the accountant of `noisy-gd` is, and that false claims are found
///
/// Runs the engine's steps on instances that attain the certified mu, and prints what is measured beside
/// what is certified. Then plants faults one by one, in what is run or in what is claimed, and says
/// which of the false claims are refuted.
///
/// Exit code 0: honest claims stand and false ones are refuted; 1: not so.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface audit tightness --runs 1000000")]
pub(super) struct Tightness {
    /// How often each world of each instance is run
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = super::runs())]
    runs: u64,
}

impl Tightness {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let seed = seed()?;
        let mut expected = true;
        let mut measured = Vec::new();
        let mut stream = 0_u8;
        let mut seeds = || {
            // One stream of seeds for each instance: none is used twice.
            let mut own = seed;
            own[0] ^= stream;
            stream += 1;
            Seeds::new(own)
        };
        for instance in TIGHT {
            let found = within(self.runs, None, |budget| instance.measure(None, seeds(), budget))?;
            expected &= found.verdict == Verdict::Consistent;
            measured.push((instance, found));
        }
        let mut faults: Vec<(&str, Measured)> = Vec::new();
        for fault in std::iter::once(None).chain(Fault::ALL.map(Some)) {
            let found = within(self.runs, None, |budget| FAULTY.measure(fault, seeds(), budget))?;
            let right = if fault.is_some() { Verdict::Refuted } else { Verdict::Consistent };
            expected &= found.verdict == right;
            faults.push((fault.map_or("none", Fault::words), found));
        }
        if output.is_json() {
            output.value(&json!({
                "tightness": measured.iter().map(|(instance, found)| json!({
                    "instance": instance, "measured": found,
                })).collect::<Vec<_>>(),
                "faults": faults.iter().map(|(fault, found)| json!({
                    "fault": fault, "measured": found,
                })).collect::<Vec<_>>(),
            }))?;
        } else {
            output.tightness(&measured, &faults)?;
        }
        Ok(if expected { Outcome::Done } else { Outcome::DoesNotHold })
    }
}
