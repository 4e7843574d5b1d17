//! The first paragraph: what happened and whether to worry, before any table.

use efface_privacy::certificate::{CheckOutcome, RequestKind};
use efface_privacy::claim::{Notion, Requests};

use super::Facts;
use super::page::{Page, escape, short, time};

pub(super) fn write(page: &mut Page, facts: &Facts) {
    let status = &facts.status;
    page.title("Deletion report");
    page.raw(format!(
        "<p>Model <code>{}</code>, made {} UTC, now at version {}.</p>",
        escape(&status.vault),
        escape(&time(&status.created_at)),
        status.version
    ));
    page.paragraph(&story(facts));
    if let Some(promise) = promise(facts) {
        page.paragraph(&promise);
    }
    if status.not_for_release {
        page.notice(
            "bad",
            "Not for release.",
            "The noise came from a user-given seed: this model is for tests and gives no \
             guarantee.",
        );
    }
    if status.withdrawn {
        page.notice(
            "bad",
            "No model.",
            "Records were erased without a release, and the model was withdrawn. What follows is \
             about models published before; nothing here says how much they reveal about the \
             erased records.",
        );
    }
    ledger(page, facts);
}

/// Who came, who went.
fn story(facts: &Facts) -> String {
    let count = |kind| facts.certificates.iter().filter(|c| c.request.kind == kind).count();
    let status = &facts.status;
    let mut parts = Vec::new();
    for (kind, one, many) in [
        (RequestKind::Delete, "deletion", "deletions"),
        (RequestKind::Add, "addition", "additions"),
        (RequestKind::Update, "update", "updates"),
        (RequestKind::Refresh, "refresh", "refreshes"),
    ] {
        match count(kind) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            n => parts.push(format!("{n} {many}")),
        }
    }
    let erasures = status.requests.iter().find(|(kind, _)| kind == crate::outcome::ERASE);
    match erasures.map_or(0, |(_, count)| *count) {
        0 => {}
        1 => parts.push("1 erasure without a release".into()),
        n => parts.push(format!("{n} erasures without a release")),
    }
    let served = match parts.split_last() {
        None => "No request has been served since".to_owned(),
        Some((last, [])) => format!("It has served {last} since"),
        Some((last, rest)) => format!("It has served {} and {last} since", rest.join(", ")),
    };
    let now = if facts.hides_counts {
        "a private number of records".to_owned()
    } else {
        let people = match status.subjects {
            0 => String::new(),
            1 => " of 1 subject".into(),
            n => format!(" of {n} subjects"),
        };
        format!("{} records{people}", status.records)
    };
    format!(
        "The model was trained by `{}` ({} loss). {served}, and it is now trained on {now}.",
        status.mechanism, status.loss
    )
}

/// The latest promise in one sentence.
fn promise(facts: &Facts) -> Option<String> {
    let latest = facts.latest()?;
    let wanted = facts.target.notion;
    let claim = latest.claims.iter().find(|c| c.notion == wanted).or(latest.claims.first())?;
    if claim.notion == Notion::ExactRemoval {
        return Some(
            "What it keeps and publishes is, bit for bit, what it would be without the deleted \
             records."
                .into(),
        );
    }
    if !claim.epsilon.0.is_finite() {
        return Some(
            "Its certificates give no guarantee: no bound holds for what was released.".into(),
        );
    }
    let seen = match (claim.notion, claim.releases) {
        (Notion::DeletionPrivacy, _) => "what is kept after the request".to_owned(),
        (_, 0 | 1) => "the model published last (and none before it)".to_owned(),
        (_, n) => format!("the {n} releases that this claim covers together"),
    };
    let when = match claim.requests {
        Requests::Any => String::new(),
        Requests::NonAdaptive => ", if requests were chosen without looking at releases".into(),
        Requests::PAdaptive(1) => ", even if the requester saw one release".into(),
        Requests::PAdaptive(p) => format!(", even if the requester saw {p} releases"),
    };
    Some(format!(
        "An attacker who sees only {seen} and must decide between the two worlds that the latest \
         certificate compares ({} at epsilon {}) is right in at most {} of 100 cases{when}; \
         random guessing is right in 50.",
        claim.notion.name(),
        short(claim.epsilon.0),
        short((50.0 * (1.0 + claim.advantage.0)).min(100.0)),
    ))
}

/// Whether the ledger verifies.
fn ledger(page: &mut Page, facts: &Facts) {
    let failed: Vec<_> =
        facts.verdict.checks.iter().filter(|check| check.outcome == CheckOutcome::Fails).collect();
    if failed.is_empty() {
        page.notice(
            "good",
            "The ledger verifies.",
            "Every entry is chained and signed by the vault's own key, and every number was \
             recomputed for this page. Only a trusted key and a ledger head kept elsewhere can \
             show whether that key is the right one, and whether the vault was replaced by an \
             older copy.",
        );
        return;
    }
    page.notice("bad", "The ledger does not verify.", "Do not rely on anything below:");
    let lines: Vec<_> = failed.iter().map(|c| format!("{}: {}", c.name, c.reason)).collect();
    page.list(&lines);
}
