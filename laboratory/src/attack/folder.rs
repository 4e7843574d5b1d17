//! What an attacker sees who has the folder of a vault: every value of every table, the leaves of JSON
//! texts one by one, lengths, and every byte of every file.

use std::collections::BTreeMap;
use std::path::Path;

use efface::Result;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::Value as Json;

use crate::trial::failed;

/// One folder, as numbers by their place.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    /// Values of tables and their lengths.
    pub(super) values: BTreeMap<String, f64>,
    /// Bytes of files, one after the other in the order of their names.
    pub(super) bytes: Vec<u8>,
}

/// The longest value that is looked at byte by byte.
const LONGEST: usize = 1 << 12;

impl View {
    /// Reads the folder of `vault`; `secret` leaves out the kept state, about which nothing is
    /// promised, and with it the bytes of the file it is in.
    pub(super) fn of(vault: &Path, secret: bool) -> Result<Self> {
        let mut view = Self::default();
        view.tables(vault, secret).map_err(failed)?;
        if secret {
            return Ok(view);
        }
        let folder = vault.parent().ok_or_else(|| failed("a vault is in a folder"))?;
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_file() {
                files.push(path);
            }
        }
        files.sort();
        for (number, path) in files.iter().enumerate() {
            let bytes = std::fs::read(path).map_err(failed)?;
            view.put(format!("file {number}: length"), bytes.len() as f64);
            view.bytes.extend(bytes);
        }
        view.put("files".to_owned(), files.len() as f64);
        Ok(view)
    }

    /// Something that a vault would keep beside its tables.
    pub(super) fn plant(&mut self, name: &str, json: &Json) {
        self.leaves(name, json);
    }

    fn tables(&mut self, vault: &Path, secret: bool) -> rusqlite::Result<()> {
        let connection = Connection::open(vault)?;
        let names = |sql: &str| -> rusqlite::Result<Vec<String>> {
            connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        for table in names("SELECT name FROM sqlite_schema WHERE type = 'table'")? {
            if secret && table == "caches" {
                continue;
            }
            let columns = names(&format!("SELECT name FROM pragma_table_info('{table}')"))?;
            let mut statement = connection.prepare(&format!("SELECT * FROM {table}"))?;
            let mut rows = statement.query([])?;
            let mut count = 0_u32;
            while let Some(row) = rows.next()? {
                for (at, column) in columns.iter().enumerate() {
                    self.value(&format!("{table}[{count}].{column}"), row.get(at)?);
                }
                count += 1;
            }
            self.put(format!("{table}: rows"), f64::from(count));
        }
        Ok(())
    }

    fn value(&mut self, name: &str, value: Value) {
        match value {
            Value::Null => self.put(name.to_owned(), f64::NEG_INFINITY),
            Value::Integer(number) => self.put(name.to_owned(), number as f64),
            Value::Real(number) => self.put(name.to_owned(), number),
            Value::Text(text) => match serde_json::from_str::<Json>(&text) {
                Ok(json) => {
                    self.put(format!("{name}: length"), text.len() as f64);
                    self.leaves(name, &json);
                }
                Err(_) => self.text(name, &text),
            },
            Value::Blob(blob) => {
                self.put(format!("{name}: length"), blob.len() as f64);
                for (place, byte) in blob.iter().take(LONGEST).enumerate() {
                    self.put(format!("{name}@{place}"), f64::from(*byte));
                }
                for (place, word) in blob.chunks_exact(8).take(LONGEST / 8).enumerate() {
                    let number = f64::from_le_bytes(word.try_into().unwrap_or_default());
                    self.put(format!("{name}: number {place}"), number);
                }
            }
        }
    }

    fn leaves(&mut self, name: &str, json: &Json) {
        match json {
            Json::Object(fields) => {
                fields.iter().for_each(|(key, value)| self.leaves(&format!("{name}/{key}"), value));
            }
            Json::Array(list) => {
                self.put(format!("{name}: length"), list.len() as f64);
                for (place, value) in list.iter().enumerate() {
                    self.leaves(&format!("{name}/{place}"), value);
                }
            }
            Json::String(text) => self.text(name, text),
            Json::Number(number) => self.put(name.to_owned(), number.as_f64().unwrap_or(0.0)),
            Json::Bool(flag) => self.put(name.to_owned(), f64::from(u8::from(*flag))),
            Json::Null => self.put(name.to_owned(), f64::NEG_INFINITY),
        }
    }

    /// A text: its length, the number it is, and its bytes.
    fn text(&mut self, name: &str, text: &str) {
        self.put(format!("{name}: length"), text.len() as f64);
        if let Ok(number) = text.parse::<f64>() {
            self.put(name.to_owned(), number);
        }
        for (place, byte) in text.bytes().take(LONGEST).enumerate() {
            self.put(format!("{name}@{place}"), f64::from(byte));
        }
    }

    fn put(&mut self, name: String, number: f64) {
        self.values.insert(name, if number.is_nan() { 0.0 } else { number });
    }
}

/// A place to look at, and what to make of the number there.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    place: Place,
    threshold: f64,
    /// Whether numbers above the threshold speak for the second world.
    above: bool,
}

#[derive(Debug, Clone)]
enum Place {
    Value(String),
    Byte(usize),
}

/// What stands for a place that a folder does not have.
const ABSENT: f64 = f64::MIN;

impl Rule {
    /// The value of a table that tells the worlds apart best in these folders.
    pub(super) fn of_values(first: &[View], second: &[View]) -> Self {
        let mut names: Vec<&String> =
            first.iter().chain(second).flat_map(|view| view.values.keys()).collect();
        names.sort_unstable();
        names.dedup();
        best(names.into_iter().map(|name| Place::Value(name.clone())), first, second)
    }

    /// The byte of the folder's files that does.
    pub(super) fn of_bytes(first: &[View], second: &[View]) -> Self {
        let most = first.iter().chain(second).map(|view| view.bytes.len()).max().unwrap_or(0);
        best((0..most).map(Place::Byte), first, second)
    }

    /// Whether a folder is taken to be of the second world.
    pub(super) fn says_second(&self, view: &View) -> bool {
        (self.place.number(view) > self.threshold) == self.above
    }
}

impl Place {
    fn number(&self, view: &View) -> f64 {
        match self {
            Self::Value(name) => view.values.get(name).copied().unwrap_or(ABSENT),
            Self::Byte(at) => view.bytes.get(*at).map_or(ABSENT, |byte| f64::from(*byte)),
        }
    }
}

fn best(places: impl Iterator<Item = Place>, first: &[View], second: &[View]) -> Rule {
    let nothing = Rule { place: Place::Byte(usize::MAX), threshold: 0.0, above: true };
    let mut found = (0.0, nothing);
    let share = 1.0 / first.len().max(1) as f64;
    for place in places {
        let numbers = |views: &[View], world: bool| -> Vec<(f64, bool)> {
            views.iter().map(|view| (place.number(view), world)).collect()
        };
        let mut all = [numbers(first, false), numbers(second, true)].concat();
        if all.iter().all(|(number, _)| *number == all[0].0) {
            continue;
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        // How many more of the second world than of the first lie below a threshold.
        let mut lead = 0.0_f64;
        for pair in all.windows(2) {
            lead += if pair[0].1 { share } else { -share };
            if pair[0].0 < pair[1].0 && lead.abs() > found.0 {
                let threshold = pair[0].0;
                found = (lead.abs(), Rule { place: place.clone(), threshold, above: lead < 0.0 });
            }
        }
    }
    found.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_that_tells_the_worlds_apart_is_found() {
        let view = |value: f64, byte: u8| View {
            values: [("same".to_owned(), 1.0), ("told".to_owned(), value)].into(),
            bytes: vec![7, byte, 9],
        };
        let first = [view(0.1, 3), view(0.3, 4), view(0.2, 200)];
        let second = [view(0.9, 9), view(0.8, 8), view(0.7, 7)];
        let rule = Rule::of_values(&first, &second);
        assert!(first.iter().all(|view| !rule.says_second(view)));
        assert!(second.iter().all(|view| rule.says_second(view)));
        let rule = Rule::of_bytes(&first, &second);
        let right = first[..2].iter().filter(|view| !rule.says_second(view)).count()
            + second.iter().filter(|view| rule.says_second(view)).count();
        assert_eq!(right, 5);
        let absent = View::default();
        assert!(!Rule::of_values(&first, &second).says_second(&absent));
    }
}
