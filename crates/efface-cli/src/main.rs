//! The command line of efface.
#![forbid(unsafe_code)]

fn main() {}
