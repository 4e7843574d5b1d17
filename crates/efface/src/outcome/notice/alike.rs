//! Classes and categories that are probably one, spelled in several ways.

use std::collections::HashMap;

use efface_formats::Fitted;

use super::{Notice, NoticeCode, listed};

/// Words for yes and no: a set of more than two of them spells two values in several ways.
const TRUTHS: [&str; 16] = [
    "0", "1", "f", "false", "j", "ja", "n", "nein", "no", "non", "off", "on", "oui", "true", "y",
    "yes",
];

/// A warning for the classes, and one for each column of categories, if some differ in capital
/// letters, spaces or a full stop at the end alone, or all are words for yes and no.
pub(crate) fn alike(found: &Fitted) -> Vec<Notice> {
    let classes = spelled_alike(found.classes()).map(|some| {
        format!(
            "the classes {} are probably spellings of the same ones, and each was learnt as a class of \
             its own; write each class in one way and train again",
            listed(&some)
        )
    });
    let columns = found.kinds().into_iter().filter(|column| !column.is_declared);
    let columns = columns.filter_map(|column| {
        let some = spelled_alike(column.categories)?;
        let (name, some) = (column.name, listed(&some));
        Some(format!(
            "the values {some} of the column `{name}` are probably spellings of the same ones, and each \
             was taken for a category of its own; write each in one way"
        ))
    });
    let all = classes.into_iter().chain(columns);
    all.map(|message| Notice::new(NoticeCode::ValuesAlike, message)).collect()
}

/// Those of different names that are spellings of one.
fn spelled_alike(names: &[String]) -> Option<Vec<String>> {
    let truths = |name: &String| TRUTHS.contains(&spelled_plainly(name).as_str());
    if names.len() > 2 && names.iter().all(truths) && !are_codes(names) {
        return Some(names.to_vec());
    }
    let mut groups: HashMap<String, Vec<&String>> = HashMap::new();
    for name in names {
        groups.entry(spelled_plainly(name)).or_default().push(name);
    }
    groups.retain(|plain, group| group.len() > 1 && !plain.is_empty());
    let mut some: Vec<String> = groups.into_values().flatten().cloned().collect();
    some.sort_unstable();
    (!some.is_empty()).then_some(some)
}

/// Whether all names are single letters or digits, each once whatever its case, as codes are.
fn are_codes(names: &[String]) -> bool {
    names.iter().all(|name| name.chars().count() == 1) && {
        let mut plain: Vec<String> = names.iter().map(|name| spelled_plainly(name)).collect();
        plain.sort_unstable();
        plain.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// Without capital letters, repeated spaces and a full stop at the end.
fn spelled_plainly(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(names: &[&str]) -> Option<Vec<String>> {
        spelled_alike(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn spellings_of_one_value_are_found() {
        assert_eq!(some(&["No", "no", "Yes", "maybe"]).unwrap(), ["No", "no"]);
        assert_eq!(some(&["<=50K", "<=50K.", ">50K"]).unwrap(), ["<=50K", "<=50K."]);
        assert_eq!(some(&["new  york", "New York"]).unwrap().len(), 2);
        assert_eq!(some(&["0", "1", "False", "True"]).unwrap().len(), 4);
        assert_eq!(some(&["N", "Y", "no", "yes"]).unwrap().len(), 4);
    }

    #[test]
    fn values_that_differ_are_left_alone() {
        for names in [
            &["no", "yes"][..],
            &["N", "Y"],
            &["0", "1", "2"],
            &["f", "n", "y"],
            &["a", "b", "c"],
            &["1.0.", "1.1."],
            &[],
        ] {
            assert_eq!(some(names), None, "{names:?}");
        }
    }
}
