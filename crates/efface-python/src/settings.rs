//! The engine's table of settings, in Python's words.

use efface::{Fallback, Form, Group, Interval, Row, SETTINGS, Words, in_words};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// A setting is a parameter.
pub(crate) const PARAMETERS: Words = Words { setting: parameter, command };

/// Returns the parameter name of a setting.
fn name_of(flag: &str) -> String {
    match flag {
        "lambda" => "lambda_".to_owned(),
        "seed" => "random_state".to_owned(),
        "id" | "record" => "ids".to_owned(),
        "subject" => "subjects".to_owned(),
        "weight" => "sample_weight".to_owned(),
        "erase-only" => "release=False".to_owned(),
        "drop-unlabelled" => "X[y.notna()], y.dropna()".to_owned(),
        flag => flag.replace('-', "_"),
    }
}

/// Settings that are parameters of estimators; all others belong to options.
const PARAMETERS_OF_ESTIMATORS: [&str; 10] = [
    "class_weight",
    "clip",
    "delta",
    "epsilon",
    "lambda",
    "loss",
    "mechanism",
    "missing",
    "preprocess",
    "seed",
];

/// Returns the parameter whose options a setting belongs to, and the names of these options; `None` for a
/// setting that is a parameter itself.
fn options(row: &Row) -> Option<(&'static str, &'static [&'static str])> {
    if row.internal || PARAMETERS_OF_ESTIMATORS.contains(&row.name) {
        return None;
    }
    match (row.name, row.only) {
        ("row_norm" | "row_map" | "intercept", _) => Some(("preprocess", &["fitted", "declared"])),
        ("features" | "target_range", _) => Some(("preprocess", &["declared"])),
        ("capacity" | "max_weight" | "minimum" | "normalizer" | "public_n", _) => {
            Some(("promise", &["promise"]))
        }
        (_, Some(("mechanism", _))) => row.only,
        _ if row.group == Group::Promise => Some(("promise", &["promise"])),
        _ => row.only,
    }
}

/// Returns the class of the options that a setting belongs to, as texts name it; `None` if several mechanisms
/// have the setting.
fn class_of(flag: &str) -> Option<String> {
    let row = SETTINGS.iter().find(|row| row.flag == flag)?;
    match options(row)? {
        ("mechanism", _) => None,
        (_, names) => names.last().map(|name| name.split('-').map(capitalised).collect()),
    }
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// Returns what a text says instead of a setting: a parameter, or the options that have it.
fn parameter(flag: &str, value: Option<&str>) -> String {
    let named = alone(flag, value);
    match class_of(flag) {
        None => named,
        Some(class) if named.contains('=') => format!("{class}({named})"),
        Some(class) => format!("{class}({named}=...)"),
    }
}

fn alone(flag: &str, value: Option<&str>) -> String {
    let name = name_of(flag);
    match value {
        Some(names) if ["ignore", "missing"].contains(&flag) => {
            let names: Vec<String> = names.split(',').map(|name| format!("\"{name}\"")).collect();
            let listed = names.join(", ");
            match flag {
                "missing" => format!("missing=[{listed}]"),
                _ => format!("X.drop(columns=[{listed}])"),
            }
        }
        // The name of a column, however it is written.
        Some(column) if ["id", "subject", "weight"].contains(&flag) => {
            format!("{name}=\"{column}\"")
        }
        None => name,
        // What stands for any value, such as FILE.
        Some(value) if value.chars().any(|c| c.is_ascii_uppercase()) => name,
        Some(value) if value.starts_with(|c: char| c.is_ascii_digit()) => format!("{name}={value}"),
        Some(value) => format!("{name}=\"{value}\""),
    }
}

/// Replaces a command by its method, if there is one.
fn command(line: &str) -> String {
    match line {
        "add" | "doctor" | "refresh" | "status" | "update" => format!("{line}()"),
        "delete --erase-only" => "release=False".to_owned(),
        line => format!("efface {line}"),
    }
}

/// Every setting as JSON, in the order of help pages: its `name` and that of its `parameter`, its
/// `form`, `names`, range (`low`, `with_low`, `high`, `with_high`), `unit`, `default`,
/// `default_text`, `owner` and `owners`, `holder` (the parameter whose options have it) and `options`
/// (their names), `sentence`, `paragraph`, and whether it is `internal`.
#[pyfunction]
pub(crate) fn settings() -> String {
    Value::from_iter(SETTINGS.iter().map(setting)).to_string()
}

fn setting(row: &Row) -> Value {
    let (form, range) = form(row.form);
    let finite = |x: f64| x.is_finite().then_some(x);
    let default = match row.default {
        Fallback::Name(name) => json!(name),
        Fallback::Number(number) => json!(number),
        Fallback::Count(count) => json!(count),
        Fallback::Nothing | Fallback::Follows(_) | Fallback::Data(_) => Value::Null,
    };
    json!({
        "name": row.name,
        "parameter": name_of(row.flag),
        "form": form,
        "names": row.names(),
        "low": range.map(|range| range.low),
        "with_low": range.is_some_and(|range| range.with_low),
        "high": range.and_then(|range| finite(range.high)),
        "with_high": range.is_some_and(|range| range.with_high),
        "unit": row.unit,
        "default": default,
        "default_text": row.default.text(),
        "owner": row.only.map(|(setting, _)| setting),
        "owners": row.only.map_or(&[][..], |(_, values)| values),
        "holder": options(row).map(|(holder, _)| holder),
        "options": options(row).map_or(&[][..], |(_, names)| names),
        "sentence": in_words(&row.sentence(), &PARAMETERS),
        "paragraph": in_words(&row.paragraph(), &PARAMETERS),
        "internal": row.internal,
    })
}

/// The largest count that is worth stating in a range.
const MOST: u64 = 1 << 52;

/// Returns the name of a form, and its range; counts are numbers here.
fn form(form: Form) -> (&'static str, Option<Interval>) {
    match form {
        Form::Name(_) => ("name", None),
        Form::Number(interval) => ("number", Some(interval)),
        Form::Count(least, most) => {
            let high = if most < MOST { most as f64 } else { f64::INFINITY };
            let with_high = most < MOST;
            ("count", Some(Interval { low: least as f64, with_low: true, high, with_high }))
        }
        Form::Pair => ("pair", None),
        Form::Flag => ("flag", None),
        Form::File => ("file", None),
        Form::Figures => ("figures", None),
        Form::Lines => ("lines", None),
        Form::Text => ("text", None),
    }
}
