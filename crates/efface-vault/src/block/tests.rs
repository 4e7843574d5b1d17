use super::*;
use crate::checksum::for_tests;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A row that owns what an [`Entry`] borrows.
#[derive(Debug, Clone, PartialEq)]
struct Owned {
    id: String,
    subject: Option<String>,
    target: f64,
    version: u64,
    features: Vec<u8>,
}

impl Owned {
    fn stored(&self) -> StoredRecord<'_> {
        StoredRecord {
            id: &self.id,
            subject: self.subject.as_deref(),
            target: self.target,
            features: &self.features,
            added_version: self.version,
        }
    }

    fn of(record: &StoredRecord<'_>) -> Self {
        Self {
            id: record.id.into(),
            subject: record.subject.map(Into::into),
            target: record.target,
            version: record.added_version,
            features: record.features.into(),
        }
    }
}

fn built(first: i64, rows: &[Option<Owned>]) -> Option<Built> {
    let mut builder = Builder::new(first);
    for row in rows {
        builder.push(row.as_ref().map(|row| Entry::of(&row.stored())).as_ref().copied());
    }
    builder.finish(&for_tests(2, "v")).unwrap()
}

/// A block's head, features and the stored half of its checksum.
fn columns(block: &RowBlock) -> (&[u8], &[u8], [u8; STORED]) {
    let (head, stored) = block.head().columns();
    (head, block.features(), stored)
}

/// Takes rows out in place, with no more of the features than are asked for.
fn left_in_place(block: &RowBlock, slots: &BTreeSet<usize>) -> Option<Left> {
    let leaving = Leaving::of(block.head(), slots)?;
    let mut features: Vec<_> = leaving
        .windows()
        .iter()
        .map(|window| Features::from(block.features()[window.clone()].to_vec()))
        .collect();
    leaving.leave(&mut features, &for_tests(2, "v"))
}

fn rows_of(block: &RowBlock) -> Vec<(i64, Owned)> {
    let mut rows = Vec::new();
    block
        .for_each(|number, record| -> Result<(), ()> {
            rows.push((number.get(), Owned::of(&record)));
            Ok(())
        })
        .unwrap();
    rows
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..2000_u64).prop_map(crate::row_id),
        Just("row:18446744073709551615".to_owned()),
        Just("row:007".to_owned()),
        "\\PC{0,12}",
    ]
}

fn row(length: impl Strategy<Value = usize>) -> impl Strategy<Value = Owned> {
    let features = length.prop_flat_map(|n| prop::collection::vec(any::<u8>(), n));
    let target = prop_oneof![Just(0.0), Just(f64::MAX), -1e3..1e3];
    (id(), prop::option::of("\\PC{0,6}"), target, 0..3_u64, features).prop_map(
        |(id, subject, target, version, features)| Owned { id, subject, target, version, features },
    )
}

fn rows() -> impl Strategy<Value = Vec<Option<Owned>>> {
    let alike = (0..40_usize)
        .prop_flat_map(|n| prop::collection::vec(prop::option::weighted(0.8, row(Just(n))), 1..40));
    let unlike = prop::collection::vec(prop::option::weighted(0.8, row(0..40_usize)), 1..40);
    // Without one row, or with it, all are equally long.
    let mixed = prop_oneof![19 => Just(7_usize), 1 => 0..40_usize];
    let nearly = prop::collection::vec(prop::option::weighted(0.8, row(mixed)), 1..40);
    // Of more than eight rows under one checksum.
    let large = (1000..2000_usize).prop_flat_map(|n| {
        let row = (row(Just(0)), any::<u8>())
            .prop_map(move |(row, byte)| Owned { features: vec![byte; n], ..row });
        prop::collection::vec(prop::option::weighted(0.8, row), 20..40)
    });
    prop_oneof![3 => alike, 3 => unlike, 3 => nearly, 1 => large]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// What goes in comes out, and a block without some rows is byte for byte the block that never had
    /// them.
    #[test]
    fn blocks_hold_their_rows_and_nothing_of_others(rows in rows(), gone in any::<u64>()) {
        let Some(built) = built(101, &rows) else {
            prop_assert!(rows.iter().all(Option::is_none));
            return Ok(());
        };
        let expected: Vec<(i64, Owned)> = rows
            .iter()
            .enumerate()
            .filter_map(|(slot, row)| Some((101 + slot as i64, row.clone()?)))
            .collect();
        prop_assert_eq!(rows_of(&built.block), expected);
        let checksums = for_tests(2, "v");
        prop_assert_eq!(built.block.check(&checksums), Ok(built.share));
        prop_assert!(built.block.check(&for_tests(3, "v")).is_err());
        prop_assert!(built.block.check(&for_tests(2, "w")).is_err());
        let leaves = |slot: usize| gone >> (slot % 64) & 1 == 1;
        let left = Builder::of(&built.block, leaves).finish(&checksums).unwrap();
        let never: Vec<Option<Owned>> = rows
            .iter()
            .enumerate()
            .map(|(slot, row)| row.clone().filter(|_| !leaves(slot)))
            .collect();
        let never = super::tests::built(101, &never);
        prop_assert_eq!(left.is_none(), never.is_none());
        if let (Some(left), Some(never)) = (left, never) {
            prop_assert_eq!(columns(&left.block), columns(&never.block));
            prop_assert_eq!(left.share, never.share);
            let slots = built.block.head().present().filter(|&slot| leaves(slot)).collect();
            let in_place = left_in_place(&built.block, &slots);
            let spread = built.block.head().common_length().is_some();
            prop_assert_eq!(in_place.is_some(), spread);
            if let Some(in_place) = in_place {
                prop_assert_eq!(in_place.head.columns(), never.block.head().columns());
                prop_assert_eq!(in_place.share, never.share);
                let mut features = built.block.features().to_vec();
                in_place.zeros.into_iter().for_each(|zeros| features[zeros].fill(0));
                prop_assert_eq!(&features[..], never.block.features());
            }
        }
    }

    /// No change of a byte goes unnoticed, and none panics.
    #[test]
    fn a_changed_byte_is_found(
        rows in rows(), at in any::<prop::sample::Index>(), mask in 1..=255_u8, cut in any::<bool>(),
    ) {
        let Some(built) = built(1, &rows) else { return Ok(()) };
        let (head, features, stored) = columns(&built.block);
        let mut bytes = [head, features].concat();
        bytes[at.index(head.len() + features.len())] ^= mask;
        let mut head_now = bytes[..head.len()].to_vec();
        if cut {
            head_now.truncate(at.index(head.len()));
        }
        let features = bytes[head.len()..].to_vec();
        if let Some(block) = RowBlock::parse(1, head_now, features, stored) {
            prop_assert!(block.check(&for_tests(2, "v")).is_err());
            rows_of(&block);
        }
    }
}

fn plain(id: &str, features: &[u8]) -> Option<Owned> {
    let features = features.to_vec();
    Some(Owned { id: id.into(), subject: None, target: 1.0, version: 2, features })
}

/// Rows that are equally long lie at equal distances; those of positions have no ids in the block.
#[test]
fn rows_of_one_length_and_consecutive_positions_take_no_more_than_themselves() {
    let rows: Vec<_> = (0..64).map(|i| plain(&crate::row_id(1000 + i), &[i as u8; 40])).collect();
    let block = built(65, &rows).unwrap().block;
    let (head, features, _) = columns(&block);
    assert_eq!(features.len(), 64 * 40);
    // Bits, targets, and two checksums per eight rows; the rest does not grow with the rows.
    assert_eq!(head.len(), 64 / 8 + 64 * 8 + 64 / 8 * 32 + 48);
    let (features, contents) = block.into_contents();
    let row = contents[5].clone();
    assert_eq!((row.number, row.target), (RecordId::new(70), 1.0));
    assert_eq!(features[row.features], [5; 40]);
    assert_eq!(contents.len(), 64);
    let mut gap = rows;
    gap[3] = None;
    let block = built(65, &gap).unwrap().block;
    assert_eq!(columns(&block).1[3 * 40..4 * 40], [0; 40]);
    assert_eq!(block.into_contents().1.len(), 63);
}

/// A long row among empty slots does not take its length for each of them.
#[test]
fn a_lone_long_row_takes_its_own_room() {
    let mut rows = vec![None; 4095];
    rows.push(plain("long", &[1; 100_000]));
    let block = built(1, &rows).unwrap().block;
    assert_eq!(columns(&block).1.len(), 100_000);
    assert_eq!(block.into_contents().1.len(), 1);
}

/// Checksums that are kept are those of rows that lie as they lay: without the one row of another
/// length the others lie at equal distances, with zeros between them.
#[test]
fn a_row_that_leaves_may_change_how_the_others_lie() {
    let mut rows: Vec<_> = (0..16).map(|i| plain(&format!("id {i}"), &[i as u8; 9])).collect();
    rows[2] = None;
    rows[12] = plain("long", &[1; 30]);
    let checksums = for_tests(2, "v");
    let block = built(1, &rows).unwrap().block;
    let left = Builder::of(&block, |slot| slot == 12).finish(&checksums).unwrap().unwrap();
    assert_eq!(left.block.check(&checksums), Ok(left.share));
    let mut back = Builder::of(&left.block, |_| false);
    back.push(Some(Entry::of(&plain("longer", &[1; 31]).unwrap().stored())));
    let back = back.finish(&checksums).unwrap().unwrap();
    assert_eq!(back.block.check(&checksums), Ok(back.share));
}

/// A damaged byte makes the rows that share a checksum with it unusable, and no others.
#[test]
fn a_flaw_names_the_group_it_is_in() {
    let rows: Vec<_> = (0..40).map(|i| plain(&format!("id {i}"), &[7; 16])).collect();
    let block = built(1, &rows).unwrap().block;
    let (head, features, stored) = columns(&block);
    let mut damaged = features.to_vec();
    damaged[20 * 16] ^= 1;
    let block = RowBlock::parse(1, head.to_vec(), damaged, stored).unwrap();
    let checksums = for_tests(2, "v");
    assert_eq!(
        block.check(&checksums),
        Err(Flaw::Changed { slots: [2].map(|group| 8 * group..8 * group + 8).to_vec() })
    );
    let all = [(0, block.features())];
    let holds = |group| block.head().group_holds(group, AtHand(&all), &checksums);
    assert!(!holds(2) && holds(1));
    // The same rows under other numbers are other rows.
    let (head, features, stored) = columns(&block);
    let moved = RowBlock::parse(41, head.to_vec(), features.to_vec(), stored).unwrap();
    assert_eq!(
        moved.check(&checksums),
        Err(Flaw::Changed { slots: (0..5).map(|group| 8 * group..8 * group + 8).collect() })
    );
}

/// Of a large block the features of a row's group are looked at and no others, and no changed byte of these is
/// stored anew.
#[test]
fn rows_leave_in_place_by_few_features() {
    let rows: Vec<_> = (0..64).map(|i| plain(&format!("id {i}"), &[i as u8; 1600])).collect();
    let block = built(1, &rows).unwrap().block;
    let (slots, checksums) = (BTreeSet::from([0, 7, 40]), for_tests(2, "v"));
    let leaving = Leaving::of(block.head(), &slots).unwrap();
    // As many as have 16 KiB.
    assert_eq!(leaving.windows(), [0..17_600, 52_800..70_400]);
    let read = |features: &[u8]| -> Vec<_> {
        leaving.windows().iter().map(|w| Features::from(features[w.clone()].to_vec())).collect()
    };
    let never: Vec<_> =
        rows.into_iter().enumerate().map(|(i, row)| row.filter(|_| !slots.contains(&i))).collect();
    let never = built(1, &never).unwrap();
    for (at, within) in
        [(0, true), (17_600, false), (52_800, true), (70_399, true), (70_400, false)]
    {
        let mut features = block.features().to_vec();
        features[at] ^= 1;
        let left = leaving.leave(&mut read(&features), &checksums);
        assert_eq!(left.is_none(), within, "byte {at}");
        if let Some(left) = left {
            assert_eq!(left.head.columns(), never.block.head().columns());
        }
    }
    assert!(leaving.leave(&mut read(block.features()), &for_tests(3, "v")).is_none());
}

#[test]
fn rows_without_features_leave_in_place() {
    let rows: Vec<_> = (0..20).map(|i| plain(&format!("id {i}"), &[])).collect();
    let block = built(1, &rows).unwrap().block;
    let left = left_in_place(&block, &BTreeSet::from([3, 11])).unwrap();
    assert!(left.zeros.is_empty());
    assert_eq!(left.head.len(), 18);
}

/// More rows share a checksum once a block is large: none is kept that was of fewer.
#[test]
fn a_block_that_grows_may_have_other_groups() {
    let rows: Vec<_> = (0..25).map(|i| plain(&format!("id {i}"), &[i as u8; 1500])).collect();
    let (checksums, small) = (for_tests(2, "v"), built(1, &rows[..20]).unwrap().block);
    assert_eq!(small.head().group(1), 8..16);
    let mut builder = Builder::of(&small, |_| false);
    for row in &rows[20..] {
        builder.push(row.as_ref().map(|row| Entry::of(&row.stored())).as_ref().copied());
    }
    let grown = builder.finish(&checksums).unwrap().unwrap();
    assert_eq!(grown.block.head().group(1), 11..22);
    assert_eq!(grown.block.check(&checksums), Ok(grown.share));
    assert_eq!(columns(&grown.block), columns(&built(1, &rows).unwrap().block));
}

#[test]
fn short_rows_share_a_checksum_with_few() {
    let group = |bytes: usize| layout::group_size(4096, 4096 * bytes);
    assert_eq!([0, 8, 9, 16, 400, 4000].map(group), [8, 8, 64, 64, 41, 8]);
}

#[test]
fn blocks_are_of_a_size_that_reads_fast() {
    assert_eq!(rows_per_block(400), 327);
    assert_eq!(rows_per_block(0), 4096);
    assert_eq!(rows_per_block(1 << 40), 8);
}
