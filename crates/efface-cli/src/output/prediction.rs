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
            let mut header = String::from("position,id,prediction");
            for (class, _) in &prediction.probabilities {
                header.push_str(&format!(",{}", csv_cell(&format!("p({class})"))));
            }
            self.text(&header)?;
        }
        let mut line = format!(
            "{},{},{}",
            prediction.position,
            csv_cell(prediction.id.as_deref().unwrap_or("")),
            csv_cell(&prediction.prediction)
        );
        for (_, probability) in &prediction.probabilities {
            line.push_str(&format!(",{probability:.6}"));
        }
        self.text(&line)
    }
}
