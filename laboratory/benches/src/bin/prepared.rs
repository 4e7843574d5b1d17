//! Deletions by `solve` in `perfect` state with and without a Hessian that was kept for them, in turn.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use efface::{Settings, Source, Which};
use efface_bench::bench::{median, run, say};
use efface_bench::shop::{Run, Shop};
use efface_bench::table::{Table, ms};
use efface_bench::{Failure, data, synthetic};
use efface_vault::Vault;

/// Deletions of one record of each kind.
const TIMES: u64 = 5;
const ROWS: usize = 1_000_000;
const COLUMNS: usize = 100;

struct Case {
    name: &'static str,
    source: Source<'static>,
    /// Unit rows for pictures and texts, which lambda 1e-3 is usual for.
    declared: Settings,
}

fn main() -> ExitCode {
    run("Deletions with a kept Hessian", || {
        let shop = Shop::open()?;
        synthetic::generate(shop.folder(), ROWS, COLUMNS)?;
        say(&format!(
            "Whole requests through the engine, one record each, {TIMES} without and {TIMES} with a kept \
             Hessian, in turn: medians, and the most passes and Hessians of any of them. Declared: rows \
             clipped to norm 1 (MNIST, SST: unit rows), lambda 1e-3, once more 1e-4; fitted: standardised \
             anew by each request, lambda 1/n. `prepare` is what is done between requests, its command's \
             whole time.\n"
        ))?;
        let mut table = Table::new(&[
            "data", "weights", "lambda", "without", "learning", "work", "with", "learning", "work",
            "prepare", "kept",
        ]);
        for case in cases(&shop)? {
            let lambda = |lambda| Settings {
                lambda: Some(lambda),
                preprocess: Some("declared".into()),
                ..case.declared.clone()
            };
            let fitted = Settings { preprocess: Some("fitted".into()), ..Settings::default() };
            for (says, settings) in
                [("1e-3", lambda(1e-3)), ("1e-4", lambda(1e-4)), ("1/n, fitted", fitted)]
            {
                measure(&shop, &case, says, settings, &mut table)?;
            }
        }
        say(&table.render())
    })
}

fn cases(shop: &Shop) -> Result<Vec<Case>, Failure> {
    let unit = Settings { row_map: Some("unit".into()), ..Settings::default() };
    let clipped = Settings { row_norm: Some(1.0), ..Settings::default() };
    let sst = data::root()?.join("sst");
    let texts = Source {
        path: Some(sst.join("sst_minilm_train_X.npy")),
        labels: Some(sst.join("sst_minilm_train_y.npy")),
        ..Source::default()
    };
    let mnist = data::mnist(&["3", "8"])?.train;
    Ok(vec![
        Case { name: "MNIST 3 versus 8", source: mnist, declared: unit.clone() },
        Case { name: "SST, MiniLM", source: texts, declared: unit },
        Case { name: "Adult (a9a)", source: data::a9a()?.train, declared: clipped.clone() },
        Case { name: "synthetic 1e6", source: synthetic::source(shop.folder()), declared: clipped },
    ])
}

fn measure(
    shop: &Shop,
    case: &Case,
    lambda: &str,
    settings: Settings,
    table: &mut Table,
) -> Result<(), Failure> {
    shop.train("model", &case.source, settings)?;
    let (mut without, mut with, mut prepare) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kept, mut weights) = (0, 0);
    for time in 0..TIMES {
        without.push(shop.delete("model", known(shop, 17 + 62 * time)?)?);
        let (ready, seconds) = shop.prepare("model")?;
        (kept, weights) = (ready.bytes, ready.weights);
        prepare.push(seconds);
        let served = shop.delete("model", known(shop, 48 + 62 * time)?)?;
        if served.served.work.as_ref().is_none_or(|work| !work.by_kept_hessian) {
            return Err("the kept Hessian was not used".into());
        }
        with.push(served);
    }
    std::fs::remove_file(shop.path("model"))?;
    let of = |runs: &[Run], f: fn(&Run) -> f64| ms(median(&runs.iter().map(f).collect::<Vec<_>>()));
    let mut cells = vec![case.name.to_owned(), weights.to_string(), lambda.to_owned()];
    for runs in [&without, &with] {
        let most = runs.iter().max_by_key(|run| {
            run.served.work.as_ref().map_or(0, |work| work.passes + 100 * work.hessians)
        });
        cells.push(of(runs, |run| run.phases.total()));
        cells.push(of(runs, |run| run.phases.learning));
        cells.push(most.map_or_else(String::new, Run::work));
    }
    cells.extend([ms(median(&prepare)), format!("{:.2} MB", kept as f64 / 1e6)]);
    table.row(cells);
    Ok(())
}

/// The first record from this position on that the model has: rows of other classes are left out.
fn known(shop: &Shop, from: u64) -> Result<Which, Failure> {
    let vault = Vault::open_read_only(&shop.path("model"))?;
    for row in from.. {
        let id = efface::row_id(row);
        if vault.find_ids(&[&id])?.missing.is_empty() {
            return Ok(Which::Ids(vec![id]));
        }
    }
    Err("the model has no such row".into())
}
