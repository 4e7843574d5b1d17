#![doc = include_str!("history.md")]

mod ball;
mod deletion;
mod langevin;
mod nearby;

pub(crate) use ball::Ball;
pub(crate) use deletion::Deletion;
pub(crate) use langevin::Sequence;
pub(crate) use nearby::Nearby;

#[cfg(test)]
mod tests;
