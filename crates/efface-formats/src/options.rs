//! How to read: roles of columns, labels, row map, limits.

use crate::error::{Fault, fault};
use crate::feature_map::FeatureMap;
use crate::fitted::FrameRequest;
use crate::image::ImageShape;
use crate::limits::Limits;
use crate::missing::Missing;
use crate::row_map::{RowMap, RowMapMode};
use crate::schema::{CsvShape, Kind, Schema};

/// Whether labels are classes or numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Task {
    /// The label names a class.
    Classification,
    /// The label is a number.
    Regression {
        /// Least and greatest label accepted, both included; `None` accepts any finite number.
        range: Option<(f64, f64)>,
    },
}

/// How to read a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The label column, or in an NPZ file the label array (`y` if not given).
    pub label: Option<String>,
    /// The further label columns of a regression on several targets, after `label`.
    pub more_labels: Vec<String>,
    /// The column (NPZ: array) whose text becomes the record's id.
    pub id: Option<String>,
    /// The id column of a given frame of columns if `id` names none; it may be absent.
    pub usual_id: Option<String>,
    /// The column (NPZ: array) that names the person a record belongs to.
    pub subject: Option<String>,
    /// The column (NPZ: array) that says how often a record counts; read if labels are.
    pub weight: Option<String>,
    /// Columns that are left out.
    pub ignore: Vec<String>,
    /// How columns become numbers; `None` takes every other column as a number.
    pub schema: Option<Schema>,
    /// The setting, in words, because of which columns are taken as numbers though rows could be raw:
    /// messages on cells that are no numbers name it.
    pub numbers_for: Option<String>,
    /// Classification: the classes in order, the positive one last. Rows of any other class are
    /// left out and counted. `None` collects the classes from the data.
    pub classes: Option<Vec<String>>,
    /// Which texts say that there is no value: of features that no schema declares, of labels and, if the
    /// user listed them, of subjects.
    pub missing: Missing,
    /// Whether rows without a label are left out, and not refused.
    pub drop_unlabelled: bool,
    /// Whether labels are classes or numbers.
    pub task: Task,
    /// `false` does not look at labels at all, as for prediction.
    pub label_required: bool,
    /// LIBSVM: the number of features, that is the largest index allowed. `None` takes it from
    /// the schema, else from the data.
    pub width: Option<u32>,
    /// LIBSVM: whether the first feature has index 0, not 1. Unstated, it is 1, unless the schema
    /// counts its columns from 0, which is refused.
    pub zero_based: Option<bool>,
    /// NPZ: the array of features, `X` if not given.
    pub array: Option<String>,
    /// The shape that images must have if a file says theirs; `None` takes any.
    pub image: Option<ImageShape>,
    /// What is done to each encoded row.
    pub row_map: RowMap,
    /// The random features that encoded rows become, before the row map.
    pub feature_map: Option<FeatureMap>,
    /// `Some` delivers raw rows in place of encoded ones, for fitted preprocessing; the row map is not
    /// applied, and of a schema only roles and kinds count.
    pub frame: Option<FrameRequest>,
    /// CSV: header, delimiter and comment sign; what is not stated here is as the schema says.
    pub csv: CsvShape,
    /// What is accepted at most.
    pub limits: Limits,
}

impl ReadOptions {
    /// Returns the options that are stated, of those that only some tables have a use for.
    pub(crate) fn stated(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("label", self.label.is_some()),
            ("id", self.id.is_some()),
            ("subject", self.subject.is_some()),
            ("weight", self.weight.is_some()),
            ("ignore", !self.ignore.is_empty()),
            ("width", self.width.is_some()),
            ("zero-based", self.zero_based.is_some()),
            ("array", self.array.is_some()),
        ];
        all.into_iter().filter(|(_, stated)| *stated).map(|(option, _)| option)
    }

    /// Returns how many labels are wanted: one if none is named.
    pub(crate) fn labels_wanted(&self) -> usize {
        1 + self.more_labels.len()
    }

    /// Returns the label columns, in order.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.label.as_deref().into_iter().chain(self.more_labels.iter().map(String::as_str))
    }

    /// Returns what labels are called that have no names of their own: as the options name several of them,
    /// else `one`.
    pub(crate) fn label_names(&self, one: &str) -> Result<Vec<String>, Fault> {
        if self.more_labels.is_empty() {
            return Ok(vec![one.to_owned()]);
        }
        let names: Vec<String> = self.labels().map(str::to_owned).collect();
        let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
        match twice {
            Some((_, column)) => Err(fault!("`label` names `{column}` twice")),
            None => Ok(names),
        }
    }

    /// Returns the columns that have a role, and which.
    pub(crate) fn roles(&self) -> impl Iterator<Item = (&str, Kind)> {
        let single = [
            (&self.label, Kind::Label),
            (&self.id, Kind::Id),
            (&self.subject, Kind::Subject),
            (&self.weight, Kind::Weight),
        ];
        let single = single.into_iter().filter_map(|(name, kind)| Some((name.as_deref()?, kind)));
        let more = self.more_labels.iter().map(|name| (name.as_str(), Kind::Label));
        single.chain(more).chain(self.ignore.iter().map(|name| (name.as_str(), Kind::Ignored)))
    }
}

impl Default for ReadOptions {
    /// Returns options for classification with classes from the data, no named columns, and rows of norm at
    /// most 1.
    fn default() -> Self {
        Self {
            label: None,
            more_labels: Vec::new(),
            id: None,
            usual_id: None,
            subject: None,
            weight: None,
            ignore: Vec::new(),
            numbers_for: None,
            schema: None,
            classes: None,
            missing: Missing::default(),
            drop_unlabelled: false,
            task: Task::Classification,
            label_required: true,
            width: None,
            zero_based: None,
            array: None,
            image: None,
            row_map: RowMap { mode: RowMapMode::Clip, norm: 1.0 },
            feature_map: None,
            frame: None,
            csv: CsvShape::default(),
            limits: Limits::default(),
        }
    }
}
