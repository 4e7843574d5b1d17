//! Notices about the rows of a table.
//!
//! These sentences hold statistics of private rows: they are told to whoever brought the rows and
//! kept nowhere.

use efface_formats::{ColumnKind, Fitted, PrivateEvidence, RawRows, Unlike};
use efface_page::number::counted;

use super::{Notice, NoticeCode};
use crate::plan::Plan;
use crate::settings::in_code;

/// The share of rows from which clipping is spoken of, and that a better bound would clip.
const SHARE: f64 = 0.01;

/// Rows that were longer than the bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clipped {
    /// Their number.
    pub(crate) scaled: u64,
    /// Those of them that were longer by more than a rounding.
    pub(crate) longer: u64,
    /// The number of all rows.
    pub(crate) rows: u64,
    /// A bound that at most one row in a hundred exceeds, if the lengths are known.
    pub(crate) fitting: Option<f64>,
}

impl Clipped {
    /// Counts the rows of a table that was read.
    pub(crate) fn of(private: &efface_formats::PrivateEvidence, rows: u64) -> Self {
        let fitting = private.lengths.exceeded_by((rows as f64 * SHARE) as u64);
        let longer = private.lengths.count();
        Self { scaled: private.rows_scaled, longer, rows, fitting }
    }
}

/// Warns if a share of the rows was shortened that matters.
pub(crate) fn of_clipped(plan: &Plan, clipped: &Clipped) -> Option<Notice> {
    let Clipped { longer, rows, fitting, .. } = *clipped;
    if plan.rows.map != "clip" || longer == 0 || (longer as f64) < SHARE * rows as f64 {
        return None;
    }
    let bound = plan.rows.norm;
    let share = if longer == rows {
        format!("all {rows} rows")
    } else {
        format!("{longer} of {rows} rows ({:.1} %)", 100.0 * longer as f64 / rows as f64)
    };
    let better = fitting.map_or_else(String::new, |norm| {
        format!(
            "; a bound of {norm} would clip at most 1 % (computed from these rows and not stored: \
             choose one that is public knowledge)"
        )
    });
    let message =
        format!("{share} exceeded `§row-norm` {bound} and were scaled down to it{better}");
    Some(Notice::new(NoticeCode::RowsClipped, message))
}

/// Labels that are numbers, so that the model is a regression although nobody said so.
pub(crate) fn as_regression(values: usize) -> Notice {
    let message = format!(
        "the label has {values} values, all of them numbers, so the model learns a number (`§loss \
         squared`); for classes give `§loss softmax`"
    );
    Notice::new(NoticeCode::RegressionChosen, message)
}

/// A column of whose values nothing is learnt, and why.
fn column_left_out(column: &ColumnKind<'_>, now: &Fitted) -> Notice {
    let name = column.name;
    let what = match column.shows_missing {
        true => format!("only whether it is missing is learnt from the column `{name}`"),
        false => format!("nothing is learnt from the column `{name}`"),
    };
    let message = if column.is_few {
        let least = now.rules().min_missing;
        format!(
            "{what}: fewer than {least} records have a value. Leave it out (`§ignore {name}`) if that \
             should not be learnt either"
        )
    } else {
        let least = now.least_of_left_out();
        format!(
            "{what}: none of its values is in {least} records or more. If it names records or people, say \
             so (`§id {name}`, `§subject {name}`); else leave it out (`§ignore {name}`), or for rare \
             categories give a lower `§min-frequency`, such as 1"
        )
    };
    Notice::new(NoticeCode::ColumnLeftOut, message)
}

/// Columns that are taken for something else than `before` a request, texts that count as missing, and
/// columns that nothing is learnt from: surprises that single values can make.
pub(crate) fn of_columns(before: Option<&Fitted>, now: &Fitted) -> Vec<Notice> {
    let then = before.map(Fitted::kinds).unwrap_or_default();
    let is_first = before.is_none();
    let mut notices: Vec<Notice> = rounded(now).filter(|_| is_first).into_iter().collect();
    for column in now.kinds() {
        let name = column.name;
        let earlier = then.iter().find(|earlier| earlier.name == name);
        if let Some((was, is)) = earlier.and_then(|earlier| earlier.kind).zip(column.kind)
            && was != is
        {
            let message = format!(
                "the column `{name}` was taken for {was} and is now taken for {is}, as its values \
                 have changed; `§efface status` shows all columns"
            );
            notices.push(Notice::new(NoticeCode::ColumnChanged, message));
        }
        if column.strays > earlier.map_or(0, |earlier| earlier.strays) {
            notices.push(texts_missing(column.strays, "record", &column, column.are_codes));
        }
        if column.left_out && !earlier.is_some_and(|earlier| earlier.left_out) {
            notices.push(column_left_out(&column, now));
        }
    }
    notices
}

/// Fewer values than so many may be new ones in few rows.
const SOME: u64 = 3;

/// Cells of rows to predict, by column: texts that count as missing, and values that no record had at training,
/// if these are more than half.
pub(crate) fn of_rows_to_predict(found: &Fitted, counts: &[Unlike]) -> Vec<Notice> {
    let mut notices = Vec::new();
    for (column, count) in found.kinds().into_iter().zip(counts) {
        if count.texts > 0 {
            // Those that are categories of the column are not counted.
            notices.push(texts_missing(count.texts, "row", &column, false));
        }
        if count.unseen >= SOME && 2 * count.unseen > count.values && !column.left_out {
            let message = format!(
                "{} of {} in the column `{}` are none of its categories at training: check that they are spelled \
                 as they were then",
                count.unseen,
                counted(count.values, "value"),
                column.name
            );
            notices.push(Notice::new(NoticeCode::ValuesUnseen, message));
        }
    }
    notices
}

fn texts_missing(count: u64, thing: &str, column: &ColumnKind<'_>, are_codes: bool) -> Notice {
    let (rows, texts) = match count {
        1 => (format!("1 {thing} has"), "it counts"),
        count => (format!("{count} {thing}s have"), "they count"),
    };
    let kind = if column.kind == Some("times") { "date" } else { "number" };
    let result = if are_codes {
        "; since such texts come again, all values of the column are categories, too".to_owned()
    } else {
        format!(", and {texts} as missing there; correct such texts where they hold a {kind}")
    };
    let message = format!(
        "{rows} a text in the column `{}` that is no {kind}, as the other values are{result}",
        column.name
    );
    Notice::new(NoticeCode::TextsMissing, message)
}

/// As many numbers in a row as there are records, or more.
pub(crate) fn few_records(found: &Fitted) -> Option<Notice> {
    let (records, width) = (found.records(), u64::from(found.width()));
    let (of, features) = (counted(records, "record"), counted(width, "feature"));
    let message = format!(
        "{of} of {features}: weights can be found that fit any labels of so few, so \
         judge the model on other rows; more records help, or fewer columns (`§ignore COLUMN`)"
    );
    (records <= width).then(|| Notice::new(NoticeCode::FewRecords, message))
}

/// Columns from which nothing can be learnt, since all records have the same in them.
pub(crate) fn constant(rows: &RawRows) -> Option<Notice> {
    let names = rows.frame().feature_columns();
    let same = (0..names.len()).filter(|at| rows.is_constant(*at)).filter_map(|at| names.name(at));
    let same: Vec<String> = same.map(|name| name.into_owned()).collect();
    let listed = match &same[..] {
        [] => return None,
        [one] => format!("the column `{one}` has"),
        [first, .., last] if same.len() > FEW => {
            format!("{} columns, `{first}` to `{last}`, each have", same.len())
        }
        [rest @ .., last] => format!("the columns `{}` and `{last}` each have", rest.join("`, `")),
    };
    let message = format!("{listed} the same value in all records: nothing can be learnt from it");
    Some(Notice::new(NoticeCode::ColumnConstant, message))
}

/// How many columns are listed.
const FEW: usize = 6;

/// A row index, as spreadsheets and data frames write it.
pub(crate) fn index_left_out(name: Option<&str>) -> Option<Notice> {
    let message = format!(
        "the row index, a column without a name, is left out; if it names records, train with `§id {}`",
        name?
    );
    Some(Notice::new(NoticeCode::IndexLeftOut, message))
}

/// Rows of classes that the model does not have, and rows without a label.
pub(crate) fn left_out(others: u64, unlabelled: u64) -> Option<Notice> {
    let rows =
        |rows: u64, what: &str| (rows > 0).then(|| format!("{} {what}", counted(rows, "row")));
    let found = [rows(others, "of other classes"), rows(unlabelled, "without a label")];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let were = if others + unlabelled == 1 { "was" } else { "were" };
    let message = format!("{} {were} left out", found.join(" and "));
    (!found.is_empty()).then(|| Notice::new(NoticeCode::RowsLeftOut, message))
}

/// Subjects that say, as a rule, that there is none: all their records would be one person's.
pub(crate) fn subjects_of_nobody(private: &PrivateEvidence) -> Option<Notice> {
    let found = private.nobody.iter().take(FEW);
    let found: Vec<String> = found
        .map(|(name, records)| format!("`{name}` ({})", counted(*records, "record")))
        .collect();
    let names: Vec<&str> = private.nobody.keys().take(FEW).map(String::as_str).collect();
    let message = format!(
        "the subjects {} are probably no people, and each would be deleted as one: if these records belong to \
         nobody, train with `§missing {}`",
        found.join(", "),
        names.join(",")
    );
    (!found.is_empty()).then(|| Notice::new(NoticeCode::ValuesAlike, message))
}

/// Texts that count as missing in a column of categories whose empty cells do, too: they may be values.
pub(crate) fn words_missing(found: &Fitted, private: &PrivateEvidence) -> Vec<Notice> {
    let columns = found.kinds().into_iter().filter(|column| column.kind == Some("categories"));
    let told = columns.filter_map(|column| {
        let counts = private.missing.get(column.name)?;
        let empty = counts.get("")?;
        let words: Vec<String> = counts.keys().filter(|word| !word.is_empty()).cloned().collect();
        let message = format!(
            "in the column `{}` {} and the texts {} all count as missing; if such a text is a value, list those \
             that are none with `§missing`, for which the list may be empty",
            column.name,
            counted(*empty, "empty cell"),
            listed(&words)
        );
        (!words.is_empty()).then(|| Notice::new(NoticeCode::ValuesAlike, message))
    });
    told.collect()
}

/// A notice on columns of an array that single precision, in which its numbers are kept, has no room for.
fn rounded(found: &Fitted) -> Option<Notice> {
    let columns = found.rounded();
    let shown: Vec<String> = columns.iter().map(u32::to_string).collect();
    let message = format!(
        "the numbers of an array are kept in single precision, which takes a part of what tells the records apart \
         in {} (counted from 0): {}; subtract a public constant from them, or give a data frame",
        counted(columns.len() as u64, "column"),
        listed(&shown)
    );
    (!columns.is_empty()).then(|| Notice::new(NoticeCode::NumbersUnclear, message))
}

/// Rows to evaluate on whose classes the model does not have, some of which are `names`: those rows
/// count as wrong if `counted_too`, else they are left out.
pub(crate) fn unknown_classes(rows: u64, names: &[String], counted_too: bool) -> Option<Notice> {
    let classes = if names.len() == 1 { "class" } else { "classes" };
    let (shown, rows_of) = (listed(names), counted(rows, "row"));
    let counts = match (counted_too, rows) {
        (true, 1) => "which counts as wrong",
        (true, _) => "which count as wrong",
        (false, 1) => "which is left out",
        (false, _) => "which are left out",
    };
    let message = format!("the model does not know the {classes} {shown} of {rows_of}, {counts}");
    (rows > 0).then(|| Notice::new(NoticeCode::UnknownClasses, message))
}

/// Names in code spans, at most ten of them.
pub(crate) fn listed(names: &[String]) -> String {
    in_code(names, 10)
}
