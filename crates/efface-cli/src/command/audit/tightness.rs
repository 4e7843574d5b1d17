//! `efface audit tightness`: instances that attain the certified mu, and planted faults.

use clap::Args;
use efface_lab::audit::{FAULTY, Fault, Measured, Seeds, TIGHT, TIGHT_CYCLES, Verdict};
use serde_json::json;

use super::{seed, within};
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Measure how tight the accountant of `noisy-gd` is, and check that false claims are refuted
///
/// Runs the engine's steps on instances that attain the certified mu, and prints the measured bound
/// next to the certified one. Then plants faults one by one, in the runs or in the claim, and says
/// which of the false claims are refuted.
///
/// Exit code 0: no honest claim is refuted and every false one is; 1: an honest claim is refuted,
/// or a false one is not although 20000 runs or more were made; 2: too few runs to say, or Ctrl-C.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface audit tightness --runs 1000000")]
pub(super) struct Tightness {
    /// Number of runs of each world of each instance
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = super::runs, allow_negative_numbers = true)]
    runs: u64,
}

impl Tightness {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let seed = seed()?;
        let mut measured = Vec::new();
        let mut stream = 0_u8;
        let mut seeds = || {
            // One stream of seeds for each instance: none is used twice.
            let mut own = seed;
            own[0] ^= stream;
            stream += 1;
            Seeds::new(own)
        };
        for instance in TIGHT.into_iter().chain(TIGHT_CYCLES) {
            let found = within(self.runs, None, |budget| instance.measure(None, seeds(), budget))?;
            measured.push((instance, found));
        }
        let mut faults: Vec<(&str, Measured)> = Vec::new();
        for fault in std::iter::once(None).chain(Fault::ALL.map(Some)) {
            let instance = fault.map_or(FAULTY, Fault::instance);
            let found = within(self.runs, None, |budget| instance.measure(fault, seeds(), budget))?;
            faults.push((fault.map_or("none", Fault::words), found));
        }
        let honest = measured.iter().map(|(_, found)| found.verdict).chain([faults[0].1.verdict]);
        let honest: Vec<Verdict> = honest.collect();
        let planted: Vec<Verdict> = faults[1..].iter().map(|(_, found)| found.verdict).collect();
        let (outcome, words) = conclusion(&honest, &planted, self.runs);
        let value = json!({
            "tightness": measured.iter().map(|(instance, found)| json!({
                "instance": instance, "measured": found,
            })).collect::<Vec<_>>(),
            "faults": faults.iter().map(|(fault, found)| json!({
                "fault": fault, "measured": found,
            })).collect::<Vec<_>>(),
            "outcome": match outcome {
                Outcome::Done => "as-expected",
                Outcome::DoesNotHold => "not-as-expected",
                Outcome::Undecided => "undecided",
            },
            "words": words,
        });
        output.tightness(&value, &measured, &faults, &words)?;
        Ok(outcome)
    }
}

/// With so many runs the fault that is hardest to see is missed with probability below 1e-9: its
/// bound then lies about seven standard deviations above the false claim.
const ENOUGH: u64 = 20_000;

/// What honest and false claims came to, together.
fn conclusion(honest: &[Verdict], planted: &[Verdict], runs: u64) -> (Outcome, String) {
    let count = |list: &[Verdict], verdict| list.iter().filter(|v| **v == verdict).count();
    let wrong = count(honest, Verdict::Refuted);
    let open = count(honest, Verdict::Undecided);
    let missed = planted.len() - count(planted, Verdict::Refuted);
    if wrong > 0 {
        let of = honest.len();
        let words = format!("{wrong} of {of} honest claims are refuted: the accountant is wrong");
        return (Outcome::DoesNotHold, words);
    }
    if missed > 0 && runs >= ENOUGH {
        let words = format!(
            "{missed} of {} false claims are not refuted by {runs} runs, which find each of them \
             when all is well: the audit is too weak",
            planted.len()
        );
        return (Outcome::DoesNotHold, words);
    }
    if open + missed > 0 {
        let words = format!(
            "undecided at `--runs {runs}`: {open} honest claims are undecided, and {missed} of {} \
             false claims are not refuted; {ENOUGH} runs or more are enough",
            planted.len()
        );
        return (Outcome::Undecided, words);
    }
    (Outcome::Done, "as expected: no honest claim is refuted, every false one is".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Consistent, Refuted, Undecided};

    #[test]
    fn few_runs_decide_nothing_and_wrong_claims_show_at_any_number() {
        let code = |honest: &[_], planted: &[_], runs| conclusion(honest, planted, runs).0;
        assert_eq!(code(&[Consistent], &[Refuted], 2_000), Outcome::Done);
        assert_eq!(code(&[Undecided], &[Undecided], 1), Outcome::Undecided);
        assert_eq!(code(&[Consistent], &[Refuted, Consistent], 2_000), Outcome::Undecided);
        assert_eq!(code(&[Consistent], &[Refuted, Consistent], ENOUGH), Outcome::DoesNotHold);
        assert_eq!(code(&[Refuted, Undecided], &[Undecided], 1), Outcome::DoesNotHold);
        let (_, words) = conclusion(&[Consistent], &[Refuted, Consistent], 100);
        assert!(words.contains("1 of 2 false claims are not refuted; 20000 runs"), "{words}");
    }
}
