//! The rows of one part, for its holder (see [`crate::rows`]).

mod part;

#[cfg(test)]
mod tests;

pub use part::Part;
