//! How much memory a command may take.

use clap::Args;
use efface::{MemoryBudget, RowStore};

use crate::words::FLAGS;

/// A limit of memory.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MemoryArgument {
    /// Take about this much memory at most, such as `2GiB`: rows that need more are read from the vault
    /// anew for every pass, which gives the same model
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<MemoryBudget>,
}

impl MemoryArgument {
    /// The vault whose rows take no more.
    pub(crate) fn store(self) -> RowStore<'static> {
        self.memory.map_or(RowStore::Vault, RowStore::Within)
    }

    /// The limit, where one is given.
    pub(crate) fn limit(self) -> Option<MemoryBudget> {
        self.memory
    }
}

fn memory(text: &str) -> Result<MemoryBudget, String> {
    MemoryBudget::parse(text).map_err(|error| efface::in_words(error.message(), &FLAGS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_argument() {
        assert!(memory("64MiB").is_ok());
        let refused = memory("63MiB").unwrap_err();
        assert!(refused.contains("`--memory` must be at least 64 MiB"), "{refused}");
        assert!(memory("2 parsecs").unwrap_err().contains("`--memory`"));
    }
}
