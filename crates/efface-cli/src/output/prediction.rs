//! Predictions, one line each.

use efface::Prediction;
use efface_page::csv_cell;

use super::{Output, to_value, visible};
use crate::failure::Result;

impl Output {
    /// One prediction in text: a line of CSV, or a JSON object; `first` has the header before.
    pub(crate) fn prediction(&self, prediction: &Prediction, first: bool) -> Result<String> {
        if self.is_json() {
            return Ok(format!("{}\n", to_value(prediction)?));
        }
        let mut text = String::new();
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
            text = header + "\n";
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
        Ok(visible(&format!("{text}{line}\n")))
    }
}
