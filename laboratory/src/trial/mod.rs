//! What attacks and experiments have in common: seeded randomness, rows in memory, mechanisms in
//! memory, and whole models in a folder that goes when it is dropped.

pub(crate) mod draws;
pub(crate) mod engine;
mod rows;
mod sandbox;
mod vaults;

pub(crate) use engine::{Engine, Release};
pub(crate) use rows::Rows;
pub(crate) use sandbox::Sandbox;
pub(crate) use vaults::{Table, Vaults, passes};

use std::ops::ControlFlow;

use efface::{Code, Error};
use efface_learn::solver::Progress;

/// Says whether the user asked to stop.
pub(crate) type Stop = fn() -> bool;

/// A watcher of solvers and steps that ends them when the user asks to stop.
pub(crate) fn until(stop: Stop) -> impl FnMut(&Progress) -> ControlFlow<()> {
    move |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// A fault of the learner, in its words.
pub(crate) fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused(Code::Audit, error.to_string())
}
