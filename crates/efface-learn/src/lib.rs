//! Losses, solvers and mechanisms that train linear models and remove records from them
#![forbid(unsafe_code)]
