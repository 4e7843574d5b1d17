//! What every request against a model has: a name, a certificate's file, the key.

use std::path::PathBuf;

use clap::Args;

use super::{ForceArgument, KeyArgument, MemoryArgument, WaitArgument};

/// A request's name, where its certificate goes, and the key that signs it.
#[derive(Debug, Args)]
pub(crate) struct RequestArguments {
    /// A name for the request: repeating it returns the same certificate; it must not contain an id
    /// or subject
    #[arg(long, value_name = "NAME")]
    pub(crate) request_id: Option<String>,

    /// Write the certificate to this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) force: ForceArgument,

    #[command(flatten)]
    pub(crate) wait: WaitArgument,

    #[command(flatten)]
    pub(crate) memory: MemoryArgument,

    #[command(flatten)]
    pub(crate) key: KeyArgument,
}
