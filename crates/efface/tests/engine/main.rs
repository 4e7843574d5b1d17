//! The engine end to end on small tables: every mechanism, loss, notion and state.

mod claims;
mod life;
mod refusals;
mod world;
