//! What is kept of a table is limited by the size of its file, and by a number that can be raised.

#[cfg(feature = "parquet")]
use efface_formats::draft_from;
use efface_formats::{Format, ReadOptions};

use super::bombs;
#[cfg(feature = "parquet")]
use super::collect::unlabelled;
use super::collect::{collect, plain, refused};

#[cfg(feature = "parquet")]
#[test]
fn bombs_are_refused_with_a_reason() {
    for (name, reason) in [
        ("snappy_page.parquet", "decompressed, the table needs more than 192MiB of memory"),
        ("gzip_page.parquet", "a page decompresses to more than its declared size"),
        ("dictionary.parquet", "a dictionary declares more values than it has bytes"),
        ("lengths.parquet", "a page has more lengths than declared values"),
        ("row_groups.parquet", "declares more elements than it has bytes"),
        ("nested.parquet", "column groups nested too deeply"),
        ("columns.csv.gz", "decompressed, the table needs more than 192MiB of memory"),
        ("column_major.npy.gz", "decompressed, the table needs more than"),
    ] {
        let (_, bomb) = bombs::all().into_iter().find(|(of, _)| *of == name).unwrap();
        let format = match name.split('.').nth(1) {
            Some("csv") => Format::Csv,
            Some("npy") => Format::Npy,
            _ => Format::Parquet,
        };
        let message = refused(format, &bomb(), &unlabelled());
        assert!(message.contains(reason), "{name}: {message}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn rows_that_cost_nothing_in_the_file_are_counted() {
    let mut options = unlabelled();
    options.limits.memory_bytes = 1 << 20;
    let message = refused(Format::Parquet, &bombs::rows(), &options);
    let (place, limit) = message.split_once(": ").unwrap();
    assert!(place.starts_with("data.parquet, row:"), "{message}");
    assert_eq!(
        limit,
        "the table needs more than 1MiB of memory, the limit; raise it with `§max-decoded`, for example `§max-decoded 4MiB`"
    );
}

#[cfg(feature = "parquet")]
#[test]
fn decoders_that_panic_give_an_error() {
    let message = refused(Format::Parquet, &bombs::no_dictionary(), &unlabelled());
    assert!(message.starts_with("data.parquet: the file cannot be decoded: "), "{message}");
}

/// Long texts of a dictionary are read, however many rows name them.
#[cfg(feature = "parquet")]
#[test]
fn repeated_texts_cost_their_length_once() {
    let draft =
        draft_from("t", bombs::long_text().as_slice(), Some(Format::Parquet), &unlabelled());
    assert_eq!(draft.unwrap().schema.columns().len(), 1);
}

#[test]
fn packed_tables_may_be_a_hundred_times_their_file() {
    let row = format!("{}1\n", "0,".repeat(99));
    let header: Vec<String> = (0..99).map(|at| format!("x{at}")).collect();
    let table = |rows: usize| format!("{},y\n{}", header.join(","), row.repeat(rows));
    let bytes = bombs::gzip([table(20_000)]);
    assert!(bytes.len() < 40_000);
    let mut options = ReadOptions { label: Some("y".into()), ..plain() };
    // Small files have 192 MiB.
    assert_eq!(collect(Format::Csv, &bytes, &options).unwrap().0.rows.len(), 20_000);
    options.limits.memory_bytes = 4 << 20;
    let message = refused(Format::Csv, &bytes, &options);
    assert!(message.contains("needs more than 4MiB of memory, the limit"), "{message}");
    // Stated alone, a limit does not look at the file.
    options.limits.expansion = None;
    options.limits.memory_bytes = 16 << 20;
    assert_eq!(collect(Format::Csv, &bytes, &options).unwrap().0.rows.len(), 20_000);
}
