//! Rows on their way to random features: as many at a time as keep all threads at work.

use zeroize::Zeroize;

use super::Keys;
use crate::cell::Cell;
use crate::error::Spot;
use crate::feature_map::Mapper;
use crate::label::Label;

/// Rows that are mapped together, as long as neither they nor their features take more than `MOST`.
const ROWS: usize = 1536;

/// Most numbers of rows, and of features, that are held: 16 MiB each.
const MOST: usize = 1 << 22;

/// Rows that wait, and what else their records carry. Overwritten when it goes.
pub(super) struct Mapping {
    mapper: Mapper,
    most: usize,
    rows: Vec<f32>,
    features: Vec<f32>,
    held: Vec<Held>,
}

/// What a record that waits carries besides its features.
pub(super) struct Held {
    pub(super) position: u64,
    pub(super) spot: Spot,
    pub(super) label: Option<Label>,
    /// The numbers of several labels; else none.
    pub(super) labels: Vec<f64>,
    id: Option<String>,
    subject: Option<String>,
    weight: Option<String>,
}

impl Held {
    /// Copies the keys of a record.
    pub(super) fn new(
        (position, spot): (u64, Spot),
        label: Option<Label>,
        labels: Vec<f64>,
        keys: &Keys<'_>,
    ) -> Self {
        let [id, subject, weight] = [keys.id, keys.subject, keys.weight]
            .map(|cell| cell.map(|cell| cell.text().into_owned()));
        Self { position, spot, label, labels, id, subject, weight }
    }

    /// The keys, as texts.
    pub(super) fn keys(&self) -> Keys<'_> {
        let [id, subject, weight] =
            [&self.id, &self.subject, &self.weight].map(|text| text.as_deref().map(Cell::Text));
        Keys { id, subject, weight }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.labels.zeroize();
        for text in [&mut self.id, &mut self.subject, &mut self.weight] {
            text.zeroize();
        }
    }
}

impl Mapping {
    pub(super) fn new(mapper: Mapper) -> Self {
        let most = (MOST / mapper.width().max(mapper.inputs())).clamp(1, ROWS);
        let (rows, features, held) = (Vec::new(), Vec::new(), Vec::new());
        Self { mapper, most, rows, features, held }
    }

    pub(super) fn mapper(&self) -> &Mapper {
        &self.mapper
    }

    /// Takes a row; whether it is time to map those that wait.
    pub(super) fn push(&mut self, row: &[f32], held: Held) -> bool {
        if self.rows.capacity() == 0 {
            // Never moved while it grows, so that no copy stays behind.
            self.rows.reserve_exact(self.most * self.mapper.inputs());
        }
        self.rows.extend_from_slice(row);
        self.held.push(held);
        self.held.len() == self.most
    }

    /// Maps the rows that wait, and gives each record with its features; none waits any more.
    pub(super) fn map(&mut self) -> impl Iterator<Item = (Held, &mut [f32])> {
        let width = self.mapper.width();
        if self.features.capacity() == 0 {
            self.features.reserve_exact(self.held.len() * width);
        }
        self.features.resize(self.held.len() * width, 0.0);
        self.mapper.apply(&self.rows, &mut self.features);
        self.rows.clear();
        self.held.drain(..).zip(self.features.chunks_exact_mut(width))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.rows.zeroize();
        self.features.zeroize();
    }
}
