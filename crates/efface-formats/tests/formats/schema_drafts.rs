//! Drafts of columns that are hardly meant as they look, and what schema.toml may say.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use efface_formats::{Draft, Format, Kind, Scaling, Schema, draft_from};

use super::collect::unlabelled;

/// The draft of a table with one column of these values.
fn draft<T: std::fmt::Display>(values: impl Iterator<Item = T>) -> Draft {
    let rows: String = values.map(|value| format!("\"{value}\"\n")).collect();
    let table = format!("column\n{rows}");
    draft_from("t.csv", table.as_bytes(), Some(Format::Csv), &unlabelled()).unwrap()
}

/// The kind of the column, and the comment before it.
fn drafted<T: std::fmt::Display>(values: impl Iterator<Item = T>) -> (Kind, Option<String>) {
    // Another column, because a table of ids alone has no features.
    let rows: String = values.map(|value| format!("\"{value}\",0.5\n")).collect();
    let table = format!("column,other\n{rows}");
    let draft = draft_from("t.csv", table.as_bytes(), Some(Format::Csv), &unlabelled()).unwrap();
    let text = draft.to_toml();
    assert_eq!(Schema::from_toml(&text).unwrap(), draft.schema);
    let note = text.split("\n\n").find(|part| part.contains("name = \"column\"")).unwrap();
    let note = note.lines().find_map(|line| line.strip_prefix("# decide: ")).map(str::to_owned);
    assert_eq!(draft.undecided().any(|name| name == "column"), note.is_some());
    (draft.schema.columns()[0].kind.clone(), note)
}

#[track_caller]
fn left_out<T: std::fmt::Display>(values: impl Iterator<Item = T>, words: &[&str]) {
    let (kind, note) = drafted(values);
    assert_eq!(kind, Kind::Ignored);
    let note = note.expect("no comment");
    for word in words {
        assert!(note.contains(word), "{word}: {note}");
    }
}

#[test]
fn numbers_but_for_a_few_words() {
    let values = (0..200).map(|at| match at {
        7 | 9 => "unknown".to_owned(),
        8 => ">100".to_owned(),
        at => format!("{}.5", at % 60),
    });
    let (kind, note) = drafted(values.clone());
    assert!(matches!(kind, Kind::Numeric(_)), "{kind:?}");
    let note = note.unwrap();
    assert!(note.starts_with("3 of 200 values are not numbers (`>100`, `unknown`)"), "{note}");
    let column = draft(values).schema.columns()[0].clone();
    assert_eq!(column.missing, [">100", "unknown"]);
    let many = (0..400).map(|at| if at < 30 { format!("w{at}") } else { format!("{}", at % 60) });
    left_out(many, &["30 of 400 values are not numbers", "too many or too long"]);
}

/// An infinite number has no range: it is listed as missing, and the draft reads the table.
#[test]
fn infinite_numbers() {
    let values = (0..100).map(|at| match at {
        7 => "inf".to_owned(),
        9 => "1e400".to_owned(),
        at => format!("{}.5", at % 60),
    });
    let (kind, note) = drafted(values.clone());
    assert!(matches!(kind, Kind::Numeric(Scaling::Range { high: 59.5, .. })), "{kind:?}");
    let note = note.unwrap();
    assert!(note.starts_with("2 of 100 values are not numbers (`1e400`, `inf`)"), "{note}");
    assert_eq!(draft(values).schema.columns()[0].missing, ["1e400", "inf"]);
}

/// Where no column can be used as it is, the refusal says why.
#[test]
fn nothing_to_draft() {
    let refused = |text: &str| {
        draft_from("t.csv", text.as_bytes(), Some(Format::Csv), &unlabelled())
            .unwrap_err()
            .to_string()
    };
    let message = refused("a;b\n0,5;1,5\n2,5;3,5\n");
    let says = "t.csv: no column can be a feature as it is: column `a`: numbers with commas or signs such as `0,5`";
    assert!(message.starts_with(says) && message.contains("; column `b`: "), "{message}");
    assert!(refused("a,b\n").ends_with("no rows to draft a schema from"));
}

#[test]
fn dates() {
    left_out((1..29).map(|day| format!("2024-01-{day:02}")), &["dates such as `2024-01-01`"]);
    left_out((1..29).map(|day| format!("{day}.1.2024 10:30")), &["dates", "days since"]);
    left_out((1..29).map(|day| 20_240_100 + day), &["YYYYMMDD"]);
}

#[test]
fn decimal_commas_and_percentages() {
    left_out((0..40).map(|at| format!("{at},5")), &["signs such as `0,5`", "decimal point"]);
    // Whole numbers among them change nothing.
    let some = (0..40).map(|at| if at % 2 == 0 { format!("{at}") } else { format!("{at},5") });
    left_out(some, &["signs such as `1,5`"]);
    left_out((0..40).map(|at| format!("{at} %")), &["signs such as `0 %`", "decimal point"]);
}

#[test]
fn names_and_ids() {
    left_out((0..500).map(|at| format!("user-{at}")), &["nearly all values", "kind = \"id\""]);
    left_out((0..500).map(|at| 10_000 + at), &["whole number", "kind = \"id\""]);
    // Numbers that only happen to differ are features.
    let (kind, note) = drafted((0..500).map(|at| f64::from(at) * 1.37));
    assert!(matches!(kind, Kind::Numeric(_)) && note.is_none(), "{kind:?} {note:?}");
    let (kind, note) = drafted((0..500).map(|at| ["red", "blue"][at % 2]));
    assert!(matches!(kind, Kind::Categorical { .. }) && note.is_none(), "{kind:?} {note:?}");
}

/// The words between backticks of the parser's `expected one of ...`.
fn expected(text: &str) -> BTreeSet<String> {
    let message = Schema::from_toml(text).unwrap_err().to_string();
    let list = message.split_once("expected").unwrap_or_else(|| panic!("{message}")).1;
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema.md");
    let page = fs::read_to_string(page).unwrap();
    for (heading, text) in [
        ("## The file", "wrong = 1"),
        ("## `[csv]`", "version = 1\n[csv]\nwrong = 1"),
        ("## `[matrix]`", "version = 1\n[matrix]\nwrong = 1"),
        ("## `[[column]]`", "version = 1\n[[column]]\nwrong = 1"),
        ("## `[[column]]`", "version = 1\n[[column]]\nname = \"a\"\nkind = \"wrong\""),
        (
            "## `[[column]]`",
            "version = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\nonto = \"wrong\"",
        ),
        (
            "## `[[column]]`",
            "version = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\nother = \"wrong\"",
        ),
        (
            "## `[[column]]`",
            "version = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\norigin = \"wrong\"",
        ),
        ("## `[csv]`", "version = 1\n[csv]\nheader = \"wrong\""),
        ("## The file", "version = 1\nstorage = \"wrong\""),
    ] {
        let keys = expected(text);
        assert!(!keys.is_empty());
        let section = page.split_once(heading).unwrap_or_else(|| panic!("no {heading}")).1;
        let section = section.split("\n## ").next().unwrap();
        for key in keys {
            assert!(section.contains(&format!("`{key}`")), "{heading} does not explain `{key}`");
        }
    }
}

/// The example of the page is a schema.
#[test]
fn the_documented_example_is_read() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema.md");
    let page = fs::read_to_string(page).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let schema = Schema::from_toml(example).unwrap();
    assert!(schema.columns().len() > 5);
}
