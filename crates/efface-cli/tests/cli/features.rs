//! Random features from a public seed: exact heads, the same map everywhere, and what is refused.

use std::path::Path;

use rusqlite::Connection;

use crate::table::{Draws, Label, table};
use crate::verifier::both_hold;
use crate::workshop::Workshop;

const TRAIN: &str = "train data.csv --label y --id id --subject user -o m.efface --classes 0,1 \
                     --public-n 200 --capacity 300 --mechanism ridge --lambda 1e-4 --features";

/// Rows whose class is whether two numbers have the same sign, which no line tells.
fn signs(first: usize, rows: usize) -> String {
    let mut draws = Draws::new(5 + first as u64);
    (first..first + rows).fold("id,user,a,b,y\n".to_owned(), |text, row| {
        let (a, b) = (draws.unit(), draws.unit());
        text + &format!("r{row},u{},{a},{b},{}\n", row / 5, u8::from(a * b > 0.0))
    })
}

fn rest(text: &str) -> String {
    text.lines().skip(1).fold(String::new(), |text, line| text + line + "\n")
}

/// Weights and kept sums, as the vault holds them.
fn model(w: &Workshop, vault: &str) -> (Vec<u8>, Vec<u8>) {
    let database = Connection::open(w.path(vault)).unwrap();
    let part = |query| database.query_row(query, [], |row| row.get(0)).unwrap();
    (part("SELECT weights FROM model"), part("SELECT state FROM caches"))
}

fn accuracy(w: &Workshop, vault: &str, file: &str) -> f64 {
    let told = w.efface(&format!("evaluate {vault} {file} --json")).done().json();
    told["accuracy"].as_f64().unwrap()
}

#[test]
fn a_head_that_forgot_is_the_head_that_never_saw() {
    for map in ["rff:64,seed=3", "gated:40", "rff:10,gamma=5 --no-intercept --row-map unit"] {
        let w = Workshop::new();
        w.write("data.csv", signs(0, 200));
        w.write("more.csv", signs(200, 10));
        w.write("new.csv", "id,user,a,b,y\nr7,u1,0.5,-0.25,0\n");
        w.efface(&format!("{TRAIN} {map}")).done();
        w.efface("delete m.efface --subject u3").done();
        w.efface("add m.efface more.csv --label y --id id --subject user").done();
        w.efface("update m.efface new.csv --label y --id id --subject user").done();
        w.efface("delete m.efface --record r50 --record r205").done();

        let gone = |line: &&str| {
            let fields: Vec<&str> = line.split(',').collect();
            fields[1] == "u3" || ["r50", "r205"].contains(&fields[0])
        };
        let never = Workshop::new();
        let all = signs(0, 200) + &rest(&signs(200, 10));
        let kept = all.lines().filter(|line| !gone(line)).fold(String::new(), |text, line| {
            text + if line.starts_with("r7,") { "r7,u1,0.5,-0.25,0" } else { line } + "\n"
        });
        never.write("data.csv", kept);
        never.efface(&format!("{TRAIN} {map}")).done();
        assert!(model(&w, "m.efface") == model(&never, "m.efface"), "{map}");

        let verified = w.efface("ledger verify m.efface --json").exits(2).json();
        let sums = verified["checks"].as_array().unwrap().iter().find(|c| c["name"] == "sums");
        assert_eq!(sums.unwrap()["outcome"], "holds");
    }
}

#[test]
fn what_no_line_tells_is_learnt_and_certified() {
    let w = Workshop::new();
    w.write("data.csv", signs(0, 200));
    w.write("other.csv", signs(1000, 400));
    w.efface(&format!("{TRAIN} rff:100,gamma=2").replace("m.efface", "f.efface")).done();
    let plain = TRAIN.replace("--features", "").replace("m.efface", "p.efface");
    w.efface(&plain).done();
    assert!(accuracy(&w, "f.efface", "other.csv") > 0.9);
    assert!(accuracy(&w, "p.efface", "other.csv") < 0.7);

    w.efface("delete f.efface --record r1 --certificate c.json").done();
    both_hold(&w, "c.json", "f.efface", &w.public_key());
    let text = String::from_utf8(w.read("c.json")).unwrap();
    let map = "rff:100,gamma=2.0,norm=1.0,seed=0,version=1";
    assert!(
        text.contains(map) && text.contains("kind, sizes and seed were chosen without"),
        "{text}"
    );
    let status = w.efface("status f.efface").done().stdout;
    assert!(status.contains(&format!("features   {map}")), "{status}");
    let report = w.efface("report f.efface").done().stdout;
    assert!(report.contains("rff:100"), "{report}");
}

/// Predictions of any row are those of the weights on the features of that row.
#[test]
fn predictions_and_exports_go_through_the_same_map() {
    let w = Workshop::new();
    w.write("data.csv", signs(0, 200));
    w.efface(&format!("{TRAIN} rff:64")).done();
    let all = w.efface("predict m.efface data.csv").done().stdout;
    // One row alone, without its label.
    let line = signs(0, 200).lines().nth(8).unwrap().rsplit_once(',').unwrap().0.to_owned();
    w.write("one.csv", format!("id,user,a,b\n{line}\n"));
    let one = w.efface("predict m.efface one.csv").done().stdout;
    let after = |line: &str| line.split_once(',').unwrap().1.to_owned();
    assert_eq!(one.lines().nth(1).map(after), all.lines().nth(8).map(after));

    w.efface("export m.efface --to json -o m.json").done();
    let model: serde_json::Value = serde_json::from_slice(&w.read("m.json")).unwrap();
    assert_eq!(model["feature_map"], "rff:64,gamma=1.0,norm=1.0,seed=0,version=1");
    assert_eq!(model["coef"][0].as_array().unwrap().len(), 64);
    assert_eq!((&model["names"][63], &model["inputs"]), (&"rff:63".into(), &2.into()));
    assert_eq!(model["input_names"], serde_json::json!(["a", "b"]));
}

#[test]
fn every_mechanism_learns_from_features() {
    for settings in [
        "--mechanism solve --state secret --releases 4",
        "--mechanism retrain",
        "--mechanism noisy-gd",
        "--mechanism descent-to-delete",
        "--loss softmax --class-weight 0=0.5",
        "--notion differential-privacy --releases 5 --public-n 200 --delta 1e-5",
    ] {
        let w = Workshop::new();
        w.write("data.csv", signs(0, 200));
        let line = "train data.csv --label y --id id --classes 0,1 --features rff:16 --lambda 0.01 \
                    --ignore user -o m.efface";
        w.efface(&format!("{line} {settings}")).done();
        w.efface("delete m.efface --record r1 --certificate c.json").done();
        both_hold(&w, "c.json", "m.efface", &w.public_key());
    }
}

#[test]
fn several_numbers_are_learnt_from_the_same_features() {
    let w = Workshop::new();
    let (mut text, mut draws) = ("id,a,y,v\n".to_owned(), Draws::new(9));
    for row in 0..200 {
        let a = draws.unit();
        text += &format!("r{row},{a},{},{}\n", (3.0 * a).sin(), a.abs());
    }
    w.write("data.csv", &text);
    w.efface(
        "train data.csv --id id --label y --label v --mechanism ridge --loss squared \
         --target-range -1,1 --lambda 1e-6 --features rff:50,gamma=3 -o m.efface",
    )
    .done();
    let told = w.efface("evaluate m.efface data.csv --json").done().json();
    for target in told["targets"].as_array().unwrap() {
        let error = |name: &str| target[name].as_f64().unwrap();
        assert!(error("rmse") < 0.2 * error("mean_rmse"), "{target}");
    }
}

#[test]
fn images_are_filtered() {
    let w = Workshop::new();
    // Bright upper or lower halves, of images of 6 x 7.
    let (mut images, mut labels) = (vec![0, 0, 8, 3, 0, 0, 0, 80, 0, 0, 0, 6, 0, 0, 0, 7], vec![]);
    let mut draws = Draws::new(3);
    for image in 0..80 {
        let pixel = |at: usize| u64::from((at / 21 == 0) == (image % 2 == 0)) * 120;
        images.extend((0..42).map(|at| (pixel(at) + draws.below(60)) as u8));
        labels.push(image % 2);
    }
    w.write("images-ubyte", &images);
    w.write("labels-ubyte", [&[0, 0, 8, 1, 0, 0, 0, 80][..], &labels].concat());
    let train = "train images-ubyte --labels labels-ubyte --mechanism ridge --lambda 1e-4";
    w.efface(&format!("{train} --features random-conv:4x3,seed=2 -o m.efface")).done();
    let told =
        w.efface("evaluate m.efface images-ubyte --labels labels-ubyte --json").done().json();
    assert_eq!(told["accuracy"], 1.0);
    let status = w.efface("status m.efface").done().stdout;
    assert!(status.contains("random-conv:4x3,image=6x7,seed=2,version=1"), "{status}");
    w.efface(&format!("{train} --features random-conv:4x3,image=7x6 -o n.efface")).fails(
        2,
        &["`image` in `--features` is 7x6, but the images of the table are 6x7; leave it out"],
    );
    w.efface(&format!("{train} --features random-conv:4x4 -o n.efface"))
        .fails(2, &["the side of a filter in `--features` must be at least 3 below", "6x7, got 4"]);
}

#[test]
fn another_seed_in_the_plan_is_noticed() {
    let w = Workshop::new();
    w.write("data.csv", signs(0, 200));
    w.efface(&format!("{TRAIN} rff:64,seed=7")).done();
    let database = Connection::open(w.path("m.efface")).unwrap();
    let changed = database
        .execute("UPDATE genesis SET config = replace(config, 'seed=7', 'seed=8')", [])
        .unwrap();
    assert_eq!(changed, 1);
    drop(database);
    let told = w.efface("ledger verify m.efface --json").exits(1).json();
    let plan = told["checks"].as_array().unwrap().iter().find(|check| check["name"] == "plan");
    assert_eq!(plan.unwrap()["outcome"], "fails", "{told}");
}

#[test]
fn what_a_map_cannot_take_is_refused_and_nothing_made() {
    let w = Workshop::new();
    w.write("data.csv", signs(0, 20));
    w.write("words.csv", "id,work,y\nr0,cook,0\nr1,none,1\n");
    w.write("rows.svm", "0 1:1\n1 2:1\n");
    let table = "train data.csv --label y --id id --ignore user -o m.efface --mechanism ridge";
    for (line, code, parts) in [
        (format!("{table} --features rff:0"), 2, &["must be from 2 to 65536, got 0"][..]),
        (format!("{table} --features rff:99999999"), 2, &["got 99999999"]),
        (format!("{table} --features rbf:10"), 2, &["must be `rff:P`", "got `rbf`"]),
        (format!("{table} --features rff:10,seed=x"), 2, &["`seed` in `--features`", "got `x`"]),
        (format!("{table} --features random-conv:4x3"), 2, &["image=28x28"]),
        (
            format!("{table} --features rff:10 --preprocess fitted"),
            1,
            &["`--preprocess fitted` with `--features` is not offered", "`efface schema DATA`"],
        ),
        (
            "train words.csv --label y --id id -o m.efface --features rff:10".to_owned(),
            2,
            &["column `work`", "`--features`"],
        ),
        (
            "train rows.svm --width 2 -o m.efface --features rff:10".to_owned(),
            2,
            &["`--features` needs dense rows"],
        ),
        (format!("{table} --features rff:8192"), 1, &["8193", "4096"]),
    ] {
        let ran = w.efface(&line);
        assert!(ran.code == Some(code), "{code} {ran:#?}");
        let flat = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(flat.contains(part), "`{part}` is not in {flat}");
        }
        assert!(!Path::new(&w.path("m.efface")).exists());
    }
}

#[test]
fn plans_of_sizes_and_of_tables_count_features() {
    let w = Workshop::new();
    w.write("data.csv", signs(0, 200));
    let line = "plan data.csv --label y --id id --subject user --classes 0,1 --features rff:32 \
                --mechanism ridge -o p.json --json";
    let advice = w.efface(line).done().json();
    assert_eq!(advice["sizes"]["features"], 32);
    w.efface(
        "train data.csv --label y --id id --subject user --classes 0,1 --plan p.json -o m.efface",
    )
    .done();
    let status = w.efface("status m.efface").done().stdout;
    assert!(status.contains("rff:32,gamma=1.0"), "{status}");
    let sizes = "plan --n 1000 --d 784 --classes 10 --loss squared-classes --mechanism ridge";
    let told = w.efface(&format!("{sizes} --features random-conv:4x6,image=28x28 --json"));
    let advice = told.done().json();
    let fixed = &advice["choices"][0]["fixed"]["features"];
    assert_eq!((&advice["sizes"]["features"], fixed), (&64.into(), &64.into()));
    w.efface(&format!("{sizes} --features random-conv:4x6"))
        .fails(2, &["needs the shape of the images"]);
    w.efface(&format!("{sizes} --features rff:4 --entries 5")).fails(2, &["needs dense rows"]);
}

/// Rows of a schema are encoded first, words and missing values with it.
#[test]
fn a_schema_says_what_goes_in() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60).replace("id,user", "id,work"));
    w.efface("schema data.csv --label y --id id -o s.toml").done();
    let ran = w.efface(
        "train data.csv --schema s.toml --label y --id id --features rff:20 --mechanism ridge -o m.efface",
    );
    if ran.code != Some(0) {
        panic!("{ran:#?}");
    }
    w.efface("predict m.efface data.csv").done();
    w.efface("delete m.efface --record r1").done();
}
