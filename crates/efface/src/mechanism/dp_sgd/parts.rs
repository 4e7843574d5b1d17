//! Steps on rows that remote holders have in parts.

use efface_net::{CheckedDpSgd, NetError, StepSums, UnitSums};

use crate::error::{Code, Error, Result};
use crate::rows::{Drawn, NetworkStep, Partitioned};

/// Asks the holders of the rows for the sum of each step.
pub(super) struct OnParts<'a> {
    held: &'a dyn Partitioned,
    plan: &'a CheckedDpSgd,
    /// Number of rows of each part.
    sizes: Vec<usize>,
    subjects: Option<Subjects>,
}

/// Units of several rows each, all in one part.
struct Subjects {
    /// The part of each subject.
    parts: Vec<u32>,
    /// Offset in `rows` of each subject's first row, then the end of the last one's.
    starts: Vec<u32>,
    /// Row numbers within the subject's part.
    rows: Vec<u32>,
}

impl<'a> OnParts<'a> {
    /// Takes records as units, or subjects if they are numbered for each row in the order of the parts.
    ///
    /// # Errors
    /// Fails if a subject has rows in two parts, neither of which could clip its gradient.
    pub(super) fn new(
        held: &'a dyn Partitioned,
        plan: &'a CheckedDpSgd,
        subjects: Option<&[u32]>,
    ) -> Result<Self> {
        let sizes = held.sizes();
        let subjects = subjects.map(|of_rows| Subjects::new(of_rows, &sizes)).transpose()?;
        Ok(Self { held, plan, sizes, subjects })
    }

    /// Returns the rows that a step draws, for each part.
    fn drawn(&self, units: &[u32]) -> Vec<Drawn> {
        // Allocated for all rows, so that growing leaves no copy behind.
        let room = |size: &usize| Drawn {
            rows: Vec::with_capacity(*size),
            lengths: self.subjects.as_ref().map(|_| Vec::with_capacity(*size)),
        };
        let mut all: Vec<Drawn> = self.sizes.iter().map(room).collect();
        let (mut part, mut first) = (0, 0);
        for &unit in units {
            if let Some(subjects) = &self.subjects {
                let drawn = &mut all[subjects.parts[unit as usize] as usize];
                let rows = subjects.rows(unit);
                drawn.rows.extend_from_slice(rows);
                drawn.lengths.iter_mut().for_each(|lengths| lengths.push(rows.len() as u32));
            } else {
                while unit as usize - first >= self.sizes[part] {
                    first += self.sizes[part];
                    part += 1;
                }
                all[part].rows.push(unit - first as u32);
            }
        }
        all
    }
}

impl UnitSums for OnParts<'_> {
    fn units(&self) -> usize {
        let records = || self.sizes.iter().sum();
        self.subjects.as_ref().map_or_else(records, |subjects| subjects.parts.len())
    }

    fn sum(
        &mut self,
        number: u64,
        weights: &[f32],
        drawn: &[u32],
        sums: &mut [i64],
    ) -> std::result::Result<(), NetError> {
        let drawn = self.drawn(drawn);
        let counts = drawn.iter().map(Drawn::units).collect();
        let mut step = StepSums::new(self.plan, number, counts, sums);
        let mut refused = None;
        let mut take = |told| {
            if refused.is_none() {
                refused = step.add(&told).err();
            }
        };
        let asked = NetworkStep { number, weights, drawn };
        self.held.clipped(&asked, &mut take).map_err(NetError::Part)?;
        refused.map_or(Ok(()), Err)?;
        step.finish()
    }
}

impl Subjects {
    fn new(of_rows: &[u32], sizes: &[usize]) -> Result<Self> {
        let count = of_rows.iter().max().map_or(0, |most| *most as usize + 1);
        let mut starts = vec![0_u32; count + 1];
        of_rows.iter().for_each(|subject| starts[*subject as usize + 1] += 1);
        for subject in 0..count {
            starts[subject + 1] += starts[subject];
        }
        let (mut next, mut rows) = (starts.clone(), vec![0; of_rows.len()]);
        let mut parts: Vec<Option<u32>> = vec![None; count];
        let places = sizes.iter().enumerate();
        let places = places.flat_map(|(part, size)| (0..*size).map(move |row| (part, row)));
        for ((part, row), &subject) in places.zip(of_rows) {
            let subject = subject as usize;
            let before = *parts[subject].get_or_insert(part as u32);
            if before as usize != part {
                return Err(apart(before, part));
            }
            rows[next[subject] as usize] = row as u32;
            next[subject] += 1;
        }
        Ok(Self { parts: parts.into_iter().flatten().collect(), starts, rows })
    }

    fn rows(&self, subject: u32) -> &[u32] {
        let at = subject as usize;
        &self.rows[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

fn apart(one: u32, other: usize) -> Error {
    let message = format!(
        "partitions {one} and {other} both have records of one subject, but its gradient must be \
         clipped as a whole in one partition"
    );
    Error::refused(Code::Subjects, message).hint(
        "put all records of a subject in one partition (for a Dask dataframe: \
         `frame.shuffle(on=COLUMN, shuffle_method='tasks')`), or use `§unit record`",
    )
}
