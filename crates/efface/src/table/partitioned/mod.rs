//! The rows of one part, for whoever holds it (see [`crate::rows`]).

mod part;

#[cfg(test)]
mod tests;

pub use part::Part;
