//! Predictions, one line each.

use efface::Prediction;
use efface_page::csv_cell;

use super::{Output, to_value, visible};
use crate::failure::Result;

/// The header of predictions: of several targets a column each, and of each class that has a probability.
pub(crate) fn header<'a>(
    targets: impl ExactSizeIterator<Item = &'a str>,
    classes: impl Iterator<Item = &'a str>,
) -> String {
    let mut columns = vec!["position".to_owned(), "id".to_owned()];
    match targets.len() {
        0 => columns.push("prediction".to_owned()),
        _ => columns.extend(targets.map(csv_cell)),
    }
    columns.extend(classes.map(|class| csv_cell(&format!("p({class})"))));
    format!("{}\n", columns.join(","))
}

impl Output {
    /// One prediction in text: a line of CSV, or a JSON object; `first` has the header before.
    pub(crate) fn prediction(&self, prediction: &Prediction, first: bool) -> Result<String> {
        if self.is_json() {
            return Ok(format!("{}\n", to_value(prediction)?));
        }
        let mut text = String::new();
        if first {
            let targets = prediction.targets.iter().map(|(target, _)| &**target);
            let classes = prediction.probabilities.iter().map(|(class, _)| &**class);
            text = header(targets, classes);
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
