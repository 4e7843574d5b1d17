//! The page's sections, in the order a reader asks.

use crate::checks::refitted;
use efface_page::number::{bound, time};
use efface_page::{Section, Table, certificate, words};
use efface_privacy::certificate::{Certificate, Erasure};
use efface_privacy::claim::{Claim, Notion};

use super::ReportData;
use crate::outcome::notice::NoticeCode;

/// What the latest certificate promises.
pub(super) fn promises(latest: &Certificate) -> Section {
    let head = ["Notion", "Epsilon", "Delta or order", "Attacker's advantage", "Accountant"];
    Section::new("What the latest certificate promises")
        .list(latest.claims.iter().map(words::whole_claim))
        .table(Table::new("The same in numbers", &head).rows(latest.claims.iter().map(in_numbers)))
}

fn in_numbers(claim: &Claim) -> [String; 5] {
    [
        claim.notion.name().into(),
        bound(claim.epsilon.0),
        words::parameter(claim.delta, claim.order).unwrap_or_else(|| "-".into()),
        format!("{} of 1", bound(claim.advantage.0)),
        claim.accountant.name().into(),
    ]
}

/// What the plan's constants warn of, without what tells a private number of records.
pub(super) fn notices(data: &ReportData) -> Section {
    let shown = data
        .status
        .notices
        .iter()
        .filter(|notice| !(data.plan.hides_counts() && notice.code == NoticeCode::PublicNFarOff))
        .map(|notice| format!("{} ({})", notice.message, notice.code.name()));
    Section::new("Warnings about this model").list(shown)
}

/// Every request, oldest first.
pub(super) fn requests(data: &ReportData) -> Section {
    let table = Table::new(
        "Each line is an entry of the ledger, oldest first: a certificate or an erasure, which has none; times are UTC",
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
    );
    let certified =
        data.certificates.iter().map(|c| (c.chain.index, request(c, data.plan.target.notion)));
    let erased = data.erasures.iter().map(|e| (e.chain.index, erasure(e)));
    let mut rows: Vec<(u64, [String; 8])> = certified.chain(erased).collect();
    rows.sort_unstable_by_key(|(index, _)| *index);
    Section::new("Requests and certificates")
        .table(table.rows(rows.into_iter().map(|(_, row)| row)))
}

fn erasure(erasure: &Erasure) -> [String; 8] {
    let none = || "-".to_owned();
    [
        erasure.chain.index.to_string(),
        "erase".to_owned(),
        stated(erasure.request.records),
        time(&erasure.at),
        none(),
        "withdrawn".to_owned(),
        none(),
        none(),
    ]
}

/// A number of records, if it is not private.
fn stated(records: Option<u64>) -> String {
    records.map_or("not stated".to_owned(), |count| count.to_string())
}

fn request(certificate: &Certificate, wanted: Notion) -> [String; 8] {
    let epsilon = |notion| {
        let claim = certificate.claims.iter().find(|claim| claim.notion == notion);
        claim.map_or("-".to_owned(), |claim| bound(claim.epsilon.0))
    };
    [
        certificate.chain.index.to_string(),
        certificate.request.kind.name().into(),
        stated(certificate.request.records),
        time(&certificate.request.received_at),
        time(&certificate.issued_at),
        certificate.model.version.to_string(),
        epsilon(wanted),
        epsilon(Notion::DifferentialPrivacy),
    ]
}

/// What is not covered, what the claims rest on, and which copies exist.
pub(super) fn limits(data: &ReportData, latest: &Certificate) -> [Section; 3] {
    let exports = Section::new("Exports");
    let table = Table::new(
        "Later deletions do not reach these copies; times are UTC",
        &["Version", "When", "Format"],
    );
    let exported = data.exports.iter();
    let rows = exported.map(|e| [e.version.to_string(), time(&e.at), e.format.clone()]);
    [
        Section::new("What is not covered").list(&latest.scope.does_not_cover),
        Section::new("Assumptions of the claims")
            .list(certificate::assumptions(&latest.assumptions)),
        match data.exports.is_empty() {
            true => exports
                .text("The ledger records no export. Copies made by other means are not recorded."),
            false => exports.table(table.rows(rows)),
        },
    ]
}

/// What was trained, and every public constant.
pub(super) fn model(data: &ReportData, latest: &Certificate) -> Section {
    let status = &data.status;
    let stated = |count: u64| match data.plan.hides_counts() {
        true => "not stated: it is private".into(),
        false => count.to_string(),
    };
    Section::new("What was trained")
        .facts([
            ("Mechanism", status.mechanism.clone()),
            ("Loss", status.loss.clone()),
            ("State kept after a request", status.state.clone()),
            ("Parameters", status.parameters.to_string()),
            ("Records now", stated(status.records)),
            ("Subjects now", stated(status.subjects)),
            (
                "Maximum number of records",
                status.capacity.map_or("no limit".to_owned(), |c| c.to_string()),
            ),
        ])
        .table(certificate::constants(
            if refitted(latest).is_some() {
                "Public constants, which follow from settings and the numbers of records and classes"
            } else {
                "Public constants, fixed for the life of the model"
            },
            &latest.constants,
        ))
}

/// The words that a reader may not know.
pub(super) fn glossary() -> Section {
    Section::new("Words").terms([
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
    ])
}

/// What a reader who trusts nobody does.
pub(super) fn check_yourself(data: &ReportData) -> Section {
    let status = &data.status;
    Section::new("Check it yourself")
        .text(
            "With the vault: `efface ledger verify VAULT --all --key KEY --head HEAD`. With one \
             certificate only: `efface certificate verify FILE --key KEY`, or the independent \
             verifier of efface's documentation, one Python file.",
        )
        .facts([
            ("Signing key", status.key_id.clone()),
            ("Ledger head (keep a copy elsewhere)", status.head.1.clone()),
            ("Its position", status.head.0.to_string()),
        ])
}
