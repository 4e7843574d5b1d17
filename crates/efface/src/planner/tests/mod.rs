//! The planner against what trainings and deletions really do.

mod bench;
mod following;
mod measured;
mod networks;
mod table;
