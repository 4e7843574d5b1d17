//! Dense rows that wait until they are enough for all cores: to become random features, and to be bounded.
//!
//! The pool of threads works on those that came first while the next are read.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::prelude::*;
use zeroize::{Zeroize, Zeroizing};

use crate::cell::Cell;
use crate::error::{Fault, Spot};
use crate::feature_map::Mapper;
use crate::label::Label;
use crate::row_map::{Mapped, RowMap};
use crate::rows::Keys;

/// Most rows that wait.
const ROWS: usize = 1536;

/// Most numbers of rows, and of features made of them, that wait or are worked on: 8 MiB each.
const MOST: usize = 1 << 21;

/// The limit for rows that no features are made of: 1 MiB.
const MOST_BOUNDED: usize = 1 << 18;

/// Rows that a core bounds at a time; fewer than two times as many are not worth sharing.
const SHARE: usize = 64;

/// Rows that wait, and what else their records carry. Overwritten when it goes.
pub(super) struct Waiting {
    maker: Arc<Maker>,
    most: usize,
    rows: Zeroizing<Vec<f32>>,
    held: Vec<Held>,
    /// The rows that are worked on, and the channel of their outcome.
    under_way: Option<(Vec<Held>, Receiver<Outcome>)>,
    /// Room of earlier ones.
    spare: Room,
}

/// Makes of rows what is stored of them.
struct Maker {
    mapper: Option<Mapper>,
    map: RowMap,
    /// Number of values of a row.
    width: usize,
}

/// Room for rows and for features made of them, none of which is moved while it grows, so that no copy stays
/// behind.
#[derive(Default)]
struct Room {
    rows: Zeroizing<Vec<f32>>,
    features: Zeroizing<Vec<f32>>,
}

/// Rows, with what is stored of them in `features`, or in their own room if there are none, and what became
/// of the length of each, unless it was refused.
struct Made {
    room: Room,
    bounded: Vec<Result<Mapped, Fault>>,
}

/// The rows that were made, or the panic of their thread.
type Outcome = std::thread::Result<Made>;

/// Rows that are ready.
pub(super) struct Ready {
    held: Vec<Held>,
    made: Made,
    maker: Arc<Maker>,
}

/// The label and keys of a record that waits.
pub(super) struct Held {
    pub(super) position: u64,
    pub(super) spot: Spot,
    pub(super) label: Option<Label>,
    /// The numbers of several labels; else none.
    pub(super) labels: Vec<f64>,
    /// Id, subject and weight, if it has one of them.
    keys: Option<Box<[Option<String>; 3]>>,
}

impl Held {
    /// Copies the keys of a record.
    pub(super) fn new(
        position: u64,
        spot: Spot,
        label: Option<Label>,
        labels: Vec<f64>,
        keys: &Keys<'_>,
    ) -> Self {
        let keys = [keys.id, keys.subject, keys.weight];
        let text = |cell: Option<Cell<'_>>| cell.map(|cell| cell.text().into_owned());
        let keys = keys.iter().any(Option::is_some).then(|| Box::new(keys.map(text)));
        Self { position, spot, label, labels, keys }
    }

    /// Returns the keys, as texts.
    pub(super) fn keys(&self) -> Keys<'_> {
        let Some(keys) = &self.keys else { return Keys::default() };
        let [id, subject, weight] = keys.each_ref().map(|text| text.as_deref().map(Cell::Text));
        Keys { id, subject, weight }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.labels.zeroize();
        self.keys.iter_mut().flat_map(|keys| keys.iter_mut()).for_each(Zeroize::zeroize);
    }
}

impl Maker {
    /// Returns how many numbers are stored of a row.
    fn stored(&self) -> usize {
        self.mapper.as_ref().map_or(self.width, Mapper::width)
    }

    /// Makes it of rows.
    fn make(&self, mut room: Room) -> Made {
        let (count, width) = (room.rows.len() / self.width.max(1), self.stored());
        if let Some(mapper) = &self.mapper {
            if room.features.capacity() == 0 {
                room.features.reserve_exact(count * width);
            }
            room.features.resize(count * width, 0.0);
            mapper.apply(&room.rows, &mut room.features);
        }
        let bound = |row: &mut [f32]| self.map.apply(row);
        let stored = self.of(&mut room);
        let bounded = if count < 2 * SHARE {
            stored.chunks_exact_mut(width).map(bound).collect()
        } else {
            stored.par_chunks_exact_mut(width).with_min_len(SHARE).map(bound).collect()
        };
        Made { room, bounded }
    }

    /// Returns what is stored of the rows that have this room.
    fn of<'r>(&self, room: &'r mut Room) -> &'r mut [f32] {
        if self.mapper.is_some() { &mut room.features } else { &mut room.rows }
    }
}

impl Waiting {
    /// Takes rows of `width` numbers, from which features are made if there is a mapper.
    pub(super) fn new(mapper: Option<Mapper>, map: RowMap, width: usize) -> Self {
        let rows = match &mapper {
            Some(mapper) => MOST / mapper.width().max(mapper.inputs()),
            None => MOST_BOUNDED / width.max(1),
        };
        Self {
            maker: Arc::new(Maker { mapper, map, width }),
            most: rows.clamp(1, ROWS),
            rows: Zeroizing::default(),
            held: Vec::new(),
            under_way: None,
            spare: Room::default(),
        }
    }

    pub(super) fn mapper(&self) -> Option<&Mapper> {
        self.maker.mapper.as_ref()
    }

    /// Takes a row; whether it is time to [go on](Self::next) with those that wait.
    pub(super) fn push(&mut self, row: &[f32], held: Held) -> bool {
        if self.rows.capacity() == 0 {
            self.rows.reserve_exact(self.most * self.maker.width);
        }
        self.rows.extend_from_slice(row);
        self.held.push(held);
        self.held.len() == self.most
    }

    /// Begins to work on the rows that wait, and gives those that were worked on before.
    pub(super) fn next(&mut self) -> Option<Ready> {
        let Room { rows, features } = std::mem::take(&mut self.spare);
        let room = Room { rows: std::mem::replace(&mut self.rows, rows), features };
        let held = std::mem::take(&mut self.held);
        let begun = (!held.is_empty()).then(|| {
            let (told, outcome) = sync_channel(1);
            let maker = Arc::clone(&self.maker);
            let work = move || {
                let made = catch_unwind(AssertUnwindSafe(|| maker.make(room)));
                // The receiver is gone if the reading was given up.
                drop(told.send(made));
            };
            // A thread of the pool that waited for the others might be the only one.
            let here = held.len() < 2 * SHARE || rayon::current_thread_index().is_some();
            if here {
                work()
            } else {
                rayon::spawn(work)
            }
            (held, outcome)
        });
        let (held, outcome) = std::mem::replace(&mut self.under_way, begun)?;
        let made = outcome.recv().unwrap_or_else(|gone| Err(Box::new(gone)));
        let made = made.unwrap_or_else(|panic| resume_unwind(panic));
        Some(Ready { held, made, maker: Arc::clone(&self.maker) })
    }

    /// Returns whether none waits, and none is worked on.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.under_way.is_none()
    }

    /// Takes back the room of rows that were handed over.
    pub(super) fn reuse(&mut self, ready: Ready) {
        self.spare = ready.made.room;
        self.spare.rows.clear();
    }
}

impl Ready {
    /// Hands over each record with its features and what became of their length; none is left.
    pub(super) fn drain(
        &mut self,
    ) -> impl Iterator<Item = ((Held, &mut [f32]), Result<Mapped, Fault>)> {
        let Made { room, bounded } = &mut self.made;
        let features = self.maker.of(room).chunks_exact_mut(self.maker.stored());
        self.held.drain(..).zip(features).zip(bounded.drain(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_map::FeatureMap;
    use crate::row_map::RowMapMode;

    fn held(position: u64) -> Held {
        Held::new(position, Spot::Row(position), None, Vec::new(), &Keys::default())
    }

    /// Tests features that are fewer or more than the numbers of a row, or absent.
    #[test]
    fn rows_wait_in_room_that_is_not_moved() {
        for map in [None, Some("rff:2"), Some("rff:40")] {
            let mapper = map.map(|text| {
                let map: FeatureMap = text.parse().unwrap();
                Mapper::new(&map.of_rows(8, false, None).unwrap(), 8).unwrap()
            });
            let width = mapper.as_ref().map_or(8, Mapper::width);
            let map = RowMap { mode: RowMapMode::Clip, norm: 1.0 };
            let mut waiting = Waiting::new(mapper, map, 8);
            waiting.most = 300;
            let (mut told, mut rooms) = (Vec::new(), Vec::new());
            let mut take = |waiting: &mut Waiting| {
                let Some(mut ready) = waiting.next() else { return };
                for ((held, features), bounded) in ready.drain() {
                    assert_eq!(features.len(), width);
                    bounded.unwrap();
                    told.push(held.position);
                }
                waiting.reuse(ready);
            };
            for position in 0..2000 {
                let first = waiting.rows.is_empty();
                if waiting.push(&[position as f32; 8], held(position)) {
                    take(&mut waiting);
                    continue;
                }
                match first {
                    true => rooms.push(waiting.rows.as_ptr()),
                    false => assert_eq!(rooms.last(), Some(&waiting.rows.as_ptr())),
                }
            }
            while !waiting.is_empty() {
                take(&mut waiting);
            }
            assert_eq!(told, (0..2000).collect::<Vec<_>>());
            // Two that take turns, once each was handed back.
            rooms.sort_unstable();
            rooms.dedup();
            assert!(rooms.len() <= 3, "{}", rooms.len());
        }
    }
}
