//! A certificate as a page a privacy officer can read.

use std::fmt::Write as _;

use efface_privacy::certificate::{
    Certificate, Chain, Erasure, Evidence, Origin, RequestKind, Signature, document_hash, key_id,
    signature_holds,
};

use efface_privacy::claim::{Claim, Requests};
use efface_privacy::event::{Adjacency, State};

use crate::error::{Error, Result};

/// The page, plain text, at most 88 columns.
///
/// # Errors
/// When the text is no certificate.
pub fn show(text: &str) -> Result<String> {
    if Erasure::is_one(text) {
        return erasure(text);
    }
    let c = Certificate::parse(text).map_err(|e| Error::input("certificate", e.to_string()))?;
    let mut page = String::new();
    let mut line = |text: String| {
        let _ = writeln!(page, "{text}");
    };
    if let Some(warning) = warning(text, &c.chain, &c.signature) {
        line(warning);
    }
    line(format!("Certificate {}", c.id));
    line(format!("issued {}  ·  signed by key {}", c.issued_at, c.signature.key_id));
    if c.not_for_release {
        line("\nNOT FOR RELEASE: the noise came from a user-given seed (for tests only).".into());
    }
    line(format!("\nRequest `{}`: {}", c.request.id, request(&c)));
    line(format!(
        "Model version {}: {}",
        c.model.version,
        c.model.digest_after.chars().take(16).collect::<String>()
    ));
    line("\nWhat is promised".into());
    for claim in &c.claims {
        line(wrap(&format!("{}: {}.", claim.notion.name(), claim.words), "  * ", "    "));
        line(wrap(&format!("compared with {}", claim.reference), "    ", "    "));
        line(wrap(&conditions(claim), "    ", "    "));
        line(wrap(
            &format!("by {} (accountant `{}`)", claim.theorem, claim.accountant.name()),
            "    ",
            "    ",
        ));
    }
    line("\nWhat is covered".into());
    for text in &c.scope.covers {
        line(wrap(text, "  * ", "    "));
    }
    line("\nWhat is NOT covered".into());
    for text in &c.scope.does_not_cover {
        line(wrap(text, "  * ", "    "));
    }
    for (evidence, title) in [
        (Evidence::Enforced, "Enforced by the engine"),
        (Evidence::Measured, "Measured"),
        (Evidence::Declared, "Declared by the user"),
        (Evidence::Assumed, "Assumed, not checked"),
    ] {
        let mut some = c.assumptions.iter().filter(|a| a.evidence == evidence).peekable();
        if some.peek().is_some() {
            line(format!("\n{title}"));
        }
        for assumption in some {
            line(wrap(&format!("{}: {}", assumption.name, assumption.value), "  * ", "    "));
        }
    }
    line(
        "\nPublic constants (user: given by the user, default: fixed by rule, data: from the data)"
            .into(),
    );
    for constant in &c.constants {
        let origin = match constant.origin {
            Origin::User => "user",
            Origin::Default => "default",
            Origin::Data => "data",
        };
        line(wrap(&format!("{} = {} ({origin})", constant.name, constant.value), "  ", "      "));
    }
    line(match c.noise.grid {
        Some(grid) => {
            format!("\nNoise: {}, {}, grid {grid}", c.noise.sampler, c.noise.generator)
        }
        None => "\nNoise: none".to_owned(),
    });
    line(format!("Ledger entry {}, hash {}", c.chain.index, c.chain.hash));
    line(
        "\nThis page shows what the certificate states; `efface certificate verify` recomputes it."
            .into(),
    );
    Ok(page)
}

/// What a page begins with where the text is not what was signed.
fn warning(text: &str, chain: &Chain, signature: &Signature) -> Option<String> {
    let document: serde_json::Value = serde_json::from_str(text).ok()?;
    let mut key = [0; 32];
    hex::decode_to_slice(&signature.public_key, &mut key).ok()?;
    let why = if document_hash(&document).ok()? != chain.hash {
        "the certificate was changed after it was signed: its hash does not match"
    } else if key_id(&key) != signature.key_id
        || !signature_holds(&key, &chain.hash, &signature.value)
    {
        "its signature is not by the stated key"
    } else {
        return None;
    };
    let all = format!("NOT VALID: {why}. Nothing on this page can be relied on.");
    Some(wrap(&all, "", "") + "\n")
}

/// Whom and when a claim is about.
fn conditions(claim: &Claim) -> String {
    let requests = match claim.requests {
        Requests::Any => "any requests".to_owned(),
        Requests::NonAdaptive => "only requests chosen without looking at releases".to_owned(),
        Requests::PAdaptive(p) => format!("requesters who saw at most {p} releases"),
    };
    let state = match claim.state {
        State::Perfect => "perfect",
        State::Secret => "secret",
    };
    let worlds = match claim.adjacency {
        Some(Adjacency::Remove) => "; adjacency: records removed",
        Some(Adjacency::Replace) => {
            "; adjacency: records replaced; the number of records is public"
        }
        None => "",
    };
    format!("valid for {requests}; group: {}; state: {state}{worlds}", claim.group)
}

/// The page of an erasure.
fn erasure(text: &str) -> Result<String> {
    let e = Erasure::parse(text).map_err(|e| Error::input("certificate", e.to_string()))?;
    let mut lines: Vec<String> = warning(text, &e.chain, &e.signature).into_iter().collect();
    lines.extend([
        format!("Erasure without a release, entry {} of vault {}", e.chain.index, e.vault),
        format!("received {}  ·  signed by key {}", e.at, e.signature.key_id),
        String::new(),
        format!("Request `{}`: {} erased", e.request.id, counted(e.request.records)),
    ]);
    lines.extend(e.damage.map(|damage| {
        let (erased, missing) = (counted(damage.erased), counted(damage.missing));
        let what = format!(
            "The vault was damaged: {erased} whose checksum failed erased as well, {missing} missing."
        );
        wrap(&what, "", "")
    }));
    lines.extend([format!(
        "Model version {} is withdrawn. Nothing is claimed about any model.",
        e.model.version
    )]);
    for (title, list) in
        [("What is done", &e.scope.covers), ("What is NOT", &e.scope.does_not_cover)]
    {
        lines.push(format!("\n{title}"));
        lines.extend(list.iter().map(|text| wrap(text, "  * ", "    ")));
    }
    Ok(lines.join("\n") + "\n")
}

/// A number of records in words; certificates do not state it where it is private.
fn counted(records: Option<u64>) -> String {
    match records {
        Some(1) => "1 record".to_owned(),
        Some(count) => format!("{count} records"),
        None => "records (number not stated)".to_owned(),
    }
}

fn request(c: &Certificate) -> String {
    let records = counted(c.request.records);
    let what = match c.request.kind {
        RequestKind::Train => format!("the first training, on {records}"),
        RequestKind::Delete => format!("deletion of {records}"),
        RequestKind::Add => format!("addition of {records}"),
        RequestKind::Update => format!("update of {records}"),
        RequestKind::Refresh => "a fresh release without kept state".to_owned(),
    };
    let subject =
        if c.request.subject.is_some() { ", all records of the subjects named" } else { "" };
    format!("{what}{subject}, received {}", c.request.received_at)
}

/// Wraps at 88 columns, words kept whole.
pub(crate) fn wrap(text: &str, first: &str, rest: &str) -> String {
    let mut lines = String::from(first);
    let mut width = first.chars().count();
    for (position, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if position > 0 && width + 1 + length > 88 {
            lines.push('\n');
            lines.push_str(rest);
            width = rest.chars().count();
        } else if position > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
}
