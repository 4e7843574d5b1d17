//! Which choice comes first, what plain retraining would cost, and what to do.

use efface_learn::loss::LossName;
use efface_learn::mechanism::USUAL_SHIFT;
use efface_learn::solver::{Solver, Stopping, most_work, usual_work};
use efface_page::number::{counted, duration, near};
use efface_privacy::claim::{Notion, Requests};
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::plan::ValidatedSettings;
use crate::planner::candidate::ANEW;
use crate::planner::choice::Choice;
use crate::planner::cost::{Count, Inputs, Lasts};
use crate::planner::forecast::{planned, refit};
use crate::planner::objective::{allowed, compared};
use crate::settings::in_code;

pub(super) const RANKING: &str = "all listed choices meet the target; ranked by excess risk \
    within the limit, then by time per month (requests below 20 ms count as equal), then by \
    simplicity; what learns another loss than the others comes after them, and last what learns \
    from random features or by a network: nothing predicts how accurate that is";

/// Seconds of work per request that do not matter: reading, certifying and committing take as long.
const NOTHING: f64 = 0.02;

/// Retraining without noise from the model before, to the excess risk allowed: what
/// forgetting costs if nothing is certified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Description of the baseline in words.
    pub name: String,
    /// Work of one request, in gradient passes.
    pub request: Count,
    /// Seconds that a month's requests usually take.
    pub month_seconds: f64,
    /// Upper bound on its excess risk.
    pub excess_risk: f64,
    /// What it would claim.
    pub claims: String,
}

pub(super) fn baseline(inputs: &Inputs<'_>) -> Result<Baseline> {
    let plan = planned(compared(inputs.settings, inputs.facts), inputs.facts)?;
    let constants = plan.constants()?;
    let excess_risk = allowed(inputs.settings, inputs.facts);
    let (name, request) = if inputs.settings.lambda == Some(0.0) {
        let Some(radius) = inputs.settings.radius else {
            // The engine's own refusal of lambda 0.
            ValidatedSettings::new(inputs.settings.clone())?;
            return Err(
                Error::refused(Code::Radius, "lambda 0 needs a ball").hint("give `§radius`")
            );
        };
        // D^2 L/(2 T) at most, D = 2 R the farthest a start can be.
        let steps = 2.0 * radius * radius * constants.smoothness() / excess_risk;
        let most = Count::stepped(&[steps.ceil().max(1.0) as u64]);
        ("descend in the ball each time", Count { exact: false, ..most })
    } else {
        let distance = (2.0 * excess_risk / constants.total_smoothness()).sqrt();
        let stopping = Stopping { distance };
        let shift = constants.optimum_shift(inputs.workload.largest(), inputs.facts.records);
        let start = constants.optimum_bound() + distance;
        let most = most_work(&constants, Solver::Automatic, stopping, start);
        let away = USUAL_SHIFT * shift + distance;
        let usual = usual_work(&constants, Solver::Automatic, stopping, away);
        ("retrain each time, warm start", Count::solved(most, usual, constants.parameters()))
    };
    let request = request.and(refit(inputs.facts));
    let month = inputs.workload.deletions_per_month * request.work_usually;
    Ok(Baseline {
        name: name.to_owned(),
        request,
        month_seconds: month * inputs.pass_seconds,
        excess_risk,
        claims: "none: no noise is added, and the previous model saw the deleted \
            records"
            .to_owned(),
    })
}

/// Sorts choices, best first, and numbers them.
pub(super) fn order(choices: &mut [Choice], inputs: &Inputs<'_>) {
    let per_month = inputs.workload.deletions_per_month;
    let time = |choice: &Choice| {
        let nothing = NOTHING * per_month;
        if choice.month_seconds <= nothing { nothing } else { choice.month_seconds }
    };
    // A stable sort: of equals the simpler one, which is listed first, stays first.
    choices.sort_by(|a, b| {
        let kind = kind(a, inputs).cmp(&kind(b, inputs));
        let accurate = b.may_be_accurate().cmp(&a.may_be_accurate());
        kind.then(accurate).then(time(a).total_cmp(&time(b)))
    });
    for (position, choice) in choices.iter_mut().enumerate() {
        choice.rank = position + 1;
    }
}

/// What a choice can be compared with.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// What learns the loss asked for from the rows asked about.
    Alike,
    /// Another loss of these rows.
    OtherLoss,
    /// Other rows, or a network.
    OtherModel,
}

fn kind(choice: &Choice, inputs: &Inputs<'_>) -> Kind {
    let free = inputs.settings.loss.is_none() && inputs.settings.mechanism.is_none();
    if choice.beyond {
        Kind::OtherModel
    } else if free && choice.fixed.loss == LossName::SquaredClasses.name() {
        Kind::OtherLoss
    } else {
        Kind::Alike
    }
}

/// Whether what a choice learns, and nobody asked for, cannot be compared with the others.
pub(super) fn learns_another(choice: &Choice, inputs: &Inputs<'_>) -> bool {
    let asked = inputs.settings.mechanism.is_some() && choice.excess_risk.is_none();
    !asked && kind(choice, inputs) != Kind::Alike
}

/// What to do, a sentence each.
pub(super) fn advice(choices: &[Choice], inputs: &Inputs<'_>) -> Vec<String> {
    let Some(best) = choices.first() else {
        let none = "no mechanism meets the target with these settings; see the reason for each";
        return vec![none.to_owned()];
    };
    let (name, month) = (&best.name, duration(best.month_seconds));
    let mut lines = Vec::new();
    if let Some(risk) = best.excess_risk.filter(|_| !best.accurate) {
        let risk = near(risk, 2);
        lines.push(format!(
            "no choice is predicted to stay within the allowed excess risk; the fastest is `{name}`, \
             with {risk}"
        ));
    }
    let rate = inputs.workload.deletions_per_month;
    let retrain = choices.iter().find(|choice| choice.name == "retrain" && choice.accurate);
    lines.push(match retrain {
        Some(retrain) if retrain.rank == 1 => format!(
            "retrain: it takes about {} a request, and the alternatives save less than \
             certificate and commit cost",
            duration(retrain.month_seconds / rate)
        ),
        Some(retrain) => format!(
            "`{name}`: about {month} a month, where retraining takes {}",
            duration(retrain.month_seconds)
        ),
        None => format!("`{name}`: about {month} a month"),
    });
    let is_dearer = |c: &&Choice| {
        let later = |plain: &Choice| c.rank > plain.rank && c.month_seconds > plain.month_seconds;
        !c.beyond && retrain.is_some_and(later)
    };
    let dearer: Vec<&str> = choices.iter().filter(is_dearer).map(|c| c.name.as_str()).collect();
    if !dearer.is_empty() {
        lines.push(format!("retraining is simply cheaper than {}", dearer.join(", ")));
    }
    let first = best.claims.first();
    if first.is_some_and(|claim| claim.notion == Notion::ExactRemoval) {
        lines.push(format!(
            "`{name}` adds no noise: deleted records are removed exactly, but nothing protects the \
             remaining records or hides the difference between two releases"
        ));
    }
    if first.is_some_and(|claim| claim.requests == Requests::NonAdaptive) {
        lines.push(format!(
            "`{name}` gives no guarantee when requests are chosen after looking at releases"
        ));
    }
    lines.extend(beyond(choices));
    lines
}

/// What to do about models beyond linear ones: what is not predicted, and when training a network anew is
/// cheaper than what avoids it.
fn beyond(choices: &[Choice]) -> Vec<String> {
    let others: Vec<&Choice> = choices.iter().filter(|c| c.beyond).collect();
    let names: Vec<&str> = others.iter().map(|c| c.name.as_str()).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "nobody can predict how accurate networks and models of random features are ({}): compare them on \
         public data, or on records that are not in the model",
        in_code(&names, names.len())
    )];
    if let Some(anew) = others.iter().find(|choice| choice.name == ANEW) {
        let is_dearer = |c: &&&Choice| {
            c.fixed.mechanism.is_of_networks() && c.month_seconds > anew.month_seconds
        };
        let dearer: Vec<&str> = others.iter().filter(is_dearer).map(|c| c.name.as_str()).collect();
        let than = match &dearer[..] {
            [] => "at these rates the other networks take less a month".to_owned(),
            all => {
                format!("a month of that takes less than one of {}", in_code(all, all.len()))
            }
        };
        lines.push(format!(
            "training the network anew takes {} a request, {} an epoch, and is exact, without noise, shards \
             or a limit on deletions (`{ANEW}`): where that is soon enough, do it; {than}",
            duration(anew.request_seconds()),
            duration(anew.pass.seconds()),
        ));
        for choice in &others {
            let Lasts::Until { requests, .. } = choice.lasts else { continue };
            lines.push(format!(
                "to train `{}` takes as long as {} such trainings, for {}",
                choice.name,
                near(choice.training_seconds() / anew.request_seconds(), 2),
                counted(requests, "request"),
            ));
        }
    }
    lines
}
