//! Predictions, one line each.

use efface::Prediction;

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
                header.push_str(&format!(",{}", field(&format!("p({class})"))));
            }
            self.text(&header)?;
        }
        let mut line = format!(
            "{},{},{}",
            prediction.position,
            field(prediction.id.as_deref().unwrap_or("")),
            field(&prediction.prediction)
        );
        for (_, probability) in &prediction.probabilities {
            line.push_str(&format!(",{probability:.6}"));
        }
        self.text(&line)
    }
}

/// A field of CSV, quoted where it has to be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
