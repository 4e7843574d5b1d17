//! Every format and kind of column, from the file to a verified deletion.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::table::{Draws, Label, table};
use crate::workshop::Workshop;

/// Trains with `line`, deletes a record, verifies, and predicts what `strangers` holds.
fn life(w: &Workshop, line: &str, record: &str, strangers: &str, rows: usize) {
    w.efface(&format!("train {line} -o m.efface")).done();
    let key = w.public_key();
    w.efface(&format!("delete m.efface --record {record}")).done();
    w.run(&["ledger", "verify", "m.efface", "--key", &key]).done();
    let predicted = w.efface(&format!("predict m.efface {strangers}")).done().stdout;
    assert_eq!(predicted.lines().count(), rows + 1, "{predicted}");
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    while (header.len() + 11) % 64 != 0 {
        header.push(b' ');
    }
    header.push(b'\n');
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], &header, data].concat()
}

#[test]
fn gzip_and_standard_input() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 60);
    w.write("data.csv.gz", gzipped(text.as_bytes()));
    life(&w, "data.csv.gz --label y --id id --subject user", "r7", "data.csv.gz", 60);
    let line = ["train", "-", "--label", "y", "--id", "id", "--subject", "user", "-o", "n.efface"];
    for input in [text.as_bytes().to_vec(), gzipped(text.as_bytes())] {
        let _ = std::fs::remove_file(w.path("n.efface"));
        w.run_with(&line, &input).done();
        assert_eq!(w.efface("status n.efface --json").done().json()["records"], 60);
    }
}

#[test]
fn numpy_arrays_with_labels_apart() {
    let w = Workshop::new();
    let mut draws = Draws::new(3);
    let values: Vec<f32> = (0..50 * 3).map(|_| draws.unit() as f32 * 0.4).collect();
    let x: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let y: Vec<u8> =
        values.chunks(3).flat_map(|row| i64::from(row[0] > row[1]).to_le_bytes()).collect();
    w.write("x.npy", npy("<f4", "(50, 3)", &x));
    w.write("y.npy", npy("<i8", "(50,)", &y));
    life(&w, "x.npy --labels y.npy", "row:49", "x.npy", 50);
}

#[test]
fn images_in_idx_with_two_classes() {
    let w = Workshop::new();
    let mut draws = Draws::new(4);
    let count = 60u8;
    let labels: Vec<u8> = (0..count).map(|_| draws.below(10) as u8).collect();
    let pixels: Vec<u8> =
        labels.iter().flat_map(|label| (0..16).map(move |pixel| label * 20 + pixel)).collect();
    let header = [0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 4, 0, 0, 0, 4];
    w.write("images.gz", gzipped(&[&header[..], &pixels].concat()));
    w.write("labels.gz", gzipped(&[&[0, 0, 8, 1, 0, 0, 0, count][..], &labels].concat()));
    let kept = labels.iter().filter(|label| matches!(label, 3 | 8)).count() as u64;
    let first = labels.iter().position(|label| matches!(label, 3 | 8)).unwrap();
    let line = "images.gz --labels labels.gz --classes 3,8 --row-map unit --no-intercept";
    life(&w, line, &format!("row:{first}"), "images.gz", 60);
    assert_eq!(w.efface("status m.efface --json").done().json()["records"], kept - 1);
    let other = labels.iter().position(|label| !matches!(label, 3 | 8)).unwrap();
    w.efface(&format!("delete m.efface --record row:{other}")).fails(1, &["unknown"]);
}

/// An image of 2 x 2 gray pixels.
fn png(pixels: [u8; 4]) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(data);
        let length = (data.len() as u32).to_be_bytes();
        [&length[..], kind, data, &crc.sum().to_be_bytes()].concat()
    };
    let [a, b, c, d] = pixels;
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::fast());
    lines.write_all(&[0, a, b, 0, c, d]).unwrap();
    let header = [0, 0, 0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 0];
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &header),
        chunk(b"IDAT", &lines.finish().unwrap()),
        chunk(b"IEND", b""),
    ]
    .concat()
}

#[test]
fn folders_of_images() {
    let w = Workshop::new();
    let mut draws = Draws::new(7);
    for class in ["cat", "dog"] {
        std::fs::create_dir_all(w.path("images").join(class)).unwrap();
    }
    let mut labels = String::from("file,animal\n");
    for at in 0..60 {
        let mut pixels = [0; 4].map(|_: u8| draws.below(100) as u8);
        pixels[0] += 150 * (at % 2);
        let class = ["cat", "dog"][usize::from(at % 2)];
        w.write(&format!("images/{class}/{at}.png"), png(pixels));
        writeln!(labels, "{class}/{at}.png,{}", ["tame", "wild"][usize::from(at % 2)]).unwrap();
    }
    w.write("labels.csv", labels);
    let told = w.efface("train images").done();
    assert!(told.stdout.starts_with("images.efface: trained on 60 records"), "{told:?}");
    life(&w, "images --labels labels.csv", "cat/0.png", "images", 60);
    let classes = w.efface("predict m.efface images").done().stdout;
    assert!(classes.starts_with("position,id,prediction,p(tame),p(wild)\n0,cat/0.png,tame,"));
    w.efface("train images --mechanism dp-sgd --network conv:2x2 --epsilon 8 -o n.efface").done();
    w.write("rows.csv", "a,b,c,y\n0.1,0.2,0.3,0\n0.3,0.1,0.2,1\n");
    w.efface(
        "train rows.csv --label y --mechanism dp-sgd --network conv:2x2 --epsilon 8 -o o.efface",
    )
    .fails(2, &["does not fit into 1 x 1", "`image=28x28`"]);
    w.write("images/dog/1.png", "no image");
    w.efface("predict m.efface images").fails(2, &["images: `dog/1.png`: the file does not begin"]);
}

/// The ids of a model are read for predictions, in whatever format they are.
#[cfg(feature = "parquet")]
#[test]
fn predictions_have_ids_in_every_format() {
    use arrow_array::{ArrayRef, Float64Array, StringArray};
    use std::sync::Arc;
    let w = Workshop::new();
    let ids: Vec<String> = (0..20).map(|k| format!("a{k}")).collect();
    let mut text = String::from("id,x,y\n");
    for (at, id) in ids.iter().enumerate() {
        writeln!(text, "{id},{}.0,{}", at % 7, ["p", "q"][at % 2]).unwrap();
    }
    w.write("t.csv", text);
    let x: ArrayRef = Arc::new(Float64Array::from_iter_values((0..20).map(|k| f64::from(k % 7))));
    let ids: ArrayRef = Arc::new(StringArray::from(ids));
    w.write("t.parquet", crate::lists::parquet(&[("id", ids), ("x", x)]));
    w.efface("train t.csv --label y --id id -o m.efface").done();
    let predicted = w.efface("predict m.efface t.csv").done().stdout;
    assert!(predicted.contains("\n0,a0,"), "{predicted}");
    assert_eq!(w.efface("predict m.efface t.parquet").done().stdout, predicted);
    assert_eq!(w.efface("predict m.efface t.parquet --id id").done().stdout, predicted);
}

/// Images as arrays are those of IDX files, and colors come behind as NumPy has them.
/// A row index of pandas is left out of Parquet files as of CSV files, unless it names the records.
#[cfg(feature = "parquet")]
#[test]
fn a_row_index_of_pandas_is_no_feature() {
    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use std::sync::Arc;
    let w = Workshop::new();
    let x: ArrayRef = Arc::new(Float64Array::from_iter_values((0..20).map(|k| f64::from(k % 7))));
    let y: ArrayRef = Arc::new(StringArray::from_iter_values((0..20).map(|k| ["p", "q"][k % 2])));
    let index: ArrayRef = Arc::new(Int64Array::from_iter_values(100..120));
    let columns = [("x", x), ("y", y), ("__index_level_0__", index)];
    w.write("t.parquet", crate::lists::parquet(&columns));
    let trained = w.efface("train t.parquet --label y -o m.efface").done();
    for told in ["the row index, a column without a name, is left out", "`--id __index_level_0__`"]
    {
        assert!(trained.stdout.contains(told), "{trained:#?}");
    }
    let status = w.efface("status m.efface").done().stdout;
    assert!(!status.contains("__index_level_0__"), "{status}");
    w.efface("predict m.efface t.parquet").done();
    w.efface("add m.efface t.parquet").done();
    w.efface("train t.parquet --label y --id __index_level_0__ -o n.efface").done();
    w.efface("delete n.efface --record 107").done();
}

/// Classes that are truth values have one name, however a file spells or types them.
#[cfg(feature = "parquet")]
#[test]
fn truth_values_are_the_same_classes_in_every_format() {
    use arrow_array::{ArrayRef, BooleanArray, Float64Array};
    use std::sync::Arc;
    let w = Workshop::new();
    let rows = |from: usize, words: [&str; 2]| -> String {
        (from..from + 20).map(|row| format!("{row},{}\n", words[row % 2])).collect()
    };
    w.write("t.csv", format!("x,ok\n{}", rows(0, ["True", "False"])));
    w.write("u.csv", format!("x,ok\n{}", rows(20, ["TRUE", "false"])));
    let x: ArrayRef = Arc::new(Float64Array::from_iter_values((40..60).map(f64::from)));
    let ok: ArrayRef = Arc::new((40..60).map(|row| Some(row % 2 == 0)).collect::<BooleanArray>());
    w.write("v.parquet", crate::lists::parquet(&[("x", x), ("ok", ok)]));
    w.efface("train t.csv --label ok -o m.efface").done();
    w.efface("add m.efface u.csv").done();
    w.efface("add m.efface v.parquet").done();
    let header = w.efface("predict m.efface t.csv").done().stdout;
    assert!(header.contains(",p(False),p(True)\n"), "{header}");
    w.efface("evaluate m.efface v.parquet").done();
}

#[test]
fn images_in_numpy_arrays() {
    let w = Workshop::new();
    let mut draws = Draws::new(8);
    let labels: Vec<u8> = (0..60).map(|at| at % 2).collect();
    let images: Vec<u8> = labels
        .iter()
        .flat_map(|label| [0; 16].map(|_: u8| draws.below(60) as u8 + label * 150))
        .collect();
    w.write("y.npy", npy("|u1", "(60,)", &labels));
    w.write("gray.npy", npy("|u1", "(60, 4, 4)", &images));
    w.write("gray.idx", [&[0, 0, 8, 3, 0, 0, 0, 60, 0, 0, 0, 4, 0, 0, 0, 4][..], &images].concat());
    let shards = "--labels y.npy --mechanism shards --shards 2 --epochs 4 --network conv:2x2";
    for file in ["gray.npy", "gray.idx"] {
        w.efface(&format!("train {file} {shards} -o {file}.efface")).done();
        w.efface(&format!("export {file}.efface --to json -o {file}.json")).done();
    }
    let weights = ["gray.npy", "gray.idx"].map(|file| {
        let text = std::fs::read_to_string(w.path(&format!("{file}.json"))).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["coef"].clone()
    });
    assert!(weights[0].is_array() && weights[0] == weights[1]);

    let colors: Vec<u8> = images.iter().flat_map(|&gray| [gray, 0, 255 - gray]).collect();
    w.write("color.npy", npy("|u1", "(60, 4, 4, 3)", &colors));
    life(&w, &format!("color.npy {shards} --capacity 200"), "row:4", "color.npy", 60);
    let told = w.efface("evaluate m.efface color.npy --labels y.npy --json").done().json();
    assert!(told["accuracy"].as_f64().unwrap() > 0.9, "{told:#}");
    w.efface("add m.efface color.npy --labels y.npy").done();
    w.write("wide.npy", npy("|u1", "(60, 2, 8, 3)", &colors));
    w.write("small.npy", npy("|u1", "(60, 4, 2, 3)", &colors[..60 * 24]));
    let other = ["wide.npy: the images are 3x2x8, and those that the model was trained on 3x4x4"];
    for line in
        ["predict m.efface", "evaluate m.efface --labels y.npy", "add m.efface --labels y.npy"]
    {
        w.efface(&format!("{line} wide.npy")).fails(2, &other);
        w.efface(&format!("{line} small.npy")).fails(2, &["small.npy", "24", "48"]);
    }
    w.efface(&format!("train wide.npy {shards},image=3x4x4 -o o.efface"))
        .fails(2, &["`image` among the layers is 3x4x4, and the images of the table are 3x2x8"]);
}

#[test]
fn sparse_rows_in_libsvm() {
    let w = Workshop::new();
    let mut draws = Draws::new(6);
    let mut text = String::new();
    for _ in 0..80 {
        let first = 1 + draws.below(40);
        let second = first + 1 + draws.below(40);
        let label = if first > 20 { "+1" } else { "-1" };
        writeln!(text, "{label} {first}:{:.3} {second}:0.5", draws.unit()).unwrap();
    }
    w.write("rows.libsvm", &text);
    life(&w, "rows.libsvm --width 90 --preprocess declared", "row:3", "rows.libsvm", 80);
    let parameters = w.efface("status m.efface --json").done().json()["parameters"].clone();
    assert_eq!(parameters, 91);
    w.efface("add m.efface rows.libsvm").fails(1, &["`capacity` is 100"]);
}

/// The same rows counted from 0 and from 1 make the same model.
#[test]
fn sparse_rows_counted_from_zero() {
    let w = Workshop::new();
    let (mut zero, mut one) = (String::new(), String::new());
    for row in 0..60 {
        let (label, at) = (row % 2, row % 7);
        writeln!(zero, "{label} {at}:0.5 8:0.1").unwrap();
        writeln!(one, "{label} {}:0.5 9:0.1", at + 1).unwrap();
    }
    w.write("zero.svm", &zero);
    w.write("one.svm", &one);
    let train = "--width 9 --seed 1";
    w.efface(&format!("train zero.svm {train} -o m.efface"))
        .fails(2, &["index 0", "`--zero-based`"]);
    w.efface(&format!("train zero.svm --zero-based {train} -o m.efface")).done();
    w.efface(&format!("train one.svm {train} -o n.efface")).done();
    let same = w.efface("predict m.efface zero.svm --zero-based").done().stdout;
    assert_eq!(w.efface("predict n.efface one.svm").done().stdout, same);
    assert_eq!(w.efface("predict m.efface one.svm --zero-based=false").done().stdout, same);
    w.efface("predict m.efface zero.svm").fails(2, &["`--zero-based`, or `--zero-based=false`"]);
}

/// Columns that are hardly meant as they look are named for a decision.
#[test]
fn drafts_ask_for_decisions() {
    let w = Workshop::new();
    let mut text = String::from("when;price;y\n");
    for row in 0..60 {
        writeln!(text, "2024-02-{:02};{row},5;{}", row % 28 + 1, row % 2).unwrap();
    }
    text =
        text.replace("price;y", "price;size;y").replace(";0\n", ";1;0\n").replace(";1\n", ";2;1\n");
    w.write("t.csv", &text);
    let said = w.efface("schema t.csv --label y -o schema.toml").done().stdout;
    assert!(said.contains("look for `decide:` in it"), "{said}");
    assert!(said.contains("`price`, `when`"), "{said}");
    let drafted = String::from_utf8(w.read("schema.toml")).unwrap();
    assert!(drafted.contains("# decide: dates such as `2024-02-01`"), "{drafted}");
    let json = w.efface("schema t.csv --label y --json").done().json();
    assert_eq!(json["undecided"], serde_json::json!(["price", "when"]));
}

/// For words and missing values, declared preprocessing needs a schema, which `efface schema` drafts for a human to confirm.
#[test]
fn words_and_missing_values_by_schema() {
    let w = Workshop::new();
    let mut draws = Draws::new(8);
    let mut text = String::from("name,age,job,town,y\n");
    for row in 0..90 {
        let job = ["cook", "clerk", "\"pilot, retired\""][draws.below(3) as usize];
        let age = if row % 9 == 0 { "?".to_owned() } else { (18 + draws.below(60)).to_string() };
        let y = ["no", "yes"][usize::from(draws.below(60) > 30 || job == "cook")];
        writeln!(text, "p{row},{age},{job},t{},{y}", draws.below(5)).unwrap();
    }
    w.write("people.csv", &text);
    let roles = "people.csv --label y --id name";
    w.efface(&format!("train {roles} --preprocess declared -o m.efface"))
        .fails(2, &["efface schema people.csv"]);
    w.efface(&format!("schema {roles} -o schema.toml")).done();
    let drafted = String::from_utf8(w.read("schema.toml")).unwrap();
    for word in ["age", "job", "pilot, retired", "town", "data"] {
        assert!(drafted.contains(word), "{drafted}");
    }
    life(&w, &format!("{roles} --schema schema.toml"), "p4", "people.csv", 90);
    let page = w.efface("certificate show m.efface").done().stdout;
    assert!(page.contains("taken from the data"), "what the draft took is assumed: {page}");

    w.write("strange.csv", "name,age,job,town,y\nq1,30,astronaut,t0,yes\n");
    let before = w.read("m.efface");
    let ran = w.efface("add m.efface strange.csv");
    assert!(matches!(ran.code, Some(0 | 2)), "{ran:#?}");
    if ran.code == Some(2) {
        assert!(ran.stderr.contains("astronaut"), "{ran:#?}");
        assert!(w.read("m.efface") == before, "the vault was changed");
    }
}
