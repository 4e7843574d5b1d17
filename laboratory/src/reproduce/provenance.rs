//! Where a result comes from, in one line.

use super::Experiment;

/// Where a result comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Version of this program.
    version: &'static str,
    /// The commit it was built from, where the build was told (`EFFACE_COMMIT`).
    commit: Option<&'static str>,
    /// When it was run.
    date: String,
    /// The variant.
    quick: bool,
    /// Every data set read, with the SHA-256 of each file.
    data: Vec<String>,
    /// The seeds of all that was drawn.
    seeds: Vec<u64>,
    /// Seconds it took.
    seconds: u64,
}

impl Provenance {
    pub(super) fn new(
        experiment: &Experiment,
        date: &str,
        quick: bool,
        data: Vec<String>,
        seconds: f64,
    ) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("EFFACE_COMMIT"),
            date: date.to_owned(),
            quick,
            data,
            seeds: experiment.seeds.clone(),
            seconds: seconds.ceil() as u64,
        }
    }

    /// All of it in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let commit = self.commit.map_or(String::new(), |commit| format!(", commit {commit}"));
        let variant = if self.quick { "quick variant" } else { "full variant" };
        let data = if self.data.is_empty() { "none".to_owned() } else { self.data.join("; ") };
        let seeds = match self.seeds.as_slice() {
            [] => "none: nothing is drawn".to_owned(),
            seeds => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
        };
        format!(
            "efface {}{commit}, {variant}, {}, {} s; data: {data}; seeds: {seeds}",
            self.version, self.date, self.seconds
        )
    }
}
