//! What a deleted record could leave behind, and the search for it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;

use crate::table::Draws;
use crate::workshop::Workshop;

/// A record whose id, subject and numbers stand nowhere else.
#[derive(Debug, Clone)]
pub(crate) struct Planted {
    pub(crate) id: String,
    pub(crate) subject: String,
    values: Vec<String>,
    label: u64,
}

/// How many feature columns planted records have.
const FEATURES: usize = 10;

impl Planted {
    /// A record of a subject, drawn anew.
    pub(crate) fn of(subject: &str, draws: &mut Draws) -> Self {
        let values = (0..FEATURES).map(|_| format!("{:.9}", draws.unit() * 0.3)).collect();
        Self { id: name("id", draws), subject: subject.into(), values, label: draws.below(2) }
    }

    /// The same record with other numbers.
    pub(crate) fn changed(&self, draws: &mut Draws) -> Self {
        Self { id: self.id.clone(), ..Self::of(&self.subject, draws) }
    }

    /// Whatever of its numbers could be found: each in its text form, and each pair of
    /// neighbours as they are stored.
    pub(crate) fn contents(&self) -> Vec<Vec<u8>> {
        let stored: Vec<[u8; 4]> =
            self.values.iter().map(|text| text.parse::<f32>().unwrap().to_le_bytes()).collect();
        let pairs = stored.windows(2).map(|pair| pair.concat());
        let digits = |text: &String| text.trim_start_matches("-0.").as_bytes().to_vec();
        pairs.chain(self.values.iter().map(digits)).collect()
    }

    /// Its numbers and its id.
    pub(crate) fn record(&self) -> Vec<Vec<u8>> {
        let mut needles = self.contents();
        needles.push(self.id.as_bytes().to_vec());
        needles
    }
}

/// A name of 16 random letters, after a short word.
pub(crate) fn name(word: &str, draws: &mut Draws) -> String {
    let letters = (0..16).map(|_| char::from(b'a' + draws.below(26) as u8));
    word.chars().chain(letters).collect()
}

/// A table of planted records, with its header.
pub(crate) fn planted_table<'a>(records: impl IntoIterator<Item = &'a Planted>) -> String {
    let mut text = String::from("id,user");
    for column in 0..FEATURES {
        write!(text, ",x{column}").unwrap();
    }
    text.push_str(",y\n");
    for record in records {
        let values = record.values.join(",");
        writeln!(text, "{},{},{values},{}", record.id, record.subject, record.label).unwrap();
    }
    text
}

/// How many of the needles stand in any file of the workshop's folder.
pub(crate) fn found(workshop: &Workshop, needles: &[Vec<u8>]) -> usize {
    let mut by_length: HashMap<usize, HashSet<&[u8]>> = HashMap::new();
    for needle in needles {
        by_length.entry(needle.len()).or_default().insert(needle);
    }
    let files = workshop.files();
    let mut seen = HashSet::new();
    for (length, wanted) in by_length {
        // A first look by the first two bytes saves most hashing.
        let mut starts = vec![false; 1 << 16];
        for needle in &wanted {
            starts[usize::from(u16::from_le_bytes([needle[0], needle[1]]))] = true;
        }
        for window in files.iter().flat_map(|(_, bytes)| bytes.windows(length)) {
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
    let line =
        format!("train {table} --label y --id id --subject user -o m.efface --json {settings}");
    workshop.efface(&line).done();
}

#[test]
fn nothing_of_deleted_records_is_left() {
    let mut draws = Draws::new(99);
    for settings in [
        "--preprocess declared",
        "--mechanism noisy-gd --lambda 0.05 --noise 0.3",
        "--state secret --releases 9",
        "--mechanism distributed-descent --releases 9",
    ] {
        let w = Workshop::new();
        let mut records = Vec::new();
        for _ in 0..60 {
            let subject = name("su", &mut draws);
            records.extend((0..3).map(|_| Planted::of(&subject, &mut draws)));
        }
        train(&w, &records, settings);
        let person: Vec<&Planted> = records[30..33].iter().collect();
        let needles: Vec<Vec<u8>> = person.iter().flat_map(|planted| planted.contents()).collect();
        let stored = found(&w, &needles);
        assert!(
            stored >= person.len() * (FEATURES - 1),
            "the search finds what is there: {stored}"
        );

        w.run(&["delete", "m.efface", "--subject", &person[0].subject, "--json"]).done();
        assert_eq!(found(&w, &needles), 0, "{settings}");
        let names = person.iter().map(|planted| planted.id.as_bytes().to_vec());
        let names: Vec<Vec<u8>> = names.chain([person[0].subject.as_bytes().to_vec()]).collect();
        assert_eq!(found(&w, &names), 0, "{settings}");

        let single = &records[0];
        w.run(&["delete", "m.efface", "--record", &single.id]).done();
        assert_eq!(found(&w, &single.record()), 0, "{settings}");

        let old = &records[9];
        let new = old.changed(&mut draws);
        let fixes = w.outside("fixes.csv");
        fs::write(&fixes, planted_table([&new])).unwrap();
        w.run(&["update", "m.efface", fixes.to_str().unwrap()]).done();
        assert_eq!(found(&w, &old.contents()), 0, "{settings}");
        assert!(found(&w, &new.contents()) > 0);
    }
}
