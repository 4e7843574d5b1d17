//! Which code runs an experiment.

use efface::Result;
use serde::Deserialize;

use super::bench::Bench;
use super::outcome::Outcome;
use super::{Experiment, chien2024, chourasia2023, frontier, guo2020, khi2024, neel2020};

/// The code behind declared experiments; several may share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Runner {
    /// The constants of chien2024's problems.
    Chien2024Constants,
    /// The numbers behind chien2024's tables and figures, by accounting alone.
    Chien2024Published,
    /// Accuracy of chien2024's methods for one record.
    Chien2024Accuracy,
    /// Accuracy after batches are forgotten.
    Chien2024Batches,
    /// Accuracy against removals of guo2020.
    Guo2020Tradeoff,
    /// Bounds on guo2020's residual.
    Guo2020Bounds,
    /// Digits by how hard they are to remove.
    Guo2020Digits,
    /// Removals beside training, timed.
    Guo2020Speed,
    /// khi2024's conversions.
    Khi2024,
    /// Gradient work that chourasia2023 and its rivals save.
    Chourasia2023Savings,
    /// chourasia2023's Theorem 5.2 in numbers.
    Chourasia2023Bounded,
    /// chourasia2023's recipe, run.
    Chourasia2023Recipe,
    /// The methods of neel2020's table.
    Neel2020,
    /// Every mechanism at one guarantee.
    Frontier,
}

impl Runner {
    /// Runs it.
    pub(super) fn run(self, experiment: &Experiment, bench: &mut Bench<'_>) -> Result<Outcome> {
        match self {
            Self::Chien2024Constants => chien2024::constants::run(),
            Self::Chien2024Published => chien2024::published::run(&experiment.grid()?, bench),
            Self::Chien2024Accuracy => {
                chien2024::accuracy::run(experiment, &experiment.grid()?, bench)
            }
            Self::Chien2024Batches => {
                chien2024::batches::run(experiment, &experiment.grid()?, bench)
            }
            Self::Guo2020Tradeoff => guo2020::tradeoff::run(experiment, &experiment.grid()?, bench),
            Self::Guo2020Bounds => guo2020::bounds::run(experiment, &experiment.grid()?, bench),
            Self::Guo2020Digits => guo2020::digits::run(experiment, &experiment.grid()?, bench),
            Self::Guo2020Speed => guo2020::speed::run(experiment, &experiment.grid()?, bench),
            Self::Khi2024 => khi2024::run(&experiment.grid()?),
            Self::Chourasia2023Savings => chourasia2023::savings::run(&experiment.grid()?),
            Self::Chourasia2023Bounded => chourasia2023::bounded::run(&experiment.grid()?),
            Self::Chourasia2023Recipe => {
                chourasia2023::recipe::run(experiment, &experiment.grid()?, bench)
            }
            Self::Neel2020 => neel2020::run(experiment, &experiment.grid()?, bench),
            Self::Frontier => frontier::run(experiment, &experiment.grid()?, bench),
        }
    }

    /// Whether the declared settings have the form this code reads.
    #[cfg(test)]
    pub(super) fn check(self, experiment: &Experiment) -> Result<()> {
        match self {
            Self::Chien2024Constants => Ok(()),
            Self::Chien2024Published => experiment.grid::<chien2024::published::Grid>().map(drop),
            Self::Chien2024Accuracy => experiment.grid::<chien2024::accuracy::Grid>().map(drop),
            Self::Chien2024Batches => experiment.grid::<chien2024::batches::Grid>().map(drop),
            Self::Guo2020Tradeoff => experiment.grid::<guo2020::tradeoff::Grid>().map(drop),
            Self::Guo2020Bounds => experiment.grid::<guo2020::bounds::Grid>().map(drop),
            Self::Guo2020Digits => experiment.grid::<guo2020::digits::Grid>().map(drop),
            Self::Guo2020Speed => experiment.grid::<guo2020::speed::Grid>().map(drop),
            Self::Khi2024 => experiment.grid::<khi2024::Grid>().map(drop),
            Self::Chourasia2023Savings => {
                experiment.grid::<chourasia2023::savings::Grid>().map(drop)
            }
            Self::Chourasia2023Bounded => {
                experiment.grid::<chourasia2023::bounded::Grid>().map(drop)
            }
            Self::Chourasia2023Recipe => experiment.grid::<chourasia2023::recipe::Grid>().map(drop),
            Self::Neel2020 => experiment.grid::<neel2020::Grid>().map(drop),
            Self::Frontier => experiment.grid::<frontier::Grid>().map(drop),
        }
    }
}
