//! The engine end to end on small tables: every mechanism, loss, notion and state.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod batches;
mod claims;
mod class_weights;
mod damage;
mod digests;
mod erasures;
mod extractor;
mod faint;
mod files;
mod fitted;
mod fitted_ridge;
mod foreign;
mod histories;
mod in_memory;
mod kept;
mod life;
mod margins;
mod memory;
mod network_subjects;
mod networks;
mod notices;
mod partitioned;
mod perturbed;
mod rare_categories;
mod read_off;
mod refusals;
mod releases;
mod salvage;
mod several_targets;
mod shards;
mod simulation;
mod sizes;
mod trunks;
mod weighted;
mod world;
