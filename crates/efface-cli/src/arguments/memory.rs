//! How much memory a command may take.

use clap::Args;
use efface::{Memory, RowStore};

use crate::words::FLAGS;

/// A limit of memory.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MemoryArgument {
    /// Take about this much memory at most, such as `2GiB`: rows that need more are read from the vault
    /// anew for every pass, which gives the same model
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<Memory>,
}

impl MemoryArgument {
    /// The vault whose rows take no more.
    pub(crate) fn store(self) -> RowStore<'static> {
        self.memory.map_or(RowStore::Vault, RowStore::Within)
    }

    /// The limit, where one is given.
    pub(crate) fn limit(self) -> Option<Memory> {
        self.memory
    }
}

/// Units and their bytes.
const UNITS: [(&str, u64); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
    ("", 1),
];

/// Bytes as people write them.
fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || ".eE_".contains(c)));
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let unit = unit.trim();
    let bytes = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let number = number.replace('_', "").parse::<f64>().ok().filter(|n| n.is_finite());
    match (number, bytes) {
        (Some(number), Some((_, bytes))) if number * (*bytes as f64) < 2.0_f64.powi(63) => {
            Ok((number * (*bytes as f64)) as u64)
        }
        _ => Err("a size is needed, such as `2GiB` or `512MiB`".to_owned()),
    }
}

fn memory(text: &str) -> Result<Memory, String> {
    Memory::of(size(text)?).map_err(|error| efface::in_words(error.message(), &FLAGS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        for (text, bytes) in [
            ("2GiB", 2 << 30),
            ("512 mib", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("1e9", 1_000_000_000),
            ("2GB", 2_000_000_000),
            ("100_000_000B", 100_000_000),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "GiB", "-1GiB", "2 parsecs", "nan", "1e300", "1.2.3MiB"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(memory("64MiB").is_ok());
        assert!(memory("63MiB").unwrap_err().contains("at least 64 MiB"));
    }
}
