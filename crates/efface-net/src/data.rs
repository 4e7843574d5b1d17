//! The data of a training.

use crate::error::length;
use crate::{NetError, Network};

/// Most rows: sums of as many clipped gradients fit into 64 bits.
pub const MOST_ROWS: usize = u32::MAX as usize;

/// Rows, the class of each, and the unit that each belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    /// n rows of the network's inputs, one after another; each as [`crate::Shape`] says.
    pub rows: &'a [f32],
    /// n classes, each below the network's outputs.
    pub labels: &'a [u32],
    /// The unit of each row, below n; if `None`, each row is a unit of its own. A number that no row has is a
    /// unit without rows, whose gradient is 0.
    pub units: Option<&'a [u32]>,
}

/// Data that were checked against a network.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'a> {
    data: Data<'a>,
    inputs: usize,
}

impl<'a> Data<'a> {
    /// Checks lengths, classes and units; numbers may be anything.
    pub(crate) fn check(self, network: &Network) -> Result<Checked<'a>, NetError> {
        let (rows, inputs) = (self.labels.len(), network.inputs());
        if rows > MOST_ROWS {
            return Err(NetError::Refused(format!(
                "at most 2^32 - 1 rows can be learnt from, got {rows}"
            )));
        }
        length("rows", rows.saturating_mul(inputs), self.rows.len())?;
        let outputs = network.outputs();
        for (row, &label) in self.labels.iter().enumerate() {
            if label as usize >= outputs {
                return Err(NetError::Refused(format!(
                    "row {row} has class {label}, but the network has {outputs} outputs"
                )));
            }
        }
        if let Some(units) = self.units {
            length("units", rows, units.len())?;
            for (row, &unit) in units.iter().enumerate() {
                if unit as usize >= rows {
                    return Err(NetError::Refused(format!(
                        "row {row} is of unit {unit}; units must be numbered below the \
                         number of rows, {rows}"
                    )));
                }
            }
        }
        Ok(Checked { data: self, inputs })
    }
}

impl<'a> Checked<'a> {
    pub(crate) fn rows(&self) -> usize {
        self.data.labels.len()
    }

    /// Returns one row and its class.
    pub(crate) fn row(&self, row: usize) -> (&'a [f32], usize) {
        let values = &self.data.rows[row * self.inputs..][..self.inputs];
        (values, self.data.labels[row] as usize)
    }

    /// Returns the rows by their units.
    pub(crate) fn units(&self) -> Units {
        let Some(units) = self.data.units else { return Units::Rows(self.rows()) };
        let count = units.iter().max().map_or(0, |&most| most as usize + 1);
        let mut starts = vec![0_u32; count + 1];
        for &unit in units {
            starts[unit as usize + 1] += 1;
        }
        for unit in 0..count {
            starts[unit + 1] += starts[unit];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; units.len()];
        for (row, &unit) in units.iter().enumerate() {
            let place = &mut next[unit as usize];
            rows[*place as usize] = row as u32;
            *place += 1;
        }
        Units::Grouped { starts, rows }
    }
}

/// The rows of each unit.
pub(crate) enum Units {
    /// Each row is a unit: so many.
    Rows(usize),
    /// The rows of each unit in the order of the data.
    Grouped {
        /// Start of each unit's rows in `rows`, and end of the last one's.
        starts: Vec<u32>,
        rows: Vec<u32>,
    },
}

impl Units {
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Rows(count) => *count,
            Self::Grouped { starts, .. } => starts.len() - 1,
        }
    }

    /// Returns the rows of one of them, in order.
    pub(crate) fn rows(&self, unit: u32) -> impl ExactSizeIterator<Item = usize> {
        let (own, listed) = match self {
            Self::Rows(_) => (Some(unit), &[][..]),
            Self::Grouped { starts, rows } => {
                let at = unit as usize;
                (None, &rows[starts[at] as usize..starts[at + 1] as usize])
            }
        };
        let count = listed.len() + usize::from(own.is_some());
        (0..count).map(move |at| own.unwrap_or_else(|| listed[at]) as usize)
    }
}
