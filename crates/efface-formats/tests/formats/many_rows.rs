//! Tables of so many dense rows that these are bounded some thousands at a time, beside the reading.

use efface_formats::{Format, FrameRequest, ReadOptions, RowMap, RowMapMode, Sink, read_from};

use super::collect::{Collected, collect, plain, refused, unlabelled};
use super::npy::{Order, npy, raw};

const ROWS: u64 = 5_000;

fn table(row: impl Fn(u64) -> f64) -> String {
    let line = |at: u64| format!("{},{},id{at},p{},{}\n", row(at), at % 7, at % 3, at % 2);
    "a,b,id,who,y\n".to_owned() + &(1..=ROWS).map(line).collect::<String>()
}

fn named(mode: RowMapMode) -> ReadOptions {
    ReadOptions {
        id: Some("id".into()),
        subject: Some("who".into()),
        row_map: RowMap { mode, norm: 1e4 },
        ..plain()
    }
}

#[test]
fn each_row_keeps_its_place_its_names_and_its_label() {
    let text = table(|at| at as f64);
    let read = collect(Format::Csv, text.as_bytes(), &named(RowMapMode::Refuse)).unwrap().0;
    assert_eq!(read.positions, (1..=ROWS).collect::<Vec<_>>());
    assert_eq!(read.rows, (1..=ROWS).map(|at| [at as f32, (at % 7) as f32]).collect::<Vec<_>>());
    assert_eq!(read.ids, (1..=ROWS).map(|at| format!("id{at}")).collect::<Vec<_>>());
    assert_eq!(read.subjects, (1..=ROWS).map(|at| format!("p{}", at % 3)).collect::<Vec<_>>());
    // Classes are numbered as they appear.
    assert_eq!(read.labels, (0..ROWS).map(|at| (at % 2) as f64).collect::<Vec<_>>());
}

#[test]
fn what_the_row_map_did_is_told_of_the_row_it_was_done_to() {
    let long = [100, 1_600, 3_200, ROWS];
    let text = table(|at| if long.contains(&at) { 2e4 } else { 0.5 });
    let (read, summary) = collect(Format::Csv, text.as_bytes(), &named(RowMapMode::Clip)).unwrap();
    assert_eq!(summary.private.rows_scaled, long.len() as u64);
    for (at, row) in (1..).zip(&read.rows) {
        assert_eq!(long.contains(&at), row[0] > 9e3, "row {at}: {row:?}");
    }
    for first in long {
        let text = table(|at| if at >= first { 2e4 } else { 0.5 });
        let message = refused(Format::Csv, text.as_bytes(), &named(RowMapMode::Refuse));
        let expected = format!("line {}: the row's norm", first + 1);
        assert!(message.contains(&expected), "{first}: {message}");
    }
}

#[test]
fn what_came_before_a_fault_is_handed_over_in_order() {
    let mut sink = Collected::default();
    let text = table(|at| at as f64) + "not a row\n";
    let read = read_from("t.csv", text.as_bytes(), None, &named(RowMapMode::Refuse), &mut sink);
    assert!(read.unwrap_err().to_string().starts_with("t.csv, line 5002: "));
    assert!((1..ROWS as usize).contains(&sink.rows.len()));
    assert_eq!(sink.positions, (1..=sink.rows.len() as u64).collect::<Vec<_>>());
}

/// A reading within the pool of threads waits for nobody there.
#[test]
fn tables_are_read_by_threads_of_the_pool() {
    let text = table(|at| at as f64);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let read = || collect(Format::Csv, text.as_bytes(), &named(RowMapMode::Refuse)).unwrap().0;
    assert_eq!(pool.install(read), read());
}

#[test]
fn floats_are_the_same_from_either_order_of_their_bytes() {
    let values = [1.5_f64, -0.0, 1e-50, 3.0e38, -7.25, f64::from(f32::MIN)];
    let little: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let big: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    let shape = "'fortran_order': False, 'shape': (3, 2)}";
    for options in [unlabelled(), ReadOptions { frame: Some(FrameRequest::New), ..unlabelled() }] {
        let read = |order, bytes| {
            let text = format!("{{'descr': '{order}f8', {shape}");
            let mut sink = Raw::default();
            read_from("x.npy", &raw(&text, bytes)[..], None, &options, &mut sink).unwrap();
            sink
        };
        assert_eq!(read('<', &little), read('>', &big));
    }
}

/// The largest number that single precision has room for is as near to some that are beyond it.
#[test]
fn numbers_that_single_precision_has_no_room_for_are_refused() {
    let beyond = f64::from(f32::MAX).next_up();
    let framed = ReadOptions { frame: Some(FrameRequest::New), ..unlabelled() };
    for (value, encoded) in [(beyond, true), (1e39, false), (f64::INFINITY, false)] {
        let bytes = npy(&[2, 2], Order::C, &[0.0, 1.0, 2.0, value]);
        assert_eq!(collect(Format::Npy, &bytes, &unlabelled()).is_ok(), encoded, "{value}");
        let message = refused(Format::Npy, &bytes, &framed);
        assert!(message.contains("row:1, column `x1`"), "{message}");
    }
    let bytes = npy(&[1, 2], Order::C, &[0.0_f32, f32::NEG_INFINITY]);
    for options in [unlabelled(), framed] {
        assert!(refused(Format::Npy, &bytes, &options).contains("row:0, column `x1`"));
    }
}

/// Rows as bytes, raw or encoded.
#[derive(Debug, Default, PartialEq)]
struct Raw(Vec<Vec<u8>>);

impl Sink for Raw {
    fn begin(&mut self, _: &efface_formats::Layout) -> Result<(), efface_formats::SinkError> {
        Ok(())
    }

    fn record(
        &mut self,
        record: efface_formats::Record<'_>,
    ) -> Result<(), efface_formats::SinkError> {
        let encoded = record.features.values().iter().flat_map(|value| value.to_le_bytes());
        self.0.push(record.raw.map_or_else(|| encoded.collect(), <[u8]>::to_vec));
        Ok(())
    }
}
