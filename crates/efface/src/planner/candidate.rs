//! The candidates: one entry for each way to serve requests. To add a mechanism, add an entry.

mod networks;
mod settings;

pub(in crate::planner) use networks::sums_of_features;

use efface_privacy::event::State;

use crate::error::{Code, Error, Result};
use crate::plan::DataSummary;
use crate::planner::cost::Inputs;
use crate::settings::{MechanismName, Settings};

/// One way to serve requests.
pub(super) struct Candidate {
    /// What users choose it by.
    pub(super) name: &'static str,
    mechanism: MechanismName,
    state: State,
    pub(super) over: Over,
    /// The mechanism of a second model, on the features of the network that this one trains.
    pub(super) head: Option<MechanismName>,
    /// What it does, in a few words.
    pub(super) says: &'static str,
    /// Its settings; none if the settings asked for leave no room for it.
    pub(super) settings: fn(&Inputs<'_>) -> Result<Option<Settings>>,
}

/// What a candidate learns from.
pub(super) enum Over {
    /// Rows as all linear models are compared on them.
    Rows,
    Declared,
    /// Random features of such rows, by a map as `features` names it; none if rows ask for another.
    Features(fn(&DataSummary) -> Option<&'static str>),
}

impl Candidate {
    /// A model of rows that keeps nothing.
    const fn new(
        name: &'static str,
        says: &'static str,
        mechanism: MechanismName,
        settings: fn(&Inputs<'_>) -> Result<Option<Settings>>,
    ) -> Self {
        let state = State::Perfect;
        Self { name, mechanism, state, over: Over::Rows, head: None, says, settings }
    }

    /// The same with kept state.
    const fn secret(self) -> Self {
        Self { state: State::Secret, ..self }
    }

    /// The same of other rows.
    const fn over(self, over: Over) -> Self {
        Self { over, ..self }
    }
}

/// All of them; of equals, the earlier one is ranked first.
pub(super) const CANDIDATES: &[Candidate] = &[
    Candidate::new(
        "retrain",
        "solve from zeros, publish with noise",
        MechanismName::Retrain,
        |c| Ok(Some(settings::solving(c, MechanismName::Retrain))),
    ),
    Candidate::new(
        "solve",
        "solve from the published model, publish with fresh noise",
        MechanismName::Solve,
        |c| Ok(Some(settings::solving(c, MechanismName::Solve))),
    ),
    Candidate::new(
        "ridge",
        "solve from whole-number sums of rounded rows, without a clip or noise",
        MechanismName::Ridge,
        settings::sums,
    ),
    Candidate::new(
        "solve-secret",
        "the same from the kept state, for a month's requests between refreshes",
        MechanismName::Solve,
        settings::secret,
    )
    .secret(),
    Candidate::new(
        "solve-newton",
        "Newton steps from a kept memory, reading only the changed rows",
        MechanismName::Solve,
        settings::memory,
    )
    .secret(),
    Candidate::new(
        "noisy-gd",
        "noisy gradient steps, as much noise as the excess risk allows",
        MechanismName::NoisyGd,
        |c| settings::noisy(c, 1.0),
    ),
    Candidate::new(
        "noisy-gd-accurate",
        "noisy gradient steps at a tenth of that excess risk",
        MechanismName::NoisyGd,
        |c| settings::other_noise(c, 0.1),
    ),
    Candidate::new(
        "noisy-gd-quick",
        "noisy gradient steps at ten times that excess risk",
        MechanismName::NoisyGd,
        |c| settings::other_noise(c, 10.0),
    ),
    Candidate::new(
        "descent-to-delete",
        "gradient steps from the published model, publish with fresh noise",
        MechanismName::DescentToDelete,
        |c| settings::descent(c, State::Perfect),
    ),
    Candidate::new(
        "descent-secret",
        "gradient steps from the kept state, for a month's requests between refreshes",
        MechanismName::DescentToDelete,
        |c| settings::descent(c, State::Secret),
    )
    .secret(),
    Candidate::new(
        "distributed-descent",
        "average of models of small parts of a sample; a request modifies a few parts",
        MechanismName::DistributedDescent,
        settings::parts,
    )
    .secret(),
    Candidate::new(
        "ridge-random-conv",
        "ridge on random filters of images",
        MechanismName::Ridge,
        networks::sums_of_features,
    )
    .over(Over::Features(networks::filters)),
    Candidate::new(
        "ridge-gated",
        "ridge on random gated features",
        MechanismName::Ridge,
        networks::sums_of_features,
    )
    .over(Over::Features(networks::gated)),
    Candidate::new(
        "ridge-rff",
        "ridge on random Fourier features",
        MechanismName::Ridge,
        networks::sums_of_features,
    )
    .over(Over::Features(networks::fourier)),
    Candidate::new(
        "solve-random-conv",
        "solve on random filters of images",
        MechanismName::Solve,
        |c| Ok(Some(settings::solving(c, MechanismName::Solve))),
    )
    .over(Over::Features(networks::filters)),
    Candidate::new("solve-rff", "solve on random Fourier features", MechanismName::Solve, |c| {
        Ok(Some(settings::solving(c, MechanismName::Solve)))
    })
    .over(Over::Features(networks::fourier)),
    Candidate::new(
        ANEW,
        "plain retraining: one network, trained anew on what remains, without noise",
        MechanismName::Shards,
        networks::anew,
    )
    .over(Over::Declared),
    Candidate::new(
        "shards",
        "a network on each of several shards, without noise; a request trains a few anew",
        MechanismName::Shards,
        networks::shards,
    )
    .over(Over::Declared),
    Candidate::new(
        "dp-sgd",
        "a network trained with noise for deletions in advance, which then compute nothing",
        MechanismName::DpSgd,
        networks::noisy,
    )
    .over(Over::Declared),
    Candidate {
        head: Some(MechanismName::Ridge),
        ..Candidate::new(
            "trunk-ridge",
            "such a network, and ridge on its hidden features, without probabilities",
            MechanismName::DpSgd,
            networks::trunk,
        )
        .over(Over::Declared)
    },
];

/// The candidate that is plain retraining of a network.
pub(super) const ANEW: &str = "network-anew";

/// A mechanism of the literature that earns no certificate, and why.
pub(super) const NEVER_CERTIFIED: (&str, &str) = (
    "noisy-fine-tuning",
    "of a network: a certificate that holds for every model it starts from holds for an untrained \
         one, too, so that the same noisy steps must reach the same accuracy from there, up to the \
         certificate's epsilon: it is retraining with more noise, and saves nothing",
);

/// The candidates that the settings asked for leave.
pub(super) fn asked_for(settings: &Settings) -> Result<Vec<&'static Candidate>> {
    let secret = |state| if state == State::Secret { "secret" } else { "perfect" };
    let wanted = |candidate: &&Candidate| {
        let is = |want: &Option<String>, name: &str| want.as_deref().is_none_or(|w| w == name);
        is(&settings.mechanism, candidate.mechanism.name())
            && is(&settings.state, secret(candidate.state))
    };
    let list: Vec<_> = CANDIDATES.iter().filter(wanted).collect();
    if list.is_empty() {
        return Err(Error::refused(Code::Mechanism, "no mechanism has the settings asked for")
            .hint("leave out `§mechanism` or `§state`"));
    }
    Ok(list)
}
