//! The normal equations, solved in an order that nothing but P decides.

use std::cmp::Ordering;

/// Rows per panel, and columns per step: 16 sums at a time stay in registers.
const WIDTH: usize = 4;

/// `WIDTH` numbers, one per row of a panel.
type Lane = [f64; WIDTH];

/// Lower triangle of a matrix in panels of `WIDTH` rows: panel p holds columns 0 .. 4p + 3, one
/// lane each. The order is filled up to a multiple of `WIDTH` with rows of the identity.
struct Panels {
    panels: Vec<Vec<Lane>>,
}

/// Replaces right-hand sides t, one after the other, by the solutions u of (S + `ridge` I) u = t. S has this
/// order; `gram` tells its entries (i, j), i >= j.
///
/// Cholesky and two substitutions: every entry is one chain of f64 products and subtractions, each
/// rounded by itself, over columns in increasing order. Which entries are worked on side by side
/// does not enter, so the bits are the same on every machine. `None` when a pivot is not positive or
/// a number is not finite.
pub(super) fn solve(
    order: usize,
    gram: impl Fn(usize, usize) -> f64,
    ridge: f64,
    sides: &mut [f64],
) -> Option<()> {
    let mut factor = Panels::of(order, gram, ridge);
    factor.factorise()?;
    let mut u = vec![0.0; factor.panels.len() * WIDTH];
    for side in sides.chunks_exact_mut(order) {
        u.fill(0.0);
        u[..order].copy_from_slice(side);
        factor.forward(&mut u);
        factor.backward(&mut u);
        side.copy_from_slice(&u[..order]);
    }
    sides.iter().all(|u| u.is_finite()).then_some(())
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
    fn factorise(&mut self) -> Option<()> {
        for p in 0..self.panels.len() {
            let (done, rest) = self.panels.split_at_mut(p);
            let panel = &mut rest[0];
            for (q, other) in done.iter().enumerate() {
                let (before, block) = panel.split_at_mut(q * WIDTH);
                subtract(block, before, other);
                for c in 0..WIDTH {
                    eliminate(block, c, &other[q * WIDTH..]);
                }
            }
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
        }
        Some(())
    }

    /// Replaces b by the solution of L y = b.
    fn forward(&self, b: &mut [f64]) {
        for (p, panel) in self.panels.iter().enumerate() {
            for r in 0..WIDTH {
                let i = p * WIDTH + r;
                let mut sum = b[i];
                for (column, y) in panel[..i].iter().zip(&*b) {
                    sum -= column[r] * y;
                }
                b[i] = sum / panel[i][r];
            }
        }
    }

    /// Replaces y by the solution of L^T x = y.
    fn backward(&self, y: &mut [f64]) {
        for (p, panel) in self.panels.iter().enumerate().rev() {
            for r in (0..WIDTH).rev() {
                let i = p * WIDTH + r;
                let x = y[i] / panel[i][r];
                y[i] = x;
                for (y, column) in y[..i].iter_mut().zip(panel) {
                    *y -= column[r] * x;
                }
            }
        }
    }
}

/// Takes from the four columns of `block` the products of `left`'s columns with those of `right`'s
/// rows, column by column.
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

/// Column `c` of a block left of the diagonal, once those before it are done. `corner` is the
/// block of L on the diagonal of these columns.
#[allow(clippy::needless_range_loop, reason = "the indices are those of the formula")]
fn eliminate(block: &mut [Lane], c: usize, corner: &[Lane]) {
    for r in 0..WIDTH {
        let mut sum = block[c][r];
        for k in 0..c {
            sum -= block[k][r] * corner[k][c];
        }
        block[c][r] = sum / corner[c][c];
    }
}
