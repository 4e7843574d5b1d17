//! Faults that a build could have, for the audit to find.

use super::{FAULTY, FAULTY_CYCLE, Instance};

/// One mistake: in what is run, or in what is claimed of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Noise of half the standard deviation is drawn.
    HalfNoise,
    /// One step fewer follows the deletion.
    StepFewer,
    /// The claim takes a record to shift a step by half of what it does.
    HalfShift,
    /// The claim divides by the capacity, where the objective divides by its own N.
    Divisor,
    /// The reference's last step goes without noise.
    QuietReference,
    /// The claim takes the records' batch to be visited half as often as it is.
    RareVisits,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 6] = [
        Self::HalfNoise,
        Self::StepFewer,
        Self::HalfShift,
        Self::Divisor,
        Self::QuietReference,
        Self::RareVisits,
    ];

    /// The instance on which it is within reach.
    #[must_use]
    pub fn instance(self) -> Instance {
        match self {
            Self::RareVisits => FAULTY_CYCLE,
            _ => FAULTY,
        }
    }

    /// The planted fault described in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::HalfNoise => "half of sigma is drawn",
            Self::StepFewer => "K - 1 steps are made",
            Self::HalfShift => "the claim halves the shift of a step",
            Self::Divisor => "the claim divides by n_max instead of N",
            Self::QuietReference => "the reference's last noise is omitted",
            Self::RareVisits => "over batches: the claim takes every second visit",
        }
    }
}
