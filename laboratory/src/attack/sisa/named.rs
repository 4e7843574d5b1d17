//! The same requester against `shards`, whose shards follow from names.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::{Delete, Linear, Result, Selector, Settings, Source, delete, margins, train, weights};

use super::{Outcome, SHARDS, Setup, record};
use crate::trial::{Sandbox, failed};

/// Records at first.
const RECORDS: usize = 240;

/// A record: its id, its line of the table, and its class.
struct Line {
    id: usize,
    text: String,
    class: usize,
}

/// The requester sees in the published networks which of them knows a record best, and deletes all that are
/// not best known by the first one's. What is published then is compared with a training on what is left.
pub(super) fn shards(setup: &Setup) -> Result<Outcome> {
    let mut sandbox = setup.sandbox()?;
    let mut rng = setup.generator(1, true);
    let mut left: Vec<Line> = (0..RECORDS)
        .map(|id| {
            let (x, y) = record(&mut rng);
            let class = usize::from(y > 0.5);
            Line { id, text: format!("{id},{},{},{}", ["no", "yes"][class], x[0], x[1]), class }
        })
        .collect();
    let vault = trained(&mut sandbox, "followed", &left)?;
    let mut deleted = 0;
    for _ in 0..3 {
        setup.go_on()?;
        let table = table(&mut sandbox, "known", &left)?;
        let best = best_known(&vault, &table, &left)?;
        let mut known = best.iter().map(|network| *network == best[0]);
        let mut gone = Vec::new();
        left.retain(|line| {
            let stays = known.next() == Some(true);
            if !stays {
                gone.push(line.id.to_string());
            }
            stays
        });
        if gone.is_empty() {
            break;
        }
        deleted += gone.len();
        let request = Delete { what: Selector::Ids(gone), request_id: None };
        sandbox.run(|s| delete(&vault, &request, s))?;
    }
    if deleted < RECORDS / 3 {
        return Err(failed("the networks tell too few records apart"));
    }
    let never = trained(&mut sandbox, "never", &left)?;
    let (followed, never) = (weights(&vault)?.coef, weights(&never)?.coef);
    let differ =
        followed.iter().zip(&never).filter(|(one, other)| one.to_bits() != other.to_bits());
    let measured = differ.count() as f64;
    let against = "efface `shards`, whose shards follow from names";
    Ok(Outcome::certain(against, "weights other than those of retraining", measured, 0.0)
        .by("exact removal, for any requests"))
}

fn table(sandbox: &mut Sandbox, name: &str, lines: &[Line]) -> Result<Source<'static>> {
    let mut text = String::from("id,y,a,b\n");
    for line in lines {
        writeln!(text, "{}", line.text).map_err(failed)?;
    }
    Ok(Source {
        path: Some(sandbox.write(&format!("{name}.csv"), &text)?),
        label: Some("y".into()),
        id: Some("id".into()),
        classes: Some(vec!["no".into(), "yes".into()]),
        ..Source::default()
    })
}

fn trained(sandbox: &mut Sandbox, name: &str, lines: &[Line]) -> Result<PathBuf> {
    let source = table(sandbox, name, lines)?;
    let settings = Settings {
        mechanism: Some("shards".into()),
        network: Some("dense:8".into()),
        shards: Some(SHARDS as u64),
        epochs: Some(30),
        batch_size: Some(4),
        public_n: Some(RECORDS as u64),
        ..Settings::default()
    };
    let vault = sandbox.path(&format!("{name}.efface"));
    sandbox.run(|s| train(&source, settings, &vault, s))?;
    Ok(vault)
}

/// For each record the network that is surest of its class.
fn best_known(vault: &Path, table: &Source<'_>, lines: &[Line]) -> Result<Vec<usize>> {
    let model = weights(vault)?;
    let text = model.network.ok_or_else(|| failed("the model has no networks"))?;
    let (network, _) = text.rsplit_once(",shards=").ok_or_else(|| failed("it has no shards"))?;
    let source = Source { schema: Some(model.schema), classes: None, ..table.clone() };
    let mut surest = vec![(f64::NEG_INFINITY, 0); lines.len()];
    for (number, coef) in model.coef.chunks(model.coef.len() / SHARDS).enumerate() {
        let linear = Linear {
            coef,
            intercept: &[0.0, 0.0],
            row_map: &model.row_map,
            row_norm: model.row_norm,
            preprocessing: None,
            feature_map: None,
            trunk: None,
            network: Some(network),
        };
        let (outputs, _) = margins(&source, &linear, &mut |_| ControlFlow::Continue(()))?;
        for ((best, line), pair) in surest.iter_mut().zip(lines).zip(outputs.chunks(2)) {
            let sure = pair[line.class] - pair[1 - line.class];
            if sure > best.0 {
                *best = (sure, number);
            }
        }
    }
    Ok(surest.into_iter().map(|(_, number)| number).collect())
}
