//! Chooses the network of each shard and its training.

use efface_net::ARITHMETIC;
use efface_page::number::counted;
use efface_privacy::certificate::Origin;
use efface_privacy::event::Unit;
use efface_privacy::quantity::Decimal;

use crate::error::{Code, Error, Result};
use crate::mechanism::dp_sgd::NETWORK;
use crate::mechanism::search::Public;
use crate::plan::{Layers, List, ShardedPlan, layers, origin};

const SHARDS: u64 = 10;
const EPOCHS: u64 = 8;
const BATCH: u64 = 64;
const ETA: f64 = 0.05;
const MOMENTUM: f64 = 0.9;

/// Minimum average number of records per shard when a model is first trained.
const LEAST: u64 = 10;

/// Chooses network and schedule; nothing in them depends on the records.
pub(super) fn schedule(public: &Public<'_>, list: &mut List) -> Result<ShardedPlan> {
    let choices = public.choices;
    let s = &choices.settings;
    let shards = s.shards.unwrap_or(SHARDS);
    if public.records < shards.saturating_mul(LEAST) {
        let message = format!(
            "{} {} too few for {shards} shards: each should have at least {LEAST} on average",
            counted(public.records, "record"),
            if public.records == 1 { "is" } else { "are" }
        );
        return Err(Error::refused(Code::Settings, message).hint("take fewer `§shards`"));
    }
    let asked = Layers::read(s.network.as_deref().unwrap_or(NETWORK))?;
    let input = asked.input(public.constants.cols() as u64, public.image)?;
    let outputs = public.constants.loss().outputs() as u32;
    let network = layers(&asked.layers, input, outputs)?;
    let plan = ShardedPlan {
        network: network.text(),
        input,
        outputs,
        start: asked.start,
        weights: network.parameters() as u64,
        shards,
        epochs: s.epochs.unwrap_or(EPOCHS),
        batch: s.batch_size.unwrap_or(BATCH),
        eta: Decimal(s.eta.unwrap_or(ETA)),
        momentum: Decimal(s.momentum.unwrap_or(MOMENTUM)),
        arithmetic: ARITHMETIC,
    };
    plan.checked(&plan.network()?, 0)?;
    let [channels, height, width] = input;
    let given = |given: bool| origin(given, &[]);
    let unit = if public.subjects { Unit::Subject } else { Unit::Record };
    list.add("unit", unit.name(), Origin::Default);
    list.add("shards", shards, given(s.shards.is_some()));
    list.add("network", &plan.network, given(s.network.is_some()));
    list.add("network-input", format!("{channels}x{height}x{width}"), Origin::Default);
    list.add("network-start", plan.start, given(s.network.is_some()));
    list.add("parameters", plan.parameters(), Origin::Default);
    list.add("epochs", plan.epochs, given(s.epochs.is_some()));
    list.add("batch-size", plan.batch, given(s.batch_size.is_some()));
    list.add("eta", plan.eta, given(s.eta.is_some()));
    list.add("momentum", plan.momentum, given(s.momentum.is_some()));
    list.add("arithmetic", plan.arithmetic, Origin::Default);
    Ok(plan)
}
