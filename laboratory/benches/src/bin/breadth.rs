//! Other losses and other tables: quality before and after deletions, time, and what is claimed.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use efface::{Evaluation, Notion, Settings, Which};
use efface_bench::Failure;
use efface_bench::bench::{run, say};
use efface_bench::data::{self, Split};
use efface_bench::shop::{Run, Shop};
use efface_bench::table::{Table, ms};

/// An excess risk so small that the noise is not felt: what the optimum gives. Where float64 cannot
/// certify the distance it asks for, the next one is tried.
const SILENT: [f64; 4] = [1e-8, 1e-6, 1e-5, 1e-4];

struct Case {
    name: &'static str,
    split: Split,
    settings: Settings,
    /// What is deleted, one request each.
    requests: Vec<(&'static str, Which)>,
}

fn main() -> ExitCode {
    run("Other losses, other tables, `solve`", || {
        let shop = Shop::open()?;
        let wanted: Vec<String> = std::env::args().skip(1).collect();
        say("epsilon 1 and the default delta, capacity 1.25 n, `perfect` state.\n")?;
        for case in cases(&shop)? {
            if wanted.is_empty() || wanted.iter().any(|name| case.name.contains(name.as_str())) {
                serve(&shop, case)?;
            }
        }
        Ok(())
    })
}

fn cases(shop: &Shop) -> Result<Vec<Case>, Failure> {
    let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let digits: Vec<&str> = digits.iter().map(String::as_str).collect();
    let by_position = || vec![("delete 1", ids(1, 1)), ("delete 100", ids(2, 100))];
    let clipped = |lambda: f64, row_norm: f64| Settings {
        lambda: Some(lambda),
        row_norm: Some(row_norm),
        ..Settings::default()
    };
    Ok(vec![
        Case {
            name: "MNIST, 10 classes, softmax, lambda 1e-4",
            split: data::mnist(&digits)?,
            settings: Settings {
                loss: Some("softmax".to_owned()),
                row_map: Some("unit".to_owned()),
                ..clipped(1e-4, 1.0)
            },
            requests: by_position(),
        },
        Case {
            name: "Adult by schema, logistic, lambda 1e-3",
            split: data::adult(shop.folder())?,
            settings: clipped(1e-3, 3.75),
            requests: by_position(),
        },
        Case {
            name: "a9a, logistic, lambda 1e-3",
            split: data::a9a()?,
            settings: clipped(1e-3, 3.75),
            requests: by_position(),
        },
        Case {
            name: "w8a, logistic, lambda 1e-3",
            split: data::w8a(shop.folder())?,
            settings: clipped(1e-3, 4.0),
            requests: by_position(),
        },
        Case {
            name: "Parkinson's, motor UPDRS in [0, 108], squared, lambda 1e-3",
            split: data::parkinsons(shop.folder())?,
            settings: Settings {
                loss: Some("squared".to_owned()),
                target_range: Some((0.0, 108.0)),
                ..clipped(1e-3, 4.4)
            },
            requests: vec![
                ("delete patient 7", Which::Subjects(vec!["7".to_owned()])),
                ("delete patient 21", Which::Subjects(vec!["21".to_owned()])),
            ],
        },
    ])
}

/// `count` ids by position, a stride apart.
fn ids(first: usize, count: usize) -> Which {
    Which::Ids((0..count).map(|i| efface::row_id((first + 37 * i) as u64)).collect())
}

fn serve(shop: &Shop, case: Case) -> Result<(), Failure> {
    say(&format!("{}.\n", case.name))?;
    let mut table = Table::new(&[
        "request",
        "rows left",
        "quality",
        "quality at a small excess risk",
        "total",
        "before",
        "learning",
        "storing",
        "work",
        "epsilon to retraining",
        "epsilon of DP",
    ]);
    let file = case.name.split(',').next().unwrap_or("model");
    let quiet = format!("{file} without noise");
    let silent = SILENT.into_iter().find(|&risk| {
        let settings = Settings { excess_risk: Some(risk), ..case.settings.clone() };
        shop.train(&quiet, &case.split.train, settings).is_ok()
    });
    let trained = shop.train(file, &case.split.train, case.settings)?;
    let mut line = |what: &str, run: &Run| -> Result<(), Failure> {
        let here = quality(&shop.evaluate(file, &case.split.test)?);
        let there = match silent {
            None => "refused".to_owned(),
            Some(risk) => {
                let there = quality(&shop.evaluate(&quiet, &case.split.test)?);
                format!("{there} ({risk:.0e})")
            }
        };
        table.row([
            what.to_owned(),
            run.served.remaining.to_string(),
            here,
            there,
            ms(run.phases.total()),
            ms(run.phases.before),
            ms(run.phases.learning),
            ms(run.phases.storing),
            run.work(),
            run.epsilon(Notion::IndistinguishableFromRetraining),
            run.epsilon(Notion::DifferentialPrivacy),
        ]);
        Ok(())
    };
    line("train", &trained)?;
    for (what, which) in case.requests {
        if silent.is_some() {
            shop.delete(&quiet, which.clone())?;
        }
        let deleted = shop.delete(file, which)?;
        line(&format!("{what} ({} rows)", deleted.served.records.unwrap_or_default()), &deleted)?;
    }
    say(&table.render())
}

fn quality(evaluation: &Evaluation) -> String {
    match (evaluation.accuracy, evaluation.auc, evaluation.rmse) {
        (Some(accuracy), Some(auc), _) => format!("{accuracy:.4}, AUC {auc:.4}"),
        (Some(accuracy), None, _) => format!("{accuracy:.4}"),
        (None, _, Some(rmse)) => format!("RMSE {rmse:.3}"),
        _ => "none".to_owned(),
    }
}
