//! The numbers of Tables 2 and 3 and behind Figures 3b, 3c and 4, with what the sharper bound needs.

use efface::{Code, Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{curves, tight};
use crate::reproduce::account;
use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Line, Outcome, number};

const CASES: &str = include_str!("../../../../vectors/chien2024.json");

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    /// Which of the paper's tables or figures.
    place: Place,
}

/// A table or figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Place {
    #[serde(rename = "Table 2")]
    Table2,
    #[serde(rename = "Table 3")]
    Table3,
    #[serde(rename = "Figure 3b")]
    Figure3b,
    #[serde(rename = "Figure 3c")]
    Figure3c,
    #[serde(rename = "Figure 4")]
    Figure4,
}

/// One number, or list of steps, of the paper.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) data: String,
    pub(super) inputs: Map<String, Value>,
    /// As published.
    pub(super) paper: Vec<f64>,
    /// By the same formula here.
    pub(super) ours: Vec<f64>,
    /// What the sharper bound needs.
    pub(super) tight: f64,
    /// How the paper writes it.
    printed: String,
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let cases = cases(grid.place)?;
    let columns = ["data", "setting", "published", "computed", "tight"];
    let mut outcome = Outcome::of(&columns);
    for case in &cases {
        bench.say(&format!("{}, {}", case.data, case.setting(grid.place)))?;
        let line = case.line(grid.place);
        outcome.row([
            case.data.clone(),
            case.setting(grid.place),
            line.paper.clone(),
            line.ours.clone(),
            number(case.tight),
        ]);
        outcome.printed.push(line);
    }
    let agree = outcome.printed.iter().filter(|line| line.agrees).count();
    outcome.measure("agree", agree as f64);
    outcome.measure("all", outcome.printed.len() as f64);
    curves::add(grid.place, &cases, &mut outcome)?;
    Ok(outcome)
}

/// The cases of one table or figure.
pub(super) fn cases(place: Place) -> Result<Vec<Case>> {
    let broken = |error: serde_json::Error| Error::input(Code::Audit, error.to_string());
    let mut all: Value = serde_json::from_str(CASES).map_err(broken)?;
    let all = all["cases"].as_array_mut().map(std::mem::take).unwrap_or_default();
    all.iter()
        .filter(|case| case["where"] == place.name())
        .map(|case| Case::of(case, place))
        .collect()
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Table2 => "Table 2",
            Self::Table3 => "Table 3",
            Self::Figure3b => "Figure 3b",
            Self::Figure3c => "Figure 3c",
            Self::Figure4 => "Figure 4",
        }
    }
}

impl Case {
    fn of(case: &Value, place: Place) -> Result<Self> {
        let missing = || Error::input(Code::Audit, format!("a case lacks a part: {case}"));
        let text = |name: &str| case[name].as_str().map(str::to_owned).ok_or_else(missing);
        let (data, kind) = (text("data")?, text("kind")?);
        let inputs = case["inputs"].as_object().cloned().ok_or_else(missing)?;
        let (name, paper) =
            case["paper"].as_object().and_then(|p| p.iter().next()).ok_or_else(missing)?;
        let answer = account::ask(&kind, &case["inputs"])?;
        let requests = inputs.get("requests").and_then(Value::as_u64).unwrap_or(1);
        let tight = match place {
            Place::Table2 => tight::descent_noise(&inputs)?,
            Place::Table3 => tight::sigma(&inputs)?,
            Place::Figure3b | Place::Figure3c | Place::Figure4 => {
                tight::steps(&inputs, requests)? as f64
            }
        };
        let printed = paper.as_str().map_or_else(|| paper.to_string(), str::to_owned);
        let (paper, ours) = (numbers(paper)?, numbers(&answer[name])?);
        Ok(Self { data, inputs, paper, ours, tight, printed })
    }

    /// An input as a number; NaN where there is none.
    pub(super) fn input(&self, name: &str) -> f64 {
        self.inputs.get(name).and_then(|value| account::read(value).ok()).unwrap_or(f64::NAN)
    }

    fn setting(&self, place: Place) -> String {
        let of = |name: &str| number(self.input(name));
        match place {
            Place::Table2 => format!("epsilon {}, I = {}", of("epsilon"), of("iterations")),
            Place::Table3 => format!("epsilon {}", of("target_epsilon")),
            Place::Figure3b => format!("S = {}", of("group")),
            Place::Figure3c => format!("sigma {}", of("sigma")),
            Place::Figure4 => format!("epsilon {}, S = {}", of("target_epsilon"), of("group")),
        }
    }

    /// The paper beside us.
    fn line(&self, place: Place) -> Line {
        let (paper, ours) = (self.paper[0], self.ours[0]);
        let (agrees, why) = match place {
            // Printed with four decimals, the rest cut off.
            Place::Table2 => match self.printed.as_str() {
                "36.8573" => (false, "Two digits are exchanged in print: 36.8753."),
                "8.6229" => (false, "A digit is misprinted: 8.6629."),
                _ => ((-1e-9..1e-4).contains(&(ours - paper)), ""),
            },
            // Any sigma from the least on for which one step is enough.
            Place::Table3 if paper >= ours => (
                paper <= 1.04 * ours,
                "The paper's bisection stops at the first sigma that is enough, ours at the least.",
            ),
            Place::Table3 => ((paper - ours).abs() < 5e-5, "Rounded down in print."),
            Place::Figure3b | Place::Figure3c | Place::Figure4 => (self.paper == self.ours, ""),
        };
        let sum = |steps: &[f64]| match steps {
            [one] => number(*one),
            many => {
                let list: Vec<String> = many.iter().map(|k| number(*k)).collect();
                format!("{} in all: {}", number(many.iter().sum()), list.join(" "))
            }
        };
        Line {
            says: format!("{}, {}", self.data, self.setting(place)),
            paper: if self.paper.len() > 1 { sum(&self.paper) } else { self.printed.clone() },
            ours: sum(&self.ours),
            agrees,
            why: why.to_owned(),
        }
    }
}

fn numbers(value: &Value) -> Result<Vec<f64>> {
    match value {
        Value::Array(list) => list.iter().map(account::read).collect(),
        one => Ok(vec![account::read(one)?]),
    }
}
