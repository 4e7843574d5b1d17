//! What texts name, in the words of a face.

use super::SETTINGS;

/// How a face writes what texts of the engine name.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// A setting or an input, by its name with hyphens, and the value that it is to have.
    pub setting: fn(&str, Option<&str>) -> String,
    /// A command, as the command line has it after the name of the program.
    pub command: fn(&str) -> String,
}

/// What marks a name, at the beginning of code.
pub const MARK: char = '§';

/// How code begins, in plain texts and in pages for a browser.
const CODE: [&str; 2] = ["`", "<code>"];

/// Inputs beside the settings that texts name.
const INPUTS: &str = "array classes d deletions-per-month drop-unlabelled entries erase-only features format \
                      group id ids ignore key label labels max-decoded memory n new-classes pass-ms record \
                      schema subject vault weight column width zero-based";

/// A text of the engine in the words of a face. `` `§max-group` `` and `` `§loss squared` `` name
/// settings and inputs, `` `§efface refresh` `` names a command; the mark of anything else stays. In a
/// page for a browser `<code>` stands for the backticks.
#[must_use]
pub fn in_words(text: &str, words: &Words) -> String {
    let mut parts = text.split(MARK);
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (named, rest) = part.split_at(part.find(['`', '<']).unwrap_or(part.len()));
        // A line may have ended inside a name.
        let named = named.split_whitespace().collect::<Vec<_>>().join(" ");
        match named_in(&named, words) {
            Some(name) if CODE.iter().any(|begin| written.ends_with(begin)) => {
                written.extend([&name, rest])
            }
            _ => written.extend([&MARK.to_string(), part]),
        }
    }
    written
}

fn named_in(named: &str, words: &Words) -> Option<String> {
    if let Some(command) = named.strip_prefix("efface ") {
        return Some((words.command)(command));
    }
    let (name, value) = match named.split_once([' ', '=']) {
        Some((name, value)) => (name, Some(value)),
        None => (named, None),
    };
    let known =
        SETTINGS.iter().any(|row| row.flag == name) || INPUTS.split(' ').any(|input| input == name);
    known.then(|| (words.setting)(name, value))
}

/// At most so many names in code spans, with dots for the others.
pub(crate) fn in_code(names: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<String> =
        names.iter().take(most).map(|name| format!("`{}`", name.as_ref())).collect();
    let more = if names.len() > most { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Every text inside a JSON value in the words of a face.
pub fn value_in_words(value: &mut serde_json::Value, words: &Words) {
    use serde_json::Value;
    match value {
        Value::String(text) if text.contains(MARK) => *text = in_words(text, words),
        Value::Array(values) => values.iter_mut().for_each(|value| value_in_words(value, words)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| value_in_words(value, words));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Words =
        Words { setting: |name, _| name.to_owned(), command: |line| line.to_owned() };

    #[test]
    fn marked_names_are_written_in_the_words_of_a_face() {
        let setting = |name: &str, value: Option<&str>| format!("<{name}={value:?}>");
        let words = Words { setting, command: |line| format!("({line})") };
        for (text, written) in [
            ("raise `§epsilon`, or leave it", "raise `<epsilon=None>`, or leave it"),
            ("give `§loss squared`", "give `<loss=Some(\"squared\")>`"),
            ("`§zero-based=false`", "`<zero-based=Some(\"false\")>`"),
            ("name it with `§id column 1`", "name it with `<id=Some(\"column 1\")>`"),
            ("run `§efface refresh`, then", "run `(refresh)`, then"),
            ("<code>§epsilon</code>", "<code><epsilon=None></code>"),
            ("the record `§someone`", "the record `§someone`"),
            ("paragraph §id", "paragraph §id"),
            ("§", "§"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(in_words(text, &words), written);
        }
        let mut value = serde_json::json!({ "a": ["`§noise`", 3], "b": { "c": "`§delta`" } });
        value_in_words(&mut value, &NONE);
        assert_eq!(value, serde_json::json!({ "a": ["`noise`", 3], "b": { "c": "`delta`" } }));
    }

    #[test]
    fn every_name_is_known_where_texts_mark_it() {
        let engine = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders =
            ["efface", "efface-formats", "efface-learn", "efface-privacy", "efface-vault"]
                .map(|name| engine.join("..").join(name).join("src"))
                .to_vec();
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("settings/words.rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    for part in text.split("`§").skip(1) {
                        let name = part.split(['`', '\n', '\\']).next().unwrap().trim_end();
                        if name.starts_with(|first: char| first.is_ascii_lowercase()) {
                            assert!(named_in(name, &NONE).is_some(), "{}: {name}", path.display());
                            seen += 1;
                        }
                    }
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }
}
