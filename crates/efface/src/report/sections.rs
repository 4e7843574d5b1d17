//! The page's sections, in the order a reader asks.

use efface_privacy::certificate::{Certificate, Evidence, Origin};
use efface_privacy::claim::{Claim, Notion};

use super::Facts;
use super::page::{Page, escape, short, time};

/// What the latest certificate promises.
pub(super) fn promises(page: &mut Page, facts: &Facts) {
    let Some(latest) = facts.latest() else { return };
    page.section("What the latest certificate promises");
    page.raw("<ul>");
    for claim in &latest.claims {
        page.raw(format!(
            "<li><strong>{}</strong>: {}. Compared with {}.</li>",
            claim.notion.name(),
            escape(&claim.words),
            escape(&claim.reference)
        ));
    }
    page.raw("</ul>");
    let rows: Vec<Vec<String>> = latest.claims.iter().map(in_numbers).collect();
    page.table(
        "The same in numbers",
        &["Notion", "Epsilon", "Delta or order", "Attacker's advantage", "Accountant"],
        &rows,
    );
}

fn in_numbers(claim: &Claim) -> Vec<String> {
    let at = match (claim.delta, claim.order) {
        (Some(delta), _) => format!("delta {}", short(delta.0)),
        (None, Some(order)) => format!("order {}", short(order.0)),
        (None, None) => "-".into(),
    };
    vec![
        claim.notion.name().into(),
        short(claim.epsilon.0),
        at,
        format!("{} of 1", short(claim.advantage.0)),
        claim.accountant.name().into(),
    ]
}

/// What the plan's constants warn of, without what tells a private number of records.
pub(super) fn notices(page: &mut Page, facts: &Facts) {
    let shown: Vec<String> = facts
        .status
        .notices
        .iter()
        .filter(|notice| !(facts.hides_counts && notice.code.tells_count()))
        .map(|notice| format!("{} ({})", notice.message, notice.code.name()))
        .collect();
    if !shown.is_empty() {
        page.section("Warnings about this model");
        page.list(&shown);
    }
}

/// Every request, oldest first.
pub(super) fn requests(page: &mut Page, facts: &Facts) {
    page.section("Requests and certificates");
    let rows: Vec<Vec<String>> =
        facts.certificates.iter().map(|c| request(c, facts.target.notion)).collect();
    page.table(
        "Each line is a certificate of the ledger, oldest first; times are UTC",
        &[
            "Entry",
            "Request",
            "Records",
            "Received",
            "Certified",
            "Version",
            "Epsilon promised",
            "Epsilon of DP for the rest",
        ],
        &rows,
    );
}

fn request(certificate: &Certificate, wanted: Notion) -> Vec<String> {
    let epsilon = |notion| {
        let claim = certificate.claims.iter().find(|claim| claim.notion == notion);
        claim.map_or("-".to_owned(), |claim| short(claim.epsilon.0))
    };
    vec![
        certificate.chain.index.to_string(),
        certificate.request.kind.name().into(),
        certificate.request.records.map_or("not stated".to_owned(), |count| count.to_string()),
        time(&certificate.request.received_at),
        time(&certificate.issued_at),
        certificate.model.version.to_string(),
        epsilon(wanted),
        epsilon(Notion::DifferentialPrivacy),
    ]
}

/// What is not covered, what the claims rest on, and which copies exist.
pub(super) fn limits(page: &mut Page, facts: &Facts) {
    let Some(latest) = facts.latest() else { return };
    page.section("What is not covered");
    page.list(&latest.scope.does_not_cover);
    page.section("Assumptions of the claims");
    let rows: Vec<Vec<String>> = latest
        .assumptions
        .iter()
        .map(|a| vec![a.name.clone(), a.value.clone(), evidence(a.evidence).into()])
        .collect();
    page.table("Beyond mathematics", &["Name", "Assumption", "How sure"], &rows);
    page.section("Exports");
    let exports = &facts.exports;
    if exports.is_empty() {
        page.paragraph(
            "The ledger records no export. Copies made by other means are not \
            recorded.",
        );
        return;
    }
    let rows: Vec<Vec<String>> = exports
        .iter()
        .map(|e| vec![e.version.to_string(), time(&e.at), e.format.clone()])
        .collect();
    page.table(
        "Later deletions do not reach these copies; times are UTC",
        &["Version", "When", "Format"],
        &rows,
    );
}

fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Enforced => "enforced by the engine",
        Evidence::Measured => "measured",
        Evidence::Declared => "declared by the user",
        Evidence::Assumed => "assumed, not checked",
    }
}

/// What was trained, and every public constant.
pub(super) fn model(page: &mut Page, facts: &Facts) {
    let (status, Some(latest)) = (&facts.status, facts.latest()) else { return };
    page.section("What was trained");
    let capacity = status.capacity.map_or("no limit".to_owned(), |c| c.to_string());
    let rows = [
        ("Mechanism", status.mechanism.clone()),
        ("Loss", status.loss.clone()),
        ("State kept after a request", status.state.clone()),
        ("Parameters", status.parameters.to_string()),
        ("Records now", facts.stated(status.records)),
        ("Subjects now", facts.stated(status.subjects)),
        ("Maximum number of records", capacity),
    ]
    .map(|(name, value)| vec![name.to_owned(), value]);
    page.table("The model", &["Property", "Value"], &rows);
    let rows: Vec<Vec<String>> = latest
        .constants
        .iter()
        .map(|c| {
            let origin = match c.origin {
                Origin::User => "given by the user",
                Origin::Default => "fixed by rule",
                Origin::Data => "from the data",
            };
            vec![c.name.clone(), c.value.clone(), origin.into()]
        })
        .collect();
    page.table(
        "Public constants, fixed for the life of the model",
        &["Name", "Value", "Origin"],
        &rows,
    );
}

/// The words that a reader may not know.
pub(super) fn words(page: &mut Page) {
    page.section("Words");
    let terms = [
        (
            "epsilon",
            "How well two worlds can be distinguished: the odds change by at most a factor of e \
             to the epsilon. 0 means not at all; about 1 is a common target; above 10 means \
             little.",
        ),
        (
            "delta",
            "The slack beside epsilon: the probability of any event in one world is at most e to \
             the epsilon times its probability in the other, plus delta. It should be far below 1 \
             over the number of records.",
        ),
        (
            "attacker's advantage",
            "How much better than random guessing anyone can distinguish two worlds, whatever \
             they compute: 0 is random guessing, 1 is certainty.",
        ),
        (
            "indistinguishable-from-retraining",
            "The model published after the request is close to one trained without the deleted \
             records. It says nothing about models published before.",
        ),
        (
            "deletion-privacy",
            "What is kept after the request hardly depends on the deleted records; where it says \
             `p-adaptive`, even if the requester saw earlier models.",
        ),
        (
            "differential-privacy",
            "What was published hardly depends on any single remaining record.",
        ),
        ("exact-removal", "What is kept is, bit for bit, what it would be without the records."),
        (
            "perfect and secret state",
            "With `perfect`, nothing computed from deleted records is kept. With `secret`, some \
             of it is kept and must stay secret, and only a stated number of releases is covered.",
        ),
        (
            "ledger head",
            "A fingerprint of the whole history. A copy kept elsewhere shows later whether the \
             history was changed or rolled back.",
        ),
    ];
    page.terms(terms.map(|(term, meaning)| (term, meaning.to_owned())));
}

/// What a reader who trusts nobody does.
pub(super) fn check_yourself(page: &mut Page, facts: &Facts) {
    let status = &facts.status;
    page.section("Check it yourself");
    page.raw("<p>With the vault: <code>efface ledger verify VAULT --all --key KEY --head HEAD</code>. With one certificate only: <code>efface certificate verify FILE --key KEY</code>, or the independent verifier of efface's documentation, one Python file.</p>");
    let rows = [
        ("Signing key", status.key_id.clone()),
        ("Ledger head (keep a copy elsewhere)", status.head.1.clone()),
        ("Its position", status.head.0.to_string()),
    ]
    .map(|(name, value)| vec![name.to_owned(), value]);
    page.table("What to compare", &["Name", "Value"], &rows);
}
