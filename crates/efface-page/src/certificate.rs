//! A certificate, or the entry of an erasure, as a page a privacy officer can read.

use efface_privacy::certificate::{Assumption, Certificate, Constant, Erasure};

use crate::model::{Item, Page, Section, Table, Tone};
use crate::words::{comparison, evidence, origin, records, request, trained, whole_claim};

/// What a page says of a model whose noise came from a seed.
pub const SEEDED: (&str, &str) = (
    "Not for release",
    "The noise came from a user-given seed: this model is for tests and gives no guarantee.",
);

/// Returns the page of a certificate. `invalid` is why it is not what was signed, if it is not.
#[must_use]
pub fn page(c: &Certificate, invalid: Option<&str>) -> Page {
    let noise = c.noise.grid.map_or_else(
        || "none".to_owned(),
        |grid| format!("{}, {}, grid {grid}", c.noise.sampler, c.noise.generator),
    );
    let subject =
        if c.request.subjects.is_some() { ", all records of the people named" } else { "" };
    let what = format!("{}{subject}", request(c.request.kind, c.request.records));
    let digest: String = c.model.digest_after.chars().take(16).collect();
    let mut seeded = Section::new("");
    if c.not_for_release {
        seeded = seeded.notice(Tone::Bad, SEEDED.0, SEEDED.1);
    }
    let signed = format!("issued {}  ·  signed by key {}", c.issued_at, c.signature.key_id);
    headed(format!("Certificate {}", c.id), signed, invalid)
        .with(seeded)
        .with(
            Section::new("")
                .line(format!(
                    "Request `{}`: {what}, received {}",
                    c.request.id, c.request.received_at
                ))
                .line(format!("Model version {}: {digest}", c.model.version)),
        )
        .with(
            trained(&c.event, &c.constants)
                .into_iter()
                .fold(Section::new(""), |section, line| section.text(line)),
        )
        .with(
            Section::new("What is promised")
                .list(c.claims.iter().map(whole_claim).chain(comparison(&c.claims))),
        )
        .with(Section::new("What is covered").folded().list(&c.scope.covers))
        .with(Section::new("What is NOT covered").folded().list(&c.scope.does_not_cover))
        .with(Section::new("Assumptions").folded().list(assumptions(&c.assumptions)))
        .with(Section::new("Constants").folded().table(constants("", &c.constants)))
        .with(
            Section::new("")
                .line(format!("Noise: {noise}"))
                .line(format!("Ledger entry {}, hash {}", c.chain.index, c.chain.hash)),
        )
        .with(Section::new("").text(
            "This page shows what the certificate states. Verifying it recomputes every number.",
        ))
}

/// Returns the page of an erasure's entry.
#[must_use]
pub fn erasure(e: &Erasure, invalid: Option<&str>) -> Page {
    let title = format!("Erasure without a release, entry {} of vault {}", e.chain.index, e.vault);
    let mut request = Section::new("").line(format!(
        "Request `{}`: {} erased",
        e.request.id,
        records(e.request.records)
    ));
    if let Some(damage) = &e.damage {
        let (erased, missing) = (records(damage.erased), records(damage.missing));
        request = request.text(format!(
            "The vault was damaged: {erased} whose checksum failed erased as well, {missing} \
             missing."
        ));
    }
    let signed = format!("received {}  ·  signed by key {}", e.at, e.signature.key_id);
    headed(title, signed, invalid)
        .with(request.text(format!(
            "Model version {} is withdrawn. Nothing is claimed about any model.",
            e.model.version
        )))
        .with(Section::new("What is done").list(&e.scope.covers))
        .with(Section::new("What is NOT").list(&e.scope.does_not_cover))
}

/// Returns the head of a page, which says first if nothing of it can be relied on.
fn headed(title: String, signed: String, invalid: Option<&str>) -> Page {
    let section = Section::new("");
    match invalid {
        None => Page::new(title).with(section.line(signed)),
        Some(why) => {
            let text = format!("{why}. Nothing on this page can be relied on.");
            let section = section.notice(Tone::Bad, "Not valid", text);
            Page::new(format!("NOT VALID: {title}")).with(section.line(signed))
        }
    }
}

/// Assumptions and how sure each is.
pub fn assumptions(assumptions: &[Assumption]) -> impl Iterator<Item = Item> {
    assumptions
        .iter()
        .map(|a| Item::new(&a.name, format!("{} ({})", a.value, evidence(a.evidence))))
}

/// Lists constants and the origin of each.
#[must_use]
pub fn constants(caption: &str, constants: &[Constant]) -> Table {
    // How many parameters fitted preprocessing finds follows from the records; what is listed bounds it.
    let fitted = constants.iter().any(|c| c.name == "preprocess" && c.value == "fitted");
    let value = |c: &Constant| match c.name.as_str() {
        "parameters" if fitted => format!("at most {}", c.value),
        _ => c.value.clone(),
    };
    Table::new(caption, &["Name", "Origin", "Value"])
        .rows(constants.iter().map(|c| [c.name.clone(), origin(c).to_owned(), value(c)]))
}
