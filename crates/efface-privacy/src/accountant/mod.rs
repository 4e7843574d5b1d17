//! Accountants: from what was released to a bound on what it reveals.

pub mod gdp;
