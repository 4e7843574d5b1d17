//! Which record an id means: the wrong one is deleted for good, with a valid certificate.

use crate::table::{Label, table};
use crate::workshop::Workshop;

/// Rows without ids or subjects, and the vault of a model of them.
fn unnamed(rows: usize) -> (Workshop, Vec<String>) {
    let w = Workshop::new();
    let text = table(Label::Two, 0, rows);
    let lines: Vec<String> =
        text.lines().map(|line| line.splitn(3, ',').nth(2).unwrap().to_owned()).collect();
    w.write("data.csv", lines.join("\n"));
    w.efface(
        "train data.csv --label y --mechanism ridge --loss squared --target-range 0,1 -o m.efface",
    )
    .done();
    (w, lines)
}

/// The weights of `ridge` are those of a model that never saw the row: they tell which one went.
fn coef(w: &Workshop, vault: &str) -> serde_json::Value {
    let out = format!("{vault}.json");
    w.efface(&format!("export {vault} --to json -o {out}")).done();
    let exported: serde_json::Value = serde_json::from_slice(&w.read(&out)).unwrap();
    exported["coef"].clone()
}

#[test]
fn row_1_is_the_second_row() {
    let (w, lines) = unnamed(30);
    let before = w.read("m.efface");
    let ran = w.efface("delete m.efface --record 1");
    ran.fails(1, &["`1` names no record", "`row:1`", "`row:0`", "counted from 0"]);
    for other in ["0", "30", "row:01", "Row:1", "x"] {
        w.efface(&format!("delete m.efface --record {other}")).fails(1, &[other, "`row:"]);
        w.efface(&format!("delete m.efface --record {other} --dry-run")).fails(1, &[other]);
    }
    w.efface("delete m.efface --record row:30").fails(1, &["unknown", "`row:30`"]);
    assert!(w.read("m.efface") == before, "the vault was changed");
    w.efface("delete m.efface --record row:1").done();
    let mut rest = lines.clone();
    rest.remove(2);
    w.write("rest.csv", rest.join("\n"));
    let line = "train rest.csv --label y --mechanism ridge --loss squared --target-range 0,1 \
                --public-n 30 -o rest.efface";
    w.efface(line).done();
    assert_eq!(coef(&w, "m.efface"), coef(&w, "rest.efface"));
}

#[test]
fn later_rows_are_numbered_on_and_no_number_comes_back() {
    let (w, lines) = unnamed(30);
    w.write("more.csv", lines[..4].join("\n"));
    w.write("one.csv", lines[..2].join("\n"));
    w.efface("delete m.efface --record row:29").done();
    let added = w.efface("add m.efface more.csv --json").done().json();
    assert!(added["notices"].to_string().contains("`row:30`"), "{added}");
    w.efface("delete m.efface --record row:32").done();
    // Refused, and so nothing is numbered.
    w.write("strange.csv", "y,a\nno,1\n");
    assert_ne!(w.efface("add m.efface strange.csv").code, Some(0));
    let added = w.efface("add m.efface one.csv --json").done().json();
    assert!(added["notices"].to_string().contains("`row:33`"), "{added}");
    w.efface("delete m.efface --record row:34").fails(1, &["`row:34`"]);
    let again = w.efface("delete m.efface --record row:29 --json").done().json();
    assert_eq!(again["replayed"], true);
    w.efface("delete m.efface --record row:33").done();
    w.efface("delete m.efface --subject u1").fails(1, &["`u1`"]);
}

/// An update keeps the id, also where positions name records.
#[test]
fn an_update_names_rows_as_a_deletion_does() {
    let (w, lines) = unnamed(30);
    let named = |id: &str| format!("id,{}\n{id},{}\n", lines[0], lines[9]);
    w.write("bare.csv", named("3"));
    w.efface("update m.efface bare.csv --id id").fails(1, &["`3` names no record", "`row:3`"]);
    w.write("new.csv", named("row:3"));
    w.efface("update m.efface new.csv --id id").done();
    let dry = w.efface("delete m.efface --record row:3 --dry-run --json").done().json();
    assert_eq!(dry["ids"], serde_json::json!(["row:3"]));
    w.efface("delete m.efface --record row:3").done();
}

#[test]
fn the_convention_is_shown() {
    let (w, _) = unnamed(20);
    let dry = w.efface("delete m.efface --record row:4 --dry-run").done().stdout;
    assert!(dry.contains("row:4") && dry.contains("by position"), "{dry}");
    let status = w.efface("status m.efface --json").done().json();
    assert_eq!(status["named_by"], "position");
    let text = w.efface("status m.efface").done().stdout;
    assert!(text.contains("`row:0` is the first row"), "{text}");
    let predicted = w.efface("predict m.efface data.csv").done().stdout;
    assert!(predicted.lines().nth(1).unwrap().starts_with("0,"), "{predicted}");
}

/// Whatever an id column says is an id, also what looks like a position.
#[test]
fn ids_of_the_user_are_never_positions() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 30).replace("\nr7,", "\nrow:2,").replace("\nr8,", "\n3,");
    w.write("data.csv", text);
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    assert_eq!(w.efface("status m.efface --json").done().json()["named_by"], "column");
    let ran = w.efface("delete m.efface --record row:4");
    ran.fails(1, &["`row:4`", "not by position"]);
    w.efface("delete m.efface --record 4").fails(1, &["`4`"]);
    for id in ["row:2", "3"] {
        let line = format!("delete m.efface --record {id} --dry-run --json");
        assert_eq!(w.efface(&line).done().json()["ids"], serde_json::json!([id]));
    }
    w.efface("delete m.efface --record row:2").done();
    w.efface("delete m.efface --record r2").done();
    w.efface("delete m.efface --record 3").done();
}

/// Positions are those of the input, also where rows of other classes are left out.
#[test]
fn left_out_rows_are_counted() {
    let w = Workshop::new();
    let mut text = String::from("y,a,b\n");
    for row in 0..40 {
        let class = ["no", "other", "yes"][row % 3];
        text.push_str(&format!("{class},0.{row:02},0.{}\n", row % 7));
    }
    w.write("data.csv", &text);
    w.write("more.csv", "y,a,b\nother,0.1,0.2\nyes,0.3,0.4\n");
    w.efface("train data.csv --label y --classes no,yes -o m.efface").done();
    w.efface("delete m.efface --record row:1").fails(1, &["unknown"]);
    w.efface("delete m.efface --record row:39").done();
    w.efface("add m.efface more.csv").done();
    w.efface("delete m.efface --record row:40").fails(1, &["unknown"]);
    w.efface("delete m.efface --record row:41").done();
}

/// A word for no value is one very large person, which is told of; with a list of such words these records belong to
/// nobody, and are deleted one by one.
#[test]
fn words_for_nobody_are_told_of_and_name_nobody_when_listed() {
    let w = Workshop::new();
    let subjects = ["NULL", "u1", "nan", "u2", "NA", "u1", "", "u3"];
    let rows = |subjects: &[&str]| {
        let row = |(at, who): (usize, &&str)| format!("{who},{at},{}\n", ["p", "q"][at % 2]);
        format!("user,x,y\n{}", subjects.iter().enumerate().map(row).collect::<String>())
    };
    w.write("data.csv", rows(&subjects.repeat(4)));
    let train = "train data.csv --label y --subject user";
    w.efface(&format!("{train} -o m.efface")).fails(2, &["line 8", "empty", "`--missing`"]);
    w.write(
        "full.csv",
        rows(&subjects.map(|who| if who.is_empty() { "u4" } else { who }).repeat(4)),
    );
    let told = w.efface("train full.csv --label y --subject user -o f.efface").done();
    for words in
        ["`NA` (4 records), `NULL` (4 records), `nan` (4 records)", "--missing NA,NULL,nan"]
    {
        assert!(told.stderr.contains(words), "{told:#?}");
    }
    let line = format!("{train} --missing NULL,nan,NA -o m.efface");
    assert!(!w.efface(&line).done().stderr.contains("NULL"));
    w.efface("delete m.efface --subject NULL").fails(1, &["`NULL`", "unknown"]);
    let one = w.efface("delete m.efface --record row:0 --json").done().json();
    assert_eq!(one["records"], 1);
    let person = ["delete", "m.efface", "--subject", "no subject: row:4", "--json"];
    assert_eq!(w.run(&person).done().json()["records"], 1);
    assert_eq!(w.efface("delete m.efface --subject u1 --json").done().json()["records"], 8);
    // Rows that join have other numbers, and stay apart from those that were there.
    w.write("more.csv", rows(&["NA", "u9", ""]));
    w.efface("add m.efface more.csv").done();
    let person = ["delete", "m.efface", "--subject", "no subject: row:32", "--json"];
    assert_eq!(w.run(&person).done().json()["records"], 1);
    w.write("more.csv", rows(&["no subject: row:6"]));
    w.efface("add m.efface more.csv").fails(2, &["stands for no subject"]);
}

/// Records of somebody who was deleted come back with a table that still has them: that is told.
#[test]
fn people_who_come_back_are_told_of() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    let lines = w.read("data.csv");
    let text = String::from_utf8(lines).unwrap();
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w.efface("delete m.efface --subject u4").done();
    let (header, rest) = text.split_once('\n').unwrap();
    let mine: Vec<String> =
        rest.lines().filter(|line| line.contains("u4,")).map(|line| format!("n{line}")).collect();
    w.write("more.csv", format!("{header}\n{}\n", mine.join("\n")));
    let told = w.efface("add m.efface more.csv").done();
    let words = "5 records belong to people who were deleted before: `u4`";
    assert!(told.stdout.contains(words), "{told:#?}");
}
