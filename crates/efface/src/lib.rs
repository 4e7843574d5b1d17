//! The engine of efface: trains linear models and small networks that can forget, serves deletion requests and
//! issues a certificate for each.
//!
//! A model lives in one file, its vault. [`train`] makes it, [`delete`], [`add`], [`update`] and
//! [`refresh`] change it, each in one transaction that ends with a signed certificate; [`verify`]
//! and [`verify_ledger`] recompute what certificates say; [`predict`], [`evaluate`] and [`export`]
//! use the model. Clock, randomness and keys come in through [`Context`].
//!
//! What this documentation shows is the interface of efface for Rust, and versions of this crate
//! follow it. Public items that it hides (`#[doc(hidden)]`) serve the faces and the laboratory of
//! the repository and may change in any release; so may every item of the crates below this one,
//! of which users need only what is re-exported here.
#![forbid(unsafe_code)]

mod arithmetic;
mod checks;
mod context;
mod error;
mod mechanism;
mod mechanism_name;
mod outcome;
mod plan;
pub mod planner;
mod requests;
mod rows;
mod settings;
mod show;
mod store;
mod table;
mod weights;

pub use checks::examine::doctor;
pub use checks::verify::verify;
pub use checks::verify_ledger::{verify_ledger, verify_ledger_within, verify_whole_ledger};
pub use context::{Context, Progress, Watch};
pub use efface_formats::{
    ColumnValues, Draft, FeatureMap, Fitted, Frame, MemoryColumn, MemoryRows, MemoryTable, Numbers,
    Rules, TimeUnit, Values,
};
pub use efface_page::Page;
pub use efface_privacy::certificate::{Check, CheckOutcome, Verdict, key_id};
pub use efface_privacy::claim::{Claim, Notion, Requests};
pub use efface_privacy::event::State;
#[doc(hidden)]
pub use efface_vault::is_reserved;
pub use efface_vault::{Keyring, KeyringError};
pub use error::{Code, Error, Kind, Result};
pub use outcome::notice::{Notice, NoticeCode};
pub use outcome::{
    DryRun, Entry, Evaluation, ExportNote, Exports, MemoryStatus, NotionStatus, Prediction, Ready,
    Served, Status, TargetErrors, Work,
};
pub use plan::{
    Averages, ClassWeight, Defaults, Fitting, Following, Ids, MechanismName, NoisySteps, Plan,
    Published, Roles, SampleWeights, SampledPlan, Schedule, ShardedPlan, Target, TargetRange, Task,
    Trunk,
};
pub use requests::add::{add, update};
pub use requests::copies::{Backup, Restore, backup, relocate, restore, restore_undoing_deletions};
pub use requests::delete::{Delete, Selector, delete, delete_dry_run, erase_dry_run};
pub use requests::erase::erase;
pub use requests::export::{ExportFormat, export};
pub use requests::prepare::prepare;
pub use requests::refresh::refresh;
pub use requests::train::{Unsaved, train, train_as_planned, train_unsaved};
pub use rows::source::{Source, schema};
pub use rows::{MemoryBudget, Resident, RowStore};
pub use settings::{
    Fallback, Form, Group, Interval, MARK, Privacy, Row, SETTINGS, Settings, Value, Words,
    in_words, value_in_words,
};
pub use show::account::{account, account_one};
pub use show::bounds::{EventBound, bounds};
pub use show::certificate::{check_form, show};
pub use show::predict::{Predicted, evaluate, evaluate_known, predict};
pub use show::report::report;
pub use show::status::{certificate, entries, plan, status, weights};
pub use weights::Weights;

/// What `efface account` computes: every kind of case with its inputs, results and source.
pub mod accounting {
    pub use efface_privacy::case::{Answer, Figure, Form, Input, Kind, Presence, Soundness, kinds};
}

/// The parts of an audit's result that reports show.
#[doc(hidden)]
pub mod audit {
    pub use crate::outcome::audit::{
        CanaryTest, Certified, Compared, Deleted, Head, SCHEMA, Split, Verdict,
    };
}

// For the faces and the laboratory of this repository; see the top of this file.
#[doc(hidden)]
pub use checks::audit_sample::{AuditSample, audit_sample};
#[doc(hidden)]
pub use checks::exact_copy::ExactCopy;
#[doc(hidden)]
pub use checks::simulation::{Simulation, World};
#[doc(hidden)]
pub use efface_learn::loss::{LossName, Task as LossTask};
#[doc(hidden)]
pub use efface_learn::{Parts, Refusal};
#[doc(hidden)]
pub use efface_matrix::Totals;
#[doc(hidden)]
pub use efface_net::PartSum;
#[doc(hidden)]
pub use mechanism::gradient_sums::{GradientSteps, GradientSums};
#[doc(hidden)]
pub use plan::shape::Shape;
#[doc(hidden)]
pub use requests::delete::split_known;
#[doc(hidden)]
pub use rows::listed::names_in;
#[doc(hidden)]
pub use rows::naming::{row_id, row_position};
#[doc(hidden)]
pub use rows::{Drawn, Names, NetworkStep, Partitioned, Place};
#[doc(hidden)]
pub use show::margins::{Linear, margins};
#[doc(hidden)]
pub use show::report::AUDIT_BYTES;
#[doc(hidden)]
pub use table::partitioned::Part;
