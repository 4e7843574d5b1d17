//! The laboratory of efface: attacks on published methods and on efface's own, instances that attain
//! certified numbers, and published experiments repeated.
//!
//! Nothing here is needed to train, to delete or to certify; everything runs the engine itself.
#![forbid(unsafe_code)]

pub mod attack;
mod perturbation;
pub mod reproduce;
pub mod tightness;
mod trial;
