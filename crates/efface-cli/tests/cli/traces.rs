//! What a deleted record could leave behind, and the search for it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;

use crate::table::Draws;
use crate::workshop::Workshop;

/// What planted records are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Ten numbers and two classes.
    Numbers,
    /// As tables come: numbers of any size, missing ones, towns, days, sentences, classes. Some
    /// towns and a few classes are those of one record.
    Raw,
}

impl Form {
    pub(crate) const ALL: [Self; 2] = [Self::Numbers, Self::Raw];

    /// Names of the feature columns.
    fn columns(self) -> &'static str {
        match self {
            Self::Numbers => "x0,x1,x2,x3,x4,x5,x6,x7,x8,x9",
            Self::Raw => "age,income,spent,town,joined,note",
        }
    }

    /// The least number of needles that each record has in a vault: numbers, or pairs of them, and
    /// words.
    pub(crate) fn stored(self) -> usize {
        match self {
            Self::Numbers => 9,
            Self::Raw => 4,
        }
    }
}

/// A record whose id, subject and numbers stand nowhere else.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    form: Form,
    pub(crate) id: String,
    pub(crate) subject: String,
    cells: Vec<String>,
    label: String,
    /// Numbers that no other record has, neighbours in the table.
    numbers: Vec<String>,
    /// Words that no other record has.
    words: Vec<String>,
    /// The moment of its day, to a second that no other record has, as a vault stores it.
    moment: Option<[u8; 9]>,
}

impl Planted {
    /// A record of a subject, drawn anew.
    pub(crate) fn of(form: Form, subject: &str, draws: &mut Draws) -> Self {
        let number = |size: f64, draws: &mut Draws| format!("{:.9}", draws.unit() * size);
        let id = name("id", draws);
        let subject = subject.into();
        if form == Form::Numbers {
            let cells: Vec<_> = (0..10).map(|_| number(0.3, draws)).collect();
            let label = draws.below(2).to_string();
            let (numbers, words) = (cells.clone(), vec![]);
            return Self { form, id, subject, cells, label, numbers, words, moment: None };
        }
        let mut words = vec![name("nt", draws)];
        let mut rare = |usual: &[&str], one_in, word, draws: &mut Draws| {
            if draws.below(one_in) == 0 {
                words.push(name(word, draws));
                words[words.len() - 1].clone()
            } else {
                usual[draws.below(usual.len() as u64) as usize].to_owned()
            }
        };
        let town = rare(&["Ulm", "Trier", "?"], 4, "tn", draws);
        let label = rare(&["yes", "no"], 60, "cl", draws);
        let age = if draws.below(9) == 0 { String::new() } else { draws.below(90).to_string() };
        let numbers = vec![number(9e5, draws), number(4e3, draws)];
        let [year, month, day] = [(1950, 70), (1, 12), (1, 28)].map(|(d, n)| d + draws.below(n));
        let [hour, minute, second] = [24, 60, 60].map(|n| draws.below(n));
        let joined = format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
        let note = format!("came back twice about {}", words[0]);
        words.push(joined.clone());
        let seconds = days(year, month, day) * 86_400 + (hour * 3600 + minute * 60 + second) as i64;
        let mut moment = [4; 9];
        moment[1..].copy_from_slice(&(seconds * 1_000_000).to_le_bytes());
        let cells = vec![age, numbers[0].clone(), numbers[1].clone(), town, joined, note];
        Self { form, id, subject, cells, label, numbers, words, moment: Some(moment) }
    }

    /// The same record with other contents.
    pub(crate) fn changed(&self, draws: &mut Draws) -> Self {
        Self { id: self.id.clone(), ..Self::of(self.form, &self.subject, draws) }
    }

    /// Whether no other record has its class.
    pub(crate) fn has_own_class(&self) -> bool {
        self.words.contains(&self.label)
    }

    /// Whatever of its contents could be found: each word, its moment, each number in its text form and
    /// as double, and each pair of neighbours as singles (one alone is short enough to be met by chance).
    pub(crate) fn contents(&self) -> Vec<Vec<u8>> {
        let value = |text: &String| text.parse::<f64>().unwrap();
        let singles: Vec<[u8; 4]> =
            self.numbers.iter().map(|text| (value(text) as f32).to_le_bytes()).collect();
        let pairs = singles.windows(2).map(|pair| pair.concat());
        let digits = |text: &String| text.trim_start_matches('-').as_bytes().to_vec();
        pairs
            .chain(self.numbers.iter().map(|text| value(text).to_le_bytes().to_vec()))
            .chain(self.numbers.iter().map(digits))
            .chain(self.words.iter().map(|word| word.as_bytes().to_vec()))
            .chain(self.moment.map(Vec::from))
            .collect()
    }

    /// Its contents and its id.
    pub(crate) fn record(&self) -> Vec<Vec<u8>> {
        let mut needles = self.contents();
        needles.push(self.id.as_bytes().to_vec());
        needles
    }
}

/// Days since 1970-01-01, negative before it, of a date from 1950 on.
fn days(year: u64, month: u64, day: u64) -> i64 {
    // 2000 was a leap year, and 1900 and 2100 are out of reach.
    let leap = |year: u64| u64::from(year.is_multiple_of(4));
    let months = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let of_years: u64 = (1950..year).map(|year| 365 + leap(year)).sum();
    let of_months: u64 = months[..month as usize - 1].iter().sum();
    // 1950 to 1969 have 20 years and five leap days.
    (of_years + of_months + day) as i64 - 1 - (20 * 365 + 5)
}

/// A name of 16 random letters, after a short word.
pub(crate) fn name(word: &str, draws: &mut Draws) -> String {
    let letters = (0..16).map(|_| char::from(b'a' + draws.below(26) as u8));
    word.chars().chain(letters).collect()
}

/// A table of planted records of one form, with its header.
pub(crate) fn planted_table<'a>(records: impl IntoIterator<Item = &'a Planted>) -> String {
    let mut text = String::new();
    for record in records {
        if text.is_empty() {
            writeln!(text, "id,user,{},y", record.form.columns()).unwrap();
        }
        let cells = record.cells.join(",");
        writeln!(text, "{},{},{cells},{}", record.id, record.subject, record.label).unwrap();
    }
    text
}

/// How many of the needles stand in any file of the workshop's folder, or in the key file.
pub(crate) fn found(workshop: &Workshop, needles: &[Vec<u8>]) -> usize {
    let mut files: Vec<_> = workshop.files().into_iter().map(|(_, bytes)| bytes).collect();
    files.extend(fs::read(workshop.key_file()));
    found_in(&files, needles)
}

/// How many of the needles stand in any of these files.
pub(crate) fn found_in(files: &[Vec<u8>], needles: &[Vec<u8>]) -> usize {
    let mut by_length: HashMap<usize, HashSet<&[u8]>> = HashMap::new();
    for needle in needles {
        by_length.entry(needle.len()).or_default().insert(needle);
    }
    let mut seen = HashSet::new();
    for (length, wanted) in by_length {
        // A first look by the first two bytes saves most hashing.
        let mut starts = vec![false; 1 << 16];
        for needle in &wanted {
            starts[usize::from(u16::from_le_bytes([needle[0], needle[1]]))] = true;
        }
        for window in files.iter().flat_map(|bytes| bytes.windows(length)) {
            let start = usize::from(u16::from_le_bytes([window[0], window[1]]));
            if starts[start] && wanted.contains(window) {
                seen.insert(window);
            }
        }
    }
    seen.len()
}

/// Trains on planted records that live outside the folder.
pub(crate) fn train(workshop: &Workshop, records: &[Planted], settings: &str) {
    let table = workshop.outside("data.csv");
    fs::write(&table, planted_table(records)).unwrap();
    let table = table.to_str().unwrap();
    // The usual solver factors a matrix of thousands of weights, of which no test here asks.
    let solver = if records[0].form == Form::Raw { "--solver lbfgs" } else { "" };
    let roles = "--label y --id id --subject user";
    let line = format!("train {table} {roles} -o m.efface --json {settings} {solver}");
    workshop.efface(&line).done();
}

#[test]
fn nothing_of_deleted_records_is_left() {
    let mut draws = Draws::new(99);
    for (form, settings) in [
        (Form::Numbers, "--preprocess declared"),
        (Form::Numbers, "--mechanism noisy-gd --lambda 0.05 --noise 0.3"),
        (Form::Numbers, "--state secret --releases 9"),
        (Form::Numbers, "--mechanism distributed-descent --releases 9"),
        (Form::Raw, ""),
        // Categories of one record are then named by the model.
        (Form::Raw, "--min-frequency 1"),
    ] {
        let case = format!("{form:?} {settings}");
        let w = Workshop::new();
        let mut records = Vec::new();
        for _ in 0..60 {
            let subject = name("su", &mut draws);
            records.extend((0..3).map(|_| Planted::of(form, &subject, &mut draws)));
        }
        train(&w, &records, settings);
        let person: Vec<&Planted> = records[30..33].iter().collect();
        let needles: Vec<Vec<u8>> = person.iter().flat_map(|planted| planted.contents()).collect();
        let stored = found(&w, &needles);
        assert!(stored >= person.len() * form.stored(), "the search finds what is there: {stored}");

        w.run(&["delete", "m.efface", "--subject", &person[0].subject, "--json"]).done();
        assert_eq!(found(&w, &needles), 0, "{case}");
        let names = person.iter().map(|planted| planted.id.as_bytes().to_vec());
        let names: Vec<Vec<u8>> = names.chain([person[0].subject.as_bytes().to_vec()]).collect();
        assert_eq!(found(&w, &names), 0, "{case}");

        let own = records.iter().position(Planted::has_own_class);
        assert_eq!(own.is_some(), form == Form::Raw, "{case}");
        let single = &records[own.unwrap_or(0)];
        w.run(&["delete", "m.efface", "--record", &single.id]).done();
        assert_eq!(found(&w, &single.record()), 0, "{case}");

        let old = &records[9];
        let new = old.changed(&mut draws);
        let fixes = w.outside("fixes.csv");
        fs::write(&fixes, planted_table([&new])).unwrap();
        w.run(&["update", "m.efface", fixes.to_str().unwrap()]).done();
        assert_eq!(found(&w, &old.contents()), 0, "{case}");
        assert!(found(&w, &new.contents()) > 0);
    }
}
