//! Accountants: from what was released to a bound on what it reveals.

pub mod bounded_domain;
pub mod gdp;
pub mod group;
