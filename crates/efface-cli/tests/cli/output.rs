//! The printed text of main commands and errors, word for word, with what varies taken out.

use std::io::Read;

use serde_json::Value;

use crate::table::{Label, table};
use crate::workshop::{Workshop, steady};

const TRAIN: &str = "train data.csv --label y --id id --subject user --classes 0,1 -o m.efface";

fn trained(settings: &str) -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 100));
    w.efface("key create").done();
    w.efface(&format!("{TRAIN} {settings}")).done();
    w
}

#[test]
fn texts_of_a_models_life() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 100));
    w.write("more.csv", table(Label::Two, 100, 5));
    w.efface("key create").done();
    let key = w.public_key();
    for (name, line) in [
        ("train", format!("{TRAIN} --seed 1 --certificate c0.json")),
        ("evaluate", "evaluate m.efface data.csv".into()),
        ("predict", "predict m.efface more.csv".into()),
        ("dry_run", "delete m.efface --subject u3 --dry-run".into()),
        ("delete", "delete m.efface --subject u3 --request-id t1 --certificate c1.json".into()),
        ("delete_again", "delete m.efface --subject u3 --request-id t1".into()),
        ("add", "add m.efface more.csv --request-id t2".into()),
        ("export", "export m.efface --to npz -o w.npz".into()),
        ("status", "status m.efface".into()),
        ("list", "certificate list m.efface".into()),
        ("show", "certificate show m.efface t1".into()),
        ("report_written", "report m.efface -o r.html".into()),
        ("certificate_written", "certificate export m.efface 1 -o same.json".into()),
    ] {
        let ran = w.efface(&line).done();
        let seeded = matches!(name, "train" | "delete" | "add");
        let warning =
            "warning: NOT FOR RELEASE: made with `--seed`; its certificates never verify\n";
        assert_eq!(ran.stderr, if seeded { warning } else { "" }, "{name}");
        // What follows the noise of this run is not the same twice.
        let text = if name == "predict" { first_columns(&ran.stdout) } else { steady(&ran.stdout) };
        insta::assert_snapshot!(name, text);
    }
    let w = trained("");
    let undecided = w.efface("ledger verify m.efface").exits(2);
    insta::assert_snapshot!("verify_undecided", steady(&undecided.stdout));
    let own = w.public_key();
    let held = w.run(&["ledger", "verify", "m.efface", "--key", &own]).done();
    insta::assert_snapshot!("verify_holds", steady(&held.stdout));
    w.efface("certificate export m.efface -o c.json").done();
    let line = ["certificate", "verify", "c.json", "--vault", "m.efface", "--key", &own];
    insta::assert_snapshot!("verify_certificate", steady(&w.run(&line).done().stdout));
    let line = ["certificate", "verify", "c.json", "--vault", "m.efface", "--key", &key];
    insta::assert_snapshot!("verify_fails", steady(&w.run(&line).exits(1).stdout));
}

/// Warnings are on standard error, whoever reads the result.
#[test]
fn warnings_are_on_standard_error() {
    for (json, start) in [("", "warning: NOT FOR RELEASE"), (" --json", r#"{"notice":"NOT FOR"#)] {
        let w = trained("--seed 1");
        w.write("more.csv", table(Label::Two, 100, 5));
        for line in ["delete m.efface --subject u3", "add m.efface more.csv"] {
            let ran = w.efface(&format!("{line}{json}")).done();
            assert!(ran.stderr.starts_with(start), "{line}: {ran:#?}");
            assert!(!ran.stdout.contains("warning: "), "{line}: {ran:#?}");
        }
    }
}

fn first_columns(csv: &str) -> String {
    csv.lines().map(|line| line.rsplitn(4, ',').last().unwrap().to_owned() + "\n").collect()
}

#[test]
fn texts_of_errors() {
    let w = trained("");
    for (name, line) in [
        ("unknown_record", "delete m.efface --record zz"),
        ("not_a_vault", "status data.csv"),
        ("no_vault", "status nothing.efface"),
        ("exists", TRAIN),
        ("no_folder", "train data.csv --label y -o no/m.efface"),
        ("no_table", "train nothing.csv --label y -o n.efface"),
        ("bad_lambda", "train data.csv --label y --lambda 0 -o n.efface"),
        ("words", "train data.csv --label y --id id --preprocess declared -o n.efface"),
        ("certificate_is_vault", "delete m.efface --record r1 --certificate m.efface"),
    ] {
        let ran = w.efface(line);
        assert_eq!(ran.stdout, "");
        let folder = std::fs::canonicalize(w.path(".")).unwrap();
        let text = ran.stderr.replace(folder.to_str().unwrap(), "[folder]");
        insta::assert_snapshot!(name, format!("exit {}\n{text}", ran.code.unwrap()));
        let json = w.efface(&format!("{line} --json"));
        assert_eq!((json.code, json.stdout.as_str()), (ran.code, ""));
        let error: Value = serde_json::from_str(&json.stderr).unwrap();
        let message = error["error"]["message"].as_str().unwrap();
        assert!(ran.stderr.starts_with(&format!("error: {message}")), "{ran:#?}");
        assert!(!error["error"]["code"].as_str().unwrap().is_empty());
        match error["error"]["hint"].as_str() {
            Some(hint) => assert!(ran.stderr.contains(&format!("hint: {hint}")), "{ran:#?}"),
            None => assert!(!ran.stderr.contains("hint: "), "{ran:#?}"),
        }
    }
}

#[test]
fn json_everywhere() {
    let w = trained("--json");
    for line in [
        "status m.efface",
        "evaluate m.efface data.csv",
        "delete m.efface --record r2 --dry-run",
        "delete m.efface --record r2",
        "certificate show m.efface",
        "certificate export m.efface",
        "report m.efface",
        "export m.efface --to json",
        "key show",
        "schema data.csv --label y --id id",
    ] {
        assert!(w.efface(&format!("{line} --json")).done().json().is_object(), "{line}");
        assert!(w.efface(&format!("--json {line}")).done().json().is_object(), "{line}");
    }
    for line in ["certificate list m.efface", "predict m.efface data.csv"] {
        for line in w.efface(&format!("{line} --json")).done().stdout.lines() {
            assert!(serde_json::from_str::<Value>(line).unwrap().is_object());
        }
    }
    let verdict = w.efface("ledger verify m.efface --json").exits(2).json();
    assert_eq!(verdict["outcome"], "undecided");
    let served = w.efface("delete m.efface --record r3 --json").done().json();
    assert!(served["private"]["work"]["passes"].as_u64().unwrap() > 0);
    assert!(served.get("work").is_none(), "what is private stands under `private`");
}

/// A reader that goes away, such as `head`, is no error.
#[test]
fn a_broken_pipe_is_no_error() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 20_000));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let mut child = w.command(&["predict", "m.efface", "data.csv"]).spawn().unwrap();
    let mut first = [0u8; 10];
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut first).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(&first, b"position,i");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stderr, b"");
}

/// Control characters of names do not reach the terminal.
#[test]
fn names_cannot_steer_the_terminal() {
    let w = trained("");
    let ran = w.run(&["delete", "m.efface", "--record", "\u{1b}[31mred"]).exits(1);
    assert!(!ran.stderr.contains('\u{1b}') && ran.stderr.contains("\\u{1b}[31mred"), "{ran:#?}");
}
