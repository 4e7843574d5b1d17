//! The first section: what happened and whether to worry, before any table.

use efface_page::certificate::SEEDED;
use efface_page::number::{counted, joined, time};
use efface_page::{Section, Tone};
use efface_privacy::certificate::{Certificate, CheckOutcome, RequestKind};
use efface_privacy::claim::Claim;

use super::ReportData;

pub(super) fn summary(data: &ReportData, latest: &Certificate) -> Section {
    let status = &data.status;
    let made = time(&status.created_at);
    let mut section = Section::new("")
        .text(format!(
            "Model `{}`, made {made} UTC, now at version {}.",
            status.vault, status.version
        ))
        .text(story(data));
    let wanted = |claim: &&Claim| claim.notion == data.plan.target.notion;
    if let Some(claim) = latest.claims.iter().find(wanted).or(latest.claims.first()) {
        let of = if status.withdrawn {
            "The latest certificate, of a model that was published before the erasure and is withdrawn, claims"
        } else {
            "Its latest certificate claims"
        };
        section = section.text(format!("{of}: {}.", claim.words));
    }
    if status.not_for_release {
        section = section.notice(Tone::Bad, SEEDED.0, SEEDED.1);
    }
    if status.withdrawn {
        section = section.notice(
            Tone::Bad,
            "No model",
            "Records were erased without a release, and the model was withdrawn. What follows is \
             about models published before; nothing here says how much they reveal about the \
             erased records.",
        );
    }
    let failed = data.verdict.checks.iter().filter(|check| check.outcome == CheckOutcome::Fails);
    let failed: Vec<_> = failed.map(|check| (&check.name, &check.reason)).collect();
    if failed.is_empty() {
        return section.notice(
            Tone::Good,
            "The ledger verifies",
            "Every entry is chained and signed by the vault's own key, and every number was \
             recomputed for this page. Only a trusted key and a ledger head kept elsewhere can \
             show whether that key is the right one, and whether the vault was replaced by an \
             older copy.",
        );
    }
    section
        .notice(Tone::Bad, "The ledger does not verify", "Do not rely on anything below:")
        .list(failed)
}

/// Who came, who went.
fn story(data: &ReportData) -> String {
    let count = |kind| data.certificates.iter().filter(|c| c.request.kind == kind).count();
    let status = &data.status;
    let erasures = status.requests.iter().find(|(kind, _)| kind == crate::outcome::ERASE);
    let mut parts: Vec<String> = [
        (RequestKind::Delete, "deletion"),
        (RequestKind::Add, "addition"),
        (RequestKind::Update, "update"),
        (RequestKind::Refresh, "refresh"),
    ]
    .map(|(kind, name)| (count(kind) as u64, name))
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, name)| counted(count, name))
    .collect();
    parts.extend(
        erasures.map(|(_, count)| format!("{} without a release", counted(*count, "erasure"))),
    );
    let served = match joined(&parts) {
        none if none.is_empty() => "No request has been served since".to_owned(),
        parts => format!("It has served {parts} since"),
    };
    let now = match (data.plan.hides_counts(), status.subjects) {
        (true, _) => "a private number of records".to_owned(),
        (false, 0) => counted(status.records, "record"),
        (false, people) => {
            format!("{} of {}", counted(status.records, "record"), counted(people, "subject"))
        }
    };
    format!(
        "The model was trained by `{}` ({} loss). {served}, and it is now trained on {now}.",
        status.mechanism, status.loss
    )
}
