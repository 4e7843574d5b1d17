//! Quality on a table with labels.

use efface::Evaluation;

use super::{Output, counted, to_value};
use crate::failure::Result;

impl Output {
    /// Shows an evaluation.
    pub(crate) fn evaluation(&mut self, evaluation: &Evaluation) -> Result<()> {
        if self.is_json() {
            let value = to_value(evaluation)?;
            return self.value(&value);
        }
        let mut lines = vec![format!("on {}", counted(evaluation.rows, "row"))];
        if evaluation.unknown > 0 {
            lines.push(format!(
                "{} of unknown classes, counted as wrong",
                counted(evaluation.unknown, "row")
            ));
        }
        for (name, value) in [
            ("accuracy", evaluation.accuracy),
            ("log-loss", evaluation.log_loss),
            ("AUC", evaluation.auc),
            ("RMSE", evaluation.rmse),
            ("MAE", evaluation.mae),
        ] {
            if let Some(value) = value {
                let constant = match name {
                    "accuracy" => evaluation.majority.map(|m| ("most frequent class", m)),
                    "RMSE" => evaluation.mean_rmse.map(|m| ("mean", m)),
                    _ => None,
                };
                let beside = constant.map_or(String::new(), |(answer, reached)| {
                    format!("   always the {answer}: {reached:.4}")
                });
                lines.push(format!("{name:<10}{value:.4}{beside}"));
            }
        }
        self.text(&lines.join("\n"))
    }
}
