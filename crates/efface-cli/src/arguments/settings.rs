//! The settings of a model, as arguments: one for each row of the engine's table.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use efface::{Code, Error, Form, Privacy, Row, SETTINGS, Settings, Value, in_words};

use super::count;
use crate::failure::{Failure, Result, unreadable};
use crate::words::FLAGS;

/// The settings that were given; a start is not read yet.
#[derive(Debug)]
pub(crate) struct SettingArguments {
    settings: Settings,
    start: Option<(&'static Row, PathBuf)>,
}

impl SettingArguments {
    /// The settings; reads the start.
    ///
    /// # Errors
    /// A start that cannot be read.
    pub(crate) fn read(self) -> Result<Settings> {
        let mut settings = self.settings;
        if let Some((row, path)) = self.start {
            row.put(&mut settings, Value::Bytes(start(&path)?))?;
        }
        Ok(settings)
    }
}

/// The rows that are offered.
fn rows() -> impl Iterator<Item = &'static Row> {
    SETTINGS.iter().filter(|row| !row.internal)
}

impl Args for SettingArguments {
    fn augment_args(command: Command) -> Command {
        let none = Arg::new("no-intercept")
            .long("no-intercept")
            .help("Append no constant")
            .action(ArgAction::SetTrue)
            .help_heading("Model")
            .conflicts_with("intercept");
        rows().fold(command, |command, row| {
            let command = command.arg(argument(row));
            if row.name == "intercept" { command.arg(none.clone()) } else { command }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingArguments {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let mut found = Self { settings: Settings::default(), start: None };
        found.update_from_arg_matches(matches)?;
        Ok(found)
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        let wrong = |error: Error| clap::Error::raw(clap::error::ErrorKind::InvalidValue, error);
        for row in rows() {
            let value = match row.form {
                Form::Flag => Some(Value::Flag(matches.get_flag(row.flag))),
                Form::Lines => matches
                    .get_many::<String>(row.flag)
                    .map(|lines| Value::Lines(lines.cloned().collect())),
                Form::File => {
                    self.start =
                        matches.get_one::<PathBuf>(row.flag).map(|path| (row, path.clone()));
                    None
                }
                _ => matches.get_one::<Value>(row.flag).cloned(),
            };
            if let Some(value) = value {
                row.put(&mut self.settings, value).map_err(wrong)?;
            }
        }
        if matches.get_flag("no-intercept") {
            self.settings.intercept = Some(0.0);
        }
        Ok(())
    }
}

/// The argument of a setting.
fn argument(row: &'static Row) -> Arg {
    let argument = Arg::new(row.flag)
        .long(row.flag)
        .help_heading(row.group.name())
        .help(help(row))
        .value_name(if row.placeholder.is_empty() {
            placeholder(row.form)
        } else {
            row.placeholder
        })
        .value_parser(parser(row.form))
        .action(match row.form {
            Form::Flag => ArgAction::SetTrue,
            Form::Lines => ArgAction::Append,
            _ => ArgAction::Set,
        })
        .allow_negative_numbers(matches!(row.form, Form::Number(_) | Form::Count(..) | Form::Text))
        .allow_hyphen_values(matches!(row.form, Form::Pair));
    let argument = match long_help(row) {
        Some(text) => argument.long_help(text),
        None => argument,
    };
    if row.name == "excess_risk" { argument.conflicts_with("noise") } else { argument }
}

/// What a setting is, after the mechanisms or losses that have it, and before its default.
fn help(row: &Row) -> String {
    let mut text = in_words(&row.sentence(), &FLAGS);
    if matches!(row.form, Form::Lines) {
        text.push_str("; may be given several times");
    }
    if let Some((_, owners)) = row.only {
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_lowercase().to_string());
        let owners: Vec<String> = owners.iter().map(|owner| format!("`{owner}`")).collect();
        text = format!("{}: {}{}", owners.join(", "), first.unwrap_or_default(), letters.as_str());
    }
    match row.default.text() {
        Some(default) => format!("{text} [default: {default}]"),
        None => text,
    }
}

/// With the paragraph, where there is one.
fn long_help(row: &Row) -> Option<String> {
    let paragraph = in_words(&row.paragraph(), &FLAGS);
    let paragraph = match row.form {
        Form::Figures => format!("EPSILON,DELTA,GROUP or mu=MU,GROUP. {paragraph}"),
        _ => paragraph,
    };
    (!paragraph.is_empty()).then(|| format!("{}\n\n{paragraph}", help(row)))
}

/// What stands for a value in help.
fn placeholder(form: Form) -> &'static str {
    match form {
        Form::Name(_) => "NAME",
        Form::Number(_) => "NUMBER",
        Form::Count(..) => "COUNT",
        Form::Pair => "LOW,HIGH",
        Form::File => "FILE",
        Form::Figures => "FIGURES",
        Form::Flag | Form::Lines | Form::Text => "TEXT",
    }
}

/// Reads a value; which values are allowed, the engine says.
fn parser(form: Form) -> ValueParser {
    match form {
        Form::Name(names) => PossibleValuesParser::new(names()).map(Value::Text).into(),
        Form::Number(_) => ValueParser::new(|text: &str| number(text).map(Value::Number)),
        Form::Count(..) => ValueParser::new(|text: &str| count(text).map(Value::Count)),
        Form::Pair => ValueParser::new(pair),
        Form::Figures => ValueParser::new(|text: &str| figures(text).map(Value::Figures)),
        Form::File => value_parser!(PathBuf),
        Form::Text => ValueParser::new(text),
        Form::Flag => value_parser!(bool),
        Form::Lines => ValueParser::string(),
    }
}

fn number(text: &str) -> std::result::Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{}` is not a number", text.trim()))
}

fn text(text: &str) -> std::result::Result<Value, std::convert::Infallible> {
    Ok(Value::Text(text.to_owned()))
}

fn pair(text: &str) -> std::result::Result<Value, String> {
    match text.split_once(',') {
        Some((low, high)) => Ok(Value::Pair(number(low)?, number(high)?)),
        None => Err("two numbers with a comma between are needed, as in 0,10".into()),
    }
}

fn figures(text: &str) -> std::result::Result<Privacy, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let group = |part: &str| part.parse::<u64>().map_err(|_| format!("`{part}` is not a count"));
    match parts[..] {
        [epsilon, delta, records] => Ok(Privacy {
            epsilon: Some(number(epsilon)?),
            delta: Some(number(delta)?),
            mu: None,
            group: group(records)?,
        }),
        [mu, records] if mu.starts_with("mu=") => {
            let mu = Some(number(&mu["mu=".len()..])?);
            Ok(Privacy { epsilon: None, delta: None, mu, group: group(records)? })
        }
        _ => Err("EPSILON,DELTA,GROUP or mu=MU,GROUP is needed, as in 1,1e-6,10".into()),
    }
}

/// The most bytes that are read as a start.
const MOST: u64 = 1 << 30;

fn start(path: &Path) -> std::result::Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MOST {
        let message = format!("`{}` must have at most {MOST} bytes, got more", path.display());
        return Err(Error::input(Code::Start, message).into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_a_pair_or_a_mu_with_a_group() {
        let pair = figures("0.5, 1e-6,10").unwrap();
        assert_eq!(
            (pair.epsilon, pair.delta, pair.mu, pair.group),
            (Some(0.5), Some(1e-6), None, 10)
        );
        let mu = figures("mu=0.25,3").unwrap();
        assert_eq!((mu.epsilon, mu.mu, mu.group), (None, Some(0.25), 3));
        for bad in ["1", "1,2", "1,2,x", "mu=a,1", "mu=1", "1,2,3,4", ""] {
            assert!(figures(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges_are_two_numbers() {
        assert_eq!(pair("-1.5, 2e1"), Ok(Value::Pair(-1.5, 20.0)));
        assert!(pair("3").unwrap_err().contains("comma"));
        assert_eq!(pair("1,x").unwrap_err(), "`x` is not a number");
        assert!(pair("1,2,3").is_err());
    }

    #[test]
    fn every_value_is_read_and_written() {
        let command = SettingArguments::augment_args(Command::new("t"));
        let mut line = vec!["t".to_owned()];
        for row in rows() {
            let value = match row.form {
                Form::Name(names) => names()[0].to_owned(),
                Form::Number(_) => "0.5".to_owned(),
                Form::Count(..) => "1e1".to_owned(),
                Form::Pair => "0,1".to_owned(),
                Form::Figures => "mu=1,2".to_owned(),
                Form::File | Form::Lines | Form::Text => "x".to_owned(),
                Form::Flag => String::new(),
            };
            if row.name != "excess_risk" {
                line.push(format!("--{}", row.flag));
                line.extend(Some(value).filter(|value| !value.is_empty()));
            }
        }
        let matches = command.try_get_matches_from(line).unwrap();
        let found = SettingArguments::from_arg_matches(&matches).unwrap();
        assert!(found.start.is_some());
        for row in rows().filter(|row| !["excess_risk", "start"].contains(&row.name)) {
            assert!(row.is_given(&found.settings), "{}", row.name);
        }
    }
}
