//! A served request: what was done, what is promised, what is not, and what to keep.

use std::path::Path;
use std::time::Duration;

use efface::{Claim, Notion, Ready, Served, Work};
use efface_page::number::{counted, duration, near};
use efface_page::{Item, Page, Section, words};
use serde_json::{Value, json};

use super::{Output, columns, noticed, promises, to_value};
use crate::failure::Result;

impl Output {
    /// Shows a served request; `written` is where its certificate was written.
    pub(crate) fn served(
        &mut self,
        vault: &Path,
        served: &Served,
        written: Option<&Path>,
    ) -> Result<()> {
        let mut value = to_value(served)?;
        let work = value.as_object_mut().and_then(|object| object.remove("work"));
        value["private"] = json!({ "work": work });
        value["certificate_file"] = json!(written.map(Path::to_string_lossy));
        self.warnings(&served.notices);
        self.show(&value, || page(vault, served, written))
    }

    /// Shows what is ready for the next request, and how long that took.
    pub(crate) fn ready(&mut self, vault: &Path, ready: &Ready, took: Duration) -> Result<()> {
        let seconds = took.as_secs_f64();
        let mut value = to_value(ready)?;
        value["seconds"] = json!(seconds);
        self.show(&value, || {
            let (vault, version) = (vault.display(), ready.version);
            let (weights, records) =
                (counted(ready.weights, "weight"), counted(ready.records, "record"));
            let kept = if ready.already { "was kept before" } else { "is kept" };
            let line = format!("took {}, {} bytes", duration(seconds), ready.bytes);
            Page::new(format!(
                "{vault}: the Hessian of {weights} over {records} {kept} for the request after \
                 version {version}"
            ))
            .with(Section::new("").line(line))
        })
    }
}

fn page(vault: &Path, served: &Served, written: Option<&Path>) -> Page {
    let vault = vault.display().to_string();
    let erased = served.kind == "erase";
    let mut promised = if erased {
        let said = "nothing is claimed about any model, published before or after";
        Section::new("").terms([("erased", said)])
    } else {
        promises(&served.claims).terms(without_dp(&served.claims))
    };
    let see = (!erased).then(|| format!("see `efface certificate show {vault}`"));
    let limits = not_covered(&served.certificate);
    promised = promised.terms([Item::new("not covered", limits).more(see)]);
    let (index, head) = (served.head_index, &served.head);
    let mut keep = Section::new("")
        .lines(written.map(|path| format!("certificate written to {}", path.display())))
        .line(format!("ledger head (keep a copy outside this machine): {index} {head}"));
    if let Some(work) = served.work.as_ref().and_then(private) {
        keep = keep.line(format!("diagnostics (depend on private data; do not publish): {work}"));
    }
    keep = noticed(keep, &served.notices);
    Page::new(headline(&vault, served))
        .with(Section::new("").line(format!("request {}", served.request_id)))
        .with(columns(&served.preprocessing))
        .with(promised)
        .with(keep)
}

fn headline(vault: &str, served: &Served) -> String {
    let records = words::records(served.records);
    let remain = if served.remaining == 1 { "remains" } else { "remain" };
    let now = format!("{} {remain} in version {}", served.remaining, served.version);
    if served.replayed {
        let version = served.version;
        return format!("{vault}: served before as version {version}; nothing was changed");
    }
    match served.kind.as_str() {
        "train" => format!("{vault}: trained on {records}, version {}", served.version),
        "delete" => format!("{vault}: deleted {records}; {now}"),
        "add" => format!("{vault}: added {records}; {now}"),
        "update" => format!("{vault}: updated {records}; {now}"),
        "erase" if served.remaining == 0 => {
            format!("{vault}: erased {records}, 0 remain; the model is withdrawn")
        }
        "erase" => format!(
            "{vault}: erased {records}, {} {remain}; the model is withdrawn; where its \
             mechanism allows it (`efface status`), `efface refresh` trains a new one on the remaining \
             records",
            served.remaining
        ),
        other => format!("{vault}: {other} done; {now}"),
    }
}

/// Says that nothing is promised about the records that remain, if so.
fn without_dp(claims: &[Claim]) -> Option<Item> {
    let has = claims.iter().any(|claim| claim.notion == Notion::DifferentialPrivacy);
    let text = "the remaining records: the model may reveal them; `--notion differential-privacy` trains \
                one that limits this";
    (!has).then(|| Item::new("not promised", text))
}

/// The first limit that the certificate states, and how many there are besides.
fn not_covered(certificate: &str) -> String {
    let limits = serde_json::from_str::<Value>(certificate).ok().and_then(|value| {
        let list = value.pointer("/scope/does_not_cover")?.as_array()?.clone();
        let first = list.first()?.as_str()?.to_owned();
        Some((first, list.len() - 1))
    });
    match limits {
        Some((first, 0)) => first,
        Some((first, more)) => format!("{first}, and {}", counted(more as u64, "more limit")),
        None => "what its certificate lists".to_owned(),
    }
}

/// What the work took, in words; none where nothing was done.
fn private(work: &Work) -> Option<String> {
    let mut parts = Vec::new();
    for (count, thing) in [
        (work.passes, "gradient pass"),
        (work.hessians, "Hessian"),
        (work.hessian_products, "Hessian product"),
        (work.steps, "step"),
    ] {
        if count > 0 {
            parts.push(counted(count, thing));
        }
    }
    if work.by_kept_hessian {
        parts.push("by the kept Hessian".to_owned());
    }
    if let Some(distance) = work.distance {
        parts.push(format!("within {} of the optimum", near(distance, 4)));
    }
    if let Some(solver) = &work.solver {
        parts.push(format!("solver {solver}"));
    }
    if let Some(clipped) = work.clipped.filter(|clipped| *clipped > 0) {
        parts.push(format!(
            "{} longer than the row norm and scaled down to it",
            counted(clipped, "row")
        ));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(passes: u64) -> Work {
        Work {
            passes,
            hessians: 1,
            hessian_products: 0,
            by_kept_hessian: passes == 3,
            steps: 0,
            distance: Some(1.25e-7),
            solver: Some("newton".into()),
            clipped: Some(0),
        }
    }

    #[test]
    fn work_is_told_in_words() {
        let told = private(&work(1)).unwrap();
        assert_eq!(
            told,
            "1 gradient pass, 1 Hessian, within 1.25e-7 of the optimum, solver newton"
        );
        assert!(private(&work(21)).unwrap().starts_with("21 gradient passes, "));
        let told = private(&work(3)).unwrap();
        assert!(told.contains(", by the kept Hessian, within "), "{told}");
    }

    #[test]
    fn limits_are_counted() {
        let certificate = r#"{"scope":{"does_not_cover":["backups","logs","clocks"]}}"#;
        assert_eq!(not_covered(certificate), "backups, and 2 more limits");
    }

    #[test]
    fn absent_differential_privacy_is_said() {
        assert!(without_dp(&[]).is_some());
    }
}
