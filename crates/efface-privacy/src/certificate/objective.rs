//! Checks that G and beta follow from the loss and the bounds on rows that a certificate lists.

use super::listed::{CLASS_WEIGHT, FEATURES, is_listed, listed, weighted};
use super::{Certificate, Constant, Origin};
use crate::event::{Event, NoisyGd, Normalizer};
use crate::loss::{Loss, LossName, Task};
use crate::quantity::Decimal;

/// What a link is, as a function of a record's margins.
struct Link {
    /// sup |l'|: infinite for the squared loss without a clip, 0 if nothing rests on it.
    slope: f64,
    /// sup |l''|.
    curvature: f64,
}

/// Checks `lipschitz` and `smoothness` of the event against the listed loss, row norm, intercept,
/// largest weight and capacity: a setting with less than these give is one no data set of such rows obeys.
pub(super) fn objective(certificate: &Certificate) -> Result<String, String> {
    check_declared(certificate)?;
    let Some(setting) = certificate.event.setting() else { return network(certificate) };
    let link = link(certificate)?;
    let row = number(certificate, "row-norm")?.hypot(number(certificate, "intercept")?);
    let core = certificate.event.core();
    // Records over what their sum is divided by.
    let load = match (core, setting.normalizer) {
        (Event::NoisyGd(NoisyGd { batches: Some(batches), .. }), _) => {
            batches.most as f64 / batches.size as f64
        }
        (_, Normalizer::Fixed { n, capacity }) => capacity as f64 / n as f64,
        (_, Normalizer::Mean { .. }) => 1.0,
    };
    follows_records(certificate)?;
    check_targets(certificate)?;
    check_features(certificate)?;
    let (weight, mean) = weights(certificate)?;
    let mut steepest = weight * link.slope * row;
    if link.slope.is_infinite() {
        // Bounded at optima alone, which lie within sqrt(weight load/lambda) of zero: y is in [-1, 1].
        if !matches!(core, Event::OutputNoise(_)) {
            return Err("without a clip the gradients of the squared loss have no bound".into());
        }
        // Scaled to variance 1 by fitted preprocessing, y is in [-sqrt(n), sqrt(n)], and the sum of
        // its squares is n.
        let reach = (mean * load / setting.strong_convexity.0).sqrt();
        steepest = weight * row * (row * reach + largest_target(core)?);
    }
    let mut bounds = vec![
        ("lipschitz", setting.lipschitz, steepest),
        ("smoothness", setting.smoothness, mean * load * link.curvature * row * row),
    ];
    if let Event::ExactRemoval(event) = core {
        bounds.push(("row-bound", event.row_bound, row));
        bounds.push(("target-bound", event.target_bound, exact_target(certificate)?));
        let read = |c: &Constant| c.name == "target-bound" && c.origin == Origin::Data;
        if event.preprocessing.is_none() && certificate.constants.iter().any(read) {
            return Err(
                "`target-bound` follows the records where preprocessing is fitted alone".into()
            );
        }
    }
    // Weights scale both bounds. If preprocessing is fitted, the first leaves room for the scaling of y.
    let roomy = |(_, stated, least): &(&str, Decimal, f64)| stated.0 > least * (1.0 + 1e-9);
    let declared = core.preprocessing().is_none() && core.grid().is_some();
    if declared && !weighted(certificate) && bounds[..2].iter().all(roomy) {
        return Err("`lipschitz` and `smoothness` are above those of records of weight 1, but \
                    `max-weight` is not listed"
            .into());
    }
    for (name, stated, least) in bounds {
        // The least is computed to within a few units in the last place.
        let holds = stated.0 >= least * (1.0 - 1e-12);
        if !holds {
            return Err(format!("`{name}` is {stated}, but loss and rows give {}", Decimal(least)));
        }
    }
    Ok("the constants of the objective follow from loss, row norm and intercept".into())
}

/// If preprocessing is declared, a certificate lists the declaration: a reader sees whether the records
/// decided it, and a declaration derived from the records costs the claims that protect single ones.
fn check_declared(certificate: &Certificate) -> Result<(), String> {
    if certificate.event.preprocessing().is_some() {
        return Ok(());
    }
    listed(certificate, "schema")?;
    let loss = LossName::named(listed(certificate, "loss")?).map_err(|error| error.to_string())?;
    let learnt = match loss.task() {
        Task::Binary | Task::Multiclass => "classes",
        Task::Regression => "target-range",
    };
    listed(certificate, learnt).map(drop)
}

/// Constants of a convex objective; no known property of a network bounds them.
const CONVEX: [&str; 5] = ["lipschitz", "smoothness", "lambda", "max-weight", "class-weight"];

/// A network's gradients are clipped, or nothing rests on them: nothing is claimed to follow from its loss
/// or its rows.
fn network(certificate: &Certificate) -> Result<String, String> {
    let convex = |c: &&Constant| CONVEX.contains(&c.name.as_str());
    match certificate.constants.iter().find(convex) {
        Some(constant) => Err(format!("`{}` is no constant of a network", constant.name)),
        None if matches!(certificate.event.core(), Event::Shards(_)) => {
            Ok("exact removal rests on no bound of a network's gradients".into())
        }
        None => {
            Ok("a network's gradients are bounded by clipping, whatever loss and rows are".into())
        }
    }
}

/// Checks the targets: only exact sums of the squared loss have several, and each target has a block of
/// parameters.
fn check_targets(certificate: &Certificate) -> Result<(), String> {
    if !is_listed(certificate, "targets") {
        return Ok(());
    }
    let (text, loss) = (listed(certificate, "targets")?, listed(certificate, "loss")?);
    let exact = matches!(certificate.event.core(), Event::ExactRemoval(_));
    if !exact || loss != LossName::Squared.name() {
        return Err("several targets are those of exact sums and the loss `squared`".into());
    }
    let parameters = certificate.event.parameters();
    let count = text.parse().ok().filter(|count: &u64| count.to_string() == text && *count > 1);
    match count {
        Some(count) if parameters.is_multiple_of(count) => Ok(()),
        _ => Err(format!(
            "`targets` must be at least 2 and divide the {parameters} parameters, got `{text}`"
        )),
    }
}

/// Checks features: their number must match the columns of the event's parameters, and they need declared
/// rows. Features of a network also need its training, which the event accounts for, and the vault that it
/// comes from.
fn check_features(certificate: &Certificate) -> Result<(), String> {
    let trained = certificate.event.given_training().is_some();
    if !trained && !is_listed(certificate, FEATURES) {
        return Ok(());
    }
    let map = listed(certificate, FEATURES)?;
    if map.starts_with("network:") != trained {
        return Err(format!(
            "`{FEATURES}` is `{map}`, but a network's features go with its training, and no others do"
        ));
    }
    if trained && listed(certificate, "trunk")? == certificate.vault {
        return Err("`trunk` is the vault that the network comes from, not the model's own".into());
    }
    let features = features_of(map)
        .ok_or_else(|| format!("`{FEATURES}` must be a map of version 1, got `{map}`"))?;
    if certificate.event.preprocessing().is_some() {
        return Err(format!("`{FEATURES}` does not go with preprocessing that is fitted"));
    }
    let intercept = u64::from(number(certificate, "intercept")? > 0.0);
    let parameters = certificate.event.parameters();
    if !parameters.is_multiple_of(features + intercept) {
        return Err(format!(
            "the {features} features of `{map}` do not fit into {parameters} parameters"
        ));
    }
    Ok(())
}

/// Returns how many features a map makes: `KIND:SIZE`, options, and its version, the last.
fn features_of(map: &str) -> Option<u64> {
    let count = |text: &str| text.parse().ok().filter(|n: &u64| n.to_string() == text && *n > 0);
    let (head, options) = map.split_once(',')?;
    let version = options.rsplit(',').next()?;
    let features = match head.split_once(':')? {
        ("rff" | "gated", size) => count(size)?,
        ("network", size) => {
            let digest = options.strip_suffix(",version=1")?;
            let hex = digest.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
            (hex && digest.len() == 64).then_some(count(size)?)?
        }
        // Averages over 4 x 4 cells.
        ("random-conv", size) => {
            let (filters, side) = size.split_once('x')?;
            count(side)?;
            count(filters)?.checked_mul(16)?
        }
        _ => return None,
    };
    (version == "version=1" && features <= 1 << 16).then_some(features)
}

/// If preprocessing is fitted and lambda was not chosen, lambda is 1/n for the n records at hand. If the
/// least records of a category were not chosen, they are one in 5,000 of the records, from 1 to 5.
fn follows_records(certificate: &Certificate) -> Result<(), String> {
    let event = &certificate.event;
    let Some(fitted) = event.preprocessing() else { return Ok(()) };
    let of_data = |name: &str| {
        certificate.constants.iter().any(|c| c.name == name && c.origin == Origin::Data)
    };
    let records = |name: &str| {
        let unstated = || format!("`{name}` follows a number of records that is not stated");
        event.fitted_records().ok_or_else(unstated)
    };
    if of_data("lambda")
        && let Some(setting) = event.setting()
    {
        let (lambda, records) = (setting.strong_convexity, records("lambda")?);
        if lambda.0 != 1.0 / records.max(1) as f64 {
            return Err(format!(
                "`lambda` is {lambda}, but 1/n of {records} records is another number"
            ));
        }
    }
    if of_data("min-frequency") {
        let (least, records) = (fitted.min_frequency, records("min-frequency")?);
        let follows = (records / 5000).clamp(1, 5);
        if least != follows {
            return Err(format!("`min-frequency` is {least}, but {follows} for {records} records"));
        }
    }
    Ok(())
}

/// Returns a bound on |y|.
fn largest_target(core: &Event) -> Result<f64, String> {
    if core.preprocessing().is_none() {
        return Ok(1.0);
    }
    let unstated = "fitted preprocessing scales y by the records, whose number is not stated";
    core.fitted_records().map(|records| (records as f64).sqrt()).ok_or_else(|| unstated.into())
}

/// Returns a bound on what exact sums take for y: y itself, or the +1 and -1 of classes.
fn exact_target(certificate: &Certificate) -> Result<f64, String> {
    match listed(certificate, "loss")? {
        "squared-classes" => Ok(1.0),
        _ => largest_target(certificate.event.core()),
    }
}

/// Returns the largest weight of a record, and the largest mean of any data set's: 1 if none is listed, as
/// records then have no weights.
fn weights(certificate: &Certificate) -> Result<(f64, f64), String> {
    if let Event::ExactRemoval(event) = certificate.event.core() {
        // Exact sums are of whole weights, and state the largest.
        let listed = weighted(certificate).then(|| number(certificate, "max-weight"));
        if listed.transpose()? != event.max_weight.map(|most| most as f64) {
            return Err("`max-weight` is not that of the exact sums".into());
        }
    }
    if let Some(records) = balanced(certificate)? {
        // n/(k n_c), of two classes or more, and 1 of a single class: they sum to n.
        return Ok(((records as f64 / 2.0).max(1.0), 1.0));
    }
    if !weighted(certificate) {
        return Ok((1.0, 1.0));
    }
    match number(certificate, "max-weight")? {
        weight if weight > 0.0 && weight.is_finite() => Ok((weight, weight)),
        weight => Err(format!("`max-weight` must be finite and above 0, got {weight}")),
    }
}

/// Returns the number of records if these are weighted so that all classes count the same.
fn balanced(certificate: &Certificate) -> Result<Option<u64>, String> {
    if !is_listed(certificate, CLASS_WEIGHT) {
        return Ok(None);
    }
    let how = listed(certificate, CLASS_WEIGHT)?;
    if how != "balanced" {
        return Err(format!("`{CLASS_WEIGHT}` must be `balanced`, got `{how}`"));
    }
    if weighted(certificate) {
        return Err(format!("`{CLASS_WEIGHT}` and `max-weight` exclude each other"));
    }
    if LossName::named(listed(certificate, "loss")?).map(LossName::task) == Ok(Task::Regression) {
        return Err(format!("`{CLASS_WEIGHT}` is of classes, and `loss` of numbers"));
    }
    let core = certificate.event.core();
    if core.preprocessing().is_none() {
        return Err("classes are counted again only where preprocessing is fitted".into());
    }
    let unstated = || format!("`{CLASS_WEIGHT}` follows a number of records that is not stated");
    core.fitted_records().map(Some).ok_or_else(unstated)
}

fn link(certificate: &Certificate) -> Result<Link, String> {
    let loss = LossName::named(listed(certificate, "loss")?).map_err(|error| error.to_string())?;
    if matches!(certificate.event.core(), Event::ExactRemoval(_)) {
        if !matches!(loss, LossName::Squared | LossName::SquaredClasses) {
            let got = loss.name();
            return Err(format!(
                "exact sums are those of the losses `squared` and `squared-classes`, got `{got}`"
            ));
        }
        // Sums know no clip, and nothing is bounded by a gradient.
        return Ok(Link { slope: 0.0, curvature: Loss::UNCLIPPED.link_bounds().curvature });
    }
    if loss == LossName::SquaredClasses {
        return Err("the gradients of `squared-classes` have no bound: it is of exact sums".into());
    }
    let parameter = match loss.parameter() {
        Some(parameter) => Some(number(certificate, parameter.name())?),
        None => None,
    };
    let bounds = loss.link_bounds(parameter).map_err(|error| error.to_string())?;
    Ok(Link { slope: bounds.derivative, curvature: bounds.curvature })
}

/// Reads a listed constant that is a number, not below 0 and not NaN.
fn number(certificate: &Certificate, name: &str) -> Result<f64, String> {
    let text = listed(certificate, name)?;
    match Decimal::canonical(text) {
        Ok(Decimal(number)) if number >= 0.0 => Ok(number),
        _ => Err(format!("`{name}` must be a number not below 0, got `{text}`")),
    }
}
