//! Everything that changes a vault: training, and the requests that delete, add, update, refresh, prepare,
//! copy and export.

pub(crate) mod add;
pub(crate) mod copies;
pub(crate) mod delete;
pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod prepare;
pub(crate) mod random;
pub(crate) mod refresh;
pub(crate) mod serve;
pub(crate) mod start;
pub(crate) mod train;
pub(crate) mod trunk;
pub(crate) mod verb;
pub(crate) mod withdraw;
