//! The plan of a model with fitted preprocessing, made again for the records of a request.

use std::collections::HashMap;

use efface_formats::Fitted;

use crate::error::Result;
use crate::plan::{DataSummary, Fitting, Plan, SampleWeights, ValidatedSettings};
use crate::rows::RawRecords;

impl Plan {
    /// The plan of the same settings for these records: their statistics are computed from nothing, and
    /// every constant that follows from their number.
    ///
    /// # Errors
    /// Records that no model can be trained on, such as those of one class.
    pub(crate) fn refitted(&self, rows: &RawRecords) -> Result<Self> {
        let Some(fitting) = &self.fitting else { return Ok(self.clone()) };
        let found = Fitted::fit(&rows.rows, &fitting.rules)?;
        let sum = rows.weights.as_ref().map_or(0.0, |weights| weights.iter().sum());
        self.with_fitted(found, sum)
    }

    /// The same for the records that statistics were fitted to, whose weights have this sum.
    ///
    /// # Errors
    /// As [`refitted`](Self::refitted).
    pub(crate) fn with_fitted(&self, found: Fitted, sum: f64) -> Result<Self> {
        let classes = found.classes().to_vec();
        self.resolved_again(found.records(), classes, sum)?.attach(found)
    }

    /// The public part of that plan, for so many records of these classes and with weights of this sum.
    pub(crate) fn resolved_again(
        &self,
        records: u64,
        classes: Vec<String>,
        sum: f64,
    ) -> Result<Self> {
        let Some(fitting) = &self.fitting else { return Ok(self.clone()) };
        let choices = ValidatedSettings::again(fitting, self.face.clone())?;
        let weights = self.max_weight.map(|most| SampleWeights { largest: most.0, sum });
        let fitting = Fitting { records, found: None, ..fitting.clone() };
        let facts = DataSummary {
            ids: self.ids,
            subjects: self.subjects,
            weights,
            ..DataSummary::of_fitting(fitting, classes)
        };
        Self::resolve(&choices, &facts)
    }

    /// Published weights of the plan before, as weights of this one to start from: those of columns and
    /// classes that both have, in the units of this plan's columns. Where they start changes no claim.
    pub(crate) fn carried(&self, before: &Self, weights: &[f64]) -> Result<Vec<f64>> {
        let (Some(now), Some(then)) = (self.statistics()?, before.statistics()?) else {
            return Ok(weights.to_vec());
        };
        let (columns, earlier) = (self.columns(), before.columns());
        let outputs = self.parameters() / columns.max(1);
        let mut carried = vec![0.0; self.parameters()];
        if outputs != weights.len() / earlier.max(1) || now.classes() != then.classes() {
            return Ok(carried);
        }
        let places = places(now, then);
        for (output, block) in carried.chunks_exact_mut(columns).enumerate() {
            let from = &weights[output * earlier..][..earlier];
            for (weight, place) in block.iter_mut().zip(&places) {
                *weight = place.map_or(0.0, |at| from[at]);
            }
            if self.rows.intercept.0 != 0.0 {
                let ratio = before.rows.intercept.0 / self.rows.intercept.0;
                block[columns - 1] = from[earlier - 1] * ratio;
            }
        }
        Ok(carried)
    }

    /// Whether encoded rows have the columns, and the classes, that those of an earlier plan had.
    pub(crate) fn has_columns_of(&self, before: &Self) -> Result<bool> {
        let (Some(now), Some(then)) = (self.statistics()?, before.statistics()?) else {
            return Ok(true);
        };
        let in_place = places(now, then).iter().enumerate().all(|(at, place)| *place == Some(at));
        let alike = now.classes() == then.classes() && self.parameters() == before.parameters();
        Ok(in_place && alike)
    }
}

/// The earlier place of each column of an encoded row.
fn places(now: &Fitted, then: &Fitted) -> Vec<Option<usize>> {
    let (now, then) = (now.feature_names(), then.feature_names());
    let earlier: HashMap<_, _> =
        (0..then.len()).filter_map(|at| then.name(at).map(|name| (name, at))).collect();
    let place = |at| now.name(at).and_then(|name| earlier.get(&name).copied());
    (0..now.len()).map(place).collect()
}
