//! Growing, removing, and what is refused.
#![allow(clippy::unwrap_used)]

use efface_matrix::{ChangeError, Csr, Dense, Matrix, Refusal, Row, margins};
use proptest::prelude::*;

fn value(row: usize, column: usize) -> f32 {
    (row * 1000 + column) as f32 + 0.5
}

fn dense(rows: usize, cols: usize) -> Dense {
    let mut x = Dense::new(cols);
    for i in 0..rows {
        x.push_row(&(0..cols).map(|j| value(i, j)).collect::<Vec<_>>()).unwrap();
    }
    x
}

fn entries(row: usize, cols: usize) -> (Vec<u32>, Vec<f32>) {
    let indices: Vec<u32> =
        (0..cols as u32).filter(|j| (row + *j as usize).is_multiple_of(3)).collect();
    let values = indices.iter().map(|&j| value(row, j as usize)).collect();
    (indices, values)
}

fn sparse(rows: usize, cols: usize) -> Csr {
    let mut x = Csr::new(cols);
    for i in 0..rows {
        let (indices, values) = entries(i, cols);
        x.push_row(&indices, &values).unwrap();
    }
    x
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    #[test]
    fn removing_equals_never_having_pushed(
        rows in 0_usize..1300,
        cols in prop::sample::select(vec![1_usize, 5, 130, 600]),
        keep in prop::collection::vec(any::<bool>(), 1300),
        most in any::<bool>(),
    ) {
        let keep: Vec<bool> = keep.iter().enumerate().map(|(i, k)| *k || (most && i % 64 != 0)).collect();
        let remove: Vec<usize> = (0..rows).filter(|&i| !keep[i]).collect();
        let (mut d, mut s) = (dense(rows, cols), sparse(rows, cols));
        d.remove_rows(&remove).unwrap();
        s.remove_rows(&remove).unwrap();
        let (mut fresh_d, mut fresh_s) = (Dense::new(cols), Csr::new(cols));
        for i in (0..rows).filter(|&i| keep[i]) {
            fresh_d.push_row(&(0..cols).map(|j| value(i, j)).collect::<Vec<_>>()).unwrap();
            let (indices, values) = entries(i, cols);
            fresh_s.push_row(&indices, &values).unwrap();
        }
        prop_assert!(d == fresh_d && s == fresh_s);
        prop_assert_eq!(s.entries(), fresh_s.entries());
        prop_assert!(d.bytes() == fresh_d.bytes());
        prop_assert!(s.bytes() <= 2 * fresh_s.bytes() + rows * 12 + (1 << 20));
        // Both still grow.
        let (indices, values) = entries(1, cols);
        s.push_row(&indices, &values).unwrap();
        fresh_s.push_row(&indices, &values).unwrap();
        d.push_row(&vec![1.0; cols]).unwrap();
        fresh_d.push_row(&vec![1.0; cols]).unwrap();
        prop_assert!(d == fresh_d && s == fresh_s && d.clone() == d && s.clone() == s);
    }
}

#[test]
fn rows_do_not_move_while_a_matrix_grows() {
    let (mut d, mut s) = (dense(1, 300), sparse(1, 300));
    let places = (d.row(0).as_ptr(), s.row(0).1.as_ptr());
    for i in 1..3000 {
        d.push_row(&[1.0; 300]).unwrap();
        let (indices, values) = entries(i, 300);
        s.push_row(&indices, &values).unwrap();
    }
    assert_eq!((d.row(0).as_ptr(), s.row(0).1.as_ptr()), places);
    assert!(d.bytes() < 3000 * 300 * 4 * 5 / 4 + (1 << 20));
}

#[test]
fn long_rows_keep_off_power_of_two_distances() {
    for cols in [512, 784, 1024, 4096] {
        let mut x = Dense::new(cols);
        x.push_row(&vec![0.0; cols]).unwrap();
        x.push_row(&vec![0.0; cols]).unwrap();
        let (first, second) = (x.row(0).as_ptr() as usize, x.row(1).as_ptr() as usize);
        assert_eq!(first % 64, 0);
        assert_eq!((second - first) / 64 % 2, 1);
    }
}

#[test]
fn a_sparse_row_longer_than_a_segment_is_kept() {
    let long: Vec<u32> = (0..70_000).collect();
    let mut x = Csr::new(70_000);
    x.push_row(&[1], &[1.0]).unwrap();
    x.push_row(&long, &vec![2.0; 70_000]).unwrap();
    x.push_row(&[], &[]).unwrap();
    x.push_row(&[3], &[3.0]).unwrap();
    x.remove_rows(&[0]).unwrap();
    assert_eq!(x.rows(), 3);
    assert_eq!(x.row(0).0.len(), 70_000);
    assert_eq!(x.row(1), (&[][..], &[][..]));
    assert_eq!(x.row(2), (&[3][..], &[3.0][..]));
    x.remove_rows(&[0, 2]).unwrap();
    assert_eq!(x.row(0), (&[][..], &[][..]));
    x.remove_rows(&[0]).unwrap();
    assert_eq!(x.rows(), 0);
    x.push_row(&[5], &[5.0]).unwrap();
    assert_eq!(x.row(0), (&[5][..], &[5.0][..]));
}

#[test]
fn bad_rows_are_refused_and_change_nothing() {
    let mut x = Matrix::dense(2);
    let mut y = Matrix::sparse(4);
    let row = |indices, values| Row::Sparse { indices, values };
    let said = |result: Result<(), ChangeError>| result.unwrap_err().to_string();
    assert_eq!(said(x.push(Row::Dense(&[1.0]))), "`row` must have 2 values, one per column, got 1");
    assert_eq!(
        said(x.push(Row::Dense(&[1.0, f32::NAN]))),
        "`row` must hold finite values, got NaN in column 1"
    );
    assert_eq!(said(x.push(row(&[], &[]))), "`row` must be dense like its matrix, got sparse");
    assert_eq!(said(y.push(Row::Dense(&[]))), "`row` must be sparse like its matrix, got dense");
    assert_eq!(
        said(y.push(row(&[1, 2], &[1.0]))),
        "`values` must have 2 entries, one per index, got 1"
    );
    assert_eq!(
        said(y.push(row(&[2, 2], &[1.0, 1.0]))),
        "`indices` must increase strictly, got 2 after 2"
    );
    assert_eq!(said(y.push(row(&[4], &[1.0]))), "`indices` must be below the 4 columns, got 4");
    assert_eq!(
        said(y.push(row(&[3], &[f32::NEG_INFINITY]))),
        "`row` must hold finite values, got -inf in column 3"
    );
    assert_eq!((x.rows(), y.rows()), (0, 0));
}

#[test]
fn bad_removals_are_refused_and_change_nothing() {
    for mut x in [Matrix::Dense(dense(5, 2)), Matrix::Sparse(sparse(5, 2))] {
        let before = x.clone();
        assert_eq!(
            x.remove_rows(&[5]),
            Err(Refusal::new("`rows` must be below the 5 rows, got 5"))
        );
        assert_eq!(
            x.remove_rows(&[1, 1]),
            Err(Refusal::new("`rows` must increase strictly, got 1 after 1"))
        );
        assert_eq!(
            x.remove_rows(&[3, 1]),
            Err(Refusal::new("`rows` must increase strictly, got 1 after 3"))
        );
        assert_eq!(x.remove_rows(&[]), Ok(()));
        assert_eq!(x, before);
    }
}

#[test]
fn bad_weights_are_refused() {
    let x = Matrix::Dense(dense(3, 2));
    assert_eq!(margins(&x, &[], 0), Err(Refusal::new("`outputs` must be at least 1, got 0")));
    assert_eq!(
        margins(&x, &[1.0; 3], 2),
        Err(Refusal::new("`weights` must have 2 x 2 values (outputs x columns), got 3"))
    );
    assert_eq!(
        margins(&x, &[1.0; 4], usize::MAX),
        Err(Refusal::new(format!(
            "`weights` must have {} x 2 values (outputs x columns), got 4",
            usize::MAX
        )))
    );
    assert_eq!(
        margins(&x, &[1.0, f64::INFINITY], 1),
        Err(Refusal::new("`weights` must be finite, got inf at position 1"))
    );
    assert_eq!(
        efface_matrix::weighted_gram(&x, &[1.0, -1.0, 0.0]).unwrap_err(),
        Refusal::new("`s` must be finite and at least 0, got -1 at position 1")
    );
    assert_eq!(
        efface_matrix::weighted_block_gram(&x, 2, &[1.0]).unwrap_err(),
        Refusal::new("`p` must have 6 values, got 1")
    );
}

#[test]
fn absurd_shapes_do_not_panic() {
    let mut x = Dense::new(usize::MAX);
    assert!(x.push_row(&[1.0]).is_err());
    let mut empty = Dense::new(0);
    empty.push_row(&[]).unwrap();
    assert_eq!(empty.row(0), &[] as &[f32]);
    assert_eq!(margins(&Matrix::Dense(empty), &[], 1), Ok(vec![0.0]));
    let huge = Matrix::sparse(1 << 40);
    let refused = efface_matrix::weighted_gram(&huge, &[]).unwrap_err();
    assert_eq!(refused, Refusal::no_memory(1 << 40));
}

#[test]
fn debug_output_shows_no_data() {
    let shown = format!("{:?} {:?}", dense(2, 2), sparse(2, 2));
    assert_eq!(shown, "Dense { rows: 2, cols: 2, .. } Csr { rows: 2, cols: 2, .. }");
}
