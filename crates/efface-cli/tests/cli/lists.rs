//! Lists of ids and subjects, and names that the model does not know.

#[cfg(feature = "parquet")]
use std::sync::Arc;

#[cfg(feature = "parquet")]
use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
#[cfg(feature = "parquet")]
use parquet::arrow::ArrowWriter;
use serde_json::json;

use crate::table::{Label, table};
use crate::workshop::Workshop;

fn trained() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w
}

#[test]
fn lists_in_every_form() {
    let w = trained();
    w.write("ids.txt", " r1 \r\nr2\t\n\n");
    w.write("ids.json", r#"["r3", " r4 "]"#);
    w.write("ids.csv", "when,who\n2026-01-01, r5 \n2026-01-02,\"r6\"\n2026-01-03,\n");
    w.write("users.csv", "person;town\nu9;x\n u10 ;y\n");
    for (line, records) in [
        ("--ids ids.txt", 2),
        ("--ids ids.json", 2),
        ("--ids ids.csv --column who", 2),
        ("--subjects users.csv --column person", 10),
    ] {
        let done = w.efface(&format!("delete m.efface {line} --json")).done().json();
        assert_eq!(done["records"], records, "{line}");
    }
    let piped = ["delete", "m.efface", "--ids", "-", "--column", "id", "--json"];
    let done = w.run_with(&piped, b"id,y\nr7,1\n").done().json();
    assert_eq!(done["records"], 1);
    w.efface("delete m.efface --ids ids.csv").fails(2, &["`ids.csv` is a table", "--column"]);
    w.efface("delete m.efface --ids ids.csv --column id").fails(2, &["`id`", "`who`"]);
    w.write("bad.json", "[1.5]");
    w.efface("delete m.efface --ids bad.json").fails(2, &["whole numbers", "1.5"]);
}

#[test]
fn lists_as_spreadsheets_write_them() {
    let w = trained();
    let wide: Vec<u8> = "\u{feff}r1\r\nr2\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    w.write("wide.txt", wide);
    w.write("quoted.txt", "\"r3\"\n\"r4\"\n");
    w.write("latin.txt", b"Zo\xeb\n");
    w.write("header.txt", "record\nr5\nr6\n");
    for list in ["wide.txt", "quoted.txt"] {
        let done = w.efface(&format!("delete m.efface --ids {list} --json")).done().json();
        assert_eq!(done["records"], 2, "{list}");
    }
    w.efface("delete m.efface --ids latin.txt").fails(2, &["not text in UTF-8, nor in UTF-16"]);
    for line in ["delete m.efface --ids header.txt", "delete m.efface --ids header.txt --dry-run"] {
        w.efface(line).fails(1, &["line 1 of `header.txt` looks like a header"]);
    }
    w.write("two.txt", "record\nr5\nr999\n");
    let ran = w.efface("delete m.efface --ids two.txt").fails(1, &["2 of 3 records are unknown"]);
    assert!(!ran.stderr.contains("header"), "{ran:?}");
}

#[test]
fn zeros_that_were_lost_are_found() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 60);
    let padded: String = text
        .lines()
        .map(|line| match line.strip_prefix('r') {
            Some(rest) => {
                let (id, rest) = rest.split_once(",u").unwrap();
                let (user, rest) = rest.split_once(',').unwrap();
                format!("{id:0>5},{user:0>3},{rest}\n")
            }
            None => format!("{line}\n"),
        })
        .collect();
    w.write("data.csv", padded);
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w.efface("delete m.efface --record 4").fails(1, &["There is `00004` for `4`"]);
    w.efface("delete m.efface --subject 4").fails(1, &["There is `004` for `4`"]);
    let ran = w.efface("delete m.efface --record 400").fails(1, &["unknown"]);
    assert!(!ran.stderr.contains("There is"), "{ran:?}");
    w.efface("delete m.efface --record 00004").done();
}

#[cfg(feature = "parquet")]
#[test]
fn lists_in_parquet() {
    let w = trained();
    let column =
        |names: &[Option<&str>]| -> ArrayRef { Arc::new(StringArray::from(names.to_vec())) };
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    w.write(
        "ids.parquet",
        parquet(&[
            ("when", numbers.clone()),
            ("who", column(&[Some("r1"), Some("r2"), Some("r3")])),
        ]),
    );
    w.write("users.parquet", parquet(&[("person", column(&[Some("u9"), None, Some("u10")]))]));
    let done = w.efface("delete m.efface --ids ids.parquet --column who --json").done().json();
    assert_eq!((&done["records"], &done["remaining"]), (&3.into(), &57.into()));
    let line = "delete m.efface --subjects users.parquet --column person --json";
    let done = w.efface(line).done().json();
    assert_eq!((&done["records"], &done["remaining"]), (&10.into(), &47.into()));
    w.efface("delete m.efface --ids ids.parquet").fails(2, &["is a table", "--column"]);
    w.efface("delete m.efface --ids ids.parquet --column id").fails(2, &["`id`", "`who`"]);
    let unknown = "delete m.efface --ids ids.parquet --column when";
    w.efface(unknown).fails(1, &["3 of 3 records are unknown", "`1`"]);
}

/// A list whose names were floats deletes nobody where these have lost digits.
#[cfg(feature = "parquet")]
#[test]
fn names_that_lost_digits_are_refused() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 60)
        .replace("\nr1,", "\n1161888007138312192,")
        .replace("\nr2,", "\n1161888007138312200,")
        .replace("\nr3,", "\n1003,");
    w.write("data.csv", &text);
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let doubles = |values: Vec<Option<f64>>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
    let large = doubles(vec![Some(1161888007138312192.0), None]);
    w.write("large.parquet", parquet(&[("id", large)]));
    let vault = w.read("m.efface");
    for line in
        ["--ids large.parquet", "--subjects large.parquet", "--skip-unknown --ids large.parquet"]
    {
        w.efface(&format!("delete m.efface {line} --column id"))
            .fails(2, &["1.1618880071383122e18", "below 2^53", "as integers or text"]);
    }
    let single: ArrayRef = Arc::new(Float32Array::from(vec![16777216.0]));
    w.write("single.parquet", parquet(&[("id", single)]));
    w.efface("delete m.efface --ids single.parquet --column id").fails(2, &["below 2^24"]);
    assert!(w.read("m.efface") == vault, "the vault was changed");
    w.write("small.parquet", parquet(&[("id", doubles(vec![None, Some(1003.0)]))]));
    let line = "delete m.efface --ids small.parquet --column id --json";
    assert_eq!(w.efface(line).done().json()["records"], 1);
}

/// Spaces around a name do not count, wherever it is written.
#[test]
fn spaces_around_names_do_not_count() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 60).replace("\nr7,", "\n\"  abc \",");
    w.write("data.csv", text);
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let ask = |what: &str, name: &str| {
        w.run(&["delete", "m.efface", what, name, "--dry-run", "--json"]).done().json()
    };
    assert_eq!(ask("--record", "  abc ")["ids"], json!(["abc"]));
    assert_eq!(ask("--record", "abc")["ids"], json!(["abc"]));
    assert_eq!(ask("--subject", "\tu9 ")["records"], 5);
    w.run(&["delete", "m.efface", "--record", " "]).fails(2, &["must not be empty"]);
}

#[cfg(feature = "parquet")]
pub(crate) fn parquet(columns: &[(&str, ArrayRef)]) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn every_unknown_name_is_told() {
    let w = trained();
    let names: Vec<String> = (0..50).map(|k| format!("zz{k}")).collect();
    w.write("ids.txt", format!("r1\n{}\nr2\n", names.join("\n")));
    let vault = w.read("m.efface");
    let line = "delete m.efface --ids ids.txt --unknown-to unknown.txt --json";
    let refused = w.efface(line).exits(1);
    let error: serde_json::Value = serde_json::from_str(&refused.stderr).unwrap();
    assert_eq!(error["error"]["names"], json!(names));
    assert_eq!(w.read("unknown.txt"), format!("{}\n", names.join("\n")).as_bytes());
    assert!(w.read("m.efface") == vault, "the vault was changed");
    w.efface("delete m.efface --record zz").fails(1, &["1 of 1 records is unknown"]);

    let line = "delete m.efface --ids ids.txt --skip-unknown --request-id t1 --json";
    let done = w.efface(line).done();
    assert_eq!(done.json()["records"], 2);
    let notice: serde_json::Value = serde_json::from_str(&done.stderr).unwrap();
    assert_eq!(notice["unknown"], json!(names));
    assert_eq!(w.efface(line).done().json()["replayed"], true);
    let text = w.efface("delete m.efface --subject u9 --subject nobody --skip-unknown").done();
    assert!(text.stderr.contains("left out 1 unknown name: nobody"), "{text:#?}");
    w.efface("delete m.efface --record zz --skip-unknown").fails(1, &["none of the 1 name"]);
}

/// A dated name for a request is no clash with a record that happens to be called 11.
#[test]
fn request_ids_clash_with_whole_names_only() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 60).replace("\nr", "\n");
    w.write("data.csv", text);
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w.efface("delete m.efface --record 11 --request-id 2026-11-leavers").done();
    let clash = "delete m.efface --record 12 --request-id 12";
    w.efface(clash)
        .fails(2, &["`12` is the id or subject of a record", "a ticket number or a date"]);
    w.efface("delete m.efface --subject u4 --request-id 13").fails(2, &["`13`"]);
    let named = "delete m.efface --subject u10 --request-id bye-u10";
    w.efface(named).fails(2, &["contains `u10`"]);
}

/// What a name may have lost on its way is named: a decimal point, zeros, marks of spreadsheets, capital letters,
/// blanks, the form of its letters, the `T` of a time.
#[test]
fn unknown_names_are_refused_with_what_is_near() {
    let w = Workshop::new();
    let stored = [
        "1001.0",
        "1e+05",
        "=\"00123\"",
        "'00124",
        "Bo",
        "Anna Schmidt",
        "jürgen@example",
        "2024-01-31T10:00:00",
        "x",
    ];
    let mut text = String::from("who,x,y\n");
    for (at, name) in stored.iter().cycle().take(27).enumerate() {
        let name = name.replace('"', "\"\"");
        text.push_str(&format!("\"{name}\",{at},{}\n", if at % 2 == 0 { "p" } else { "q" }));
    }
    w.write("data.csv", &text);
    w.efface("train data.csv --label y --subject who -o m.efface").done();
    let asked = [
        "1001",
        "100000",
        "00123",
        "124",
        "bo",
        "anna  schmidt",
        "ju\u{308}rgen@example",
        "2024-01-31 10:00:00",
    ];
    for (asked, stored) in asked.iter().zip(stored) {
        let ran = w.run(&["delete", "m.efface", "--subject", asked]).exits(1);
        assert!(ran.stderr.contains(&format!("There is `{stored}` for `{asked}`")), "{ran:#?}");
    }
    w.run(&["delete", "m.efface", "--subject", " Bo "]).done();
}

/// Ids that are one number in two spellings may be one record; codes among which are words are none.
#[test]
fn ids_that_are_one_number_in_two_spellings_are_refused() {
    let w = Workshop::new();
    let rows = |ids: &[&str]| {
        let row = |(at, id): (usize, &&str)| format!("{id},{at},{}\n", ["p", "q"][at % 2]);
        format!("who,x,y\n{}", ids.iter().enumerate().map(row).collect::<String>())
    };
    for (ids, pair) in [(["7", "8", "9", "7.0"], "`7` and `7.0`"), (["08", "8", "9", "6"], "`08`")]
    {
        w.write("data.csv", rows(&ids));
        for role in ["id", "subject"] {
            let ran = w.efface(&format!("train data.csv --label y --{role} who -o m.efface"));
            let ran = ran.exits(2);
            assert!(ran.stderr.contains(pair) && ran.stderr.contains("spellings"), "{ran:#?}");
        }
    }
    w.write("data.csv", rows(&["08", "8", "9a", "6"]));
    w.efface("train data.csv --label y --id who -o m.efface").done();
}
