//! Small neural networks, and DP-SGD on them whose sums are exact.
//!
//! A [`Network`] is a checked architecture; [`Network::initial`] draws its first weights from a public seed,
//! [`dp_sgd()`] trains them with clipped gradients, each rounded to integers on its own, summed exactly and
//! released with exact Gaussian noise, and [`sgd()`] trains without noise to the same bits on every machine.
//! If others hold the rows, [`dp_sgd_on`] takes the same steps on the [`clipped_sums`] that they send.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use efface_net::{Data, DpSgdPlan, Network, Optimizer, Shape, dp_sgd};
//! use rand_core::SeedableRng;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let network = Network::parse("dense:4", Shape { channels: 2, height: 1, width: 1 }, 2)?;
//! let rows: Vec<f32> = (0..200).map(|i| (i % 7) as f32 / 3.0 - 1.0).collect();
//! let labels: Vec<u32> = rows.chunks(2).map(|row| u32::from(row[0] > row[1])).collect();
//! let data = Data { rows: &rows, labels: &labels, units: None };
//!
//! // Public: nothing here is computed from the data.
//! let plan = DpSgdPlan {
//!     steps: 20,
//!     rate: 0.25,
//!     noise: 1.0,
//!     clip: 0.5,
//!     learning_rate: 0.5,
//!     expected: 25.0,
//!     optimizer: Optimizer::Sgd { momentum: 0.9 },
//!     average: None,
//! }
//! .check(&network)?;
//!
//! // A test generator; a face passes one seeded by the operating system.
//! let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
//! let start = network.initial(7);
//! let mut go_on = |_| ControlFlow::Continue(());
//! let weights = dp_sgd(&network, &plan, &data, start, &mut rng, &mut go_on)?;
//!
//! let mut logits = vec![0.0; 2 * labels.len()];
//! network.logits(&weights, &rows, &mut logits)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Determinism
//!
//! Every float operation is rounded separately, in an order that the architecture and the row alone decide;
//! registers of any width hold different sums. So what is computed of a row (logits, its gradient, its
//! integers) has the same bits on any machine with IEEE arithmetic, with any number of threads, and whatever
//! other rows there are.
//!
//! # Erasure
//!
//! Buffers that held rows, gradients or drawn units are overwritten before they are freed. Weights that
//! [`sgd()`] returns are a function of all rows: the caller must keep or erase them.
#![forbid(unsafe_code)]

mod data;
mod dp_sgd;
mod error;
mod integer;
mod kernel;
mod network;
mod optimizer;
mod pass;
mod predict;
mod registers;
mod sgd;
mod workers;

pub use data::{Data, MOST_ROWS};
pub use dp_sgd::{
    CheckedDpSgd, DpSgdPlan, PartSum, ReleasedSums, StepSums, UnitSums, clipped_sums, dp_sgd,
    dp_sgd_on,
};
pub use error::NetError;
pub use network::{MOST_NUMBERS, Network, NetworkError, Shape};
pub use optimizer::Optimizer;
pub use sgd::{ARITHMETIC, CheckedSgd, SgdPlan, sgd};
pub use workers::Progress;
