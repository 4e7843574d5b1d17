//! The laboratory of efface: what tries to break its claims, what repeats the published
//! experiments, and what draws them.
//!
//! Nothing here is needed to train, to delete or to certify; everything runs the engine itself.
#![forbid(unsafe_code)]

pub mod attack;
pub mod audit;
pub mod figure;
pub mod reproduce;
mod trial;
