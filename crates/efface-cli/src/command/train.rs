//! `efface train`: the first model of a vault.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use efface::{Code, Error, Source};

use crate::arguments::{
    ChoiceArguments, ColumnArguments, ForceArgument, KeyArgument, MemoryArgument, SettingArguments,
    TableArguments,
};
use crate::context;
use crate::failure::{Outcome, Result};
use crate::output::Output;

/// Train a model that can forget, and certify it
///
/// Every constant below is fixed for the life of the model and listed in its certificates with its
/// origin: given by you as public knowledge, a default, or taken from the data. Choose lambda and
/// noise without looking at the private data: from public knowledge, or by training on public rows
/// and comparing with `efface evaluate` on a public holdout file. Each model tried on the private
/// data is a release of its own that no certificate covers.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  efface train people.csv --label y    # makes people.efface
  efface train people.csv --label y --id id --subject user -o model.efface
  efface train images.gz --labels labels.gz --classes 3,8 --row-map unit --no-intercept \\
    --lambda 1e-3 --epsilon 1 -o digits.efface
  efface train people.csv --label y --public-n 10000 --delta 1e-6 \\
    --notion differential-privacy --epsilon 2 -o model.efface
  efface train houses.csv --label price --loss squared --target-range 0,1000000 -o houses.efface
  efface train people.csv --label y --mechanism noisy-gd --noise 0.03 -o model.efface
  efface train people.csv --label y --plan plan.json --choice solve -o model.efface")]
pub(crate) struct Train {
    /// The vault to create, by custom NAME.efface; must not exist yet [default: the file name of
    /// DATA with the ending `.efface`, in the current folder]
    #[arg(short, long, value_name = "VAULT")]
    output: Option<PathBuf>,

    /// Write the certificate to this file, too
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,

    #[command(flatten)]
    memory: MemoryArgument,

    #[command(flatten)]
    key: KeyArgument,

    #[command(flatten)]
    table: TableArguments,

    #[command(flatten)]
    columns: ColumnArguments,

    #[command(flatten)]
    settings: SettingArguments,

    #[command(flatten)]
    choice: ChoiceArguments,
}

impl Train {
    pub(super) fn run(self, output: &mut Output) -> Result<Outcome> {
        let named = self.output.is_some();
        let vault = match self.output {
            None => named_after(&self.table.data)?,
            Some(dash) if dash == Path::new("-") => {
                return Err(unnamed("a vault needs a file name, got `-`").into());
            }
            Some(vault) => vault,
        };
        let others = [&*vault, self.table.data.as_path()];
        let certificate = self.force.file(self.certificate.as_deref(), &others)?;
        let mut source = Source { infers_task: true, ..self.table.source() };
        self.columns.add_to(&mut source)?;
        let settings = self.settings.read()?;
        let chosen = self.choice.chosen(&settings)?;
        let keyring = self.key.load_or_create(output)?;
        let served =
            context::with(&keyring, Duration::ZERO, self.memory.store(), output, |around| {
                match &chosen {
                    Some(chosen) => {
                        efface::train_as_planned(&source, chosen, settings.seed, &vault, around)
                    }
                    None => efface::train(&source, settings, &vault, around),
                }
            })?;
        if !named {
            let vault = vault.display();
            output.notice(&format!(
                "model and records are in {vault}, named after the table (`-o` gives another name)"
            ));
        }
        super::served(output, &vault, &served, certificate)
    }
}

/// The vault of a table or a folder of images, where nobody named it: `people.efface` for
/// `tables/people.csv.gz`.
fn named_after(data: &Path) -> efface::Result<PathBuf> {
    if data == Path::new("-") {
        return Err(unnamed("a model of standard input needs a name"));
    }
    let device = fs::metadata(data).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let name = data.file_name().and_then(|name| Path::new(name).file_stem());
    let Some(name) = name.filter(|_| !device) else {
        let message = format!("`{}` is no plain file; its model needs a name", data.display());
        return Err(unnamed(message));
    };
    let zipped = data.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let name = Path::new(name).file_stem().filter(|_| zipped).unwrap_or(name);
    // Not `with_extension`, which would take `2024` off `people.2024`.
    let mut vault = name.to_owned();
    vault.push(".efface");
    if fs::symlink_metadata(&vault).is_ok() {
        let message = format!("{} already exists", Path::new(&vault).display());
        return Err(Error::storage(Code::Exists, message).hint(
            "give the new vault another name: `-o NAME.efface`, or remove this one yourself",
        ));
    }
    Ok(vault.into())
}

fn unnamed(message: impl Into<String>) -> Error {
    Error::input(Code::Output, message).hint("give one such as `-o model.efface`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vault_is_named_after_its_table() {
        for (data, vault) in [
            ("people.csv", "people.efface"),
            ("tables/people.csv.gz", "people.efface"),
            ("/data/people.2024.csv", "people.2024.efface"),
            ("train-images-idx3-ubyte.gz", "train-images-idx3-ubyte.efface"),
            ("rows.v2.GZ", "rows.efface"),
            ("people", "people.efface"),
            (".hidden", ".hidden.efface"),
        ] {
            assert_eq!(named_after(Path::new(data)).unwrap(), Path::new(vault), "{data}");
        }
    }

    #[test]
    fn what_has_no_name_of_its_own_asks_for_one() {
        for data in ["-", "..", "/", "/dev/null"] {
            assert!(named_after(Path::new(data)).is_err(), "{data}");
        }
    }
}
