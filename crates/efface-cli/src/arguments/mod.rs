//! Arguments that several commands share.

mod count;
mod key;
mod model;
mod names;
mod output;
mod plan;
mod promise;
mod request;
mod table;
mod wait;

pub(crate) use count::{at_least_one, count};
pub(crate) use key::{KeyArgument, trusted_key};
pub(crate) use model::ModelArguments;
pub(crate) use output::ForceArgument;
pub(crate) use plan::{ChoiceArguments, WorkloadArguments};
pub(crate) use promise::PromiseArguments;
pub(crate) use request::RequestArguments;
pub(crate) use table::{ColumnArguments, RoleArguments, TableArguments};
pub(crate) use wait::WaitArgument;
