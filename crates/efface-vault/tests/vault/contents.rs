//! What is put into a vault comes out again, and rules are kept.

use crate::planted::keyring;
use efface_vault::*;
use std::path::PathBuf;

fn genesis() -> Genesis {
    Genesis {
        vault_id: "v-1".into(),
        config_json: "{\"lambda\":\"0.001\"}".into(),
        ..crate::planted::genesis()
    }
}

fn record<'a>(id: &'a str, subject: Option<&'a str>, features: &'a [u8]) -> StoredRecord<'a> {
    StoredRecord { id, subject, target: -1.5, features, added_version: 1 }
}

pub(crate) fn fresh() -> (tempfile::TempDir, PathBuf, Vault) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.efface");
    let mut creation = Vault::create(&path, &genesis(), &keyring()).unwrap();
    for (id, subject) in [("a", Some("s")), ("b", None), ("c", Some("s")), ("d", Some("t"))] {
        creation.insert_record(&record(id, subject, id.as_bytes())).unwrap();
    }
    let vault = creation.commit().unwrap();
    (folder, path, vault)
}

#[test]
fn a_new_vault_holds_what_it_was_given() {
    let (_folder, path, vault) = fresh();
    assert_eq!(vault.genesis().unwrap(), genesis());
    assert_eq!(vault.counts().unwrap(), Counts { records: 4, subjects: 2 });
    let mut seen = Vec::new();
    vault
        .scan(|id, row| {
            assert_eq!((row.target, row.added_version), (-1.5, 1));
            seen.push((id.get(), row.id.to_owned(), row.subject.map(str::to_owned)));
            Ok::<_, ReadError>(())
        })
        .unwrap();
    assert_eq!(seen[0], (1, "a".into(), Some("s".into())));
    assert_eq!(seen[1], (2, "b".into(), None));
    assert_eq!(seen.len(), 4);
    assert!(!path.with_extension("efface.partial").exists());
    drop(vault);
    let names: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "only the vault is left: {names:?}");
}

#[test]
fn features_are_scanned_in_order_of_insertion() {
    let (_folder, _path, vault) = fresh();
    let mut seen = Vec::new();
    vault
        .scan(|id, row| {
            seen.push((id.get(), row.features.to_vec(), row.target));
            Ok::<_, ReadError>(())
        })
        .unwrap();
    assert_eq!(seen[3], (4, b"d".to_vec(), -1.5));
}

#[test]
fn a_scan_stops_at_the_visitors_error() {
    #[derive(Debug, PartialEq)]
    enum Stop {
        Enough,
        Read(String),
    }
    impl From<ReadError> for Stop {
        fn from(error: ReadError) -> Self {
            Self::Read(error.to_string())
        }
    }
    let (_folder, _path, vault) = fresh();
    let mut seen = 0;
    let stopped = vault.scan(|_, _| {
        seen += 1;
        if seen == 2 { Err(Stop::Enough) } else { Ok(()) }
    });
    assert_eq!((stopped, seen), (Err(Stop::Enough), 2));
}

#[test]
fn ids_and_subjects_are_found_or_named_as_missing() {
    let (_folder, _path, vault) = fresh();
    let lookup = vault.find_ids(&["c", "x", "a", "c", "x"]).unwrap();
    assert_eq!(lookup.found, [RecordId::new(3), RecordId::new(1)]);
    assert_eq!(lookup.missing, ["x"]);
    assert_eq!(vault.find_subject("s").unwrap(), [RecordId::new(1), RecordId::new(3)]);
    assert!(vault.find_subject("nobody").unwrap().is_empty());
}

#[test]
fn identities_are_given_in_the_order_asked_without_the_unknown() {
    let (_folder, _path, vault) = fresh();
    let asked = [3, 99, 2].map(RecordId::new);
    let found = vault.identities(&asked).unwrap();
    let expected = [(3, "c", Some("s")), (2, "b", None)].map(|(number, id, subject)| Identity {
        record: RecordId::new(number),
        id: id.into(),
        subject: subject.map(str::to_owned),
        added_version: 1,
    });
    assert_eq!(found, expected);
}

#[test]
fn the_largest_subject_is_counted() {
    let (_folder, _path, mut vault) = fresh();
    assert_eq!(vault.largest_subject().unwrap(), 2);
    let mut change = vault.begin().unwrap();
    change.delete_records(&[1, 3, 4].map(RecordId::new)).unwrap();
    change.commit().unwrap();
    assert_eq!(vault.largest_subject().unwrap(), 0, "no subject is left");
}

/// An id that is written like a position is one as any other: unique, found, and gone when its record is.
#[test]
fn ids_like_positions_leave_with_their_records() {
    let (_folder, path, mut vault) = fresh();
    let ids = ["row:48151623", "row:48151624", "row:9223372036854775807", "row:007"];
    let mut change = vault.begin().unwrap();
    for id in ids {
        change.insert_record(&record(id, None, b"x")).unwrap();
    }
    change.commit().unwrap();
    assert_eq!(vault.find_ids(&ids).unwrap().found.len(), 4);
    for id in ids {
        let mut change = vault.begin().unwrap();
        let twice = change.insert_record(&record(id, None, b"x")).unwrap_err();
        assert!(matches!(&twice, WriteError::DuplicateId(same) if same == id), "{twice}");
    }
    for (left, id) in ids.iter().enumerate() {
        let rows = vault.find_ids(&[id]).unwrap().found;
        let mut change = vault.begin().unwrap();
        change.delete_records(&rows).unwrap();
        change.commit().unwrap();
        assert!(vault.examine().unwrap().complaints.is_empty());
        assert_eq!(vault.find_ids(&ids).unwrap().missing, ids[..=left], "{id}");
    }
    drop(vault);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let count = "SELECT (SELECT COUNT(*) FROM run), (SELECT COUNT(*) FROM named)";
    let left = connection.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(left.unwrap(), (0, 4));
}

#[test]
fn record_numbers_are_never_given_twice() {
    let (_folder, _path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    change.delete_records(&[RecordId::new(4)]).unwrap();
    assert_eq!(change.insert_record(&record("d", None, b"x")).unwrap(), RecordId::new(5));
    change.commit().unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&[RecordId::new(5)]).unwrap();
    change.commit().unwrap();
    let mut change = vault.begin().unwrap();
    assert_eq!(change.insert_record(&record("e", None, b"x")).unwrap(), RecordId::new(6));
}

#[test]
fn a_dropped_change_leaves_nothing() {
    let (_folder, _path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    change.delete_records(&[RecordId::new(1)]).unwrap();
    change.append_ledger("certificate", "{}", &[1; 32]).unwrap();
    assert_eq!(change.counts().unwrap().records, 3, "a change sees its own writes");
    drop(change);
    assert_eq!(vault.counts().unwrap().records, 4);
    assert_eq!(vault.head().unwrap(), None);
}

#[test]
fn a_failed_write_gives_the_change_up() {
    let (_folder, _path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    change.delete_records(&[RecordId::new(1)]).unwrap();
    let twice = change.insert_record(&record("b", None, b"")).unwrap_err();
    assert!(matches!(&twice, WriteError::DuplicateId(id) if id == "b"), "{twice}");
    let later = change.insert_record(&record("z", None, b"")).unwrap_err();
    assert!(later.to_string().contains("an earlier step of it failed"), "{later}");
    assert!(change.commit().unwrap_err().to_string().contains("an earlier step of it failed"));
    assert_eq!(vault.counts().unwrap().records, 4);
}

#[test]
fn unknown_records_and_records_named_twice_are_refused() {
    let (_folder, _path, mut vault) = fresh();
    for list in [vec![1, 99], vec![2, 2]] {
        let mut change = vault.begin().unwrap();
        let list: Vec<_> = list.into_iter().map(RecordId::new).collect();
        let refused = change.delete_records(&list).unwrap_err();
        let expected = format!("`record` must be in the vault, but {} is not", list[1]);
        assert_eq!(refused.to_string(), expected);
    }
    assert_eq!(vault.counts().unwrap().records, 4);
}

#[test]
fn targets_must_be_finite() {
    let (_folder, _path, mut vault) = fresh();
    for target in [f64::NAN, f64::INFINITY] {
        let mut change = vault.begin().unwrap();
        let row = StoredRecord { target, ..record("n", None, b"") };
        let refused = change.insert_record(&row).unwrap_err();
        assert!(refused.to_string().contains("`target` must be finite"), "{refused}");
    }
}

#[test]
fn targets_keep_their_bits_except_the_sign_of_zero() {
    let (_folder, _path, mut vault) = fresh();
    let targets = [0.1, -0.0, 3.0, f64::MAX, f64::MIN_POSITIVE / 2.0, -7.25, 9007199254740993.0];
    let mut change = vault.begin().unwrap();
    for (i, &target) in targets.iter().enumerate() {
        change
            .insert_record(&StoredRecord { target, ..record(&format!("t{i}"), None, b"") })
            .unwrap();
    }
    change.commit().unwrap();
    let mut seen = Vec::new();
    let read = vault.scan(|_, row| {
        seen.push(row.target);
        Ok::<_, ReadError>(())
    });
    read.unwrap();
    for (&put, &got) in targets.iter().zip(&seen[4..]) {
        let expected = if put == 0.0 { 0.0f64 } else { put };
        assert_eq!(got.to_bits(), expected.to_bits(), "{put}");
    }
}

#[test]
fn the_model_and_the_caches_are_replaced_whole() {
    let (_folder, path, mut vault) = fresh();
    assert_eq!(vault.model().unwrap(), None);
    let mut change = vault.begin().unwrap();
    change.replace_model(1, &[1; 100], &[3; 32], &[1; 32]).unwrap();
    change.replace_model(2, &[2; 10_000], &[4; 32], &[2; 32]).unwrap();
    change.set_caches(Some(b"first")).unwrap();
    change.set_caches(Some(b"second")).unwrap();
    change.commit().unwrap();
    let expected =
        StoredModel { version: 2, weights: vec![2; 10_000], salt: [4; 32], digest: [2; 32] };
    assert_eq!(vault.model().unwrap(), Some(expected.clone()));
    assert_eq!(vault.caches().unwrap().as_deref(), Some(&b"second"[..]));
    let mut change = vault.begin().unwrap();
    change.set_caches(None).unwrap();
    change.commit().unwrap();
    drop(vault);
    let reader = Vault::open_read_only(&path).unwrap();
    assert_eq!(reader.model().unwrap(), Some(expected));
    assert_eq!(reader.caches().unwrap(), None);
}

fn request(id: &str, kind: &str, digest: u8) -> Request {
    Request {
        request_id: id.into(),
        kind: kind.into(),
        body_digest: Some([digest; 32]),
        version: None,
        entry_index: 7,
    }
}

#[test]
fn a_request_is_stored_once() {
    let (_folder, _path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    let first = Request { version: Some(2), ..request("r1", "delete", 1) };
    change.insert_request(&first).unwrap();
    change.commit().unwrap();
    assert_eq!(vault.request("r1").unwrap(), Some(first.clone()));
    assert_eq!(vault.request("r2").unwrap(), None);
    for other in [first, request("r1", "delete", 2), request("r1", "add", 1)] {
        let mut change = vault.begin().unwrap();
        let refused = change.insert_request(&other).unwrap_err();
        assert!(matches!(refused, WriteError::RequestConflict(_)), "{refused}");
        assert!(change.commit().unwrap_err().to_string().contains("an earlier step of it failed"));
    }
}

/// What was asked before is the same request again, as far as its digest is still there to compare.
#[test]
fn a_request_asked_again_is_known_by_kind_and_digest() {
    let stored = request("r1", "delete", 1);
    assert!(stored.may_be("delete", Some(&[1; 32])));
    assert!(!stored.may_be("delete", Some(&[2; 32])));
    assert!(!stored.may_be("delete", None));
    assert!(!stored.may_be("add", Some(&[1; 32])));
    let erased = Request { body_digest: None, ..stored };
    assert!(erased.may_be("delete", Some(&[77; 32])));
    assert!(!erased.may_be("add", Some(&[77; 32])));
}

/// The digest of an addition or an update covers the rows it brought: it goes with the first of
/// them, and the others' digests stay. What is left to compare is the kind.
#[test]
fn digests_go_with_the_rows_they_cover() {
    let (_folder, _path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    let mut added = Vec::new();
    for version in 2..5u64 {
        for id in ["x", "y"] {
            let id = format!("{id}{version}");
            let row = StoredRecord { added_version: version, ..record(&id, None, b"z") };
            added.push(change.insert_record(&row).unwrap());
        }
        for kind in ["add", "delete"] {
            let request = request(&format!("{kind}-{version}"), kind, version as u8);
            change.insert_request(&Request { version: Some(version), ..request }).unwrap();
        }
    }
    change.commit().unwrap();
    let mut change = vault.begin().unwrap();
    change.delete_records(&added[2..3]).unwrap();
    change.commit().unwrap();
    for version in 2..5 {
        let digest =
            |kind: &str| vault.request(&format!("{kind}-{version}")).unwrap().unwrap().body_digest;
        assert_eq!(digest("add").is_some(), version != 3, "version {version}");
        assert!(digest("delete").is_some(), "version {version}");
    }
    vault.check_notes().unwrap();
}

#[test]
fn the_ledger_counts_from_zero_and_keeps_its_order() {
    let (_folder, path, mut vault) = fresh();
    for i in 0..5u8 {
        let mut change = vault.begin().unwrap();
        let index =
            change.append_ledger("certificate", &format!("{{\"n\":{i}}}"), &[i; 32]).unwrap();
        assert_eq!(index, u64::from(i));
        change.commit().unwrap();
    }
    assert_eq!(vault.head().unwrap(), Some(LedgerHead { index: 4, hash: [4; 32] }));
    let json = vault.ledger_entry(3, |entry| entry.json.to_owned()).unwrap();
    assert_eq!(json.as_deref(), Some("{\"n\":3}"));
    assert_eq!(vault.ledger_entry(5, |_| ()).unwrap(), None);
    assert_eq!(vault.ledger_entry(u64::MAX, |_| ()).unwrap(), None);
    let mut seen = Vec::new();
    let read = vault.scan_ledger(2, |entry| {
        seen.push((entry.index, entry.kind.to_owned(), entry.hash[0]));
        Ok::<_, ReadError>(())
    });
    read.unwrap();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0], (2, "certificate".into(), 2));
    drop(vault);
    let foreign = rusqlite::Connection::open(path).unwrap();
    let refused = foreign.execute("UPDATE ledger SET body = '' WHERE entry = 1", []).unwrap_err();
    assert!(refused.to_string().contains("append-only"), "{refused}");
}

#[test]
fn tombstones_lead_to_their_certificate() {
    let (_folder, _path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    change.set_tombstone([3; 32], 11).unwrap();
    change.commit().unwrap();
    assert_eq!(vault.tombstone(&[3; 32]).unwrap(), Some(11));
    let mut change = vault.begin().unwrap();
    change.set_tombstone([3; 32], 12).unwrap();
    change.commit().unwrap();
    assert_eq!(vault.tombstone(&[3; 32]).unwrap(), Some(12), "the newest is kept");
    assert_eq!(vault.tombstone(&[4; 32]).unwrap(), None);
}

#[test]
fn numbers_beyond_the_store_are_refused() {
    let (_folder, _path, mut vault) = fresh();
    let mut change = vault.begin().unwrap();
    let refused = change.replace_model(u64::MAX, b"", &[0; 32], &[0; 32]).unwrap_err();
    assert!(refused.to_string().contains("`version` must be below 2^63"), "{refused}");
}

#[test]
fn a_vault_can_be_sent_to_another_thread() {
    let (_folder, _path, vault) = fresh();
    let records = std::thread::spawn(move || vault.counts().unwrap().records).join().unwrap();
    assert_eq!(records, 4);
}
