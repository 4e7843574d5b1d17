//! Settings as a user writes them, before any check.

use efface_learn::loss::{LossName, Task};
use serde::{Deserialize, Serialize};

/// What `efface train` is asked for. `None` means "the default", which the plan names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// A name of `LossName::ALL`; `logistic` where none is given.
    pub loss: Option<String>,
    /// `solve`, `retrain`, `noisy-gd`, `descent-to-delete`, `ridge`, `distributed-descent` or
    /// `objective-perturbation`.
    pub mechanism: Option<String>,
    /// lambda, the strength of the regularisation.
    pub lambda: Option<f64>,
    /// r, the bound on the norm of a row.
    pub row_norm: Option<f64>,
    /// `clip`, `unit` or `refuse`.
    pub row_map: Option<String>,
    /// The constant appended to each row; 0 for none.
    pub intercept: Option<f64>,
    /// `fixed` or `mean`.
    pub normalizer: Option<String>,
    /// N, as public knowledge: the number of records, or with weights and `fixed` their sum.
    pub public_n: Option<u64>,
    /// Maximum number of records.
    pub capacity: Option<u64>,
    /// The largest weight a record may ever have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_weight: Option<f64>,
    /// The fewest records, as public knowledge, under the `mean` normaliser.
    pub minimum: Option<u64>,
    /// epsilon wanted.
    pub epsilon: Option<f64>,
    /// delta wanted.
    pub delta: Option<f64>,
    /// The notion that (epsilon, delta) is wanted for.
    pub notion: Option<String>,
    /// Whose bound must meet (epsilon, delta): `gdp`, or a published accountant by name.
    pub accountant: Option<String>,
    /// Rényi order, for the Rényi notions.
    pub order: Option<f64>,
    /// Releases a requester may have seen, for p-adaptive deletion-privacy.
    pub interactions: Option<u64>,
    /// `perfect` or `secret`.
    pub state: Option<String>,
    /// Releases to be covered jointly.
    pub releases: Option<u64>,
    /// The most records of one subject that DP and deletion-privacy protect together.
    pub max_group: Option<u64>,
    /// sigma: of each weight (`solve`, `retrain`), or of the diffusion (`noisy-gd`).
    pub noise: Option<f64>,
    /// The excess risk that noise may cost.
    pub excess_risk: Option<f64>,
    /// Step size of `noisy-gd` and `descent-to-delete`.
    pub eta: Option<f64>,
    /// R: radius of the ball that `noisy-gd` projects every iterate to.
    pub radius: Option<f64>,
    /// Steps of learning of `noisy-gd` and `descent-to-delete`.
    pub steps: Option<u64>,
    /// Steps per request of `noisy-gd`.
    pub removal_steps: Option<u64>,
    /// `secret`, `perfect`, `regularised` or `weak`, for `descent-to-delete`.
    pub variant: Option<String>,
    /// xi of `weak`; of `distributed-descent`: its sample has n^xi positions.
    pub xi: Option<f64>,
    /// I: steps of one update of `descent-to-delete`; iterations per update of
    /// `distributed-descent` under the published `descent` accountant.
    pub iterations: Option<u64>,
    /// D: diameter of the ball `descent-to-delete` stays in.
    pub diameter: Option<f64>,
    /// C: independent copies of `distributed-descent`.
    pub copies: Option<u64>,
    /// h: where the residual of `squared` is clipped, in units of the half range of y; infinite
    /// (in JSON the text `inf`) for nowhere.
    #[serde(with = "unbounded")]
    pub clip: Option<f64>,
    /// h: width of the smooth part of `huber-hinge`.
    pub hinge_width: Option<f64>,
    /// Declared range of y, for regression.
    pub target_range: Option<(f64, f64)>,
    /// The range was read off the data, and is taken to be public: an assumption that certificates
    /// list.
    pub target_range_from_data: bool,
    /// `newton`, `newton-cg`, `lbfgs` or `gradient-descent`.
    pub solver: Option<String>,
    /// Weights to start from: the bytes of an NPZ or NPY file.
    #[serde(skip)]
    pub start: Option<Vec<u8>>,
    /// The start was made without the private data.
    pub start_public: bool,
    /// How private the start is, in the remove sense.
    pub start_privacy: Option<Privacy>,
    /// How private the feature extractor is that made the table, in the remove sense.
    pub extractor_privacy: Option<Privacy>,
    /// What else certificates must say they do not cover, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
    /// What a face of the engine wants back with the model, in its own words: how it spells classes,
    /// and what it was called with. No certificate says anything of it; it must hold nothing that
    /// is not public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<String>,
    /// A seed: for tests; marks everything `not for release`.
    pub seed: Option<u64>,
}

impl Settings {
    /// Whether the loss named here learns a number; false where the name is unknown, which the plan
    /// refuses.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        let name = self.loss.as_deref().and_then(|name| LossName::named(name).ok());
        name.is_some_and(|name| name.task() == Task::Regression)
    }
}

/// How private something given is declared to be: (epsilon, delta), or mu, for a group of records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Privacy {
    /// epsilon of what was given, at least 0.
    pub epsilon: Option<f64>,
    /// delta of what was given, below 1.
    pub delta: Option<f64>,
    /// The mu of Gaussian DP, instead of both.
    pub mu: Option<f64>,
    /// Records that the figures protect together.
    pub group: u64,
}

/// Numbers that may be infinite, which JSON has no number for.
mod unbounded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }

    pub(super) fn serialize<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(number) if *number == f64::INFINITY => "inf".serialize(to),
            other => other.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        match Option::<Written>::deserialize(from)? {
            None => Ok(None),
            Some(Written::Number(number)) => Ok(Some(number)),
            Some(Written::Word(word)) if word == "inf" => Ok(Some(f64::INFINITY)),
            Some(Written::Word(_)) => Err(D::Error::custom("expected a number or `inf`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_json_also_without_a_clip() {
        for clip in [None, Some(0.5), Some(f64::INFINITY)] {
            let settings = Settings { clip, target_range: Some((0.0, 1.0)), ..Settings::default() };
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings, "{text}");
        }
        assert!(serde_json::from_str::<Settings>(r#"{"clip": "wide"}"#).is_err());
        assert!(serde_json::from_str::<Settings>(r#"{"clop": 1}"#).is_err());
    }
}
