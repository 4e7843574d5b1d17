//! Quality on a table with labels.

use efface::Evaluation;
use efface_page::number::counted;
use efface_page::{Page, Section};

use super::Output;
use crate::failure::Result;

impl Output {
    pub(crate) fn evaluation(&mut self, evaluation: &Evaluation) -> Result<()> {
        self.show(evaluation, || page(evaluation))
    }
}

fn page(e: &Evaluation) -> Page {
    let mut facts = Vec::new();
    for (name, value, constant) in [
        ("accuracy", e.accuracy, e.majority.map(|most| ("most frequent class", most))),
        ("log-loss", e.log_loss, None),
        ("AUC", e.auc, None),
        ("RMSE", e.rmse, e.mean_rmse.map(|mean| ("mean", mean))),
        ("MAE", e.mae, None),
    ] {
        let Some(value) = value else { continue };
        let beside = constant.map_or(String::new(), |(answer, reached)| {
            format!(" (always the {answer}: {reached:.4})")
        });
        facts.push((name, format!("{value:.4}{beside}")));
    }
    for t in &e.targets {
        let beside = format!("always the mean: {:.4}", t.mean_rmse);
        let errors = format!("RMSE {:.4} ({beside}), MAE {:.4}", t.rmse, t.mae);
        facts.push((t.name.as_str(), errors));
    }
    let mut unknown = Section::new("");
    if e.unknown > 0 {
        let rows = counted(e.unknown, "row");
        unknown = unknown.text(format!("{rows} of unknown classes, counted as wrong"));
    }
    Page::new(format!("on {}", counted(e.rows, "row"))).with(unknown.facts(facts))
}
