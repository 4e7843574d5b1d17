//! The laboratory from outside: what attacks say, data that do not do, and pages.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::workshop::Workshop;

/// A folder of data sets whose a9a has these lines.
fn data(w: &Workshop, name: &str, lines: impl Iterator<Item = String>) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    lines.for_each(|line| writeln!(packed, "{line}").unwrap());
    std::fs::create_dir_all(w.path(name).join("libsvm")).unwrap();
    w.write(&format!("{name}/libsvm/a9a.gz"), packed.finish().unwrap());
}

/// A line of two columns and a label.
fn line(k: u32) -> String {
    format!("{} {}:1 {}:1", if k.is_multiple_of(3) { "+1" } else { "-1" }, 1 + k % 7, 8 + k % 5)
}

/// Nobody reads that something resists where nothing is promised, or that efface does where it is
/// another's mechanism that stands.
#[test]
fn what_is_not_promised_is_neither_kept_nor_broken() {
    let w = Workshop::new();
    let found = w.efface("audit lab counter --quick --json").done().json();
    let lines = found["outcomes"].as_array().unwrap();
    let of = |name: &str| lines.iter().find(|l| l["against"].as_str().unwrap().contains(name));
    let printed = of("as printed").unwrap();
    assert_eq!(
        (&printed["expected"], &printed["verdict"]),
        (&"unbroken".into(), &"not broken".into())
    );
    assert!(printed["lower"].is_f64() && printed["as_expected"] == true);
    let exact = of("secret state").unwrap();
    assert_eq!((&exact["lower"], &exact["verdict"]), (&Value::Null, &"resists".into()));

    let found = w.efface("audit lab reconstruction --quick --json").done().json();
    let lines = found["outcomes"].as_array().unwrap().iter();
    let means: Vec<_> =
        lines.filter(|l| l["measure"].as_str().unwrap().contains("cosine")).collect();
    assert_eq!(means.len(), 6);
    for line in means {
        for nothing in ["lower", "allowed", "broken"] {
            assert_eq!(line[nothing], Value::Null, "{line:#}");
        }
        assert_eq!(
            (&line["expected"], &line["verdict"]),
            (&"measured".into(), &"not promised".into())
        );
    }
}

#[test]
fn data_sets_that_are_too_small_are_refused() {
    let w = Workshop::new();
    data(&w, "small", (0..100).map(line));
    data(
        &w,
        "three",
        (0..900).map(|k| line(k).replace("+1", if k.is_multiple_of(2) { "2" } else { "1" })),
    );
    for (attack, needed) in [("membership", "299"), ("reconstruction", "601"), ("slow-down", "300")]
    {
        let asked = format!("audit lab {attack} --quick --data");
        let parts = [attack, "small/libsvm/a9a.gz", "got 100", needed];
        w.efface(&format!("{asked} small")).fails(2, &parts);
        w.efface(&format!("{asked} three")).fails(2, &["three/libsvm/a9a.gz", "two classes"]);
        w.efface(&format!("{asked} none")).fails(2, &["none/libsvm/a9a.gz"]);
        let ran = w.efface(&format!("{asked} small --json")).exits(2);
        let error: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert!(error["error"]["message"].as_str().unwrap().contains("got 100"), "{error}");
    }
}

/// Experiments repeat papers on whole data sets: a part of one is refused by name.
#[test]
fn parts_of_public_data_sets_are_not_reproduced() {
    let w = Workshop::new();
    for (name, rows) in [("small", 100), ("empty", 0)] {
        data(&w, name, (0..rows).map(line));
        std::fs::copy(
            w.path(&format!("{name}/libsvm/a9a.gz")),
            w.path(&format!("{name}/libsvm/a9a.t.gz")),
        )
        .unwrap();
        let parts =
            [&format!("{name}/libsvm/a9a.gz"), "32561 training rows", &format!("got {rows}")];
        let ran = w.efface(&format!("reproduce chien2024-fig5 --quick --data {name} -o out"));
        ran.fails(2, &parts.map(|part| part));
    }
}

#[test]
fn too_few_runs_leave_tightness_undecided() {
    let w = Workshop::new();
    let none = w.efface("audit tightness --runs 1").exits(2).stdout;
    assert!(!none.contains("NaN") && none.contains("undecided at `--runs 1`"), "{none}");
    let few = w.efface("audit tightness --runs 100 --json").exits(2).json();
    assert_eq!(few["outcome"], "undecided");
    assert!(few["words"].as_str().unwrap().contains("20000 runs or more"), "{few:#}");
}
