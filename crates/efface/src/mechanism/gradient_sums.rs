//! Steps of DP-SGD on gradients that somebody else computes, for faces that know other networks.

use std::fmt;

use efface_net::{DpSgdPlan, NetError, Optimizer, ReleasedSums};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::arithmetic;
use crate::error::{Code, Error, Result};

/// Public constants of the steps; none of them computed from the records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientSteps {
    /// Numbers of a gradient.
    pub parameters: usize,
    /// T: steps, 1 to 2^32.
    pub steps: u64,
    /// q: the probability with which a step draws each unit, 2^-40 to 1.
    pub rate: f64,
    /// sigma: standard deviation of the noise on a sum, in multiples of `clip`; 2^-5 to 2^20.
    pub noise: f64,
    /// C: bound on the Euclidean norm of a unit's gradient; 1e-30 to 1e30.
    pub clip: f64,
    /// What sums are divided by, a public number; 1e-3 to 2^32.
    pub expected: f64,
}

/// The sums of one training: each step draws its units, takes the gradient of each, and releases their
/// noisy sum once. A unit's gradient is clipped and rounded to integers by itself, sums and noise are
/// exact.
pub struct GradientSums {
    sums: ReleasedSums,
    rng: ChaCha20Rng,
}

/// The most numbers of a gradient.
const MOST_PARAMETERS: usize = 1 << 31;

impl GradientSums {
    /// Before the first step, with a seed that the operating system gave and that nobody keeps.
    ///
    /// # Errors
    /// A number out of range.
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

    /// g: what integers are multiples of, a power of two.
    #[must_use]
    pub fn grid(&self) -> f64 {
        self.sums.plan().grid()
    }

    /// Numbers of a gradient.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.sums.parameters()
    }

    /// Steps released so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.sums.steps()
    }

    /// Begins a step: the positions, ascending, of the units among so many that it draws.
    ///
    /// # Errors
    /// As [`ReleasedSums::draw`]; a process that rounds otherwise than IEEE 754 asks.
    pub fn draw(&mut self, units: usize) -> Result<Vec<u32>> {
        arithmetic::check()?;
        self.sums.draw(units, &mut self.rng).map_err(refused)
    }

    /// Adds gradients of drawn units, one after the other, in any order and any parts.
    ///
    /// # Errors
    /// As [`ReleasedSums::add`].
    pub fn add(&mut self, gradients: &[f32]) -> Result<()> {
        self.sums.add(gradients).map_err(refused)
    }

    /// Ends a step: the noisy sum over `expected`.
    ///
    /// # Errors
    /// As [`ReleasedSums::release`].
    pub fn release(&mut self) -> Result<Vec<f64>> {
        self.sums.release(&mut self.rng).map_err(refused)
    }
}

/// The sums as they print themselves, without numbers that are not released, and no generator.
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
