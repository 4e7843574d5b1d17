//! The laboratory of efface: what tries to break its claims, and what repeats the published
//! experiments.
//!
//! Nothing here is needed to train, to delete or to certify; everything runs the engine itself.
#![forbid(unsafe_code)]

pub mod attack;
pub mod audit;
pub mod reproduce;
mod trial;
