//! What texts name, in the words of a face.

use super::SETTINGS;

/// How a face writes what texts name.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// A setting, by its name with hyphens, and a value that it is given.
    pub setting: fn(&str, Option<&str>) -> String,
}

/// What marks a name, after a backtick or a space.
const MARK: char = '§';

/// A text of the engine in the words of a face: `` `§max-group` `` and `` `§loss squared` `` name
/// settings. Marks of anything else stay as they are.
#[must_use]
pub fn in_words(text: &str, words: &Words) -> String {
    let mut parts = text.split(MARK);
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find('`').unwrap_or(part.len());
        let (named, rest) = part.split_at(end);
        let (name, value) = match named.split_once(' ') {
            Some((name, value)) => (name, Some(value.trim()).filter(|value| !value.is_empty())),
            None => (named, None),
        };
        if SETTINGS.iter().any(|row| row.flag == name) {
            written.push_str(&(words.setting)(name, value));
            let space = named.len() > named.trim_end().len();
            written.push_str(if space { " " } else { "" });
            written.push_str(rest);
        } else {
            written.push(MARK);
            written.push_str(part);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_names_are_written_in_the_words_of_a_face() {
        let setting = |name: &str, value: Option<&str>| format!("<{name}={value:?}>");
        let words = Words { setting };
        for (text, written) in [
            ("raise `§epsilon`, or leave it", "raise `<epsilon=None>`, or leave it"),
            ("give `§loss squared`", "give `<loss=Some(\"squared\")>`"),
            ("`§loss squared §clip inf`", "`<loss=Some(\"squared\")> <clip=Some(\"inf\")>`"),
            ("the record `§someone`", "the record `§someone`"),
            ("§", "§"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(in_words(text, &words), written);
        }
    }
}
