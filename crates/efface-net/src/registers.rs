//! Runs kernels in the widest registers of the processor.

use pulp::{Arch, WithSimd};

/// Runs a kernel, whose bits are the same in registers of any width.
pub(crate) fn run<K: WithSimd>(kernel: K) -> K::Output {
    #[cfg(test)]
    if let Some(registers) = tests::CHOSEN.get() {
        return registers.run(kernel);
    }
    Arch::new().dispatch(kernel)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use pulp::{Scalar, Scalar128b, Scalar256b, Scalar512b, Simd, WithSimd};

    thread_local! {
        /// The registers of this thread's kernels, if a test asks for others than the processor's.
        pub(crate) static CHOSEN: Cell<Option<Registers>> = const { Cell::new(None) };
    }

    /// Registers by how many numbers they hold, in instructions that every processor of the kind has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Registers {
        One,
        Four,
        Eight,
        Sixteen,
    }

    impl Registers {
        pub(crate) const ALL: [Self; 4] = [Self::One, Self::Four, Self::Eight, Self::Sixteen];

        pub(super) fn run<K: WithSimd>(self, kernel: K) -> K::Output {
            match self {
                Self::One => Scalar::new().vectorize(kernel),
                Self::Four => Scalar128b.vectorize(kernel),
                Self::Eight => Scalar256b.vectorize(kernel),
                Self::Sixteen => Scalar512b.vectorize(kernel),
            }
        }
    }

    /// How many numbers a kernel's registers hold.
    struct Width;

    impl WithSimd for Width {
        type Output = usize;
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }

    #[test]
    fn kernels_run_where_a_test_says() {
        let found = Registers::ALL.map(|registers| {
            CHOSEN.set(Some(registers));
            super::run(Width)
        });
        CHOSEN.set(None);
        assert_eq!(found, [1, 4, 8, 16]);
    }
}
