//! Table 1: the constants of the problems.

use efface::Result;
use efface_learn::Loss;
use serde::Deserialize;

use crate::reproduce::bench::Bench;
use crate::reproduce::outcome::{Line, Outcome, number};
use crate::trial::engine::constants;

/// What the paper prints for one data set.
struct Printed {
    data: &'static str,
    loss: Loss,
    records: u64,
    columns: usize,
    smoothness: f64,
    convexity: &'static str,
    lipschitz: f64,
    delta: &'static str,
}

const PRINTED: [Printed; 3] = [
    Printed {
        data: "MNIST",
        loss: Loss::Logistic,
        records: 11_982,
        columns: 784,
        smoothness: 0.25,
        convexity: "0.0119",
        lipschitz: 1.0,
        delta: "8.3458e-5",
    },
    Printed {
        data: "CIFAR-10-binary",
        loss: Loss::Logistic,
        records: 10_000,
        columns: 512,
        smoothness: 0.25,
        convexity: "0.0100",
        lipschitz: 1.0,
        delta: "0.0001",
    },
    Printed {
        data: "CIFAR-10-multi-class",
        loss: Loss::Softmax { classes: 10 },
        records: 50_000,
        columns: 512,
        smoothness: 1.0,
        convexity: "0.0499",
        lipschitz: 2.0,
        delta: "2e-5",
    },
];

/// There is nothing to set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {}

pub(crate) fn run(_: &Grid, _: &mut Bench<'_>) -> Result<Outcome> {
    let mut outcome = Outcome::of(&["data", "constant", "paper", "here"]);
    for printed in PRINTED {
        let lambda = 1e-6 * printed.records as f64;
        let constants = constants(printed.loss, printed.columns, lambda, printed.records)?;
        let softmax = matches!(printed.loss, Loss::Softmax { .. });
        let sharper = if softmax {
            "Sound, and not sharp: the softmax loss on rows of length 1 is 1/2-smooth and \
             sqrt(2)-Lipschitz."
        } else {
            ""
        };
        let cut = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        let rows = [
            ("L", printed.smoothness + lambda, constants.total_smoothness(), 1e-9, sharper),
            (
                "m",
                cut(printed.convexity),
                constants.strong_convexity(),
                1e-4,
                "m = n/10^6, printed with the last digits cut off.",
            ),
            ("M", printed.lipschitz, constants.lipschitz(), 1e-9, sharper),
            ("delta", cut(printed.delta), 1.0 / printed.records as f64, 1e-8, ""),
        ];
        for (name, paper, ours, within, why) in rows {
            let agrees = (paper - ours).abs() <= within;
            outcome.row([printed.data.into(), name.into(), number(paper), number(ours)]);
            outcome.printed.push(Line {
                says: format!("{}: {name}", printed.data),
                paper: number(paper),
                ours: number(ours),
                agrees,
                why: if agrees && name != "m" { String::new() } else { why.to_owned() },
            });
        }
    }
    outcome.measure("agree", outcome.printed.iter().filter(|line| line.agrees).count() as f64);
    Ok(outcome)
}
