//! An experiment as it is declared: one small file each, in `experiments/`.

use efface::{Code, Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::data::DataSet;
use super::outcome::{Line, Measured, Shown};

/// One declared experiment with its claims.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// What users type; the name of its file.
    #[serde(skip)]
    pub name: String,
    /// One line on what the experiment shows.
    pub title: String,
    /// Paper, and its table or figure; `ours` where there is none.
    pub paper: String,
    /// What is done here, and what stands for what the paper had.
    pub about: String,
    /// Which code runs it.
    pub(super) runner: String,
    /// The data it reads; none for accounting alone.
    #[serde(default)]
    pub(super) data: Vec<DataSet>,
    /// Seeds of all that is drawn.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// Its settings.
    #[serde(default)]
    grid: Table,
    /// What is different in the quick variant: settings, `data` and `seeds`.
    #[serde(default)]
    quick: Table,
    /// What the paper says, to be held against what comes out.
    #[serde(default, rename = "claim")]
    claims: Vec<Claim>,
}

/// A statement of the paper about a number that the experiment measures.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Claim {
    /// The statement, in our words.
    says: String,
    /// The name under which the experiment gives the number.
    measured: String,
    /// The paper's number or word.
    paper: String,
    /// The statement holds for numbers near this one, within `within`.
    near: Option<f64>,
    within: Option<f64>,
    /// The statement holds from this number on.
    least: Option<f64>,
    /// The statement holds up to this number.
    most: Option<f64>,
    #[serde(default)]
    shown: Shown,
    /// What explains a difference, or is worth knowing.
    #[serde(default)]
    why: String,
    /// Whether the quick variant is too small to tell.
    #[serde(default)]
    full_only: bool,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../experiments/", $name, ".toml")))),*]
    };
}

/// Every experiment, in the order they are listed and run.
const FILES: &[(&str, &str)] = &files![
    "chien2024-table1",
    "chien2024-table2",
    "chien2024-table3",
    "chien2024-fig3b",
    "chien2024-fig3c",
    "chien2024-fig4",
    "chien2024-fig3a",
    "chien2024-accuracy",
    "chien2024-fig5",
    "chien2024-ten-class",
    "guo2020-fig1",
    "guo2020-fig2",
    "guo2020-fig3",
    "guo2020-fig4",
    "guo2020-fig5",
    "guo2020-table1",
    "khi2024",
    "chourasia2023-table1",
    "chourasia2023-thm51",
    "chourasia2023-thm52",
    "neel2020-table1",
    "bsa2024",
    "nonconvex",
    "koloskova2025-epsilon",
    "koloskova2025-start",
    "frontier",
];

/// Every experiment.
///
/// # Errors
/// A declared file that breaks its form, which a test excludes.
pub fn experiments() -> Result<Vec<Experiment>> {
    FILES.iter().map(|(name, text)| Experiment::read(name, text)).collect()
}

impl Experiment {
    fn read(name: &str, text: &str) -> Result<Self> {
        let read: Self = toml::from_str(text).map_err(|error| malformed(name, &error))?;
        Ok(Self { name: name.to_owned(), ..read })
    }

    /// The data sets it reads; none for accounting alone.
    #[must_use]
    pub fn data_names(&self) -> Vec<&'static str> {
        self.data.iter().map(|set| set.name()).collect()
    }

    /// The same for those who read them.
    pub(super) fn sets(&self) -> &[DataSet] {
        &self.data
    }

    /// The quick variant.
    pub(super) fn quickly(mut self) -> Result<Self> {
        for (key, value) in std::mem::take(&mut self.quick) {
            match key.as_str() {
                "data" => self.data = typed(&self.name, value)?,
                "seeds" => self.seeds = typed(&self.name, value)?,
                _ => {
                    self.grid.insert(key, value);
                }
            }
        }
        self.claims.retain(|claim| !claim.full_only);
        Ok(self)
    }

    /// The settings in the form that a runner has.
    pub(super) fn grid<T: DeserializeOwned>(&self) -> Result<T> {
        typed(&self.name, Value::Table(self.grid.clone()))
    }

    /// Every claim with what was measured for it.
    pub(super) fn lines(&self, measured: &Measured) -> Result<Vec<Line>> {
        self.claims.iter().map(|claim| claim.against(&self.name, measured)).collect()
    }
}

impl Claim {
    fn against(&self, experiment: &str, measured: &Measured) -> Result<Line> {
        let Some(&ours) = measured.get(self.measured.as_str()) else {
            let message = format!("`{experiment}` does not measure `{}`", self.measured);
            return Err(Error::input(Code::Audit, message));
        };
        let near = self.near.is_none_or(|near| (ours - near).abs() <= self.within.unwrap_or(0.0));
        let least = self.least.is_none_or(|least| ours >= least);
        let most = self.most.is_none_or(|most| ours <= most);
        Ok(Line {
            says: self.says.clone(),
            paper: self.paper.clone(),
            ours: self.shown.text(ours),
            agrees: near && least && most,
            why: self.why.clone(),
        })
    }
}

fn typed<T: DeserializeOwned>(name: &str, value: impl Into<Value>) -> Result<T> {
    value.into().try_into().map_err(|error| malformed(name, &error))
}

fn malformed(name: &str, error: &toml::de::Error) -> Error {
    Error::input(Code::Audit, format!("the declaration of `{name}` is malformed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_well_formed_in_both_variants() {
        let all = experiments().unwrap();
        assert_eq!(all.len(), FILES.len());
        for experiment in all {
            let name = experiment.name.clone();
            assert!(!experiment.title.ends_with('.'), "{name}");
            for claim in &experiment.claims {
                let rules = [claim.near, claim.least, claim.most];
                assert!(rules.iter().any(Option::is_some), "{name}: {}", claim.says);
                assert_eq!(claim.near.is_some(), claim.within.is_some(), "{name}");
            }
            let check = experiment.runner().unwrap().check;
            check(&experiment).unwrap_or_else(|e| panic!("{name}: {e}"));
            let quick = experiment.quickly().unwrap();
            check(&quick).unwrap_or_else(|e| panic!("{name}, quick: {e}"));
        }
    }

    #[test]
    fn claims_hold_within_their_tolerance_only() {
        let claim = |ours: f64| {
            let claim = Claim {
                says: "so".into(),
                measured: "x".into(),
                paper: "0.4".into(),
                near: Some(0.4),
                within: Some(0.1),
                least: None,
                most: None,
                shown: Shown::Percent,
                why: String::new(),
                full_only: false,
            };
            claim.against("e", &Measured::from([("x".into(), ours)])).unwrap()
        };
        assert!(claim(0.45).agrees && !claim(0.51).agrees && !claim(f64::NAN).agrees);
        assert_eq!(claim(0.45).ours, "45%");
        let experiment = Experiment::read(
            "e",
            r#"title="t"
paper="p"
about="a"
runner="khi2024"
[[claim]]
says="s"
measured="nothing"
paper="1"
least=1
"#,
        );
        let refused = experiment.unwrap().lines(&Measured::new()).unwrap_err();
        assert_eq!(refused.message(), "`e` does not measure `nothing`");
    }
}
