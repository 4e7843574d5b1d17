//! Lists of ids or subjects: one a line, a column of a table, or JSON.

use std::path::Path;

use efface::{Code, Error};
use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::input;

/// The names in a list: with `column` those of a table, of a file `*.json` those of an array, else one
/// a line. Spaces around a name do not count, as in tables.
pub(crate) fn read(path: &Path, column: Option<&str>) -> Result<Vec<String>> {
    let names = match column {
        Some(column) => {
            let file = Some(path.to_owned()).filter(|path| path != Path::new("-"));
            efface::names_in(file, column)?
        }
        None if is_table(path) => {
            let message = format!("`{}` is a table", path.display());
            let error = Error::input(Code::Column, message);
            return Err(error.hint("name the id column with `--column`").into());
        }
        None if has_ending(path, "json") => array(path, &input::text(path)?)?,
        None => lines(&input::text(path)?),
    };
    if names.is_empty() {
        let message = format!("`{}` has no names to delete", path.display());
        return Err(Error::input(Code::Empty, message).into());
    }
    Ok(names)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Whether the name is that of a table.
fn is_table(path: &Path) -> bool {
    let inner = if has_ending(path, "gz") { path.with_extension("") } else { path.to_owned() };
    ["csv", "tsv", "parquet", "arrow", "feather"].iter().any(|ending| has_ending(&inner, ending))
}

/// One a line; where all are in quotes, as a table of one column writes them, without these.
fn lines(text: &str) -> Vec<String> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let names: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let unquoted: Option<Vec<String>> = names.iter().copied().map(unquoted).collect();
    unquoted.unwrap_or_else(|| names.into_iter().map(str::to_owned).collect())
}

/// What is between quotes, which are doubled inside; none where there are no such quotes.
fn unquoted(name: &str) -> Option<String> {
    let inner = name.strip_prefix('"')?.strip_suffix('"')?;
    let single = inner.replace("\"\"", "");
    (!single.contains('"')).then(|| inner.replace("\"\"", "\"").trim().to_owned())
}

/// The refusal of a list whose first name is the only unknown one of several: it may be a header.
pub(crate) fn or_header(failure: Failure, list: &Path, names: &[String]) -> Failure {
    match (failure, names) {
        (Failure::Error(error), [first, _, ..])
            if matches!(error.code(), Code::UnknownRecord | Code::UnknownSubject)
                && error.names() == [first.clone()] =>
        {
            let hint = format!(
                "line 1 of `{}` looks like a header, as all other names are known: take it out, or \
                 give `--skip-unknown`",
                list.display()
            );
            Failure::Error(error.hint(hint))
        }
        (failure, _) => failure,
    }
}

fn array(path: &Path, text: &str) -> Result<Vec<String>> {
    let refused = |why: String| Error::input(Code::Ids, format!("`{}`: {why}", path.display()));
    let values: Vec<Value> = serde_json::from_str(text).map_err(|error| {
        refused(format!("an array of strings or whole numbers is needed: {error}"))
    })?;
    let name = |(at, value): (usize, Value)| match value {
        Value::String(text) => Ok(text.trim().to_owned()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        other => Err(refused(format!(
            "names must be strings or whole numbers, element {at} (counted from 0) is {other}"
        ))
        .into()),
    };
    values.into_iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lists_are_lines_columns_or_arrays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let plain = at("ids", "\u{feff}a\r\n\n b c \n-7");
        assert_eq!(read(&plain, None).unwrap(), ["a", "b c", "-7"]);
        assert_eq!(
            read(&at("quoted", "\"a\"\n\"b \"\"c\"\"\"\n"), None).unwrap(),
            ["a", "b \"c\""]
        );
        assert_eq!(read(&at("some", "\"a\"\nb\n"), None).unwrap(), ["\"a\"", "b"]);
        for wide in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            let path = folder.path().join("wide");
            let bytes: Vec<u8> = "\u{feff}a\r\nZoë".encode_utf16().flat_map(wide).collect();
            fs::write(&path, &bytes).unwrap();
            assert_eq!(read(&path, None).unwrap(), ["a", "Zoë"]);
            fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
            assert!(read(&path, None).is_err());
        }
        fs::write(folder.path().join("latin"), b"Zo\xeb\n").unwrap();
        assert!(read(&folder.path().join("latin"), None).is_err());
        assert!(read(&at("none", "\n \n"), None).is_err());
        let json = at("ids.json", r#"[" a ", 7, "x,y"]"#);
        assert_eq!(read(&json, None).unwrap(), ["a", "7", "x,y"]);
        for bad in ["{}", "[1.5]", "[[1]]", "[null]", "[1"] {
            assert!(read(&at("bad.json", bad), None).is_err(), "{bad}");
        }
        let table = at("ids.csv", "when,id\n2026-01-01, r1 \n2026-01-02,007\n2026-01-03,\n");
        assert_eq!(read(&table, Some("id")).unwrap(), ["r1", "007"]);
        assert!(read(&table, Some("who")).is_err());
        assert!(read(&table, None).is_err());
    }
}
