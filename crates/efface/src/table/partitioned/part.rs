//! The rows of one part, and the sums over them.

use std::ops::ControlFlow;

use efface_learn::{Constants, Loss, check_records, lower_triangle};
use efface_matrix::Totals;
use efface_net::{CheckedDpSgd, Data, Network, PartSum, clipped_sums};
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use crate::context::Progress;
use crate::error::{Code, Error, Result};
use crate::plan::Plan;
use crate::rows::bytes::encode;
use crate::rows::source::Source;
use crate::rows::{Drawn, Keyed, Names};
use crate::table::read_as_planned;
use crate::weights::predictor::append;

/// The rows of one part, in memory and nowhere else.
///
/// Rows are identified by their position when the part was made, which never changes. A withdrawn row takes
/// no part in sums and can come back; an erased row is overwritten, and so are all rows when the part is
/// dropped.
#[derive(Debug)]
pub struct Part {
    constants: Constants,
    /// The network whose gradients are clipped, if the plan trains one.
    network: Option<(Network, CheckedDpSgd)>,
    weighted: bool,
    /// Number of rows when the part was made.
    made: u64,
    /// Keyed by their positions, which ascend.
    rows: Keyed,
    withdrawn: Keyed,
    /// Positions erased and withdrawn in the last state set; `None` if setting it failed.
    state: Option<(Vec<u64>, Vec<u64>)>,
    salt: [u8; 16],
    print: u128,
    names: Option<Names>,
    shortened: u64,
}

impl Drop for Part {
    fn drop(&mut self) {
        // Wiping fails only for positions out of range, and these are in range.
        let _ = (self.rows.wipe_all(), self.withdrawn.wipe_all());
    }
}

impl Part {
    /// Reads a table according to a plan: its checks, its row map, its schema. `salt` keys the
    /// [`fingerprint`](Self::fingerprint).
    ///
    /// # Errors
    /// Fails if the plan cannot be read, if rows or targets break one of its rules, or if interrupted.
    pub fn new(
        source: &Source<'_>,
        plan: &str,
        salt: [u8; 16],
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let plan = Plan::read(plan)?;
        let constants = plan.constants()?;
        let network = match plan.sampled() {
            None => None,
            Some(sampled) => {
                let network = sampled.network()?;
                let checked = sampled.checked(&network)?;
                Some((network, checked))
            }
        };
        let mut tell = |progress: Progress| match watch(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::interrupted()),
        };
        let table = read_as_planned(source, &plan, &mut tell)?;
        if table.left_out > 0 {
            let message = format!(
                "{} rows have labels that are not among the model's classes",
                table.left_out
            );
            return Err(Error::input(Code::Classes, message));
        }
        check_records(&constants, &table.data).map_err(refused)?;
        let made = table.data.rows();
        let names = Names { positions: table.positions, ids: table.ids, subjects: table.subjects };
        let mut part = Self {
            made: made as u64,
            rows: Keyed { keys: (0..made as i64).collect(), data: table.data },
            withdrawn: Keyed::none(&plan)?,
            state: Some((Vec::new(), Vec::new())),
            weighted: plan.max_weight.is_some(),
            constants,
            network,
            salt,
            print: 0,
            names: Some(names),
            shortened: table.private.lengths.count(),
        };
        part.print = part.prints(&(0..made).collect::<Vec<_>>());
        Ok(part)
    }

    /// Returns the number of rows when the part was made, including erased and withdrawn ones.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Returns the number of rows that take part in sums.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.keys.len()
    }

    /// Returns the number of rows that exceeded the norm bound by more than a rounding when the part was
    /// made.
    #[must_use]
    pub fn shortened(&self) -> u64 {
        self.shortened
    }

    /// Returns the names of its records as they were made, until they are [dropped](Self::drop_names).
    #[must_use]
    pub fn names(&self) -> Option<&Names> {
        self.names.as_ref()
    }

    /// Overwrites and drops the names.
    pub fn drop_names(&mut self) {
        self.names = None;
    }

    /// Returns a digest of the rows that take part in sums, and of nothing else: two parts with the same salt
    /// agree on it exactly if they hold the same rows at the same positions (except with probability 2^-128).
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.print
    }

    /// Brings the part into a state, whatever it was before: the rows at `erased` are overwritten, those at
    /// `withdrawn` take no part in sums, all others do. Both lists ascend and are disjoint.
    ///
    /// This brings a part that was made again to the state of the lost one; `fingerprint`, if given, must
    /// then be that of the lost one.
    ///
    /// # Errors
    /// Fails if positions are out of order or out of range, if rows to be restored were erased, or if rows
    /// differ from what the fingerprint says. Nothing may be summed then.
    pub fn set_state(
        &mut self,
        erased: &[u64],
        withdrawn: &[u64],
        fingerprint: Option<u128>,
    ) -> Result<()> {
        let there = |(out, apart): &(Vec<u64>, Vec<u64>)| out == erased && apart == withdrawn;
        if !self.state.as_ref().is_some_and(there) {
            self.state = None;
            self.apply(erased, withdrawn)?;
            self.state = Some((erased.to_vec(), withdrawn.to_vec()));
        }
        match fingerprint {
            Some(expected) if expected != self.print => Err(Error::storage(
                Code::Parts,
                "a recomputed partition has different rows than before: its source gives other \
                 rows, or another order, each time",
            )
            .hint("make the collections deterministic, or persist them, and train a new model")),
            _ => Ok(()),
        }
    }

    /// Brings the part from any state into another.
    fn apply(&mut self, erased: &[u64], withdrawn: &[u64]) -> Result<()> {
        for list in [erased, withdrawn] {
            let ascending = list.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascending || list.last().is_some_and(|last| *last >= self.made) {
                let made = self.made;
                let message = format!("positions must ascend and be below the {made} rows made");
                return Err(Error::input(Code::Data, message));
            }
        }
        let is = |list: &[u64], key: i64| list.binary_search(&key.unsigned_abs()).is_ok();
        let stays = |key: i64| !is(erased, key) && !is(withdrawn, key);
        if self.withdrawn.keys.iter().any(|key| stays(*key)) {
            self.restore()?;
        }
        let out = self.rows.which(|key| !stays(key));
        for &row in &out {
            if is(withdrawn, self.rows.keys[row]) {
                self.withdrawn.take(&self.rows, row)?;
            }
        }
        self.print = self.print.wrapping_sub(self.prints(&out));
        self.rows.wipe(&out)?;
        let gone = self.withdrawn.which(|key| is(erased, key));
        self.withdrawn.wipe(&gone)?;
        let gone = (erased.len() + withdrawn.len()) as u64;
        let whole = self.rows.keys.len() as u64 + gone == self.made
            && self.withdrawn.keys.len() == withdrawn.len();
        if whole {
            return Ok(());
        }
        Err(Error::storage(Code::Parts, "a row that was erased is asked for again"))
    }

    /// Puts all withdrawn rows back at their positions.
    fn restore(&mut self) -> Result<()> {
        let mut all: Vec<(i64, bool, usize)> = Vec::with_capacity(self.made as usize);
        all.extend(self.rows.keys.iter().enumerate().map(|(row, key)| (*key, true, row)));
        all.extend(self.withdrawn.keys.iter().enumerate().map(|(row, key)| (*key, false, row)));
        all.sort_unstable();
        let mut merged = Keyed::none_like(&self.rows.data)?;
        for (_, stayed, row) in all {
            merged.take(if stayed { &self.rows } else { &self.withdrawn }, row)?;
        }
        self.rows.wipe_all()?;
        self.withdrawn.wipe_all()?;
        self.rows = merged;
        self.print = self.prints(&(0..self.rows.keys.len()).collect::<Vec<_>>());
        Ok(())
    }

    /// Returns the sum of the digests of some rows.
    fn prints(&self, rows: &[usize]) -> u128 {
        let mut bytes = Vec::new();
        let mut sum = 0_u128;
        for &row in rows {
            encode(&self.rows.data, row, self.weighted, &mut bytes);
            let mut hasher = Sha256::new();
            hasher.update(self.salt);
            hasher.update(self.rows.keys[row].to_le_bytes());
            hasher.update(self.rows.data.y()[row].to_le_bytes());
            hasher.update(&bytes);
            let digest: [u8; 32] = hasher.finalize().into();
            let first = digest.first_chunk::<16>().map_or(0, |half| u128::from_le_bytes(*half));
            sum = sum.wrapping_add(first);
        }
        bytes.zeroize();
        sum
    }

    fn loss(&self) -> Loss {
        self.constants.loss()
    }

    /// Returns loss and gradient at `weights`, summed over the rows.
    ///
    /// # Errors
    /// Fails if `weights` does not have one entry per parameter.
    pub fn totals(&self, weights: &[f64]) -> Result<Totals> {
        self.rows.data.totals(self.loss(), weights).map_err(refused)
    }

    /// Returns the second derivatives at `weights`, summed over the rows: the lower triangle column by
    /// column.
    ///
    /// # Errors
    /// Fails if `weights` does not have one entry per parameter, or the matrix does not fit in memory.
    pub fn hessian(&self, weights: &[f64]) -> Result<Vec<f64>> {
        let curvature = self.rows.data.curvature(self.loss(), weights).map_err(refused)?;
        Ok(lower_triangle(&self.rows.data.hessian(&curvature).map_err(refused)?))
    }

    /// Returns the matrix of [`hessian`](Self::hessian) times `vector`.
    ///
    /// # Errors
    /// Fails if `weights` or `vector` does not have one entry per parameter.
    pub fn product(&self, weights: &[f64], vector: &[f64]) -> Result<Vec<f64>> {
        let curvature = self.rows.data.curvature(self.loss(), weights).map_err(refused)?;
        self.rows.data.product(self.loss(), &curvature, vector).map_err(refused)
    }

    /// Returns the answer of this part, which is `part` of all, to a step: the sum of the clipped gradients
    /// of the units drawn, in integers. It is a function of the weights and these units' rows alone.
    ///
    /// # Errors
    /// Fails if the plan has no network, the weights are not the network's, or rows are missing.
    pub fn clipped(
        &self,
        step: u64,
        part: usize,
        weights: &[f32],
        drawn: &Drawn,
    ) -> Result<PartSum> {
        let (data, width) = (&self.rows.data, self.rows.data.x().cols());
        let Some((network, plan)) = &self.network else {
            return Err(Error::input(Code::Data, "no network is trained on these rows"));
        };
        let mut units = drawn.checked(data.rows())?;
        let mut rows = Vec::with_capacity(drawn.rows.len() * width);
        let mut labels = Vec::with_capacity(drawn.rows.len());
        for &row in &drawn.rows {
            append(data.x().row(row as usize), width, &mut rows);
            labels.push(data.y()[row as usize] as u32);
        }
        let given = Data { rows: &rows, labels: &labels, units: units.as_deref() };
        let sums = clipped_sums(network, plan, &given, weights);
        rows.zeroize();
        labels.zeroize();
        units.zeroize();
        Ok(PartSum { step, part, units: drawn.units(), sums: sums.map_err(refused)? })
    }
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::input(Code::Data, error.to_string())
}
