//! A vault whose owner signed a plan that no training can have made.

use std::fs;
use std::ops::ControlFlow;

use efface::{Context, ExportFormat, Keyring, Kind, Plan, Source};
use efface_privacy::certificate::seal;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::table::{Label, table};
use crate::tamper::behind;
use crate::workshop::Workshop;

/// Every place of a document that holds a number, as JSON has it or in a text.
fn numbers(value: &Value, at: String, found: &mut Vec<(String, bool)>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, v)| numbers(v, format!("{at}/{name}"), found));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| numbers(v, format!("{at}/{i}"), found));
        }
        Value::Number(_) => found.push((at, false)),
        Value::String(text) if text.parse::<f64>().is_ok() => found.push((at, true)),
        _ => {}
    }
}

/// A trained vault's plan and certificate, for the owner of its key to sign others in their place.
struct Owner {
    w: Workshop,
    keyring: Keyring,
    plan: Value,
    certificate: Value,
}

impl Owner {
    fn new(settings: &str, label: Label) -> Self {
        let w = Workshop::new();
        w.write("data.csv", table(label, 0, 60));
        w.write("rows.csv", table(label, 0, 3));
        w.efface(&format!(
            "train data.csv --label y --id id --subject user -o m.efface {settings}"
        ))
        .done();
        let keyring = Keyring::load(&w.key_file()).unwrap();
        let connection = Connection::open(w.path("m.efface")).unwrap();
        let text = |sql| -> String { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
        let plan = serde_json::from_str(&text("SELECT config FROM genesis")).unwrap();
        let shown = w.efface("certificate export m.efface").done();
        let certificate = serde_json::from_str(&shown.stdout).unwrap();
        drop(connection);
        Self { w, keyring, plan, certificate }
    }

    /// Puts a plan into the vault, with a certificate of it; none if it is no plan at all.
    fn sign(&self, mut plan: Value) -> Option<()> {
        let parsed: Plan = serde_json::from_value(plan.clone()).ok()?;
        let digest = parsed.digest().unwrap();
        for constant in plan["constants"].as_array_mut().unwrap() {
            if constant["name"] == "plan" {
                constant["value"] = json!(digest);
            }
        }
        let mut certificate = self.certificate.clone();
        certificate["constants"] = plan["constants"].clone();
        let event = &mut certificate["event"];
        let event = if event["kind"] == "composed" { &mut event["inner"] } else { event };
        event["setting"] = plan["setting"].clone();
        certificate.as_object_mut().unwrap().remove("signature");
        let sign = |bytes: &[u8]| self.keyring.sign(bytes);
        let (text, hash) = seal(certificate, &self.keyring.public_key(), sign).unwrap();
        fs::copy(self.w.path("m.efface"), self.w.path("h.efface")).unwrap();
        let hash = hex::decode(hash).unwrap();
        behind(&self.w, "h.efface", |connection| {
            connection.execute("UPDATE ledger SET body = ?1, hash = ?2", (text, hash)).unwrap();
            connection.execute("UPDATE genesis SET config = ?1", [plan.to_string()]).unwrap();
        });
        Some(())
    }

    /// Reads the vault in every way that takes weights and plan to numbers.
    fn used(&self) -> efface::Result<()> {
        let vault = self.w.path("h.efface");
        efface::status(&vault)?;
        let rows = Source {
            path: Some(self.w.path("rows.csv")),
            label: Some("y".into()),
            id: Some("id".into()),
            subject: Some("user".into()),
            ..Source::default()
        };
        efface::predict(&vault, &rows, &mut |_| Ok(()))?;
        efface::export(
            &vault,
            ExportFormat::Npz,
            &mut Context {
                clock: &|| "2030-01-02T03:04:05Z".to_owned(),
                entropy: &mut |_| Err("none is needed".to_owned()),
                keyring: &self.keyring,
                watch: &mut |_| ControlFlow::Continue(()),
                wait: std::time::Duration::ZERO,
                rows: efface::RowStore::Vault,
            },
        )?;
        Ok(())
    }
}

/// Extreme numbers in every numeric field of a plan, one at a time, signed by the owner of the
/// vault: commands refuse the vault in words. None panics, and none runs for ever.
#[test]
fn a_plan_with_extreme_numbers_is_refused_in_words() {
    let whole: Vec<Value> = [0, 1 << 28, u64::from(u32::MAX), 1 << 53, 1 << 63, u64::MAX]
        .into_iter()
        .map(|number| json!(number))
        .chain([json!(-1), json!(0.5)])
        .collect();
    let decimal: Vec<Value> =
        ["0", "-1", "inf", "1e308", "5e-324", "NaN"].into_iter().map(|text| json!(text)).collect();
    for (settings, label) in [
        ("", Label::Two),
        ("--loss softmax", Label::Three),
        ("--mechanism noisy-gd --lambda 0.05", Label::Two),
        ("--mechanism descent-to-delete --lambda 0.1 --noise 10", Label::Two),
        ("--mechanism ridge --loss squared --target-range -10,10", Label::Number),
        ("--mechanism distributed-descent --releases 3 --noise 10", Label::Two),
        ("--extractor-privacy 0.1,1e-6,3 --delta 1e-3 --normalizer mean", Label::Two),
    ] {
        let owner = Owner::new(settings, label);
        // What was signed anew without a change is as good as before.
        owner.sign(owner.plan.clone()).unwrap();
        owner.used().unwrap();
        let mut places = Vec::new();
        numbers(&owner.plan, String::new(), &mut places);
        places.retain(|(at, _)| !at.starts_with("/constants") && !at.starts_with("/assumptions"));
        assert!(places.len() >= 10, "{places:?}");
        let mut refused = 0;
        for (at, text) in places {
            for value in if text { &decimal } else { &whole } {
                let mut plan = owner.plan.clone();
                *plan.pointer_mut(&at).unwrap() = value.clone();
                if owner.sign(plan).is_none() {
                    continue;
                }
                // In this process, where a panic ends the test.
                match owner.used() {
                    Ok(()) => {}
                    Err(error) => {
                        assert!(error.kind() != Kind::Interrupted, "{at} = {value}: {error}");
                        refused += u64::from(error.message().contains("plan"));
                    }
                }
            }
        }
        assert!(refused > 20, "{settings}: {refused}");
    }
}

/// The two numbers of a plan that a request could never come to an end with.
#[test]
fn steps_and_features_without_bound_are_named() {
    let owner = Owner::new("--mechanism noisy-gd --lambda 0.05 --removal-steps 3", Label::Two);
    for (at, value, name) in [
        ("/rows/features", json!(u64::MAX), "features"),
        ("/schedule/steps/plan/removal_steps", json!(u32::MAX), "removal-steps"),
        ("/schedule/steps/plan/learning_steps", json!(u32::MAX), "steps"),
    ] {
        let mut plan = owner.plan.clone();
        *plan.pointer_mut(at).unwrap() = value.clone();
        owner.sign(plan).unwrap();
        let said = ["the vault's plan is invalid", name, &value.to_string(), "backup"];
        owner.w.efface("status h.efface").fails(2, &said);
        owner.w.efface("predict h.efface rows.csv").fails(2, &said);
        // With the owner's keys, the seal on the rows is noticed to be another first.
        owner.w.efface("delete h.efface --record r3").fails(2, &["backup"]);
        owner.w.efface("export h.efface --to npz -o e.npz").fails(2, &["backup"]);
        let key = owner.w.public_key();
        let ran = owner.w.run(&["ledger", "verify", "h.efface", "--key", &key]).exits(1);
        assert!(ran.stdout.contains("the vault's plan is invalid"), "{ran:#?}");
    }
}
