//! Derives the claims that a release earns under its plan.

use efface_privacy::certificate::RequestKind;
use efface_privacy::claim::{Claim, Notion, Question, Requests, evaluate};
use efface_privacy::event::{Event, State};

use super::by_name;
use crate::error::{Code, Error, Result};
use crate::plan::{Plan, private_notion};

/// Returns the claims that an event earns under a plan: the requested one first, then the others.
pub(crate) fn claims(
    plan: &Plan,
    event: &Event,
    kind: RequestKind,
    records: u64,
) -> Result<Vec<Claim>> {
    let (target, profile) = (&plan.target, by_name(plan.mechanism).profile());
    let further = profile.further;
    let removal = matches!(kind, RequestKind::Delete | RequestKind::Update);
    let mut questions = Vec::new();
    // Deletion-privacy is about deletions; other requests are certified by the other notions only.
    let wanted = target.notion != Notion::DeletionPrivacy || removal;
    if wanted {
        questions.push((target.question(), target.accountant));
        if target.accountant != further {
            questions.push((target.question(), further));
        }
    }
    let delta = target.delta.0;
    // Given features are accounted by the number of deleted records.
    let counted = profile.states_counts || matches!(event, Event::Composed(_));
    // If counts are private, no phase states one, so nothing follows from them.
    if target.notion != Notion::IndistinguishableFromRetraining && !(counted && plan.hides_counts())
    {
        questions.push((Question::Indistinguishable { delta }, further));
    }
    let group = plan.schedule.scheduled().hides_group(plan, event, records);
    if target.notion != Notion::DeletionPrivacy && plan.state == State::Perfect && removal && group
    {
        let question = Question::Deletion {
            order: target.order.0,
            adjacency: target.adjacency,
            requests: Requests::NonAdaptive,
        };
        questions.push((question, further));
    }
    if target.notion != Notion::DifferentialPrivacy {
        let question = Question::Differential { delta, adjacency: target.adjacency };
        questions.push((question, further));
    }
    let of_network = plan.trunk.as_ref().is_some_and(|trunk| trunk.data_derived.is_some());
    if plan.data_derived().next().is_some() || of_network {
        questions.retain(|(question, _)| !private_notion(Notion::of(question)));
    }
    let mut claims = Vec::new();
    for (position, (question, accountant)) in questions.iter().enumerate() {
        let asked = wanted && position == 0;
        match evaluate(event, question, *accountant) {
            // An infinite epsilon is no claim.
            Ok(claim) if !asked && claim.epsilon.0.is_infinite() => {}
            Ok(claim) => claims.push(claim),
            // The requested claim must hold; the others are extra and left out if the event does not support
            // them (DP under `mean` without a public minimum).
            Err(error) if asked => {
                return Err(Error::refused(Code::Accounting, error.to_string()));
            }
            Err(_) => {}
        }
    }
    Ok(claims)
}

/// Checks that the requested claim meets the plan's target.
pub(crate) fn within_target(plan: &Plan, claims: &[Claim]) -> Result<()> {
    if claims.is_empty() {
        return Err(Error::refused(Code::Accounting, "the release supports no claim"));
    }
    let allowed = plan.target.epsilon.0;
    let wanted = claims.iter().find(|claim| claim.notion == plan.target.notion);
    let Some(first) = wanted.filter(|claim| claim.epsilon.0 > allowed) else { return Ok(()) };
    Err(Error::refused(
        Code::BudgetExhausted,
        format!(
            "this request would end at epsilon {} for {}, but the model promises {allowed}",
            first.epsilon,
            first.notion.name()
        ),
    )
    .hint(if by_name(plan.mechanism).profile().refreshes {
        "`§efface refresh` retrains the model; then as many deletions are possible as at first"
    } else {
        "delete fewer records per request, or train a new model (possibly with more removal steps)"
    }))
}
