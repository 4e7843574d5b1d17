//! Settings as a user writes them, before any check, and the table of what each of them is.

mod row;
mod table;
mod words;

use efface_learn::loss::{LossName, Task};
use serde::{Deserialize, Serialize};

use crate::error::Result;

pub use crate::mechanism_name::MechanismName;
pub use row::{Fallback, Form, Group, Interval, Row, Value};
pub(crate) use table::{MOST_COUNT, MOST_STEPS, ROW_MAPS, default};
pub use table::{SETTINGS, Settings};
pub(crate) use words::in_code;
pub use words::{MARK, Words, in_words, value_in_words};

impl Settings {
    /// Whether the loss named here learns a number; false if the name is unknown, which the plan
    /// refuses.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        let name = self.loss.as_deref().and_then(|name| LossName::named(name).ok());
        name.is_some_and(|name| name.task() == Task::Regression)
    }

    /// The vault, and what may follow its path, of the network whose hidden features are asked for.
    pub(crate) fn network_features(&self) -> Option<&str> {
        self.features.as_deref()?.trim().strip_prefix("network:")
    }

    /// Whether preprocessing is fitted to the records, and again with every request: as `preprocess`
    /// says, else if rows are `raw` (at hand, and without a schema) and no other setting asks for what
    /// declared preprocessing alone has.
    #[must_use]
    pub fn fits_preprocessing(&self, raw: bool) -> bool {
        match self.preprocess.as_deref() {
            Some(name) => name == "fitted",
            None => raw && self.asks_for_declared().is_none(),
        }
    }

    /// The setting, in words, that goes with declared preprocessing only: fitted preprocessing refuses it,
    /// or it declares what fitted preprocessing would compute. None if `preprocess` chooses otherwise.
    #[must_use]
    pub fn asks_for_declared(&self) -> Option<String> {
        if let Some(name) = self.preprocess.as_deref() {
            return (name == "declared").then(|| "`§preprocess declared`".to_owned());
        }
        let named = |setting: &str, given: &Option<String>, names: &[&str]| {
            let name = given.as_deref().filter(|name| names.contains(name))?;
            Some(format!("`§{setting} {name}`"))
        };
        let other: Vec<&str> = MechanismName::ALL
            .into_iter()
            .filter(|mechanism| !mechanism.fits_preprocessing())
            .map(MechanismName::name)
            .collect();
        let given = || {
            let row = |name: &str| SETTINGS.iter().find(|row| row.flag == name);
            let is_given = |name: &&str| row(name).is_some_and(|row| row.is_given(self));
            let first = DECLARED.split(' ').find(is_given);
            first.map(|name| format!("`§{name}`"))
        };
        named("mechanism", &self.mechanism, &other)
            .or_else(|| named("notion", &self.notion, &["differential-privacy"]))
            .or_else(|| named("state", &self.state, &["secret"]))
            .or_else(|| named("normalizer", &self.normalizer, &["fixed"]))
            .or_else(given)
    }

    /// Refuses names that are unknown and numbers out of range, one setting at a time.
    pub(crate) fn check(&self) -> Result<()> {
        SETTINGS.iter().try_for_each(|row| row.check(self))
    }

    /// The same settings for that mechanism: without those that belong to others.
    pub(crate) fn of_mechanism(&self, mechanism: MechanismName) -> Self {
        let others = |row: &Row| {
            row.only.is_some_and(|(setting, owners)| {
                setting == "mechanism" && !owners.contains(&mechanism.name())
            })
        };
        Self { mechanism: Some(mechanism.name().to_owned()), ..self.without(others) }
    }

    /// The settings of the objective alone.
    pub(crate) fn of_objective(&self) -> Self {
        self.without(|row| row.group != Group::Model)
    }

    fn without(&self, left_out: impl Fn(&Row) -> bool) -> Self {
        let mut settings = self.clone();
        SETTINGS.iter().filter(|row| left_out(row)).for_each(|row| row.clear(&mut settings));
        settings
    }
}

/// Settings that go with declared preprocessing only, whatever their value.
const DECLARED: &str = "interactions extractor-privacy extractor-training start-privacy start features row-norm \
                        row-map target-range clip public-n capacity minimum";

/// How private something given is declared to be: (epsilon, delta), or mu, for a group of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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

    #[test]
    fn every_row_is_whole() {
        for row in &SETTINGS {
            let (sentence, paragraph) = (row.sentence(), row.paragraph());
            assert!(!sentence.is_empty() && !sentence.ends_with('.'), "{}: {sentence}", row.name);
            assert!(paragraph.is_empty() || paragraph.ends_with('.'), "{}: {paragraph}", row.name);
            assert_eq!(row.flag, row.name.replace('_', "-"));
            if let Some((setting, values)) = row.only {
                let owner = SETTINGS.iter().find(|row| row.name == setting).unwrap();
                let names = owner.names();
                assert!(values.iter().all(|value| names.contains(value)), "{}", row.name);
            }
            match (row.default, row.form) {
                (Fallback::Name(name), _) => assert!(row.names().contains(&name), "{}", row.name),
                (Fallback::Number(x), Form::Number(interval)) => assert!(interval.contains(x)),
                (Fallback::Count(x), Form::Count(least, most)) => {
                    assert!((least..=most).contains(&x))
                }
                (Fallback::Number(_) | Fallback::Count(_), _) => panic!("{}", row.name),
                _ => {}
            }
        }
    }

    #[test]
    fn a_value_is_written_where_its_form_fits() {
        let mut settings = Settings::default();
        let row = |name: &str| SETTINGS.iter().find(|row| row.name == name).unwrap();
        assert!(!row("steps").is_given(&settings));
        row("steps").put(&mut settings, Value::Count(7)).unwrap();
        assert_eq!(settings.steps, Some(7));
        assert!(row("steps").is_given(&settings));
        let wrong = row("steps").put(&mut settings, Value::Number(7.0)).unwrap_err();
        assert_eq!(wrong.message(), "`§steps` takes values of another form");
    }

    #[test]
    fn a_number_out_of_range_is_refused_with_the_rule() {
        let refused = |settings: Settings| settings.check().unwrap_err().message().to_owned();
        let none = Settings::default;
        for (settings, message) in [
            (
                Settings { steps: Some(0), ..none() },
                "`§steps` must be from 1 to 100000000 steps, got 0",
            ),
            (
                Settings { capacity: Some(u64::MAX), ..none() },
                "`§capacity` must be from 1 to 2^52 records, got 18446744073709551615",
            ),
            (
                Settings { lambda: Some(f64::NAN), ..none() },
                "`§lambda` must be finite and at least 0, got NaN",
            ),
            (
                Settings { delta: Some(1.5), ..none() },
                "`§delta` must be above 0 and below 1, got 1.5",
            ),
            (Settings { clip: Some(0.0), ..none() }, "`§clip` must be above 0, got 0"),
            (
                Settings { row_map: Some("cut".into()), ..none() },
                "`§row-map` must be one of clip, unit, refuse, got `cut`",
            ),
            (
                Settings { target_range: Some((2.0, 1.0)), ..none() },
                "`§target-range` must be two finite numbers, low then high, got 2,1",
            ),
        ] {
            assert_eq!(refused(settings), message);
        }
        assert!(Settings { clip: Some(f64::INFINITY), ..none() }.check().is_ok());
    }

    #[test]
    fn raw_rows_are_fitted_unless_a_setting_asks_for_declared() {
        let none = Settings::default;
        let named = |name: &str| Some(name.to_owned());
        assert!(none().fits_preprocessing(true) && !none().fits_preprocessing(false));
        for settings in [
            Settings { mechanism: named("retrain"), ..none() },
            Settings { mechanism: named("ridge"), ..none() },
            Settings { notion: named("deletion-privacy"), ..none() },
            Settings { loss: named("squared"), lambda: Some(0.1), ..none() },
            Settings { normalizer: named("mean"), min_frequency: Some(3), ..none() },
        ] {
            assert!(settings.fits_preprocessing(true), "{settings:?}");
        }
        let privacy = Some(Privacy::default());
        for settings in [
            Settings { mechanism: named("noisy-gd"), ..none() },
            Settings { notion: named("differential-privacy"), ..none() },
            Settings { state: named("secret"), ..none() },
            Settings { normalizer: named("fixed"), ..none() },
            Settings { interactions: Some(1), ..none() },
            Settings { extractor_privacy: privacy, ..none() },
            Settings { row_norm: Some(1.0), ..none() },
            Settings { features: named("rff:10"), ..none() },
            Settings { row_map: named("unit"), ..none() },
            Settings { target_range: Some((0.0, 1.0)), ..none() },
            Settings { clip: Some(1.0), ..none() },
            Settings { public_n: Some(9), ..none() },
            Settings { capacity: Some(9), ..none() },
            Settings { minimum: Some(9), ..none() },
        ] {
            assert!(!settings.fits_preprocessing(true), "{settings:?}");
            let given = Settings { preprocess: named("fitted"), ..settings };
            assert!(given.fits_preprocessing(true) && given.fits_preprocessing(false));
        }
        let declared = Settings { preprocess: named("declared"), ..none() };
        assert!(!declared.fits_preprocessing(true));
    }

    #[test]
    fn settings_of_other_mechanisms_are_left_out() {
        let all = Settings {
            steps: Some(3),
            xi: Some(1.5),
            epsilon: Some(2.0),
            lambda: Some(0.1),
            ..Settings::default()
        };
        let noisy = all.of_mechanism(MechanismName::NoisyGd);
        assert_eq!((noisy.steps, noisy.xi, noisy.epsilon), (Some(3), None, Some(2.0)));
        assert_eq!(all.of_objective(), Settings { lambda: Some(0.1), ..Settings::default() });
    }
}
