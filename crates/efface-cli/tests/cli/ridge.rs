//! `ridge`: removals are exact, damage is noticed, and what it cannot promise is refused.

use std::path::Path;

use rusqlite::Connection;

use crate::foreign::{Alteration, alter};
use crate::table::{COLUMNS, Label, table};
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label y --id id --subject user --mechanism ridge \
                     --loss squared --target-range -15,15 --public-n 200 --capacity 300 \
                     -o m.efface";

/// The lines of a table whose fields `keep` accepts, under its header.
fn kept(table: &str, keep: impl Fn(&str) -> bool) -> String {
    let lines = table.lines().skip(1).filter(|line| keep(line));
    lines.fold(format!("{COLUMNS}\n"), |text, line| text + line + "\n")
}

/// Weights and kept sums, as the vault holds them.
fn model(w: &Workshop) -> (Vec<u8>, Vec<u8>) {
    let database = Connection::open(w.path("m.efface")).unwrap();
    let part = |query| database.query_row(query, [], |row| row.get(0)).unwrap();
    (part("SELECT weights FROM model"), part("SELECT state FROM caches"))
}

#[test]
fn a_model_that_forgot_is_the_model_that_never_saw() {
    for more in ["", " --no-intercept --row-norm 0.7", " --row-map unit"] {
        let w = Workshop::new();
        let all = table(Label::Number, 0, 200);
        w.write("data.csv", &all);
        w.write("more.csv", table(Label::Number, 200, 10));
        w.efface(&format!("{TRAIN}{more}")).done();
        let first = model(&w);
        w.efface("delete m.efface --subject u3").done();
        w.efface("add m.efface more.csv").done();
        w.efface("delete m.efface --record r50 --record r51").done();
        w.efface("delete m.efface --subject u40").done();
        let ours = model(&w);
        assert!(ours.0 != first.0 && ours.1 != first.1);

        let never = Workshop::new();
        let gone = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            ["u3", "u40"].iter().any(|u| fields.contains(u))
                || ["r50", "r51"].iter().any(|r| fields.contains(r))
        };
        let both = all
            + &table(Label::Number, 200, 10)
                .lines()
                .skip(1)
                .fold(String::new(), |text, line| text + line + "\n");
        never.write("data.csv", kept(&both, |line| !gone(line)));
        never.efface(&format!("{TRAIN}{more}")).done();
        assert!(ours == model(&never), "{more}");
    }
}

#[test]
fn sums_of_before_leave_no_trace() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Number, 0, 60));
    w.efface(TRAIN).done();
    let before = model(&w);
    w.efface("delete m.efface --record r7").done();
    let after = model(&w);
    let bytes: Vec<u8> = w.files().into_iter().flat_map(|(_, bytes)| bytes).collect();
    let found = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
    let mut gone = 0;
    // A sum is 8 bytes, its highest ones mostly 0 or 255: two neighbours are unique.
    for (old, new) in [(&before.0, &after.0), (&before.1[40..].to_vec(), &after.1[40..].to_vec())] {
        for (old, new) in old.chunks_exact(16).zip(new.chunks_exact(16)) {
            assert!(found(new));
            if old != new {
                assert!(!found(old), "{old:?}");
                gone += 1;
            }
        }
    }
    assert!(gone > 8, "{gone}");
}

#[test]
fn altered_sums_and_rows_are_noticed() {
    let altered = |what: &dyn Fn(&Path)| {
        let w = Workshop::new();
        w.write("data.csv", table(Label::Number, 0, 60));
        w.efface(TRAIN).done();
        let key = w.public_key();
        w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
        what(&w.path("m.efface"));
        let ran = w.run(&["ledger", "verify", "m.efface", "--key", &key]).exits(1);
        assert!(ran.stdout.contains("sums"), "{ran:#?}");
        w
    };
    let byte = "substr(state, 1, 47) || x'05' || substr(state, 49)";
    let sql = |statement: &str| {
        let statement = statement.to_owned();
        move |vault: &Path| Connection::open(vault).unwrap().execute_batch(&statement).unwrap()
    };
    let w = altered(&sql(&format!("UPDATE caches SET state = CAST({byte} AS BLOB)")));
    let before = w.read("m.efface");
    w.efface("delete m.efface --record r7").fails(2, &["kept state was changed"]);
    assert!(w.read("m.efface") == before, "the vault was changed");
    let w = altered(&sql("DELETE FROM caches"));
    w.efface("delete m.efface --record r7")
        .fails(2, &["does not fit its model, its ledger and its kept state"]);
    altered(&|vault| alter(vault, 9, Alteration::Target));
    altered(&|vault| alter(vault, 9, Alteration::Remove));
    altered(&|vault| alter(vault, 9, Alteration::Features));
}

#[test]
fn columns_are_fitted_where_nothing_is_declared() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Number, 0, 60));
    let train = "train data.csv --label y --id id --subject user --mechanism ridge -o m.efface";
    let ran = w.efface(train).done().stdout;
    assert!(ran.contains("preprocessing, fitted to the records"), "{ran}");
    let deleted = w.efface("delete m.efface --record r7 --record r8").done().stdout;
    assert!(deleted.contains("bit for bit"), "{deleted}");
    let key = w.public_key();
    let ran = w.run(&["ledger", "verify", "m.efface", "--key", &key]).done().stdout;
    assert!(ran.contains("rows and weights agree, bit for bit"), "{ran}");
    let page = w.efface("certificate show m.efface").done().stdout;
    assert!(page.contains("exact means, scales and counts"), "{page}");
    w.efface("audit m.efface").fails(1, &["bit for bit"]);
}

#[test]
fn classes_need_no_setting() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Three, 0, 120));
    let train = "train data.csv --label y --id id --subject user --mechanism ridge -o m.efface";
    w.efface(train).done();
    let deleted = w.efface("delete m.efface --record r7 --record r8").done().stdout;
    assert!(deleted.contains("bit for bit"), "{deleted}");
    let scores = w.efface("evaluate m.efface data.csv").done().stdout;
    assert!(scores.contains("accuracy"), "{scores}");
    w.efface("predict m.efface data.csv").done();
    let key = w.public_key();
    w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Number, 0, 60));
    for (more, part) in [
        ("--epsilon 1", "epsilon is 0"),
        ("--delta 1e-5", "`--delta`"),
        ("--noise 0.1", "draws no noise"),
        ("--excess-risk 0.1", "draws no noise"),
        ("--seed 1", "draws no random numbers"),
        ("--clip 1", "`--clip`"),
        ("--state secret", "`--state secret`"),
        ("--solver newton", "`--solver`"),
        ("--eta 0.1", "`--eta`"),
        ("--releases 3", "`--releases`"),
        ("--max-group 3", "`--max-group`"),
        ("--notion differential-privacy", "exact-removal"),
        ("--accountant gdp", "exact"),
        ("--extractor-privacy 1,1e-6,1", "not removed exactly"),
        ("--lambda 1e-30", "`lambda` must be between"),
    ] {
        w.efface(&format!("{TRAIN} {more}")).fails(1, &[part]);
    }
    let other = "train data.csv --label y --id id --subject user -o m.efface";
    w.efface(&format!("{other} --mechanism ridge --loss logistic")).fails(1, &["`--loss squared`"]);
    w.efface(&format!("{other} --notion exact-removal")).fails(1, &["`--mechanism ridge"]);
    w.efface(TRAIN).done();
    w.efface("refresh m.efface").fails(1, &["no kept state"]);
    let page = w.efface("certificate show m.efface").done().stdout;
    assert!(page.contains("Noise: none") && page.contains("bit for bit"), "{page}");
    let status = w.efface("status m.efface").done().stdout;
    assert!(status.contains("ridge") && status.contains("adds no noise"), "{status}");
}
