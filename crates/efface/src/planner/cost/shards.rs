//! `shards`: a training of all networks, and of those that a request touches.

use std::ops::ControlFlow;

use efface_net::{Data, sgd};

use super::{
    Cost, Count, Inputs, PassTime, TimeOrigin, Timing, lasts, month, requests, seconds_of,
    synthetic,
};
use crate::error::{Code, Error, Result};
use crate::plan::{Plan, ShardedPlan};

pub(super) fn cost(sharded: &ShardedPlan, plan: &Plan, inputs: &Inputs<'_>) -> Result<Cost> {
    let workload = inputs.workload;
    let (epochs, shards) = (sharded.epochs as f64, sharded.shards as f64);
    // Shards that so many names are expected to be in, as hashes spread them, over all shards.
    let touched = |records: u64| 1.0 - (1.0 - 1.0 / shards).powf(records as f64);
    let share = workload.groups.iter().map(|&group| touched(group)).sum::<f64>();
    let usual = epochs * share / workload.groups.len().max(1) as f64;
    // A request may touch all shards, or one that most records are in.
    let count = |passes: f64, exact: bool| Count {
        passes_at_most: sharded.epochs,
        passes_usually: passes,
        work_usually: passes,
        exact,
    };
    let request = count(usual, sharded.shards == 1);
    let lasts = lasts(plan, workload.deletions_per_month, None);
    Ok(Cost {
        training: count(epochs, true),
        request,
        steps: Vec::new(),
        without_pass: None,
        month_passes: month(inputs, request.work_usually, 0.0, &lasts),
        excess_risk: None,
        lasts,
        claims: requests(plan, inputs, workload.groups.len())?.claims,
    })
}

/// The time of an epoch of all networks together.
pub(super) fn pass(plan: &ShardedPlan, records: u64, timing: &mut Timing<'_>) -> Result<PassTime> {
    let network = plan.network()?;
    let (seconds, origin) = match timing {
        Timing::Counted(each) => {
            let gradient = 3.0 * network.multiplications() as f64;
            (gradient * records as f64 * *each, TimeOrigin::Counted)
        }
        Timing::Measured(clock) => {
            let (rows, labels) =
                synthetic(plan.width(), plan.outputs, (records / plan.shards).max(1));
            let data = Data { rows: &rows, labels: &labels, units: None };
            let keys: Vec<u64> = (0..labels.len() as u64).collect();
            let failed =
                |error: efface_net::NetError| Error::refused(Code::Pass, error.to_string());
            let each = seconds_of(*clock, |epochs| {
                let checked = ShardedPlan { epochs, ..plan.clone() }.checked(&network, 0)?;
                let (start, go_on) =
                    (network.initial(plan.start), &mut |_| ControlFlow::Continue(()));
                sgd(&network, &checked, &data, &keys, start, go_on).map(drop).map_err(failed)
            })?;
            let rows = labels.len() as u64;
            (each * records as f64 / rows as f64, TimeOrigin::Measured { rows })
        }
    };
    Ok(PassTime { ms: (seconds * 1000.0).max(1e-9), origin })
}
