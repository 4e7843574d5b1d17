//! What an audit found: a short table, and a sentence.

use std::path::Path;

use efface_lab::audit::{AuditResult, Instance, Measured, down, up};

use super::{Output, counted, paragraph, to_value};
use crate::failure::Result;

impl Output {
    /// Shows the result of an audit.
    pub(crate) fn audit(
        &mut self,
        path: &Path,
        result: &AuditResult,
        written: Option<&Path>,
    ) -> Result<()> {
        if self.is_json() {
            let value = to_value(result)?;
            return self.value(&value);
        }
        let mut text = in_text(path, result);
        if let Some(written) = written {
            text += &format!(
                "\nwritten to {}: as private as the records, to be erased when one of them is deleted",
                written.display()
            );
        }
        self.text(&text)
    }

    /// Shows how near measurements come to certified numbers, what became of false claims, and a
    /// sentence. What cannot be estimated is a dash; bounds are rounded to their own side.
    pub(crate) fn tightness(
        &mut self,
        measured: &[(Instance, Measured)],
        faults: &[(&str, Measured)],
        words: &str,
    ) -> Result<()> {
        let up = |mu: f64| format!("{:.4}", (mu * 1e4).ceil() / 1e4);
        let down = |mu: f64| format!("{:.4}", (mu * 1e4).floor() / 1e4);
        let mut lines = vec![format!(
            "{:>4} {:>4} {:>5} {:>6} {:>7} {:>3} {:>4}   {:>9} {:>9} {:>9}  {:>8}",
            "T",
            "K",
            "eta",
            "sigma",
            "lambda",
            "S",
            "N",
            "certified",
            "estimate",
            "at least",
            "runs"
        )];
        for (i, found) in measured {
            let estimate = match found.estimate {
                estimate if estimate.is_finite() => format!("{estimate:.4}"),
                _ => "-".to_owned(),
            };
            lines.push(format!(
                "{:>4} {:>4} {:>5} {:>6} {:>7} {:>3} {:>4}   {:>9} {estimate:>9} {:>9}  {:>8}",
                i.learning,
                i.removal,
                i.step,
                i.sigma,
                i.lambda,
                i.group,
                i.n,
                up(found.mu),
                down(found.lower),
                found.counted
            ));
        }
        lines.push(String::new());
        lines.push(format!("{:<40} {:>9} {:>9}  {}", "fault", "claimed", "at least", "verdict"));
        for (fault, found) in faults {
            let word = found.verdict.word();
            let (claimed, least) = (up(found.mu), down(found.lower));
            lines.push(format!("{fault:<40} {claimed:>9} {least:>9}  {word}"));
        }
        lines.extend([String::new(), words.to_owned()]);
        self.text(&lines.join("\n"))
    }
}

fn in_text(path: &Path, result: &AuditResult) -> String {
    let steps = result.steps.map_or_else(String::new, |(learning, removal)| {
        format!(", {learning} steps and {removal} for the deletion")
    });
    let runs = &result.runs;
    let mut lines = vec![
        format!("{}: {}{steps}", path.display(), result.mechanism),
        format!(
            "after certificate {}, head {} {}",
            result.certificate, result.head.index, result.head.hash
        ),
        format!("tested      {}", result.notion),
        format!(
            "deleted     {} of {}: {}",
            counted(result.deleted.count, "record"),
            result.records.used,
            result.deleted.found
        ),
        format!(
            "runs        {} of each world counted, {} to choose tests; {:.0} s, {}",
            runs.counted,
            runs.direction + runs.threshold,
            result.seconds,
            result.method
        ),
        String::new(),
        format!(
            "{:<52} {:>7} {:>7} {:>8} {:>10}",
            "test", "fpr <=", "fnr <=", "mu >=", "epsilon >="
        ),
    ];
    for test in &result.tests {
        let shown = &test.shown;
        lines.push(format!(
            "{:<52} {:>7} {:>7} {:>8} {:>10}",
            format!("{} ({})", test.direction, test.chosen_for),
            up(shown.fpr_upper),
            up(shown.fnr_upper),
            down(shown.mu_lower),
            down(shown.epsilon_lower)
        ));
    }
    lines.push("a certificate of this deletion would say, at most:".into());
    for bound in &result.certified {
        let mu = bound.mu.map_or_else(|| "-".into(), |mu| up(mu.0));
        lines.push(format!(
            "{:<52} {:>7} {:>7} {mu:>8} {:>10}",
            format!("    by {} at delta {:.3e}", bound.accountant, bound.delta.0),
            "",
            "",
            up(bound.epsilon.0)
        ));
    }
    lines.push(String::new());
    for note in &result.notes {
        lines.push(paragraph("note", note));
    }
    lines.push(paragraph(result.verdict.word(), &result.words()));
    lines.join("\n")
}
