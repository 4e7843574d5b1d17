#![doc = include_str!("attack.md")]

mod coin;
mod counter;
mod draws;
mod engine;
mod folder;
mod kept;
mod median;
mod membership;
mod one_run;
mod outcome;
mod perturbation;
mod pool;
mod reconstruction;
mod sisa;
mod slow_down;
mod softmax;
mod sum;
pub(crate) mod vault;

#[cfg(test)]
mod tests;

pub use outcome::{Outcome, Promise};

/// An attack and what it is aimed at.
#[derive(Debug, Clone, Copy)]
pub struct Attack {
    /// Its name as users type it.
    pub name: &'static str,
    /// The published mechanism or belief that must fall.
    pub target: &'static str,
    /// Who attacks, and what is seen.
    pub adversary: &'static str,
    /// Why it succeeds.
    pub reason: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Runs the attack; one outcome per target.
    pub run: fn(&Setup) -> Result<Vec<Outcome>, Failure>,
}

/// How an attack is run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Fewer trials: a look, with wider bounds.
    pub quick: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// The folder of public data sets; made data where there is none.
    pub data: Option<std::path::PathBuf>,
    /// Whether the user asked to stop: heard between trials.
    pub stop: fn() -> bool,
}

impl Setup {
    /// `full` trials, or a tenth of them in a quick look.
    fn trials(&self, full: u64) -> u64 {
        if self.quick { full / 10 } else { full }
    }

    /// Goes on, unless the user asked to stop.
    fn go_on(&self) -> Result<(), Failure> {
        if (self.stop)() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

/// Why an attack did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// It could not be run, in words.
    #[error("{0}")]
    Impossible(String),
}

impl Failure {
    /// From any error.
    fn of(error: impl std::fmt::Display) -> Self {
        Self::Impossible(error.to_string())
    }
}

/// Every attack, in the order of the page.
#[must_use]
pub fn attacks() -> [Attack; 12] {
    [
        sum::ATTACK,
        median::ATTACK,
        counter::ATTACK,
        coin::ATTACK,
        perturbation::ATTACK,
        softmax::ATTACK,
        sisa::ATTACK,
        membership::ATTACK,
        one_run::ATTACK,
        kept::ATTACK,
        reconstruction::ATTACK,
        slow_down::ATTACK,
    ]
}
