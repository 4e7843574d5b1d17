//! What people and programs read of a model: its status, pages, predictions and published weights.
//! Nothing here changes a vault.

pub(crate) mod account;
pub(crate) mod bounds;
pub(crate) mod certificate;
pub(crate) mod margins;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod status;
