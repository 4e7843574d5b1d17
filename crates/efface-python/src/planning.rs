//! The planner.

use std::time::Instant;

use efface::planner::{Advice, Machine, PlanRequest, Sizes, Workload};
use efface::{Code, Error, Settings, Source, in_words};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{parsed, raised};
use crate::settings::PARAMETERS;
use crate::table::Table;
use crate::watch::{Callback, watched};

/// A written plan in words, as JSON: `text`, `html`, `target` (null without a choice), and `lasts`,
/// how many requests each choice serves.
#[pyfunction]
pub(crate) fn plan_page(plan: &str) -> PyResult<String> {
    let advice = Advice::read(plan).map_err(|error| raised(&error))?;
    let page = advice.page();
    let lasts: Vec<String> = advice.choices.iter().map(|choice| choice.lasts.words()).collect();
    let target = advice.target();
    Ok(json!({
        "text": page.brief(), "html": page.fragment(), "target": target, "lasts": lasts,
    })
    .to_string())
}

/// Ranks what can be had for a table whose labels say what is to be learnt, or for sizes: the written
/// plan, which `train_as_planned` follows, and what training would tell, as JSON. All but the table is
/// JSON of the planner's own types.
#[pyfunction]
#[pyo3(signature = (settings, workload, *, table=None, sizes=None, progress=None))]
pub(crate) fn plan(
    py: Python<'_>,
    settings: &str,
    workload: &str,
    table: Option<&Table>,
    sizes: Option<&str>,
    progress: Callback,
) -> PyResult<(String, String)> {
    let settings: Settings = parsed("settings", settings)?;
    let workload: Workload = parsed("workload", workload)?;
    let ask = |about: &PlanRequest<'_>| {
        watched(py, &progress, |watch| {
            let start = Instant::now();
            let seconds = &mut || start.elapsed().as_secs_f64();
            let mut machine = Machine { seconds, watch };
            let advice = efface::planner::plan(about, workload, settings, &mut machine)?;
            let advice = advice.in_words(&PARAMETERS);
            Ok((advice.to_json()?, json!(advice.seen.notices).to_string()))
        })
    };
    match (table, sizes) {
        (Some(table), None) => table.lend(py, |source| {
            let source = Source { infers_task: true, ..source.clone() };
            ask(&PlanRequest::Table(&source))
        }),
        (None, Some(sizes)) => ask(&PlanRequest::Sizes(parsed::<Sizes>("sizes", sizes)?)),
        _ => Err(raised(&Error::input(Code::Usage, "give either `table` or `sizes`"))),
    }
}

/// The setting, in Python's words, for which a model with these settings, as JSON, takes columns as numbers
/// though their rows could be raw; none where no setting asks for that.
#[pyfunction]
pub(crate) fn asks_for_declared(settings: &str) -> PyResult<Option<String>> {
    let settings: Settings = serde_json::from_str(settings)
        .map_err(|error| raised(&Error::input(Code::Settings, error.to_string())))?;
    Ok(settings.asks_for_declared().map(|asked| in_words(&asked, &PARAMETERS)))
}

/// Whether a model with these settings, as JSON, fits its preprocessing to the records, where these are
/// `raw`: at hand, and not declared to be anything.
#[pyfunction]
pub(crate) fn fits_preprocessing(settings: &str, raw: bool) -> PyResult<bool> {
    let settings: Settings = serde_json::from_str(settings)
        .map_err(|error| raised(&Error::input(Code::Settings, error.to_string())))?;
    Ok(settings.fits_preprocessing(raw))
}
