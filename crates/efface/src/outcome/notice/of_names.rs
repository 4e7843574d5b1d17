//! Columns that name records or people, and are learnt from all the same.
//!
//! Neither a name nor values would do alone: a price may differ in every record, and what is called
//! `id` may be one of three codes.

use efface_formats::{Fitted, RawRows, Spelling, TellingApart};

use super::{Notice, NoticeCode, alike};

/// How many columns are listed.
const LISTED: usize = 6;

/// Different values that a column of people has at least: fewer are groups of them.
const MANY: usize = 20;

/// Columns that are learnt from and name records or people, and columns of numbers that may be others.
/// `subjects` says whether the people are named by another column already; `are_first`, whether the rows
/// are only the first of those that the statistics are of.
pub(crate) fn names_learnt(
    rows: &RawRows,
    found: &Fitted,
    subjects: bool,
    are_first: bool,
) -> Vec<Notice> {
    let spellings = rows.spellings();
    let mut notices: Vec<Notice> = ids_learnt(rows, found, &spellings).into_iter().collect();
    notices.extend(people_learnt(rows, found, &spellings, subjects));
    notices.extend(numbers_unclear(found, &spellings));
    if are_first {
        for notice in &mut notices {
            notice.message = format!("in the first {} records: {}", rows.len(), notice.message);
        }
    }
    notices.extend(alike(found));
    notices
}

/// Columns most of whose cells have the look of numbers or days and are read as neither.
fn numbers_unclear(found: &Fitted, spellings: &[Spelling]) -> Vec<Notice> {
    let mut notices = Vec::new();
    let columns = found.kinds().into_iter().zip(spellings);
    for (column, spelling) in columns.filter(|(column, _)| !column.is_declared) {
        let name = column.name;
        let taken = match column.kind {
            Some("numbers" | "times") => continue,
            kind => kind.unwrap_or("words"),
        };
        // Words before a number, as in `Room 7`, are names if each is in one record.
        let is_name = |text: &&str| column.left_out && text.starts_with(char::is_alphabetic);
        let message = if let Some((day, is_unread)) = spelling.days() {
            let why = match is_unread {
                true => "in a form that is not read",
                false => "and which number in them is the day is not clear, or not the same in all",
            };
            format!(
                "most values of the column `{name}` look like dates, such as `{day}`, {why}, and the column was \
                 taken for {taken}; write dates as `2024-01-31` or `2024-01-31 10:00`"
            )
        } else if let Some(example) = spelling.unread().filter(|text| !is_name(text)) {
            format!(
                "most values of the column `{name}` look like numbers, but some, such as `{example}`, cannot be \
                 read as numbers, and the column was taken for {taken}, each text by itself; where they are \
                 numbers, write them as plain ones (`12600`)"
            )
        } else if let Some(word) = spelling.word_among_numbers() {
            format!(
                "most values of the column `{name}` are numbers, but too many are words, such as `{word}`, and \
                 all were taken for {taken}, each number by itself; where such a word says that there is no \
                 number, train with `§missing {word}`"
            )
        } else {
            continue;
        };
        notices.push(Notice::new(NoticeCode::NumbersUnclear, message));
    }
    notices
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
            && rows.lists_names(*at, MANY)
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
    let is_person = |word: &str| is_in(PEOPLE, word);
    let is_mark = |word: &str| is_in(MARKS, word) || BEHIND.contains(&word);
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [word] => is_person(word) || glued(word).is_some_and(is_person),
        ["id", person] => is_person(person),
        [.., person, mark] => is_person(person) && is_mark(mark),
        [] => false,
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

/// Those whom a column lists that is called after them.
const PEOPLE: &str = "applicant benutzer client cliente cust customer employee klant kunde kunden member \
                      mitarbeiter mitglied nutzer paciente passenger patient patienten paziente person \
                      respondent student subject teilnehmer user usuario utente utilisateur";

/// Words that say it wherever a name ends in them.
const MARKS: &str = "ean guid iban id identifier idx isbn nbr nr number numero nummer phone pk rowid rownames \
                     serial ssn uid uuid";

/// Whether a word is one of a list.
fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Words that say it behind another one.
const BEHIND: [&str; 2] = ["key", "no"];

/// What else numbers name, if the two are one word.
const THINGS: [&str; 6] = ["account", "invoice", "order", "record", "row", "transaction"];

/// Whole names of counters.
const COUNTERS: [&str; 11] =
    ["", "case", "idx", "index", "line", "no", "nr", "obs", "record", "row", "seq"];

impl Named {
    fn of(name: &str) -> Option<Self> {
        let lower = name.trim().to_lowercase();
        // What pandas and R call the column of a header without a name.
        let numbered = |before: &str| {
            let rest = lower.strip_prefix(before);
            rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        if numbered("unnamed: ") || numbered("level_") {
            return Some(Self::Clearly);
        }
        if COUNTERS.contains(&lower.as_str()) || numbered("...") {
            return Some(Self::Perhaps);
        }
        let words = words(name);
        let is_clear = match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            // Measurements are called so as often.
            [] | ["number" | "numero"] => false,
            [word] => is_in(MARKS, word) || is_in(PEOPLE, word) || glued(word).is_some(),
            // `id_client`, as in French and Spanish.
            [first, .., last] => {
                *first == "id"
                    || is_in(MARKS, last)
                    || BEHIND.contains(last)
                    || glued(last).is_some()
            }
        };
        is_clear.then_some(Self::Clearly)
    }
}

/// The word before a mark that is written together with it: `userid`, `kundennummer`.
fn glued(word: &str) -> Option<&str> {
    let marks = ["id", "nr", "no", "nummer", "number", "uuid"];
    let found = marks.iter().find_map(|mark| word.strip_suffix(mark));
    found.filter(|before| is_in(PEOPLE, before) || THINGS.contains(before))
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
        for name in ["group_id", "item", "invoice_no", "users", "subjective", "user_age", "no", ""]
        {
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
