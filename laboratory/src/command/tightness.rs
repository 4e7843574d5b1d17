//! `efface-laboratory tightness`: instances that attain the certified mu, and planted faults.

use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use efface_audit::{Budget, Seeds, Verdict, statistics::MOST_TRIALS};
use efface_laboratory::tightness::{FAULTY, Fault, Instance, Measured, TIGHT, TIGHT_CYCLES};
use efface_page::number::{ceiling, floor};
use efface_page::{Page, Section, Table};

use super::{Result, tell, words};
use crate::asked;

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
  efface-laboratory tightness --runs 1000000")]
pub(crate) struct Tightness {
    /// Number of runs of each world of each instance
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=MOST_TRIALS))]
    runs: u64,
}

impl Tightness {
    pub(crate) fn run(self) -> Result {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let elapsed = || begun.elapsed().as_secs_f64();
        let budget = Budget { runs: self.runs, limit: None, elapsed: &elapsed, stop: &asked };
        let mut stream = 0_u8;
        let mut seeds = || {
            // One stream of seeds for each instance: none is used twice.
            let mut own = seed;
            own[0] ^= stream;
            stream += 1;
            Seeds::new(own)
        };
        let mut measure = |instance: Instance, fault: Option<Fault>| {
            instance.measure(fault, seeds(), &budget).map_err(|error| words(&error))
        };
        let mut measured = Vec::new();
        for instance in TIGHT.into_iter().chain(TIGHT_CYCLES) {
            measured.push((instance, measure(instance, None)?));
        }
        let mut faults: Vec<(&str, Measured)> = Vec::new();
        for fault in std::iter::once(None).chain(Fault::ALL.map(Some)) {
            let instance = fault.map_or(FAULTY, Fault::instance);
            faults.push((fault.map_or("none", Fault::words), measure(instance, fault)?));
        }
        let honest = measured.iter().map(|(_, found)| found.verdict).chain([faults[0].1.verdict]);
        let honest: Vec<Verdict> = honest.collect();
        let planted: Vec<Verdict> = faults[1..].iter().map(|(_, found)| found.verdict).collect();
        let (code, conclusion) = conclusion(&honest, &planted, self.runs);
        tell(&page(&measured, &faults, &conclusion).text());
        Ok(ExitCode::from(code))
    }
}

/// How near measurements come to certified numbers, what became of false claims, and a sentence. What
/// cannot be estimated is a dash; bounds are rounded to their own side.
fn page(measured: &[(Instance, Measured)], faults: &[(&str, Measured)], words: &str) -> Page {
    let head = [
        ">T",
        ">K",
        ">eta",
        ">sigma",
        ">lambda",
        ">S",
        ">N",
        ">l",
        ">certified",
        ">estimate",
        ">at least",
        ">runs",
    ];
    let instances = measured.iter().map(|(i, found)| {
        let estimate = match found.estimate {
            estimate if estimate.is_finite() => format!("{estimate:.4}"),
            _ => "-".to_owned(),
        };
        let counts = [i.learning, i.removal].map(|count| count.to_string());
        let constants = [i.step, i.sigma, i.lambda].map(|constant| constant.to_string());
        let sizes = [i.group, i.n].map(|size| size.to_string());
        let batches = i.batches.map_or_else(|| "-".to_owned(), |count| count.to_string());
        let found = [ceiling(found.mu), estimate, floor(found.lower), found.counted.to_string()];
        counts.into_iter().chain(constants).chain(sizes).chain([batches]).chain(found)
    });
    let planted = faults.iter().map(|(fault, found)| {
        let word = found.verdict.word().to_owned();
        [(*fault).to_owned(), ceiling(found.mu), floor(found.lower), word]
    });
    let faults = Table::new("", &["fault", ">claimed", ">at least", "verdict"]);
    Page::default()
        .with(Section::new("").table(Table::new("", &head).rows(instances)))
        .with(Section::new("").table(faults.rows(planted)))
        .with(Section::new("").text(words))
}

// What the process ends with.
const RIGHT: u8 = 0;
const WRONG: u8 = 1;
const UNDECIDED: u8 = 2;

/// With so many runs the fault that is hardest to see is missed with probability below 1e-9: its
/// bound then lies about seven standard deviations above the false claim.
const ENOUGH: u64 = 20_000;

/// What honest and false claims came to, together.
fn conclusion(honest: &[Verdict], planted: &[Verdict], runs: u64) -> (u8, String) {
    let count = |list: &[Verdict], verdict| list.iter().filter(|v| **v == verdict).count();
    let wrong = count(honest, Verdict::Refuted);
    let open = count(honest, Verdict::Undecided);
    let missed = planted.len() - count(planted, Verdict::Refuted);
    if wrong > 0 {
        let of = honest.len();
        let words = format!("{wrong} of {of} honest claims are refuted: the accountant is wrong");
        return (WRONG, words);
    }
    if missed > 0 && runs >= ENOUGH {
        let words = format!(
            "{missed} of {} false claims are not refuted by {runs} runs, which find each of them \
             when all is well: the audit is too weak",
            planted.len()
        );
        return (WRONG, words);
    }
    if open + missed > 0 {
        let words = format!(
            "undecided at `--runs {runs}`: {open} honest claims are undecided, and {missed} of {} \
             false claims are not refuted; {ENOUGH} runs or more are enough",
            planted.len()
        );
        return (UNDECIDED, words);
    }
    (RIGHT, "as expected: no honest claim is refuted, every false one is".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Consistent, Refuted, Undecided};

    #[test]
    fn few_runs_decide_nothing_and_wrong_claims_show_at_any_number() {
        let code = |honest: &[_], planted: &[_], runs| conclusion(honest, planted, runs).0;
        assert_eq!(code(&[Consistent], &[Refuted], 2_000), RIGHT);
        assert_eq!(code(&[Undecided], &[Undecided], 1), UNDECIDED);
        assert_eq!(code(&[Consistent], &[Refuted, Consistent], 2_000), UNDECIDED);
        assert_eq!(code(&[Consistent], &[Refuted, Consistent], ENOUGH), WRONG);
        assert_eq!(code(&[Refuted, Undecided], &[Undecided], 1), WRONG);
        let (_, words) = conclusion(&[Consistent], &[Refuted, Consistent], 100);
        assert!(words.contains("1 of 2 false claims are not refuted; 20000 runs"), "{words}");
    }
}
