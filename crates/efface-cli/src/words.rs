//! The words of the command line for what the engine names.

use efface::Words;

/// A setting is a flag, a command is one of the program.
pub(crate) const FLAGS: Words = Words { setting: flag, command: |line| format!("efface {line}") };

fn flag(name: &str, value: Option<&str>) -> String {
    match value {
        None => format!("--{name}"),
        // What may stand without a value takes it behind a sign.
        Some(value @ ("true" | "false")) => format!("--{name}={value}"),
        Some(value) => format!("--{name} {value}"),
    }
}
