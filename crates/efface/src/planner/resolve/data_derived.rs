//! Constants that were read off the data: what they cost, and how to declare them instead.

use efface_privacy::certificate::{Constant, TYPES, read_off as derived_among};
use efface_privacy::claim::Notion;

use crate::error::{Code, Error, Result};
use crate::plan::{DataSummary, Plan, ValidatedSettings, private_notion};
use crate::settings::SETTINGS;

impl Plan {
    /// Constants that one record could have moved: if there is one, nothing is claimed that
    /// protects single records.
    pub fn data_derived(&self) -> impl Iterator<Item = &Constant> {
        derived_among(&self.constants, Some(self.setting.normalizer))
    }
}

/// The option that declares a constant from public knowledge.
pub(crate) fn declaring(name: &str) -> &'static str {
    match name {
        "classes" | "label-type" => "`§classes A,B`",
        "loss" => "`§loss`",
        "target-range" => "`§target-range LOW,HIGH`",
        "max-weight" => "`§max-weight`",
        "n" => "`§public-n` for the sum of the weights",
        "column-types" => "columns of numbers or dates in place of texts that spell them",
        "width" => "`§width`",
        "schema" => {
            "`§schema FILE` with values that are public knowledge (`§efface schema \
             --values-are-public` drafts one), or `§width` for a LIBSVM file"
        }
        _ => "an option of that name",
    }
}

/// Refuses a notion that protects single records if a constant tells of one, and exact removal if
/// one says how the other records are kept.
pub(super) fn check<'a>(
    choices: &ValidatedSettings,
    facts: &DataSummary,
    told: impl Iterator<Item = &'a Constant>,
) -> Result<()> {
    let of_rows = |name: &&str| choices.notion == Notion::ExactRemoval && TYPES.contains(name);
    let names = told.map(|constant| constant.name.as_str());
    let names: Vec<&str> =
        names.filter(|name| private_notion(choices.notion) || of_rows(name)).collect();
    if names.is_empty() {
        return Ok(());
    }
    let (what, pronoun) =
        if let [_] = names[..] { ("was", "it depends on") } else { ("were", "they depend on") };
    let mark = |name: &str| if SETTINGS.iter().any(|row| row.flag == name) { "§" } else { "" };
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}{name}`", mark(name))).collect();
    let options: Vec<&str> = names.iter().map(|name| declaring(name)).collect();
    let schema = if names.contains(&"schema") && !facts.schema_from_data.is_empty() {
        format!(" (in the schema {})", facts.schema_from_data.join(", "))
    } else {
        String::new()
    };
    let message = format!(
        "{} {what} computed from the data{schema}, so {pronoun} single records, which \
         `{}` protects",
        quoted.join(", "),
        choices.notion.name()
    );
    Err(Error::refused(Code::Settings, message)
        .hint(format!("declare from public knowledge: {}", options.join(", "))))
}
