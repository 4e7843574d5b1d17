//! Progress on standard error: a bar where it is a terminal, else a line now and then.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use efface::Progress;
use efface_page::number::{counted, near};
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
    /// How the bar is drawn for what is being done.
    template: &'static str,
    first_norm: Option<f64>,
}

/// How work is drawn whose end is known.
const COUNTED: &str = "{msg} [{wide_bar}] {eta} left";
/// How learning is drawn that ends at a gradient norm.
const DESCENDING: &str = "{msg} [{wide_bar}] about {eta} left";
/// How anything else is drawn.
const WORKING: &str = "{spinner} {msg}, {elapsed}";

impl Bar {
    /// A bar, hidden when nobody can see it.
    pub(crate) fn new(json: bool) -> Self {
        let visible = !json && stderr().is_terminal();
        let line = (!json && !visible).then(Instant::now);
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { bar, line, template: "", first_norm: None }
    }

    pub(crate) fn show(&mut self, progress: &Progress) {
        if let Some(last) = self.line {
            if last.elapsed() >= LINES {
                self.line = Some(Instant::now());
                let _ = writeln!(stderr(), "{}", in_words(progress));
            }
            return;
        }
        match *progress {
            // Nothing to wait for.
            Progress::Learning { total: Some(0), .. } => return,
            Progress::Learning { passes, total: Some(total), .. }
            | Progress::Training { step: passes, total } => {
                self.enter(Some(total), COUNTED);
                self.bar.set_length(total);
                self.bar.set_position(passes);
            }
            Progress::Learning { total: None, gradient_norm, goal, .. } => {
                self.enter(Some(STEPS), DESCENDING);
                let first = *self.first_norm.get_or_insert(gradient_norm);
                let done = goal.map_or(0.0, |goal| descended(first, gradient_norm, goal));
                self.bar.set_position((done * STEPS as f64) as u64);
            }
            _ => self.enter(None, WORKING),
        }
        self.bar.set_message(in_words(progress));
    }

    pub(crate) fn clear(&mut self) {
        self.bar.finish_and_clear();
    }

    fn enter(&mut self, length: Option<u64>, template: &'static str) {
        if self.template == template {
            return;
        }
        self.template = template;
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
        Progress::Reading { rows } => format!("reading: {}", counted(rows, "row")),
        Progress::Learning { passes, total, gradient_norm, goal } => {
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            let goal = goal.filter(|_| total.is_none());
            let goal = goal.map_or_else(String::new, |goal| format!(" of {}", near(goal, 2)));
            format!("learning: pass {passes}{of}, gradient {}{goal}", near(gradient_norm, 2))
        }
        Progress::Training { step, total } => format!("training: step {step} of {total}"),
        Progress::Waiting => "waiting for the vault, which another program is using".to_owned(),
        Progress::Changing { records } => format!("deleting: {}", counted(records, "record")),
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
        assert_eq!(in_words(&learning(Some(9))), "learning: pass 3 of 9, gradient 0.5");
        assert_eq!(in_words(&learning(None)), "learning: pass 3, gradient 0.5 of 1e-8");
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
