//! Chourasia and Shah, "Forget unlearning" (2023).

pub(super) mod bounded;
pub(super) mod recipe;
pub(super) mod savings;
