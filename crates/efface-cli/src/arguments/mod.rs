//! Arguments that several commands share.

mod count;
mod key;
mod memory;
mod output;
mod plan;
mod request;
mod settings;
mod table;
mod wait;

pub(crate) use count::{at_least_one, count};
pub(crate) use key::{KeyArgument, trusted_key};
pub(crate) use memory::MemoryArgument;
pub(crate) use output::ForceArgument;
pub(crate) use plan::{ChoiceArguments, WorkloadArguments};
pub(crate) use request::RequestArguments;
pub(crate) use settings::SettingArguments;
pub(crate) use table::{ColumnArguments, RoleArguments, TableArguments};
pub(crate) use wait::WaitArgument;
