//! Fits preprocessing to the rows of a vault, block by block.

use std::cell::Cell;

use efface_formats::{Fitted, Frame, RawSource, RowBytes};

use super::vault::not_fitted;
use super::{InVault, Rows};
use crate::error::{Error, Result};

impl InVault<'_, '_> {
    /// Fits preprocessing to these rows from scratch; returns it and the sum of the rows' weights.
    pub(crate) fn fit(&self) -> Result<(Fitted, f64)> {
        let Some(fitting) = &self.plan.fitting else { return Err(not_fitted()) };
        let source = Source { rows: self, frame: self.frame()?, weights: Cell::new(None) };
        let found = Fitted::fit_to(&source, &fitting.rules)?;
        Ok((found, source.weights.get().unwrap_or_default()))
    }
}

/// The rows of a vault, as input to fitting.
struct Source<'a, 'b, 'v> {
    rows: &'a InVault<'b, 'v>,
    frame: &'a Frame,
    /// The sum of the records' weights, after the first pass.
    weights: Cell<Option<f64>>,
}

impl RawSource for Source<'_, '_, '_> {
    type Error = Error;

    fn frame(&self) -> &Frame {
        self.frame
    }

    fn records(&self) -> Result<u64> {
        Ok(self.rows.count()? as u64)
    }

    /// The first pass also looks for rows that should have been deleted. A fault counts from the first row of
    /// its block, present rows only, so its number is too low after deleted ones.
    fn pass(&self, see: &(dyn Fn(usize, &RowBytes) + Sync)) -> Result<()> {
        let rows = self.rows;
        let first_pass = self.weights.get().is_none();
        let leaving = rows.leaving.filter(|_| first_pass);
        let mut sum = 0.0;
        rows.each_block(
            leaving,
            |stored| {
                let first = stored.keys.first().map_or(0, |number| number - 1);
                see(usize::try_from(first).unwrap_or(0), &stored.bytes);
                Ok(stored.weights)
            },
            |weights| {
                weights.iter().for_each(|weight| sum += weight);
                Ok(())
            },
        )?;
        self.weights.set(Some(sum));
        Ok(())
    }
}
