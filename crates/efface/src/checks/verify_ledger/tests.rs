//! Continuity of a ledger's entries.

use super::*;

#[test]
fn what_requests_over_batches_changed_goes_on() {
    let batches = |changed: Option<&[u64]>| Batches {
        count: 8,
        size: 15,
        most: 39,
        changed: changed.map(<[u64]>::to_vec),
    };
    let goes_on = |now, then| changed_goes_on(Some(&batches(now)), Some(&batches(then)));
    assert!(goes_on(Some(&[1, 2, 3]), Some(&[1, 2])));
    assert!(!goes_on(Some(&[0, 2, 3]), Some(&[1, 2])));
    assert!(!goes_on(Some(&[]), Some(&[])));
    // What is long is merged, and nothing else.
    assert!(!goes_on(Some(&[1, 5, 3]), Some(&[1, 2, 3])));
    let long: Vec<u64> = (1..MOST_PHASES as u64).collect();
    let mut merged = vec![1, 2 + 3];
    merged.extend(4..=MOST_PHASES as u64);
    assert!(goes_on(Some(&merged), Some(&long)));
    assert!(!goes_on(Some(&merged[1..]), Some(&long)));
    let mut other = merged.clone();
    other.swap(1, 9);
    assert!(!goes_on(Some(&other), Some(&long)));
    assert!(goes_on(None, None));
    assert!(!goes_on(None, Some(&[1])) && !goes_on(Some(&[1]), None));
    assert!(changed_goes_on(None, None) && !changed_goes_on(None, Some(&batches(None))));
    let fewer = Batches { count: 4, ..batches(None) };
    assert!(!changed_goes_on(Some(&fewer), Some(&batches(None))));
}

#[test]
fn counts_go_on_and_what_is_hidden_stays_hidden() {
    let request = |kind, records| Request {
        id: "r".to_owned(),
        kind,
        records,
        subjects: None,
        received_at: String::new(),
    };
    let delete = request(RequestKind::Delete, Some(3));
    let update = request(RequestKind::Update, Some(3));
    for request in [&delete, &update] {
        assert!(removed_goes_on(request, None, Some(8), Some(5)));
        assert!(!removed_goes_on(request, None, Some(7), Some(5)));
    }
    assert!(removed_goes_on(&request(RequestKind::Add, Some(3)), None, Some(5), Some(5)));
    assert!(!removed_goes_on(&request(RequestKind::Add, Some(3)), None, Some(4), Some(5)));
    assert!(removed_goes_on(&request(RequestKind::Delete, None), None, None, None));
    assert!(!removed_goes_on(&delete, None, Some(8), None));
    assert!(!removed_goes_on(&delete, None, None, Some(5)));
    let refresh = request(RequestKind::Refresh, Some(0));
    assert!(removed_goes_on(&refresh, Some(3), Some(8), Some(5)));
    assert!(!removed_goes_on(&refresh, Some(3), Some(7), Some(5)));

    assert!(replaced_goes_on(Some(&[1, 2, 3]), Some(&[1, 2])));
    assert!(replaced_goes_on(None, Some(&[1, 2])));
    assert!(replaced_goes_on(None, None));
    assert!(!replaced_goes_on(Some(&[1, 2]), None));
    assert!(!replaced_goes_on(Some(&[2, 2, 3]), Some(&[1, 2])));
    assert!(!replaced_goes_on(Some(&[1, 2]), Some(&[1, 2])));
    assert!(!replaced_goes_on(Some(&[]), Some(&[])));
}

#[test]
fn a_ledger_is_of_one_kind_of_event() {
    let shards: Event = serde_json::from_value(serde_json::json!({
        "kind": "shards", "parameters": 10, "unit": "record", "shards": 2, "retrained": 1,
        "arithmetic": 1, "releases": 1,
    }))
    .unwrap();
    let sampled: Event = serde_json::from_value(serde_json::json!({
        "kind": "dp-sgd", "parameters": 10, "unit": "record", "rows_per_unit": 1, "clip": "1",
        "noise": "2", "grid": "1e-9", "rate": "0.1", "group": 1, "releases": 1,
        "segments": [{ "steps": 5, "deleted": 0 }], "earlier_steps": 0,
    }))
    .unwrap();
    assert!(same_kind(&shards, &shards) && same_kind(&sampled, &sampled));
    assert!(!same_kind(&shards, &sampled) && !same_kind(&sampled, &shards));
}

/// A signed export note at a place of the ledger, and its hash.
fn note(index: u64, previous: &str, key: &ed25519_dalek::SigningKey) -> (String, String) {
    use ed25519_dalek::Signer;
    let document = serde_json::json!({
        "schema": crate::store::ledger::EXPORT_SCHEMA,
        "chain": { "index": index, "previous": previous, "hash": "" },
    });
    let public = key.verifying_key().to_bytes();
    let sign = |bytes: &[u8]| key.sign(bytes).to_bytes();
    efface_privacy::certificate::seal(document, &public, sign).unwrap()
}

/// An owner can sign whatever she likes; an entry that is exchanged later is still found.
#[test]
fn an_entry_must_follow_the_one_before_it() {
    let key = ed25519_dalek::SigningKey::from_bytes(&[5; 32]);
    let genesis = Genesis {
        vault_id: String::new(),
        created_at: String::new(),
        config_json: String::new(),
        public_key: key.verifying_key().to_bytes(),
        block_rows: 1,
    };
    let walk = |texts: [&(String, String); 2]| {
        let mut walk = Walk::new(&genesis, None);
        let mut verdict = Verdict::default();
        for (index, (json, hash)) in (0..).zip(texts) {
            let hash = crate::store::seal::hash_bytes(hash).unwrap();
            walk.entry(
                &LedgerEntry { index, kind: crate::store::ledger::EXPORT, json, hash },
                &mut verdict,
            );
        }
        verdict.outcome()
    };
    let first = note(0, GENESIS, &key);
    let second = note(1, &first.1, &key);
    assert_eq!(walk([&first, &second]), CheckOutcome::Holds);
    let elsewhere = note(1, &"1".repeat(64), &key);
    assert_eq!(walk([&first, &elsewhere]), CheckOutcome::Fails);
}

#[test]
fn neighbours_are_joined() {
    assert_eq!(ranges(&[3, 5, 6, 7, 9]), "3, 5 to 7, 9");
    assert_eq!(ranges(&[0, 1]), "0 to 1");
}
