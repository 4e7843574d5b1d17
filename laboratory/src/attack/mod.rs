#![doc = include_str!("attack.md")]

mod coin;
mod counter;
mod folder;
mod kept;
mod median;
mod membership;
mod one_run;
mod outcome;
mod perturbation;
mod pool;
mod promise;
mod reconstruction;
mod sisa;
mod slow_down;
mod softmax;
mod sum;

#[cfg(test)]
mod tests;

pub use outcome::{Outcome, Promise};

use efface::{Error, Result};
use efface_learn::Constants;
use rand_chacha::ChaCha20Rng;

use crate::trial::{Engine, Sandbox, draws};

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
    pub run: fn(&Setup) -> Result<Vec<Outcome>>,
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
    fn go_on(&self) -> Result<()> {
        if (self.stop)() { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// A generator of its own for each trial of each world.
    fn generator(&self, trial: u64, world: bool) -> ChaCha20Rng {
        draws::generator(self.seed, 2 * trial + u64::from(world))
    }

    /// A folder with a key, in which the whole engine runs.
    fn sandbox(&self) -> Result<Sandbox> {
        Sandbox::new(self.generator(u64::MAX >> 1, false), self.stop)
    }
}

/// `noisy-gd` with the step 1/L, noise of about `step_noise` in every step, and these numbers of
/// steps for learning and for a request.
fn noisy_gd(constants: &Constants, step_noise: f64, steps: (u64, u64)) -> Result<Engine> {
    Engine::noisy_gd(constants, 1.0 / constants.total_smoothness(), step_noise, steps)
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
