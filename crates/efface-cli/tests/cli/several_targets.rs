//! Several labels: one regression on all of them, by `ridge`.

use crate::verifier::both_hold;
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label price --label rooms --id id --subject user \
                     --mechanism ridge -o m.efface";

/// Records `r{first}`.. of users `u0`.., two records each, with their labels in the middle.
fn table(first: usize, rows: usize) -> String {
    let mut text = String::from("id,user,x1,rooms,x2,price,word\n");
    for row in first..first + rows {
        let (s, t) = ((row as f64 * 0.7).sin(), (row as f64 * 1.3).cos());
        let word = ["old", "new"][row % 2];
        let (rooms, price) = (3.0 + s, 1e5 + 2e4 * t + 1e4 * (row % 2) as f64);
        let user = row / 2;
        text += &format!("r{row},u{user},{s:.5},{rooms:.4},{t:.5},{price:.3},{word}\n");
    }
    text
}

fn workshop(settings: &str) -> Workshop {
    let w = Workshop::new();
    w.write("data.csv", table(0, 80));
    w.efface(&format!("{TRAIN}{settings}")).done();
    w
}

#[test]
fn a_column_is_predicted_for_each_label() {
    let w = workshop("");
    let ran = w.efface("predict m.efface data.csv").done();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((lines[0], lines.len()), ("position,id,price,rooms", 81));
    for (row, line) in lines[1..].iter().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells[0], cells[1]), (&*row.to_string(), &*format!("r{row}")));
        let (price, rooms): (f64, f64) = (cells[2].parse().unwrap(), cells[3].parse().unwrap());
        assert!((7e4..1.4e5).contains(&price) && (1.5..4.5).contains(&rooms), "{line}");
    }
    // Predicting needs no label.
    w.write("bare.csv", "x1,x2,word\n0.5,0.25,new\n");
    let lines = w.efface("predict m.efface bare.csv --json").done();
    let row: serde_json::Value = serde_json::from_str(lines.stdout.trim()).unwrap();
    assert!(row["targets"]["price"].is_f64() && row["targets"]["rooms"].is_f64(), "{row}");
    assert!(row.get("prediction").is_none(), "{row}");
    let page = w.efface("evaluate m.efface data.csv").done().stdout;
    assert!(page.contains("price") && page.contains("rooms") && page.contains("MAE"), "{page}");
    let scores = w.efface("evaluate m.efface data.csv --json").done().json();
    for target in scores["targets"].as_array().unwrap() {
        assert!(target["rmse"].as_f64().unwrap() < 0.1 * target["mean_rmse"].as_f64().unwrap());
    }
}

#[test]
fn requests_name_no_label_and_both_verifiers_hold_the_certificates() {
    for settings in ["", " --preprocess declared --target-range 0,200000 --ignore word"] {
        let w = workshop(settings);
        w.efface("delete m.efface --subject u3").done();
        let more = if settings.is_empty() { "" } else { " --ignore word" };
        w.write("more.csv", table(80, 6));
        w.efface(&format!("add m.efface more.csv{more}")).done();
        w.write("changed.csv", table(31, 1).replace("r31,u15", "r20,u10"));
        w.efface(&format!("update m.efface changed.csv{more}")).done();
        w.write("changed.csv", table(20, 1));
        w.efface(&format!("update m.efface changed.csv{more} --certificate c.json")).done();
        let key = w.public_key();
        let ran = w.run(&["ledger", "verify", "m.efface", "--key", &key]).done().stdout;
        assert!(ran.contains("bit for bit"), "{ran}");
        both_hold(&w, "c.json", "m.efface", &key);
        // On another machine the same rows, in another order, give the same weights.
        let mut rows: Vec<String> = table(0, 86).lines().skip(1).map(str::to_owned).collect();
        rows.retain(|row| !row.contains(",u3,"));
        rows.reverse();
        let never = Workshop::new();
        never.write("data.csv", format!("{}{}\n", table(0, 0), rows.join("\n")));
        let size = if settings.is_empty() { "" } else { " --public-n 80 --capacity 100" };
        never.efface(&format!("{TRAIN}{settings}{size}")).done();
        let coef = |w: &Workshop| {
            w.efface("export m.efface --to json -o m.json --force").done();
            let json: serde_json::Value = serde_json::from_slice(&w.read("m.json")).unwrap();
            (json["coef"].clone(), json["intercept"].clone(), json["target_names"].clone())
        };
        assert_eq!(coef(&w), coef(&never), "{settings}");
        assert_eq!(coef(&w).2, serde_json::json!(["price", "rooms"]));
    }
}

#[test]
fn several_labels_are_refused_where_one_is_learnt() {
    let w = Workshop::new();
    w.write("data.csv", table(0, 40));
    let ridge = "`--mechanism ridge` with `--loss squared`, which solves several targets at once";
    for (line, code, part) in [
        ("train data.csv --label price --label rooms -o x.efface", 1, ridge),
        ("train data.csv --label price --label rooms --mechanism retrain -o x.efface", 1, ridge),
        (
            "train data.csv --label price --label price --mechanism ridge -o x.efface",
            2,
            "`label` names `price` twice",
        ),
        (
            "train data.csv --label price,rooms --mechanism ridge -o x.efface",
            2,
            "give `--label` once for each",
        ),
        (
            "train data.csv --label price --label user --mechanism ridge -o x.efface",
            2,
            "the label must be a number for regression",
        ),
        (
            "train data.csv --label price --label rooms --mechanism ridge --target-range 0,9 \
             --target-range 0,2e5 -o x.efface",
            2,
            "--target-range",
        ),
        (
            "train data.libsvm --label price --label rooms --mechanism ridge -o x.efface",
            2,
            "line 2: `1` is one label; 2 were named, with `--label` once for each",
        ),
        (
            "train data.libsvm --mechanism ridge --loss squared -o x.efface",
            2,
            "line 1, column `label`: the label must be a plain number",
        ),
    ] {
        w.write("data.libsvm", "1,2 1:3\n1 1:2\n");
        w.efface(line).fails(code, &[part]);
    }
    assert!(!w.path("x.efface").exists());
    let w = workshop("");
    w.write("more.csv", table(80, 2));
    w.efface("add m.efface more.csv --label price")
        .fails(1, &["the model has the targets `price`, `rooms`, and the table has one label"]);
    w.efface("add m.efface more.csv --label rooms --label price").fails(1, &["in their order"]);
}

/// Arrays and LIBSVM lines have no names for their labels: those given are the model's, which later tables
/// need not repeat. Weights are those of the same numbers in a CSV file.
#[test]
fn labels_of_arrays_and_lines_are_named_in_order() {
    let w = Workshop::new();
    let (mut lines, mut csv) = (String::new(), String::from("a,b,x1,x2\n"));
    for k in 0..60 {
        let (x1, x2) = ((k as f32 * 0.7).sin(), (k as f32 * 1.3).cos());
        let (a, b) = (f64::from(x1) * 3.0 + 1.0, f64::from(x2) - 2.0);
        lines += &format!("{a},{b} 1:{x1} 2:{x2}\n");
        csv += &format!("{a},{b},{x1},{x2}\n");
    }
    w.write("data.libsvm", lines);
    w.write("data.csv", csv);
    let told = |line: &str| {
        w.efface(line).done();
        w.efface("export m.efface --to json -o m.json --force").done();
        let json: serde_json::Value = serde_json::from_slice(&w.read("m.json")).unwrap();
        std::fs::remove_file(w.path("m.efface")).unwrap();
        (json["coef"].clone(), json["intercept"].clone(), json["target_names"].clone())
    };
    let settings = "--label a --label b --mechanism ridge --preprocess declared --target-range -9,9 \
                    --width 2 -o m.efface";
    let of_lines = told(&format!("train data.libsvm {settings}"));
    let of_csv = told(&format!("train data.csv {}", settings.replace("--width 2", "")));
    assert_eq!(of_lines, of_csv);
    assert_eq!(of_lines.2, serde_json::json!(["a", "b"]));

    w.efface("train data.libsvm --label a --label b --mechanism ridge -o f.efface").done();
    w.write("more.libsvm", "1.5,2.5 1:0.3\n");
    w.efface("add f.efface more.libsvm").done();
    w.efface("delete f.efface --record row:3 --record row:60").done();
    assert_eq!(
        w.efface("ledger verify f.efface").code,
        Some(2),
        "nothing fails, the key is not known"
    );
    let predicted = w.efface("predict f.efface data.libsvm").done().stdout;
    assert_eq!(predicted.lines().next(), Some("position,id,a,b"));
    let evaluated = w.efface("evaluate f.efface data.libsvm").done().stdout;
    assert!(evaluated.contains("RMSE"), "{evaluated}");
    w.write("one.libsvm", "1.5 1:0.3\n");
    w.efface("add f.efface one.libsvm").fails(2, &["`1.5` is one label; 2 were named"]);
}
