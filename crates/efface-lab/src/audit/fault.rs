//! Faults that a build could have, for the audit to find.

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
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 5] =
        [Self::HalfNoise, Self::StepFewer, Self::HalfShift, Self::Divisor, Self::QuietReference];

    /// The planted fault described in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::HalfNoise => "half of sigma is drawn",
            Self::StepFewer => "K - 1 steps are made",
            Self::HalfShift => "the claim halves the shift of a step",
            Self::Divisor => "the claim divides by n_max instead of N",
            Self::QuietReference => "the reference's last noise is omitted",
        }
    }
}
