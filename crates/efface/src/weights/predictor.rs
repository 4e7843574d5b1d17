//! Applies a published model: margins of rows, and what follows from them.

use efface_learn::{Decisions, Loss, Model};
use efface_matrix::{Matrix, Row};
use efface_net::{Network, Shape};

use crate::error::{Code, Error, Result};
use crate::plan::{Plan, SampledPlan, ShardedPlan, described, of_shards};

/// The model of a plan with its weights.
pub(crate) enum Predictor {
    /// Margins are products of rows with weights.
    Linear(Model),
    /// Margins are the outputs of a network, or of one for each shard.
    Network(Loss, Layers),
}

impl Predictor {
    /// Builds the model from published weights.
    ///
    /// # Errors
    /// Fails if the weights are not the plan's.
    pub(crate) fn of(plan: &Plan, weights: &[f64]) -> Result<Self> {
        let loss = plan.loss()?;
        if let Some(sampled) = plan.sampled() {
            return Layers::of(sampled, weights).map(|layers| Self::Network(loss, layers));
        }
        if let Some(sharded) = plan.sharded() {
            return Layers::of_shards(sharded, weights).map(|layers| Self::Network(loss, layers));
        }
        Model::several(loss, plan.task.targets(), plan.columns(), weights.to_vec())
            .map(Self::Linear)
            .map_err(|error| Error::storage(Code::Damaged, error.to_string()))
    }

    /// Returns the loss of the model.
    pub(crate) fn loss(&self) -> Loss {
        match self {
            Self::Linear(model) => model.loss(),
            Self::Network(loss, _) => *loss,
        }
    }

    /// Returns the margins of these rows, given as a vault stores them.
    pub(crate) fn decide(&self, x: &Matrix) -> Result<Decisions> {
        match self {
            Self::Linear(model) => model.decide(x).map_err(failed),
            Self::Network(loss, layers) => Decisions::of(*loss, layers.outputs(x)?).map_err(failed),
        }
    }
}

/// Returns the logarithm of the sum of the exponentials of logits, which log-probabilities subtract.
fn log_sum(logits: &[f32]) -> f64 {
    let largest = logits.iter().fold(f64::NEG_INFINITY, |most, &z| most.max(f64::from(z)));
    largest + logits.iter().map(|&z| (f64::from(z) - largest).exp()).sum::<f64>().ln()
}

/// A network with its weights, or one for each shard, whose mean log-probabilities are the outputs.
pub(crate) struct Layers {
    network: Network,
    /// Weights of one network after another.
    weights: Vec<f32>,
    in_shards: bool,
    /// Number of values of a row.
    width: usize,
}

/// Number of rows made dense at a time.
const BATCH: usize = 4096;

impl Layers {
    pub(crate) fn of(sampled: &SampledPlan, weights: &[f64]) -> Result<Self> {
        Self::with(sampled.network()?, None, weights)
    }

    fn of_shards(sharded: &ShardedPlan, weights: &[f64]) -> Result<Self> {
        Self::with(sharded.network()?, Some(sharded.shards as usize), weights)
    }

    fn with(network: Network, shards: Option<usize>, weights: &[f64]) -> Result<Self> {
        let (each, count) = (network.parameters(), shards.unwrap_or(1));
        if each.checked_mul(count) != Some(weights.len()) {
            let message = match shards {
                None => format!("a network of {each} weights has {}", weights.len()),
                Some(_) => format!("{count} networks of {each} weights have {}", weights.len()),
            };
            return Err(Error::input(Code::Weights, message));
        }
        // They were 32-bit floats when they were released.
        let weights = weights.iter().map(|weight| *weight as f32).collect();
        let Shape { channels, height, width } = network.input();
        Ok(Self { network, weights, in_shards: shards.is_some(), width: channels * height * width })
    }

    /// Reads a text with layers, the shape of rows and, if there are several, the number of networks.
    pub(crate) fn described(text: &str, outputs: usize, weights: &[f64]) -> Result<Self> {
        let (text, shards) = of_shards(text);
        Self::with(described(text, outputs)?, shards, weights)
    }

    /// Returns the outputs of each row, one block per row.
    fn outputs(&self, x: &Matrix) -> Result<Vec<f64>> {
        let width = self.width;
        if x.cols() != width {
            return Err(failed(format!(
                "rows have {} values, but the network takes {width}",
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

    /// Like [`outputs`](Self::outputs), for rows stored one after another.
    pub(crate) fn margins(&self, rows: &[f32]) -> Result<Vec<f64>> {
        let count = rows.len() / self.width.max(1);
        let outputs = self.network.outputs();
        let mut out = vec![0.0; count * outputs];
        if !self.in_shards {
            self.network.logits(&self.weights, rows, &mut out).map_err(failed)?;
            return Ok(out.into_iter().map(f64::from).collect());
        }
        let mut means = vec![0.0; count * outputs];
        let networks = self.weights.chunks_exact(self.network.parameters());
        let share = 1.0 / networks.len() as f64;
        for weights in networks {
            self.network.logits(weights, rows, &mut out).map_err(failed)?;
            for (means, logits) in means.chunks_mut(outputs).zip(out.chunks(outputs)) {
                let total = log_sum(logits);
                let each = means.iter_mut().zip(logits);
                each.for_each(|(mean, &logit)| *mean += share * (f64::from(logit) - total));
            }
        }
        Ok(means)
    }

    /// Returns the number of values of a row.
    pub(crate) fn input_size(&self) -> usize {
        self.width
    }
}

/// Appends a row of `width` values, its zeros included.
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
