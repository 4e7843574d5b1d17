//! One declared column and the numbers it becomes.

use serde::{Deserialize, Serialize};

use super::Origin;

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name, unique in the schema.
    pub name: String,
    /// Role and encoding of the column.
    pub kind: Kind,
    /// Values that mean "no value", compared without regard to case; `""` is the empty field and
    /// the null of columnar files. If there are any, the column gets a further feature,
    /// `NAME=missing`, which is 1 for such a value and else 0.
    pub missing: Vec<String>,
    /// Numeric columns: the encoded number that stands for a missing value. A missing value of
    /// any other column is encoded as zeros.
    pub fill: f64,
    /// Origin of the declaration.
    pub origin: Origin,
}

/// Role and encoding of a column in the schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A number, one feature.
    Numeric(Scaling),
    /// A word of a list: one feature per category, 1 at the word's place and else 0.
    Categorical {
        /// The names of the categories.
        categories: Vec<String>,
        /// What any other word is.
        other: Other,
    },
    /// Any text, at a place among `width` features given by a fixed hash, with its sign.
    Hashed {
        /// Number of features.
        width: u32,
    },
    /// The label of the record.
    Label,
    /// The record's id.
    Id,
    /// The person a record belongs to.
    Subject,
    /// How often the record counts.
    Weight,
    /// A column that is left out.
    Ignored,
}

/// How a number is scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scaling {
    /// Numbers are not scaled.
    AsIs,
    /// Divided by a constant.
    Divide(f64),
    /// `low` to `high` are mapped linearly onto an interval; what is outside goes to its end.
    Range {
        /// Least value of the range.
        low: f64,
        /// Greatest value of the range.
        high: f64,
        /// The interval that the range is mapped to.
        onto: Onto,
    },
}

/// The interval a range is mapped onto.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Onto {
    /// From -1 to 1.
    #[default]
    Symmetric,
    /// From 0 to 1.
    Unit,
}

/// What a word outside the list of categories is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Other {
    /// Such a value is an error.
    #[default]
    Refuse,
    /// Zero at every category.
    Zero,
}

impl Kind {
    /// Returns the name used in schemas.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Numeric(_) => "numeric",
            Self::Categorical { .. } => "categorical",
            Self::Hashed { .. } => "hashed",
            Self::Label => "label",
            Self::Id => "id",
            Self::Subject => "subject",
            Self::Weight => "weight",
            Self::Ignored => "ignored",
        }
    }

    /// Returns whether the column becomes features.
    pub fn is_feature(&self) -> bool {
        matches!(self, Self::Numeric(_) | Self::Categorical { .. } | Self::Hashed { .. })
    }

    /// Returns how many features there are without the one for missing values.
    pub(crate) fn width(&self) -> u32 {
        match self {
            Self::Numeric(_) => 1,
            Self::Categorical { categories, .. } => categories.len() as u32,
            Self::Hashed { width } => *width,
            Self::Label | Self::Id | Self::Subject | Self::Weight | Self::Ignored => 0,
        }
    }
}

impl Column {
    /// Returns a column without missing values.
    pub(crate) fn new(name: impl Into<String>, kind: Kind, origin: Origin) -> Self {
        Self { name: name.into(), kind, missing: Vec::new(), fill: 0.0, origin }
    }

    /// Returns how many features the column becomes.
    pub fn width(&self) -> u32 {
        let indicator = u32::from(self.kind.is_feature() && !self.missing.is_empty());
        self.kind.width() + indicator
    }

    /// Returns the names of these features: the column's, `NAME=category`, `NAME#3` for hashed ones, and last
    /// `NAME=missing` (`NAME=missing value` if a category is called `missing`).
    pub fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let mut names: Vec<String> = match &self.kind {
            Kind::Numeric(_) => vec![name.clone()],
            Kind::Categorical { categories, .. } => {
                categories.iter().map(|category| format!("{name}={category}")).collect()
            }
            Kind::Hashed { width } => (0..*width).map(|place| format!("{name}#{place}")).collect(),
            Kind::Label | Kind::Id | Kind::Subject | Kind::Weight | Kind::Ignored => {
                return Vec::new();
            }
        };
        if !self.missing.is_empty() {
            let plain = format!("{name}=missing");
            let taken = names.contains(&plain);
            names.push(if taken { format!("{plain} value") } else { plain });
        }
        names
    }

    /// Returns the values that shape the features, with their origin.
    pub(crate) fn origins(&self) -> Vec<(String, Origin)> {
        let value = |what: &str| (format!("{}.{what}", self.name), self.origin);
        let mut values = match &self.kind {
            Kind::Numeric(Scaling::AsIs) => vec![value("kind")],
            Kind::Numeric(Scaling::Divide(_)) => vec![value("divide")],
            Kind::Numeric(Scaling::Range { .. }) => vec![value("range")],
            Kind::Categorical { .. } => vec![value("categories")],
            Kind::Hashed { .. } => vec![value("width")],
            Kind::Label | Kind::Id | Kind::Subject | Kind::Weight | Kind::Ignored => {
                return Vec::new();
            }
        };
        if !self.missing.is_empty() {
            values.push(value("missing"));
        }
        values
    }
}
