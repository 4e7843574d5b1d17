//! The kept memory against exact residuals and optima.

mod foresight;
mod problem;
mod random;
mod serving;
