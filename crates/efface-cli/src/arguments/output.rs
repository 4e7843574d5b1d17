//! Whether files that exist may be replaced.

use std::path::{Path, PathBuf};

use clap::Args;
use efface::{Code, Error};

use crate::destination::{Destination, Existing};
use crate::failure::Result;

/// Leave to replace files.
#[derive(Debug, Args)]
pub(crate) struct ForceArgument {
    /// Overwrite existing output files; vaults and key files are never overwritten
    #[arg(long, display_order = 901)]
    force: bool,
}

impl ForceArgument {
    /// What becomes of a file that is there already.
    pub(crate) fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Keep }
    }

    /// The place for a result beside standard output; `others` are files that the command reads or
    /// makes itself.
    pub(crate) fn file(
        &self,
        path: Option<&Path>,
        others: &[&Path],
    ) -> Result<Option<Destination>> {
        let Some(path) = path else { return Ok(None) };
        if path == Path::new("-") {
            return Err(Error::input(Code::Output, "a file name is needed here, got `-`")
                .hint("standard output holds the result itself; `./-` is a file of that name")
                .into());
        }
        Destination::reserve(path, self.existing(), others).map(Some)
    }

    /// The place for the result itself: none for standard output, which `-` means, too.
    pub(crate) fn result(
        &self,
        path: Option<PathBuf>,
        others: &[&Path],
    ) -> Result<Option<Destination>> {
        self.file(path.filter(|path| path != Path::new("-")).as_deref(), others)
    }
}
