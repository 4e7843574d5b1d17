//! What the class of a record makes it count.

use efface_privacy::quantity::Decimal;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::settings::in_code;

/// The word for weights that make all classes count the same.
const BALANCED: &str = "balanced";

/// What the class of a record makes it count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// n/(k n_c) of n records, k classes and n_c records of its class, all counted at hand.
    Balanced,
    /// By name of the class, as public knowledge; 1 for every other class.
    Listed(Vec<(String, Decimal)>),
}

impl ClassWeight {
    /// Reads what the user wrote: `balanced`, or one `CLASS=WEIGHT` for each class.
    ///
    /// # Errors
    /// A line that is neither, a class that is listed twice, or a weight that is no number of at least 0.
    pub(crate) fn of(lines: &[String]) -> Result<Option<Self>> {
        if lines.is_empty() {
            return Ok(None);
        }
        if lines == [BALANCED] {
            return Ok(Some(Self::Balanced));
        }
        let refused = |line: &str, rule: &str| {
            Error::input(Code::Weights, format!("`§class-weight` {rule}, got `{line}`")).hint(
                "give `§class-weight balanced`, or `§class-weight CLASS=WEIGHT` for each class",
            )
        };
        let mut listed: Vec<(String, Decimal)> = Vec::new();
        for line in lines {
            let form = "must be `balanced`, alone, or of the form CLASS=WEIGHT";
            let (class, weight) = line.rsplit_once('=').ok_or_else(|| refused(line, form))?;
            let weight = match weight.trim().parse::<f64>() {
                Ok(weight) if weight.is_finite() && weight >= 0.0 => weight,
                _ => return Err(refused(line, "must give a finite weight of at least 0")),
            };
            let class = efface_formats::class_name(class).to_owned();
            if listed.iter().any(|(known, _)| *known == class) {
                return Err(refused(line, "must list each class once"));
            }
            listed.push((class, Decimal(weight)));
        }
        if listed.iter().all(|(_, weight)| weight.0 == 0.0) {
            return Err(refused(&lines.join(" "), "must give a class a weight above 0"));
        }
        Ok(Some(Self::Listed(listed)))
    }

    /// The largest weight that a record may have by its class, if the user listed them.
    pub(crate) fn largest_listed(&self) -> Option<f64> {
        let Self::Listed(listed) = self else { return None };
        Some(listed.iter().fold(1.0, |most: f64, (_, weight)| most.max(weight.0)))
    }

    /// The weight of a record of a class by the user's list; none for weights that are counted.
    pub(crate) fn of_class(&self, name: &str) -> Option<f64> {
        let Self::Listed(listed) = self else { return None };
        let found = listed.iter().find(|(class, _)| class == name);
        Some(found.map_or(1.0, |(_, weight)| weight.0))
    }

    /// Refuses a list with a class that none of these is, which is a slip of the pen more often than not.
    pub(crate) fn check(&self, classes: &[String]) -> Result<()> {
        let Self::Listed(listed) = self else { return Ok(()) };
        let Some((class, _)) = listed.iter().find(|(class, _)| !classes.contains(class)) else {
            return Ok(());
        };
        let known = in_code(classes, 8);
        let message =
            format!("`§class-weight` names the class `{class}`, which is none of {known}");
        Err(Error::refused(Code::Classes, message)
            .hint("correct the name, or leave the class out: it counts 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<Option<ClassWeight>> {
        ClassWeight::of(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn weights_are_balanced_or_listed_by_class() {
        assert_eq!(read(&[]).unwrap(), None);
        assert_eq!(read(&["balanced"]).unwrap(), Some(ClassWeight::Balanced));
        let listed = read(&["a=b=2.5", "3=0"]).unwrap().unwrap();
        let classes = ["3", "a=b", "c"].map(str::to_owned);
        let weights = classes.each_ref().map(|name| listed.of_class(name));
        assert_eq!(weights, [Some(0.0), Some(2.5), Some(1.0)]);
        assert_eq!(listed.largest_listed(), Some(2.5));
        assert_eq!(read(&["a=0.5"]).unwrap().unwrap().largest_listed(), Some(1.0));
        assert!(listed.check(&classes).is_ok());
        let error = listed.check(&classes[1..]).unwrap_err().to_string();
        let named = "`class-weight` names the class `3`, which is none of `a=b`, `c`";
        assert!(error.starts_with(named), "{error}");
        assert_eq!(ClassWeight::Balanced.of_class("c"), None);
        assert_eq!(ClassWeight::Balanced.largest_listed(), None);
    }

    #[test]
    fn what_is_no_weight_is_refused() {
        for (lines, rule) in [
            (&["even"][..], "must be `balanced`, alone, or of the form CLASS=WEIGHT, got `even`"),
            (&["balanced", "a=1"], "must be `balanced`, alone"),
            (&["a=-1"], "must give a finite weight of at least 0, got `a=-1`"),
            (&["a=NaN"], "must give a finite weight"),
            (&["a=inf"], "must give a finite weight"),
            (&["a=x"], "must give a finite weight"),
            (&["1=2", " 1=3"], "must list each class once, got ` 1=3`"),
            (&["a=0", "b=0"], "must give a class a weight above 0"),
        ] {
            let error = read(lines).unwrap_err().to_string();
            assert!(error.contains(rule), "{lines:?}: {error}");
        }
    }
}
