//! Well-formed CSV is split as the `csv` crate splits it.

use efface_formats::{Format, ReadOptions};
use proptest::prelude::*;

use super::collect::{collect, plain};

proptest! {
    #[test]
    fn fields_agree_with_the_csv_crate(
        rows in prop::collection::vec(
            prop::collection::vec("[a-z0-9 ,;\"\n\u{e9}]{0,6}x[ab\"]{0,2}", 3),
            1..6,
        )
    ) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["id", "subject", "y", "a"]).unwrap();
        for row in &rows {
            writer.write_record(row.iter().map(String::as_str).chain(["1"])).unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        let options = ReadOptions {
            id: Some("id".into()),
            subject: Some("subject".into()),
            ..plain()
        };
        let (read, summary) = collect(Format::Csv, &bytes, &options).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let expected: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(expected.len(), read.rows.len());
        let names = summary.classes.unwrap();
        for (at, record) in expected.iter().enumerate() {
            prop_assert_eq!(record[0].trim(), &read.ids[at]);
            prop_assert_eq!(record[1].trim(), &read.subjects[at]);
            let class = names.remap(read.labels[at] as u32).unwrap();
            prop_assert_eq!(record[2].trim(), &names.names[class as usize]);
        }
    }
}
