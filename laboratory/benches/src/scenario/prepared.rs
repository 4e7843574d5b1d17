//! Deletions by `solve` in `perfect` state with and without a Hessian that was kept for them, in turn.

use efface::{Settings, Source};

use super::Asked;
use crate::Failure;
use crate::data;
use crate::measure::{median, say};
use crate::shop::{Run, Shop, middle};
use crate::table::{Table, ms};

/// Deletions of one record of each kind.
const TIMES: u64 = 5;
/// The table that is made, and its columns.
const MADE: &str = "made";
const COLUMNS: usize = 100;

/// A table, with unit rows for pictures and texts, which lambda 1e-3 is usual for.
struct Case {
    name: &'static str,
    source: Source<'static>,
    declared: Settings,
}

pub(super) fn run(asked: &Asked) -> Result<(), Failure> {
    let shop = Shop::open()?;
    let cases = cases(&shop)?;
    asked.check(cases.iter().map(|case| case.name))?;
    if asked.wants(MADE) {
        data::generate(shop.folder(), if asked.quick { 10_000 } else { 1_000_000 }, COLUMNS)?;
    }
    say(&format!(
        "Whole requests through the engine, one record each, {TIMES} without and {TIMES} with a kept \
         Hessian, in turn: medians, and the most passes and Hessians of any of them. Declared: rows \
         clipped to norm 1 (MNIST, SST: unit rows), lambda 1e-3, once more 1e-4; fitted: standardised \
         anew by each request, lambda 1/n. `prepare` is what is done between requests, its command's \
         whole time.\n"
    ))?;
    let mut table = Table::new(&[
        "data", "weights", "lambda", "train", "without", "learning", "work", "with", "learning",
        "work", "prepare", "kept",
    ]);
    for case in cases.into_iter().filter(|case| asked.wants(case.name)) {
        let lambda = |lambda| Settings {
            lambda: Some(lambda),
            preprocess: Some("declared".into()),
            ..case.declared.clone()
        };
        let fitted = Settings { preprocess: Some("fitted".into()), ..Settings::default() };
        let settings = [("1e-3", lambda(1e-3)), ("1e-4", lambda(1e-4)), ("1/n, fitted", fitted)];
        for (says, settings) in settings {
            table.row(measure(&shop, &case, says, settings)?);
        }
    }
    say(&table.render())
}

fn cases(shop: &Shop) -> Result<Vec<Case>, Failure> {
    let unit = Settings { row_map: Some("unit".into()), ..Settings::default() };
    let clipped = Settings { row_norm: Some(1.0), ..Settings::default() };
    let case =
        |name, source, declared: &Settings| Case { name, source, declared: declared.clone() };
    Ok(vec![
        case("mnist", data::mnist([3, 8])?.train, &unit),
        case("sst", data::sst()?.train, &unit),
        case("a9a", data::a9a()?.train, &clipped),
        case(MADE, data::generated(shop.folder()), &clipped),
    ])
}

fn measure(
    shop: &Shop,
    case: &Case,
    lambda: &str,
    settings: Settings,
) -> Result<Vec<String>, Failure> {
    let trained = shop.train("model", &case.source, settings)?;
    let (mut without, mut with, mut prepare) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kept, mut weights) = (0, 0);
    for time in 0..TIMES {
        without.push(shop.delete("model", vec![shop.known("model", 17 + 62 * time)?])?);
        let (ready, seconds) = shop.prepare("model")?;
        (kept, weights) = (ready.bytes, ready.weights);
        prepare.push(seconds);
        let served = shop.delete("model", vec![shop.known("model", 48 + 62 * time)?])?;
        if served.served.work.as_ref().is_none_or(|work| !work.by_kept_hessian) {
            return Err("the kept Hessian was not used".into());
        }
        with.push(served);
    }
    std::fs::remove_file(shop.path("model"))?;
    let mut cells = vec![case.name.to_owned(), weights.to_string(), lambda.to_owned()];
    cells.push(ms(trained.total()));
    for runs in [&without, &with] {
        let most = runs.iter().max_by_key(|run| {
            run.served.work.as_ref().map_or(0, |work| work.passes + 100 * work.hessians)
        });
        cells.push(ms(middle(runs, Run::total)));
        cells.push(ms(middle(runs, |run| run.learning)));
        cells.push(most.map_or_else(String::new, Run::work));
    }
    cells.extend([ms(median(prepare)), format!("{:.2} MB", kept as f64 / 1e6)]);
    Ok(cells)
}
