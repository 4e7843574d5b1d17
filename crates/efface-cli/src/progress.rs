//! Progress on standard error: a bar where it is a terminal, else a line now and then.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use efface::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps of a bar whose end is a gradient norm and not a number of passes.
const STEPS: u64 = 1000;

/// Time between two lines where there is no terminal.
const LINES: Duration = Duration::from_secs(10);

/// How far the work has come, for a human.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// When the last line was written, where lines are written.
    line: Option<Instant>,
    phase: Phase,
    first_norm: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    Reading,
    Counted,
    Descending,
    Storing,
    Copying,
    Waiting,
    Changing,
    #[cfg(feature = "lab")]
    Working,
}

impl Bar {
    /// A bar, hidden when nobody can see it.
    pub(crate) fn new(json: bool) -> Self {
        let visible = !json && stderr().is_terminal();
        let line = (!json && !visible).then(Instant::now);
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { bar, line, phase: Phase::Start, first_norm: None }
    }

    /// Shows what is being done.
    #[cfg(feature = "lab")]
    pub(crate) fn say(&mut self, what: &str) {
        self.enter(Phase::Working, None, "{spinner} {msg}, {elapsed}");
        self.bar.set_message(what.to_owned());
    }

    /// Shows one report.
    pub(crate) fn show(&mut self, progress: &Progress) {
        if let Some(last) = self.line {
            if last.elapsed() >= LINES {
                self.line = Some(Instant::now());
                let _ = writeln!(stderr(), "{}", in_words(progress));
            }
            return;
        }
        match *progress {
            Progress::Reading { rows } => {
                self.enter(Phase::Reading, None, "{spinner} reading: {pos} rows ({per_sec})");
                self.bar.set_position(rows);
            }
            // Nothing to wait for.
            Progress::Learning { total: Some(0), .. } => {}
            Progress::Learning { passes, total: Some(total), gradient_norm, .. } => {
                self.enter(
                    Phase::Counted,
                    Some(total),
                    "learning [{wide_bar}] pass {pos} of {len}, {msg}, {eta} left",
                );
                self.bar.set_length(total);
                self.bar.set_position(passes);
                self.bar.set_message(format!("gradient {gradient_norm:.1e}"));
            }
            Progress::Learning { passes, total: None, gradient_norm, goal } => {
                self.enter(
                    Phase::Descending,
                    Some(STEPS),
                    "learning [{wide_bar}] {msg}, {eta} left",
                );
                let first = *self.first_norm.get_or_insert(gradient_norm);
                let done = goal.map_or(0.0, |goal| descended(first, gradient_norm, goal));
                self.bar.set_position((done * STEPS as f64) as u64);
                let goal = goal.map_or_else(String::new, |goal| format!(" of {goal:.1e}"));
                self.bar.set_message(format!("pass {passes}, gradient {gradient_norm:.1e}{goal}"));
            }
            Progress::Storing => self.enter(Phase::Storing, None, "{spinner} storing"),
            Progress::Copying => self.enter(Phase::Copying, None, "{spinner} copying"),
            Progress::Waiting => {
                let text = "{spinner} waiting for the vault, which another program is using, \
                    {elapsed}";
                self.enter(Phase::Waiting, None, text);
            }
            Progress::Changing { records } => {
                self.enter(Phase::Changing, None, "{spinner} deleting: {pos} records");
                self.bar.set_position(records);
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&mut self) {
        self.bar.finish_and_clear();
    }

    fn enter(&mut self, phase: Phase, length: Option<u64>, template: &str) {
        if self.phase == phase {
            return;
        }
        self.phase = phase;
        self.first_norm = None;
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.reset();
        match length {
            Some(length) => self.bar.set_length(length),
            None => self.bar.unset_length(),
        }
        // Only now: before the first report there is nothing to show.
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }
}

/// One report as a line.
fn in_words(progress: &Progress) -> String {
    match *progress {
        Progress::Reading { rows } => format!("reading: {rows} rows"),
        Progress::Learning { passes, total: Some(total), gradient_norm, .. } => {
            format!("learning: pass {passes} of {total}, gradient {gradient_norm:.1e}")
        }
        Progress::Learning { passes, total: None, gradient_norm, goal } => {
            let goal = goal.map_or_else(String::new, |goal| format!(" of {goal:.1e}"));
            format!("learning: pass {passes}, gradient {gradient_norm:.1e}{goal}")
        }
        Progress::Waiting => "waiting for the vault, which another program is using".to_owned(),
        Progress::Changing { records } => format!("deleting: {records} records"),
        Progress::Copying => "copying".to_owned(),
        Progress::Storing => "storing".to_owned(),
    }
}

/// The share of the way from the first gradient norm to its goal, on a logarithmic scale, in
/// [0, 1].
fn descended(first: f64, now: f64, goal: f64) -> f64 {
    let whole = (first / goal).ln();
    let part = (first / now).ln();
    if whole > 0.0 && part.is_finite() { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_down_is_logarithmic() {
        assert_eq!(descended(1.0, 1.0, 1e-8), 0.0);
        assert!((descended(1.0, 1e-4, 1e-8) - 0.5).abs() < 1e-12);
        assert_eq!(descended(1.0, 1e-9, 1e-8), 1.0);
        assert_eq!(descended(1.0, 2.0, 1e-8), 0.0);
    }

    #[test]
    fn without_a_terminal_a_report_is_a_line() {
        let learning =
            |total| Progress::Learning { passes: 3, total, gradient_norm: 0.5, goal: Some(1e-8) };
        assert_eq!(in_words(&learning(Some(9))), "learning: pass 3 of 9, gradient 5.0e-1");
        assert_eq!(in_words(&learning(None)), "learning: pass 3, gradient 5.0e-1 of 1.0e-8");
        let mut bar = Bar::new(false);
        let long_ago = Instant::now().checked_sub(LINES);
        bar.line = bar.line.and(long_ago);
        bar.show(&Progress::Storing);
        assert!(bar.line.is_none_or(|last| long_ago.is_none_or(|before| last > before)));
    }

    #[test]
    fn odd_norms_show_no_progress_instead_of_nonsense() {
        for (first, now, goal) in [(0.0, 0.0, 0.0), (f64::NAN, 1.0, 1.0), (1.0, 0.5, 2.0)] {
            assert_eq!(descended(first, now, goal), 0.0);
        }
    }
}
