//! What records are named by.

use std::borrow::Cow;

use efface_formats::NOBODY;
use zeroize::Zeroize;

use crate::error::{Code, Error, Result};
use crate::rows::naming::row_id;

/// Names of records, one per row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Position of each row among all rows that the model was ever given, ascending from 0.
    pub positions: Vec<u64>,
    /// Ids of the records; `None` if they are named by position.
    pub ids: Option<Vec<Box<str>>>,
    /// Subject of each row, if the table names subjects.
    pub subjects: Option<Vec<Box<str>>>,
}

/// Makes each record without a subject its own subject, named by its id.
pub(crate) fn name_nobody(subjects: Option<&mut [Box<str>]>, id: impl Fn(usize) -> String) {
    let subjects = subjects.into_iter().flatten().enumerate();
    for (row, subject) in subjects.filter(|(_, subject)| subject.is_empty()) {
        *subject = format!("{NOBODY}{}", id(row)).into();
    }
}

impl Names {
    /// Returns names for `rows` records named only by their position, from 0.
    pub(crate) fn by_position(rows: usize) -> Self {
        Self { positions: (0..rows as u64).collect(), ids: None, subjects: None }
    }

    /// Returns the number of named records.
    #[must_use]
    pub fn count(&self) -> usize {
        self.positions.len()
    }

    /// Returns the id of a record, or the `row:K` that stands for one.
    pub(crate) fn id(&self, row: usize) -> Cow<'_, str> {
        match &self.ids {
            Some(ids) => Cow::Borrowed(&ids[row]),
            None => Cow::Owned(row_id(self.positions[row])),
        }
    }

    /// Returns the subject of a record.
    pub(crate) fn subject(&self, row: usize) -> Option<&str> {
        self.subjects.as_ref().map(|subjects| &*subjects[row])
    }

    /// Shifts the positions for rows that come after `first` others.
    pub(crate) fn after(mut self, first: u64) -> Self {
        self.positions.iter_mut().for_each(|position| *position = position.saturating_add(first));
        self
    }

    /// Appends names of the same kind.
    pub(super) fn extend(&mut self, more: &Self) -> Result<()> {
        if self.positions.is_empty() {
            self.clone_from(more);
            return Ok(());
        }
        for (own, new) in [(&mut self.ids, &more.ids), (&mut self.subjects, &more.subjects)] {
            match (own, new) {
                (Some(own), Some(new)) => own.extend_from_slice(new),
                (None, None) => {}
                _ => {
                    return Err(Error::input(
                        Code::Ids,
                        "all records must be named in the same way",
                    ));
                }
            }
        }
        self.positions.extend_from_slice(&more.positions);
        Ok(())
    }

    /// Removes the names of these rows, which ascend.
    pub(crate) fn remove(&mut self, rows: &[usize]) {
        remove(&mut self.positions, rows);
        for names in [&mut self.ids, &mut self.subjects].into_iter().flatten() {
            rows.iter().for_each(|row| names[*row].zeroize());
            remove(names, rows);
        }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        self.ids.zeroize();
        self.subjects.zeroize();
    }
}

/// Removes the elements at these positions, which ascend.
pub(super) fn remove<T>(list: &mut Vec<T>, rows: &[usize]) {
    let mut gone = rows.iter().copied().peekable();
    let mut row = 0;
    list.retain(|_| {
        let out = gone.next_if_eq(&row).is_some();
        row += 1;
        !out
    });
}
