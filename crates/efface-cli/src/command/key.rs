//! `efface key`: the key that signs certificates.

use clap::{Args, Subcommand};
use efface::{Code, Error, Keyring};
use efface_page::{Page, Section};
use serde_json::json;

use crate::arguments::KeyArgument;
use crate::failure::{Outcome, Result};
use crate::key_file;
use crate::output::Output;

/// Show or create the key that signs certificates
///
/// The key is stored outside every vault, readable by its owner only. `efface train` creates it at
/// first use. Without it a vault's requests can no longer be signed, nor its deleted ids
/// recognised: back it up, separately from the vaults.
#[derive(Debug, Args)]
pub(crate) struct Key {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Show(Show),
    Create(Create),
}

/// Show where the key is stored, its public half and its id
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface key show --json | jq -r .public_key > trusted.pub")]
struct Show {
    #[command(flatten)]
    key: KeyArgument,
}

/// Create a key if there is none
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  efface key create --key ~/keys/efface.toml")]
struct Create {
    #[command(flatten)]
    key: KeyArgument,
}

impl Key {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let (keyring, argument) = match self.action {
            Action::Show(show) => {
                let path = show.key.path()?;
                if !path.exists() {
                    let message = format!("there is no key yet: no file at `{}`", path.display());
                    return Err(Error::input(Code::Key, message)
                        .hint(
                            "`efface key create` creates one, and so does the first `efface \
                            train`",
                        )
                        .into());
                }
                (show.key.load()?, show.key)
            }
            Action::Create(create) => (key_file::create(&create.key.path()?)?, create.key),
        };
        show(&keyring, &argument, output)?;
        Ok(Outcome::Done)
    }
}

fn show(keyring: &Keyring, argument: &KeyArgument, output: &mut Output) -> Result<()> {
    let path = argument.path()?.display().to_string();
    let public = key_file::public_key(keyring);
    let id = efface::key_id(&keyring.public_key());
    output.show(&json!({ "file": path, "public_key": public, "key_id": id }), || {
        Page::default().with(Section::new("").facts([
            ("file", path.clone()),
            ("public key", public.clone()),
            ("key id", id.clone()),
        ]))
    })
}
