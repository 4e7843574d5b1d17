//! Records as the chains of a batch share them.

use efface_learn::Dataset;

/// The most numbers a design may hold: 4 GiB.
const MOST_NUMBERS: usize = 1 << 29;

/// Records as a matrix of float64, columns that are 0 everywhere left out.
#[derive(Debug)]
pub struct Design {
    /// The numbers, row by row.
    pub(super) numbers: Vec<f64>,
    pub(super) targets: Vec<f64>,
    pub(super) sample_weights: Vec<f64>,
    /// The columns that are kept.
    pub(super) columns: Vec<usize>,
}

impl Design {
    /// Takes the records of a data set, sparse ones written out; `None` if they would be too many numbers.
    #[must_use]
    pub fn new(data: &Dataset) -> Option<Self> {
        let mut used = vec![false; data.cols()];
        for row in 0..data.rows() {
            for (column, value) in data.x().row(row).iter() {
                used[column] |= value != 0.0;
            }
        }
        let columns: Vec<usize> = (0..data.cols()).filter(|&column| used[column]).collect();
        let width = columns.len();
        let size = width.checked_mul(data.rows()).filter(|&size| size <= MOST_NUMBERS)?;
        let mut place = vec![usize::MAX; data.cols()];
        for (at, &column) in columns.iter().enumerate() {
            place[column] = at;
        }
        let mut numbers = vec![0.0; size];
        for row in 0..data.rows() {
            for (column, value) in data.x().row(row).iter() {
                if place[column] < width {
                    numbers[row * width + place[column]] = f64::from(value);
                }
            }
        }
        let (targets, sample_weights) = (data.y().to_vec(), data.sample_weights().to_vec());
        Some(Self { numbers, targets, sample_weights, columns })
    }
}
