//! The words of the command line for what the engine names.

use efface::Words;

/// A setting is a flag.
pub(crate) const FLAGS: Words = Words { setting: flag };

fn flag(name: &str, value: Option<&str>) -> String {
    match value {
        None => format!("--{name}"),
        Some(value) => format!("--{name} {value}"),
    }
}
