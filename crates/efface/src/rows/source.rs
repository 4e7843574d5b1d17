//! A table as a user specifies it, and how it becomes rows in memory.

use std::path::PathBuf;

use efface_formats::{
    Draft, Features, Format, FrameRequest, Input, Limits, MemoryTable, Missing, PathOrStdin,
    ReadError, ReadOptions, RowMap, RowMapMode, Schema, Sink, Values,
};
use efface_learn::loss::Task as LossTask;
use efface_matrix::Row;

use crate::error::{Code, Error, Result};
use crate::plan::shape::Shape;
use crate::plan::{Plan, Task, ValidatedSettings};

/// A table to read: its location and the roles of its columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source<'a> {
    /// The table itself, if it is in memory; then only `schema` and `classes` apply besides it.
    pub memory: Option<MemoryTable<'a>>,
    /// Sizes and names of records held where [`Context::rows`](crate::Context::rows) says, instead of a
    /// table. Then nothing else applies.
    #[doc(hidden)]
    pub parts: Option<Shape>,
    /// Path of the file; `None` for standard input.
    pub path: Option<PathBuf>,
    /// A separate file of labels.
    pub labels: Option<PathBuf>,
    /// The file format, such as `csv` or `npy`, if it should not be detected.
    pub format: Option<String>,
    /// Name of the label column.
    pub label: Option<String>,
    /// Further label columns, after `label`: the other targets of a regression with several.
    pub more_labels: Vec<String>,
    /// Name of the id column.
    pub id: Option<String>,
    /// Name of the subject column.
    pub subject: Option<String>,
    /// Name of the column of weights.
    pub weight: Option<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// The text of a schema.
    pub schema: Option<String>,
    /// Classes in order, the positive one last.
    pub classes: Option<Vec<String>>,
    /// Whether added rows may bring classes that resemble known ones, or a third one.
    pub new_classes: bool,
    /// Whether the first table's labels decide the task if no loss is given and preprocessing is fitted:
    /// regression if they are numbers and more than a few or not whole, else classification.
    pub infers_task: bool,
    /// Whether rows without a label are left out instead of refused.
    pub drop_unlabelled: bool,
    /// Number of features of a LIBSVM file.
    pub width: Option<u32>,
    /// Whether the indices of a LIBSVM file start at 0; they start at 1 if unspecified.
    pub zero_based: Option<bool>,
    /// Name of the array of features in an NPZ file; `X` if `None`.
    pub array: Option<String>,
    /// Memory in bytes that the table may use, whatever the size of the file; if `None`, the limits of
    /// `efface-formats` apply.
    pub max_decoded: Option<u64>,
}

impl Source<'_> {
    pub(crate) fn input(&self) -> Result<Input> {
        let format = match self.format.as_deref() {
            None => None,
            Some(name) => Some(Format::from_name(name).ok_or_else(|| {
                let names: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
                Error::input(
                    Code::Format,
                    format!("`format` must be one of {}, got `{name}`", names.join(", ")),
                )
            })?),
        };
        Ok(Input {
            path: match &self.path {
                Some(path) => PathOrStdin::Path(path.clone()),
                None => PathOrStdin::Stdin,
            },
            labels: self.labels.clone(),
            format,
        })
    }

    /// Returns whether these are raw rows, rather than rows in parts or a table whose schema says how to
    /// encode it.
    pub(crate) fn is_raw(&self) -> bool {
        self.schema.is_none() && self.parts.is_none()
    }

    /// Returns the names of the labels if there are several, else an empty list.
    pub(crate) fn targets(&self) -> Vec<String> {
        if let Some(MemoryTable { labels: Some(Values::Several { names, .. }), .. }) = self.memory {
            return names.to_vec();
        }
        match &self.label {
            Some(label) if !self.more_labels.is_empty() => {
                std::iter::once(label).chain(&self.more_labels).cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    pub(crate) fn read(
        &self,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<efface_formats::Summary> {
        let Some(table) = &self.memory else {
            return efface_formats::read(&self.input()?, options, sink).map_err(unreadable);
        };
        self.is_memory_alone()?;
        efface_formats::read_memory(table, options, sink).map_err(unreadable)
    }

    /// Refuses whatever does not apply besides a table in memory.
    pub(crate) fn is_memory_alone(&self) -> Result<()> {
        for (name, given) in [
            ("path", self.path.is_some()),
            ("labels", self.labels.is_some()),
            ("format", self.format.is_some()),
        ] {
            if given {
                let message = format!("`{name}` does not apply to a table in memory");
                return Err(Error::input(Code::Data, message));
            }
        }
        Ok(())
    }

    pub(crate) fn options(&self) -> Result<ReadOptions> {
        let schema = self.schema.as_deref().map(schema_of).transpose()?;
        Ok(ReadOptions {
            label: self.label.clone(),
            more_labels: self.more_labels.clone(),
            id: self.id.clone(),
            subject: self.subject.clone(),
            weight: self.weight.clone(),
            ignore: self.ignore.clone(),
            schema,
            classes: self.classes.clone(),
            width: self.width,
            zero_based: self.zero_based,
            array: self.array.clone(),
            drop_unlabelled: self.drop_unlabelled,
            limits: self.limits(),
            ..ReadOptions::default()
        })
    }

    fn limits(&self) -> Limits {
        match self.max_decoded {
            None => Limits::default(),
            Some(memory_bytes) => Limits { memory_bytes, expansion: None, ..Limits::default() },
        }
    }

    /// Returns how to read a table to train a model on.
    pub(crate) fn training_options(&self, choices: &ValidatedSettings) -> Result<ReadOptions> {
        let task = match choices.settings.target_range {
            Some(range) => efface_formats::Task::Regression { range: Some(range) },
            None => efface_formats::Task::Classification,
        };
        let row_map = row_map(choices.row_map, choices.row_norm)?;
        let frame = choices.fitted.then_some(FrameRequest::New);
        let regression = choices.loss.task() == LossTask::Regression;
        let task = match task {
            _ if choices.fitted && regression => efface_formats::Task::Regression { range: None },
            task => task,
        };
        let own = self.options()?;
        let mut limits = own.limits;
        if self.infers_task && choices.fitted && choices.settings.loss.is_none() {
            // Whether they are classes is known only after all are read.
            limits.classes = u32::MAX;
        }
        let missing = missing(choices.settings.missing.as_deref());
        let raw = self.is_raw() && !choices.fitted;
        let numbers_for = choices.settings.asks_for_declared().filter(|_| raw);
        let feature_map = choices.feature_map.clone();
        Ok(ReadOptions { task, row_map, feature_map, frame, limits, numbers_for, missing, ..own })
    }

    /// Returns how to read a table for an existing model, according to its plan.
    pub(crate) fn options_for(&self, plan: &Plan, labels: bool) -> Result<ReadOptions> {
        if self.schema.is_some() {
            return Err(Error::refused(
                Code::Schema,
                "the model has its own schema, fixed when it was trained",
            )
            .hint("leave out `§schema`"));
        }
        let (task, classes) = match &plan.task {
            task @ (Task::Range(..) | Task::Targets(_)) => {
                let range = task.declared_range().filter(|_| labels);
                (efface_formats::Task::Regression { range }, None)
            }
            Task::Classes(names) => {
                (efface_formats::Task::Classification, labels.then(|| names.clone()))
            }
        };
        let missing = missing(plan.missing.as_deref());
        let own = ReadOptions { missing: missing.clone(), ..self.options()? };
        let mut targets = plan.task.target_names().into_iter();
        let usual = labels && self.memory.is_none() && self.label.is_none();
        let own = match targets.next().filter(|_| usual) {
            Some(first) => {
                ReadOptions { label: Some(first), more_labels: targets.collect(), ..own }
            }
            None => own,
        };
        if let Some(fitting) = &plan.fitting {
            let (task, classes) = match &plan.task {
                Task::Range(..) | Task::Targets(_) => {
                    (efface_formats::Task::Regression { range: None }, None)
                }
                Task::Classes(_) => (efface_formats::Task::Classification, fitting.classes.clone()),
            };
            // Prediction needs only the columns of features.
            let role = |given: Option<String>, usual: &Option<String>| {
                given.or_else(|| usual.clone().filter(|_| labels))
            };
            return Ok(ReadOptions {
                frame: Some(FrameRequest::Given(fitting.frame.clone())),
                task,
                classes: classes.filter(|_| labels),
                label_required: labels,
                label: role(own.label, &fitting.roles.label),
                id: role(own.id, &fitting.roles.id),
                usual_id: fitting.roles.id.clone(),
                subject: role(own.subject, &fitting.roles.subject),
                weight: role(own.weight, &fitting.roles.weight),
                more_labels: own.more_labels,
                missing,
                ..self.options()?
            });
        }
        Ok(ReadOptions {
            schema: Some(schema_of(&plan.rows.schema)?),
            task,
            classes,
            label_required: labels,
            row_map: row_map(&plan.rows.map, plan.rows.norm.0)?,
            feature_map: plan.feature_map.clone(),
            image: plan.image(),
            ..own
        })
    }
}

/// Parses the setting that lists the texts for missing values.
fn missing(listed: Option<&str>) -> Missing {
    listed.map_or_else(Missing::default, Missing::listed)
}

/// Drafts a schema from a table, for a human to confirm.
///
/// # Errors
/// Fails if the table cannot be read.
pub fn schema(source: &Source<'_>, regression: bool) -> Result<Draft> {
    let task = if regression {
        efface_formats::Task::Regression { range: None }
    } else {
        efface_formats::Task::Classification
    };
    let options = ReadOptions { task, ..source.options()? };
    if source.memory.is_some() {
        return Err(Error::input(Code::Data, "a schema is drafted from a file, not from memory"));
    }
    efface_formats::draft(&source.input()?, &options).map_err(unreadable)
}

pub(crate) fn schema_of(text: &str) -> Result<Schema> {
    Schema::from_toml(text).map_err(|error| Error::input(Code::Schema, error.to_string()))
}

pub(crate) fn row_map(name: &str, norm: f64) -> Result<RowMap> {
    let mode = RowMapMode::from_name(name).ok_or_else(|| {
        Error::input(Code::RowMap, format!("`§row-map` must be clip, unit or refuse, got `{name}`"))
    })?;
    Ok(RowMap { mode, norm })
}

/// Converts a failed read to the engine's error.
pub(crate) fn unreadable(error: ReadError) -> Error {
    match error {
        ReadError::Sink { position, source } => match source.into_inner().downcast::<Error>() {
            Ok(error) => *error,
            Err(source) => {
                let source = efface_formats::SinkError::new(source);
                Error::input(Code::Data, ReadError::Sink { position, source }.to_string())
            }
        },
        other => Error::input(Code::Data, other.to_string()),
    }
}

/// Maps y from its declared range to [-1, 1].
pub(crate) fn map_target(y: f64, range: Option<(f64, f64)>) -> f64 {
    match range {
        Some((low, high)) => (((y - low) / (high - low)) * 2.0 - 1.0).clamp(-1.0, 1.0),
        None => y,
    }
}

/// Reverses [`map_target`].
pub(crate) fn unmap_target(y: f64, range: Option<(f64, f64)>) -> f64 {
    match range {
        Some((low, high)) => low + (y + 1.0) / 2.0 * (high - low),
        None => y,
    }
}

/// Returns the row as the learner stores it: the features, then the intercept.
pub(crate) fn with_intercept<'a>(
    features: Features<'a>,
    width: u32,
    intercept: f32,
    indices: &'a mut Vec<u32>,
    buffer: &'a mut Vec<f32>,
) -> Row<'a> {
    match features {
        Features::Dense(values) if intercept == 0.0 => Row::Dense(values),
        Features::Dense(values) => {
            buffer.clear();
            buffer.extend_from_slice(values);
            buffer.push(intercept);
            Row::Dense(buffer)
        }
        Features::Sparse { indices, values } if intercept == 0.0 => Row::Sparse { indices, values },
        Features::Sparse { indices: at, values } => {
            indices.clear();
            indices.extend_from_slice(at);
            indices.push(width);
            buffer.clear();
            buffer.extend_from_slice(values);
            buffer.push(intercept);
            Row::Sparse { indices, values: buffer }
        }
    }
}
