//! Columns that name records or people, and are learnt from all the same.
//!
//! Neither a name nor values would do alone: a price may differ in every record, and what is called
//! `id` may be one of three codes.

use efface_formats::{Fitted, RawRows, Spelling, TellingApart};
use efface_learn::loss::Task;

use super::{Notice, NoticeCode, alike};
use crate::plan::Choices;

/// How many columns are listed.
const LISTED: usize = 6;

/// Different values that a column of people has at least: fewer are groups of them.
const PEOPLE: usize = 20;

/// Columns that are learnt from and name records or people, and columns of numbers that may be others.
/// `subjects` says whether the people are named by another column already.
pub(crate) fn names_learnt(
    rows: &RawRows,
    found: &Fitted,
    subjects: bool,
) -> impl Iterator<Item = Notice> {
    seen(rows, found, subjects).chain(alike(found))
}

/// The same where the rows are only the first of those that the statistics are of.
pub(crate) fn names_in_first(
    rows: &RawRows,
    found: &Fitted,
    subjects: bool,
) -> impl Iterator<Item = Notice> {
    let records = rows.len();
    let in_first = move |notice: Notice| {
        let message = format!("in the first {records} records: {}", notice.message);
        Notice { message, ..notice }
    };
    seen(rows, found, subjects).map(in_first).chain(alike(found))
}

fn seen(rows: &RawRows, found: &Fitted, subjects: bool) -> impl Iterator<Item = Notice> {
    let spellings = rows.spellings();
    let people = people_learnt(rows, found, &spellings, subjects);
    let ids = ids_learnt(rows, found, &spellings).into_iter();
    ids.chain(people).chain(numbers_unclear(found, &spellings))
}

/// Columns of numbers whose spelling leaves open which numbers they are.
fn numbers_unclear(found: &Fitted, spellings: &[Spelling]) -> Vec<Notice> {
    let mut notices = Vec::new();
    for (column, spelling) in found.kinds().into_iter().zip(spellings) {
        let name = column.name;
        let mut tell = |message| notices.push(Notice::new(NoticeCode::NumbersUnclear, message));
        if column.kind != Some("numbers") {
            let is_found = !column.is_declared && column.kind != Some("times");
            // Words before a number, as in `Room 7`, are names where each is in one record.
            let is_name = |text: &&str| column.left_out && text.starts_with(char::is_alphabetic);
            let example = spelling.unread().filter(|text| is_found && !is_name(text));
            if let Some(example) = example {
                let taken = column.kind.unwrap_or("words");
                tell(format!(
                    "most values of the column `{name}` look like numbers, but some, such as `{example}`, \
                     cannot be read as numbers or dates, and the column was taken for {taken}, each text \
                     by itself; where they are numbers, write them as plain ones (`12600`), and dates as \
                     `2024-01-31`"
                ));
            }
            if let Some(word) = spelling.word_among_numbers().filter(|_| is_found) {
                tell(format!(
                    "most values of the column `{name}` are numbers, but too many are words, such as \
                     `{word}`, and all were taken for categories, each number by itself; where such a word \
                     says that there is no number, train with `§missing {word}`"
                ));
            }
            continue;
        }
        if column.is_clock && spelling.mixes_clock() {
            tell(format!(
                "most values of the column `{name}` are times of day, which were read as seconds since \
                 midnight, and some are plain numbers, which were taken for such seconds; write all in one \
                 way"
            ));
        }
        if column.is_clock && spelling.mixes_seconds() {
            tell(format!(
                "some times of day in the column `{name}` have seconds and some have none: `1:05` was read \
                 as 5 past 1, and `1:05:30` as half a minute later; where they are durations, write all of \
                 them as seconds"
            ));
        }
        if spelling.may_separate_thousands() {
            tell(format!(
                "the numbers of the column `{name}` are whole ones below 1000 and others with a point and \
                 three digits behind it: as 7.489 these were read, and not as 7489; where points separate \
                 thousands, write the numbers without them"
            ));
        }
        if spelling.has_codes() {
            tell(format!(
                "some numbers of the column `{name}` begin with zeros, as codes do, and all were learnt as \
                 numbers; write a letter before each code, so that they are categories"
            ));
        }
        if spelling.mixes_percent() {
            tell(format!(
                "some numbers of the column `{name}` have a percent sign and some have none; the sign is \
                 left out, so that 28% is read as 28; write all of them in one way"
            ));
        }
        if spelling.mixes_currencies() {
            tell(format!(
                "the column `{name}` has amounts of several currencies, which are read as plain numbers; \
                 convert them, or put the currency into a column of its own"
            ));
        }
    }
    notices
}

/// Labels of which the same is unclear, where numbers are learnt.
pub(crate) fn label_thousands(unclear: bool, choices: &Choices) -> Option<Notice> {
    let is_learnt = choices.loss.task() == Task::Regression;
    let message = "the labels are whole numbers below 1000 and others with a point and three digits behind \
                   it: as 7.489 these were read, and not as 7489; where points separate thousands, write \
                   the labels without them and train again";
    (unclear && is_learnt).then(|| Notice::new(NoticeCode::NumbersUnclear, message))
}

/// The first column that seems to name people, each in several records, and is learnt from.
fn people_learnt(
    rows: &RawRows,
    found: &Fitted,
    spellings: &[Spelling],
    subjects: bool,
) -> Option<Notice> {
    let kinds = found.kinds();
    let mut learnt = kinds.iter().enumerate().filter(|(_, column)| !column.left_out);
    let (_, column) = learnt.find(|(at, column)| {
        (names_people(column.name) || lists_addresses(spellings, *at))
            && rows.lists_names(*at, PEOPLE)
            && rows.telling_apart(*at).is_none()
    })?;
    let name = column.name;
    let message = match subjects {
        false => format!(
            "the column `{name}` seems to name people, each in several records, and is learnt from: \
             train with `§subject {name}`, so that all records of a person can be deleted at once, \
             or leave it out with `§ignore {name}`"
        ),
        true => format!(
            "the column `{name}` seems to name people, each in several records, and is learnt from, \
             although the subjects are named already: leave it out with `§ignore {name}`"
        ),
    };
    Some(Notice::new(NoticeCode::SubjectLearnt, message))
}

fn lists_addresses(spellings: &[Spelling], column: usize) -> bool {
    spellings.get(column).is_some_and(Spelling::lists_addresses)
}

/// Whether a column is called what lists of people call them: `patient_no`, `UserId`, `subject#`.
fn names_people(name: &str) -> bool {
    let words = words(name);
    let Some((last, before)) = words.split_last() else { return false };
    let person = |word: &str| word == "subject" || word != "invoice" && WHO.contains(&word);
    let marked = |word: &str| person(word) || MANY.contains(&word);
    let mark = |word: &str| MARKS.contains(&word) || BEHIND.contains(&word);
    match before {
        [] => {
            let glued = ["id", "no", "nr", "key", "nummer", "number"];
            person(last) || glued.iter().any(|mark| last.strip_suffix(mark).is_some_and(marked))
        }
        [.., thing] => marked(thing) && mark(last) || before == ["id"] && person(last),
    }
}

/// Columns that seem to name records and are learnt from.
fn ids_learnt(rows: &RawRows, found: &Fitted, spellings: &[Spelling]) -> Option<Notice> {
    let kinds = found.kinds();
    let names = kinds.iter().enumerate().filter(|(_, column)| !column.left_out);
    let names: Vec<(&str, TellingApart)> = names
        .filter_map(|(at, column)| {
            let address = || lists_addresses(spellings, at).then_some(Named::Clearly);
            let named = Named::of(column.name).or_else(address)?;
            let apart = rows.telling_apart(at)?;
            (named == Named::Clearly || apart.dense).then_some((column.name, apart))
        })
        .collect();
    let (first, _) = names.first()?;
    let every = if names.iter().all(|(_, apart)| apart.in_every_row) {
        "every record"
    } else {
        "every record, or nearly every one,"
    };
    let message = match &names[..] {
        [_] => format!(
            "the column `{first}` has another value in {every} and is learnt from: if it names \
             records, train with `§id {first}`, or leave it out with `§ignore {first}`"
        ),
        all => {
            let mut listed: Vec<String> =
                all.iter().take(LISTED).map(|(name, _)| format!("`{name}`")).collect();
            match all.len() - listed.len() {
                0 => {}
                1 => listed.push("1 more".to_owned()),
                more => listed.push(format!("{more} more")),
            }
            let last = listed.pop().unwrap_or_default();
            let ignored: Vec<&str> = all.iter().take(LISTED).map(|(name, _)| *name).collect();
            format!(
                "the columns {} and {last} have another value in {every} and are learnt from: if \
                 one of them names records, train with it as `§id {first}`; leave out the \
                 others, or all with `§ignore {}`",
                listed.join(", "),
                ignored.join(",")
            )
        }
    };
    Some(Notice::new(NoticeCode::IdLearnt, message))
}

/// How far the name of a column says that it names records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// `customer_id`, `InvoiceNo`, `Unnamed: 0`.
    Clearly,
    /// `no`, `row`, or no name at all: a counter of rows may be called so, and what is measured, too.
    Perhaps,
}

/// What a number behind it identifies.
const THINGS: [&str; 42] = [
    "account",
    "applicant",
    "bill",
    "booking",
    "card",
    "case",
    "certificate",
    "claim",
    "client",
    "contract",
    "cust",
    "customer",
    "document",
    "employee",
    "file",
    "household",
    "invoice",
    "item",
    "loan",
    "member",
    "object",
    "obs",
    "observation",
    "order",
    "passenger",
    "patient",
    "person",
    "policy",
    "product",
    "record",
    "reference",
    "registration",
    "respondent",
    "row",
    "sample",
    "session",
    "student",
    "subject",
    "ticket",
    "transaction",
    "user",
    "visit",
];

/// People and papers that a column of one's own name lists.
const WHO: [&str; 22] = [
    "client",
    "cliente",
    "customer",
    "empleado",
    "employee",
    "gebruiker",
    "invoice",
    "klant",
    "kunde",
    "member",
    "mitglied",
    "paciente",
    "passenger",
    "patient",
    "paziente",
    "person",
    "respondent",
    "student",
    "user",
    "usuario",
    "utente",
    "utilisateur",
];

/// Those that mean several, and how many of them where nothing stands behind.
const MANY: [&str; 8] = [
    "benutzer",
    "kunden",
    "mitarbeiter",
    "mitglieds",
    "nutzer",
    "patienten",
    "personal",
    "teilnehmer",
];

/// Words that say it wherever a name ends in them.
const MARKS: [&str; 29] = [
    "barcode",
    "ean",
    "guid",
    "iban",
    "id",
    "identifier",
    "idx",
    "imei",
    "isbn",
    "msisdn",
    "nbr",
    "nr",
    "num",
    "number",
    "numero",
    "nummer",
    "phone",
    "pk",
    "rowid",
    "rowname",
    "rownames",
    "rownum",
    "rownumber",
    "serial",
    "sku",
    "ssn",
    "telephone",
    "uid",
    "uuid",
];

/// Words that say it behind a thing.
const BEHIND: [&str; 6] = ["code", "index", "key", "no", "ref", "reference"];

/// Whole names of counters.
const COUNTERS: [&str; 11] =
    ["", "case", "idx", "index", "line", "no", "nr", "obs", "record", "row", "seq"];

/// Whole names that measurements have as often.
const ANYTHING: [&str; 3] = ["num", "number", "numero"];

impl Named {
    fn of(name: &str) -> Option<Self> {
        let lower = name.trim().to_lowercase();
        // What pandas and R call the column of a header without a name.
        let numbered = |before: &str| {
            let rest = lower.strip_prefix(before);
            rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        if numbered("unnamed: ") || numbered("level_") || lower == "rownames" {
            return Some(Self::Clearly);
        }
        if COUNTERS.contains(&lower.as_str()) || numbered("...") {
            return Some(Self::Perhaps);
        }
        if ANYTHING.contains(&lower.as_str()) {
            return None;
        }
        let words = words(name);
        let (last, before) = words.split_last()?;
        let thing = before.last().is_some_and(|word| THINGS.contains(&word.as_str()));
        let clear = match before {
            [] => WHO.contains(&last.as_str()) || MARKS.contains(&last.as_str()) || glued(last),
            [first, ..] => {
                MARKS.contains(&last.as_str())
                    || glued(last)
                    || thing && BEHIND.contains(&last.as_str())
                    // `id_client`, as in French and Spanish.
                    || first == "id"
            }
        };
        clear.then_some(Self::Clearly)
    }
}

/// A thing and a mark in one word: `userid`, `kundennummer`.
fn glued(word: &str) -> bool {
    let marks = ["id", "no", "nr", "num", "key", "code", "index"];
    let things = |rest: &str| THINGS.contains(&rest);
    marks.iter().any(|mark| word.strip_suffix(mark).is_some_and(things))
        || ["nummer", "number", "uuid"].iter().any(|mark| word.ends_with(mark))
}

/// The words of a name in lower case: `CustomerID2` has `customer` and `id`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        let after = |upper: bool| letters.get(at + 1).is_some_and(|c| c.is_lowercase() == upper);
        let before = at.checked_sub(1).map(|at| letters[at]);
        let begins = letter.is_uppercase()
            && before.is_some_and(|c| c.is_lowercase() || c.is_uppercase() && after(true));
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_are_told_from_those_of_things() {
        for name in [
            "patient_no",
            "patient",
            "subject#",
            "Subject",
            "UserId",
            "userid",
            "id_client",
            "customer key",
            "Kunde Nr",
            "Kundennummer",
            "id_cliente",
        ] {
            assert!(names_people(name), "{name}");
        }
        for name in [
            "Mitarbeiter",
            "group_id",
            "item",
            "invoice_no",
            "users",
            "subjective",
            "user_age",
            "no",
            "",
        ] {
            assert!(!names_people(name), "{name}");
        }
    }

    #[test]
    fn names_that_say_it_are_told_from_those_that_may() {
        for name in [
            "id",
            "ID",
            "Id",
            "customer_id",
            "CustomerId",
            "CustomerID2",
            "passengerid",
            "row id",
            "member_no",
            "MemberNo",
            "customer_nr",
            "invoice_number",
            "InvoiceNo",
            "invoiceno",
            "Unnamed: 0",
            "Unnamed: 12",
            "rowid",
            "RowNumber",
            "rownames",
            "Kundennummer",
            "kunden-nr",
            "id_client",
            "ID Cliente",
            "uuid",
            "order key",
            "account_code",
            "record index",
            "user",
            "phone_number",
            "SSN",
            "level_0",
            "IDNumber",
        ] {
            assert_eq!(Named::of(name), Some(Named::Clearly), "{name}");
        }
        for name in ["", "no", "No", "row", "index", "...1"] {
            assert_eq!(Named::of(name), Some(Named::Perhaps), "{name}");
        }
        for name in [
            "price",
            "paid",
            "humid",
            "bid",
            "grid",
            "age",
            "year",
            "time",
            "timestamp",
            "day",
            "income",
            "price_index",
            "body mass index",
            "zip_code",
            "number_of_rooms",
            "no2",
            "NO2",
            "platinum",
            "weight",
            "piano",
            "casino",
            "x_position",
            "x",
            "X1",
            "n",
            "number",
            "#",
            "users",
        ] {
            assert_eq!(Named::of(name), None, "{name}");
        }
    }
}
