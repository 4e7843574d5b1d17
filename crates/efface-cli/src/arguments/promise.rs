//! What is to be promised for every request, and the noise it takes.

use clap::Args;
use efface::Settings;

use super::count;
use super::names::{ACCOUNTANTS, NOTIONS, STATES};

/// The target, the state, and the noise.
#[derive(Debug, Args)]
#[command(next_help_heading = "Promise")]
pub(crate) struct PromiseArguments {
    /// epsilon that no request may exceed [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    epsilon: Option<f64>,

    /// delta [default: 1e-6, or 1/(10 N) if that is less]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    delta: Option<f64>,

    /// The notion of the target (epsilon, delta) [default: indistinguishable-from-retraining]
    #[arg(long, value_name = "NAME", value_parser = NOTIONS)]
    notion: Option<String>,

    /// The accountant whose bound must meet epsilon: the tight `gdp`, or a published one [default:
    /// gdp]
    #[arg(long, value_name = "NAME", value_parser = ACCOUNTANTS)]
    accountant: Option<String>,

    /// Order of the Rényi notions [default: 2]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    order: Option<f64>,

    /// `deletion-privacy`: how many releases a requester may have seen; without it, requests must
    /// be chosen without looking at releases
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    interactions: Option<u64>,

    /// What is kept after a request: nothing that saw deleted records, or a secret state that
    /// allows a counted number of releases [default: perfect]
    #[arg(long, value_name = "NAME", value_parser = STATES)]
    state: Option<String>,

    /// Number of releases covered jointly [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    releases: Option<u64>,

    /// Maximum number of records per person that differential privacy and deletion-privacy protect
    /// together; people with more are refused under these notions [default: 1]
    ///
    /// `descent-to-delete`: also the records that one update stands for.
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    max_group: Option<u64>,

    /// Standard deviation of the noise on each weight (`noisy-gd`: sigma of the diffusion)
    ///
    /// Choose it like `--lambda`: from public knowledge or on public data.
    #[arg(long, value_name = "SIGMA", allow_negative_numbers = true)]
    noise: Option<f64>,

    /// Allowed excess risk of the output noise, which determines sigma (not `noisy-gd`)
    #[arg(long, value_name = "NUMBER", conflicts_with = "noise", allow_negative_numbers = true)]
    excess_risk: Option<f64>,

    /// A seed for the noise: for tests only; certificates then say `not for release` and never
    /// verify
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

impl PromiseArguments {
    /// Writes what was given into settings.
    pub(crate) fn add_to(self, settings: &mut Settings) {
        settings.epsilon = self.epsilon;
        settings.delta = self.delta;
        settings.notion = self.notion;
        settings.accountant = self.accountant;
        settings.order = self.order;
        settings.interactions = self.interactions;
        settings.state = self.state;
        settings.releases = self.releases;
        settings.max_group = self.max_group;
        settings.noise = self.noise;
        settings.excess_risk = self.excess_risk;
        settings.seed = self.seed;
    }
}
