//! `dp-sgd`: a network trained by noisy sums of clipped gradients. A deletion computes nothing: the records
//! leave, the model stays, and the accountant counts them until the plan's capacity is spent.

mod parts;
mod rows;
mod schedule;
mod signal;

use efface_learn::Constants;
use efface_learn::loss::LossName;
use efface_learn::mechanism::{Change, Evidence, Released};
use efface_net::{NetError, Progress as Step};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{self, Assumption};
use efface_privacy::claim::Notion;
use efface_privacy::event::{DpSgd as Sampled, Event, Segment, State, Unit, Variant};
use efface_privacy::quantity::Decimal;
use zeroize::Zeroize;

use super::{
    Conduct, Defaults, Mechanism, NextRequest, Profile, Public, Request, Run, Scheduled, Start,
    clash,
};
use crate::context::{Progress, Watch};
use crate::error::{Code, Error, Result};
use crate::plan::{List, MechanismName, Plan, SampledPlan, Schedule, ValidatedSettings};
use crate::rows::failed;
use crate::settings::Settings;

use parts::OnParts;
pub(super) use schedule::NETWORK;
pub(super) use signal::signal;

pub(super) struct DpSgd;

const NAME: MechanismName = MechanismName::DpSgd;

/// The number of rows that a subject may have if it is not bounded.
const ANY_ROWS: u64 = u32::MAX as u64;

/// Returns the event of a training: nothing deleted since, and the earlier trainings.
fn event(plan: &SampledPlan) -> Result<Sampled> {
    let checked = plan.checked(&plan.network()?)?;
    Ok(Sampled {
        parameters: plan.weights,
        unit: plan.unit,
        rows_per_unit: match plan.unit {
            Unit::Record => 1,
            Unit::Subject => ANY_ROWS,
        },
        clip: plan.clip,
        noise: plan.noise,
        grid: Decimal(checked.grid()),
        rate: plan.rate,
        group: plan.group,
        releases: 1,
        segments: vec![Segment { steps: plan.steps, deleted: 0 }],
        earlier_steps: 0,
    })
}

/// Returns whether a request is served without training, because it deletes and adds nothing.
fn only_deletes(change: &Change<'_>) -> bool {
    !change.deleted_since.is_empty() && change.added == 0
}

/// Turns the event of the model into the event of its next request.
fn advanced(sampled: &SampledPlan, last: &Sampled, change: &Change<'_>) -> Result<Sampled> {
    let mut next = Sampled { releases: last.releases + 1, ..last.clone() };
    if only_deletes(change) {
        let deleted = change.deleted_since.len() as u64;
        for segment in &mut next.segments {
            segment.deleted = segment.deleted.saturating_add(deleted);
        }
        return if next.deleted() <= sampled.deletions {
            Ok(next)
        } else {
            Err(spent(sampled, &next))
        };
    }
    let before = last.segments.iter().map(|segment| segment.steps);
    next.earlier_steps = before.fold(last.earlier_steps, u64::saturating_add);
    next.segments = vec![Segment { steps: sampled.steps, deleted: 0 }];
    Ok(next)
}

/// Returns the error for more deletions than the noise was chosen for.
fn spent(plan: &SampledPlan, next: &Sampled) -> Error {
    let message = format!(
        "{} {}s would have been deleted since the training, but its noise was chosen for {}",
        next.deleted(),
        plan.unit.name(),
        plan.deletions
    );
    Error::refused(Code::BudgetExhausted, message).hint(
        "`§efface refresh` retrains the model; then as many deletions are possible as at first",
    )
}

fn stated(event: &Event) -> Result<&Sampled> {
    match event {
        Event::DpSgd(event) => Ok(event),
        _ => Err(Error::storage(Code::Damaged, "the vault's event is not one of `dp-sgd`")),
    }
}

impl Mechanism for DpSgd {
    fn defaults(&self, _: &Settings, _: Variant) -> Defaults {
        Defaults { accountant: Accountant::Pld, ..Defaults::of_networks() }
    }

    fn profile(&self) -> Profile {
        Profile {
            takes_weights: false,
            minimises: false,
            further: Accountant::Pld,
            refreshes: true,
            counts_people: true,
            states_counts: true,
            limits_releases: false,
            continues_history: true,
            holders_do: "checks, clips, sums and erases its rows as this version of efface does, and \
                         keeps secret which of them a step draws",
            assumptions: certificate::NETWORK.map(Assumption::from).into(),
            ..Profile::default()
        }
    }

    fn check(&self, choices: &ValidatedSettings) -> Result<()> {
        check(choices)
    }

    fn schedule(&self, public: &Public<'_>, list: &mut List) -> Result<Schedule> {
        schedule::schedule(public, list).map(Schedule::Sampled)
    }
}

impl Scheduled for SampledPlan {
    fn examine(&self, plan: &Plan, constants: &Constants) -> Result<()> {
        let shaped = self.input.iter().try_fold(1_u64, |all, side| all.checked_mul((*side).into()));
        let fits = shaped == Some(plan.rows.features)
            && plan.rows.intercept.0 == 0.0
            && self.group == plan.setting.group
            && (plan.subjects || self.unit == Unit::Record)
            && u64::from(self.outputs) == constants.loss().outputs() as u64
            && plan.state == State::Perfect;
        if !fits {
            let message = "its network does not fit its rows, its classes or its units";
            return Err(Error::storage(Code::Damaged, message));
        }
        self.checked(&self.network()?).map(drop)
    }

    fn conduct(&self, _: &Plan) -> Conduct {
        Conduct { repeats_steps: true, ..Conduct::default() }
    }

    fn is_of(&self, _: &Plan, event: &Event) -> bool {
        let (Event::DpSgd(event), Ok(expected)) = (event, self::event(self)) else { return false };
        let rest = |of: &Sampled| Sampled {
            releases: 0,
            segments: Vec::new(),
            earlier_steps: 0,
            ..of.clone()
        };
        rest(event) == rest(&expected)
    }

    /// Trains, or publishes the same weights again if the request only deletes.
    fn run(&self, run: Run<'_>, tell: &mut Watch<'_>) -> Result<Released> {
        let event = match run.start {
            Start::Nothing => event(self)?,
            Start::Given(_) => {
                return Err(Error::refused(
                    Code::By(NAME),
                    "`dp-sgd` does not accept starting weights",
                ));
            }
            Start::Request(Request { weights, event: last, change, .. }) => {
                let event = advanced(self, stated(last)?, change)?;
                if only_deletes(change) {
                    return Ok(Released {
                        weights: weights.to_vec(),
                        event: Event::DpSgd(event),
                        evidence: Evidence::Sampled { steps: 0, passes: 0 },
                        kept: None,
                    });
                }
                event
            }
        };
        let network = self.network()?;
        let checked = self.checked(&network)?;
        let units = match self.unit {
            Unit::Record => None,
            Unit::Subject => Some(rows::subjects(run.rows)?),
        };
        let watch =
            &mut |step: Step| tell(&Progress::Training { step: step.done, total: step.steps });
        let start = network.initial(self.start);
        let trained = if let Some(held) = run.rows.parts() {
            let mut sums = OnParts::new(held, &checked, units.as_deref())?;
            efface_net::dp_sgd_on(&network, &checked, &mut sums, start, run.rng, watch)
        } else {
            let (mut rows, mut labels) = rows::of(run.rows.data()?, self.width())?;
            let data = efface_net::Data { rows: &rows, labels: &labels, units: units.as_deref() };
            let trained = efface_net::dp_sgd(&network, &checked, &data, start, run.rng, watch);
            rows.zeroize();
            labels.zeroize();
            trained
        };
        let weights = trained.map_err(|error| match error {
            NetError::Cancelled => Error::interrupted(),
            NetError::Part(reason) => failed(reason),
            NetError::Diverged => {
                Error::refused(Code::By(NAME), "the weights diverged").hint("lower `§eta`")
            }
            other => Error::refused(Code::By(NAME), other.to_string()),
        })?;
        let passes = (self.steps as f64 * self.rate.0).ceil() as u64;
        Ok(Released {
            weights: weights.into_iter().map(f64::from).collect(),
            event: Event::DpSgd(event),
            evidence: Evidence::Sampled { steps: self.steps, passes },
            kept: None,
        })
    }

    fn first_event(&self, _: &Plan, _: &Constants, _: usize) -> Result<Event> {
        event(self).map(Event::DpSgd)
    }

    fn advance(&self, last: &mut Event, next: &NextRequest<'_>, _: u64) -> Result<()> {
        let NextRequest { change, .. } = *next;
        *last = Event::DpSgd(advanced(self, stated(last)?, &change)?);
        Ok(())
    }
}

/// Refuses settings that `dp-sgd` has no use for.
fn check(choices: &ValidatedSettings) -> Result<()> {
    let s = &choices.settings;
    if choices.loss != LossName::Softmax {
        return clash(
            &format!("`dp-sgd` with the loss `{}`", choices.loss.name()),
            "is not offered: its networks are classifiers of two or more classes",
            "leave out `§loss`",
        );
    }
    if choices.notion != Notion::IndistinguishableFromRetraining {
        return clash(
            &format!("`dp-sgd` with `§notion {}`", choices.notion.name()),
            "is not offered: the noise is chosen for closeness to retraining; if N and the \
             classes are declared, certificates also state the differential privacy of all \
             trainings",
            "leave out `§notion`; a lower `§epsilon` or more `§deletions` lowers both",
        );
    }
    if choices.accountant != Accountant::Pld {
        return clash(
            &format!("`dp-sgd` with `§accountant {}`", choices.accountant.name()),
            "is not offered: steps on sampled batches are accounted by `pld`",
            "leave out `§accountant`",
        );
    }
    if choices.state == State::Secret {
        return clash(
            "`dp-sgd` with `§state secret`",
            "is not offered: it publishes the weights that it keeps",
            "leave out `§state`",
        );
    }
    let without_use = [
        ("lambda", s.lambda.is_some(), "no penalty is added; noise and steps bound the weights"),
        ("intercept", s.intercept.is_some(), "layers have biases of their own"),
        ("excess-risk", s.excess_risk.is_some(), "nobody can predict that of a network"),
        ("releases", s.releases.is_some(), "a deletion releases the same weights again"),
        ("normalizer", choices.mean && !choices.fitted, "sums are divided by a public number"),
        ("extractor-privacy", s.extractor_privacy.is_some(), "the two are not composed yet"),
    ];
    let given = without_use.into_iter().find(|(_, given, _)| *given);
    given.map_or(Ok(()), |(name, _, reason)| {
        let rule = format!("has no meaning with `dp-sgd`: {reason}");
        clash(&format!("`§{name}`"), &rule, "leave it out")
    })
}
