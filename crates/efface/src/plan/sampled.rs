//! The public constants of a network that is trained on sampled batches.

use efface_formats::ImageShape;
use efface_net::{CheckedDpSgd, DpSgdPlan, NetError, Network, NetworkError, Optimizer, Shape};
use efface_privacy::event::Unit;
use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};

/// Network and schedule of `dp-sgd`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledPlan {
    /// The layers, as canonical text.
    pub network: String,
    /// Channels, height and width of a row; the number of features, 1 and 1 if it is no image.
    pub input: [u32; 3],
    /// Numbers that it gives for a row: one for each class.
    pub outputs: u32,
    /// Public seed of the weights that training starts from.
    pub start: u64,
    /// What is drawn, clipped and counted as one.
    pub unit: Unit,
    /// Number of weights.
    pub weights: u64,
    /// T: steps of a training.
    pub steps: u64,
    /// q: probability with which a unit takes part in a step.
    pub rate: Decimal,
    /// sigma: standard deviation of the noise on a sum of gradients, in multiples of the clip.
    pub noise: Decimal,
    /// C: bound on the norm of one unit's gradient.
    pub clip: Decimal,
    /// What sums are divided by, whatever was drawn.
    pub batch: Decimal,
    /// Size of a step.
    pub eta: Decimal,
    /// How weights follow the noisy sums.
    pub optimizer: Following,
    /// Share of the average weights that a step keeps, in [0, 1): their average is released.
    pub average: Decimal,
    /// Units that may be deleted before the model is trained anew.
    pub deletions: u64,
    /// S: units that differential privacy protects together.
    pub group: u64,
}

/// How weights follow noisy sums of gradients, which see nothing else of the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Following {
    /// Steps along the sum and a share of the last step.
    Sgd {
        /// Share of the last step that a step repeats, in [0, 1).
        momentum: Decimal,
    },
    /// Kingma and Ba (2015), Algorithm 1.
    Adam {
        /// Decay of the mean of sums, in [0, 1).
        beta1: Decimal,
        /// Decay of the mean of their squares, in [0, 1).
        beta2: Decimal,
        /// Added to the root of that, in (0, 1].
        epsilon: Decimal,
    },
}

impl Following {
    /// Adam with the constants that its paper proposes.
    pub(crate) fn adam() -> Self {
        Self::Adam { beta1: Decimal(0.9), beta2: Decimal(0.999), epsilon: Decimal(1e-8) }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sgd { .. } => "sgd",
            Self::Adam { .. } => "adam",
        }
    }

    /// Its constants by the names certificates list them under.
    pub(crate) fn constants(&self) -> Vec<(&'static str, Decimal)> {
        match *self {
            Self::Sgd { momentum } => vec![("momentum", momentum)],
            Self::Adam { beta1, beta2, epsilon } => {
                vec![("beta1", beta1), ("beta2", beta2), ("adam-epsilon", epsilon)]
            }
        }
    }

    fn learner(&self) -> Optimizer {
        match *self {
            Self::Sgd { momentum } => Optimizer::Sgd { momentum: momentum.0 },
            Self::Adam { beta1, beta2, epsilon } => {
                Optimizer::Adam { beta1: beta1.0, beta2: beta2.0, epsilon: epsilon.0 }
            }
        }
    }
}

impl SampledPlan {
    /// The network.
    ///
    /// # Errors
    /// Layers that are none, or that do not fit its rows, or another number of weights.
    pub fn network(&self) -> Result<Network> {
        of_weights(layers(&self.network, self.input, self.outputs)?, self.weights)
    }

    /// Numbers of a row.
    pub(crate) fn width(&self) -> usize {
        self.input.iter().map(|side| *side as usize).product()
    }

    /// Layers and the shape of a row in one text, as exports state it.
    pub(crate) fn description(&self) -> String {
        let [channels, height, width] = self.input;
        format!("{},image={channels}x{height}x{width}", self.network)
    }

    /// The learner's plan.
    ///
    /// # Errors
    /// Numbers out of range.
    pub(crate) fn checked(&self, network: &Network) -> Result<CheckedDpSgd> {
        let plan = DpSgdPlan {
            steps: self.steps,
            rate: self.rate.0,
            noise: self.noise.0,
            clip: self.clip.0,
            learning_rate: self.eta.0,
            expected: self.batch.0,
            optimizer: self.optimizer.learner(),
            average: (self.average.0 > 0.0).then_some(self.average.0),
        };
        plan.check(network).map_err(out_of_range)
    }
}

/// Refuses a network with another number of weights than its plan says.
pub(super) fn of_weights(network: Network, weights: u64) -> Result<Network> {
    if network.parameters() as u64 == weights {
        return Ok(network);
    }
    let has = network.parameters();
    let message = format!("the network has {has} weights, but its plan says {weights}");
    Err(Error::storage(Code::Damaged, message))
}

/// The refusal of numbers that no training takes.
pub(super) fn out_of_range(error: NetError) -> Error {
    match error {
        NetError::Range { name: "learning-rate", rule, got } => {
            Error::input(Code::Range, format!("`§eta` must be {rule}, got {}", Decimal(got)))
        }
        other => Error::refused(Code::Network, other.to_string()),
    }
}

/// The network of a text with its layers and the shape of its rows.
pub(crate) fn described(text: &str, outputs: usize) -> Result<Network> {
    let asked = Layers::read(text)?;
    let input = asked.image.ok_or_else(|| {
        Error::input(
            Code::Network,
            format!("a network must say the shape of its rows, got `{text}`"),
        )
    })?;
    layers(&asked.layers, input, u32::try_from(outputs).unwrap_or(u32::MAX))
}

/// The network of these layers on rows of that shape.
pub(crate) fn layers(text: &str, input: [u32; 3], outputs: u32) -> Result<Network> {
    let [channels, height, width] = input.map(|side| side as usize);
    let shape = Shape { channels, height, width };
    Network::parse(text, shape, outputs as usize).map_err(|error| {
        let refused = Error::input(Code::Network, error.to_string());
        match error {
            NetworkError::Window(_) if (height, width) == (1, 1) => refused.hint(
                "say that rows are images, channels first: `image=28x28` or `image=3x32x32` among \
                 the layers",
            ),
            _ => refused,
        }
    })
}

/// Layers as a user writes them, and what stands among them that is no layer.
pub(crate) struct Layers {
    pub(crate) layers: String,
    image: Option<[u32; 3]>,
    /// Public seed of the weights that training starts from.
    pub(crate) start: u64,
}

impl Layers {
    pub(crate) fn read(text: &str) -> Result<Self> {
        let wrong = |rule: &str, got: &str| {
            let message = format!("{rule} in `§network`, got `{got}`");
            Error::input(Code::Network, message)
        };
        let (mut layers, mut image, mut start) = (Vec::new(), None, None);
        for part in text.split(',').map(str::trim) {
            if let Some(sides) = part.strip_prefix("image=") {
                let rule = "`image` must be HEIGHTxWIDTH or CHANNELSxHEIGHTxWIDTH, once,";
                let sides: Option<Vec<u32>> =
                    sides.split('x').map(|side| side.parse().ok().filter(|s| *s > 0)).collect();
                let found = match sides.as_deref() {
                    Some(&[height, width]) => [1, height, width],
                    Some(&[channels, height, width]) => [channels, height, width],
                    _ => return Err(wrong(rule, part)),
                };
                if image.replace(found).is_some() {
                    return Err(wrong(rule, part));
                }
            } else if let Some(seed) = part.strip_prefix("seed=") {
                let rule = "`seed` must be a whole number below 2^64, once,";
                let seed: u64 = seed.parse().map_err(|_| wrong(rule, part))?;
                if start.replace(seed).is_some() {
                    return Err(wrong(rule, part));
                }
            } else {
                layers.push(part);
            }
        }
        Ok(Self { layers: layers.join(","), image, start: start.unwrap_or(0) })
    }

    /// Channels, height and width of rows with so many features; `found` is what the table says.
    pub(crate) fn input(&self, features: u64, found: Option<ImageShape>) -> Result<[u32; 3]> {
        let flat = u32::try_from(features).map_err(|_| {
            Error::refused(Code::Network, format!("rows have {features} features, too many"))
        })?;
        let of_table = found.map(|image| [image.channels, image.height, image.width]);
        if let (Some([channels, height, width]), Some(found)) = (self.image, found)
            && self.image != of_table
        {
            let told = ImageShape { channels, height, width };
            let message = format!(
                "`image` among the layers is {told}, and the images of the table are {found}"
            );
            return Err(Error::input(Code::Network, message).hint("leave `image` out"));
        }
        let input = self.image.or(of_table).unwrap_or([flat, 1, 1]);
        let numbers = input.iter().try_fold(1_u64, |all, side| all.checked_mul((*side).into()));
        if numbers == Some(features) {
            return Ok(input);
        }
        let [channels, height, width] = input;
        let message = format!(
            "images of {channels}x{height}x{width} are not the {features} features of a row"
        );
        Err(Error::input(Code::Network, message).hint(
            "give the shape of the images, as in `§network conv:16x8/2,pool,dense:32,image=28x28`",
        ))
    }
}
