//! What a step of a network's training asks of rows in parts.

use std::fmt;

use zeroize::Zeroize;

use crate::error::{Code, Error, Result};

/// Rows of one part that a step draws. Who is drawn is secret: nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Their places among those of the part that take part in sums; those of a unit ascend, one behind another.
    pub rows: Vec<u32>,
    /// How many each unit has, in turn; none: each row is a unit.
    pub lengths: Option<Vec<u32>>,
}

impl Drawn {
    /// Units that are drawn.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.lengths.as_ref().map_or(self.rows.len(), Vec::len) as u64
    }

    /// For each row its unit, from 0; none where each row is one.
    ///
    /// # Errors
    /// Lengths that are not those of the rows, or rows beyond the `rows` there are.
    pub(crate) fn checked(&self, rows: usize) -> Result<Option<Vec<u32>>> {
        let refuse = |what| Err(Error::input(Code::Data, format!("the rows of a step {what}")));
        if self.rows.iter().any(|row| *row as usize >= rows) {
            return refuse("are not all there");
        }
        let Some(lengths) = &self.lengths else { return Ok(None) };
        if lengths.contains(&0)
            || lengths.iter().map(|length| *length as usize).sum::<usize>() != self.rows.len()
        {
            return refuse("are not those of its units");
        }
        let unit = |(unit, length): (usize, &u32)| vec![unit as u32; *length as usize];
        Ok(Some(lengths.iter().enumerate().flat_map(unit).collect()))
    }
}

impl fmt::Debug for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drawn").finish_non_exhaustive()
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.rows.zeroize();
        self.lengths.zeroize();
    }
}

/// One step of a network's training, as it is asked of those who hold the rows.
#[derive(Debug)]
pub struct NetworkStep<'a> {
    /// Which, from 0: an answer repeats it.
    pub number: u64,
    /// The weights to take gradients at.
    pub weights: &'a [f32],
    /// What is drawn from each part, in their order. A part of which nothing is drawn is asked, too, so
    /// that nobody is told by not being asked.
    pub drawn: Vec<Drawn>,
}
