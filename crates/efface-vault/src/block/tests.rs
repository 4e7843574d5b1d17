use super::*;
use crate::checksum::for_tests;
use proptest::prelude::*;

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
    prop_oneof![alike, unlike, nearly]
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
            prop_assert_eq!(left.block.columns(), never.block.columns());
            prop_assert_eq!(left.share, never.share);
        }
    }

    /// No change of a byte goes unnoticed, and none panics.
    #[test]
    fn a_changed_byte_is_found(
        rows in rows(), at in any::<prop::sample::Index>(), mask in 1..=255_u8, cut in any::<bool>(),
    ) {
        let Some(built) = built(1, &rows) else { return Ok(()) };
        let (head, features, stored) = built.block.columns();
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
    let (head, features, _) = block.columns();
    assert_eq!(features.len(), 64 * 40);
    // Bits, targets, and a checksum per eight rows and one of all; the rest does not grow with the rows.
    assert_eq!(head.len(), 64 / 8 + 64 * 8 + (64 / 8 + 1) * 16 + 48);
    let (features, contents) = block.into_contents();
    let row = contents[5].clone();
    assert_eq!((row.number, row.target), (RecordId::new(70), 1.0));
    assert_eq!(features[row.features], [5; 40]);
    assert_eq!(contents.len(), 64);
    let mut gap = rows;
    gap[3] = None;
    let block = built(65, &gap).unwrap().block;
    assert_eq!(block.columns().1[3 * 40..4 * 40], [0; 40]);
    assert_eq!(block.into_contents().1.len(), 63);
}

/// A long row among empty slots does not take its length for each of them.
#[test]
fn a_lone_long_row_takes_its_own_room() {
    let mut rows = vec![None; 4095];
    rows.push(plain("long", &[1; 100_000]));
    let block = built(1, &rows).unwrap().block;
    assert_eq!(block.columns().1.len(), 100_000);
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
    let (head, features, stored) = block.columns();
    let mut damaged = features.to_vec();
    damaged[20 * 16] ^= 1;
    let block = RowBlock::parse(1, head.to_vec(), damaged, stored).unwrap();
    let checksums = for_tests(2, "v");
    assert_eq!(block.check(&checksums), Err(Flaw::Changed { groups: vec![2] }));
    assert!(!block.check_slot(16, &checksums) && block.check_slot(15, &checksums));
    // The same rows under other numbers are other rows.
    let (head, features, stored) = block.columns();
    let moved = RowBlock::parse(41, head.to_vec(), features.to_vec(), stored).unwrap();
    assert_eq!(moved.check(&checksums), Err(Flaw::Changed { groups: (0..5).collect() }));
}

#[test]
fn blocks_are_of_a_size_that_reads_fast() {
    assert_eq!(rows_per_block(400), 327);
    assert_eq!(rows_per_block(0), 4096);
    assert_eq!(rows_per_block(1 << 40), 8);
}
