//! Timing, medians, and work in a process of its own.

use std::ffi::OsStr;
use std::io::Write as _;
use std::process::Command;
use std::time::Instant;

use crate::Failure;

/// Writes a line to standard output.
pub(crate) fn say(line: &str) -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// What `work` returns, and the seconds it took.
pub(crate) fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let clock = Instant::now();
    let value = work()?;
    Ok((value, clock.elapsed().as_secs_f64()))
}

/// The median; NaN for no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}

/// The mean; NaN for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The first argument of a process that is a part of a scenario.
pub(crate) const CHILD: &str = "--child";

/// What a part of a scenario prints that runs in a process of its own, with so many threads where a number is
/// given.
pub(crate) fn child<S: AsRef<OsStr>>(
    scenario: &str,
    arguments: impl IntoIterator<Item = S>,
    threads: Option<usize>,
) -> Result<String, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([CHILD, scenario]).args(arguments);
    if let Some(threads) = threads {
        command.env("RAYON_NUM_THREADS", threads.to_string());
    }
    let done = command.output()?;
    if done.status.success() {
        Ok(String::from_utf8(done.stdout)?)
    } else {
        Err(String::from_utf8_lossy(&done.stderr).trim().to_owned().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_small_samples() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
        assert_eq!(mean(&[1.0, 3.0]), 2.0);
    }
}
