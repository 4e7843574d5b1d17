//! Preprocessing that is fitted to the records, again with every request.
//!
//! The plan of such a model has two parts. What is public is stored with the vault: the settings, the
//! names of columns, and constants that follow from these and from the number of records. What was
//! computed from the records (means, scales, categories, classes) is released with the weights, stored
//! beside them, and gone with them; a plan in memory has it [attached](Plan::attach).

use efface_formats::{Fitted, Frame, Rules};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Defaults, Plan, Rows, TargetRange, Task, written};
use crate::error::{Code, Error, Result};
use crate::settings::Settings;

/// What a plan with fitted preprocessing is made from, again with every request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitting {
    /// The settings as the user gave them.
    pub settings: Settings,
    /// What those stand for that were not given.
    pub defaults: Defaults,
    /// What raw rows are made of.
    pub frame: Frame,
    /// Public constants of the statistics.
    pub rules: Rules,
    /// Whether the number of columns was read off the data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub width_from_data: bool,
    /// Whether a column of a table in memory holds texts although it could hold numbers or times, but for some
    /// of its cells, and that shows in what is claimed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub types_from_data: bool,
    /// Classes in order, if the user listed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// The names of the targets, if a regression has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// The columns of tables that play another part, by their names.
    #[serde(default)]
    pub roles: Roles,
    /// Number of records that the constants are of.
    pub records: u64,
    /// The statistics of the records, if they are at hand.
    #[serde(skip)]
    pub found: Option<Fitted>,
}

/// Columns of a table that are no features, if it has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roles {
    /// The label; several are named by the plan's task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What names records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What names people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How often a record counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
}

impl Fitting {
    /// The statistics.
    ///
    /// # Errors
    /// A model that was withdrawn, and its statistics with it.
    pub(crate) fn found(&self) -> Result<&Fitted> {
        self.found.as_ref().ok_or_else(|| {
            Error::refused(Code::Withdrawn, "the preprocessing was erased with the model")
                .hint("`§efface refresh` fits both again to the records that remain")
        })
    }
}

/// The mean less and plus the scale: what -1 and 1 stand for.
fn scaled_range(what: &str, (mean, scale): (f64, f64)) -> Result<(f64, f64)> {
    let (low, high) = (mean - scale, mean + scale);
    if low < high && low.is_finite() && high.is_finite() {
        return Ok((low, high));
    }
    let message =
        format!("{what} varies too little for its size: its mean is {mean}, its deviation {scale}");
    Err(Error::refused(Code::Preprocessing, message)
        .hint("subtract a public number from it, or give it in other units"))
}

impl Plan {
    /// SHA-256 (hexadecimal) of what stays the same for the life of a model with fitted preprocessing:
    /// settings, columns and the parts they play, and what the face keeps.
    pub(crate) fn fitting_digest(&self) -> Result<Option<String>> {
        let Some(fitting) = &self.fitting else { return Ok(None) };
        let fixed = Fitting { records: 0, found: None, ..fitting.clone() };
        let all = (fixed, self.ids, self.subjects, &self.max_weight, &self.rows.map, &self.face);
        Ok(Some(hex::encode(Sha256::digest(written(&all)?.as_bytes()))))
    }

    /// The plan without anything that was computed from the records but their number and that of
    /// classes: with as many columns as any records could give.
    #[must_use]
    pub(crate) fn detached(&self) -> Self {
        let Some(fitting) = &self.fitting else { return self.clone() };
        let task = match &self.task {
            Task::Classes(names) => match &fitting.classes {
                Some(given) => Task::Classes(given.clone()),
                None => Task::Classes(vec![String::new(); names.len()]),
            },
            task @ (Task::Range(..) | Task::Targets(_)) => {
                Task::of_numbers(&task.target_names(), -1.0, 1.0)
            }
        };
        let features = fitting.frame.most_features(&fitting.rules);
        Self {
            task,
            rows: Rows { features, sparse: false, schema: String::new(), ..self.rows.clone() },
            fitting: Some(Fitting { found: None, ..fitting.clone() }),
            ..self.clone()
        }
    }

    /// The plan as a vault keeps it.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub(crate) fn written(&self) -> Result<String> {
        written(&self.detached())
    }

    /// The plan with these statistics.
    ///
    /// # Errors
    /// Statistics of other columns or classes than the plan's.
    pub(crate) fn attach(&self, found: Fitted) -> Result<Self> {
        let Some(fitting) = &self.fitting else { return Ok(self.clone()) };
        let wrong =
            |what: &str| Error::storage(Code::Damaged, format!("the preprocessing has {what}"));
        let task = match &self.task {
            Task::Classes(names) => {
                let classes = fitting.classes.clone();
                let classes = classes.unwrap_or_else(|| found.classes().to_vec());
                if classes.len() != names.len() {
                    return Err(wrong("another number of classes than the plan"));
                }
                Task::Classes(classes)
            }
            Task::Range(..) => {
                let [moments] = found.target_moments()[..] else {
                    return Err(wrong("another number of targets than the plan"));
                };
                let (low, high) = scaled_range("y", moments)?;
                Task::Range(Decimal(low), Decimal(high))
            }
            Task::Targets(list) => {
                let moments = found.target_moments();
                if moments.len() != list.len() {
                    return Err(wrong("another number of targets than the plan"));
                }
                let of_target = |(target, moments): (&TargetRange, _)| {
                    let name = target.name.clone();
                    let (low, high) = scaled_range(&format!("the target `{name}`"), moments)?;
                    Ok(TargetRange { name, low: Decimal(low), high: Decimal(high) })
                };
                Task::Targets(list.iter().zip(moments).map(of_target).collect::<Result<_>>()?)
            }
        };
        if u64::from(found.width()) > fitting.frame.most_features(&fitting.rules) {
            return Err(wrong("more columns than any records can give"));
        }
        let rows = Rows {
            features: found.width().into(),
            sparse: found.sparse(),
            schema: String::new(),
            ..self.rows.clone()
        };
        Ok(Self {
            task,
            rows,
            fitting: Some(Fitting { found: Some(found), ..fitting.clone() }),
            ..self.clone()
        })
    }

    /// The statistics, for a plan that has some.
    pub(crate) fn statistics(&self) -> Result<Option<&Fitted>> {
        self.fitting.as_ref().map(Fitting::found).transpose()
    }
}
