//! The built command line, from outside: every test runs the `efface` program on small tables in
//! a folder of its own.
#![forbid(unsafe_code)]

#[cfg(test)]
mod account;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod backups;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod bombs;
#[cfg(test)]
mod cells;
#[cfg(test)]
mod descent;
#[cfg(test)]
mod distributed;
mod doctor;
#[cfg(test)]
mod erase;
#[cfg(test)]
mod evaluation;
#[cfg(test)]
mod exports;
#[cfg(test)]
mod features;
#[cfg(test)]
#[path = "../../../efface/tests/engine/foreign.rs"]
mod foreign;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod help;
#[cfg(test)]
mod hostile_plan;
#[cfg(test)]
mod interrupted;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod kill;
#[cfg(test)]
#[cfg(test)]
mod labels;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod long_ledger;
#[cfg(test)]
mod main_job;
#[cfg(test)]
mod naming;
#[cfg(test)]
mod noisy;
#[cfg(test)]
mod output;
#[cfg(test)]
mod outputs;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod prepared;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod ridge;
mod several_targets;
#[cfg(test)]
mod table;
#[cfg(test)]
mod tamper;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod verifier;
#[cfg(test)]
mod weights;
#[cfg(test)]
mod wording;
#[cfg(test)]
mod workshop;
