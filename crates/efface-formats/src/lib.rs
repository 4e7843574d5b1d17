//! Readers for tables and the row encoder that turns a row into numbers without looking at other rows
#![forbid(unsafe_code)]
