//! Dense rows that are stored as the numbers they are: all of them at once, for a sink that has places for
//! all.

use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

use super::{MemoryRows, Parts};
use crate::delivery::{Taken, weight};
use crate::error::{SinkError, Spot};
use crate::label::{Label, Labels, Verdict};
use crate::missing::looks_missing;
use crate::numbers::Numbers;
use crate::options::ReadOptions;
use crate::record::{DenseRows, Features, LabelRef, Record, RowWriter};
use crate::row_map::RowMap;
use crate::summary::{ClassTable, PrivateEvidence};

/// All rows of such a table.
pub(super) struct Whole<'a> {
    parts: &'a Parts<'a>,
    numbers: Numbers<'a>,
    width: usize,
    map: RowMap,
    labels: Option<Judged>,
    /// The row in the table of each that is kept; `None` if all are.
    kept: Option<Vec<usize>>,
    private: Mutex<PrivateEvidence>,
}

/// The label of each row that is kept.
struct Judged {
    labels: Labels,
    /// A provisional class or a number; empty for several targets, which are the table's own. Overwritten on
    /// drop.
    each: Zeroizing<Vec<f64>>,
    classes: Option<ClassTable>,
}

impl<'a> Whole<'a> {
    /// Returns the rows, unless they cannot be taken so, or one of their labels not at all.
    pub(super) fn of(parts: &'a Parts<'a>, options: &ReadOptions) -> Option<Self> {
        let MemoryRows::Dense { numbers, width } = parts.table.rows else { return None };
        if options.feature_map.is_some() || parts.rows.end as u64 > options.limits.rows {
            return None;
        }
        let rows = Self {
            parts,
            numbers,
            width: width as usize,
            map: options.row_map,
            labels: None,
            kept: None,
            private: Mutex::default(),
        };
        if !options.label_required {
            return Some(rows);
        }
        let (mut labels, targets) = (Labels::new(options).ok()?, parts.label_names().len());
        let room = if targets > 1 { 0 } else { parts.rows.len() };
        let mut each = Zeroizing::new(Vec::with_capacity(room));
        let mut left_out = Vec::new();
        for row in parts.rows.clone() {
            let mut verdict = Verdict::Missing;
            for at in 0..targets {
                let cell = parts.label(row, at);
                verdict = match targets {
                    1 => labels.judge(cell).ok()?,
                    _ => labels.judge_next(at, cell).ok()?,
                };
                if verdict == Verdict::Missing {
                    return None;
                }
            }
            match verdict {
                Verdict::Keep(Label::Values) => {}
                Verdict::Keep(Label::Value(value)) => each.push(value),
                Verdict::Keep(Label::Class(class)) => each.push(f64::from(class)),
                Verdict::LeaveOut => left_out.push(row),
                Verdict::Missing => return None,
            }
        }
        let mut left_out = left_out.into_iter().peekable();
        let kept = left_out.peek().is_some().then(|| {
            let is_kept = |row: &usize| left_out.next_if_eq(row).is_none();
            parts.rows.clone().filter(is_kept).collect()
        });
        let classes = labels.table();
        Some(Self { labels: Some(Judged { labels, each, classes }), kept, ..rows })
    }

    /// Returns the row in the table of one that is kept.
    fn row(&self, at: usize) -> usize {
        match &self.kept {
            None => self.parts.rows.start + at,
            Some(kept) => kept.get(at).copied().unwrap_or(usize::MAX),
        }
    }

    fn label(&self, at: usize, row: usize) -> Option<LabelRef<'_>> {
        let Judged { labels, each, classes } = self.labels.as_ref()?;
        let Some(&label) = each.get(at) else {
            return Some(LabelRef::Values(self.parts.targets_of(row)));
        };
        let Some(classes) = classes else { return Some(LabelRef::Value(label)) };
        Some(match labels.reference(Label::Class(label as u32)) {
            LabelRef::Class { index, name } => {
                LabelRef::Class { index: classes.remap(index).unwrap_or(index), name }
            }
            label => label,
        })
    }

    /// Returns what is known once they were taken.
    pub(super) fn taken(self) -> Taken {
        let rows = self.len() as u64;
        let private = self.private.into_inner().unwrap_or_else(PoisonError::into_inner);
        Taken { labels: self.labels.map(|judged| judged.labels), rows, private }
    }
}

impl DenseRows for Whole<'_> {
    fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.parts.rows.len(), Vec::len)
    }

    fn each_record(
        &self,
        take: &mut dyn FnMut(Record<'_>) -> Result<(), SinkError>,
    ) -> Result<bool, SinkError> {
        for at in 0..self.len() {
            let row = self.row(at);
            let Ok(keys) = self.parts.keys(row) else { return Ok(false) };
            let id = keys.id.map(|cell| cell.text());
            let subject = keys.subject.map(|cell| cell.text());
            let Ok(weight) = keys.weight.map(weight).transpose() else { return Ok(false) };
            if [&id, &subject].into_iter().flatten().any(|text| looks_missing(text)) {
                return Ok(false);
            }
            take(Record {
                position: row as u64 + 1,
                spot: Spot::Index(row as u64),
                features: Features::Dense(&[]),
                raw: None,
                label: self.label(at, row),
                id: id.as_deref(),
                subject: subject.as_deref(),
                weight,
            })?;
        }
        Ok(true)
    }

    fn writer(&self) -> Box<dyn RowWriter + '_> {
        Box::new(Writer { rows: self, private: PrivateEvidence::default() })
    }
}

struct Writer<'r> {
    rows: &'r Whole<'r>,
    private: PrivateEvidence,
}

impl RowWriter for Writer<'_> {
    fn write(&mut self, at: usize, values: &mut [f32]) -> bool {
        let width = self.rows.width;
        let from = self.rows.row(at).saturating_mul(width);
        if !self.rows.numbers.part(from..from.saturating_add(width)).put(values) {
            return false;
        }
        self.private.note(self.rows.map.apply(values), &self.rows.map, values).is_ok()
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let mut all = self.rows.private.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(&self.private);
    }
}
