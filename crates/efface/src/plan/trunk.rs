//! The network whose hidden features a model is learnt from, as the model's own vault keeps it.

use std::sync::Arc;

use efface_formats::{FeatureMap, RowFeatures};
use efface_net::Network;
use efface_privacy::certificate::{Assumption, Evidence};
use efface_privacy::event::{DpSgd, Given, What};
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sampled::layers;
use super::{DataSummary, Plan, SampledPlan, written};
use crate::error::{Code, Error, Result};

/// Most weights of a network whose features can be used: they are part of the plan.
const MOST_WEIGHTS: usize = 1 << 20;

/// A network that was trained in another vault, with the weights that it published there. A public
/// constant of the model from its first training on: no request changes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trunk {
    /// Identifier of the vault that it comes from.
    pub vault: String,
    /// What its digest is salted with, 32 random bytes as hexadecimal digits: without it the digest
    /// confirms no guess of the weights.
    pub salt: String,
    /// The layers, as canonical text.
    pub network: String,
    /// Channels, height and width of a row.
    pub input: [u32; 3],
    /// Classes that it was trained for.
    pub outputs: u32,
    /// Before which of the last layers with weights the features stand: 1 for the last.
    pub layer: u32,
    /// Rows that are longer are shortened to it first, as they were for the network.
    pub norm: Decimal,
    /// k: records deleted together, before and since, that its noise was chosen for.
    pub deletions: u64,
    /// The name of a constant that was computed from the network's records, if one of them could
    /// have changed it: then nothing is claimed that protects a single record.
    #[serde(default, rename = "read_off", skip_serializing_if = "Option::is_none")]
    pub data_derived: Option<String>,
    /// The weights as 32-bit floats, the least significant byte first, as hexadecimal digits.
    pub weights: String,
}

impl Trunk {
    /// The features before a layer of the network of a plan, with the weights published.
    ///
    /// # Errors
    /// A plan without a network, a layer that the network does not have, more weights than a plan may
    /// hold.
    pub(crate) fn of(
        plan: &Plan,
        weights: &[f64],
        vault: &str,
        layer: u32,
        salt: [u8; 32],
    ) -> Result<Self> {
        let Some(sampled) = plan.sampled() else {
            let mechanism = plan.mechanism.name();
            let message = format!("the vault's model is one of `{mechanism}`, and no network");
            return Err(Error::refused(Code::Features, message)
                .hint("train a network first: `§mechanism dp-sgd`"));
        };
        if weights.len() > MOST_WEIGHTS {
            let message = format!(
                "the network has {} weights, at most {MOST_WEIGHTS} can be kept with a model",
                weights.len()
            );
            return Err(Error::refused(Code::Features, message).hint("train a smaller network"));
        }
        let SampledPlan { network, input, outputs, deletions, .. } = sampled;
        let bytes: Vec<u8> =
            weights.iter().flat_map(|weight| (*weight as f32).to_le_bytes()).collect();
        let trunk = Self {
            vault: vault.to_owned(),
            salt: hex::encode(salt),
            network: network.clone(),
            input: *input,
            outputs: *outputs,
            layer,
            norm: plan.rows.norm,
            deletions: *deletions,
            data_derived: plan.data_derived().next().map(|constant| constant.name.clone()),
            weights: hex::encode(bytes),
        };
        trunk.features()?;
        Ok(trunk)
    }

    /// Numbers of a row.
    pub(crate) fn width(&self) -> u64 {
        self.input.iter().fold(1, |all, side| all.saturating_mul((*side).into()))
    }

    /// SHA-256 of all of it, its salt included.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub(crate) fn digest(&self) -> Result<[u8; 32]> {
        Ok(Sha256::digest(self.written()?.as_bytes()).into())
    }

    /// The map of rows to its features, ready to run.
    pub(crate) fn feature_map(&self) -> Result<FeatureMap> {
        FeatureMap::of_network(self.features()?, self.digest()?)
            .map_err(|error| Error::input(Code::Features, error.to_string()))
    }

    /// Writes it as JSON, as exports of the model hold it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn written(&self) -> Result<String> {
        written(self)
    }

    /// Reads what [`written`](Self::written) gave.
    pub(crate) fn read(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|error| {
            let message = format!("the network of the features cannot be read: {error}");
            Error::input(Code::Features, message)
        })
    }

    /// What makes features of rows.
    ///
    /// # Errors
    /// Layers that are none, another number of weights, a layer that the network does not have.
    pub(crate) fn features(&self) -> Result<Arc<dyn RowFeatures>> {
        let wrong = |what: &str| Error::input(Code::Features, what.to_owned());
        let network = layers(&self.network, self.input, self.outputs)?;
        let bytes = hex::decode(&self.weights).map_err(|_| wrong("its weights are no digits"))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || numbers.len() != network.parameters() {
            return Err(wrong("the network of the features has another number of weights"));
        }
        let weights: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if weights.iter().any(|weight| !weight.is_finite()) {
            return Err(wrong("the network of the features has a weight that is not finite"));
        }
        let layer = self.layer as usize;
        let Some(width) = network.hidden(layer) else {
            let message = format!(
                "the network `{}` has no hidden features before layer {layer} from the last",
                self.network
            );
            return Err(wrong(&message)
                .hint("leave out `layer`, or count the layers with weights from the last, 1"));
        };
        let (inputs, norm) = (self.width() as usize, self.norm.0);
        Ok(Arc::new(Hidden { network, weights, layer, width, inputs, norm }))
    }
}

/// A network with its weights, up to a layer.
struct Hidden {
    network: Network,
    weights: Vec<f32>,
    layer: usize,
    /// Features of a row.
    width: usize,
    /// Numbers of a row.
    inputs: usize,
    /// The longest row.
    norm: f64,
}

impl RowFeatures for Hidden {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn width(&self) -> usize {
        self.width
    }

    fn norm(&self) -> f64 {
        self.norm
    }

    /// Rows and features have the lengths that the network has, so that nothing is refused.
    fn apply(&self, rows: &[f32], features: &mut [f32]) {
        if self.network.features(self.layer, &self.weights, rows, features).is_err() {
            features.fill(f32::NAN);
        }
    }
}

/// An extractor of which nothing is said yet.
pub(crate) const EXTRACTOR: Given = Given {
    what: What::Extractor,
    epsilon: None,
    delta: None,
    mu: None,
    group: 1,
    training: None,
    declared: None,
};

/// A network as it is taken from its vault, with what its own plan and certificate say of it.
#[derive(Debug, Clone)]
pub(crate) struct TakenTrunk {
    pub(crate) trunk: Trunk,
    /// Its training as its latest certificate states it, with the records deleted so far.
    pub(crate) training: DpSgd,
    /// The plan that it was trained by.
    pub(crate) plan: Plan,
}

impl TakenTrunk {
    /// The map of rows to its features.
    pub(crate) fn feature_map(&self) -> Result<FeatureMap> {
        self.trunk.feature_map()
    }

    /// What claims are composed with.
    pub(crate) fn given(&self) -> Given {
        Given { training: Some(Box::new(self.training.clone())), ..EXTRACTOR }
    }

    /// What is assumed of the network that is not in a list already.
    pub(crate) fn assumed_beside(&self, list: &[Assumption]) -> Vec<Assumption> {
        let new = |assumption: &&Assumption| {
            assumption.evidence == Evidence::Assumed
                && list.iter().all(|stated| stated.name != assumption.name)
        };
        let of_network = |assumption: &Assumption| Assumption {
            value: format!("of the network: {}", assumption.value),
            ..assumption.clone()
        };
        self.plan.assumptions.iter().filter(new).map(of_network).collect()
    }

    /// Refuses rows that are not read as those of the network were.
    pub(crate) fn fits(&self, facts: &DataSummary) -> Result<()> {
        if facts.parts.is_some() {
            let message = "features of a network need rows, and partitions return only sums";
            return Err(Error::refused(Code::InParts, message).hint("train on the rows themselves"));
        }
        if facts.schema != self.plan.rows.schema {
            let message = "the rows are read by another schema than those that the network was \
                           trained on";
            return Err(Error::refused(Code::Features, message).hint(
                "give the same `§schema` as for the network, on a table with the same columns",
            ));
        }
        Ok(())
    }
}
