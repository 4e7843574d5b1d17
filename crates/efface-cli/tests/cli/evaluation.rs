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
    let note = "the model does not know the class `other` of 30 rows";
    let mut left = w.efface("evaluate m.efface mixed.csv --skip-unknown --json").done().json();
    let notice = left["notices"][0]["message"].as_str().unwrap();
    assert_eq!(notice, format!("{note}, which are left out"));
    left.as_object_mut().unwrap().remove("notices");
    assert_eq!(left, known);
    let told = w.efface("evaluate m.efface mixed.csv").done().stderr;
    assert_eq!(told, format!("note: {note}, which count as wrong\n"));
    let header = text.lines().next().unwrap();
    w.write("strange.csv", format!("{header}\n{strange}"));
    for line in ["evaluate m.efface strange.csv", "evaluate m.efface strange.csv --skip-unknown"] {
        let parts = ["has the classes `0`, `1`", "the table has the class `other`", "`--label`"];
        w.efface(line).fails(1, &parts);
    }
}

#[test]
fn predictions_go_to_a_file_whole_or_not_at_all() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let shown = w.efface("predict m.efface data.csv").done().stdout;
    let told = w.efface("predict m.efface data.csv -o p.csv").done().stdout;
    assert_eq!(told, "predictions written to p.csv\n");
    assert_eq!(w.read("p.csv"), shown.as_bytes());
    assert_eq!(w.efface("predict m.efface data.csv -o -").done().stdout, shown);
    let lines = w.efface("predict m.efface data.csv --json").done().stdout;
    w.efface("predict m.efface data.csv --json -o p.csv --force").done();
    assert_eq!(w.read("p.csv"), lines.as_bytes());
    w.write("bad.csv", "x1,x2\n1,2\n");
    w.efface("predict m.efface bad.csv -o p.csv --force").exits(2);
    assert_eq!(w.read("p.csv"), lines.as_bytes(), "a failure replaced the file");
    w.efface("predict m.efface data.csv -o data.csv --force").fails(2, &["reads or makes"]);
    w.efface("predict m.efface data.csv -o no/p.csv").fails(2, &["its folder does not exist"]);
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
    w.write("rows.csv", "size\n3\n3 kg\ntall\nnull\n");
    let ran = w.efface("predict m.efface rows.csv").done();
    assert_eq!(ran.stdout.lines().count(), 5);
    let note = "warning: 2 rows have a text in the column `size` that is no number";
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

/// Numbers in spellings that are not read are told, and nearly all of them need not be so.
#[test]
fn columns_that_look_like_numbers_are_told() {
    let w = Workshop::new();
    let warning = "cannot be read as numbers,";
    let line = "train data.csv --label y -o m.efface";
    let told = |cell: &dyn Fn(usize) -> String| {
        let rows: String = (0..60)
            .map(|at| format!("\"{}\",{},{}\n", cell(at), at % 9, ["no", "yes"][at / 30]))
            .collect();
        w.write("data.csv", format!("paid,size,y\n{rows}"));
        let _ = std::fs::remove_file(w.path("m.efface"));
        let ran = w.efface(line).done();
        let said = format!("{}{}", ran.stdout, ran.stderr).replace('\n', " ");
        let lines = w.efface("status m.efface --json").done().json()["preprocessing"].clone();
        (said, lines[0].as_str().unwrap().to_owned())
    };
    let (said, paid) = told(&|at| format!("{at}.6K"));
    assert!(said.contains(warning) && said.contains("`0.6K`"), "{said}");
    assert!(!paid.contains("number"), "{paid}");
    let (said, _) = told(&|at| if at % 3 == 0 { format!("{at}") } else { format!("{at} kg") });
    assert!(said.contains("that is no number") || said.contains(warning), "{said}");
    let (said, paid) = told(&|at| format!("CHF {}'521.50", at + 1));
    assert!(!said.contains(warning) && paid.starts_with("paid: number, mean 3102"), "{paid}");
    let (said, paid) = told(&|at| format!("{}\u{202f}000 €", at + 1));
    assert!(!said.contains(warning) && paid.starts_with("paid: number, mean 30500"), "{paid}");
    let (said, paid) = told(&|at| format!("12:{at:02}"));
    assert!(!said.contains("warning: most values"), "{said}");
    assert!(paid.starts_with("paid: time of day in seconds, mean 44970"), "{paid}");
    let (said, _) = told(&|at| ["10-20", "20-30", "30-40"][at % 3].to_owned());
    assert!(!said.contains(warning), "{said}");
}
