//! The kept memory against exact residuals and optima.

mod problem;
mod random;
mod serving;
