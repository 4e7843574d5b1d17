//! Schemas: what is accepted, one test per contradiction, round trips, drafts.

use efface_formats::{
    Body, Column, CsvShape, Format, Header, Kind, Onto, Origin, Other, ReadOptions, Scaling,
    Schema, Storage, draft_from,
};
use proptest::prelude::*;

use super::collect::{collect, plain, refused, unlabelled};

const FULL: &str = r#"
version = 1
storage = "sparse"

[csv]
header = "present"
delimiter = ";"
comment = "|"

[[column]]
name = "age"
kind = "numeric"
range = [0, 120]
missing = ["", "?"]
fill = 0.5

[[column]]
name = "hours"
kind = "numeric"
divide = 24.0
origin = "data"

[[column]]
name = "raw"
kind = "numeric"

[[column]]
name = "part"
kind = "numeric"
range = [0.0, 2.0]
onto = "unit"

[[column]]
name = "work"
kind = "categorical"
categories = ["private", "say \"x\"\u0007\n"]
other = "zero"

[[column]]
name = "city"
kind = "hashed"
width = 8

[[column]]
name = "y"
kind = "label"

[[column]]
name = "key"
kind = "id"

[[column]]
name = "who"
kind = "subject"

[[column]]
name = "note"
kind = "ignored"
"#;

#[test]
fn every_key_round_trips() {
    let schema = Schema::from_toml(FULL).unwrap();
    assert_eq!(Schema::from_toml(&schema.canonical()).unwrap(), schema);
    assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
    assert_eq!(schema.columns().len(), 10);
    assert_eq!(schema.width(), 2 + 1 + 1 + 1 + 2 + 8);
    assert_eq!(schema.storage(), Storage::Sparse);
    assert_eq!(schema.csv().comment, Some('|'));
    let origins = schema.origins();
    assert!(origins.contains(&("hours.divide".to_owned(), Origin::Data)));
    assert!(origins.contains(&("age.missing".to_owned(), Origin::User)));
    assert!(origins.iter().all(|(name, _)| !name.starts_with("who")));
}

#[test]
fn matrix_round_trips() {
    let text = "version = 1\n[matrix]\nwidth = 3\norigin = \"data\"\nfirst = 1\ndivide = 255.0\n";
    let schema = Schema::from_toml(text).unwrap();
    assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
    assert_eq!(schema.feature_names().name(2).unwrap(), "x3");
    assert!(schema.to_toml().contains("# the largest index in the data"));
    assert!(!schema.canonical().contains('#'));
}

fn refuse(text: &str) -> String {
    Schema::from_toml(text).unwrap_err().to_string()
}

fn column(lines: &str) -> String {
    format!("version = 1\n[[column]]\nname = \"a\"\n{lines}\n")
}

#[test]
fn syntax() {
    let message = refuse("version = 1\n[[column\n");
    assert!(message.starts_with("schema: line 2: "), "{message}");
    let message = refuse(&column("kind = \"numeric\"\ncolour = 1"));
    assert!(message.contains("line 5: unknown field `colour`"), "{message}");
    let message = refuse(&column("kind = \"odd\""));
    assert!(message.contains("unknown variant `odd`"), "{message}");
    let message = refuse("version = 1\n[csv]\ndelimiter = \"ab\"\n");
    assert!(message.starts_with("schema: line 3: "), "{message}");
    let message = refuse(&"x".repeat((1 << 24) + 1));
    assert_eq!(message, "schema: the text must have at most 16777216 bytes, got 16777217");
}

#[test]
fn version_and_body() {
    assert_eq!(refuse("version = 2"), "schema: `version` must be 1, got 2");
    let neither = "schema: give either `column` tables or one `matrix` table";
    assert_eq!(refuse("version = 1"), neither);
    let both = format!("{}[matrix]\nwidth = 2\n", column("kind = \"numeric\""));
    assert_eq!(refuse(&both), neither);
}

#[test]
fn contradictions() {
    for (text, message) in [
        ("kind = \"label\"", "schema: no column is numeric, categorical or hashed"),
        ("kind = \"categorical\"", "schema: column `a`: a categorical column needs `categories`"),
        ("kind = \"hashed\"", "schema: column `a`: a hashed column needs `width`"),
        (
            "kind = \"numeric\"\nwidth = 3",
            "schema: column `a`: `width` does not apply to a numeric column",
        ),
        (
            "kind = \"numeric\"\nonto = \"unit\"",
            "schema: column `a`: `onto` does not apply to a numeric column",
        ),
        (
            "kind = \"numeric\"\nfill = 1",
            "schema: column `a`: `fill` does not apply to a numeric column",
        ),
        (
            "kind = \"label\"\nmissing = [\"?\"]",
            "schema: column `a`: `missing` does not apply to a label column",
        ),
        (
            "kind = \"numeric\"\nrange = [0, 1]\ndivide = 2",
            "schema: column `a`: `divide` does not apply to a numeric (`range`) column",
        ),
        (
            "kind = \"numeric\"\nrange = [1, 1]",
            "schema: column `a`: `range` must be finite with low < high and a finite difference, \
             got [1, 1]",
        ),
        (
            "kind = \"numeric\"\nrange = [nan, 1]",
            "schema: column `a`: `range` must be finite with low < high and a finite difference, \
             got [NaN, 1]",
        ),
        (
            "kind = \"numeric\"\ndivide = 0",
            "schema: column `a`: `divide` must be finite and above 0, got 0",
        ),
        ("kind = \"hashed\"\nwidth = 0", "schema: column `a`: `width` must be at least 1, got 0"),
        (
            "kind = \"categorical\"\ncategories = []",
            "schema: column `a`: `categories` must be a list of at least one, got none",
        ),
        (
            "kind = \"categorical\"\ncategories = [\"u\", \" u\"]",
            "schema: column `a`: ` u` is listed twice",
        ),
        (
            "kind = \"categorical\"\ncategories = [\"NA\"]\nmissing = [\"na\"]",
            "schema: column `a`: `NA` is listed twice",
        ),
        (
            "kind = \"numeric\"\nmissing = [\"na\", \"NA\"]",
            "schema: column `a`: `NA` is listed twice",
        ),
        (
            "kind = \"numeric\"\nmissing = [\"\"]\nfill = 1e39",
            "schema: column `a`: `fill` must be a finite single-precision number, got \
             1000000000000000000000000000000000000000",
        ),
    ] {
        assert_eq!(refuse(&column(text)), message);
    }
}

#[test]
fn names_and_roles() {
    let two = |first: &str, second: &str| {
        let of =
            |name: &str, kind: &str| format!("[[column]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
        format!("version = 1\n{}{}", of("a", first), of(second, first))
    };
    assert_eq!(refuse(&two("numeric", "a")), "schema: column `a` is declared twice");
    assert_eq!(refuse(&two("numeric", " ")), "schema: a column has an empty name");
    assert_eq!(refuse(&two("id", "b")), "schema: only one column can be the id, got `a` and `b`");
    let wide = "[[column]]\nname = \"b\"\nkind = \"hashed\"\nwidth = 4294967295\n";
    assert_eq!(
        refuse(&format!("{}{wide}", column("kind = \"numeric\""))),
        "schema: the columns encode to more than 4294967295 features"
    );
}

#[test]
fn csv_signs() {
    let with = |csv: &str| refuse(&format!("{}[csv]\n{csv}\n", column("kind = \"numeric\"")));
    assert!(with("delimiter = \"a\"").contains("`delimiter` must be one ASCII character"));
    assert!(with("comment = \"\\n\"").contains("`comment` must be one ASCII character"));
    assert_eq!(
        with("comment = \";\"\ndelimiter = \";\""),
        "schema: `csv`: `comment` must be a character other than `delimiter`, got ';'"
    );
}

#[test]
fn matrix_values() {
    let with = |lines: &str| refuse(&format!("version = 1\n[matrix]\n{lines}\n"));
    assert_eq!(with("width = 0"), "schema: `matrix`: `width` must be at least 1, got 0");
    assert_eq!(
        with("width = 1\ndivide = -1"),
        "schema: `matrix`: `divide` must be finite and above 0, got -1"
    );
}

#[test]
fn draft_says_what_it_took_from_data() {
    let table =
        "age,work,empty,who,y\n17,private,,ann,no\n90.5,state,,bob,yes\n?,private,NA,x,no\n";
    let options = ReadOptions { subject: Some("who".into()), ..plain() };
    let draft = draft_from("t.csv", table.as_bytes(), None, &options).unwrap();
    let expected = r#"# Values with origin = "data" were taken from the rows. Put what is known without
# looking at them in their place, then write origin = "user"; what stays "data" is
# listed in every certificate as not covered. docs/schema.md explains every key.

version = 1
storage = "dense"

[csv]
header = "present"  # does the first line name the columns?
delimiter = ","
origin = "data"

[[column]]
name = "age"
kind = "numeric"
range = [17.0, 90.5]  # smallest and largest value in the data; what range is possible?
onto = "symmetric"
missing = ["?"]  # found in the data; what else marks a missing value?
origin = "data"

[[column]]
name = "work"
kind = "categorical"
categories = ["private", "state"]  # found in the data; which others are possible?
other = "refuse"
origin = "data"

# decide: the column has no values; it is left out
[[column]]
name = "empty"
kind = "ignored"
origin = "data"

[[column]]
name = "who"
kind = "subject"
origin = "user"

[[column]]
name = "y"
kind = "label"
origin = "user"
"#;
    assert_eq!(draft.to_toml(), expected);
    assert_eq!(draft.undecided().collect::<Vec<_>>(), ["empty"]);
    let options = ReadOptions { schema: Some(draft.schema), ..options };
    let (read, _) = collect(Format::Csv, table.as_bytes(), &options).unwrap();
    assert_eq!(read.names, ["age", "age=missing", "work=private", "work=state"]);
    assert_eq!(read.rows, [[-1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]);
}

#[test]
fn drafts_guess_the_header() {
    let header = |text: &str| {
        let draft = draft_from("t.csv", text.as_bytes(), None, &unlabelled()).unwrap();
        draft.schema.csv().header.unwrap()
    };
    assert_eq!(header("a,b\n1,2\n"), Header::Present);
    assert_eq!(header("0,1,2\n5,5,5\n"), Header::Present);
    assert_eq!(header("1,2,3\n5,5,5\n"), Header::Present);
    assert_eq!(header("39, State-gov\n50, Private\n"), Header::Absent);
    assert_eq!(header("0.5,7\n1.5,3\n"), Header::Absent);
}

#[test]
fn drafts_hash_many_words() {
    let rows: String = (0..200).map(|at| format!("w{},{at}\n", at % 100)).collect();
    let table = format!("word,y\n{rows}");
    let draft = draft_from("t.csv", table.as_bytes(), None, &plain()).unwrap();
    assert_eq!(draft.schema.columns()[0].kind, Kind::Hashed { width: 256 });
    assert!(draft.to_toml().contains("# too many distinct values for a list"));
}

#[test]
fn drafts_of_arrays_are_matrices() {
    let text = b"1 1:1 9:1\n";
    let options = ReadOptions { width: Some(9), ..unlabelled() };
    let schema = draft_from("t", text.as_slice(), None, &options).unwrap().schema;
    let Body::Matrix(matrix) = schema.body() else { panic!("no matrix") };
    assert_eq!((matrix.width, matrix.origin, matrix.first), (9, Origin::User, 1));
    let absent = ReadOptions { id: Some("key".into()), ..plain() };
    let message = draft_from("t.csv", b"a,y\n".as_slice(), None, &absent).unwrap_err().to_string();
    assert_eq!(
        message,
        "t.csv: column `key` (named with `§id`) is missing; the columns are `a`, `y`"
    );
}

#[test]
fn schema_and_options_must_agree() {
    let schema = Schema::from_toml(&column("kind = \"numeric\"")).unwrap();
    let options = ReadOptions { schema: Some(schema), ..plain() };
    let (read, summary) = collect(Format::Csv, b"y,a\nn,1\n", &options).unwrap();
    assert_eq!(read.rows, [[1.0]]);
    assert_eq!(summary.schema.columns()[1].kind, Kind::Label);
    assert_eq!(
        refused(Format::Csv, b"y,a,b\nn,1,2\n", &options),
        "data.csv: column `b` is not in the schema; declare it, at least as `ignored`"
    );
    let wrong = ReadOptions { label: Some("a".into()), ..options.clone() };
    assert_eq!(
        refused(Format::Csv, b"y,a\nn,1\n", &wrong),
        "data.csv: column `a` is numeric in the schema, but label in the options"
    );
    assert_eq!(
        refused(Format::Csv, b"y,b\nn,1\n", &options),
        "data.csv: column `b` is not in the schema; declare it, at least as `ignored`"
    );
    assert_eq!(
        refused(Format::Csv, b"y\nn\n", &options),
        "data.csv: column `a` (numeric in the schema) is missing; the columns are `y`"
    );
    let matrix = Schema::from_toml("version = 1\n[matrix]\nwidth = 1\n").unwrap();
    let options = ReadOptions { schema: Some(matrix), ..options };
    assert_eq!(
        refused(Format::Csv, b"y,a\nn,1\n", &options),
        "data.csv: the schema describes an array without names, but the file has named columns"
    );
}

fn word() -> impl Strategy<Value = String> {
    "[ -~\u{e9}\t]{0,5}z"
}

fn kinds() -> impl Strategy<Value = Kind> {
    let number = -1e9_f64..1e9;
    prop_oneof![
        Just(Kind::Numeric(Scaling::AsIs)),
        (1e-9_f64..1e9).prop_map(|divisor| Kind::Numeric(Scaling::Divide(divisor))),
        (number, 1e-3_f64..1e3, any::<bool>()).prop_map(|(low, more, unit)| {
            let onto = if unit { Onto::Unit } else { Onto::Symmetric };
            Kind::Numeric(Scaling::Range { low, high: low + more, onto })
        }),
        (prop::collection::btree_set("[a-z\"\\\\]{1,4}", 1..4), any::<bool>()).prop_map(
            |(words, zero)| {
                let other = if zero { Other::Zero } else { Other::Refuse };
                Kind::Categorical { categories: words.into_iter().collect(), other }
            }
        ),
        (1_u32..99).prop_map(|width| Kind::Hashed { width }),
        Just(Kind::Ignored),
    ]
}

proptest! {
    #[test]
    fn any_schema_round_trips(
        columns in prop::collection::btree_map(word(), (kinds(), any::<bool>()), 1..6),
        sparse in any::<bool>(),
    ) {
        let written: Vec<serde_json::Value> = columns
            .into_iter()
            .map(|(name, (kind, data))| {
                let origin = if data { Origin::Data } else { Origin::User };
                json(&Column { name, kind, missing: Vec::new(), fill: 0.0, origin })
            })
            .collect();
        let storage = if sparse { "sparse" } else { "dense" };
        let text = serde_json::json!({ "version": 1, "storage": storage, "column": written });
        let Ok(schema) = Schema::from_toml(&toml::to_string(&text).unwrap()) else { return Ok(()) };
        prop_assert_eq!(&Schema::from_toml(&schema.canonical()).unwrap(), &schema);
        prop_assert_eq!(&Schema::from_toml(&schema.to_toml()).unwrap(), &schema);
        prop_assert_eq!(schema.csv(), CsvShape::default());
    }
}

/// A column as a schema file states it.
fn json(column: &Column) -> serde_json::Value {
    let mut json = serde_json::json!({
        "name": column.name, "kind": column.kind.name(), "origin": column.origin.name(),
    });
    match &column.kind {
        Kind::Numeric(Scaling::Divide(divisor)) => json["divide"] = (*divisor).into(),
        Kind::Numeric(Scaling::Range { low, high, onto }) => {
            json["range"] = vec![*low, *high].into();
            json["onto"] = serde_json::to_value(onto).unwrap();
        }
        Kind::Categorical { categories, other } => {
            json["categories"] = categories.clone().into();
            json["other"] = serde_json::to_value(other).unwrap();
        }
        Kind::Hashed { width } => json["width"] = (*width).into(),
        _ => {}
    }
    json
}
