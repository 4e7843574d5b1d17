//! Lists of ids or subjects: one a line, a column of a table, or JSON.

use std::path::Path;

use efface::{Code, Error};
use serde_json::Value;

use crate::failure::Result;
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

fn lines(text: &str) -> Vec<String> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
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
