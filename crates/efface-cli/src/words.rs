//! The words of the command line for what the engine names.

use efface::Words;

/// A setting is a flag, a command is one of the program.
pub(crate) const FLAGS: Words = Words { setting: flag, command: |line| format!("efface {line}") };

fn flag(name: &str, value: Option<&str>) -> String {
    match value {
        None => format!("--{name}"),
        // What may stand without a value takes it behind a sign.
        Some(value @ ("true" | "false")) => format!("--{name}={value}"),
        Some(value) => format!("--{name} {}", quoted(value)),
    }
}

/// A value as a shell takes it for one word.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+.,:=/%@".contains(c);
    if value.chars().all(plain) {
        value.to_owned()
    } else if value.contains(['"', '$', '\\', '!']) {
        format!("'{}'", value.replace('\'', "'\\''"))
    } else {
        format!("\"{value}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_one_word_for_a_shell() {
        for (value, written) in [
            ("squared", "--loss squared"),
            ("Unnamed: 0,rowid", "--loss \"Unnamed: 0,rowid\""),
            ("größe", "--loss größe"),
            ("a$b's", "--loss 'a$b'\\''s'"),
            ("<b>", "--loss \"<b>\""),
        ] {
            assert_eq!(flag("loss", Some(value)), written);
        }
    }
}
