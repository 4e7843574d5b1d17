//! A training by DP-SGD that was made elsewhere, as the user of its features states it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::quantity::Decimal;

/// The training of an extractor outside this engine: steps of DP-SGD on records, each drawn independently.
///
/// Its text is `noise=1.1,rate=0.01,steps=1000`, phases one after the other between semicolons; the
/// last may add `clip=1` and `deleted=3`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredTraining {
    /// Phases, oldest first, all on the same records or some of them.
    pub phases: Vec<DeclaredSteps>,
    /// C: the most that a record's gradient moved the sum of a step, as a Euclidean norm, if that is stated.
    /// No bound depends on it: noise is in multiples of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Decimal>,
    /// Records that the training may have seen and that were deleted before its features were used.
    pub deleted: u64,
}

/// Steps of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredSteps {
    /// sigma: standard deviation of the noise on each weight of a step's sum, in multiples of C.
    pub noise: Decimal,
    /// q: probability with which a record was in the batch of a step, independently of other records and
    /// steps.
    pub rate: Decimal,
    /// Number of steps.
    pub steps: u64,
}

impl DeclaredTraining {
    /// The most phases: each costs a transform.
    pub const MOST_PHASES: usize = 64;

    /// Steps of all phases together.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.phases.iter().fold(0, |sum, phase| sum.saturating_add(phase.steps))
    }

    /// Returns the phases alone, as certificates list them.
    #[must_use]
    pub fn listed(&self) -> String {
        let phases: Vec<String> = self.phases.iter().map(DeclaredSteps::to_string).collect();
        phases.join(";")
    }
}

impl fmt::Display for DeclaredSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "noise={},rate={},steps={}", self.noise, self.rate, self.steps)
    }
}

impl fmt::Display for DeclaredTraining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.listed())?;
        if let Some(clip) = self.clip {
            write!(f, ",clip={clip}")?;
        }
        match self.deleted {
            0 => Ok(()),
            deleted => write!(f, ",deleted={deleted}"),
        }
    }
}

impl FromStr for DeclaredTraining {
    type Err = String;

    /// Reads its text; whether its numbers can be accounted for is checked elsewhere.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(';').take(Self::MOST_PHASES + 1).collect();
        if parts.len() > Self::MOST_PHASES {
            return Err(format!("must have at most {} phases", Self::MOST_PHASES));
        }
        let (mut clip, mut deleted, mut phases) = (None, None, Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let (mut noise, mut rate, mut steps) = (None, None, None);
            for pair in part.split(',') {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                let last = index + 1 == parts.len();
                let fresh = match name.trim() {
                    "noise" => noise.replace(number(value)?).is_none(),
                    "rate" => rate.replace(number(value)?).is_none(),
                    "steps" => steps.replace(count(value)?).is_none(),
                    "clip" if last => clip.replace(number(value)?).is_none(),
                    "deleted" if last => deleted.replace(count(value)?).is_none(),
                    "clip" | "deleted" => {
                        return Err(format!("must have `{}` after the last phase", name.trim()));
                    }
                    other => {
                        let shown: String = other.chars().take(40).collect();
                        return Err(format!(
                            "must be made of `noise`, `rate`, `steps`, `clip` and `deleted`, got \
                             `{shown}`"
                        ));
                    }
                };
                if !fresh {
                    return Err(format!("must have `{}` once in each phase", name.trim()));
                }
            }
            let (Some(noise), Some(rate), Some(steps)) = (noise, rate, steps) else {
                return Err("must have `noise`, `rate` and `steps` in each phase".to_owned());
            };
            phases.push(DeclaredSteps { noise, rate, steps });
        }
        Ok(Self { phases, clip, deleted: deleted.unwrap_or(0) })
    }
}

fn number(text: &str) -> Result<Decimal, String> {
    let text = text.trim();
    let number = text.parse().ok().filter(|number: &Decimal| number.0.is_finite());
    number.ok_or_else(|| unread("a finite number", text))
}

fn count(text: &str) -> Result<u64, String> {
    let text = text.trim();
    text.parse().map_err(|_| unread("a whole number", text))
}

fn unread(what: &str, text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    format!("must have {what} behind each `=`, got `{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_back() {
        for text in [
            "noise=1.1,rate=0.01,steps=1000",
            "noise=1.1,rate=0.01,steps=1000;noise=0.9,rate=1,steps=3,clip=0.5,deleted=7",
        ] {
            assert_eq!(text.parse::<DeclaredTraining>().unwrap().to_string(), text);
        }
        let loose: DeclaredTraining = " steps = 5 , rate=1e-1,noise=2.0 ".parse().unwrap();
        assert_eq!(loose.to_string(), "noise=2,rate=0.1,steps=5");
        assert_eq!((loose.steps(), loose.deleted, loose.clip), (5, 0, None));
    }

    #[test]
    fn a_text_that_is_none_is_refused_in_words() {
        for (text, part) in [
            ("", "made of"),
            ("noise=1,rate=0.1", "`noise`, `rate` and `steps`"),
            ("noise=1,rate=0.1,steps=1;", "made of"),
            ("noise=1,rate=0.1,steps=1.5", "a whole number"),
            ("noise=1,rate=0.1,steps=-1", "a whole number"),
            ("noise=inf,rate=0.1,steps=1", "a finite number"),
            ("noise=x,rate=0.1,steps=1", "got `x`"),
            ("noise=1,noise=9,rate=0.1,steps=1", "`noise` once"),
            ("noise=1,rate=0.1,steps=1,clip=1,clip=2", "`clip` once"),
            ("noise=1,rate=0.1,steps=1,clip=1;noise=1,rate=0.1,steps=1", "after the last"),
            ("noise=1,rate=0.1,steps=1,epsilon=2", "got `epsilon`"),
        ] {
            let error = text.parse::<DeclaredTraining>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let many = vec!["noise=1,rate=0.1,steps=1"; 65].join(";");
        assert!(many.parse::<DeclaredTraining>().unwrap_err().contains("64 phases"));
    }
}
