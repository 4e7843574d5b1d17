//! One self-contained HTML page about a vault, for people and screen readers.

use std::fmt::Write as _;
use std::path::Path;

use efface_privacy::certificate::{Certificate, Evidence, Standing};
use efface_privacy::claim::Notion;

use crate::error::{Error, Result};
use crate::outcome::Status;
use crate::status::status;
use crate::store::{CERTIFICATE, latest_certificate, open_for_reading};
use crate::verify::verify_ledger;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
padding:0 1rem;color:#1a1a1a;background:#fff}h1{font-size:1.6rem}h2{font-size:1.2rem;\
margin-top:2rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem \
.6rem;border-bottom:1px solid #bbb;vertical-align:top}.scroll{overflow-x:auto}.warn{border-left:\
.3rem solid #b00020;padding:.3rem .8rem;background:#fdecee}.ok{border-left:.3rem solid #1b6e3c;\
padding:.3rem .8rem;background:#e9f5ee}code{font-size:.9em;overflow-wrap:anywhere}@media \
print{body{margin:0;max-width:none}}";

/// The page: what was trained, requests and certificates, claims in words, what has been spent,
/// limits, and whether the ledger verifies.
///
/// # Errors
/// A vault that cannot be read.
pub fn report(path: &Path) -> Result<String> {
    let status = status(path)?;
    let vault = open_for_reading(path)?;
    let genesis = vault.genesis()?;
    let head = vault.head()?.ok_or_else(|| Error::storage("damaged", "the vault has no ledger"))?;
    let latest = latest_certificate(&vault, &genesis, head.index)?;
    let mut certificates = Vec::new();
    vault.scan_ledger(0, |entry| -> Result<()> {
        if entry.kind == CERTIFICATE {
            certificates.push(Certificate::parse(entry.json).map_err(|error| {
                Error::storage("damaged", format!("ledger entry {}: {error}", entry.index))
            })?);
        }
        Ok(())
    })?;
    drop(vault);
    let verdict = verify_ledger(path, Some(&genesis.public_key), None)?;

    let mut page = Page(String::new());
    page.open(&status);
    page.ledger(&verdict);
    page.claims(&latest);
    page.requests(&certificates);
    page.budget(&status);
    page.model(&status);
    page.list("What is not covered", &latest.scope.does_not_cover);
    page.assumptions(&latest);
    page.exports(&status);
    page.constants(&latest);
    page.close(&status);
    Ok(page.0)
}

struct Page(String);

impl Page {
    fn add(&mut self, html: impl AsRef<str>) {
        self.0.push_str(html.as_ref());
        self.0.push('\n');
    }

    fn open(&mut self, status: &Status) {
        self.add("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        self.add("<meta name=\"viewport\" content=\"width=device-width\">");
        self.add(format!("<title>Deletion report, model {}</title>", escape(&status.vault)));
        self.add(format!("<style>{STYLE}</style></head><body><main>"));
        self.add(format!("<h1>Deletion report</h1><p>Vault <code>{}</code>, made {}, now at version {} with {} records.</p>",
            escape(&status.vault), escape(&status.created_at), status.version, status.records));
        if status.not_for_release {
            self.add("<p class=\"warn\"><strong>Not for release.</strong> The noise came from a user-given seed: this model is a test and promises nothing.</p>");
        }
    }

    fn ledger(&mut self, verdict: &efface_privacy::certificate::Verdict) {
        let failed: Vec<_> =
            verdict.checks.iter().filter(|check| check.standing == Standing::Fails).collect();
        if failed.is_empty() {
            self.add("<p class=\"ok\">Every entry of the ledger is chained and signed by the vault's own key, and every number was recomputed for this page. Whether that key is the one you trust, and whether an older copy of the vault was put back, only a key and a head kept elsewhere can tell.</p>");
        } else {
            self.add("<div class=\"warn\"><p><strong>The ledger does not verify.</strong></p><ul>");
            for check in failed {
                self.add(format!("<li>{}: {}</li>", escape(&check.name), escape(&check.reason)));
            }
            self.add("</ul></div>");
        }
    }

    fn model(&mut self, status: &Status) {
        self.add("<h2>What was trained</h2>");
        let capacity = status.capacity.map_or("no limit".to_owned(), |c| c.to_string());
        self.rows(
            &["Property", "Value"],
            &[
                vec!["Mechanism".into(), status.mechanism.clone()],
                vec!["Loss".into(), status.loss.clone()],
                vec!["State kept after a request".into(), status.state.clone()],
                vec!["Parameters".into(), status.parameters.to_string()],
                vec!["Records now".into(), status.records.to_string()],
                vec!["Subjects now".into(), status.subjects.to_string()],
                vec!["Most records allowed".into(), capacity],
                vec!["Signing key".into(), status.key_id.clone()],
                vec!["Ledger head".into(), format!("{} {}", status.head.0, status.head.1)],
            ],
        );
    }

    fn constants(&mut self, latest: &Certificate) {
        self.add("<h2>Public constants</h2>");
        let constants: Vec<Vec<String>> = latest
            .constants
            .iter()
            .map(|c| {
                vec![c.name.clone(), c.value.clone(), format!("{:?}", c.origin).to_lowercase()]
            })
            .collect();
        self.rows(&["Name", "Value", "Origin"], &constants);
    }

    fn claims(&mut self, latest: &Certificate) {
        self.add("<h2>What the latest certificate promises</h2><ul>");
        for claim in &latest.claims {
            self.add(format!(
                "<li><strong>{}</strong>: {}. Compared with {}.</li>",
                claim.notion.name(),
                escape(&claim.words),
                escape(&claim.reference)
            ));
        }
        self.add("</ul>");
    }

    fn budget(&mut self, status: &Status) {
        self.add("<h2>What can still be served</h2>");
        if let Some(left) = status.releases_left {
            self.add(format!("<p>{left} releases are left.</p>"));
        }
        let rows: Vec<Vec<String>> = status
            .notions
            .iter()
            .map(|n| {
                vec![
                    n.notion.clone(),
                    if n.available { "yes" } else { "no" }.into(),
                    n.note.clone(),
                ]
            })
            .collect();
        self.rows(&["Notion", "Available", "Note"], &rows);
    }

    fn requests(&mut self, certificates: &[Certificate]) {
        self.add("<h2>Requests and certificates</h2>");
        let rows: Vec<Vec<String>> = certificates
            .iter()
            .map(|c| {
                let first = c.claims.first();
                let epsilon = |notion: Notion| {
                    c.claims
                        .iter()
                        .find(|claim| claim.notion == notion)
                        .map_or("-".to_owned(), |claim| format!("{:.4}", claim.epsilon.0))
                };
                vec![
                    c.chain.index.to_string(),
                    c.request.kind.name().to_owned(),
                    c.request.records.clone(),
                    c.issued_at.clone(),
                    c.model.version.to_string(),
                    first.map_or("-".to_owned(), |claim| claim.notion.name().to_owned()),
                    first.map_or("-".to_owned(), |claim| format!("{:.4}", claim.epsilon.0)),
                    epsilon(Notion::DifferentialPrivacy),
                ]
            })
            .collect();
        self.rows(
            &[
                "Entry",
                "Request",
                "Records",
                "Issued",
                "Version",
                "First claim",
                "Epsilon",
                "Epsilon of DP for the rest",
            ],
            &rows,
        );
    }

    fn assumptions(&mut self, latest: &Certificate) {
        let rows: Vec<Vec<String>> = latest
            .assumptions
            .iter()
            .map(|a| {
                let evidence = match a.evidence {
                    Evidence::Enforced => "enforced by the engine",
                    Evidence::Measured => "measured",
                    Evidence::Declared => "declared by the user",
                    Evidence::Assumed => "assumed, not checked",
                };
                vec![a.name.clone(), a.value.clone(), evidence.to_owned()]
            })
            .collect();
        self.add("<h2>What the claims rest on</h2>");
        self.rows(&["Name", "Assumption", "Evidence"], &rows);
    }

    fn exports(&mut self, status: &Status) {
        self.add("<h2>Exports</h2>");
        if status.exports.is_empty() {
            self.add(
                "<p>The ledger notes no export. Copies made by other means are not noted.</p>",
            );
            return;
        }
        let rows: Vec<Vec<String>> = status
            .exports
            .iter()
            .map(|e| vec![e.version.to_string(), e.at.clone(), e.format.clone()])
            .collect();
        self.add("<p>Later deletions do not reach these copies.</p>");
        self.rows(&["Version", "When", "Format"], &rows);
    }

    fn list(&mut self, title: &str, items: &[String]) {
        self.add(format!("<h2>{}</h2><ul>", escape(title)));
        for item in items {
            self.add(format!("<li>{}</li>", escape(item)));
        }
        self.add("</ul>");
    }

    fn rows(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.add("<div class=\"scroll\"><table><thead><tr>");
        for name in head {
            self.add(format!("<th scope=\"col\">{}</th>", escape(name)));
        }
        self.add("</tr></thead><tbody>");
        for row in rows {
            let mut line = String::from("<tr>");
            for cell in row {
                let _ = write!(line, "<td>{}</td>", escape(cell));
            }
            self.add(line + "</tr>");
        }
        self.add("</tbody></table></div>");
    }

    fn close(&mut self, status: &Status) {
        self.add(format!(
            "<p>Head of the ledger to keep elsewhere: <code>{}</code></p></main></body></html>",
            escape(&status.head.1)
        ));
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
