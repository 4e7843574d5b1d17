//! `efface certificate`: what certificates say, and whether it holds.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use efface::{Code, Error};
use serde_json::{Value, json};

use crate::arguments::{ForceArgument, trusted_key};
use crate::failure::{Outcome, Result};
use crate::input;
use crate::output::Output;

/// The most bytes that are read as a certificate.
const MOST: u64 = 16 << 20;

/// The first bytes of a vault.
const VAULT: &[u8] = b"SQLite format 3\0";

/// List, read, export and verify certificates
#[derive(Debug, Args)]
pub(crate) struct Certificate {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(List),
    Show(Show),
    Export(Export),
    Verify(Verify),
    Bounds(Bounds),
}

/// List the entries of a vault's ledger
#[derive(Debug, Args)]
struct List {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,
}

/// A certificate by itself, or one of a vault.
#[derive(Debug, Args)]
struct Chosen {
    /// A certificate, `-` for standard input, or a vault
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Of a vault: the certificate's index, its request id, or `latest`
    #[arg(value_name = "WHICH", default_value = "latest")]
    which: String,
}

/// Show a certificate as a readable page
///
/// What is promised, in words; what is not covered; and what was enforced, measured, declared or
/// only assumed. This verifies nothing; `efface certificate verify` does. Of a vault whose model was
/// withdrawn by an erasure, the newest is the entry of that erasure.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface certificate show alice.json
  efface certificate show model.efface
  efface certificate show model.efface 3")]
struct Show {
    #[command(flatten)]
    of: Chosen,
}

/// Write a certificate of a vault, canonical JSON
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface certificate export model.efface
  efface certificate export model.efface 2026-11-leavers -o leavers.json")]
struct Export {
    /// The vault
    #[arg(value_name = "VAULT")]
    vault: PathBuf,

    /// Its index, its request id, or `latest`
    #[arg(value_name = "WHICH", default_value = "latest")]
    which: String,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,
}

/// Recompute everything a certificate claims, from the certificate alone
///
/// Needs neither the data nor the model. Exit code 0: every check passed. 1: a check failed, and
/// the output says which and why. 2: no check failed, but some could not be run without a trusted
/// key or the vault.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface certificate verify alice.json --key 4f0c...e1
  efface certificate verify alice.json --key trusted.pub --vault model.efface --head 9a1b...")]
struct Verify {
    /// The certificate; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The public key you trust: 64 hexadecimal digits, or a file that holds them
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// The vault it is from: its ledger and the digest of its model are checked too
    #[arg(long, value_name = "VAULT")]
    vault: Option<PathBuf>,

    /// A ledger head that you kept, as `efface status` shows it or its hash alone: it shows whether
    /// the vault was replaced by an older copy
    #[arg(long, value_name = "HEAD", requires = "vault")]
    head: Option<String>,
}

/// Compare the bounds of all accountants for a certificate's event
///
/// For each notion, each accountant's epsilon, or why it has none. This verifies nothing; `efface
/// certificate verify` does.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface certificate bounds alice.json
  efface certificate bounds model.efface 3 --delta 1e-6")]
struct Bounds {
    #[command(flatten)]
    of: Chosen,

    /// The delta of (epsilon, delta) notions [default: the certificate's]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    delta: Option<f64>,
}

impl Certificate {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        match self.action {
            Action::List(list) => output.entries(&efface::entries(&list.vault)?)?,
            Action::Show(show) => show.run(output)?,
            Action::Export(export) => export.run(output)?,
            Action::Verify(verify) => return verify.run(output),
            Action::Bounds(bounds) => bounds.run(output)?,
        }
        Ok(Outcome::Done)
    }
}

impl Chosen {
    fn text(&self) -> Result<String> {
        if is_vault(&self.file) {
            return Ok(efface::certificate(&self.file, &self.which)?);
        }
        read(&self.file)
    }

    /// The entry of the erasure by which the newest model was withdrawn, where the newest is asked for.
    fn withdrawal(&self) -> Result<Option<u64>> {
        if self.which != "latest" || !is_vault(&self.file) {
            return Ok(None);
        }
        let entries = efface::entries(&self.file)?;
        let mut requests = entries
            .iter()
            .rev()
            .filter(|entry| !["export", "checkpoint"].contains(&entry.kind.as_str()));
        Ok(requests.next().filter(|newest| newest.kind == "erase").map(|newest| newest.index))
    }
}

impl Show {
    fn run(self, output: &mut Output) -> Result<()> {
        let text = match self.of.withdrawal()? {
            Some(index) => efface::certificate(&self.of.file, &index.to_string())?,
            None => self.of.text()?,
        };
        let page = efface::show(&text)?;
        let certificate: Value = serde_json::from_str(&text)
            .map_err(|error| Error::input(Code::Certificate, error.to_string()))?;
        output.show(&json!({ "certificate": certificate, "page": page.text() }), || page)
    }
}

impl Export {
    fn run(self, output: &mut Output) -> Result<()> {
        let destination = self.force.result(self.output, &[&self.vault])?;
        let text = format!("{}\n", efface::certificate(&self.vault, &self.which)?);
        output.result("certificate", text.as_bytes(), destination, None, Value::Null)
    }
}

impl Verify {
    fn run(self, output: &mut Output) -> Result<Outcome> {
        if is_vault(&self.file) {
            let file = self.file.display();
            let message = format!("`{file}` is a vault, not a certificate");
            return Err(Error::input(Code::Certificate, message)
                .hint(format!(
                    "`efface ledger verify {file}` checks all of its certificates, `efface \
                     certificate export {file}` writes one"
                ))
                .into());
        }
        let key = self.key.as_deref().map(trusted_key).transpose()?;
        let text = read(&self.file)?;
        let verdict =
            efface::verify(&text, key.as_ref(), self.vault.as_deref(), self.head.as_deref())?;
        output.verdict(&verdict)
    }
}

impl Bounds {
    fn run(self, output: &mut Output) -> Result<()> {
        let text = self.of.text()?;
        output.bounds(&efface::bounds(&text, self.delta)?)
    }
}

fn is_vault(path: &Path) -> bool {
    let mut start = [0u8; VAULT.len()];
    path != Path::new("-")
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == VAULT
}

fn read(path: &Path) -> Result<String> {
    let text = input::first(path, MOST + 1)?;
    if text.len() as u64 > MOST {
        let message = format!("`{}` must have at most {MOST} bytes, got more", path.display());
        return Err(Error::input(Code::Certificate, message).into());
    }
    Ok(text)
}
