//! The distribution of many steps' summed loss, by Fourier transforms, with its rounding.

use std::sync::Arc;

use rustfft::algorithm::Radix4;
use rustfft::num_complex::Complex64;
use rustfft::num_traits::Zero;
use rustfft::{Fft, FftDirection};

use super::cells::Step;
use super::mixture::ROUNDING;
use super::plan::Plan;

/// Rounding errors of a transform of 2^b points, for each of b, relative to the sum
/// of the moduli that go in.
pub(super) const TRANSFORM: f64 = 16.0 * ROUNDING;
/// Rounding errors of a power, for each of its factors.
const POWER: f64 = 8.0 * ROUNDING;
/// Below exp(this) a frequency is left out, and counted as an error.
const VANISHED: f64 = -230.0;
/// Relative error of a sum of a step's masses.
const SUMMED: f64 = 1e-9;
/// What underflow of masses can amount to.
const UNDERFLOW: f64 = 1e-290;

/// Tilted masses of the sum, times exp(`ln_scale` - theta loss), are at least its distribution.
#[derive(Debug)]
pub(super) struct Composed {
    pub(super) plan: Plan,
    /// Mass of index `plan.first + i` at place i; each at most `rounding` below the exact one.
    pub(super) masses: Vec<f64>,
    pub(super) rounding: f64,
    /// ln of what tilted masses were divided by.
    pub(super) ln_scale: f64,
    /// What the masses must be multiplied by for their relative rounding.
    pub(super) growth: f64,
    /// Mass that counts as infinite loss.
    pub(super) lost: f64,
    /// How many steps it is of.
    pub(super) steps: f64,
}

/// Transforms on the grid of a plan, and the product of those so far.
pub(super) struct Composer {
    plan: Plan,
    forward: Radix4<f64>,
    buffer: Vec<Complex64>,
    scratch: Vec<Complex64>,
    /// For the frequencies up to the middle: the product, and ln of a bound on its modulus with the relative
    /// error in it.
    product: Vec<Complex64>,
    bounds: Vec<(f64, f64)>,
    ln_scale: f64,
    ln_growth: f64,
    ln_far: f64,
    powers: f64,
    lost: f64,
    steps: f64,
}

impl Composer {
    pub(super) fn new(plan: Plan) -> Self {
        let forward = Radix4::new(plan.length, FftDirection::Forward);
        let half = plan.length / 2 + 1;
        Self {
            plan,
            buffer: vec![Complex64::zero(); plan.length],
            scratch: vec![Complex64::zero(); forward.get_inplace_scratch_len()],
            forward,
            product: vec![Complex64::new(1.0, 0.0); half],
            bounds: vec![(0.0, 0.0); half],
            ln_scale: 0.0,
            ln_growth: 0.0,
            ln_far: 0.0,
            powers: 0.0,
            lost: 0.0,
            steps: 0.0,
        }
    }

    /// One step as it is, whose cumulants at theta and at the far tilt are about these.
    pub(super) fn one(mut self, step: &mut Step<'_>, cumulants: (f64, f64)) -> Composed {
        self.tilt(step, 1, cumulants);
        let masses = (0..self.plan.length).map(|i| self.buffer[self.place(i)].re).collect();
        self.composed(masses, 0.0)
    }

    /// Takes `steps` steps, whose cumulants at theta and at the far tilt are about these.
    pub(super) fn take(&mut self, step: &mut Step<'_>, steps: u64, cumulants: (f64, f64)) {
        let sum = self.tilt(step, steps, cumulants);
        let (length, count) = (self.plan.length, steps as f64);
        self.powers += POWER * count;
        self.forward.process_with_scratch(&mut self.buffer, &mut self.scratch);
        let error = TRANSFORM * (length as f64).log2() * sum * (1.0 + 1e-6) + UNDERFLOW;
        for ((value, product), bound) in
            self.buffer.iter().zip(&mut self.product).zip(&mut self.bounds)
        {
            let modulus = value.norm() * (1.0 + 4.0 * ROUNDING) + error;
            bound.0 += count * libm::log(modulus);
            bound.1 += count * error / modulus;
            if bound.0 < VANISHED {
                *product = Complex64::zero();
                bound.1 = f64::INFINITY;
            } else {
                *product *= power(*value, steps);
            }
        }
    }

    /// Puts the tilted masses of one step into the buffer; returns their sum.
    fn tilt(&mut self, step: &mut Step<'_>, steps: u64, cumulants: (f64, f64)) -> f64 {
        let Plan { theta, far, h, length, .. } = self.plan;
        let (near_scale, far_scale) = cumulants;
        self.buffer.fill(Complex64::zero());
        let (buffer, mut sum, mut far_sum, mut exponent) = (&mut self.buffer, 0.0, 0.0, 0.0);
        step.spread(h, |index, mass| {
            let loss = index as f64 * h;
            let tilted = mass * libm::exp(theta * loss - near_scale);
            buffer[index.rem_euclid(length as i64) as usize].re += tilted;
            sum += tilted;
            far_sum += mass * libm::exp(far * loss - far_scale);
            exponent = f64::max(exponent, (far * loss).abs());
        });
        let count = steps as f64;
        let each = ROUNDING * (64.0 + 8.0 * (exponent + near_scale.abs() + far_scale.abs()));
        self.ln_growth += count * each;
        self.ln_scale += count * near_scale;
        self.ln_far += count * (far_scale + libm::log(far_sum) + SUMMED);
        self.lost += count * step.beyond;
        self.steps += count;
        sum
    }

    /// Returns the distribution of the sum of everything taken.
    pub(super) fn finish(mut self) -> Composed {
        let plan = self.plan;
        let (length, middle) = (plan.length, plan.length / 2);
        let (mut errors, mut moduli) = (0.0, 0.0);
        for (frequency, (value, &(ln_bound, relative))) in
            self.product.iter().zip(&self.bounds).enumerate()
        {
            // Each but the first and the middle one represents two.
            let times = if frequency == 0 || frequency == middle { 1.0 } else { 2.0 };
            let bound = libm::exp(ln_bound.min(700.0)) * (1.0 + 1e-9);
            errors += times * bound * (relative.min(1.0) + self.powers);
            moduli += times * bound;
            self.buffer[frequency] = *value;
            self.buffer[(length - frequency) % length] = value.conj();
        }
        let inverse: Arc<dyn Fft<f64>> = Arc::new(Radix4::new(length, FftDirection::Inverse));
        inverse.process_with_scratch(&mut self.buffer, &mut self.scratch);
        let points = length as f64;
        let transform = TRANSFORM * points.log2() * moduli;
        let rounding = (errors + transform) / points * (1.0 + 1e-6);
        let masses = (0..length).map(|i| (self.buffer[self.place(i)].re / points).max(0.0));
        let masses = masses.collect();
        self.composed(masses, rounding)
    }

    /// Returns the buffer position of the mass of index `plan.first` + i.
    fn place(&self, i: usize) -> usize {
        (self.plan.first + i as i64).rem_euclid(self.plan.length as i64) as usize
    }

    fn composed(&self, masses: Vec<f64>, rounding: f64) -> Composed {
        let plan = self.plan;
        let top = (plan.first + plan.length as i64) as f64 * plan.h;
        let above = libm::exp(self.ln_far + self.ln_growth - plan.far * top * (1.0 - 1e-15));
        Composed {
            plan,
            masses,
            rounding,
            ln_scale: self.ln_scale,
            growth: libm::exp(self.ln_growth),
            lost: self.lost + above * (1.0 + 1e-9),
            steps: self.steps,
        }
    }
}

/// Returns z^n by squaring.
fn power(mut z: Complex64, mut n: u64) -> Complex64 {
    let mut result = Complex64::new(1.0, 0.0);
    while n > 0 {
        if n & 1 == 1 {
            result *= z;
        }
        z *= z;
        n >>= 1;
    }
    result
}
