//! What is measured on a table with labels, beside what a constant answer reaches.

use crate::table::{Label, table};
use crate::workshop::Workshop;

#[test]
fn classes_that_the_model_does_not_know_are_answered_wrongly() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 60);
    w.write("data.csv", &text);
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let known = w.efface("evaluate m.efface data.csv --json").done().json();
    let strange: String = text
        .lines()
        .skip(1)
        .take(30)
        .map(|line| format!("z{}other\n", &line[1..line.len() - 1]))
        .collect();
    w.write("mixed.csv", format!("{text}{strange}"));
    let mixed = w.efface("evaluate m.efface mixed.csv --json").done().json();
    assert_eq!((&mixed["rows"], &mixed["unknown"]), (&90.into(), &30.into()));
    let share = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!((share(&mixed["accuracy"]) - share(&known["accuracy"]) * 60.0 / 90.0).abs() < 1e-12);
    assert!((share(&mixed["majority"]) - share(&known["majority"]) * 60.0 / 90.0).abs() < 1e-12);
    let ones = text.lines().filter(|line| line.ends_with(",1")).count();
    let most = ones.max(60 - ones) as f64 / 60.0;
    assert!((share(&known["majority"]) - most).abs() < 1e-12);
    let told = w.efface("evaluate m.efface mixed.csv").done().stdout;
    assert!(told.contains("30 rows of unknown classes"), "{told}");
    assert!(told.contains("always the most frequent class: "), "{told}");
    let left = w.efface("evaluate m.efface mixed.csv --skip-unknown --json").done().json();
    assert_eq!(left, known);
    let header = text.lines().next().unwrap();
    w.write("strange.csv", format!("{header}\n{strange}"));
    let wrong = w.efface("evaluate m.efface strange.csv --json").done().json();
    assert_eq!((&wrong["rows"], &wrong["accuracy"]), (&30.into(), &0.0.into()));
}

#[test]
fn errors_are_set_beside_those_of_the_mean() {
    let w = Workshop::new();
    let text = table(Label::Number, 0, 60);
    w.write("data.csv", &text);
    let line = "train data.csv --label y --id id --subject user --loss squared --target-range -20,20 \
                -o m.efface";
    w.efface(line).done();
    let found = w.efface("evaluate m.efface data.csv --json").done().json();
    let y: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    let mean = y.iter().sum::<f64>() / 60.0;
    let expected = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 60.0).sqrt();
    assert!((found["mean_rmse"].as_f64().unwrap() - expected).abs() < 1e-9, "{found}");
    let told = w.efface("evaluate m.efface data.csv").done().stdout;
    assert!(told.contains("always the mean: "), "{told}");
}

#[test]
fn texts_among_numbers_to_predict_are_counted_on_standard_error() {
    let w = Workshop::new();
    let mut text = String::from("size,y\n");
    (0..60).for_each(|row| text += &format!("{},{}\n", row % 7, row % 2));
    w.write("data.csv", text);
    w.efface("train data.csv --label y -o m.efface").done();
    w.write("rows.csv", "size\n3\n3 kg\ntall\nunknown\n");
    let ran = w.efface("predict m.efface rows.csv").done();
    assert_eq!(ran.stdout.lines().count(), 5);
    let note = "note: 2 rows have a text in the column `size` that is no number";
    assert!(ran.stderr.starts_with(note), "{ran:?}");
    w.write("plain.csv", "size\n3\n4\n");
    assert_eq!(w.efface("predict m.efface plain.csv").done().stderr, "");
}

#[test]
fn texts_among_numbers_are_told() {
    let w = Workshop::new();
    let rows: String = (0..60).map(|at| format!("{at},{}\n", ["no", "yes"][at / 30])).collect();
    w.write("data.csv", format!("age,y\n{rows}"));
    w.efface("train data.csv --label y -o m.efface").done();
    assert!(!w.efface("evaluate m.efface data.csv").done().stderr.contains("count as missing"));
    w.write("odd.csv", "age,y\nabout 40,yes\n12,no\n");
    let odd = w.efface("evaluate m.efface odd.csv").done();
    assert!(odd.stderr.contains("1 row has a text in the column `age`"), "{}", odd.stderr);
    let json = w.efface("evaluate m.efface odd.csv --json").done().json();
    assert_eq!(json["notices"][0]["code"], "texts-missing");
}
