//! The main job on an embedded real data set: train, forget, add, certify, verify, and report.
//!
//! 1599 Portuguese red wines (Cortez, Cerdeira, Almeida, Matos, Reis 2009, CC BY 4.0), eleven
//! chemical measurements each, to be told apart by whether tasters gave 6 points or more. The
//! data name no producers, so subjects are made by a stated rule: of every block of eight
//! consecutive wines, all belong to one cellar. Every fifth wine is held out as public test data.
#![forbid(unsafe_code)]

mod clock;
#[cfg(test)]
mod planned;
mod story;
mod wine;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "demo-output".to_owned());
    match story::tell(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
