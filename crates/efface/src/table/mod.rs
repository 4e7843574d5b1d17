//! Tables read whole into memory, and the checks on them before anything is done.

mod at_once;
mod batches;
pub(crate) mod partitioned;
pub(crate) mod raw;

pub(crate) use batches::{Raw, Reading, Rows as Batched};

use efface_formats::{
    ClassTable, DenseRows, FeatureMap, ImageShape, LabelRef, Layout, MemoryRows, MemoryTable,
    Numbers, PrivateEvidence, ReadOptions, Record, RowBytes, Schema, Sink, SinkError, Spot,
};
use efface_learn::Dataset;
use efface_matrix::Matrix;
use efface_privacy::quantity::Decimal;
use zeroize::Zeroize;

use crate::context::Progress;
use crate::error::{Code, Error, Result};
use crate::mechanism::by_name;
use crate::plan::shape::Shape;
use crate::plan::{ClassWeight, DataSummary, Ids, Plan, SampleWeights, ValidatedSettings};
use crate::rows::naming::row_id;
use crate::rows::source::{Source, map_target, with_intercept};
use crate::rows::{Labels, RawRecords, name_nobody};

/// A table in memory: rows with the intercept appended, targets, weights, ids and subjects.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) data: Dataset,
    /// The raw records, if preprocessing is fitted; then `data` is empty until they are
    /// [encoded](Self::encode).
    pub(crate) raw: Option<RawRecords>,
    /// Whether the table has weights; otherwise every record counts once.
    pub(crate) weighted: bool,
    /// One id per row, if the table has ids.
    pub(crate) ids: Option<Vec<Box<str>>>,
    /// One subject per row, if the table has subjects.
    pub(crate) subjects: Option<Vec<Box<str>>>,
    /// Position of each row in the input, counted from 0.
    pub(crate) positions: Vec<u64>,
    /// The place of each row with an id in its file; `None` for tables in memory.
    pub(crate) spots: Vec<Spot>,
    pub(crate) features: u64,
    pub(crate) sparse: bool,
    pub(crate) classes: Option<ClassTable>,
    /// Names of the targets if there are several, else empty.
    pub(crate) targets: Vec<String>,
    pub(crate) schema: Schema,
    /// The map from its rows to random features, if there is one.
    pub(crate) feature_map: Option<FeatureMap>,
    /// The image shape of rows, if the file states one.
    pub(crate) image: Option<ImageShape>,
    pub(crate) private: PrivateEvidence,
    /// Number of rows of the input, including those left out.
    pub(crate) read: u64,
    pub(crate) left_out: u64,
    /// Number of rows left out because they have no label.
    pub(crate) unlabelled: u64,
    /// Some of the classes of rows left out for their class.
    pub(crate) other_classes: Vec<String>,
    /// Name of an unnamed row index, if it was left out.
    pub(crate) index_left_out: Option<String>,
}

impl Table {
    /// Returns the number of records.
    pub(crate) fn rows(&self) -> usize {
        self.raw.as_ref().map_or(self.data.rows(), |raw| raw.rows.len())
    }

    /// Encodes raw records with the statistics of a plan.
    pub(crate) fn encode(&mut self, plan: &Plan, labels: Labels) -> Result<()> {
        let Some(raw) = self.raw.clone() else { return Ok(()) };
        let encoded = raw.encode(plan, labels)?;
        self.data = encoded.data;
        self.features = plan.rows.features;
        self.sparse = plan.rows.sparse;
        self.private.rows_scaled = encoded.scaled;
        Ok(())
    }

    /// Makes each record without a subject its own subject; the records come after `first` others.
    pub(crate) fn name_nobody(&mut self, first: u64) {
        let (ids, positions) = (&self.ids, &self.positions);
        name_nobody(self.subjects.as_deref_mut(), |row| match ids {
            Some(ids) => ids[row].to_string(),
            None => row_id(positions[row].saturating_add(first)),
        });
    }

    /// Returns the weights of records; empty if raw records have none.
    pub(crate) fn weights(&self) -> &[f64] {
        match &self.raw {
            Some(raw) => raw.weights.as_deref().unwrap_or_default(),
            None => self.data.sample_weights(),
        }
    }
}

/// Reads a whole table. `range` is the declared range of y, `intercept` the constant appended; records get
/// the weights listed for their classes.
pub(crate) fn read_table(
    source: &Source<'_>,
    options: &ReadOptions,
    intercept: f64,
    range: Option<(f64, f64)>,
    by_class: Option<&ClassWeight>,
    tell: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Table> {
    let mut sink = Collector::of(constant(intercept)?, range, by_class, tell);
    sink.spots = source.memory.is_none().then(Vec::new);
    let summary = source.read(options, &mut sink)?;
    let Collector {
        x,
        filled,
        raw,
        mut y,
        ids,
        subjects,
        mut weights,
        positions,
        spots,
        mut buffer,
        width,
        sparse,
        ..
    } = sink;
    // It held the last row.
    buffer.zeroize();
    if let (Some(table), None) = (&summary.classes, &filled) {
        for target in &mut y {
            // A provisional index is always one that was handed out.
            *target = table.remap(*target as u32).map_or(f64::NAN, f64::from);
        }
    }
    let rows = positions.len();
    let x = x.ok_or_else(|| Error::input(Code::Data, "the table has no header and no rows"))?;
    let weighted = weights.len() == rows && rows > 0;
    let all = |list: Vec<Box<str>>| (list.len() == rows && rows > 0).then_some(list);
    let raw = summary.frame.map(|frame| {
        let weights = std::mem::take(&mut weights);
        RawRecords::of(frame, raw, weighted.then_some(weights))
    });
    let raw = raw.transpose().map_err(|fault| Error::input(Code::Data, fault.to_string()))?;
    let data = match filled {
        Some(data) => {
            weights.zeroize();
            data
        }
        None => {
            if !weighted || raw.is_some() {
                weights = vec![1.0; x.rows()];
            }
            Dataset::several(x, y, summary.targets.len().max(1), weights)
                .map_err(|error| Error::input(Code::Data, error.to_string()))?
        }
    };
    Ok(Table {
        data,
        raw,
        weighted,
        ids: all(ids),
        subjects: all(subjects),
        positions,
        spots: spots.unwrap_or_default(),
        features: u64::from(width),
        sparse,
        classes: summary.classes,
        targets: summary.targets,
        schema: summary.schema,
        feature_map: summary.feature_map,
        image: summary.image,
        private: summary.private,
        read: summary.rows_read,
        left_out: summary.rows_left_out,
        unlabelled: summary.rows_unlabelled,
        other_classes: summary.other_classes,
        index_left_out: summary.index_left_out,
    })
}

/// Returns the constant appended to rows, in single precision.
fn constant(intercept: f64) -> Result<f32> {
    if f64::from(intercept as f32) == intercept {
        return Ok(intercept as f32);
    }
    Err(Error::input(
        Code::Intercept,
        format!("`intercept` must be a 32-bit float such as 1 or 0.5, got {}", Decimal(intercept)),
    ))
}

/// Rows between two reports.
const REPORT: usize = 4096;

struct Collector<'a> {
    x: Option<Matrix>,
    /// Records that were taken all at once; `x` then has no rows.
    filled: Option<Dataset>,
    raw: RowBytes,
    y: Vec<f64>,
    ids: Vec<Box<str>>,
    subjects: Vec<Box<str>>,
    weights: Vec<f64>,
    positions: Vec<u64>,
    /// Collected if the rows come from a file and have ids.
    spots: Option<Vec<Spot>>,
    buffer: Vec<f32>,
    indices: Vec<u32>,
    width: u32,
    sparse: bool,
    intercept: f32,
    range: Option<(f64, f64)>,
    /// Weights by class of the records.
    by_class: Option<&'a ClassWeight>,
    tell: &'a mut dyn FnMut(Progress) -> Result<()>,
}

impl Sink for Collector<'_> {
    fn begin(&mut self, layout: &Layout) -> std::result::Result<(), SinkError> {
        let columns = layout.width as usize + usize::from(self.intercept != 0.0);
        if columns == 0 {
            return Err(SinkError::new(
                Error::input(Code::Data, "the table has no feature columns")
                    .hint("check `§label`, `§id`, `§subject`, `§weight` and `§ignore`"),
            ));
        }
        self.width = layout.width;
        self.sparse = layout.sparse;
        self.x = Some(if layout.sparse { Matrix::sparse(columns) } else { Matrix::dense(columns) });
        Ok(())
    }

    fn record(&mut self, record: Record<'_>) -> std::result::Result<(), SinkError> {
        if self.positions.len().is_multiple_of(REPORT) {
            let rows = self.positions.len() as u64;
            (self.tell)(Progress::Reading { rows }).map_err(SinkError::new)?;
        }
        if let Some(raw) = record.raw {
            // The raw rows contain the label themselves.
            self.raw.push(raw);
            return self.beside(&record);
        }
        let row = with_intercept(
            record.features,
            self.width,
            self.intercept,
            &mut self.indices,
            &mut self.buffer,
        );
        if let Some(x) = &mut self.x {
            x.push(row).map_err(SinkError::new)?;
        }
        self.target(record.label);
        self.beside(&record)
    }

    fn rows(&mut self, rows: &dyn DenseRows) -> std::result::Result<bool, SinkError> {
        self.take_all(rows).map_err(SinkError::new)
    }
}

impl<'a> Collector<'a> {
    /// Returns a collector that has read nothing.
    fn of(
        intercept: f32,
        range: Option<(f64, f64)>,
        by_class: Option<&'a ClassWeight>,
        tell: &'a mut dyn FnMut(Progress) -> Result<()>,
    ) -> Self {
        Self {
            x: None,
            filled: None,
            raw: RowBytes::new(),
            y: Vec::new(),
            ids: Vec::new(),
            subjects: Vec::new(),
            weights: Vec::new(),
            positions: Vec::new(),
            spots: None,
            buffer: Vec::new(),
            indices: Vec::new(),
            width: 0,
            sparse: false,
            intercept,
            range,
            by_class,
            tell,
        }
    }

    /// Takes the label of a record.
    fn target(&mut self, label: Option<LabelRef<'_>>) {
        match label {
            None => self.y.push(0.0),
            Some(LabelRef::Class { index, .. }) => self.y.push(f64::from(index)),
            Some(LabelRef::Value(y)) => self.y.push(map_target(y, self.range)),
            Some(LabelRef::Values(all)) => {
                self.y.extend(all.iter().map(|y| map_target(*y, self.range)));
            }
        }
    }

    /// Takes position, names and weight of a record, or the weight of its class.
    fn beside(&mut self, record: &Record<'_>) -> std::result::Result<(), SinkError> {
        // The readers count from 1.
        self.positions.push(record.position.saturating_sub(1));
        if let (Some(spots), Some(_)) = (&mut self.spots, record.id) {
            spots.push(record.spot);
        }
        self.ids.extend(record.id.map(Box::from));
        self.subjects.extend(record.subject.map(Box::from));
        let by_class = match record.label {
            Some(LabelRef::Class { name, .. }) => self.by_class.and_then(|all| all.of_class(name)),
            Some(LabelRef::Value(_) | LabelRef::Values(_)) | None => None,
        };
        if record.weight.is_some() && by_class.is_some() {
            return Err(SinkError::new(
                Error::refused(
                    Code::Weights,
                    "`§class-weight` is not offered with weights of records: both say how much a \
                     record counts",
                )
                .hint("leave out one of them, or give `§weight` as the product of both"),
            ));
        }
        self.weights.extend(record.weight.or(by_class));
        Ok(())
    }
}

/// Reads a table according to the plan of a model.
pub(crate) fn read_as_planned(
    source: &Source<'_>,
    plan: &Plan,
    tell: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Table> {
    let options = source.options_for(plan, true)?;
    let range = plan.task.declared_range();
    let by_class = plan.class_weight.as_ref();
    let table = read_table(source, &options, plan.rows.intercept.0, range, by_class, tell)?;
    let encoded = plan.fitting.is_none();
    if encoded && (table.features != plan.rows.features || table.sparse != plan.rows.sparse) {
        let shape = |features, sparse| {
            format!("{features} {} features", if sparse { "sparse" } else { "dense" })
        };
        return Err(Error::refused(
            Code::Data,
            format!(
                "rows must have {} like the model, got {}",
                shape(plan.rows.features, plan.rows.sparse),
                shape(table.features, table.sparse)
            ),
        ));
    }
    check_weights(plan, &table)?;
    check_targets(plan, &table.targets)?;
    check_spellings(table.classes.as_ref(), plan.task.class_names())?;
    Ok(table)
}

/// Checks that classes differ by more than the spelling of a number, unless they are `known`.
pub(crate) fn check_spellings(classes: Option<&ClassTable>, known: &[String]) -> Result<()> {
    let checked = classes.map_or(Ok(()), |classes| classes.check_spellings(known));
    checked.map_err(|fault| Error::refused(Code::Classes, fault.to_string()))
}

/// Checks that several targets are those of the model, in its order.
pub(crate) fn check_targets(plan: &Plan, got: &[String]) -> Result<()> {
    let expected = plan.task.target_names();
    if expected == got {
        return Ok(());
    }
    let listed = |names: &[String]| match names {
        [] => "one label".to_owned(),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("the targets {}", names.join(", "))
        }
    };
    let (model, table) = (listed(&expected), listed(got));
    Err(Error::refused(Code::Data, format!("the model has {model}, and the table has {table}"))
        .hint("give the model's targets in their order: `§label`"))
}

/// Checks that records have weights exactly if the model's do, and none beyond the largest.
fn check_weights(plan: &Plan, table: &Table) -> Result<()> {
    let weights = table.weights();
    match (plan.max_weight, table.weighted) {
        (Some(_), false) if table.rows() == 0 => Ok(()),
        (Some(_), false) => Err(Error::refused(
            Code::Weights,
            "this model's records have weights, but the table has no weight column",
        )
        .hint("name the weight column with `§weight`")),
        (None, true) => Err(Error::refused(
            Code::Weights,
            "this model's records have no weights, but the table has a weight column",
        )
        .hint("leave out `§weight`, or train a new model with weights")),
        (Some(most), true) => match SampleWeights::of(weights).largest {
            fits if fits <= most.0 => Ok(()),
            got => Err(Error::refused(
                Code::MaxWeight,
                format!("a record has weight {got}, but `§max-weight` is {most}"),
            )
            .hint("lower the weight; a larger `§max-weight` needs a new model")),
        },
        (None, false) => Ok(()),
    }
}

/// Returns the values that a schema took from the data, such as `age.range`.
pub(crate) fn from_data(schema: &Schema) -> Vec<String> {
    let origins = schema.origins().into_iter();
    let taken = origins.filter(|(_, origin)| *origin == efface_formats::Origin::Data);
    taken.map(|(name, _)| name).collect()
}

/// What the data decide.
pub(crate) fn facts_of(source: &Source<'_>, table: &Table, ids: Ids) -> Result<DataSummary> {
    let classes_given = source.classes.is_some();
    let from_data = from_data(&table.schema);
    Ok(DataSummary {
        subjects: table.subjects.is_some(),
        people: None,
        parts: None,
        fitting: None,
        records: table.data.rows() as u64,
        features: table.features,
        sparse: table.sparse,
        feature_map: table.feature_map.clone(),
        image: table.image,
        classes: table.classes.as_ref().map(|c| c.names.clone()).unwrap_or_default(),
        classes_given,
        targets: table.targets.clone(),
        schema: table.schema.canonical(),
        schema_given: source.schema.is_some(),
        schema_from_data: from_data,
        ids,
        weights: table.weighted.then(|| SampleWeights::of(table.data.sample_weights())),
    })
}

/// What the sizes and names of records in parts decide. The schema is that of a table without rows.
pub(crate) fn facts_of_parts(shape: &Shape, choices: &ValidatedSettings) -> Result<DataSummary> {
    if shape.parts == 0 || shape.parts > u64::from(u32::MAX) {
        let got = shape.parts;
        return Err(Error::input(Code::Data, format!("there must be 1 to 2^32 parts, got {got}")));
    }
    let rows = MemoryRows::Dense { numbers: Numbers::Single(&[]), width: shape.features };
    let names = shape.names.as_deref();
    let table = MemoryTable { rows, labels: None, ids: None, subjects: None, weights: None, names };
    let source = Source { memory: Some(table), ..Source::default() };
    let options = ReadOptions { label_required: false, ..source.training_options(choices)? };
    let empty = read_table(&source, &options, choices.intercept, None, None, &mut |_| Ok(()))?;
    let ids = if shape.ids { Ids::Column } else { Ids::Position };
    Ok(DataSummary {
        records: shape.records,
        classes: shape.classes.clone(),
        classes_given: shape.classes_given,
        schema_from_data: Vec::new(),
        subjects: shape.subjects,
        people: people_of_parts(shape, choices)?,
        weights: shape.weights,
        parts: Some(shape.parts),
        ..facts_of(&source, &empty, ids)?
    })
}

/// Returns the number of subjects, if the plan depends on it.
fn people_of_parts(shape: &Shape, choices: &ValidatedSettings) -> Result<Option<u64>> {
    if !shape.subjects || !by_name(choices.mechanism).profile().counts_people {
        return Ok(None);
    }
    let unknown = || Error::input(Code::Data, "the number of subjects must be declared");
    shape.people.ok_or_else(unknown).map(Some)
}

/// Refuses ids that occur twice.
pub(crate) fn check_ids(table: &Table) -> Result<()> {
    let Some(ids) = &table.ids else { return Ok(()) };
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_unstable_by_key(|&row| (&ids[row], row));
    if let Some(pair) = order.windows(2).find(|pair| ids[pair[0]] == ids[pair[1]]) {
        let places = match (table.spots.get(pair[0]), table.spots.get(pair[1])) {
            (Some(Spot::Line(first)), Some(Spot::Line(second))) => {
                format!(" (lines {first} and {second})")
            }
            (
                Some(Spot::Row(first) | Spot::Index(first)),
                Some(Spot::Row(second) | Spot::Index(second)),
            ) => {
                format!(" (`row:{first}` and `row:{second}`)")
            }
            _ => String::new(),
        };
        let message = format!("duplicate id `{}`{places}; ids must be unique", ids[pair[0]]);
        return Err(Error::refused(Code::DuplicateId, message).hint(
            "name the column that identifies records with `§id`, and the one that identifies \
             people with `§subject`",
        ));
    }
    Ok(())
}
