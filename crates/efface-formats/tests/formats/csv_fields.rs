//! Fields that were written quoted come back as they were.

use efface_formats::{Format, ReadOptions};
use proptest::prelude::*;

use super::collect::{collect, plain};

/// The field in quotes, spaces around them.
fn quoted(field: &str, spaces: usize) -> String {
    let spaces = " ".repeat(spaces);
    format!("{spaces}\"{}\"{spaces}", field.replace('"', "\"\""))
}

proptest! {
    #[test]
    fn quoted_fields_come_back(
        rows in prop::collection::vec(
            prop::collection::vec("[a-z0-9,;\"\n\u{e9}][a-z0-9 ,;\"\n\r\t\u{e9}]{0,5}x[ab\"]{0,2}", 3),
            1..6,
        ),
        delimiter in prop::sample::select(vec![",", ";", "\t"]),
        end in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
        spaces in 0_usize..3,
    ) {
        let mut text = ["id", "subject", "y", "a"].join(delimiter) + end;
        for row in &rows {
            let fields: Vec<String> = row.iter().map(|field| quoted(field, spaces)).collect();
            text += &format!("{}{delimiter} 1 {end}", fields.join(delimiter));
        }
        let options = ReadOptions {
            id: Some("id".into()),
            subject: Some("subject".into()),
            ..plain()
        };
        let (read, summary) = collect(Format::Csv, text.as_bytes(), &options).unwrap();
        prop_assert_eq!(read.rows.len(), rows.len());
        let names = summary.classes.unwrap();
        for (at, row) in rows.iter().enumerate() {
            // A line end inside quotes counts as a line feed, and keys and classes are trimmed.
            let fields: Vec<String> = row.iter().map(|field| field.replace("\r\n", "\n")).collect();
            prop_assert_eq!(fields[0].trim(), &read.ids[at]);
            prop_assert_eq!(fields[1].trim(), &read.subjects[at]);
            let class = names.remap(read.labels[at] as u32).unwrap();
            prop_assert_eq!(fields[2].trim(), &names.names[class as usize]);
        }
    }
}
