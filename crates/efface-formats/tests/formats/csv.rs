//! CSV: what is read, and one test per malformation.

use efface_formats::{CsvShape, Format, Header, ReadOptions, draft_from};

use super::collect::{Collected, collect, plain, refused, unlabelled};

fn csv(text: &str) -> Collected {
    collect(Format::Csv, text.as_bytes(), &plain()).unwrap().0
}

fn error(text: &str) -> String {
    refused(Format::Csv, text.as_bytes(), &plain())
}

#[test]
fn header_label_and_numbers() {
    let read = csv("a,y,b\n1,no,2.5\n-3e1,yes,.5\n");
    assert_eq!(read.names, ["a", "b"]);
    assert_eq!(read.rows, [[1.0, 2.5], [-30.0, 0.5]]);
    assert_eq!(read.labels, [0.0, 1.0]);
    assert_eq!(read.positions, [1, 2]);
    assert!(!read.sparse);
}

#[test]
fn spaces_line_ends_empty_lines_and_byte_order_mark() {
    let read = csv("\u{feff}a, y ,b\r\n 1 ,no, 2\r\n\r\n3, yes,4\n   \n");
    assert_eq!(read.rows, [[1.0, 2.0], [3.0, 4.0]]);
}

#[test]
fn quoted_fields_hold_anything() {
    let read = csv("a,\"y\",\"x,\n\"\"z\"\"\"\n\"1\", \"q\" ,2\n1,q,2");
    assert_eq!(read.names, ["a", "x,\n\"z\""]);
    assert_eq!(read.rows, [[1.0, 2.0], [1.0, 2.0]]);
}

#[test]
fn semicolon_and_tab_are_found_in_the_header() {
    assert_eq!(csv("a;y;b\n1;n;2\n").rows, [[1.0, 2.0]]);
    assert_eq!(csv("a\ty\tb\n1\tn\t2\n").rows, [[1.0, 2.0]]);
    assert_eq!(csv("a;\"y,,,\";y\n1;2;n\n").rows, [[1.0, 2.0]]);
}

#[test]
fn ids_and_subjects_are_text() {
    let options = ReadOptions { id: Some("id".into()), subject: Some("who".into()), ..plain() };
    let text = "id,who,a,y\n007, ann ,1,n\n8.0,bob,2,n\n";
    let (read, _) = collect(Format::Csv, text.as_bytes(), &options).unwrap();
    assert_eq!(read.ids, ["007", "8.0"]);
    assert_eq!(read.subjects, ["ann", "bob"]);
    assert_eq!(read.names, ["a"]);
}

#[test]
fn given_classes_leave_other_rows_out() {
    let classes = Some(vec!["3".into(), "8".into()]);
    let options = ReadOptions { classes, ..plain() };
    let text = "a,y\n1,8\n2,4\n3,3\nnot read,5\n";
    let (read, summary) = collect(Format::Csv, text.as_bytes(), &options).unwrap();
    assert_eq!(read.labels, [1.0, 0.0]);
    assert_eq!(read.positions, [1, 3]);
    assert_eq!((summary.rows_read, summary.rows_kept, summary.rows_left_out), (4, 2, 2));
}

#[test]
fn prediction_needs_no_label_and_reads_none() {
    let options = ReadOptions { label: Some("y".into()), ..unlabelled() };
    for text in ["a,b\n1,2\n", "y,a,b\n,1,2\n"] {
        let (read, summary) = collect(Format::Csv, text.as_bytes(), &options).unwrap();
        assert_eq!(read.rows, [[1.0, 2.0]]);
        assert_eq!(read.labels, [0.0; 0]);
        assert_eq!(summary.classes, None);
    }
}

#[test]
fn stated_header_and_comment() {
    let csv = CsvShape { header: Some(Header::Absent), comment: Some('|'), ..CsvShape::default() };
    let options = ReadOptions { label: Some("c2".into()), csv, ..plain() };
    let (read, summary) =
        collect(Format::Csv, b"|1x3 words, with ,\n1,no\n2,yes\n", &options).unwrap();
    assert_eq!(read.names, ["c1"]);
    assert_eq!(summary.schema.csv().header, Some(Header::Absent));
    assert_eq!(read.rows, [[1.0], [2.0]]);
}

#[test]
fn header_alone_is_a_table_of_no_rows() {
    let (read, summary) = collect(Format::Csv, b"a,y\n", &plain()).unwrap();
    assert_eq!((read.rows.len(), summary.rows_read), (0, 0));
}

#[test]
fn empty_file() {
    assert_eq!(error(""), "data.csv, line 1: the file is empty");
}

#[test]
fn not_utf8() {
    let message = refused(Format::Csv, b"a,y\n\xff,1\n", &plain());
    assert!(
        message.starts_with("data.csv, line 2: the text is not UTF-8; save the file as UTF-8,"),
        "{message}"
    );
}

#[test]
fn unclosed_quote() {
    assert_eq!(error("a,y\n1,n\n\"1,n\n2,n\n"), "data.csv, line 3: a quoted field is never closed");
}

#[test]
fn text_after_quote() {
    assert_eq!(
        error("a,y\n1,\"n\"o\n"),
        "data.csv, line 2: field 2 has text after its closing quote"
    );
    for field in ["\"n\"o\"", "\"n\" \"o\"", "\"\"n\"\"", "\"a\nb\"o", "\"n\"\"\"o\"\""] {
        let message = error(&format!("a,y\n1,{field}\n2,n\n"));
        assert!(message.ends_with("field 2 has text after its closing quote"), "{message}");
    }
}

#[test]
fn line_of_a_tab_is_no_empty_line() {
    assert_eq!(error("a,y\n\t\n"), "data.csv, line 2: the row has 1 fields, but the header has 2");
}

#[test]
fn lone_carriage_return() {
    assert_eq!(
        error("a,y\n1\r2,n\n"),
        "data.csv, line 2: field 1 has a carriage return that no line feed follows; save the file with \
         line ends of LF or CR LF"
    );
}

#[test]
fn ragged_rows() {
    assert_eq!(
        error("a,y\n1,n,3\n"),
        "data.csv, line 2: the row has 3 fields, but the header has 2"
    );
    assert_eq!(error("a,y\n\n1\n"), "data.csv, line 3: the row has 1 fields, but the header has 2");
}

#[test]
fn unnamed_column() {
    let message = error("a,,y\n0,1,n\n");
    assert!(message.starts_with("data.csv, line 1: column 2 of the header has no name"));
}

#[test]
fn number_in_header() {
    let message = error("1.5,y\n2.5,n\n");
    assert!(message.starts_with("data.csv, line 1: column 1 of the header is the number `1.5`"));
    assert!(message.ends_with("run `§efface schema data.csv -o schema.toml`"), "{message}");
}

#[test]
fn years_in_header() {
    let read = csv("1960,1961,1962,y\n1,2,3,n\n4,5,6,m\n");
    assert_eq!(read.names, ["1960", "1961", "1962"]);
    for header in ["1960,1961,y", "1960,1962,1964,y", "1.5,2.5,3.5,y", "3,2,1,y"] {
        let rest = ",1".repeat(header.matches(',').count() - 1);
        let message = error(&format!("{header}\n1{rest},n\n"));
        assert!(message.contains("of the header is the number"), "{message}");
    }
}

#[test]
fn unclear_delimiter() {
    let message = error("a;b,y\n");
    assert!(message.contains("',' and ';' occur equally often"), "{message}");
}

#[test]
fn name_twice() {
    let told = "data.csv: two columns are named `a`; give each a name of its own in the file";
    assert_eq!(error("a,y,a\n"), told);
    let drafted = draft_from("data.csv", &b"a,y,a\n1,2,3\n"[..], Some(Format::Csv), &plain());
    assert_eq!(drafted.unwrap_err().to_string(), told);
}

/// A table as pandas writes it, with its row index, or with a delimiter at the end of each line.
#[test]
fn columns_without_a_name() {
    let table = b",a,y\n0,1,yes\n1,2,no\n";
    let (rows, summary) = collect(Format::Csv, table, &plain()).unwrap();
    assert!(summary.index_left_out.is_some() && summary.schema.columns().len() == 2);
    assert_eq!((rows.names, rows.rows), (vec!["a".into()], vec![vec![1.0], vec![2.0]]));
    // Whatever it holds: no record decides what is left out.
    let words = csv("\"\",a,y\nnorth,1,yes\n,2,no\n");
    assert_eq!(words.rows, [[1.0], [2.0]]);
    let short = error(",a,y\n1,yes\n");
    assert!(short.contains("the row has 2 fields, but the header has 3"), "{short}");
    let second = error(",,a,y\n0,0,1,yes\n");
    assert!(second.contains("`§ignore column 2`, or say `§id column 2`"), "{second}");
    let last = error("a,y,\n1,yes,\n");
    assert!(last.contains("line 1: column 3 of the header has no name"), "{last}");
    let id = ReadOptions { id: Some("column 1".into()), ..plain() };
    let (rows, summary) = collect(Format::Csv, table, &id).unwrap();
    assert!(rows.ids == ["0", "1"] && summary.index_left_out.is_none());
    let ignore = ReadOptions { ignore: vec!["column 1".into()], ..plain() };
    let rows = collect(Format::Csv, b",a,y\n0,1,yes\n1,2,no\n", &ignore).unwrap().0;
    assert_eq!(rows.rows, [[1.0], [2.0]]);
    let id = ReadOptions { id: Some("column 3".into()), ..plain() };
    let rows = collect(Format::Csv, b"a,y,\n1,yes,x\n2,no,z\n", &id).unwrap().0;
    assert_eq!(rows.ids, ["x", "z"]);
}

#[test]
fn vertical_bars_between_columns() {
    let rows = csv("a|y\n0.5|yes\n2|no\n");
    assert_eq!(rows.rows, [[0.5], [2.0]]);
}

#[test]
fn what_is_no_table_is_named() {
    for (text, what) in [
        ("[{\"a\": 1, \"y\": 2}]", "JSON"),
        ("{\"a\": 1, \"y\": 2}\n", "JSON"),
        ("<!DOCTYPE html><p>Log in, please", "HTML or XML"),
    ] {
        let message = error(text);
        assert!(message.contains(&format!("holds {what} and no table")), "{message}");
    }
}

/// Numbers in another notation are no words: a column of them is hardly an id.
#[test]
fn other_notations_are_named() {
    for (value, says) in [
        ("\"0,5\"", "`0,5` is no plain number: write numbers with a decimal point"),
        ("5 %", "`5 %` is no plain number"),
        ("2024-01-31", "`2024-01-31` is a date"),
    ] {
        let message = error(&format!("a,y\n{value},yes\n"));
        assert!(message.contains(says) && message.contains("`§ignore a`"), "{message}");
        assert!(!message.contains("--id"), "{message}");
    }
    let message = error("a,y\n1e400,yes\n");
    assert!(message.contains("finite") && message.contains("efface schema"), "{message}");
}

#[test]
fn headers_that_are_nearly_right() {
    let message = error("A,Y\n1,yes\n");
    assert!(message.ends_with("the columns are `A`, `Y`; did you mean `Y`?"), "{message}");
    let message = error("Report of 2026\n\na,y\n1,yes\n");
    assert!(message.contains("take titles and comments above it out of the file"), "{message}");
}

#[test]
fn absent_columns() {
    assert_eq!(
        error("a,b\n"),
        "data.csv: column `y` (named with `§label`) is missing; the columns are `a`, `b`"
    );
    let options = ReadOptions { id: Some("key".into()), ..plain() };
    assert_eq!(
        refused(Format::Csv, b"a,y\n", &options),
        "data.csv: column `key` (named with `§id`) is missing; the columns are `a`, `y`"
    );
}

#[test]
fn no_label_and_no_features() {
    let options = ReadOptions { label: None, ..plain() };
    assert_eq!(
        refused(Format::Csv, b"a,b\n", &options),
        "data.csv: no label column given; name one of `a`, `b` with `§label`"
    );
    assert_eq!(error("y\n1\n"), "data.csv: no feature columns are left");
}

#[test]
fn text_of_two_bytes_for_a_character() {
    let table = "a,y\n1,n\n";
    let units = || table.encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    for bytes in
        [[&[0xff, 0xfe][..], &little].concat(), [&[0xfe, 0xff][..], &big].concat(), little, big]
    {
        assert_eq!(
            refused(Format::Csv, &bytes, &plain()),
            "data.csv: the text is UTF-16; save the file as UTF-8 (in a spreadsheet: `CSV UTF-8`)"
        );
    }
}

#[test]
fn word_without_schema() {
    assert_eq!(
        error("a,y\nblue,n\n"),
        "data.csv, line 2, column `a`: `blue` is not a number; if the column identifies records or people, give `§id a` or `§subject a`; to leave it out, `§ignore a`; text as a feature needs a schema: run `§efface schema data.csv -o schema.toml`"
    );
}

#[test]
fn missing_without_schema() {
    for token in ["", "?", "NA", "NaN"] {
        let message = error(&format!("a,b,y\n1,{token},n\n"));
        assert!(
            message.starts_with(&format!(
                "data.csv, line 2, column `b`: `{token}` is a missing value"
            )),
            "{message}"
        );
        assert!(message.contains("efface schema data.csv -o schema.toml"));
    }
}

#[test]
fn infinite_and_too_large() {
    assert_eq!(
        error("a,y\ninf,n\n"),
        "data.csv, line 2, column `a`: numbers must be finite, got inf; if it stands for a missing \
         value, a schema can say so: run `§efface schema data.csv -o schema.toml`"
    );
    assert!(error("a,y\n1e39,n\n").ends_with("got 1e39"));
    assert!(error("a,y\n1e400,n\n").contains("must be finite, got inf; "));
}

#[test]
fn missing_label_and_empty_keys() {
    assert_eq!(
        error("a,y\n1,\n"),
        "1 of 1 rows has no label, the first is data.csv, line 2, column `y`; leave them out with \
         `§drop-unlabelled`, or say with `§missing` which texts mean that there is none"
    );
    let options = ReadOptions { id: Some("id".into()), ..plain() };
    assert_eq!(
        refused(Format::Csv, b"id,a,y\n ,1,n\n", &options),
        "data.csv, line 2: the id is empty"
    );
}

#[test]
fn limits_stop_long_fields_lines_records_rows_and_columns() {
    let mut options = plain();
    options.limits.field_bytes = 8;
    let message = refused(Format::Csv, b"a,y\n123456789,n\n", &options);
    assert_eq!(message, "data.csv, line 2: more than 8 bytes in one field, the limit");

    let mut options = plain();
    options.limits.line_bytes = 16;
    let message = refused(Format::Csv, b"a,y\n12345678901234567,n\n", &options);
    assert_eq!(message, "data.csv, line 2: more than 16 bytes in one line, the limit");
    let message = refused(Format::Csv, b"a,y\n\"1234567\n7654321\n1\n2\",n\n", &options);
    assert_eq!(message, "data.csv, line 2: more than 16 bytes in one record, the limit");

    let mut options = plain();
    options.limits.rows = 1;
    let message = refused(Format::Csv, b"a,y\n1,n\n1,n\n", &options);
    assert_eq!(message, "data.csv, line 3: more than 1 rows, the limit");

    let mut options = plain();
    options.limits.columns = 2;
    let message = refused(Format::Csv, b"a,b,y\n", &options);
    assert_eq!(message, "data.csv, line 1: more than 2 columns, the limit");

    let mut options = plain();
    options.limits.stream_bytes = 5;
    let message = refused(Format::Csv, b"a,y\n1,n\n", &options);
    assert_eq!(message, "data.csv: more than 5 bytes, the limit");
}
