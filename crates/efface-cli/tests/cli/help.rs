//! The help of every command, word for word.

use crate::table::{Label, table};
use crate::workshop::Workshop;

/// A command and those below it, as the overviews list them.
fn commands(w: &Workshop, parent: &str) -> Vec<String> {
    let overview = w.efface(&format!("{parent} -h")).done().stdout;
    let mut all = vec![parent.to_owned()];
    let listed = overview.split("Commands:").nth(1).unwrap_or("");
    let listed = listed.trim_start_matches('\n').split("\n\n").next().unwrap();
    for line in listed.lines() {
        let name = line.split_whitespace().next().unwrap();
        if name != "help" {
            all.extend(commands(w, format!("{parent} {name}").trim()));
        }
    }
    all
}

/// The sections of a page, each with its heading.
fn sections(page: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in page.split_inclusive('\n') {
        if line.ends_with(":\n") && !line.starts_with(' ') {
            all.push(String::new());
        }
        all.last_mut().unwrap().push_str(line);
    }
    all
}

/// What a page shares with that of `train` is kept once, in the snapshot of `train`.
#[test]
fn help_of_every_command() {
    let w = Workshop::new();
    let settings = sections(&w.efface("train --help").done().stdout);
    let mut shared = 0;
    for command in commands(&w, "") {
        let ran = w.efface(&format!("{command} --help")).done();
        assert_eq!(ran.stderr, "");
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
        let mut page = sections(&ran.stdout);
        if command != "train" {
            for section in page.iter_mut().filter(|section| settings.contains(section)) {
                let heading = section.lines().next().unwrap();
                *section = format!("{heading} as in `efface train --help`\n\n");
                shared += 1;
            }
        }
        let name = if command.is_empty() { "efface".into() } else { command.replace(' ', "_") };
        let page = page.concat();
        insta::assert_snapshot!(name, page);
    }
    assert!(shared >= 4, "{shared}");
}

#[test]
fn version_and_completions() {
    let w = Workshop::new();
    assert_eq!(w.efface("--version").done().stdout, "efface 0.1.0\n");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = w.efface(&format!("completions {shell}")).done().stdout;
        assert!(script.contains("certificate") && script.contains("noisy-gd"), "{shell}");
    }
}

#[test]
fn wrong_usage() {
    let w = Workshop::new();
    for line in [
        "",
        "forget",
        "train",
        "train data.csv --colour blue",
        "train data.csv -o m.efface --loss hinge",
        "train data.csv -o m.efface --lambda much",
        "train data.csv -o m.efface --target-range 3",
        "train data.csv -o m.efface --noise 1 --excess-risk 1",
        "train data.csv -o m.efface --intercept 1 --no-intercept",
        "delete m.efface",
        "delete m.efface --record 1 --subject a",
        "export m.efface",
        "export m.efface --to onnx",
        "certificate verify c.json --head 12",
        "account",
        "completions tcsh",
        "plan --n 5",
    ] {
        let ran = w.efface(line).exits(2);
        assert_eq!(ran.stdout, "", "{ran:#?}");
        assert!(!ran.stderr.is_empty(), "{ran:#?}");
        let json = w.efface(&format!("{line} --json")).exits(2);
        if !line.is_empty() {
            let error: serde_json::Value = serde_json::from_str(&json.stderr).unwrap();
            assert_eq!(error["error"]["code"], "usage", "{error}");
            assert!(!error["error"]["message"].as_str().unwrap().is_empty());
        }
    }
}

/// Whatever name help and completion offer, the engine knows.
#[test]
fn offered_names_are_the_engines() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 20));
    let help = w.efface("train --help").done().stdout;
    let mut tried = 0;
    let mut option = String::new();
    let mut lines = help.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if let Some(word) = line.split_whitespace().find(|word| word.starts_with("--")) {
            option = word.to_owned();
        }
        let Some(mut values) = line.strip_prefix("[possible values: ").map(str::to_owned) else {
            continue;
        };
        while !values.ends_with(']') {
            values = format!("{values} {}", lines.next().unwrap());
        }
        for value in values.trim_end_matches(']').split(", ") {
            let ran = w.efface(&format!(
                "train data.csv --label y --id id --subject user {option} {value} -o m.efface"
            ));
            assert!(!ran.stderr.contains("must be one of"), "{ran:#?}");
            let _ = std::fs::remove_file(w.path("m.efface"));
            tried += 1;
        }
    }
    assert!(tried >= 27, "{tried}");
}
