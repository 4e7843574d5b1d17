//! `bench SCENARIO [--quick] [NAME...]`: measures one thing and prints Markdown tables.
//!
//! Nothing asserts a time. `EFFACE_DATA` names the folder of public data sets. Names choose among the
//! cases of a scenario that has some; `--quick` takes fewer and smaller ones.
#![forbid(unsafe_code)]

mod data;
mod machine;
mod measure;
mod scenario;
mod shop;
mod table;

use std::io::Write as _;
use std::process::ExitCode;

use measure::{CHILD, say};
use scenario::{Asked, SCENARIOS, Scenario};

/// Whatever went wrong, for a message.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let named = |name: &str| SCENARIOS.iter().find(|scenario| scenario.name == name);
    let usage = || {
        let line = |one: &Scenario| format!("\n  {:<12} {}", one.name, one.about);
        let lines: String = SCENARIOS.iter().map(line).collect();
        format!("usage: bench SCENARIO [--quick] [NAME...]; scenarios are{lines}")
    };
    match arguments {
        [child, name, rest @ ..] if child == CHILD => {
            (named(name).and_then(|scenario| scenario.child).ok_or_else(usage)?)(rest)
        }
        [name, rest @ ..] => {
            let scenario = named(name).ok_or_else(usage)?;
            let names = rest.iter().filter(|word| *word != "--quick").cloned().collect();
            let asked = Asked { quick: rest.iter().any(|word| word == "--quick"), names };
            say(&format!("## {}\n\n{}\n", scenario.about, machine::description()))?;
            (scenario.run)(&asked)
        }
        [] => Err(usage().into()),
    }
}
