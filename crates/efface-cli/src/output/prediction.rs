//! Predictions, one line each.

use efface::Prediction;
use efface_page::csv_cell;

use super::{Output, to_value};
use crate::failure::Result;

impl Output {
    /// Shows one prediction: a line of CSV, or a JSON object. `first` writes the header before.
    pub(crate) fn prediction(&mut self, prediction: &Prediction, first: bool) -> Result<()> {
        if self.is_json() {
            let value = to_value(prediction)?;
            return self.value(&value);
        }
        if first {
            let mut header = String::from("position,id");
            if prediction.targets.is_empty() {
                header.push_str(",prediction");
            }
            for (target, _) in &prediction.targets {
                header.push_str(&format!(",{}", csv_cell(target)));
            }
            for (class, _) in &prediction.probabilities {
                header.push_str(&format!(",{}", csv_cell(&format!("p({class})"))));
            }
            self.text(&header)?;
        }
        let mut line = format!(
            "{},{}",
            prediction.position,
            csv_cell(prediction.id.as_deref().unwrap_or("")),
        );
        if prediction.targets.is_empty() {
            line.push_str(&format!(",{}", csv_cell(&prediction.prediction)));
        }
        for (_, number) in &prediction.targets {
            line.push_str(&format!(",{number}"));
        }
        for (_, probability) in &prediction.probabilities {
            line.push_str(&format!(",{probability:.6}"));
        }
        self.text(&line)
    }
}
