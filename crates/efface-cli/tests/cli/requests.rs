//! Requests that were served before, that conflict, or that name what is not there.

use crate::table::{Label, table};
use crate::workshop::Workshop;

fn trained() -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w
}

#[test]
fn repeating_a_request_returns_its_certificate() {
    let w = trained();
    let line = "delete m.efface --record r1 --request-id first --certificate c.json --force --json";
    let once = w.efface(line).done().json();
    let certificate = w.read("c.json");
    let vault = w.read("m.efface");
    let again = w.efface(line).done().json();
    assert_eq!((&once["replayed"], &again["replayed"]), (&false.into(), &true.into()));
    assert_eq!((&once["index"], &once["version"]), (&again["index"], &again["version"]));
    assert_eq!(w.read("c.json"), certificate);
    assert!(w.read("m.efface") == vault, "the vault was changed");
}

#[test]
fn what_is_deleted_already_returns_its_certificate() {
    let w = trained();
    w.efface("delete m.efface --subject u2 --certificate c1.json").done();
    for what in ["--subject u2", "--record r10", "--record r10 --record r14"] {
        let again =
            w.efface(&format!("delete m.efface {what} --certificate c2.json --force --json"));
        assert_eq!(again.done().json()["replayed"], true);
        assert_eq!(w.read("c1.json"), w.read("c2.json"));
    }
    let dry = w.efface("delete m.efface --subject u2 --dry-run --json").done().json();
    assert_eq!(dry["already_deleted"], serde_json::json!(["u2"]));
    let status = w.efface("status m.efface --json").done().json();
    assert_eq!((&status["version"], &status["records"]), (&2.into(), &55.into()));
    let some = w.efface("delete m.efface --record r10 --record r20 --json").done().json();
    assert_eq!((&some["records"], &some["replayed"]), (&1.into(), &false.into()));
}

#[test]
fn a_request_id_stands_for_one_request() {
    let w = trained();
    w.efface("delete m.efface --record r1 --request-id x1").done();
    let vault = w.read("m.efface");
    let other = w.efface("delete m.efface --record r2 --request-id x1");
    other.fails(2, &["`x1` was used before for another request", "new request id"]);
    assert!(w.read("m.efface") == vault, "the vault was changed");
}

#[test]
fn unknown_names_refuse_the_whole_request() {
    let w = trained();
    let vault = w.read("m.efface");
    let ran = w.efface("delete m.efface --record r1 --record zz --record r999");
    ran.fails(1, &["2 of 3", "`zz`", "`r999`", "nothing was deleted"]);
    w.efface("delete m.efface --subject nobody").fails(1, &["`nobody`"]);
    w.efface("delete m.efface --record zz --dry-run").fails(1, &["`zz`"]);
    assert!(w.read("m.efface") == vault, "the vault was changed");
}

#[test]
fn a_request_id_may_not_name_a_person() {
    let w = trained();
    let vault = w.read("m.efface");
    for (line, secret) in [
        ("delete m.efface --record r17 --request-id forget-r17", "r17"),
        ("delete m.efface --subject u4 --request-id u4", "u4"),
    ] {
        w.efface(line).fails(2, &["request id", "id or subject", &format!("`{secret}`")]);
    }
    w.run(&["delete", "m.efface", "--record", "r1", "--request-id", "a b"]).fails(2, &["letters"]);
    w.run(&["delete", "m.efface", "--record", "r1", "--request-id", ""]).fails(2, &["1 to 128"]);
    assert!(w.read("m.efface") == vault, "the vault was changed");
}

#[test]
fn ids_from_a_list_and_from_standard_input() {
    let w = trained();
    w.write("ids.txt", "r1\r\nr2\n\n");
    assert_eq!(w.efface("delete m.efface --ids ids.txt --json").done().json()["records"], 2);
    let ran = w.run_with(&["delete", "m.efface", "--subjects", "-", "--json"], b"u5\nu6\n");
    assert_eq!(ran.done().json()["records"], 10);
    w.write("empty.txt", "\n");
    w.efface("delete m.efface --ids empty.txt").fails(2, &["`empty.txt` has no names"]);
    w.efface("delete m.efface --ids missing.txt").fails(2, &["cannot read `missing.txt`"]);
}

#[test]
fn an_id_never_comes_back() {
    let w = trained();
    w.efface("delete m.efface --record r1").done();
    let vault = w.read("m.efface");
    w.write("again.csv", table(Label::Two, 1, 1));
    w.efface("add m.efface again.csv").fails(1, &["`r1` was deleted before"]);
    w.write("known.csv", table(Label::Two, 2, 1));
    w.efface("add m.efface known.csv").fails(1, &["1 of 1 id is in the model already"]);
    w.write("unknown.csv", table(Label::Two, 900, 1));
    w.efface("update m.efface unknown.csv").fails(1, &["`r900`", "efface add"]);
    assert!(w.read("m.efface") == vault, "the vault was changed");
}
