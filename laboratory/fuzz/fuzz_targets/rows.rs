//! Fits preprocessing to stored raw rows.
#![no_main]

#[path = "../promises.rs"]
mod promises;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    promises::rows(bytes);
});
