//! The candidates: one entry for each way to serve requests. To add a mechanism, add an entry.

mod settings;

pub(in crate::planner) use settings::{allowed, objective};

use efface_privacy::event::State;

use crate::error::{Code, Error, Result};
pub(super) use crate::mechanism::cost::Inputs;
use crate::settings::{MechanismName, Settings};

/// One way to serve requests.
pub(super) struct Candidate {
    /// What users choose it by.
    pub(super) name: &'static str,
    mechanism: MechanismName,
    /// What it keeps.
    state: State,
    /// What it does, in a few words.
    pub(super) says: &'static str,
    /// Its settings; none where the settings asked for leave no room for it.
    pub(super) settings: fn(&Inputs<'_>) -> Result<Option<Settings>>,
}

/// All of them; of equals, the earlier one is ranked first.
pub(super) const CANDIDATES: &[Candidate] = &[
    Candidate {
        name: "retrain",
        mechanism: MechanismName::Retrain,
        state: State::Perfect,
        says: "solve from zeros, publish with noise",
        settings: |c| Ok(Some(settings::solving(c, MechanismName::Retrain))),
    },
    Candidate {
        name: "solve",
        mechanism: MechanismName::Solve,
        state: State::Perfect,
        says: "solve from the published model, publish with fresh noise",
        settings: |c| Ok(Some(settings::solving(c, MechanismName::Solve))),
    },
    Candidate {
        name: "ridge",
        mechanism: MechanismName::Ridge,
        state: State::Perfect,
        says: "solve from whole-number sums of rounded rows, without a clip or noise",
        settings: settings::sums,
    },
    Candidate {
        name: "solve-secret",
        mechanism: MechanismName::Solve,
        state: State::Secret,
        says: "the same from the kept state, for a month's requests between refreshes",
        settings: settings::secret,
    },
    Candidate {
        name: "solve-newton",
        mechanism: MechanismName::Solve,
        state: State::Secret,
        says: "Newton steps from a kept memory, reading only the changed rows",
        settings: settings::memory,
    },
    Candidate {
        name: "noisy-gd",
        mechanism: MechanismName::NoisyGd,
        state: State::Perfect,
        says: "noisy gradient steps, as much noise as the excess risk allows",
        settings: |c| settings::noisy(c, 1.0),
    },
    Candidate {
        name: "noisy-gd-accurate",
        mechanism: MechanismName::NoisyGd,
        state: State::Perfect,
        says: "noisy gradient steps at a tenth of that excess risk",
        settings: |c| settings::other_noise(c, 0.1),
    },
    Candidate {
        name: "noisy-gd-quick",
        mechanism: MechanismName::NoisyGd,
        state: State::Perfect,
        says: "noisy gradient steps at ten times that excess risk",
        settings: |c| settings::other_noise(c, 10.0),
    },
    Candidate {
        name: "descent-to-delete",
        mechanism: MechanismName::DescentToDelete,
        state: State::Perfect,
        says: "gradient steps from the published model, publish with fresh noise",
        settings: |c| settings::descent(c, State::Perfect),
    },
    Candidate {
        name: "descent-secret",
        mechanism: MechanismName::DescentToDelete,
        state: State::Secret,
        says: "gradient steps from the kept state, for a month's requests between refreshes",
        settings: |c| settings::descent(c, State::Secret),
    },
    Candidate {
        name: "distributed-descent",
        mechanism: MechanismName::DistributedDescent,
        state: State::Secret,
        says: "average of models of small parts of a sample; a request modifies a few parts",
        settings: settings::parts,
    },
];

/// Mechanisms of the literature that earn no certificate, and why.
pub(super) const NEVER_CERTIFIED: [(&str, &str); 1] = [(
    "objective-perturbation",
    "NOT SOUND: the residual of its Newton removal depends on the perturbation that should hide \
     it, so the published theorem does not hold; it is never certified",
)];

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
