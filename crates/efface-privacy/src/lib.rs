//! Accounting, noise, events and certificates of certified machine unlearning.
#![forbid(unsafe_code)]

pub mod accountant;
pub mod advantage;
pub mod calibrate;
pub mod case;
pub mod certificate;
pub mod claim;
pub mod event;
pub mod gaussian;
pub mod loss;
mod named;
mod outward;
pub mod quantity;
pub mod rdp;
pub mod sampler;
pub mod special;
pub mod upward;
