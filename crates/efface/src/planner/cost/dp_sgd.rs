//! `dp-sgd`: a training of counted steps, and deletions that compute nothing.

use std::ops::ControlFlow;

use efface_net::{Data, dp_sgd};
use efface_privacy::quantity::Decimal;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{
    Cost, Count, Inputs, Lasts, PassTime, TimeOrigin, Timing, month, requests, seconds_of,
    synthetic,
};
use crate::error::{Code, Error, Result};
use crate::plan::{Plan, SampledPlan};

pub(super) fn cost(sampled: &SampledPlan, plan: &Plan, inputs: &Inputs<'_>) -> Result<Cost> {
    let (workload, deletions) = (inputs.workload, sampled.deletions);
    let served = workload.served_by(deletions);
    if workload.largest() > deletions {
        let message = format!(
            "a request of {} is beyond the deletions that the noise is for, which are {deletions}",
            efface_page::number::counted(workload.largest(), "record")
        );
        return Err(Error::refused(Code::By(plan.mechanism), message).hint("raise `§deletions`"));
    }
    let passes = sampled.steps as f64 * sampled.rate.0;
    let counted = |passes: f64| Count {
        passes_at_most: passes.ceil() as u64,
        passes_usually: passes,
        work_usually: passes,
        exact: true,
    };
    let months = served as f64 / workload.deletions_per_month;
    let lasts = Lasts::Until { requests: served, months, refresh: true };
    Ok(Cost {
        training: counted(passes),
        request: counted(0.0),
        steps: Vec::new(),
        without_pass: None,
        month_passes: month(inputs, 0.0, passes, &lasts),
        excess_risk: None,
        lasts,
        // Those of the first request; its noise is found for all of them.
        claims: requests(plan, inputs, 1)?.claims,
    })
}

/// The time in which steps draw as many records as there are, their noise included.
pub(super) fn pass(plan: &SampledPlan, records: u64, timing: &mut Timing<'_>) -> Result<PassTime> {
    let network = plan.network()?;
    let (seconds, origin) = match timing {
        Timing::Counted(each) => {
            let gradient = 3.0 * network.multiplications() as f64;
            (gradient * records as f64 * *each, TimeOrigin::Counted)
        }
        Timing::Measured(clock) => {
            let drawn = (plan.rate.0 * records as f64).max(1.0);
            let (rows, labels) = synthetic(plan.width(), plan.outputs, drawn.ceil() as u64);
            let data = Data { rows: &rows, labels: &labels, units: None };
            let failed =
                |error: efface_net::NetError| Error::refused(Code::Pass, error.to_string());
            let each = seconds_of(*clock, |steps| {
                // Small steps, so that weights stay where they are.
                let (rate, eta) = (Decimal(1.0), Decimal(1e-9));
                let checked = SampledPlan { steps, rate, eta, ..plan.clone() }.checked(&network)?;
                let start = network.initial(plan.start);
                let mut rng = ChaCha20Rng::seed_from_u64(0);
                let go_on = &mut |_| ControlFlow::Continue(());
                dp_sgd(&network, &checked, &data, start, &mut rng, go_on).map(drop).map_err(failed)
            })?;
            let rows = labels.len() as u64;
            // A pass is 1/q steps; rows that memory has no room for are taken to cost as much each.
            let more = (drawn / rows as f64).max(1.0);
            (each * more / plan.rate.0, TimeOrigin::Measured { rows })
        }
    };
    Ok(PassTime { ms: (seconds * 1000.0).max(1e-9), origin })
}
