//! Cells and files as people have them: dates in many forms, lines of spreadsheets, words for no value.

use std::fmt::Write as _;

use crate::workshop::Workshop;

/// A table of one column beside `x` and the label.
fn column(cell: impl Fn(usize) -> String) -> Workshop {
    let w = Workshop::new();
    let mut text = String::from("at;x;y\n");
    for k in 0..240 {
        writeln!(text, "{};{};{}", cell(k), k % 7, ["p", "q"][k % 2]).unwrap();
    }
    w.write("data.csv", text);
    w
}

/// What a column became, and the messages of a code.
fn became(w: &Workshop, code: &str) -> (String, Vec<String>) {
    let told = w.efface("train data.csv --label y -o m.efface --json").done().json();
    let notices = told["notices"].as_array().unwrap().iter();
    let of_code = notices.filter(|notice| notice["code"] == code);
    let messages = of_code.map(|notice| notice["message"].as_str().unwrap().to_owned()).collect();
    (told["preprocessing"][0].as_str().unwrap().to_owned(), messages)
}

#[test]
fn dates_are_read_in_the_forms_that_people_and_programs_write() {
    let (day, month) = (|k: usize| k % 28 + 1, |k: usize| k % 12 + 1);
    let forms: [&dyn Fn(usize) -> String; 6] = [
        &|k| format!("2026-{:02}-{:02} 10:{:02}:00 UTC", month(k), day(k), k % 60),
        &|k| format!("2026-{:02}-{:02} 10:{:02}:00.5 GMT", month(k), day(k), k % 60),
        &|k| format!("Sun, {:02} Mar 2026 10:{:02}:00 GMT", day(k), k % 60),
        &|k| format!("{}/{}/26", month(k), day(k)),
        &|k| format!("{}.{}.26", day(k), month(k)),
        &|k| format!("{:02}/{:02}/26", day(k), month(k)),
    ];
    for form in forms {
        let (what, told) = became(&column(form), "numbers-unclear");
        assert!(what.starts_with("at: time, mean 2026-"), "{}: {what}", form(30));
        assert_eq!(told, [""; 0]);
    }
    // Single days are categories only if they come again often.
    let (what, _) = became(&column(|k| format!("2026-{:02}-{:02}", month(k), day(k))), "");
    assert!(!what.contains("categor"), "{what}");
    let (what, _) = became(&column(|k| format!("2026-01-{:02}", k % 8 + 1)), "");
    assert!(what.contains("also 8 categories"), "{what}");
}

#[test]
fn what_looks_like_a_date_and_is_not_read_is_told_of_once() {
    let forms: [(&dyn Fn(usize) -> String, &str); 6] = [
        (&|k| format!("2026-03-{:02} 10:{:02}:00 CET", k % 28 + 1, k % 60), "a form that is not"),
        (&|k| format!("Sun Mar {:02} 10:{:02}:00 2026", k % 28 + 1, k % 60), "a form that is not"),
        (&|k| format!("{:02}/Mar/2026:10:{:02}:00 +0000", k % 28 + 1, k % 60), "a form that is"),
        (&|k| format!("{:02}/{:02}/2026", k % 12 + 1, k % 11 + 1), "which number in them is the"),
        (&|k| format!("{}/{}/26", k % 12 + 1, k % 12 + 1), "which number in them is the day"),
        (
            &|k| match k % 2 {
                0 => format!("{:02}/{:02}/2026", k % 28 + 1, k % 12 + 1),
                _ => format!("{:02}/{:02}/2026", k % 12 + 1, k % 28 + 1),
            },
            "not the same in all",
        ),
    ];
    for (form, why) in forms {
        let (what, told) = became(&column(form), "numbers-unclear");
        assert!(!what.contains("time"), "{what}");
        assert!(told.len() == 1 && told[0].contains(why), "{}: {told:?}", form(1));
        assert!(told[0].contains(&form(0)) && told[0].contains("`2024-01-31`"), "{told:?}");
    }
}

#[test]
fn lines_that_are_no_records_are_obeyed_or_refused() {
    let w = Workshop::new();
    for first in ["sep=;", "\"sep=;\""] {
        w.write("data.csv", format!("{first}\na,5;b\n1,5;p\n2,5;q\n").replace(',', "."));
        w.efface("train data.csv --label b --force -o m.efface");
        let found = w.efface("status m.efface --json").done().json();
        assert_eq!(found["records"], 2, "{first}");
        std::fs::remove_file(w.path("m.efface")).unwrap();
    }
    let rows = "v1,0.5,yes\nv2,-1.5,no\n";
    w.write("data.csv", format!("visit,x,outcome\n{rows}visit,x,outcome\n{rows}"));
    let ran = w.efface("train data.csv --label outcome -o m.efface");
    ran.fails(2, &["line 4", "repeats the header"]);
    w.write("data.csv", "note,x,y\n\"say \\\"hi\\\"\",1,p\n");
    w.efface("train data.csv --label y -o m.efface").fails(2, &["line 2", "backslash"]);
}

/// As R writes them: a header without a name for the first column.
#[test]
fn names_of_rows_without_a_header_are_no_feature() {
    let w = Workshop::new();
    w.write("data.csv", "x,y\nann,1,p\nbob,2,q\ncem,3,p\ndov,4,q\n");
    let told = w.efface("train data.csv --label y -o m.efface").done().stdout;
    assert!(told.contains("the row index, a column without a name, is left out"), "{told}");
    w.run(&["train", "data.csv", "--label", "y", "--id", "column 1", "-o", "n.efface"]).done();
    w.efface("delete n.efface --record bob").done();
    assert_eq!(w.efface("predict n.efface data.csv").done().stdout.lines().count(), 5);
    w.write("data.csv", "x,y\nann,1,p\n2,q\n");
    w.efface("train data.csv --label y -o o.efface").fails(2, &["line 3", "has 2 fields"]);
}

#[test]
fn files_of_other_programs_are_recognised_or_refused_with_a_way_on() {
    let w = Workshop::new();
    w.write("a", "-1\n1 1:0.5 2:1\n-1 1:0.1\n1 2:0.7\n");
    w.efface("train a -o a.efface").done();
    w.write("b", "1,3 1:0.5 2:1\n2 1:0.1\n");
    w.efface("train b -o b.efface").fails(2, &["`1,3` is several labels"]);
    w.write("c", "1 1:0.5 2147483649:1\n-1 1:0.1\n");
    w.efface("train c -o c.efface").fails(2, &["the index 2147483649 makes"]);
    w.write("people.csv", "user,x,y\nbea,1,p\nbea,2,q\ncem,3,p\ndov,4,q\neve,5,p\n");
    w.efface("train people.csv --label y --subject user -o m.efface").done();
    w.write("list.txt", "user\nbea\n");
    w.efface("delete m.efface --subjects list.txt --column user").done();
    w.write("list.csv", "user,\ncem,\n");
    w.efface("delete m.efface --subjects list.csv --column user").done();
}

#[test]
fn columns_are_named_whole_and_predictions_have_their_header() {
    let w = column(|k| format!("{k}"));
    let text = String::from_utf8(w.read("data.csv")).unwrap();
    w.write("data.csv", text.replacen("at", "Unnamed: 0", 1));
    let told = w.efface("train data.csv --label y -o m.efface").done().stdout;
    assert!(told.contains("Unnamed: 0  number"), "{told}");
    w.write("none.csv", "Unnamed: 0,x\n");
    let predicted = w.efface("predict m.efface none.csv").done().stdout;
    assert_eq!(predicted, "position,id,prediction,p(p),p(q)\n");
}

#[test]
fn words_for_no_value_beside_empty_cells_are_told_of() {
    let w = column(|k| ["NA", "", "DE", "FR"][k % 4].to_owned());
    let (what, told) = became(&w, "values-alike");
    assert!(what.starts_with("at: 2 categories") && told.len() == 1, "{what} {told:?}");
    assert!(told[0].contains("60 empty cells and the texts `NA`"), "{told:?}");
    let line = "train data.csv --label y --missing= -o n.efface --json";
    let found = w.efface(line).done().json();
    assert!(found["preprocessing"][0].as_str().unwrap().starts_with("at: 3 categories"));
    // Without empty cells nothing is in doubt.
    assert_eq!(
        became(&column(|k| ["NA", "DE", "FR"][k % 3].to_owned()), "values-alike").1.len(),
        0
    );
}

#[test]
fn values_that_training_never_saw_are_told_of() {
    let w = column(|k| ["red", "blue"][k / 2 % 2].to_owned());
    w.efface("train data.csv --label y -o m.efface").done();
    w.write("other.csv", "at;x;y\nRed;1;p\nBLUE;2;q\nReD;2;q\nred;3;p\n");
    for line in ["predict m.efface other.csv", "evaluate m.efface other.csv --label y"] {
        let told = w.efface(line).done().stderr;
        assert!(told.contains("3 of 4 values in the column `at` are none of"), "{told}");
    }
    w.write("other.csv", "at;x;y\nRed;1;p\nblue;2;q\nred;3;p\n");
    assert_eq!(w.efface("predict m.efface other.csv").done().stderr, "");
}

#[test]
fn rows_that_are_there_already_are_told_of() {
    let w = column(|k| k.to_string());
    w.efface("train data.csv --label y -o m.efface").done();
    let told = w.efface("add m.efface data.csv").done();
    assert!(told.stderr.contains("240 rows are there already"), "{told:#?}");
    w.write("more.csv", "at;x;y\n0;0;p\n1;1;q\n1000;3;p\n");
    let told = w.efface("add m.efface more.csv").done();
    assert!(!told.stderr.contains("already"), "{told:#?}");
    w.write("more.csv", "at;x;y\n7;7;p\n8;8;P\n");
    let told = w.efface("add m.efface more.csv --new-classes").done();
    assert!(told.stderr.contains("the classes `P`, `p` are probably"), "{told:#?}");
}
