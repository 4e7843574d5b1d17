//! The engine: trains models that can forget, serves deletion requests and certifies each
#![forbid(unsafe_code)]
