//! Arithmetic in twice the precision (unevaluated pairs of floats, about 2^-100), for tests.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Twice {
    high: f64,
    low: f64,
}

impl Twice {
    pub(crate) fn new(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    /// Returns the sum of any two floats as a pair.
    fn of_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    pub(crate) fn get(self) -> f64 {
        self.high + self.low
    }

    pub(crate) fn plus(self, b: Self) -> Self {
        let high = Self::of_sum(self.high, b.high);
        let low = Self::of_sum(self.low, b.low);
        let middle = Self::of_sum(high.high, high.low + low.high);
        Self::of_sum(middle.high, middle.low + low.low)
    }

    pub(crate) fn negative(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }

    pub(crate) fn times(self, b: Self) -> Self {
        let high = self.high * b.high;
        let rest = self.high.mul_add(b.high, -high);
        Self::of_sum(high, rest + (self.high * b.low + self.low * b.high))
    }

    pub(crate) fn over(self, b: Self) -> Self {
        let first = self.high / b.high;
        let rest = self.plus(b.times(Self::new(first)).negative());
        let second = rest.get() / b.high;
        let rest = rest.plus(b.times(Self::new(second)).negative());
        Self::of_sum(first, second).plus(Self::new(rest.get() / b.high))
    }

    /// Computes exp, for arguments between -600 and 600.
    pub(crate) fn exp(self) -> Self {
        // exp(x) = exp(x/2^12)^(2^12), Taylor below 0.15. Squaring multiplies the error by 2^12.
        let small = self.times(Self::new(1.0 / 4096.0));
        let mut term = Self::new(1.0);
        let mut sum = term;
        for k in 1..30_i32 {
            term = term.times(small).over(Self::new(f64::from(k)));
            sum = sum.plus(term);
        }
        (0..12).fold(sum, |s, _| s.times(s))
    }
}

#[test]
fn exponentials_and_quotients() {
    let third = Twice::new(1.0).over(Twice::new(3.0));
    let one = third.plus(third).plus(third).plus(Twice::new(-1.0));
    assert!(one.get().abs() < 1e-30);
    for x in [-500.0, -3.0, 0.1, 40.0] {
        let product = Twice::new(x).exp().times(Twice::new(-x).exp());
        assert!(product.plus(Twice::new(-1.0)).get().abs() < 1e-25, "{x}");
    }
    // e to 32 digits: 2.7182818284590452353602874713526625.
    let e = Twice::new(1.0).exp().plus(Twice::new(-std::f64::consts::E));
    assert!((e.get() - 1.445_646_891_729_250_2e-16).abs() < 1e-26);
}
