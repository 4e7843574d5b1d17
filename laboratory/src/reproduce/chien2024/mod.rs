//! Chien, Wang, Chen and Li, "Langevin unlearning" (2024).

pub(super) mod accuracy;
pub(super) mod batches;
pub(super) mod constants;
pub(super) mod curves;
pub(super) mod published;
mod tight;
