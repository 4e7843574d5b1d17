//! Losses, solvers and mechanisms that train linear models and remove records from them.
//!
//! The path of a model: [`Declared`] public constants are checked once into [`Constants`]; a
//! [`Dataset`] that obeys them gives an [`Objective`]; a mechanism takes the objective and a checked
//! plan and hands back weights that may be published, together with the event that accountants
//! bound; a [`Model`] predicts with them.
//!
//! ```
//! use efface_learn::mechanism::{OutputNoisePlan, retrain, solve};
//! use efface_learn::solver::{Solver, unwatched};
//! use efface_learn::{Dataset, Declared, Loss, Model, Objective};
//! use efface_matrix::{Matrix, Row};
//! use efface_privacy::event::{Normalizer, State};
//! use rand_core::SeedableRng;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A test generator; a face passes one seeded by the operating system.
//! let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
//! let mut data = Dataset::new(Matrix::dense(2), Vec::new())?;
//! for i in 0..100_u8 {
//!     let x = f32::from(i) / 100.0 - 0.5;
//!     data.push(Row::Dense(&[x, 0.5]), f64::from(x > 0.1))?;
//! }
//!
//! // What is public: nothing here is computed from the data.
//! let constants = Declared {
//!     loss: Loss::Logistic,
//!     cols: 2,
//!     lambda: 0.01,
//!     normalizer: Normalizer::Fixed { n: 100, capacity: 125 },
//!     row_bound: 1.0,
//!     target_bound: 0.0,
//!     max_weight: None,
//! }
//! .check()?;
//! let grid = 1.0 / (1_u64 << 40) as f64;
//! let plan = OutputNoisePlan {
//!     distance: 1e-6,
//!     noise: (1_u64 << 30) as f64 * grid,
//!     grid,
//!     state: State::Perfect,
//!     joint_releases: 1,
//!     group: 1,
//!     solver: Solver::Automatic,
//! }
//! .check(&constants, data.rows())?;
//!
//! let objective = Objective::new(&constants, &data)?;
//! let first = retrain::retrain(&objective, &plan, 1, &mut rng, &mut unwatched)?;
//!
//! // A deletion: the rows go, the published weights are the start, the noise is fresh.
//! data.remove_rows(&[3, 42])?;
//! let objective = Objective::new(&constants, &data)?;
//! let start = &first.weights;
//! let next = solve::from_published(&objective, &plan, start, 2, &mut rng, &mut unwatched)?;
//! let model = Model::new(Loss::Logistic, 2, next.weights)?;
//! assert!(model.decide(data.x())?.classes_or_values().contains(&1.0));
//! # Ok(())
//! # }
//! ```
//!
//! # Determinism
//!
//! For a given generator a release has the same bits for any number of threads. Sums over records
//! have the same bits on every processor; Newton's dense factorisations need not, which moves a
//! release within what its distance and grid already cover.
//!
//! # Erasure
//!
//! Nothing is kept between calls. Evidence, kept state, factors and objectives saw the rows of
//! their call: erasing them with a deletion is the caller's.
#![forbid(unsafe_code)]

/// A [`Refusal`] from the arguments of `format!`.
macro_rules! refusal {
    ($($message:tt)+) => { efface_matrix::Refusal::new(format!($($message)+)) };
}

/// Returns a [`Refusal`] from the arguments of `format!`, as the error of the function.
macro_rules! refuse {
    ($($message:tt)+) => { return Err(refusal!($($message)+).into()) };
}

pub mod constants;
pub mod dataset;
#[cfg(test)]
mod example;
pub mod loss;
pub mod mechanism;
pub mod model;
pub mod newton;
pub mod objective;
pub mod outward;
pub mod risk;
pub mod solver;
#[cfg(test)]
mod twice;

pub use constants::{Constants, Declared, Summation, effective_row_bound};
pub use dataset::{Dataset, Filling};
pub use efface_matrix::Refusal;
pub use loss::{Loss, LossError, Task};
pub use model::{Decisions, Model, Scores};
pub use objective::{Objective, Parts, Streamed, check_records, lower_triangle};

/// Returns whether there is an error, and its message has this part.
#[cfg(test)]
fn said(error: Option<impl std::fmt::Display>, part: &str) -> bool {
    error.is_some_and(|error| error.to_string().contains(part))
}
