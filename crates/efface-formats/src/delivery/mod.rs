//! The last steps every format shares: count, judge the label, map the row, hand it over.

mod waiting;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::budget::Budget;
use crate::cell::{Cell, quoted};
use crate::error::{CellFault, Fault, Place, ReadError, Spot, fault, within};
use crate::feature_map::Mapper;
use crate::fitted::is_number_in_words;
use crate::image::ImageShape;
use crate::input::Format;
use crate::label::{Label, Labels, Verdict};
use crate::missing::looks_missing;
use crate::name::{NOBODY, Spellings, truth};
use crate::options::ReadOptions;
use crate::record::{DenseRows, FeatureNames, Features, LabelRef, Layout, Record, Sink};
use crate::row_map::Mapped;
use crate::rows::{Keys, RowForm, RowMaker, RowValues, Rows};
use crate::summary::{PrivateEvidence, Summary};
use crate::time;
use waiting::{Held, Waiting};

/// A row that is ready, without what names it.
struct Made<'a> {
    position: u64,
    spot: Spot,
    features: Features<'a>,
    raw: Option<&'a [u8]>,
    /// Number of bytes that it takes if rows are kept.
    stored: usize,
    label: Option<Label>,
    /// The numbers of several labels; `None` stands for those that were judged last.
    labels: Option<&'a [f64]>,
}

/// One pass over a table.
pub(crate) struct Delivery<'a> {
    file: &'a str,
    pub(crate) options: &'a ReadOptions,
    sink: &'a mut dyn Sink,
    pub(crate) budget: Budget,
    labels: Option<Labels>,
    /// The texts of ids and subjects, in a file without types.
    untyped: Option<[Spellings; 2]>,
    /// Dense rows that wait for others.
    waiting: Option<Waiting>,
    /// The shape of the images that rows are, if the file says so.
    image: Option<ImageShape>,
    /// Number of rows before the first that is read.
    skipped: u64,
    position: u64,
    kept: u64,
    left_out: u64,
    /// Whether rows are cells of a file.
    are_cells: bool,
    /// The label of the row that was admitted last.
    label: Option<Label>,
    /// Rows without a label, and the place of the first.
    unlabelled: Option<(u64, Place)>,
    private: PrivateEvidence,
}

/// The counts of rows that were taken at once.
pub(crate) struct Taken {
    pub(crate) labels: Option<Labels>,
    pub(crate) rows: u64,
    pub(crate) private: PrivateEvidence,
}

impl<'a> Delivery<'a> {
    /// Checks the options that do not depend on the file.
    pub(crate) fn new(
        file: &'a str,
        options: &'a ReadOptions,
        sink: &'a mut dyn Sink,
        budget: Budget,
    ) -> Result<Self, Fault> {
        let norm = options.row_map.norm;
        if !(norm.is_finite() && norm > 0.0) {
            return Err(fault!("`row_map` needs a finite norm above 0, got {norm}"));
        }
        if options.width == Some(0) {
            return Err(fault!("`width` must be at least 1, got 0"));
        }
        if options.feature_map.is_some() && options.frame.is_some() {
            return Err(fault!("`§features` maps encoded rows, and raw rows were asked for"));
        }
        let labels = Labels::new(options)?;
        let labels = options.label_required.then_some(labels);
        let private = PrivateEvidence::default();
        let (skipped, position, kept, left_out) = (0, 0, 0, 0);
        Ok(Self {
            file,
            options,
            sink,
            budget,
            labels,
            untyped: None,
            waiting: None,
            image: None,
            skipped,
            position,
            kept,
            left_out,
            are_cells: false,
            label: None,
            unlabelled: None,
            private,
        })
    }

    /// Begins behind so many rows.
    pub(crate) fn skip(&mut self, rows: u64) {
        (self.skipped, self.position) = (rows, rows);
    }

    /// Says that rows are cells of a file, whose texts may be meant as numbers if it has no types.
    pub(crate) fn of_cells(&mut self, is_typed: bool) {
        self.are_cells = true;
        self.untyped = (!is_typed).then(|| ["ids", "subjects"].map(Spellings::of_keys));
    }

    /// Announces the layout of rows, which are images of that shape if the file says so.
    pub(crate) fn begin(
        &mut self,
        maker: &RowMaker,
        image: Option<ImageShape>,
    ) -> Result<(), ReadError> {
        let (columns, sparse) = maker.features();
        self.image = image;
        if let (Some(got), Some(expected)) = (image, self.options.image)
            && got != expected
        {
            let fault =
                fault!("the images are {got}, and those that the model was trained on {expected}");
            return Err(ReadError::of_file(self.file, fault));
        }
        let limit = u64::from(self.options.limits.columns);
        within("features", columns.len() as u64, limit)
            .map_err(|fault| ReadError::of_file(self.file, fault))?;
        let inputs = columns.len() as u32;
        let (columns, mapper) = match &self.options.feature_map {
            None => (columns, None),
            Some(map) => {
                let here = |fault| ReadError::of_file(self.file, fault);
                let image = image.and_then(ImageShape::gray);
                let map = map.of_rows(inputs, sparse, image).map_err(here)?;
                let mapper = Mapper::new(&map, inputs).map_err(here)?;
                (FeatureNames::Listed(map.feature_names()), Some(mapper))
            }
        };
        if !sparse {
            self.waiting = Some(Waiting::new(mapper, self.options.row_map, inputs as usize));
        }
        let width = columns.len() as u32;
        let layout = Layout { columns, width, sparse };
        self.sink.begin(&layout).map_err(|source| ReadError::Sink { position: 0, source })
    }

    /// Hands over all rows, whose labels have these names. [`begin`](Self::begin) comes before.
    pub(crate) fn run(
        mut self,
        rows: &mut dyn Rows,
        mut maker: RowMaker,
        labels: Vec<String>,
        format: Option<Format>,
    ) -> Result<Summary, ReadError> {
        while let Some(spot) = rows.advance()? {
            if self.admit(spot, &labels, rows)? {
                self.make(spot, rows.features()?, &mut maker)?;
                self.deliver(spot, &mut maker, &rows.keys()?)?;
            }
        }
        Ok(self.finish(format, maker)?.with_targets(labels))
    }

    /// Counts a row and judges its labels, which have these names; `false` if it is left out.
    fn admit(
        &mut self,
        spot: Spot,
        names: &[String],
        rows: &mut dyn Rows,
    ) -> Result<bool, ReadError> {
        self.position += 1;
        within("rows", self.position, self.options.limits.rows)
            .map_err(|fault| self.fault(spot, fault))?;
        let Some(labels) = &mut self.labels else { return Ok(true) };
        for (at, column) in names.iter().enumerate() {
            let place = || Place::new(self.file, spot).column(column);
            let known = labels.known();
            let cell = rows.label(at)?;
            let verdict = match names.len() {
                1 => labels.judge(cell),
                _ => labels.judge_next(at, cell),
            };
            match verdict.map_err(|fault| ReadError::at(place(), fault))? {
                Verdict::Keep(label) => self.label = Some(label),
                Verdict::Missing => {
                    self.unlabelled.get_or_insert_with(|| (0, place())).0 += 1;
                    return Ok(false);
                }
                Verdict::LeaveOut => {
                    self.left_out += 1;
                    return Ok(false);
                }
            }
            if labels.known() > known {
                self.budget
                    .text(&cell.text())
                    .map_err(|fault| ReadError::at(Place::new(self.file, spot), fault))?;
            }
        }
        Ok(true)
    }

    /// Makes the stored form of the row that was admitted last from its features.
    fn make(
        &mut self,
        spot: Spot,
        values: RowValues<'_>,
        maker: &mut RowMaker,
    ) -> Result<(), ReadError> {
        maker.begin(self.reference()).map_err(|fault| self.fault(spot, fault))?;
        let (are_cells, missing) = (self.are_cells, &mut self.private.missing);
        let made = maker.make(values, |column, cell| {
            if are_cells {
                note_missing(missing, column, cell);
            }
        });
        made.map_err(|(column, fault)| {
            let name = maker.name(column);
            let fault = match are_cells && self.options.schema.is_none() {
                true => explain(self.file, &name, self.options.numbers_for.as_deref(), fault),
                false => fault.into(),
            };
            ReadError::at(Place::new(self.file, spot).column(name), fault)
        })
    }

    /// Hands over the row that was made, at once or with others; an encoded one is bounded.
    fn deliver(
        &mut self,
        spot: Spot,
        maker: &mut RowMaker,
        keys: &Keys<'_>,
    ) -> Result<(), ReadError> {
        let (position, label) = (self.position, self.label);
        let row = match &mut maker.form {
            RowForm::Encoded { row, .. } => row,
            RowForm::Raw { row, .. } => {
                let (raw, features) = (row.bytes(), Features::Dense(&[]));
                let (stored, raw) = (raw.len(), Some(raw));
                let made = Made { position, spot, features, raw, stored, label, labels: None };
                return self.hand_over(made, keys);
            }
        };
        if let Some(waiting) = &mut self.waiting {
            let labels = match (&self.labels, label) {
                (Some(labels), Some(Label::Values)) => labels.values().to_vec(),
                _ => Vec::new(),
            };
            let held = Held::new(position, spot, label, labels, keys);
            let enough = waiting.push(row.values_mut(), held);
            return if enough { self.deliver_next() } else { Ok(()) };
        }
        let values = row.values_mut();
        let bounded = self.options.row_map.apply(values);
        self.note(spot, bounded, values)?;
        let features: Features<'_> = row.features();
        let stored = match features {
            Features::Dense(values) => size_of_val(values),
            Features::Sparse { indices, values } => size_of_val(indices) + size_of_val(values),
        };
        let made = Made { position, spot, features, raw: None, stored, label, labels: None };
        self.hand_over(made, keys)
    }

    /// Begins to work on the rows that wait, and hands those over that were worked on before.
    fn deliver_next(&mut self) -> Result<(), ReadError> {
        let Some(waiting) = &mut self.waiting else { return Ok(()) };
        let encoded = waiting.mapper().map(|mapper| 4 * mapper.inputs());
        let Some(mut ready) = waiting.next() else { return Ok(()) };
        for ((held, features), bounded) in ready.drain() {
            self.note(held.spot, bounded, features)?;
            let size = size_of_val(features);
            let encoded = encoded.unwrap_or(size);
            // What features take beyond their row was not unpacked from the file.
            let more = size.saturating_sub(encoded);
            self.budget.made(more as u64).map_err(|fault| self.fault(held.spot, fault))?;
            let (label, labels) = (held.label, Some(&*held.labels));
            let features = Features::Dense(features);
            let (position, spot, stored) = (held.position, held.spot, encoded);
            let made = Made { position, spot, features, raw: None, stored, label, labels };
            self.hand_over(made, &held.keys())?;
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.reuse(ready);
        }
        Ok(())
    }

    /// Notes what the row map did to a row, or refuses it.
    fn note(
        &mut self,
        spot: Spot,
        bounded: Result<Mapped, Fault>,
        values: &[f32],
    ) -> Result<(), ReadError> {
        let noted = self.private.note(bounded, &self.options.row_map, values);
        noted.map_err(|fault| self.fault(spot, fault))
    }

    fn reference(&self) -> Option<LabelRef<'_>> {
        Some(self.labels.as_ref()?.reference(self.label?))
    }

    fn hand_over(&mut self, made: Made<'_>, keys: &Keys<'_>) -> Result<(), ReadError> {
        let Made { position, spot, features, raw, stored, label, labels } = made;
        let id = keys.id.map(|cell| cell.text());
        if id.as_ref().is_some_and(|id| id.is_empty()) {
            return Err(self.fault(spot, fault!("the id is empty")));
        }
        let subject = keys.subject.map(|cell| self.subject(cell.text()));
        let subject = subject.transpose().map_err(|fault| self.fault(spot, fault))?;
        if let Some(spellings) = &mut self.untyped {
            let texts = spellings.iter_mut().zip([&id, &subject]);
            texts.for_each(|(seen, text)| text.iter().for_each(|text| seen.see(text)));
        }
        let label = match (&self.labels, label, labels) {
            (_, Some(Label::Values), Some(labels)) => Some(LabelRef::Values(labels)),
            (Some(labels), Some(label), _) => Some(labels.reference(label)),
            _ => None,
        };
        let weight = keys.weight.map(|cell| weight(cell).map_err(|fault| self.fault(spot, fault)));
        let weight = weight.transpose()?;
        let (id, subject) = (id.as_deref(), subject.as_deref());
        if self.options.limits.keeps_rows {
            let kept = self.budget.record(stored as u64, [id, subject]);
            kept.map_err(|fault| self.fault(spot, fault))?;
        }
        let record = Record { position, spot, features, raw, label, id, subject, weight };
        self.sink.record(record).map_err(|source| ReadError::Sink { position, source })?;
        self.kept += 1;
        Ok(())
    }

    /// Returns the name of a person; empty if it is listed among the texts that name nobody.
    fn subject<'c>(&mut self, name: Cow<'c, str>) -> Result<Cow<'c, str>, Fault> {
        let missing = &self.options.missing;
        if missing.is_listed() && missing.says(&name) {
            return Ok(Cow::Borrowed(""));
        }
        if name.is_empty() {
            return Err(fault!(
                "the subject is empty; with `§missing`, a list of the texts that name nobody, a record may have \
                 no subject, for which the list may be empty"
            ));
        }
        if name.starts_with(NOBODY) {
            return Err(fault!("`{NOBODY}` begins what stands for no subject, got `{name}`"));
        }
        if looks_missing(&name) {
            *self.private.nobody.entry(name.clone().into_owned()).or_default() += 1;
        }
        Ok(name)
    }

    /// Offers all rows at once; whether they were taken.
    pub(crate) fn deliver_at_once(&mut self, rows: &dyn DenseRows) -> Result<bool, ReadError> {
        let position = self.position;
        self.sink.rows(rows).map_err(|source| ReadError::Sink { position, source })
    }

    /// Counts rows that were taken at once, of so many that were read.
    pub(crate) fn took(&mut self, taken: Taken, read: u64) {
        self.position += read;
        self.kept += taken.rows;
        self.left_out += read - taken.rows;
        self.private = taken.private;
        self.labels = taken.labels;
    }

    /// Hands over the rows that still wait, and summarises what was read.
    pub(crate) fn finish(
        mut self,
        format: Option<Format>,
        maker: RowMaker,
    ) -> Result<Summary, ReadError> {
        while self.waiting.as_ref().is_some_and(|waiting| !waiting.is_empty()) {
            self.deliver_next()?;
        }
        if let Some(keys) = &self.untyped {
            let here = |fault| ReadError::of_file(self.file, fault);
            keys.iter().try_for_each(Spellings::check).map_err(here)?;
        }
        if let (Some((rows, first)), false) = (&self.unlabelled, self.options.drop_unlabelled) {
            let (of, have) =
                (self.position - self.skipped, if *rows == 1 { "has" } else { "have" });
            return Err(fault!(
                "{rows} of {of} rows {have} no label, the first is {first}; leave them out with `§drop-unlabelled`, \
                 or say with `§missing` which texts mean that there is none"
            )
            .into());
        }
        let mut classes = self.labels.as_ref().and_then(Labels::table);
        if let (Some(classes), None) = (&mut classes, &self.untyped) {
            classes.one_number.clear();
        }
        let mapper = self.waiting.as_ref().and_then(Waiting::mapper);
        let feature_map = mapper.map(|mapper| mapper.map().clone());
        let (width, frame) = match (maker.form, &feature_map) {
            (RowForm::Raw { frame, .. }, _) => (frame.columns() as u32, Some(frame)),
            (RowForm::Encoded { .. }, Some(map)) => (map.width(), None),
            (RowForm::Encoded { .. }, None) => (maker.schema.width(), None),
        };
        Ok(Summary {
            format,
            rows_read: self.position - self.skipped,
            rows_kept: self.kept,
            rows_left_out: self.left_out,
            rows_unlabelled: self.unlabelled.map_or(0, |(rows, _)| rows),
            other_classes: self.labels.as_ref().map(Labels::others).unwrap_or_default(),
            index_left_out: None,
            classes,
            width,
            feature_map,
            image: self.image,
            targets: Vec::new(),
            frame,
            schema: maker.schema,
            private: self.private,
        })
    }

    /// Returns the file as the user named it.
    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    fn fault(&self, spot: Spot, fault: Fault) -> ReadError {
        ReadError::at(Place::new(self.file, spot), fault)
    }
}

/// Counts a cell of a raw row that has no value.
fn note_missing(
    missing: &mut BTreeMap<String, BTreeMap<String, u64>>,
    column: &str,
    cell: Cell<'_>,
) {
    let word = if let Cell::Text(text) = cell { text.trim() } else { "" };
    // Names are copied once.
    let words = match missing.get_mut(column) {
        Some(words) => words,
        None => missing.entry(column.to_owned()).or_default(),
    };
    match words.get_mut(word) {
        Some(count) => *count += 1,
        None => drop(words.insert(word.to_owned(), 1)),
    }
}

/// Returns a fault of a cell in a table without a schema, with the way out. `setting` keeps rows from being
/// raw.
fn explain(file: &str, column: &str, setting: Option<&str>, fault: CellFault) -> Fault {
    let found = match fault {
        CellFault::NotANumber { value } => {
            let column = crate::cell::quoted(column);
            match () {
                () if time::looks_like(&value) => fault!(
                    "`{value}` is a date: write it as a number (days since a fixed day, the month), or \
                     declare the column categorical or hashed in a schema; or leave the column out with \
                     `§ignore {column}`"
                ),
                () if is_number_in_words(&value) => fault!(
                    "`{value}` is no plain number: write numbers with a decimal point and nothing else; or \
                     leave the column out with `§ignore {column}`"
                ),
                () => fault!(
                    "`{value}` is not a number; if the column identifies records or people, \
                     give `§id {column}` or `§subject {column}`; to leave it out, `§ignore \
                     {column}`; text as a feature needs a schema: run `§efface schema {file} \
                     -o schema.toml`"
                ),
            }
        }
        CellFault::NotFinite { value } => fault!(
            "numbers must be finite, got {value}; if it stands for a missing value, a schema \
             can say so: run `§efface schema {file} -o schema.toml`"
        ),
        CellFault::UndeclaredMissing { value } => fault!(
            "`{value}` is a missing value, and only a schema can say how to encode it: run \
             `efface schema {file} -o schema.toml`"
        ),
        fault => return fault.into(),
    };
    match setting {
        Some(setting) => fault!(
            "{found}; or leave out {setting}, which goes with declared preprocessing: \
             without it preprocessing is fitted to the records and takes words, dates and \
             missing values"
        ),
        None => found,
    }
}

/// Returns a weight that can be counted with.
pub(crate) fn weight(cell: Cell<'_>) -> Result<f64, Fault> {
    let truth = || truth(&cell.text()).map(f64::from);
    match cell.number().or_else(truth) {
        Some(weight) if weight.is_finite() && weight >= 0.0 => Ok(weight),
        _ => Err(fault!(
            "the weight must be a finite number of at least 0, got `{value}`",
            value = quoted(&cell.text())
        )),
    }
}
