//! The single-file store of a model that can forget: records, versions, requests and a signed ledger
#![forbid(unsafe_code)]
