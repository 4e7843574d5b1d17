//! The kept memory against exact residuals and optima.

mod forecast;
mod point;
mod problem;
mod random;
mod serving;
