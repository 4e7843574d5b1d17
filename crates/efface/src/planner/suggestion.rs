//! The first choice of a plan, for whoever has a table and no settings yet.

use efface_page::number::{duration, near};
use efface_page::{Page, Section, Table, Tone};

use super::Advice;

/// What the first choice takes, in seconds, reading and committing not counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// The first training, usually.
    pub fit: f64,
    /// One request, usually.
    pub request: f64,
}

impl Advice {
    /// The times of the first choice; none without a choice.
    #[must_use]
    pub fn times(&self) -> Option<Times> {
        let best = self.choices.first()?;
        let request = best.month_seconds / self.workload.deletions_per_month;
        Some(Times { fit: best.training_seconds(), request })
    }

    /// The first choice as a page: what it does, takes and promises, why it comes first, what the columns
    /// of the table become, and what to know before training. Without a choice, why there is none.
    #[must_use]
    pub fn suggestion(&self) -> Page {
        let mut about = self.about();
        if let Some((best, times)) = self.choices.first().zip(self.times()) {
            let mut facts = vec![
                ("mechanism", format!("{}: {}", best.name, best.says)),
                ("training", format!("about {}", duration(times.fit))),
                (
                    "a deletion",
                    format!("about {}, {}", duration(times.request), best.lasts.words()),
                ),
            ];
            facts.extend(best.excess_risk.map(|risk| {
                ("noise", format!("costs an excess risk of at most {}", near(risk, 2)))
            }));
            about = about.facts(facts);
        }
        let refused = self.refused.iter().filter(|_| self.choices.is_empty());
        let refused = refused.map(|refusal| format!("{}: {}", refusal.name, refusal.reason));
        let cells = |line: &String| {
            let (name, what) = line.split_once(": ").unwrap_or(("", line));
            [name.to_owned(), what.to_owned()]
        };
        let columns = self.seen.preprocessing.iter().map(cells);
        let table = Table::new("preprocessing, fitted to the records", &["", ""]).rows(columns);
        let notices = self.seen.notices.iter().fold(Section::new(""), |section, notice| {
            let word = if notice.code.is_warning() { "warning" } else { "note" };
            section.notice(Tone::Note, word, notice.message.clone())
        });
        Page::new("")
            .of("Suggestion")
            .with(about)
            .with(Section::new("why").list(&self.advice).list(refused))
            .with(Section::new("").table(table))
            .with(notices)
    }
}
