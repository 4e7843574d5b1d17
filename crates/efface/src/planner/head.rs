//! A model on the features of a network that is not trained yet: what it will cost and claim.

use efface_privacy::event::Event;

use crate::error::{Code, Error, Result};
use crate::mechanism::first_event;
use crate::plan::{DataSummary, MechanismName, Plan, TakenTrunk, Trunk, ValidatedSettings};
use crate::planner::basis::{Bases, Basis};
use crate::planner::candidate;
use crate::planner::choice::Choice;
use crate::planner::cost::{Count, Inputs, Lasts, Workload, cost, size};
use crate::planner::forecast::planned;
use crate::settings::Settings;

/// A forward pass over what a pass there and back takes.
const FORWARD: f64 = 1.0 / 3.0;

/// The choice of training this network, and then a model by `mechanism` on its features: what requests take and
/// what is claimed is of that model, by its own plan on a network that has its first weights still.
pub(super) fn after(
    choice: Choice,
    mechanism: MechanismName,
    basis: &Basis,
    bases: &mut Bases<'_, '_>,
) -> Result<Choice> {
    let workload = bases.workload;
    let network = planned(choice.settings.clone(), &basis.facts)?;
    let taken = untrained(&network, &basis.facts)?;
    let deletions = taken.trunk.deletions;
    let asked = Settings { network: None, unit: None, deletions: None, ..basis.settings.clone() };
    let asked = asked.of_mechanism(mechanism);
    let inputs = Inputs { settings: &asked, ..basis.inputs(workload) };
    let settings = candidate::sums_of_features(&inputs)?.unwrap_or(asked.clone());
    let features = Some("network:trunk.efface".to_owned());
    let settings = Settings { features, notion: None, ..settings };
    let choices = ValidatedSettings::on(settings.clone(), false, Some(taken))?;
    let map = choices.feature_map.clone();
    let width = map.as_ref().map_or(0, |map| u64::from(map.width()));
    let plain = Settings { features: None, ..settings.clone() };
    let rows = basis.of_width(width, plain, workload, bases.machine)?;
    let facts = DataSummary { feature_map: map, ..rows.facts.clone() };
    let plan = Plan::resolve(&choices, &facts)?;
    // Every size of request is within the deletions; the first shows what is claimed.
    let largest = Workload { groups: vec![workload.largest()], ..workload.clone() };
    let inputs = Inputs { facts: &facts, ..rows.inputs(&largest) };
    let cost = cost(&plan, &inputs)?;
    let in_passes = |count: Count| {
        let work_usually = count.work_usually * rows.pass.seconds() / choice.pass.seconds();
        Count { work_usually, ..count }
    };
    let training = choice.training.and(FORWARD + in_passes(cost.training).work_usually);
    let request = in_passes(cost.request);
    let served = workload.served_by(deletions);
    let months = served as f64 / workload.deletions_per_month;
    let anew = training.work_usually / months;
    let month = workload.deletions_per_month * request.work_usually + anew;
    let lambda = settings.lambda.unwrap_or_default();
    let how = format!(
        "in two steps: this row of the plan trains the network; then train on its features, with \
         `§features network:trunk.efface`, `§mechanism {}`, `§preprocess declared` and `§lambda {lambda:e}`, trunk.efface being \
         the vault of the first; requests and claims here are those of the second model",
        mechanism.name()
    );
    Ok(Choice {
        month_seconds: month * choice.pass.seconds(),
        training,
        request,
        lasts: Lasts::Until { requests: served, months, refresh: false },
        claims: cost.claims,
        notes: choice.notes.into_iter().chain([how]).collect(),
        head: Some(settings),
        ..choice
    })
}

/// The network of a plan as its vault would give it, with the weights that training starts from.
fn untrained(plan: &Plan, facts: &DataSummary) -> Result<TakenTrunk> {
    let damaged = || Error::storage(Code::Plan, "the plan is of no network");
    let sampled = plan.sampled().ok_or_else(damaged)?;
    let start = sampled.network()?.initial(sampled.start);
    let weights: Vec<f64> = start.into_iter().map(f64::from).collect();
    let trunk = Trunk::of(plan, &weights, "", 1, [0; 32])?;
    let records = size(facts.records)?;
    let Event::DpSgd(training) = first_event(plan, records)? else { return Err(damaged()) };
    Ok(TakenTrunk { trunk, training, plan: plan.clone() })
}
