//! Rows as bytes in the vault and as matrices in memory, or held elsewhere.

mod parts;
mod place;

pub use parts::{Names, Partitioned};
pub(crate) use parts::{check_names, failed, insert_places, places};
pub use place::Place;

use std::cell::OnceCell;

use efface_learn::Dataset;
use efface_matrix::{Matrix, Row};
use efface_vault::{RecordId, Vault};

use crate::encode::{damaged, decode, split_weight};
use crate::error::{Error, Result, Stopped};
use crate::leaving::Leaving;
use crate::plan::Plan;

/// Where the rows of a model are.
#[derive(Debug, Clone, Copy, Default)]
pub enum RowStore<'a> {
    /// In its vault.
    #[default]
    Vault,
    /// Elsewhere, in ordered parts that tell sums. Records that a request deletes are
    /// [withdrawn](Partitioned::withdraw) first: they are to be erased when it succeeds, and brought
    /// back when it does not.
    #[doc(hidden)]
    Parts(&'a dyn Partitioned),
}

impl RowStore<'_> {
    /// Refuses a model whose rows are elsewhere.
    pub(crate) fn check(self, plan: &Plan) -> Result<()> {
        match (self, plan.in_parts) {
            (Self::Vault, true) => Err(Error::refused(
                "held-elsewhere",
                "the rows of this model are not in its vault: they are held in parts elsewhere, \
                 and this needs them",
            )
            .hint(
                "ask from Python, with `efface.dask` and the collections the parts are made from",
            )),
            (Self::Parts(_), false) => {
                Err(Error::refused("held-here", "the rows of this model are in its vault")
                    .hint("serve requests without parts"))
            }
            _ => Ok(()),
        }
    }
}

/// Records as mechanisms see them: contents and targets, and the numbers that name them for good.
#[derive(Debug)]
pub(crate) struct Keyed {
    /// The vault's number of each record.
    pub(crate) keys: Vec<i64>,
    /// One row for each.
    pub(crate) data: Dataset,
}

impl Keyed {
    /// No records, with the plan's shape.
    pub(crate) fn none(plan: &Plan) -> Result<Self> {
        let columns = plan.columns();
        let x = if plan.rows.sparse { Matrix::sparse(columns) } else { Matrix::dense(columns) };
        Ok(Self { keys: Vec::new(), data: Dataset::new(x, Vec::new()).map_err(damaged)? })
    }

    /// These records of the vault.
    pub(crate) fn of(vault: &Vault, plan: &Plan, records: &[RecordId]) -> Result<Self> {
        let mut reader = Reader::new(plan)?;
        vault
            .read_records(records, |key, row| reader.push(key, row.features, row.target))
            .map_err(|Stopped(error)| error)?;
        Ok(reader.read)
    }

    /// Every record of the vault (or of the transaction in progress), none of which may be one of
    /// those that leave.
    pub(crate) fn all(vault: &Vault, plan: &Plan, leaving: &Leaving) -> Result<Self> {
        let mut reader = Reader::new(plan)?;
        let mut missed = 0;
        vault
            .scan(|key, row| {
                missed += u64::from(leaving.has_row(&row));
                reader.push(key, row.features, row.target)
            })
            .map_err(|Stopped(error)| error)?;
        leaving.none_missed(missed)?;
        Ok(reader.read)
    }
}

/// The records a model is about after the request: read only when a mechanism asks.
pub(crate) enum Rows<'a> {
    /// The first training, whose records will have the numbers 1, 2, ...
    Table(&'a Dataset),
    /// Records in memory, under the numbers they have in a vault.
    Memory(&'a Keyed),
    /// What the vault holds.
    Vault {
        vault: &'a Vault,
        plan: &'a Plan,
        count: u64,
        leaving: &'a Leaving,
        read: OnceCell<Keyed>,
    },
    /// What is held elsewhere, in parts that tell sums.
    Parts(&'a dyn Partitioned),
}

impl<'a> Rows<'a> {
    /// The records that the vault (or the transaction in progress) lists.
    pub(crate) fn of(
        vault: &'a Vault,
        plan: &'a Plan,
        leaving: &'a Leaving,
        store: RowStore<'a>,
    ) -> Result<Self> {
        store.check(plan)?;
        let count = vault.checked_count()?;
        let RowStore::Parts(held) = store else {
            return Ok(Self::Vault { vault, plan, count, leaving, read: OnceCell::new() });
        };
        let got = held.records();
        if got as u64 != count {
            let message = format!("the vault lists {count} records, but the partitions have {got}");
            return Err(Error::storage("parts", message));
        }
        Ok(Self::Parts(held))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Table(data) => data.rows(),
            Self::Memory(keyed) => keyed.data.rows(),
            Self::Vault { count, .. } => *count as usize,
            Self::Parts(held) => held.records(),
        }
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn data(&self) -> Result<&Dataset> {
        match self {
            Self::Table(data) => Ok(data),
            Self::Memory(keyed) => Ok(&keyed.data),
            Self::Vault { .. } | Self::Parts(_) => Ok(&self.read()?.data),
        }
    }

    /// How many processes summed them, where they are outside the vault.
    pub(crate) fn holders(&self) -> Result<Option<u64>> {
        match self {
            Self::Table(_) | Self::Memory(_) | Self::Vault { .. } => Ok(None),
            Self::Parts(held) => held.holders().map(Some).map_err(failed),
        }
    }

    /// The numbers of all of them, ascending.
    pub(crate) fn keys(&self) -> Result<Vec<i64>> {
        match self {
            Self::Table(data) => Ok((1..=data.rows() as i64).collect()),
            Self::Memory(keyed) => Ok(keyed.keys.clone()),
            Self::Vault { vault, .. } => {
                Ok(vault.record_numbers()?.into_iter().map(RecordId::get).collect())
            }
            Self::Parts(_) => Err(in_parts()),
        }
    }

    /// These records, in the order named, repetitions included.
    pub(crate) fn pick(&self, keys: &[u64]) -> Result<Dataset> {
        let unknown = || damaged("a record that was asked for is not there");
        match self {
            Self::Table(data) => {
                let row = |key: &u64| (*key as usize).checked_sub(1).filter(|r| *r < data.rows());
                let rows: Option<Vec<usize>> = keys.iter().map(row).collect();
                picked(data, &rows.ok_or_else(unknown)?)
            }
            Self::Memory(Keyed { keys: all, data }) => {
                let row = |key: &u64| all.binary_search(&i64::try_from(*key).ok()?).ok();
                let rows: Option<Vec<usize>> = keys.iter().map(row).collect();
                picked(data, &rows.ok_or_else(unknown)?)
            }
            Self::Vault { vault, plan, .. } => {
                let number = |key: &u64| i64::try_from(*key).map(RecordId::new);
                let records: std::result::Result<Vec<_>, _> = keys.iter().map(number).collect();
                Ok(Keyed::of(vault, plan, &records.map_err(|_| unknown())?)?.data)
            }
            Self::Parts(_) => Err(in_parts()),
        }
    }

    /// Whether all rows of a vault were read, each against its checksum and those that leave.
    pub(crate) fn were_read(&self) -> bool {
        matches!(self, Self::Vault { read, .. } if read.get().is_some())
    }

    fn read(&self) -> Result<&Keyed> {
        match self {
            Self::Vault { vault, plan, leaving, read, .. } => match read.get() {
                Some(all) => Ok(all),
                None => {
                    let all = Keyed::all(vault, plan, leaving)?;
                    Ok(read.get_or_init(|| all))
                }
            },
            Self::Table(_) | Self::Memory(_) => {
                Err(Error::storage("damaged", "rows in memory have no vault"))
            }
            Self::Parts(_) => Err(in_parts()),
        }
    }
}

/// Plans that need rows are refused when they are made; this is for what slips through.
fn in_parts() -> Error {
    Error::refused("in-parts", "the rows are in partitions that return only sums")
}

/// These rows, in the order named, repetitions included.
pub(crate) fn picked(data: &Dataset, rows: &[usize]) -> Result<Dataset> {
    let x = match data.x() {
        Matrix::Dense(_) => Matrix::dense(data.cols()),
        Matrix::Sparse(_) => Matrix::sparse(data.cols()),
    };
    let mut picked = Dataset::new(x, Vec::new()).map_err(damaged)?;
    for &row in rows {
        picked.push_from(data, row).map_err(damaged)?;
    }
    Ok(picked)
}

struct Reader<'a> {
    plan: &'a Plan,
    values: Vec<f32>,
    indices: Vec<u32>,
    read: Keyed,
}

impl<'a> Reader<'a> {
    fn new(plan: &'a Plan) -> Result<Self> {
        RowStore::Vault.check(plan)?;
        Ok(Self { plan, values: Vec::new(), indices: Vec::new(), read: Keyed::none(plan)? })
    }

    fn push(
        &mut self,
        key: RecordId,
        bytes: &[u8],
        target: f64,
    ) -> std::result::Result<(), Stopped> {
        let sparse = self.plan.rows.sparse;
        let (bytes, weight) = split_weight(bytes, self.plan.max_weight.is_some())?;
        decode(bytes, sparse, &mut self.indices, &mut self.values).map_err(Stopped)?;
        let row = if sparse {
            Row::Sparse { indices: &self.indices, values: &self.values }
        } else {
            Row::Dense(&self.values)
        };
        self.read
            .data
            .push_weighted(row, target, weight)
            .map_err(|error| Stopped(damaged(error)))?;
        self.read.keys.push(key.get());
        Ok(())
    }
}
