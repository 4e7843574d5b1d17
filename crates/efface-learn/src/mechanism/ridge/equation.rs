//! Solves the normal equations in an order that depends on P alone.

use std::cmp::Ordering;

use pulp::{Arch, Simd, WithSimd};

/// Rows per panel, and columns per step: 16 sums at a time stay in registers.
const WIDTH: usize = 4;

/// Number of panels that the panels to their left update in one go.
const TOGETHER: usize = 4;

/// `WIDTH` numbers, one per row of a panel.
type Lane = [f64; WIDTH];

/// Lower triangle of a matrix in panels of `WIDTH` rows: panel p holds columns 0 .. 4p + 3, one
/// lane each. The order is filled up to a multiple of `WIDTH` with rows of the identity.
struct Panels {
    panels: Vec<Vec<Lane>>,
}

/// Replaces right-hand sides t, one after the other, by the solutions u of (S + `ridge` I) u = t. S has this
/// order; `gram` returns its entries (i, j), i >= j.
///
/// Solves by Cholesky and two substitutions: every entry is one chain of f64 products and subtractions, each
/// rounded separately, over columns in increasing order, whatever registers the processor has. The bits do
/// not depend on which entries are computed in parallel, so they are the same on every machine. `None` when a
/// pivot is not positive or a number is not finite.
pub(super) fn solve(
    order: usize,
    gram: impl Fn(usize, usize) -> f64,
    ridge: f64,
    sides: &mut [f64],
) -> Option<()> {
    let mut factor = Panels::of(order, gram, ridge);
    Arch::new().dispatch(Factorise(&mut factor))?;
    let mut u = vec![0.0; factor.panels.len() * WIDTH];
    for side in sides.chunks_exact_mut(order) {
        u.fill(0.0);
        u[..order].copy_from_slice(side);
        Arch::new().dispatch(Substitute(&factor, &mut u));
        side.copy_from_slice(&u[..order]);
    }
    sides.iter().all(|u| u.is_finite()).then_some(())
}

/// No closures: what calls one is not compiled for the registers of the processor.
struct Factorise<'a>(&'a mut Panels);

impl WithSimd for Factorise<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Option<()> {
        self.0.factorise()
    }
}

/// Both substitutions.
struct Substitute<'a>(&'a Panels, &'a mut [f64]);

impl WithSimd for Substitute<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.forward(self.1);
        self.0.backward(self.1);
    }
}

impl Panels {
    fn of(order: usize, gram: impl Fn(usize, usize) -> f64, ridge: f64) -> Self {
        let entry = |i: usize, j: usize| match (i < order && j < order, i == j) {
            (true, true) => gram(i, i) + ridge,
            (true, false) if i > j => gram(i, j),
            (false, true) => 1.0,
            _ => 0.0,
        };
        let panel = |p: usize| {
            let lane = |j| std::array::from_fn(|r| entry(p * WIDTH + r, j));
            (0..(p + 1) * WIDTH).map(lane).collect()
        };
        Self { panels: (0..order.div_ceil(WIDTH)).map(panel).collect() }
    }

    /// Replaces A by L with L L^T = A.
    #[inline(always)]
    fn factorise(&mut self) -> Option<()> {
        for first in (0..self.panels.len()).step_by(TOGETHER) {
            let (done, rest) = self.panels.split_at_mut(first);
            let count = rest.len().min(TOGETHER);
            let group = &mut rest[..count];
            for (q, other) in done.iter().enumerate() {
                group.iter_mut().for_each(|panel| meet(panel, q, other));
            }
            for at in 0..group.len() {
                let (before, rest) = group.split_at_mut(at);
                for (q, other) in (first..).zip(before.iter()) {
                    meet(&mut rest[0], q, other);
                }
                finish(&mut rest[0], first + at)?;
            }
        }
        Some(())
    }

    /// Replaces b by the solution of L y = b.
    #[inline(always)]
    fn forward(&self, b: &mut [f64]) {
        for (p, panel) in self.panels.iter().enumerate() {
            let (done, rest) = b.split_at_mut(p * WIDTH);
            let mut sums: Lane = std::array::from_fn(|r| rest[r]);
            for (column, y) in panel.iter().zip(&*done) {
                for r in 0..WIDTH {
                    sums[r] -= column[r] * y;
                }
            }
            let block = &panel[p * WIDTH..];
            for r in 0..WIDTH {
                for c in 0..r {
                    sums[r] -= block[c][r] * sums[c];
                }
                sums[r] /= block[r][r];
            }
            rest[..WIDTH].copy_from_slice(&sums);
        }
    }

    /// Replaces y by the solution of L^T x = y.
    #[inline(always)]
    fn backward(&self, y: &mut [f64]) {
        for (p, panel) in self.panels.iter().enumerate().rev() {
            let (done, rest) = y.split_at_mut(p * WIDTH);
            let mut x: Lane = std::array::from_fn(|r| rest[r]);
            let block = &panel[p * WIDTH..];
            for r in (0..WIDTH).rev() {
                x[r] /= block[r][r];
                for c in 0..r {
                    x[c] -= block[c][r] * x[r];
                }
            }
            rest[..WIDTH].copy_from_slice(&x);
            for (y, column) in done.iter_mut().zip(panel) {
                for r in (0..WIDTH).rev() {
                    *y -= column[r] * x[r];
                }
            }
        }
    }
}

/// Applies panel number `q`, to the left, and finishes the columns of that number.
#[inline(always)]
fn meet(panel: &mut [Lane], q: usize, other: &[Lane]) {
    let (before, block) = panel.split_at_mut(q * WIDTH);
    subtract(block, before, other);
    for c in 0..WIDTH {
        eliminate(block, c, &other[q * WIDTH..]);
    }
}

/// Finishes the block on the diagonal of panel number `p`, after all panels to the left were applied.
#[inline(always)]
fn finish(panel: &mut [Lane], p: usize) -> Option<()> {
    let (before, block) = panel.split_at_mut(p * WIDTH);
    subtract(block, before, before);
    for c in 0..WIDTH {
        for r in 0..WIDTH {
            let mut sum = block[c][r];
            for column in &block[..c] {
                sum -= column[r] * column[c];
            }
            block[c][r] = match r.cmp(&c) {
                Ordering::Less => 0.0,
                Ordering::Equal if sum > 0.0 && sum.is_finite() => sum.sqrt(),
                Ordering::Equal => return None,
                Ordering::Greater => sum / block[c][c],
            };
        }
    }
    Some(())
}

/// Takes from the four columns of `block` the products of `left`'s columns with those of `right`'s
/// rows, column by column.
#[inline(always)]
fn subtract(block: &mut [Lane], left: &[Lane], right: &[Lane]) {
    let mut sums = [block[0], block[1], block[2], block[3]];
    for (l, r) in left.iter().zip(right) {
        for c in 0..WIDTH {
            for k in 0..WIDTH {
                sums[c][k] -= l[k] * r[c];
            }
        }
    }
    block[..WIDTH].copy_from_slice(&sums);
}

/// Finishes column `c` of a block below the diagonal, after the columns before it are done. `corner` is the
/// block of L on the diagonal of these columns.
#[allow(clippy::needless_range_loop, reason = "the indices are those of the formula")]
#[inline(always)]
fn eliminate(block: &mut [Lane], c: usize, corner: &[Lane]) {
    for r in 0..WIDTH {
        let mut sum = block[c][r];
        for k in 0..c {
            sum -= block[k][r] * corner[k][c];
        }
        block[c][r] = sum / corner[c][c];
    }
}
