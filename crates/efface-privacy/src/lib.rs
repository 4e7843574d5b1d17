//! Accounting, noise, events and certificates of certified machine unlearning.
#![forbid(unsafe_code)]

pub mod event;
pub mod quantity;
