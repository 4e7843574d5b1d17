//! `efface train`: the first model of a vault.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use efface::{Code, Error, Source};

use crate::arguments::{
    ChoiceArguments, ColumnArguments, ForceArgument, KeyArgument, SettingArguments, TableArguments,
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
  efface train people.csv --label y --id id --subject user -o model.efface
  efface train images.gz --labels labels.gz --classes 3,8 --row-map unit --no-intercept \\
    --lambda 1e-3 --epsilon 1 -o digits.efface
  efface train people.csv --label y --public-n 10000 --delta 1e-6 \\
    --notion differential-privacy --epsilon 2 -o model.efface
  efface train houses.csv --label price --loss squared --target-range 0,1000000 -o houses.efface
  efface train people.csv --label y --mechanism noisy-gd --noise 0.03 -o model.efface
  efface train people.csv --label y --plan plan.json --choice solve -o model.efface")]
pub(crate) struct Train {
    /// The vault to create, by custom NAME.efface; must not exist yet
    #[arg(short, long, value_name = "VAULT")]
    output: PathBuf,

    /// Write the certificate to this file, too
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgument,

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
        let vault = self.output;
        if vault == Path::new("-") {
            return Err(Error::input(Code::Output, "a vault needs a file name, got `-`")
                .hint("give one such as `-o model.efface`")
                .into());
        }
        let others = [&*vault, self.table.data.as_path()];
        let certificate = self.force.file(self.certificate.as_deref(), &others)?;
        let mut source = Source { infers_task: true, ..self.table.source() };
        self.columns.add_to(&mut source)?;
        let settings = self.settings.read()?;
        let chosen = self.choice.chosen(&settings)?;
        let keyring = self.key.load_or_create(output)?;
        let served = context::with(&keyring, Duration::ZERO, output, |around| match &chosen {
            Some(chosen) => {
                efface::train_as_planned(&source, chosen, settings.seed, &vault, around)
            }
            None => efface::train(&source, settings, &vault, around),
        })?;
        super::served(output, &vault, &served, certificate)
    }
}
