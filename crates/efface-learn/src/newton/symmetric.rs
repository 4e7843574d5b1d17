//! A symmetric matrix as its packed lower triangle, changed and multiplied in one read.

use faer::traits::RealField;
use faer::{Mat, MatRef};
use zeroize::{Zeroize, Zeroizing};

/// Column by column, each from its diagonal entry down.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Symmetric {
    order: usize,
    packed: Vec<f64>,
}

/// `weight` times the outer product of `x` with itself; `x` is a row, and is overwritten when dropped.
#[derive(Debug, Clone)]
pub(super) struct Outer {
    pub(super) weight: f64,
    pub(super) x: Zeroizing<Vec<f64>>,
}

impl Drop for Symmetric {
    fn drop(&mut self) {
        self.packed.zeroize();
    }
}

impl Symmetric {
    /// Takes the lower triangle of a square matrix.
    pub(super) fn from_lower(matrix: MatRef<'_, f64>) -> Self {
        let order = matrix.nrows();
        let column = |j| (j..order).map(move |i| matrix[(i, j)]);
        Self { order, packed: (0..order).flat_map(column).collect() }
    }

    /// Reads what [`packed`](Self::packed) returns; `None` for another count of numbers.
    pub(super) fn from_packed(order: usize, packed: Vec<f64>) -> Option<Self> {
        let expected = order.checked_mul(order.checked_add(1)?)? / 2;
        (packed.len() == expected).then_some(Self { order, packed })
    }

    pub(super) fn packed(&self) -> &[f64] {
        &self.packed
    }

    /// Rounds every entry to float32.
    pub(super) fn round(&mut self) {
        self.packed.iter_mut().for_each(|entry| *entry = f64::from(*entry as f32));
    }

    pub(super) fn order(&self) -> usize {
        self.order
    }

    /// Returns the lower triangle with `ridge` added on the diagonal; zeros above.
    pub(super) fn with_ridge(&self, ridge: f64) -> Mat<f64> {
        self.spread(ridge, |entry| entry)
    }

    /// Returns the same in float32.
    pub(super) fn with_ridge_rounded(&self, ridge: f64) -> Mat<f32> {
        self.spread(ridge, |entry| entry as f32)
    }

    fn spread<T: RealField>(&self, ridge: f64, of: impl Fn(f64) -> T) -> Mat<T> {
        let mut matrix = Mat::zeros(self.order, self.order);
        let mut rest = &self.packed[..];
        for j in 0..self.order {
            let (column, after) = rest.split_at(self.order - j);
            let into = &mut matrix.col_as_slice_mut(j)[j..];
            into.iter_mut().zip(column).for_each(|(into, &entry)| *into = of(entry));
            into[0] = of(column[0] + ridge);
            rest = after;
        }
        matrix
    }

    /// Returns the sum of the diagonal.
    pub(super) fn trace(&self) -> f64 {
        let mut at = 0;
        let mut sum = 0.0;
        for j in 0..self.order {
            sum += self.packed[at];
            at += self.order - j;
        }
        sum
    }

    /// Adds `changes`, then returns the product with `v`. Each entry of the product is a sum of
    /// `order` products in some order.
    pub(super) fn change_and_multiply(&mut self, changes: &[Outer], v: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.order];
        // Which rows have something in a column.
        let mut active = Zeroizing::new(Vec::with_capacity(changes.len()));
        let mut rest = &mut self.packed[..];
        for j in 0..self.order {
            let (column, after) = rest.split_at_mut(self.order - j);
            let factor = |change: usize| changes[change].weight * changes[change].x[j];
            active.clear();
            active.extend((0..changes.len()).filter(|&change| factor(change) != 0.0));
            let row = |&change: &usize| (factor(change), &changes[change].x[j..]);
            let (fours, others) = active.as_chunks();
            fours.iter().for_each(|four| add_four(four.each_ref().map(row), column));
            for (factor, x) in others.iter().map(row) {
                for (a, x) in column.iter_mut().zip(x) {
                    *a += factor * x;
                }
            }
            multiply_column(column, &v[j..], &mut product[j..]);
            rest = after;
        }
        product
    }

    pub(super) fn multiply(&self, v: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.order];
        let mut rest = &self.packed[..];
        for j in 0..self.order {
            let (column, after) = rest.split_at(self.order - j);
            multiply_column(column, &v[j..], &mut product[j..]);
            rest = after;
        }
        product
    }
}

/// Adds rows, each times its factor, to a column, one after another in one walk.
fn add_four(rows: [(f64, &[f64]); 4], column: &mut [f64]) {
    let [(first, xs), (second, ys), (third, zs), (fourth, ws)] = rows;
    let rows = xs.iter().zip(ys).zip(zs).zip(ws);
    for (a, (((x, y), z), w)) in column.iter_mut().zip(rows) {
        *a = (((*a + first * x) + second * y) + third * z) + fourth * w;
    }
}

/// Adds what one column below and on the diagonal, and its mirror image, contribute.
fn multiply_column(column: &[f64], v: &[f64], product: &mut [f64]) {
    const LANES: usize = 8;
    let head = v[0];
    product[0] += column[0] * head;
    let (columns, column_rest) = column[1..].as_chunks::<LANES>();
    let (vs, v_rest) = v[1..].as_chunks::<LANES>();
    let (below, corner) = product.split_at_mut(1);
    let (products, product_rest) = corner.as_chunks_mut::<LANES>();
    let mut sums = [0.0; LANES];
    for ((a, v), p) in columns.iter().zip(vs).zip(products) {
        for l in 0..LANES {
            p[l] += a[l] * head;
            sums[l] += a[l] * v[l];
        }
    }
    let mut sum: f64 = sums.iter().sum();
    for ((a, v), p) in column_rest.iter().zip(v_rest).zip(product_rest) {
        *p += a * head;
        sum += a * v;
    }
    below[0] += sum;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_products_are_those_of_the_full_matrix() {
        for order in [1_usize, 2, 7, 9, 18, 40] {
            let entry = |i: usize, j: usize| ((3 * i.max(j) + 5 * i.min(j)) % 11) as f64 - 4.0;
            let full = Mat::from_fn(order, order, entry);
            let mut packed = Symmetric::from_lower(full.as_ref());
            let x: Vec<f64> = (0..order).map(|j| (j % 4) as f64).collect();
            let v: Vec<f64> = (0..order).map(|j| (j % 5) as f64 - 2.0).collect();
            // Six of them: four at once and the others.
            let weights = [-3.0, 1.0, 0.0, 2.0, -1.0, 4.0];
            let changed = |i: usize, j: usize| {
                weights.iter().fold(entry(i, j), |sum, weight| sum + weight * x[i] * x[j])
            };
            let changed = Mat::from_fn(order, order, changed);
            let changes = weights.map(|weight| Outer { weight, x: x.clone().into() });
            let product = packed.change_and_multiply(&changes, &v);
            let expected: Vec<f64> =
                (0..order).map(|i| (0..order).map(|j| changed[(i, j)] * v[j]).sum()).collect();
            assert_eq!(product, expected, "{order}");
            assert_eq!(packed.multiply(&v), expected, "{order}");
            let trace: f64 = (0..order).map(|j| changed[(j, j)]).sum();
            assert_eq!(packed.trace(), trace);
            let ridge = packed.with_ridge(0.5);
            assert_eq!(
                ridge[(order - 1, 0)],
                changed[(order - 1, 0)] + 0.5 * f64::from(order == 1)
            );
            assert_eq!(
                packed.with_ridge_rounded(0.5),
                Mat::from_fn(order, order, |i, j| ridge[(i, j)] as f32)
            );
            let again = Symmetric::from_packed(order, packed.packed().to_vec()).unwrap();
            assert_eq!(again, packed);
            assert!(Symmetric::from_packed(order + 1, packed.packed().to_vec()).is_none());
        }
    }
}
