//! Erasure without a release: rows and model go now, whatever a release would need.

use std::path::Path;

use efface::{
    CheckOutcome, Code, Delete, ExportFormat, MechanismName, Notion, Privacy, Selector, Settings,
    add, certificate, delete, delete_dry_run, entries, erase, erase_dry_run, evaluate, export,
    predict, refresh, report, show, status, update, verify, verify_ledger, weights,
};

use sha2::{Digest, Sha256};

use crate::world::{World, bytes, holds};

fn ids(names: &[&str]) -> Delete {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Delete { what: Selector::Ids(names), request_id: None }
}

fn by(mechanism: &str) -> Settings {
    let hidden = mechanism == "descent-to-delete, secret";
    let secret = hidden || mechanism == "distributed-descent";
    let mechanism = mechanism.trim_end_matches(", secret");
    let least_squares = mechanism == "ridge";
    Settings {
        mechanism: Some(mechanism.into()),
        variant: hidden.then(|| "secret".into()),
        loss: least_squares.then(|| "squared".into()),
        target_range: least_squares.then_some((0.0, 10.0)),
        lambda: (!["dp-sgd", "shards"].contains(&mechanism)).then_some(0.05),
        releases: secret.then_some(9),
        ..Settings::default()
    }
}

/// Everything the vault's folder holds.
fn folder(world: &World) -> Vec<u8> {
    bytes(&world.path("."))
}

/// Whether a name is there in any form that something stored may have: as text, which a longer
/// number would follow, in UTF-16, as hexadecimal digits, and as a hash that whoever guesses the name
/// can compute.
fn names(haystack: &[u8], name: &str) -> bool {
    let text = name.as_bytes();
    let followed = |at: usize| haystack.get(at + text.len()).is_some_and(u8::is_ascii_digit);
    let as_text = memchr::memmem::find_iter(haystack, text).any(|at| !followed(at));
    let hashes = [Sha256::digest(text).to_vec(), blake3::hash(text).as_bytes().to_vec()];
    let mut others = vec![
        name.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        name.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        hex::encode(text).into_bytes(),
    ];
    others.extend(hashes.iter().map(|hash| hex::encode(hash).into_bytes()));
    others.extend(hashes);
    as_text || others.iter().any(|form: &Vec<u8>| holds(haystack, form))
}

/// The whole ledger holds, and so does each of its entries.
fn all_holds(world: &World, vault: &Path) {
    let key = world.keyring.public_key();
    let verdict = verify_ledger(vault, Some(&key), None, Some(&world.keyring)).unwrap();
    let failed = |v: &efface::Verdict| {
        v.checks.iter().filter(|c| c.outcome != CheckOutcome::Holds).cloned().collect::<Vec<_>>()
    };
    assert_eq!(failed(&verdict), []);
    for entry in entries(vault).unwrap() {
        let text = certificate(vault, &entry.index.to_string()).unwrap();
        assert!(show(&text).unwrap().text().contains("withdrawn") == (entry.kind == "erase"));
        assert_eq!(failed(&verify(&text, Some(&key), Some(vault), None).unwrap()), []);
    }
}

#[test]
fn rows_and_model_go_and_a_refresh_brings_a_model_of_the_others() {
    let mut all = MechanismName::ALL.map(MechanismName::name).to_vec();
    all.push("descent-to-delete, secret");
    for mechanism in all {
        // These begin at the published model, which is gone.
        let goes_on = !["noisy-gd", "descent-to-delete"].contains(&mechanism);
        let world = World::new();
        let (vault, _) = world.trained(by(mechanism)).unwrap();
        std::fs::remove_file(world.path("train.csv")).unwrap();
        let old: Vec<u8> = weights(&vault).unwrap().coef[0].to_le_bytes().to_vec();
        let before = folder(&world);
        assert!(names(&before, "id-77") && names(&before, "who-3"), "{mechanism}");
        assert!(holds(&before, &old), "{mechanism}");

        let dry = erase_dry_run(&vault, &ids(&["id-77", "id-78"]), &world.keyring).unwrap();
        assert_eq!((dry.records, dry.remaining, dry.claims.len()), (2, 118, 0));
        let request = Delete { request_id: Some("gone".into()), ..ids(&["id-77", "id-78"]) };
        let served = world.run(|s| erase(&vault, &request, s)).unwrap();
        assert_eq!(
            (served.kind.as_str(), served.records, served.remaining),
            ("erase", Some(2), 118)
        );
        assert!(served.claims.is_empty() && served.certificate.contains("efface.erasure/0.4"));
        let after = folder(&world);
        assert!(!names(&after, "id-77") && !names(&after, "id-78"), "{mechanism}");
        assert!(!holds(&after, &old), "{mechanism}: weights");
        let now = status(&vault).unwrap();
        assert!(now.withdrawn && now.claims.is_empty() && now.records == 118);
        assert!(now.notions.iter().all(|notion| !notion.available));
        assert!(report(&vault, &[]).unwrap().contains("1 erasure without a release"));
        all_holds(&world, &vault);

        // Nothing that needs a model goes on, and each says what to do.
        let table = world.table("more.csv", 200, 3, if mechanism == "ridge" { 0 } else { 2 });
        let again = world.table("again.csv", 60, 2, if mechanism == "ridge" { 0 } else { 2 });
        let refused = [
            predict(&vault, &table, &mut |_| Ok(())).map(drop),
            evaluate(&vault, &table).map(drop),
            weights(&vault).map(drop),
            world.run(|s| export(&vault, ExportFormat::Json, s)).map(drop),
            world.run(|s| add(&vault, &table, None, s)).map(drop),
            world.run(|s| update(&vault, &again, None, s)).map(drop),
            world.run(|s| delete(&vault, &ids(&["id-5"]), s)).map(drop),
            delete_dry_run(&vault, &ids(&["id-5"]), &world.keyring).map(drop),
        ];
        for error in refused.map(Result::unwrap_err) {
            assert_eq!(error.code(), Code::Withdrawn, "{mechanism}: {error}");
            let way = if goes_on { "efface refresh" } else { "train a new model" };
            assert!(error.what_to_do().unwrap().contains(way), "{mechanism}: {error}");
        }

        // The same request is answered by the same entry; more erasures are served.
        let replayed = world.run(|s| erase(&vault, &request, s)).unwrap();
        assert!(replayed.replayed && replayed.certificate == served.certificate);
        let known = world.run(|s| erase(&vault, &ids(&["id-78"]), s)).unwrap();
        assert!(known.replayed && known.index == served.index);
        let people = Delete { what: Selector::Subjects(vec!["who-3".into()]), request_id: None };
        let second = world.run(|s| erase(&vault, &people, s)).unwrap();
        assert_eq!((second.records, second.remaining), (Some(3), 115));
        let after = folder(&world);
        for name in ["who-3", "id-9", "id-10", "id-11"] {
            assert!(!names(&after, name), "{mechanism}: {name}");
        }
        assert!(second.certificate.contains("\"before\""));
        all_holds(&world, &vault);

        let fresh = world.run(|s| refresh(&vault, None, s));
        if !goes_on {
            let error = fresh.unwrap_err();
            assert!(error.what_to_do().unwrap().contains("train a new model"), "{error}");
            continue;
        }
        let fresh = fresh.unwrap();
        assert_eq!((fresh.kind.as_str(), fresh.version, fresh.remaining), ("refresh", 2, 115));
        assert!(!status(&vault).unwrap().withdrawn);
        let mut predicted = 0;
        let count = &mut |_| {
            predicted += 1;
            Ok(())
        };
        predict(&vault, &table, count).unwrap();
        assert_eq!(predicted, 3);
        all_holds(&world, &vault);
        let person = Delete { what: Selector::Subjects(vec!["who-1".into()]), request_id: None };
        let served = world.run(|s| delete(&vault, &person, s)).unwrap();
        assert_eq!((served.version, served.remaining), (3, 112), "{mechanism}");
        all_holds(&world, &vault);
    }
}

/// The first model without erased records is theirs: it has the claims of a deletion.
#[test]
fn the_model_after_an_erasure_has_the_claims_of_a_deletion() {
    for notion in ["deletion-privacy", "indistinguishable-from-retraining"] {
        let world = World::new();
        let settings = Settings { notion: Some(notion.into()), max_group: Some(3), ..by("solve") };
        let (vault, _) = world.trained(settings).unwrap();
        world.run(|s| erase(&vault, &ids(&["id-7", "id-8"]), s)).unwrap();
        let served = world.run(|s| refresh(&vault, None, s)).unwrap();
        let claim = served.claims.iter().find(|c| c.notion == Notion::DeletionPrivacy).unwrap();
        assert!(claim.epsilon.0 <= 1.0, "{notion}: {}", claim.epsilon);
        all_holds(&world, &vault);
        // What a refresh needs without an erasure: something to drop.
        let error = world.run(|s| refresh(&vault, None, s)).unwrap_err();
        assert_eq!(error.code(), Code::NothingToRefresh);
    }
}

/// Where a release is impossible, the refusal names the way, and the rows still go.
#[test]
fn an_erasure_is_never_impossible() {
    let private = Settings {
        notion: Some("differential-privacy".into()),
        max_group: Some(3),
        releases: Some(1),
        ..by("solve")
    };
    let secret = Settings { state: Some("secret".into()), releases: Some(2), ..by("solve") };
    let mean = Settings { normalizer: Some("mean".into()), minimum: Some(119), ..by("solve") };
    for (settings, refreshed) in [(private, false), (secret, true), (mean, false)] {
        let world = World::new();
        let counted = settings.state.is_some();
        let (vault, _) = world.trained(settings).unwrap();
        if counted {
            world.run(|s| delete(&vault, &ids(&["id-6"]), s)).unwrap();
        }
        let there = status(&vault).unwrap().records;
        let two = ids(&["id-7", "id-8"]);
        for error in [
            world.run(|s| delete(&vault, &two, s)).map(drop).unwrap_err(),
            delete_dry_run(&vault, &two, &world.keyring).map(drop).unwrap_err(),
        ] {
            let hint = error.what_to_do().unwrap_or_default();
            assert!(hint.contains("--erase-only"), "{error}");
        }
        assert_eq!(status(&vault).unwrap().records, there);
        world.run(|s| erase(&vault, &two, s)).unwrap();
        assert_eq!(status(&vault).unwrap().records, there - 2);
        assert!(names(&folder(&world), "id-7"), "the table has it");
        std::fs::remove_file(world.path("train.csv")).unwrap();
        assert!(!names(&folder(&world), "id-7") && !names(&folder(&world), "id-8"));
        let fresh = world.run(|s| refresh(&vault, None, s));
        assert_eq!(fresh.is_ok(), refreshed, "{fresh:?}");
        all_holds(&world, &vault);
    }
}

/// Releases made before count on under differential privacy.
#[test]
fn releases_made_stay_counted() {
    let world = World::new();
    let settings = Settings {
        notion: Some("differential-privacy".into()),
        max_group: Some(3),
        releases: Some(3),
        ..by("solve")
    };
    let (vault, _) = world.trained(settings).unwrap();
    for id in ["id-1", "id-2"] {
        world.run(|s| erase(&vault, &ids(&[id]), s)).unwrap();
        world.run(|s| refresh(&vault, None, s)).unwrap();
    }
    assert_eq!(status(&vault).unwrap().releases_left, Some(0));
    world.run(|s| erase(&vault, &ids(&["id-3"]), s)).unwrap();
    let error = world.run(|s| refresh(&vault, None, s)).unwrap_err();
    assert_eq!(error.code(), Code::ReleasesExhausted);
    all_holds(&world, &vault);
}

/// What was given is accounted by all records that ever left, those erased included.
#[test]
fn erased_records_count_against_what_was_given() {
    let world = World::new();
    let privacy = Privacy { epsilon: Some(0.01), delta: Some(1e-9), mu: None, group: 5 };
    let settings = Settings { extractor_privacy: Some(privacy), ..by("solve") };
    let (vault, _) = world.trained(settings).unwrap();
    world.run(|s| erase(&vault, &ids(&["id-1", "id-2"]), s)).unwrap();
    world.run(|s| erase(&vault, &ids(&["id-3"]), s)).unwrap();
    let served = world.run(|s| refresh(&vault, None, s)).unwrap();
    assert!(served.certificate.contains("\"removed\":3"), "{}", served.certificate);
    all_holds(&world, &vault);
}

/// A changed erasure is found, and so is one that a copy of the vault lacks.
#[test]
fn what_does_not_follow_is_found() {
    let world = World::new();
    let (vault, _) = world.trained(by("solve")).unwrap();
    let before = world.path("before.efface");
    std::fs::copy(&vault, &before).unwrap();
    let served = world.run(|s| erase(&vault, &ids(&["id-1"]), s)).unwrap();
    let key = world.keyring.public_key();
    let changed = served.certificate.replace("\"records\":\"1\"", "\"records\":\"2\"");
    let verdict = verify(&changed, Some(&key), Some(&vault), None).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Fails);
    let verdict = verify(&served.certificate, Some(&key), Some(&before), None).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Fails, "the ledger of the copy has no such entry");
}
