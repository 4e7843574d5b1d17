//! What a step of a network's training asks of holders of rows in parts.

use std::fmt;

use zeroize::Zeroize;

use crate::error::{Code, Error, Result};

/// The rows of one part that a step draws. They are secret: nothing prints them.
#[derive(Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Their positions among the part's rows that take part in sums; those of a unit are adjacent and
    /// ascending.
    pub rows: Vec<u32>,
    /// Number of rows of each unit in turn; `None` if each row is a unit.
    pub lengths: Option<Vec<u32>>,
}

impl Drawn {
    /// Returns the number of drawn units.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.lengths.as_ref().map_or(self.rows.len(), Vec::len) as u64
    }

    /// Returns the unit of each row, from 0; `None` if each row is a unit.
    ///
    /// # Errors
    /// Fails if the lengths do not match the rows, or a row is not among the `rows` of the part.
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

/// One step of a network's training, as asked of the holders of the rows.
#[derive(Debug)]
pub struct NetworkStep<'a> {
    /// Number of the step, from 0; an answer repeats it.
    pub number: u64,
    /// The weights to take gradients at.
    pub weights: &'a [f32],
    /// The rows drawn from each part, in the order of the parts. A part is asked even if nothing is drawn
    /// from it, so that being asked reveals nothing.
    pub drawn: Vec<Drawn>,
}
