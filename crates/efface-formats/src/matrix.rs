//! Tables without column names: what NPY, NPZ, IDX and folders of images have in common.

use crate::cell::Cell;
use crate::delivery::Delivery;
use crate::error::{ReadError, Spot, fault};
use crate::format::arrays::ArrayRows;
use crate::input::Format;
use crate::rows::{self, Keys, RowValues, Rows};
use crate::summary::Summary;

/// The arrays of one table.
pub(crate) struct Arrays<'r> {
    pub(crate) features: ArrayRows<'r>,
    /// Labels, if they are read: one array, of one column or several, or an array for each label.
    pub(crate) labels: Vec<ArrayRows<'r>>,
    /// Ids, subjects and weights, if they are read.
    pub(crate) columns: [Option<ArrayRows<'r>>; 3],
}

impl<'r> Arrays<'r> {
    /// Returns the arrays other than the features.
    fn beside(&mut self) -> impl Iterator<Item = &mut ArrayRows<'r>> {
        self.labels.iter_mut().chain(self.columns.iter_mut().flatten())
    }
}

impl Rows for Arrays<'_> {
    fn advance(&mut self) -> Result<Option<Spot>, ReadError> {
        let is_there = self.features.advance()?;
        self.beside().try_for_each(|array| array.advance().map(drop))?;
        Ok(is_there.then(|| self.features.spot()))
    }

    fn label(&mut self, at: usize) -> Result<Cell<'_>, ReadError> {
        match &mut self.labels[..] {
            [wide] => wide.value(at),
            labels => labels.get_mut(at).map_or(Ok(Cell::Null), |array| array.value(0)),
        }
    }

    fn features(&mut self) -> Result<RowValues<'_>, ReadError> {
        Ok(RowValues::Dense(self.features.numbers()))
    }

    fn keys(&mut self) -> Result<Keys<'_>, ReadError> {
        let [id, subject, weight] = &mut self.columns;
        Ok(Keys {
            id: id.as_mut().map(ArrayRows::name).transpose()?,
            subject: subject.as_mut().map(ArrayRows::name).transpose()?,
            weight: weight.as_mut().map(|array| array.value(0)).transpose()?,
        })
    }
}

/// Hands over all rows. `divide` applies if no schema says otherwise.
pub(crate) fn deliver(
    mut arrays: Arrays<'_>,
    divide: f64,
    format: Format,
    mut delivery: Delivery<'_>,
) -> Result<Summary, ReadError> {
    let (file, options) = (delivery.file(), delivery.options);
    let (width, rows) = (arrays.features.width(), arrays.features.rows());
    if width == 0 {
        return Err(ReadError::of_file(file, fault!("no feature columns are left")));
    }
    arrays.beside().try_for_each(|array| array.expect_rows(rows))?;
    let labels = options.label_names("y")?;
    let maker = rows::array(file, rows::implied(width, divide), false, options)?;
    let image = arrays.features.image().filter(|_| options.frame.is_none());
    delivery.begin(&maker, image)?;
    delivery.run(&mut arrays, maker, labels, Some(format))
}
