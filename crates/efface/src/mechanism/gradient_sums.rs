//! Steps of DP-SGD on gradients that the caller computes, for front ends with other networks.

use std::fmt;

use efface_net::{DpSgdPlan, NetError, Optimizer, ReleasedSums};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::arithmetic;
use crate::error::{Code, Error, Result};

/// Public constants of the steps; none is computed from the records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientSteps {
    /// Number of elements of a gradient.
    pub parameters: usize,
    /// T: number of steps, 1 to 2^32.
    pub steps: u64,
    /// q: the probability with which a step draws each unit, 2^-40 to 1.
    pub rate: f64,
    /// sigma: standard deviation of the noise on a sum, in multiples of `clip`; 2^-5 to 2^20.
    pub noise: f64,
    /// C: bound on the Euclidean norm of a unit's gradient; 1e-30 to 1e30.
    pub clip: f64,
    /// The public number that sums are divided by; 1e-3 to 2^32.
    pub expected: f64,
}

/// The sums of one training: each step draws its units, takes the gradient of each, and releases their noisy
/// sum once. Each unit's gradient is clipped and rounded to integers separately; sums and noise are exact.
pub struct GradientSums {
    sums: ReleasedSums,
    rng: ChaCha20Rng,
}

/// The largest number of elements of a gradient.
const MOST_PARAMETERS: usize = 1 << 31;

impl GradientSums {
    /// Starts before the first step, with a seed from the operating system that nobody keeps.
    ///
    /// # Errors
    /// Fails if a number is out of range.
    pub fn new(steps: GradientSteps, seed: [u8; 32]) -> Result<Self> {
        if !(1..=MOST_PARAMETERS).contains(&steps.parameters) {
            let got = steps.parameters;
            let message = format!("a gradient must have 1 to 2^31 numbers, got {got}");
            return Err(Error::input(Code::Range, message));
        }
        arithmetic::check()?;
        let plan = DpSgdPlan {
            steps: steps.steps,
            rate: steps.rate,
            noise: steps.noise,
            clip: steps.clip,
            learning_rate: 1.0,
            expected: steps.expected,
            optimizer: Optimizer::Sgd { momentum: 0.0 },
            average: None,
        };
        let plan = plan.check_for(steps.parameters).map_err(refused)?;
        Ok(Self { sums: ReleasedSums::new(plan), rng: ChaCha20Rng::from_seed(seed) })
    }

    /// Returns g, the power of two that the integers are multiples of.
    #[must_use]
    pub fn grid(&self) -> f64 {
        self.sums.plan().grid()
    }

    /// Returns the number of elements of a gradient.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.sums.parameters()
    }

    /// Returns the number of steps released so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.sums.steps()
    }

    /// Begins a step: returns the positions, ascending, of the units that it draws out of `units`.
    ///
    /// # Errors
    /// Like [`ReleasedSums::draw`]; also if the process does not round as IEEE 754 requires.
    pub fn draw(&mut self, units: usize) -> Result<Vec<u32>> {
        arithmetic::check()?;
        self.sums.draw(units, &mut self.rng).map_err(refused)
    }

    /// Adds gradients of drawn units, one after another, in any order and split over any number of calls.
    ///
    /// # Errors
    /// Like [`ReleasedSums::add`].
    pub fn add(&mut self, gradients: &[f32]) -> Result<()> {
        self.sums.add(gradients).map_err(refused)
    }

    /// Ends a step and returns the noisy sum divided by `expected`.
    ///
    /// # Errors
    /// Like [`ReleasedSums::release`].
    pub fn release(&mut self) -> Result<Vec<f64>> {
        self.sums.release(&mut self.rng).map_err(refused)
    }
}

/// Prints neither unreleased numbers nor the generator.
impl fmt::Debug for GradientSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GradientSums").field("sums", &self.sums).finish_non_exhaustive()
    }
}

fn refused(error: NetError) -> Error {
    let code = match error {
        NetError::Range { .. } => Code::Range,
        _ => Code::Usage,
    };
    Error::input(code, error.to_string())
}
