//! Labels: classes by name, numbers by range.

use std::collections::{BTreeSet, HashMap};

use crate::cell::Cell;
use crate::error::{Fault, fault, large_label};
use crate::fitted::{is_number_in_words, is_single_sized};
use crate::missing::Missing;
use crate::name::{Spellings, class_name, label_name, number_name, sort_classes};
use crate::options::{ReadOptions, Task};
use crate::record::LabelRef;
use crate::schema::Origin;
use crate::summary::ClassTable;

/// What a label decides about its row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// The row is kept with this label.
    Keep(Label),
    /// The class is not one of the given ones.
    LeaveOut,
    Missing,
}

/// How many names of other classes are kept, at most.
const OTHERS: usize = 12;

/// How many numbers that are classes are kept, at most.
const NUMBERS: usize = 16;

/// A label without its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Label {
    Class(u32),
    Value(f64),
    /// The numbers that were judged last.
    Values,
}

/// Reads labels for one pass over a table.
#[derive(Debug)]
pub(crate) enum Labels {
    Classes {
        names: Vec<String>,
        index: HashMap<String, u32>,
        origin: Origin,
        most: u32,
        /// Some of the classes that are not among the given ones, sorted.
        others: BTreeSet<String>,
        /// Some of the numbers that were judged, so that their texts are made once.
        numbers: Vec<(Cell<'static>, Verdict)>,
        spellings: Box<Spellings>,
        none: Missing,
    },
    /// `bounded`: for raw rows, whose numbers single precision must have room for.
    Numbers {
        range: Option<(f64, f64)>,
        bounded: bool,
        /// The labels of one row, if there are several.
        values: Vec<f64>,
        none: Missing,
    },
}

impl Labels {
    /// Checks the options that concern labels.
    pub(crate) fn new(options: &ReadOptions) -> Result<Self, Fault> {
        match (options.task, &options.classes) {
            (Task::Regression { .. }, Some(_)) => {
                Err(fault!("`classes` is for classification, and the task is regression"))
            }
            (Task::Regression { range: Some((low, high)) }, None)
                if !(low.is_finite() && high.is_finite() && low < high) =>
            {
                Err(fault!("the label range must be finite with low < high, got [{low}, {high}]"))
            }
            (Task::Regression { range }, None) => {
                let bounded = options.frame.is_some();
                let values = Vec::new();
                Ok(Self::Numbers { range, bounded, values, none: options.missing.clone() })
            }
            (Task::Classification, given) => {
                Self::classes(given.as_deref(), options.limits.classes, options.missing.clone())
            }
        }
    }

    fn classes(given: Option<&[String]>, most: u32, none: Missing) -> Result<Self, Fault> {
        let origin = if given.is_some() { Origin::User } else { Origin::Data };
        let mut index = HashMap::new();
        let mut names = Vec::new();
        let mut spellings = Box::new(Spellings::of_classes());
        for name in given.unwrap_or_default() {
            let name = class_name(name).to_owned();
            if name.is_empty() {
                return Err(fault!("`classes` has an empty name"));
            }
            if index.insert(name.clone(), names.len() as u32).is_some() {
                return Err(fault!("`classes` names `{name}` twice"));
            }
            spellings.see(&name);
            names.push(name);
        }
        spellings.allow();
        match given {
            Some(given) if given.len() < 2 => {
                Err(fault!("`classes` needs at least two classes, got {got}", got = given.len()))
            }
            _ => {
                let (others, numbers) = (BTreeSet::new(), Vec::new());
                Ok(Self::Classes { names, index, origin, most, others, numbers, spellings, none })
            }
        }
    }

    /// Returns some of the classes of rows that were left out, in order.
    pub(crate) fn others(&self) -> Vec<String> {
        match self {
            Self::Classes { others, .. } => others.iter().cloned().collect(),
            Self::Numbers { .. } => Vec::new(),
        }
    }

    /// Returns how many classes are known so far.
    pub(crate) fn known(&self) -> usize {
        match self {
            Self::Classes { names, .. } => names.len(),
            Self::Numbers { .. } => 0,
        }
    }

    pub(crate) fn judge(&mut self, cell: Cell<'_>) -> Result<Verdict, Fault> {
        let own = match cell {
            Cell::Number(value) => Cell::Number(value),
            Cell::Integer(value) => Cell::Integer(value),
            Cell::Truth(value) => Cell::Truth(value),
            Cell::Text(_) | Cell::Time(_) | Cell::Null => return self.judge_anew(cell),
        };
        if let Self::Classes { numbers, .. } = self
            && let Some((_, verdict)) = numbers.iter().find(|(known, _)| *known == own)
        {
            return Ok(*verdict);
        }
        let verdict = self.judge_anew(cell)?;
        match self {
            Self::Classes { numbers, .. } if numbers.len() < NUMBERS => {
                numbers.push((own, verdict));
            }
            Self::Classes { .. } | Self::Numbers { .. } => {}
        }
        Ok(verdict)
    }

    fn judge_anew(&mut self, cell: Cell<'_>) -> Result<Verdict, Fault> {
        match self {
            Self::Numbers { range, bounded, none, .. } => {
                let value = number(cell, none, *range, *bounded)?;
                Ok(value.map_or(Verdict::Missing, |value| Verdict::Keep(Label::Value(value))))
            }
            Self::Classes { names, index, origin, most, others, spellings, none, .. } => {
                if let Cell::Number(value) = cell
                    && value.is_infinite()
                {
                    return Err(fault!("the label must be finite, got {value}"));
                }
                let name = label_name(cell);
                if let Some(&class) = index.get(name.as_ref()) {
                    return Ok(Verdict::Keep(Label::Class(class)));
                }
                if none.is(cell) {
                    return Ok(Verdict::Missing);
                }
                let is_text = matches!(cell, Cell::Text(_));
                if is_text {
                    spellings.see(&name);
                }
                if *origin == Origin::User {
                    // A typed number has no spelling that could differ from the listed one.
                    let same = |given: &String| number_name(given).as_ref() == Some(&name);
                    if let Some(class) = names.iter().position(same).filter(|_| !is_text) {
                        return Ok(Verdict::Keep(Label::Class(class as u32)));
                    }
                    if others.len() < OTHERS {
                        others.insert(crate::cell::quoted(&name));
                    }
                    return Ok(Verdict::LeaveOut);
                }
                let class = names.len() as u32;
                if class >= *most {
                    return Err(fault!(
                        "more than {limit} classes; for a numeric target, use `§loss squared`, \
                         and `§target-range LOW,HIGH` where preprocessing is declared",
                        limit = *most
                    ));
                }
                names.push(name.clone().into_owned());
                index.insert(name.into_owned(), class);
                Ok(Verdict::Keep(Label::Class(class)))
            }
        }
    }

    /// Judges the next of several labels of a row, the first of which is at 0.
    pub(crate) fn judge_next(&mut self, at: usize, cell: Cell<'_>) -> Result<Verdict, Fault> {
        let Self::Numbers { range, bounded, values, none, .. } = self else {
            return Err(fault!(
                "several labels are numbers to predict together, and this is a classification; \
                 use `§mechanism ridge` and `§loss squared`, or name one label"
            ));
        };
        values.truncate(at);
        let Some(value) = number(cell, none, *range, *bounded)? else {
            return Ok(Verdict::Missing);
        };
        values.push(value);
        Ok(Verdict::Keep(Label::Values))
    }

    /// Returns the numbers of several labels that were judged last; empty for classes.
    pub(crate) fn values(&self) -> &[f64] {
        match self {
            Self::Numbers { values, .. } => values,
            Self::Classes { .. } => &[],
        }
    }

    /// Returns the label as records carry it.
    pub(crate) fn reference(&self, label: Label) -> LabelRef<'_> {
        match (label, self) {
            (Label::Value(value), _) => LabelRef::Value(value),
            (Label::Values, Self::Numbers { values, .. }) => LabelRef::Values(values),
            (Label::Values, Self::Classes { .. }) => LabelRef::Values(&[]),
            (Label::Class(index), Self::Classes { names, .. }) => {
                let name = names.get(index as usize).map_or("", String::as_str);
                LabelRef::Class { index, name }
            }
            (Label::Class(index), Self::Numbers { .. }) => LabelRef::Class { index, name: "" },
        }
    }

    /// Returns the classes in final order, `None` for numbers.
    pub(crate) fn table(&self) -> Option<ClassTable> {
        let Self::Classes { names, index, origin, spellings, .. } = self else { return None };
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        if *origin == Origin::Data {
            let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
            sort_classes(&mut sorted);
            order = sorted.iter().filter_map(|name| index.get(*name).copied()).collect();
        }
        let mut from_provisional = vec![0; names.len()];
        for (last, &provisional) in order.iter().enumerate() {
            from_provisional[provisional as usize] = last as u32;
        }
        let names = order.iter().map(|&index| names[index as usize].clone()).collect();
        let one_number = spellings.pairs().to_vec();
        Some(ClassTable { names, origin: *origin, from_provisional, one_number })
    }
}

/// Returns the number of a label; `None` if that is missing.
fn number(
    cell: Cell<'_>,
    none: &Missing,
    range: Option<(f64, f64)>,
    bounded: bool,
) -> Result<Option<f64>, Fault> {
    if none.is(cell) {
        return Ok(None);
    }
    let value = cell.number().ok_or_else(|| {
        let text = cell.text();
        let value = crate::cell::quoted(&text);
        match is_number_in_words(&text) {
            true => fault!(
                "the label must be a plain number, such as `1234.5`, for regression, got `{value}`"
            ),
            false => fault!("the label must be a number for regression, got `{value}`"),
        }
    })?;
    if value.is_nan() {
        return Ok(None);
    }
    if !value.is_finite() {
        return Err(fault!("the label must be finite, got {value}"));
    }
    match range {
        Some((low, high)) if !(low..=high).contains(&value) => Err(fault!(
            "the label must be in the declared range [{}, {}], got {}",
            short(low),
            short(high),
            short(value)
        )),
        _ if bounded && !is_single_sized(value) => Err(large_label(value)),
        _ => Ok(Some(value)),
    }
}

/// Returns a number for a message: in scientific notation if it would otherwise have many zeros.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e16 || (size > 0.0 && size < 1e-5) => format!("{value:e}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(names: &[&str]) -> ReadOptions {
        let classes = Some(names.iter().map(|name| (*name).to_owned()).collect());
        ReadOptions { classes, ..ReadOptions::default() }
    }

    fn regression(range: Option<(f64, f64)>) -> ReadOptions {
        ReadOptions { task: Task::Regression { range }, ..ReadOptions::default() }
    }

    #[test]
    fn collected_classes_are_sorted_by_value() {
        let mut labels = Labels::new(&ReadOptions::default()).unwrap();
        for text in ["10", "9", "-1", "9"] {
            labels.judge(Cell::Text(text)).unwrap();
        }
        let table = labels.table().unwrap();
        assert_eq!(table.names, ["-1", "9", "10"]);
        assert_eq!(table.from_provisional, [2, 1, 0]);
        assert_eq!(table.origin, Origin::Data);
        assert_eq!((table.remap(0), table.remap(3)), (Some(2), None));
    }

    #[test]
    fn words_are_sorted_as_text() {
        let mut labels = Labels::new(&ReadOptions::default()).unwrap();
        for text in [">50K", "<=50K", "10"] {
            labels.judge(Cell::Text(text)).unwrap();
        }
        assert_eq!(labels.table().unwrap().names, ["10", "<=50K", ">50K"]);
    }

    #[test]
    fn given_classes_keep_their_order_and_leave_others_out() {
        let mut labels = Labels::new(&classes(&["8", "3"])).unwrap();
        assert_eq!(labels.judge(Cell::Integer(3)), Ok(Verdict::Keep(Label::Class(1))));
        assert_eq!(labels.judge(Cell::Number(8.0)), Ok(Verdict::Keep(Label::Class(0))));
        assert_eq!(labels.judge(Cell::Text("4")), Ok(Verdict::LeaveOut));
        let table = labels.table().unwrap();
        assert_eq!((table.names[0].as_str(), table.origin), ("8", Origin::User));
        assert_eq!(table.from_provisional, [0, 1]);
    }

    #[test]
    fn bad_class_lists_are_refused() {
        let refused = |names: &[&str]| Labels::new(&classes(names)).unwrap_err().to_string();
        assert_eq!(refused(&["1"]), "`classes` needs at least two classes, got 1");
        assert_eq!(refused(&["1", " 1"]), "`classes` names `1` twice");
        assert_eq!(refused(&["1", " "]), "`classes` has an empty name");
    }

    #[test]
    fn regression_labels_are_checked() {
        let mut labels = Labels::new(&regression(Some((0.0, 1.0)))).unwrap();
        assert_eq!(labels.judge(Cell::Text("0.5")), Ok(Verdict::Keep(Label::Value(0.5))));
        let refused = |labels: &mut Labels, text| labels.judge(Cell::Text(text)).unwrap_err();
        assert_eq!(
            refused(&mut labels, "2").to_string(),
            "the label must be in the declared range [0, 1], got 2"
        );
        assert_eq!(
            refused(&mut labels, "-1e300").to_string(),
            "the label must be in the declared range [0, 1], got -1e300"
        );
        for text in ["", "nan", "NULL"] {
            assert_eq!(labels.judge(Cell::Text(text)), Ok(Verdict::Missing), "{text}");
        }
        assert_eq!(refused(&mut labels, "-inf").to_string(), "the label must be finite, got -inf");
        assert_eq!(
            refused(&mut labels, "x").to_string(),
            "the label must be a number for regression, got `x`"
        );
        assert_eq!(
            refused(&mut labels, "10,17").to_string(),
            "the label must be a plain number, such as `1234.5`, for regression, got `10,17`"
        );
        let upside_down = Labels::new(&regression(Some((1.0, 0.0)))).unwrap_err();
        assert_eq!(
            upside_down.to_string(),
            "the label range must be finite with low < high, got [1, 0]"
        );
    }

    #[test]
    fn too_many_classes_hint_at_regression() {
        let mut options = ReadOptions::default();
        options.limits.classes = 2;
        let mut labels = Labels::new(&options).unwrap();
        labels.judge(Cell::Integer(1)).unwrap();
        labels.judge(Cell::Integer(2)).unwrap();
        let error = labels.judge(Cell::Integer(3)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "more than 2 classes; for a numeric target, use `§loss squared`, and `§target-range LOW,HIGH` \
             where preprocessing is declared"
        );
    }
}
