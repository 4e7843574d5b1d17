//! A published model at work: margins of rows, and what follows from them.

use efface_learn::{Decisions, Loss, Model};
use efface_matrix::{Matrix, Row};
use efface_net::{Network, Shape};

use crate::error::{Code, Error, Result};
use crate::plan::{Plan, SampledPlan, described};

/// The model of a plan, with its weights.
pub(crate) enum Predictor {
    /// Margins are products with weights.
    Linear(Model),
    /// Margins are the outputs of a network.
    Network(Loss, Layers),
}

impl Predictor {
    /// Of published weights.
    ///
    /// # Errors
    /// Weights that are not the plan's.
    pub(crate) fn of(plan: &Plan, weights: &[f64]) -> Result<Self> {
        let loss = plan.loss()?;
        if let Some(sampled) = plan.sampled() {
            return Layers::of(sampled, weights).map(|layers| Self::Network(loss, layers));
        }
        Model::several(loss, plan.task.targets(), plan.columns(), weights.to_vec())
            .map(Self::Linear)
            .map_err(|error| Error::storage(Code::Damaged, error.to_string()))
    }

    /// The loss.
    pub(crate) fn loss(&self) -> Loss {
        match self {
            Self::Linear(model) => model.loss(),
            Self::Network(loss, _) => *loss,
        }
    }

    /// The margins of these rows, as a vault stores them.
    pub(crate) fn decide(&self, x: &Matrix) -> Result<Decisions> {
        match self {
            Self::Linear(model) => model.decide(x).map_err(failed),
            Self::Network(loss, layers) => Decisions::of(*loss, layers.outputs(x)?).map_err(failed),
        }
    }
}

/// A network with its weights.
pub(crate) struct Layers {
    network: Network,
    weights: Vec<f32>,
    /// Numbers of a row.
    width: usize,
}

/// Rows that are dense at a time.
const BATCH: usize = 4096;

impl Layers {
    pub(crate) fn of(sampled: &SampledPlan, weights: &[f64]) -> Result<Self> {
        Self::with(sampled.network()?, weights)
    }

    fn with(network: Network, weights: &[f64]) -> Result<Self> {
        if weights.len() != network.parameters() {
            let message =
                format!("a network of {} weights has {}", network.parameters(), weights.len());
            return Err(Error::input(Code::Weights, message));
        }
        // They were 32-bit floats when they were released.
        let weights = weights.iter().map(|weight| *weight as f32).collect();
        let Shape { channels, height, width } = network.input();
        Ok(Self { network, weights, width: channels * height * width })
    }

    /// Of a text with layers and the shape of rows.
    pub(crate) fn described(text: &str, outputs: usize, weights: &[f64]) -> Result<Self> {
        Self::with(described(text, outputs)?, weights)
    }

    /// The outputs of each row, a block of them for each.
    fn outputs(&self, x: &Matrix) -> Result<Vec<f64>> {
        let width = self.width;
        if x.cols() != width {
            return Err(failed(format!(
                "rows have {} numbers, the network takes {width}",
                x.cols()
            )));
        }
        let mut all = Vec::with_capacity(x.rows() * self.network.outputs());
        let mut rows = Vec::new();
        for begin in (0..x.rows()).step_by(BATCH) {
            rows.clear();
            (begin..x.rows().min(begin + BATCH))
                .for_each(|row| append(x.row(row), width, &mut rows));
            all.extend(self.margins(&rows)?);
        }
        Ok(all)
    }

    /// As [`outputs`](Self::outputs), of rows one behind another.
    pub(crate) fn margins(&self, rows: &[f32]) -> Result<Vec<f64>> {
        let count = rows.len() / self.width.max(1);
        let mut out = vec![0.0; count * self.network.outputs()];
        self.network.logits(&self.weights, rows, &mut out).map_err(failed)?;
        Ok(out.into_iter().map(f64::from).collect())
    }

    /// Numbers of a row.
    pub(crate) fn input_size(&self) -> usize {
        self.width
    }
}

/// Appends a row of so many numbers, its zeros included.
pub(crate) fn append(row: Row<'_>, width: usize, rows: &mut Vec<f32>) {
    match row {
        Row::Dense(values) => rows.extend_from_slice(values),
        Row::Sparse { indices, values } => {
            let begin = rows.len();
            rows.resize(begin + width, 0.0);
            for (index, value) in indices.iter().zip(values) {
                rows[begin + *index as usize] = *value;
            }
        }
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::refused(Code::Predict, error.to_string())
}
