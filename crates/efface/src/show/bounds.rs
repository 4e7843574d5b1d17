//! What every accountant says about the event of a certificate, side by side.

use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{Certificate, read_off};
use efface_privacy::claim::{Notion, Question, Requests, evaluate};
use efface_privacy::event::{Adjacency, Event};
use efface_privacy::quantity::{Decimal, Delta};
use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::plan::private_notion;

/// One accountant's answer to one question about an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventBound {
    /// The accountant.
    pub accountant: Accountant,
    /// The notion, by name.
    pub notion: &'static str,
    /// epsilon, rounded up; none if there is no bound.
    pub epsilon: Option<Decimal>,
    /// The delta it holds at, for (epsilon, delta) notions.
    pub delta: Option<Decimal>,
    /// The order it holds at, for Rényi notions.
    pub order: Option<Decimal>,
    /// What the two worlds differ in, if that matters.
    pub adjacency: Option<Adjacency>,
    /// Why there is no bound.
    pub reason: Option<String>,
}

/// The order of the Rényi notions if a certificate states none.
const ORDER: f64 = 2.0;

/// The answers of every accountant to every notion about the event of a certificate's text.
///
/// `delta` and the order are the certificate's unless given. Notions that protect single records have
/// no bound if a constant was read off the data. Nothing else is verified: whether the certificate
/// is genuine is for [`verify`](crate::verify()).
///
/// # Errors
/// When the text is no certificate, or no delta in (0, 1) is given or listed.
pub fn bounds(text: &str, delta: Option<f64>) -> Result<Vec<EventBound>> {
    let certificate =
        Certificate::parse(text).map_err(|e| Error::input(Code::Certificate, e.to_string()))?;
    let listed = |name: &str| {
        let found = certificate.constants.iter().find(|c| c.name == name)?;
        found.value.parse::<Decimal>().ok().map(|value| value.0)
    };
    let delta = delta.or_else(|| listed("delta")).ok_or_else(|| {
        Error::input(Code::Delta, "the certificate lists no `delta`").hint("give `§delta`")
    })?;
    Delta::new(delta).map_err(|error| Error::input(Code::Range, error.to_string()))?;
    let order = listed("order").unwrap_or(ORDER);
    let stated = certificate.claims.iter().find_map(|claim| claim.adjacency);
    let adjacency = stated.unwrap_or(Adjacency::Replace);
    let requests = Requests::NonAdaptive;
    let questions = [
        Question::Indistinguishable { delta },
        Question::Renyi { order },
        Question::Deletion { order, adjacency, requests },
        Question::Differential { delta, adjacency },
        Question::Exact,
    ];
    let normalizer = certificate.event.setting().map(|setting| setting.normalizer);
    let told = read_off(&certificate.constants, normalizer).next();
    let told = told.map(|constant| constant.name.as_str());
    Ok(questions
        .iter()
        .flat_map(|question| Accountant::ALL.map(|a| answer(&certificate.event, question, a, told)))
        .collect())
}

/// `told` is a constant that was read off the data.
fn answer(
    event: &Event,
    question: &Question,
    accountant: Accountant,
    told: Option<&str>,
) -> EventBound {
    let (delta, order, adjacency) = question.parameters();
    let told = told.filter(|_| private_notion(Notion::of(question)));
    let found = match told {
        Some(name) => {
            Err(format!("`{name}` was computed from the data, where one record could change it"))
        }
        None => evaluate(event, question, accountant).map_err(|error| error.to_string()),
    };
    EventBound {
        accountant,
        notion: Notion::of(question).name(),
        epsilon: found.as_ref().ok().map(|claim| claim.epsilon),
        delta: delta.map(Decimal),
        order: order.map(Decimal),
        adjacency,
        reason: found.err(),
    }
}
