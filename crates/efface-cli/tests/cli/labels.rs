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

/// `950` and `1.200` are probably both whole numbers: told of, whoever said that a number is learnt.
#[test]
fn labels_whose_points_may_separate_thousands_are_told_of() {
    let w =
        workshop(60, |k| if k % 3 == 0 { format!("{}", 900 + k) } else { format!("1.2{k:02}") });
    for line in ["-o a.efface", "--loss squared -o b.efface"] {
        let line = format!("train data.csv --label y {line} --json");
        let about = told(&w, &line, "numbers-unclear");
        assert!(about.len() == 1 && about[0].contains("the labels are whole numbers"), "{about:?}");
    }
    let planned = w.efface("plan data.csv --label y").done();
    let words = format!("{} {}", planned.stdout, planned.stderr);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("where points separate thousands"), "{words}");
    let w = workshop(60, |k| format!("{}.25", 900 + k));
    let about = told(&w, "train data.csv --label y -o m.efface --json", "numbers-unclear");
    assert_eq!(about, [""; 0]);
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
