//! Running a benchmark and timing its parts.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use crate::{Failure, machine};

/// Runs a benchmark as the whole of a program: says what is measured and where, then does it.
pub fn run(title: &str, body: impl FnOnce() -> Result<(), Failure>) -> ExitCode {
    let result = say(&format!("## {title}\n\n{}\n", machine::description())).and_then(|()| body());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Writes a line to standard output.
///
/// # Errors
/// When nobody reads it any more.
pub fn say(line: &str) -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// What `work` returns, and the seconds it took.
///
/// # Errors
/// Those of `work`.
pub fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let clock = Instant::now();
    let value = work()?;
    Ok((value, clock.elapsed().as_secs_f64()))
}

/// The median; NaN for no values.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}

/// The mean; NaN for no values.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation of a sample; NaN for fewer than two values.
#[must_use]
pub fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_small_samples() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(mean(&[1.0, 3.0]), 2.0);
        assert!((deviation(&[1.0, 3.0]) - std::f64::consts::SQRT_2).abs() < 1e-15);
    }
}
