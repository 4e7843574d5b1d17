//! Feeds the reader of fitted preprocessing, and encodes rows by what it accepts.
#![no_main]

#[path = "../promises.rs"]
mod promises;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    promises::fitted(bytes);
});
