//! Labels as people write them: numbers that are not plain ones, and one class in several spellings.

use std::fmt::Write as _;

use crate::workshop::Workshop;

/// A table of one column and a label for each number below `rows`.
fn workshop(rows: u32, label: impl Fn(u32) -> String) -> Workshop {
    let w = Workshop::new();
    let mut text = String::from("x;y\n");
    for k in 0..rows {
        writeln!(text, "{};{}", (k * 7) % 13, label(k)).unwrap();
    }
    w.write("data.csv", text);
    w
}

/// The messages of a training's notices of one code.
fn told(w: &Workshop, line: &str, code: &str) -> Vec<String> {
    let told = w.efface(line).done().json();
    let notices = told["notices"].as_array().unwrap().iter();
    let of_code = notices.filter(|notice| notice["code"] == code);
    of_code.map(|notice| notice["message"].as_str().unwrap().to_owned()).collect()
}

/// Labels that are numbers with a decimal comma, a currency or a percent sign would be as many classes:
/// they are refused with what to do, whether they are as many as the records or come again.
#[test]
fn labels_that_are_no_plain_numbers_are_refused() {
    let comma = |k: u32| format!("{},{:02}", k + 1, k % 97);
    let percent = |k: u32| format!("{}.5 %", k % 30);
    let dollars = |k: u32| format!("$1,{:03}.00", k);
    for (label, example) in [
        (&comma as &dyn Fn(u32) -> String, "`1,00`"),
        (&percent, "`0.5 %`"),
        (&dollars, "`$1,000.00`"),
    ] {
        let w = workshop(90, label);
        let ran = w.efface("train data.csv --label y -o m.efface").exits(1);
        let wanted = ["not written plainly", example, "decimal point", "--loss softmax"];
        assert!(wanted.iter().all(|words| ran.stderr.contains(words)), "{ran:#?}");
        let ran = w.efface("train data.csv --label y --loss squared -o m.efface").exits(2);
        assert!(ran.stderr.contains("line 2, column `y`"), "{ran:#?}");
        assert!(ran.stderr.contains("must be a plain number, such as `1234.5`"), "{ran:#?}");
    }
    // Twenty such texts may be classes.
    let w = workshop(90, |k| format!("{},5", k % 3));
    w.efface("train data.csv --label y -o m.efface").done();
}

/// Classes and categories that differ in spelling alone are told of.
#[test]
fn one_value_in_several_spellings_is_told_of() {
    let w = Workshop::new();
    let mut text = String::from("flag,kind,y\n");
    for k in 0..80 {
        let flag = ["yes", "no", "Yes", "NO", "true"][k % 5];
        let y = ["<=50K", ">50K", "<=50K."][k % 3];
        writeln!(text, "{flag},{},{y}", ["a", "b"][k % 2]).unwrap();
    }
    w.write("data.csv", text);
    let about = told(&w, "train data.csv --label y -o m.efface --json", "values-alike");
    assert_eq!(about.len(), 2, "{about:?}");
    assert!(about[0].contains("the classes `<=50K`, `<=50K.` are"), "{about:?}");
    assert!(about[1].contains("of the column `flag`"), "{about:?}");
}

/// Codes and addresses are no numbers, and are not told of as if they were.
#[test]
fn codes_are_not_taken_for_unreadable_numbers() {
    let w = Workshop::new();
    let mut text = String::from("code,street,host,version,y\n");
    for k in 0..80 {
        writeln!(text, "A{k:04},Road {k},10.0.{}.{k},1.{}.2,{}", k % 9, k % 7, k % 2).unwrap();
    }
    w.write("data.csv", text);
    let about = told(&w, "train data.csv --label y -o m.efface --json", "numbers-unclear");
    assert_eq!(about, [""; 0]);
}

/// Labels `01`, `1`, `1E5` and `100000` may be four codes or two numbers: told with the pairs. A list of the classes
/// settles it, and so does a regression.
#[test]
fn labels_that_are_one_number_in_two_spellings_are_refused() {
    let codes = ["01", "1", "1E5", "100000"];
    let w = workshop(40, |k| codes[k as usize % 4].to_owned());
    let ran = w.efface("train data.csv --label y -o m.efface").exits(1);
    let pairs = "`01` and `1`, `1E5` and `100000`";
    assert!(ran.stderr.contains(pairs) && ran.stderr.contains("--classes"), "{ran:#?}");
    let listed =
        "train data.csv --label y --preprocess fitted --classes 01,1,1E5,100000 -o m.efface";
    w.efface(listed).done();
    let found = w.efface("status m.efface --json").done().json();
    assert_eq!(found["classes"], serde_json::json!(codes));
    w.efface("evaluate m.efface data.csv --label y").done();
    let w = workshop(60, |k| if k % 2 == 0 { format!("{k}.50") } else { format!("{k}.5") });
    w.efface("train data.csv --label y -o m.efface").done();
}

/// One spelling alone is kept as it is, in the model and its predictions.
#[test]
fn codes_keep_their_zeros() {
    let w = workshop(40, |k| if k % 2 == 0 { "01" } else { "02" }.to_owned());
    w.efface("train data.csv --label y -o m.efface").done();
    let found = w.efface("status m.efface --json").done().json();
    assert_eq!(found["classes"], serde_json::json!(["01", "02"]));
    let predicted = w.efface("predict m.efface data.csv").done().stdout;
    assert!(predicted.contains("p(01),p(02)"), "{predicted}");
    w.write("other.csv", "x;y\n1;1\n2;02\n");
    let ran = w.efface("evaluate m.efface other.csv --label y").exits(1);
    assert!(ran.stderr.contains("`01` and `1`"), "{ran:#?}");
}

/// Another spelling of a class is no new class, and neither is a third one, unless they are asked for.
#[test]
fn new_classes_are_asked_for() {
    let w = workshop(40, |k| if k % 2 == 0 { "yes" } else { "no" }.to_owned());
    w.efface("train data.csv --label y -o m.efface").done();
    let before = w.read("m.efface");
    for (label, told) in [("Yes", "another spelling of `yes`"), ("maybe", "also has `maybe`")] {
        w.write("more.csv", format!("x;y\n1;{label}\n2;no\n"));
        let ran = w.efface("add m.efface more.csv").exits(1);
        assert!(ran.stderr.contains(told) && ran.stderr.contains("--new-classes"), "{ran:#?}");
    }
    assert!(w.read("m.efface") == before, "the vault was changed");
    w.efface("add m.efface more.csv --new-classes").done();
    let found = w.efface("status m.efface --json").done().json();
    assert_eq!(found["classes"], serde_json::json!(["maybe", "no", "yes"]));
    w.write("more.csv", "x;y\n1;never\n2;no\n");
    w.efface("add m.efface more.csv").done();
}

/// Rows without a label are counted, whatever their place says; they are left out if that is asked for.
#[test]
fn missing_labels_are_counted_and_left_out_when_asked_for() {
    let w = Workshop::new();
    let labels = ["yes", "", "no", "NA", "yes", "None", "no"];
    let rows = |labels: &[&str]| {
        let row = |(at, label): (usize, &&str)| format!("{at},{label}\n");
        format!("x,y\n{}", labels.iter().enumerate().map(row).collect::<String>())
    };
    w.write("data.csv", rows(&labels.repeat(6)));
    let ran = w.efface("train data.csv --label y -o m.efface").exits(2);
    let wanted =
        ["18 of 42 rows have no label", "line 3, column `y`", "--drop-unlabelled", "--missing"];
    assert!(wanted.iter().all(|words| ran.stderr.contains(words)), "{ran:#?}");
    let line = "train data.csv --label y --drop-unlabelled -o m.efface --json";
    let dropped = told(&w, line, "rows-left-out");
    assert_eq!(dropped, ["18 rows without a label were left out"]);
    w.write("more.csv", rows(&["yes", "null"]));
    w.efface("add m.efface more.csv").fails(2, &["1 of 2 rows has no label"]);
    w.efface("add m.efface more.csv --drop-unlabelled").done();
    // `NA` and `None` are classes where nothing but empty cells says that there is none.
    w.write("data.csv", rows(&["yes", "NA", "no", "None"].repeat(6)));
    w.efface("train data.csv --label y --missing= -o n.efface").done();
    let found = w.efface("status n.efface --json").done().json();
    assert_eq!(found["classes"], serde_json::json!(["NA", "None", "no", "yes"]));
    w.write("data.csv", rows(&["1.5", "2.5", "-9", "3.25"].repeat(9)));
    let line = "train data.csv --label y --missing -9 --drop-unlabelled --loss squared -o r.efface";
    assert_eq!(told(&w, &format!("{line} --json"), "rows-left-out").len(), 1);
}
