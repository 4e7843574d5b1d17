//! Which code runs an experiment.

use efface::{Code, Error, Result};
use serde::de::DeserializeOwned;

use super::bench::Bench;
use super::outcome::Outcome;
use super::{
    Experiment, bsa2024, chien2024, chourasia2023, frontier, guo2020, khi2024, koloskova2025,
    neel2020, nonconvex,
};

/// A run of the bench's experiment.
type Run = dyn Fn(&mut Bench<'_>) -> Result<Outcome>;

/// The code behind declared experiments; several may share one.
pub(super) struct Runner {
    /// Runs the bench's experiment.
    pub(super) run: Box<Run>,
    /// Whether the declared settings have the form that the code reads.
    #[cfg(test)]
    pub(super) check: fn(&Experiment) -> Result<()>,
}

impl Experiment {
    /// The code that it names.
    pub(super) fn runner(&self) -> Result<Runner> {
        Ok(match self.runner.as_str() {
            "chien2024-constants" => runner(chien2024::constants::run),
            "chien2024-published" => runner(chien2024::published::run),
            "chien2024-accuracy" => runner(chien2024::accuracy::run),
            "chien2024-batches" => runner(chien2024::batches::run),
            "guo2020-tradeoff" => runner(guo2020::tradeoff::run),
            "guo2020-bounds" => runner(guo2020::bounds::run),
            "guo2020-digits" => runner(guo2020::digits::run),
            "guo2020-speed" => runner(guo2020::speed::run),
            "guo2020-trunk" => runner(guo2020::trunk::run),
            "khi2024" => runner(khi2024::run),
            "chourasia2023-savings" => runner(chourasia2023::savings::run),
            "chourasia2023-bounded" => runner(chourasia2023::bounded::run),
            "chourasia2023-recipe" => runner(chourasia2023::recipe::run),
            "neel2020" => runner(neel2020::run),
            "bsa2024" => runner(bsa2024::run),
            "koloskova2025-epsilon" => runner(koloskova2025::epsilon::run),
            "koloskova2025-start" => runner(koloskova2025::start::run),
            "nonconvex" => runner(nonconvex::run),
            "frontier" => runner(frontier::run),
            unknown => {
                let message = format!("`{}` names the unknown runner `{unknown}`", self.name);
                return Err(Error::input(Code::Audit, message));
            }
        })
    }
}

/// A function of settings, which are read in the form that it takes.
fn runner<G: DeserializeOwned + 'static>(run: fn(&G, &mut Bench<'_>) -> Result<Outcome>) -> Runner {
    Runner {
        run: Box::new(move |bench| run(&bench.experiment.grid()?, bench)),
        #[cfg(test)]
        check: |experiment| experiment.grid::<G>().map(drop),
    }
}
