//! What a plan is made from where no table is read: sizes and declared names.

use efface_formats::{MemoryRows, MemoryTable, Numbers, ReadOptions, Record, Sink, SinkError};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::plan::{Choices, Facts, Ids, SampleWeights};
use crate::source::Source;

/// Sizes and names of records in parts, as whoever holds them says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Records of all parts.
    pub records: u64,
    /// Number of parts, from 1 to 2^32.
    pub parts: u64,
    /// Columns of every part.
    pub features: u32,
    /// Names of the columns, where they have some.
    pub names: Option<Vec<String>>,
    /// Names of the classes in order, the positive one of two last; empty for regression.
    pub classes: Vec<String>,
    /// Whether the user listed them; else they were read off the records.
    pub classes_given: bool,
    /// Whether every record has an id; else they are named by their position among all.
    pub ids: bool,
    /// Whether every record names its subject.
    pub subjects: bool,
    /// About the weights of the records, where they have some.
    #[serde(default)]
    pub weights: Option<SampleWeights>,
}

/// Takes no record.
struct Nothing;

impl Sink for Nothing {
    fn begin(&mut self, _: &efface_formats::Layout) -> std::result::Result<(), SinkError> {
        Ok(())
    }

    fn record(&mut self, _: Record<'_>) -> std::result::Result<(), SinkError> {
        Ok(())
    }
}

impl Shape {
    /// What a plan needs to know. The schema is that of a table without rows.
    pub(crate) fn facts(&self, choices: &Choices) -> Result<Facts> {
        if self.parts == 0 || self.parts > u64::from(u32::MAX) {
            let got = self.parts;
            return Err(Error::input("data", format!("there must be 1 to 2^32 parts, got {got}")));
        }
        let rows = MemoryRows::Dense { numbers: Numbers::Single(&[]), width: self.features };
        let names = self.names.as_deref();
        let table =
            MemoryTable { rows, labels: None, ids: None, subjects: None, weights: None, names };
        let source = Source { memory: Some(table), ..Source::default() };
        let options = ReadOptions { label_required: false, ..source.training_options(choices)? };
        let schema = source.read(&options, &mut Nothing)?.schema;
        Ok(Facts {
            records: self.records,
            features: u64::from(self.features),
            sparse: false,
            classes: self.classes.clone(),
            classes_given: self.classes_given,
            schema: schema.canonical(),
            schema_given: false,
            schema_from_data: Vec::new(),
            ids: if self.ids { Ids::Column } else { Ids::Position },
            subjects: self.subjects,
            weights: self.weights,
            parts: Some(self.parts),
        })
    }
}
