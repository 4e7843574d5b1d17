//! Chooses the instruction set of the dense kernels at run time.
//!
//! The kernels are written once, over [`Simd`]; each is compiled for every instruction set and
//! gives the same bits on all of them, which the tests check.

mod lanes;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86;

pub(crate) use lanes::{LANES, Portable, Simd, Task};

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

impl Isa {
    /// The set every processor has.
    #[cfg(test)]
    pub(crate) const PORTABLE: Self = Self::Portable(Portable);

    /// Returns the widest set that this processor has.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = x86::Avx512::detect() {
                return Self::Avx512(avx512);
            }
            if let Some(avx2) = x86::Avx2::detect() {
                return Self::Avx2(avx2);
            }
        }
        Self::Portable(Portable)
    }

    /// Returns all sets that this processor has.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(x86::Avx2::detect().map(Self::Avx2));
            all.extend(x86::Avx512::detect().map(Self::Avx512));
        }
        all
    }

    /// Runs a task compiled for this set.
    #[inline]
    pub(crate) fn run<K: Task>(self, task: K) -> K::Out {
        match self {
            Self::Portable(simd) => task.run(simd),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => simd.run(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(simd) => simd.run(task),
        }
    }
}
