//! Accountants side by side.

use efface::EventBound;

use super::{Output, to_value};
use crate::failure::Result;

impl Output {
    /// Shows what each accountant says about each notion.
    pub(crate) fn bounds(&mut self, bounds: &[EventBound]) -> Result<()> {
        if self.is_json() {
            let value = to_value(&bounds)?;
            return self.value(&value);
        }
        let mut notion = "";
        for bound in bounds {
            if bound.notion != notion {
                notion = bound.notion;
                let at = match (bound.delta, bound.order) {
                    (Some(delta), _) => format!(", delta {delta}"),
                    (_, Some(order)) => format!(", order {order}"),
                    _ => String::new(),
                };
                self.text(&format!("{notion}{at}"))?;
            }
            let said = match (bound.epsilon, &bound.reason) {
                (Some(epsilon), _) => format!("epsilon {epsilon}"),
                (None, Some(reason)) => format!("none: {reason}"),
                (None, None) => "none".to_owned(),
            };
            self.text(&format!("  {:<15} {said}", bound.accountant.name()))?;
        }
        Ok(())
    }
}
