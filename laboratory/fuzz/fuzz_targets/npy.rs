//! Feeds the npy reader.
#![no_main]

#[path = "../promises.rs"]
mod promises;

use efface_formats::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    promises::table(Format::Npy, bytes);
});
