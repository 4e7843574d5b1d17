//! Chooses the network, and noise that is enough for the requested deletions.

use efface_privacy::accountant::pld::{self, PldError, Segment};
use efface_privacy::certificate::Origin;
use efface_privacy::event::{DpSgd, Event, Unit};
use efface_privacy::quantity::{Decimal, Delta, Epsilon};

use crate::error::{Code, Error, Result};
use crate::mechanism::search::Public;
use crate::plan::{Following, Layers, List, SampledPlan, ValidatedSettings, layers, origin};

/// Default length of a training in passes over the records.
const EPOCHS: f64 = 20.0;

/// Records of a batch, as a multiple of the square root of their number.
const PER_ROOT: f64 = 8.0;

/// Chooses network, steps and noise.
pub(super) fn schedule(public: &Public<'_>, list: &mut List) -> Result<SampledPlan> {
    let choices = public.choices;
    let s = &choices.settings;
    let asked = Layers::read(s.network.as_deref().unwrap_or(NETWORK))?;
    let features = public.constants.cols() as u64;
    let input = asked.input(features, public.image)?;
    let outputs = public.constants.loss().outputs() as u32;
    let network = layers(&asked.layers, input, outputs)?;
    let unit = unit(choices, public)?;
    let size = public.normalizer_origin;
    // A declared N is used unchanged: the number of subjects comes from the data.
    let n = match public.people {
        Some(people) if unit == Unit::Subject && size == Origin::Data => people.max(1),
        _ => public.size(),
    };
    let rate = s.rate.unwrap_or_else(|| (PER_ROOT / (n as f64).sqrt()).min(1.0));
    let rate_origin = origin(s.rate.is_some(), &[size]);
    let steps = s.steps.unwrap_or_else(|| (EPOCHS / rate).ceil() as u64);
    let steps_origin = origin(s.steps.is_some(), &[rate_origin]);
    let deletions = s.deletions.unwrap_or(DELETIONS);
    let clip = s.gradient_clip.unwrap_or(CLIP);
    let (noise, noise_origin) = match s.noise {
        Some(noise) => (noise, Origin::User),
        None => {
            let segment = Segment { steps, noise: 1.0, rate, group: deletions };
            (least_noise(public, segment)?, origin(false, &[steps_origin, public.size_origin]))
        }
    };
    let batch = (rate * n as f64).max(1.0);
    let parameters = network.parameters() as u64;
    // Long steps are wasted if the noise of a step is as long as what it learns.
    let noise_length = noise * (parameters as f64).sqrt() / batch;
    let following = following(choices)?;
    let eta = match following {
        Following::Sgd { .. } => ETA / clip * (QUIET / noise_length).min(1.0),
        Following::Adam { .. } => ADAM_ETA,
    };
    let plan = SampledPlan {
        network: network.text(),
        input,
        outputs,
        start: asked.start,
        unit,
        weights: parameters,
        steps,
        rate: Decimal(rate),
        noise: Decimal(noise),
        clip: Decimal(clip),
        batch: Decimal(batch),
        eta: Decimal(s.eta.unwrap_or(eta)),
        optimizer: following,
        // By default, averages over about the last tenth of the steps.
        average: Decimal(s.average.unwrap_or((1.0 - AVERAGED / steps as f64).max(0.0))),
        deletions,
        group: public.setting.group,
    };
    let event = meets(public, &plan)?;
    let [channels, height, width] = input;
    let given = |given: bool| origin(given, &[]);
    list.add("unit", unit.name(), given(s.unit.is_some()));
    list.add("rows-per-unit", event.rows_per_unit, Origin::Default);
    list.add("gradient-grid", event.grid, origin(false, &[noise_origin]));
    list.add("network", &plan.network, given(s.network.is_some()));
    list.add("network-input", format!("{channels}x{height}x{width}"), Origin::Default);
    list.add("network-start", plan.start, given(s.network.is_some()));
    list.add("parameters", plan.weights, Origin::Default);
    list.add("steps", steps, steps_origin);
    list.add("rate", plan.rate, rate_origin);
    list.add("clip", plan.clip, given(s.gradient_clip.is_some()));
    list.add("noise", plan.noise, noise_origin);
    list.add("batch", plan.batch, origin(false, &[rate_origin, size]));
    // Under `adam` the length of a step comes from the sums themselves.
    let follows = match plan.optimizer {
        Following::Sgd { .. } => &[noise_origin, rate_origin, size][..],
        Following::Adam { .. } => &[],
    };
    let eta_origin = origin(s.eta.is_some(), follows);
    list.add("eta", plan.eta, eta_origin);
    list.add("optimizer", plan.optimizer.name(), given(s.optimizer.is_some()));
    for (name, number) in plan.optimizer.constants() {
        list.add(name, number, given(name == "momentum" && s.momentum.is_some()));
    }
    list.add("average", plan.average, origin(s.average.is_some(), &[steps_origin]));
    list.add("deletions", deletions, given(s.deletions.is_some()));
    Ok(plan)
}

/// Returns the optimizer; refuses settings of the other one.
fn following(choices: &ValidatedSettings) -> Result<Following> {
    let s = &choices.settings;
    if s.optimizer.as_deref() != Some("adam") {
        return Ok(Following::Sgd { momentum: Decimal(s.momentum.unwrap_or(MOMENTUM)) });
    }
    if s.momentum.is_some() {
        let message = "`§momentum` has no meaning with `§optimizer adam`, which averages sums \
             with a decay of its own";
        return Err(Error::refused(Code::Settings, message)
            .hint("leave out `§momentum`, or use `§optimizer sgd`"));
    }
    Ok(Following::adam())
}

/// Returns subjects as the unit if the records have them, unless records are asked for.
fn unit(choices: &ValidatedSettings, public: &Public<'_>) -> Result<Unit> {
    match choices.settings.unit.as_deref() {
        Some("record") => Ok(Unit::Record),
        Some(_) if public.people.is_none() => Err(Error::refused(
            Code::Subjects,
            "`§unit subject` needs records that name their subjects, and these name none",
        )
        .hint("name the column of subjects with `§subject`, or leave out `§unit`")),
        None if public.people.is_none() => Ok(Unit::Record),
        None | Some(_) => Ok(Unit::Subject),
    }
}

/// The default layers of a network.
pub(in crate::mechanism) const NETWORK: &str = "dense:64";
const DELETIONS: u64 = 1;
const CLIP: f64 = 0.1;

/// Default step size, for clipped gradients of length 1.
const ETA: f64 = 0.4;
/// The largest length of a step's noise, in clips, for which the step size is [`ETA`].
const QUIET: f64 = 0.35;
/// Default step size of `adam`.
const ADAM_ETA: f64 = 0.002;
const MOMENTUM: f64 = 0.9;
const AVERAGED: f64 = 10.0;

/// Returns the least noise with which all deletions together meet the target.
fn least_noise(public: &Public<'_>, segment: Segment) -> Result<f64> {
    let (epsilon, delta) = (public.target.epsilon.0, public.target.delta.0);
    let out_of_range = |error: &dyn std::fmt::Display| Error::input(Code::Range, error.to_string());
    let epsilon = Epsilon::new(epsilon).map_err(|error| out_of_range(&error))?;
    let delta = Delta::new(delta).map_err(|error| out_of_range(&error))?;
    let noise = pld::noise(segment, epsilon, delta).map_err(|error| match error {
        PldError::Range { name: "delta", .. } => out_of_range(&error),
        _ => Error::refused(
            Code::Infeasible,
            format!("no noise is found for these deletions: {error}"),
        )
        .hint("lower `§deletions` or `§steps`, or raise `§epsilon`"),
    })?;
    // A margin for the accountant's own rounding when it evaluates the event.
    Ok(noise * (1.0 + 1e-6))
}

/// Returns the event after all deletions; refuses noise that is not enough for them.
fn meets(public: &Public<'_>, plan: &SampledPlan) -> Result<DpSgd> {
    let mut event = super::event(plan)?;
    for segment in &mut event.segments {
        segment.deleted = plan.deletions;
    }
    if public.target.is_met(&Event::DpSgd(event.clone()))? {
        return Ok(event);
    }
    let what = format!(
        "for {} deletions of a {} each with noise {}",
        plan.deletions,
        plan.unit.name(),
        plan.noise
    );
    Err(public
        .infeasible(&what)
        .hint("raise `§noise` or `§epsilon`, lower `§deletions`, `§rate` or `§steps`, or leave `§noise` to the engine"))
}
