//! Exports hold what it takes to predict as `efface predict` does, in every format.

use std::collections::HashMap;

use serde_json::Value;

use crate::table::{Draws, Label, table};
use crate::workshop::Workshop;

/// What a reader needs, from whichever format.
#[derive(Debug, PartialEq)]
struct Model {
    coef: Vec<f64>,
    intercept: Vec<f64>,
    classes: Vec<String>,
    target_range: Vec<f64>,
    feature_names: Vec<String>,
    row_norm: f64,
    row_map: String,
    loss: String,
    schema: String,
}

fn texts(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn from_json(bytes: &[u8]) -> Model {
    let v: Value = serde_json::from_slice(bytes).unwrap();
    let text = |name: &str| v[name].as_str().unwrap().to_owned();
    assert_eq!(v["format"], "efface.model/1");
    Model {
        coef: v["coef"].as_array().unwrap().iter().flat_map(numbers).collect(),
        intercept: numbers(&v["intercept"]),
        classes: texts(&v["classes"]),
        target_range: numbers(&v["target_range"]),
        feature_names: texts(&v["names"]),
        row_norm: v["row_norm"].as_f64().unwrap(),
        row_map: text("row_map"),
        loss: text("loss"),
        schema: text("schema"),
    }
}

fn from_safetensors(bytes: &[u8]) -> Model {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let tensor = |name: &str| -> Vec<f64> {
        assert_eq!(header[name]["dtype"], "F64");
        let at = numbers(&header[name]["data_offsets"]);
        let data = &bytes[8 + length..][at[0] as usize..at[1] as usize];
        data.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
    };
    let about = &header["__metadata__"];
    let text = |name: &str| about[name].as_str().unwrap_or("null").to_owned();
    let parsed = |name: &str| serde_json::from_str::<Value>(&text(name)).unwrap();
    Model {
        coef: tensor("coef"),
        intercept: tensor("intercept"),
        classes: texts(&parsed("classes")),
        target_range: numbers(&parsed("target_range")),
        feature_names: texts(&parsed("feature_names")),
        row_norm: parsed("row_norm").as_f64().unwrap(),
        row_map: text("row_map"),
        loss: text("loss"),
        schema: text("schema"),
    }
}

/// An archive, each member an NPY array of float64 or of UTF-32 texts.
fn from_npz(bytes: &[u8]) -> Model {
    let mut arrays: HashMap<String, (Vec<f64>, Vec<String>)> = HashMap::new();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let files: Vec<String> = archive.file_names().map(|name| name.unwrap().to_string()).collect();
    for file in files {
        let name = file.strip_suffix(".npy").unwrap().to_owned();
        let mut raw = Vec::new();
        std::io::copy(&mut archive.by_name(&file).unwrap(), &mut raw).unwrap();
        let (start, header) = match raw[6] {
            1 => (10, u16::from_le_bytes(raw[8..10].try_into().unwrap()) as usize),
            _ => (12, u32::from_le_bytes(raw[8..12].try_into().unwrap()) as usize),
        };
        let data = &raw[start + header..];
        assert_eq!((start + header) % 64, 0, "{name}: NumPy aligns the data");
        let header = String::from_utf8(raw[start..start + header].to_vec()).unwrap();
        let kind = header.split("'descr': '").nth(1).unwrap().split('\'').next().unwrap();
        let found = match kind.strip_prefix("<U") {
            None => {
                assert_eq!(kind, "<f8", "{name}");
                let words = data.as_chunks::<8>().0.iter();
                (words.map(|word| f64::from_le_bytes(*word)).collect(), Vec::new())
            }
            Some(width) => {
                let width: usize = width.parse().unwrap();
                let points: Vec<char> = (data.as_chunks::<4>().0.iter())
                    .map(|word| char::from_u32(u32::from_le_bytes(*word)).unwrap())
                    .collect();
                let text = |chunk: &[char]| chunk.iter().filter(|c| **c != '\0').collect();
                (Vec::new(), points.chunks(width).map(text).collect())
            }
        };
        arrays.insert(name, found);
    }
    let mut of = |name: &str| arrays.remove(name).unwrap_or_default();
    let mut one = |name: &str| of(name).1.pop().unwrap();
    let (row_map, loss, schema) = (one("row_map"), one("loss"), one("schema"));
    Model {
        coef: of("coef").0,
        intercept: of("intercept").0,
        classes: of("classes").1,
        target_range: of("target_range").0,
        feature_names: of("feature_names").1,
        row_norm: of("row_norm").0[0],
        row_map,
        loss,
        schema,
    }
}

impl Model {
    /// As the guide says: shorten the row, multiply, add, choose.
    fn predict(&self, row: &[f64]) -> (String, Vec<f64>) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scaled = match self.row_map.as_str() {
            "unit" if length > 0.0 => self.row_norm / length,
            "clip" if length > self.row_norm => self.row_norm / length,
            _ => 1.0,
        };
        let outputs: Vec<f64> = (self.coef.chunks(row.len()).zip(&self.intercept))
            .map(|(w, b)| b + w.iter().zip(row).map(|(w, x)| w * x * scaled).sum::<f64>())
            .collect();
        match self.loss.as_str() {
            "squared" => {
                let (low, high) = (self.target_range[0], self.target_range[1]);
                ((low + (outputs[0] + 1.0) / 2.0 * (high - low)).to_string(), Vec::new())
            }
            "softmax" => {
                let all: f64 = outputs.iter().map(|o| o.exp()).sum();
                let p: Vec<f64> = outputs.iter().map(|o| o.exp() / all).collect();
                let best = (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
                (self.classes[best].clone(), p)
            }
            _ => {
                let p = 1.0 / (1.0 + (-outputs[0]).exp());
                (self.classes[usize::from(outputs[0] > 0.0)].clone(), vec![1.0 - p, p])
            }
        }
    }
}

fn compare(label: Label, settings: &str) {
    let w = Workshop::new();
    w.write("data.csv", table(label, 0, 80));
    let line = format!("train data.csv --label y --id id --subject user {settings} -o m.efface");
    w.efface(&line).done();
    let mut draws = Draws::new(3);
    let rows: Vec<Vec<f64>> =
        (0..20).map(|_| (0..4).map(|_| f64::from((draws.unit() * 3.0) as f32)).collect()).collect();
    let text: String = rows
        .iter()
        .enumerate()
        .map(|(k, r)| format!("s{k},u,{},{},{},{}\n", r[0], r[1], r[2], r[3]))
        .collect();
    w.write("strangers.csv", format!("id,user,x1,x2,x3,x4\n{text}"));
    let said = w.efface("predict m.efface strangers.csv --json").done().stdout;
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let models: Vec<Model> = [
        ("json", from_json as fn(&[u8]) -> Model),
        ("npz", from_npz),
        ("safetensors", from_safetensors),
    ]
    .map(|(format, read)| {
        w.efface(&format!("export m.efface --to {format} -o w.{format}")).done();
        read(&w.read(&format!("w.{format}")))
    })
    .into();
    assert_eq!(models[0].feature_names, ["x1", "x2", "x3", "x4"]);
    assert!(models[0].schema.contains("x1"), "{}", models[0].schema);
    assert_eq!((&models[1], &models[2]), (&models[0], &models[0]));
    for (row, said) in rows.iter().zip(&said) {
        let (answer, probabilities) = models[0].predict(row);
        let prediction = said["prediction"].as_str().unwrap();
        match (answer.parse::<f64>(), prediction.parse::<f64>()) {
            (Ok(a), Ok(b)) => assert!((a - b).abs() < 1e-5, "{a} {b}"),
            _ => assert_eq!(answer, prediction),
        }
        for (class, p) in models[0].classes.iter().zip(probabilities) {
            let q = said["probabilities"][class].as_f64().unwrap();
            assert!((p - q).abs() < 1e-6, "{class}: {p} {q}");
        }
    }
}

#[test]
fn two_classes_by_a_clipped_row() {
    compare(Label::Two, "--preprocess declared");
}

#[test]
fn three_classes_by_rows_of_one_length() {
    compare(Label::Three, "--loss softmax --row-map unit --row-norm 2");
}

#[test]
fn a_number_without_an_intercept() {
    compare(Label::Number, "--loss squared --target-range -20,20 --no-intercept");
}

#[test]
fn predictions_name_their_columns_by_class() {
    let w = Workshop::new();
    let text = table(Label::Two, 0, 60);
    let named: Vec<String> = text
        .lines()
        .map(|line| match line.rsplit_once(',') {
            Some((rest, "0")) => format!("{rest},\"no, never\""),
            Some((rest, "1")) => format!("{rest},yes"),
            _ => line.to_owned(),
        })
        .collect();
    w.write("data.csv", named.join("\n"));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let said = w.efface("predict m.efface data.csv").done().stdout;
    assert_eq!(said.lines().next().unwrap(), "position,id,prediction,\"p(no, never)\",p(yes)");
}
