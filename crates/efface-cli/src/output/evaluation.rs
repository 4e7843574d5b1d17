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
        for (name, value) in [
            ("accuracy", evaluation.accuracy),
            ("log-loss", evaluation.log_loss),
            ("AUC", evaluation.auc),
            ("RMSE", evaluation.rmse),
            ("MAE", evaluation.mae),
        ] {
            if let Some(value) = value {
                lines.push(format!("{name:<10}{value:.4}"));
            }
        }
        self.text(&lines.join("\n"))
    }
}
