//! What was fitted to records that came and went is what is fitted to those that remain.

use std::num::NonZero;

use efface_formats::{
    ColumnValues, Declared, Fitted, Frame, FrameRequest, MemoryColumn, MemoryRows, MemoryTable,
    RawRows, ReadOptions, Rules, Task, Values, read_memory,
};

use super::fitted::{Raw, csv, encoded, gathered, names};

/// Numbers from a seed (SplitMix64, Sebastiano Vigna, public domain).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        (1..all.len()).rev().for_each(|at| all.swap(at, self.below(at + 1)));
    }
}

const NUMBERS: [f64; 16] = [
    5e-324,
    -5e-324,
    f64::MIN_POSITIVE,
    1e-45,
    -1e-38,
    1e38,
    -1e38,
    -0.0,
    0.0,
    0.1,
    1.0,
    1e9,
    1_000_000_000.001,
    f64::NAN,
    1e300,
    7.0,
];
const SINGLES: [f32; 10] =
    [1e-45, -1e-45, 1e38, -1e38, f32::MAX, f32::MIN, -0.0, f32::NAN, 0.1, 3.0];
const WORDS: [&str; 8] = ["a", "b", "c", "B", "ß", "", "?", "other"];
const MIXED: [&str; 12] = [
    "1",
    "1.0",
    "01",
    "2e3",
    "-0",
    "1.50",
    "x",
    "NA",
    "0.1",
    "12345678901234567890",
    "unknown",
    "1e300",
];
const AMOUNTS: [&str; 6] = ["1,234", "$7", "2,5", "12 %", "0.5", "x"];
const DAYS: [&str; 11] = [
    "01/02/2024",
    "02/01/2024",
    "13/01/2024",
    "01/13/2024",
    "2024-02-29",
    "2024-02-29 10:30",
    "Feb 29, 2024",
    "2023-03",
    "",
    "03.04.2023",
    "soon",
];
const TEXTS: [&str; 6] = [
    "the quick brown fox",
    "jumps over the lazy dog",
    "The QUICK fox, again!",
    "",
    "one two three four",
    "naïve Straße 日本 語",
];

/// Records of every kind of column, as raw rows.
fn pool(draw: &mut Draw, records: usize, regression: bool) -> RawRows {
    // A column of few kinds of values now and then, so that kinds change as records leave.
    let texts = |draw: &mut Draw, all: &[&str]| -> Vec<Option<String>> {
        let few = 1 + draw.below(all.len());
        // And mostly of one, so that the others are few.
        let usual = all[draw.below(few)];
        let is_mixed = draw.below(2) == 0;
        let mut of = || if is_mixed || draw.below(15) == 0 { draw.of(&all[..few]) } else { usual };
        (0..records).map(|_| Some(of().to_owned())).collect()
    };
    let doubles: Vec<f64> = (0..records).map(|_| draw.of(&NUMBERS)).collect();
    let singles: Vec<f32> = (0..records).map(|_| draw.of(&SINGLES)).collect();
    let equal = vec![draw.of(&[0.1, 1e38, f64::NAN]); records];
    let (words, mixed) = (texts(draw, &WORDS), texts(draw, &MIXED));
    let amounts = texts(draw, &AMOUNTS);
    let (days, sentences) = (texts(draw, &DAYS), texts(draw, &TEXTS));
    let times: Vec<i64> = (0..records).map(|_| draw.of(&[0, 1, i64::MIN, 5_000_000_000])).collect();
    let column = |name, values| MemoryColumn { name, values, declared: None };
    let columns = [
        column("double", ColumnValues::Doubles(&doubles)),
        column("single", ColumnValues::Singles(&singles)),
        column("equal", ColumnValues::Doubles(&equal)),
        column("word", ColumnValues::Texts(&words)),
        column("mixed", ColumnValues::Texts(&mixed)),
        column("amount", ColumnValues::Texts(&amounts)),
        column("day", ColumnValues::Texts(&days)),
        column("text", ColumnValues::Texts(&sentences)),
        column(
            "time",
            ColumnValues::Times { values: &times, unit: efface_formats::TimeUnit::Second },
        ),
        MemoryColumn {
            declared: Some(Declared::Category),
            ..column("code", ColumnValues::Singles(&singles))
        },
    ];
    let y: Vec<f64> = (0..records).map(|_| draw.of(&[1.0, 2.0, -3.5, 1e-45, 1e38])).collect();
    let task = if regression { Task::Regression { range: None } } else { Task::Classification };
    let options = ReadOptions { task, frame: Some(FrameRequest::New), ..ReadOptions::default() };
    let rows = MemoryRows::Columns { columns: &columns, rows: records };
    let labels = Some(Values::Numbers(&y));
    let table = MemoryTable { rows, labels, ids: None, subjects: None, weights: None, names: None };
    let mut sink = Raw::default();
    let summary = read_memory(&table, &options, &mut sink).unwrap();
    gathered(sink, &summary)
}

fn json(rows: &RawRows, rules: &Rules) -> String {
    serde_json::to_string(&Fitted::fit(rows, rules).unwrap()).unwrap()
}

/// Rows in which each of so many categories is in so many records.
fn repeated(categories: usize, times: usize) -> RawRows {
    let rows =
        (0..categories * times).map(|at| format!("c{},{}\n", at / times, ["no", "yes"][at % 2]));
    csv(&format!("word,y\n{}", rows.collect::<String>()))
}

#[test]
fn how_many_records_a_category_needs_follows_their_number() {
    let rules = Rules { one_in: Some(10), max_categories: 12, ..Rules::default() };
    let least: Vec<u32> = [0, 1, 19, 20, 49, 50, 1000].map(|n| rules.least(n)).into();
    assert_eq!(least, [1, 1, 1, 2, 4, 5, 5]);
    assert_eq!(Rules { one_in: None, ..rules }.least(1), 5);
    let word = |rows: &RawRows| Fitted::fit(rows, &rules).unwrap().describe()[0].clone();
    // Of 19 records a category needs 1, of 20 two; a deletion goes back.
    let mut mostly = repeated(1, 2);
    (2..10).for_each(|at| mostly.push(repeated(12, 1).row(at)).unwrap());
    assert_eq!(word(&mostly), "word: 9 categories");
    // A column that names its records does not say who they are, unless the user wants it.
    mostly.push(repeated(12, 1).row(10)).unwrap();
    assert_eq!(word(&mostly), "word: 10 categories, 9 rare merged");
    let left_out = "word: 12 categories, none of 2 records or more, left out";
    assert_eq!(word(&repeated(12, 1)), left_out);
    let wanted = Rules { one_in: None, min_records: 1, ..rules };
    let all = Fitted::fit(&repeated(12, 1), &wanted).unwrap().describe();
    assert_eq!(all[0], "word: 12 categories");
    let mut rows = repeated(10, 2);
    rows.remove(&[19]);
    assert_eq!(word(&rows), "word: 10 categories");
    let mut one_more = rows.clone();
    one_more.push(repeated(11, 2).row(20)).unwrap();
    assert_eq!(word(&one_more), "word: 11 categories, 2 rare merged");
    one_more.remove(&[19]);
    assert_eq!(json(&one_more, &rules), json(&rows, &rules));
    // More categories of one record than there are places are left out, and not hashed.
    let all = Rules { min_records: 1, one_in: None, ..rules };
    let word = |rows: &RawRows| Fitted::fit(rows, &all).unwrap().describe()[0].clone();
    assert_eq!(word(&repeated(13, 1)), "word: 13 categories, none of 2 records or more, left out");
    assert_eq!(word(&repeated(13, 2)), "word: 13 categories, hashed to 12 numbers");
}

/// 10,000 sequences of deletions, additions and updates.
#[test]
fn what_remains_is_all_that_counts() {
    const SEQUENCES: u64 = 10_000;
    for seed in 0..SEQUENCES {
        let mut draw = Draw(seed);
        let rules = Rules {
            min_records: 1 + draw.below(4) as u32,
            one_in: (draw.below(2) == 0).then(|| 1 + draw.below(12) as u32),
            max_categories: 1 + draw.below(4) as u32,
            min_missing: 1 + draw.below(4) as u32,
            text_width: 16,
            balanced: false,
            regression: draw.below(2) == 0,
            targets: 1,
        };
        let pool = pool(&mut draw, 24, rules.regression);
        // The store, and the records in it by their number in the pool.
        let (mut store, mut inside) = (RawRows::new(pool.frame().clone()), Vec::new());
        for _ in 0..1 + draw.below(40) {
            let (is_added, is_removed) = match draw.below(5) {
                0..=2 => (true, false),
                3 => (false, true),
                _ => (true, true),
            };
            if is_removed && !inside.is_empty() {
                let mut gone: Vec<usize> =
                    (0..inside.len()).filter(|_| draw.below(4) == 0).collect();
                store.remove(&gone);
                gone.reverse();
                for at in gone {
                    inside.remove(at);
                }
            }
            if is_added {
                let record = draw.below(pool.len());
                store.push(pool.row(record)).unwrap();
                inside.push(record);
            }
        }
        let kept: Vec<&[u8]> = inside.iter().map(|record| pool.row(*record)).collect();
        assert!(store.iter().eq(kept.iter().copied()), "seed {seed}");
        draw.shuffle(&mut inside);
        let mut fresh = RawRows::new(pool.frame().clone());
        inside.iter().for_each(|record| fresh.push(pool.row(*record)).unwrap());
        if inside.is_empty() {
            assert!(Fitted::fit(&store, &rules).is_err());
            continue;
        }
        let (one, other) = (json(&store, &rules), json(&fresh, &rules));
        assert_eq!(one, other, "seed {seed}");
        let read: Fitted = serde_json::from_str(&one).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), one, "seed {seed}");
        // What was read back encodes the same, and each remaining record can be encoded.
        let fitted = Fitted::fit(&fresh, &rules).unwrap();
        for row in store.iter() {
            let (mut a, mut b) = (fitted.buffer(), read.buffer());
            fitted.encode(row, &mut a).unwrap();
            read.encode(row, &mut b).unwrap();
            assert_eq!(a, b, "seed {seed}");
            assert!(a.features().values().iter().all(|value| value.is_finite()), "seed {seed}");
        }
        assert!(u64::from(fitted.width()) <= fitted.frame().most_features(&rules), "seed {seed}");
        assert_eq!(names(&fitted).len(), fitted.width() as usize);
    }
}

#[test]
fn threads_have_no_part_in_the_result() {
    let rules = Rules { min_records: 3, max_categories: 4, text_width: 32, ..Rules::default() };
    let rows = pool(&mut Draw(1), 30_000, false);
    let of = |threads| {
        let fitted = Fitted::fit_with(&rows, &rules, NonZero::new(threads).unwrap()).unwrap();
        serde_json::to_string(&fitted).unwrap()
    };
    let one = of(1);
    for threads in [2, 3, 7, 64] {
        assert_eq!(of(threads), one, "{threads} threads");
    }
}

/// Arrays: the dense path, its wide sums and its blocks of columns.
#[test]
fn arrays_forget_too() {
    let width = 150;
    let mut draw = Draw(7);
    let frame = Frame::Matrix { width, first: 0, sparse: false, divide: 255.0 };
    let mut rows: Vec<Vec<u8>> = (0..70_000_u32)
        .map(|at| {
            let mut row = vec![1, 1, b'0' + (at % 2) as u8];
            for column in 0..width {
                // The first row has what nobody else has.
                let value = match (at, column % 3) {
                    (0, _) => 1e38,
                    (_, 0) => draw.of(&SINGLES[..2]),
                    (_, 1) => 255.0,
                    _ => draw.of(&[f32::NAN, 0.5, -2.0]),
                };
                row.extend_from_slice(&(value + 0.0).to_le_bytes());
            }
            row
        })
        .collect();
    let store = |rows: &[Vec<u8>]| {
        let mut store = RawRows::new(frame.clone());
        rows.iter().for_each(|row| store.push(row).unwrap());
        store
    };
    let mut all = store(&rows);
    assert!(json(&all, &Rules::default()).contains("e33"));
    all.remove(&[0]);
    rows.remove(0);
    draw.shuffle(&mut rows);
    let (one, other) = (json(&all, &Rules::default()), json(&store(&rows), &Rules::default()));
    assert_eq!(one, other);
    assert!(!one.contains("e33") && !one.contains("e38"));
    let fitted = Fitted::fit(&all, &Rules::default()).unwrap();
    assert_eq!(fitted.width(), 200);
    let few = Rules { min_missing: 69_999, ..Rules::default() };
    assert_eq!(Fitted::fit(&all, &few).unwrap().width(), 150);
    let out = &encoded(&fitted, &all)[5];
    // Equal numbers are centred and divided by the frame's divisor; a missing one is the mean.
    assert_eq!((out[1], out[2].is_finite()), (0.0, true));
    let missing = f32::from_le_bytes(all.row(5)[11..15].try_into().unwrap()).is_nan();
    assert_eq!(out[150], f32::from(u8::from(missing)));
}

/// A number of an array that few records have, in the way of named columns.
#[test]
fn what_few_rows_of_an_array_have_is_not_learnt() {
    let frame = Frame::Matrix { width: 2, first: 0, sparse: false, divide: 1.0 };
    let mut rows = RawRows::new(frame);
    for at in 0..20_u8 {
        let mut row = vec![1, 1, b'0' + at % 2];
        let second = if at < 2 { 7.125 } else { f32::NAN };
        [f32::from(at), second]
            .iter()
            .for_each(|value| row.extend_from_slice(&value.to_le_bytes()));
        rows.push(&row).unwrap();
    }
    let few = Rules { min_missing: 3, ..Rules::default() };
    let (json, fitted) = (json(&rows, &few), Fitted::fit(&rows, &few).unwrap());
    assert!(!json.contains("7.1") && serde_json::from_str::<Fitted>(&json).unwrap() == fitted);
    let out = encoded(&fitted, &rows);
    assert_eq!((&out[1][1..], &out[2][1..]), (&[0.0, 0.0][..], &[0.0, 1.0][..]));
    let changed =
        json.replacen("\"means\":[\"9.5e0\",\"0e0\"]", "\"means\":[\"9.5e0\",\"7e0\"]", 1);
    assert_ne!(changed, json);
    assert!(serde_json::from_str::<Fitted>(&changed).is_err());
    let enough = Rules { min_missing: 2, ..Rules::default() };
    assert!(
        serde_json::to_string(&Fitted::fit(&rows, &enough).unwrap()).unwrap().contains("7.125")
    );
}

#[test]
fn nothing_of_a_deleted_record_stays() {
    let table = |last: &str| {
        let mut text = "place,size,day,note,y\n".to_owned();
        for at in 0..30 {
            let (place, y) = (["north", "south"][at % 2], ["no", "yes"][at % 3 % 2]);
            text +=
                &format!("{place},{at},2024-01-{:02},word {} of four here,{y}\n", at + 1, at % 5);
        }
        text + last
    };
    let last = "atlantis,9.8765e37,1905-06-07,,maybe\n";
    for k in [1, 10] {
        let rules = Rules { min_records: k, ..Rules::default() };
        let mut with = csv(&table(last));
        let before = json(&with, &rules);
        with.remove(&[30]);
        let after = json(&with, &rules);
        assert_eq!(after, json(&csv(&table("")), &rules));
        assert_eq!(k == 1, before.contains("atlantis"));
        assert!(before.contains("maybe") && before.contains("e36"));
        for trace in ["atlantis", "maybe", "e36", "e37", "\"merged\":1,", "\"missing\":1"] {
            assert!(!after.contains(trace), "{trace}: {after}");
        }
    }
}
