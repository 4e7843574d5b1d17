//! The Hessian that is kept for the next request in `perfect` state.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use efface::{
    CheckOutcome, Code, Delete, Keyring, Schedule, Selector, Served, Settings, Source, Verdict,
    add, audit_sample, delete, doctor, erase, plan, prepare, refresh, status, train, update,
    verify_ledger, verify_whole_ledger, weights,
};
use efface_learn::mechanism::{Prepared, Steering, newton, solve};
use efface_learn::solver::{Factor, unwatched};
use efface_learn::{Dataset, Objective};
use efface_vault::Vault;
use rusqlite::Connection;

use crate::world::{World, bytes, holds};

fn one(id: usize) -> Delete {
    Delete { what: Selector::Ids(vec![format!("id-{id}")]), request_id: None }
}

fn settings() -> Settings {
    Settings { lambda: Some(1e-3), solver: Some("lbfgs".into()), ..Settings::default() }
}

/// The bytes that are kept beside the model.
fn kept(vault: &Path) -> Option<Vec<u8>> {
    Vault::open_read_only(vault).unwrap().caches().unwrap()
}

/// Puts other bytes there, under the vault's own checksums.
fn put(vault: &Path, keyring: &Keyring, bytes: &[u8]) {
    let mut vault = Vault::open(vault).unwrap();
    vault.unlock(keyring).unwrap();
    let mut change = vault.begin().unwrap();
    change.set_caches(Some(bytes)).unwrap();
    change.commit().unwrap();
}

fn by_it(served: &Served) -> bool {
    served.work.as_ref().unwrap().by_kept_hessian
}

fn notices(served: &Served) -> Vec<&'static str> {
    served.notices.iter().map(|notice| notice.code.name()).collect()
}

fn outcome(verdict: &Verdict, name: &str) -> Vec<(CheckOutcome, String)> {
    let of_name = verdict.checks.iter().filter(|check| check.name == name);
    of_name.map(|check| (check.outcome, check.reason.clone())).collect()
}

/// What the Hessian must be: formed from nothing but published weights and rows.
fn expected(vault: &Path, records: &Dataset) -> Vec<u8> {
    let constants = plan(vault).unwrap().constants().unwrap();
    let found = weights(vault).unwrap();
    let model = Vault::open_read_only(vault).unwrap().model().unwrap().unwrap();
    let words = model.weights[model.weights.len() - 8 * constants.parameters()..].as_chunks::<8>();
    let published: Vec<f64> = words.0.iter().map(|word| f64::from_le_bytes(*word)).collect();
    assert_eq!(published[0], found.coef[0]);
    let objective = Objective::new(&constants, records).unwrap();
    let watch = &mut unwatched;
    if constants.loss().link_bounds().self_concordance.is_none() {
        return solve::prepare(&objective, &published, model.version, watch).unwrap().to_bytes();
    }
    let Schedule::Output(output) = plan(vault).unwrap().schedule else { panic!("not `solve`") };
    let checked = output.check(&constants, records.rows()).unwrap();
    let point = newton::prepare(&objective, &checked, &published, model.version, watch).unwrap();
    point.unwrap().to_bytes()
}

/// The steps are a factor's, where there can be no point.
fn hinge() -> Settings {
    Settings { loss: Some("huber-hinge".into()), ..settings() }
}

/// What is kept for the losses of each kind: a point near the optimum, or a factor alone.
fn kinds() -> [(&'static [u8], Settings); 2] {
    [(b"newton 1", settings()), (b"hessian1", hinge())]
}

#[test]
fn a_prepared_request_takes_few_passes_and_leaves_nothing_of_it() {
    // The last of each take several pages of the vault.
    let cases = [(None, None, 4), (Some("newton"), None, 4), (Some("lbfgs"), Some("rff:120"), 121)];
    let cases = kinds().into_iter().flat_map(|kind| cases.map(|case| (kind.clone(), case)));
    for ((name, settings), (solver, features, weights)) in cases {
        let world = World::new();
        let named = |name: Option<&str>| name.map(str::to_owned);
        let settings = Settings { solver: named(solver), features: named(features), ..settings };
        let (vault, _) = world.trained(settings).unwrap();
        assert!(!status(&vault).unwrap().prepared && kept(&vault).is_none());
        let ready = world.run(|s| prepare(&vault, s)).unwrap();
        assert_eq!(
            (ready.version, ready.records, ready.weights, ready.already),
            (1, 120, weights, false)
        );
        let bytes_kept = kept(&vault).unwrap();
        assert!(bytes_kept.starts_with(name), "{solver:?}");
        // The hinge bends where rows pass its corners.
        let most = if name == b"newton 1" { 4 } else { 6 };
        assert_eq!(ready.bytes, bytes_kept.len() as u64);
        assert!(world.run(|s| prepare(&vault, s)).unwrap().already);
        assert!(status(&vault).unwrap().prepared);

        let served = world.run(|s| delete(&vault, &one(7), s)).unwrap();
        let work = served.work.clone().unwrap();
        assert!(by_it(&served) && work.hessians == 0 && work.passes <= most, "{solver:?} {work:?}");
        assert!(notices(&served).is_empty(), "{:?}", served.notices);
        assert!(kept(&vault).is_none() && !status(&vault).unwrap().prepared);
        let all = bytes(vault.parent().unwrap());
        for needle in bytes_kept[32..].chunks(8) {
            assert!(!holds(&all, needle), "{solver:?}");
        }
        let next = world.run(|s| delete(&vault, &one(8), s)).unwrap();
        assert!(!by_it(&next));
    }
}

/// Of many records a few change without a pass over the others, whose names alone are looked at: contents that
/// another program changed are found by who reads them.
#[test]
fn a_point_serves_a_change_of_many_records_without_a_pass() {
    let world = World::new();
    let vault = world.path("many.efface");
    let classes = Some(vec!["no".to_owned(), "yes".to_owned()]);
    let source = Source { classes, ..world.table("many.csv", 0, 4500, 2) };
    let given = Settings { preprocess: Some("declared".into()), ..settings() };
    world.run(|s| train(&source, given, &vault, s)).unwrap();
    let more = world.table("more.csv", 5000, 4, 2);
    let again = world.table("again.csv", 200, 3, 2);
    for k in 0..3 {
        world.run(|s| prepare(&vault, s)).unwrap();
        let served = match k {
            0 => world.run(|s| delete(&vault, &one(7), s)),
            1 => world.run(|s| add(&vault, &more, None, s)),
            _ => world.run(|s| update(&vault, &again, None, s)),
        }
        .unwrap();
        let work = served.work.as_ref().unwrap();
        assert!(by_it(&served) && (work.passes, work.hessians) == (0, 0), "{k}: {work:?}");
        assert!(work.distance.unwrap() <= distance(&served.certificate));
        assert!(kept(&vault).is_none());
        assert!(!notices(&served).contains(&"hessian-not-used"), "{:?}", served.notices);
    }
    let key = world.keyring.public_key();
    let whole = verify_whole_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(whole.outcome(), CheckOutcome::Holds, "{whole:?}");

    world.run(|s| prepare(&vault, s)).unwrap();
    let sql = "UPDATE content SET features = CAST(x'0000003f' || substr(features, 5) AS BLOB) \
               WHERE first = (SELECT min(first) FROM block)";
    Connection::open(&vault).unwrap().execute_batch(sql).unwrap();
    let refused = |id: usize| {
        let refused = world.run(|s| delete(&vault, &one(id), s)).map(drop).unwrap_err();
        assert_eq!(refused.code(), Code::Damaged, "{refused}");
    };
    refused(3);
    // In the same block, with rows beside it that are as they were stored.
    let elsewhere = world.run(|s| delete(&vault, &one(120), s)).unwrap();
    assert!(by_it(&elsewhere) && elsewhere.work.unwrap().passes == 0);
    let whole = verify_whole_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(whole.outcome(), CheckOutcome::Fails);
    refused(4401);
}

/// Additions and updates use it, too, and every request drops it; an erasure withdraws it with the model.
#[test]
fn every_request_uses_it_once() {
    let world = World::new();
    let (vault, _) = world.trained(settings()).unwrap();
    let ready = || world.run(|s| prepare(&vault, s)).unwrap();
    ready();
    let more = world.table("more.csv", 200, 4, 2);
    assert!(by_it(&world.run(|s| add(&vault, &more, None, s)).unwrap()));
    assert!(kept(&vault).is_none());
    ready();
    let again = world.table("again.csv", 100, 2, 2);
    assert!(by_it(&world.run(|s| update(&vault, &again, None, s)).unwrap()));
    assert!(kept(&vault).is_none());
    ready();
    world.run(|s| erase(&vault, &one(3), s)).unwrap();
    assert!(kept(&vault).is_none());
    let withdrawn = world.run(|s| prepare(&vault, s)).unwrap_err();
    assert_eq!(withdrawn.code(), Code::Withdrawn);
    assert!(!by_it(&world.run(|s| refresh(&vault, None, s)).unwrap()));
    ready();
    assert!(by_it(&world.run(|s| delete(&vault, &one(5), s)).unwrap()));
}

/// Whatever was requested and prepared before, the bytes are those of the published weights and the rows
/// that are there, formed from nothing.
#[test]
fn what_is_kept_follows_from_published_weights_and_remaining_rows() {
    let cases = [false, true].map(|often| kinds().map(|(_, settings)| (often, settings)));
    for (often, settings) in cases.into_iter().flatten() {
        let world = World::new();
        let (vault, _) = world.trained(settings).unwrap();
        let look = || {
            world.run(|s| prepare(&vault, s)).unwrap();
            let sample = audit_sample(&vault, &[]).unwrap();
            assert_eq!(kept(&vault).unwrap(), expected(&vault, &sample.records));
            let verdict = verify_whole_ledger(&vault, None, None, Some(&world.keyring)).unwrap();
            let found = outcome(&verdict, "hessian");
            assert!(matches!(&found[..], [(CheckOutcome::Holds, _)]), "{found:?}");
        };
        if often {
            look();
        }
        for id in [3, 77, 4, 119] {
            world.run(|s| delete(&vault, &one(id), s)).unwrap();
            if often {
                look();
            }
        }
        let more = world.table("more.csv", 300, 5, 2);
        world.run(|s| add(&vault, &more, None, s)).unwrap();
        let again = world.table("again.csv", 30, 1, 2);
        world.run(|s| update(&vault, &again, None, s)).unwrap();
        world.run(|s| delete(&vault, &one(301), s)).unwrap();
        look();
    }
}

/// One prepared before a deletion and put back behind it: the seal of the vault knows; under a seal made with
/// the vault's keys its version is wrong; and with the version changed, too, the check against the rows tells.
#[test]
fn one_of_an_earlier_version_is_not_used() {
    for (name, settings) in kinds() {
        not_used_later(name == b"newton 1", settings);
    }
}

fn not_used_later(point: bool, settings: Settings) {
    let world = World::new();
    let (vault, _) = world.trained(settings).unwrap();
    world.run(|s| prepare(&vault, s)).unwrap();
    let before = kept(&vault).unwrap();
    world.run(|s| delete(&vault, &one(7), s)).unwrap();

    let copy = world.path("copy.efface");
    std::fs::copy(&vault, &copy).unwrap();
    let digest = hex::encode(blake3::hash(&before).as_bytes());
    let sql = format!(
        "INSERT INTO caches (one, digest, state) VALUES (1, x'{digest}', x'{}')",
        hex::encode(&before)
    );
    Connection::open(&copy).unwrap().execute_batch(&sql).unwrap();
    let error = world.run(|s| delete(&copy, &one(8), s)).unwrap_err();
    assert_eq!(error.code(), Code::Damaged);

    put(&vault, &world.keyring, &before);
    let verdict = doctor(&vault, Some(&world.keyring)).unwrap();
    let found = outcome(&verdict, "state");
    assert!(matches!(&found[..], [(CheckOutcome::Fails, why)] if why.contains("of version 1")));
    assert!(!status(&vault).unwrap().prepared);

    let mut renamed = before;
    renamed[8] = 2;
    put(&vault, &world.keyring, &renamed);
    let verdict = verify_whole_ledger(&vault, None, None, Some(&world.keyring)).unwrap();
    let found = outcome(&verdict, "hessian");
    assert!(matches!(&found[..], [(CheckOutcome::Fails, _)]), "{found:?}");
    // A factor steers steps, and no claim looks at it. A point proves where a step led, over as many records
    // as it says: one of another number is left out.
    let served = world.run(|s| delete(&vault, &one(8), s)).unwrap();
    assert!(kept(&vault).is_none());
    assert_eq!(by_it(&served), !point);
    if point {
        assert!(served.notices[0].message.contains("from other records"), "{:?}", served.notices);
    }
    let key = world.keyring.public_key();
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
}

/// Bytes that are none are left out with a word; a factor of anything leads within the same distance.
#[test]
fn damage_costs_time_and_nothing_else() {
    let factor = |numbers: &[f64]| Factor::from_slice(4, numbers).unwrap();
    let diagonal = |d: f64| [d, 0.0, 0.0, 0.0, d, 0.0, 0.0, d, 0.0, d];
    let of = |version, factor| Prepared { version, kept: Steering::Factor(factor) }.to_bytes();
    let good = of(1, factor(&diagonal(0.5)));
    let small = of(1, Factor::from_slice(2, &[1.0, 0.0, 1.0]).unwrap());
    let mut not_finite = good.clone();
    not_finite[28..32].copy_from_slice(&f32::NAN.to_le_bytes());
    let cases = [
        (of(2, factor(&diagonal(0.5))), Some("of version 2")),
        (small, Some("2 weights, but the model has 4")),
        (not_finite, Some("finite entries")),
        (good[..good.len() - 1].to_vec(), Some("must have 64 bytes, got 63")),
        (b"memory".to_vec(), Some("does not begin")),
        (Vec::new(), Some("does not begin")),
        (good, None),
        (of(1, factor(&diagonal(1e-6))), None),
        (of(1, factor(&diagonal(1e6))), None),
        (of(1, factor(&[1e-3, 5.0, -7.0, 9.0, 1.0, 30.0, 2.0, 0.1, 8.0, 1e-4])), None),
    ];
    for (bytes, why) in cases {
        let world = World::new();
        let (vault, _) = world.trained(settings()).unwrap();
        put(&vault, &world.keyring, &bytes);
        let served = world.run(|s| delete(&vault, &one(7), s)).unwrap();
        assert_eq!(by_it(&served), why.is_none(), "{why:?}");
        match why {
            None => assert!(notices(&served).is_empty()),
            Some(why) => {
                assert_eq!(notices(&served), ["hessian-not-used"]);
                let said = &served.notices[0].message;
                assert!(said.contains(why), "{said}");
            }
        }
        assert!(kept(&vault).is_none());
        let tau = distance(&served.certificate);
        assert!(served.work.unwrap().distance.unwrap() <= tau);
        let verdict = doctor(&vault, Some(&world.keyring)).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    }
}

fn distance(certificate: &str) -> f64 {
    let text: serde_json::Value = serde_json::from_str(certificate).unwrap();
    text["event"]["distance"].as_str().unwrap().parse().unwrap()
}

/// Bytes that another program changed are found, left out with a word, and made anew when asked.
#[test]
fn changed_bytes_are_found() {
    let world = World::new();
    let (vault, _) = world.trained(settings()).unwrap();
    let spoil = || {
        world.run(|s| prepare(&vault, s)).unwrap();
        let sql = "UPDATE caches SET state = CAST(zeroblob(40) || substr(state, 41) AS BLOB)";
        Connection::open(&vault).unwrap().execute_batch(sql).unwrap();
        let found = outcome(&doctor(&vault, Some(&world.keyring)).unwrap(), "state");
        assert!(matches!(&found[..], [(CheckOutcome::Fails, _)]), "{found:?}");
        let whole = verify_whole_ledger(&vault, None, None, Some(&world.keyring)).unwrap();
        let found = outcome(&whole, "hessian");
        assert!(matches!(&found[..], [(CheckOutcome::Fails, _)]), "{found:?}");
    };
    spoil();
    let ready = world.run(|s| prepare(&vault, s)).unwrap();
    assert!(!ready.already);
    assert_eq!(doctor(&vault, Some(&world.keyring)).unwrap().outcome(), CheckOutcome::Holds);
    world.run(|s| delete(&vault, &one(6), s)).unwrap();
    spoil();
    let served = world.run(|s| delete(&vault, &one(7), s)).unwrap();
    assert_eq!((by_it(&served), notices(&served)), (false, vec!["hessian-not-used"]));
    assert_eq!(doctor(&vault, Some(&world.keyring)).unwrap().outcome(), CheckOutcome::Holds);
}

/// A row that another program took away is damage, as any other: the seal of the contents covers its digest.
#[test]
fn a_lost_row_blocks_requests() {
    let world = World::new();
    let (vault, _) = world.trained(settings()).unwrap();
    world.run(|s| prepare(&vault, s)).unwrap();
    Connection::open(&vault).unwrap().execute_batch("DELETE FROM caches").unwrap();
    let refused = world.run(|s| delete(&vault, &one(7), s)).map(drop).unwrap_err();
    assert_eq!(refused.code(), Code::Damaged, "{refused}");
    let refused = world.run(|s| prepare(&vault, s)).map(drop).unwrap_err();
    assert_eq!(refused.code(), Code::Damaged, "{refused}");
}

/// Certificates of prepared requests are those of others, word for word.
#[test]
fn certificates_tell_nothing_of_it() {
    let text = |prepared: bool| {
        let world = World::new();
        let (vault, _) = world.trained(settings()).unwrap();
        if prepared {
            world.run(|s| prepare(&vault, s)).unwrap();
        }
        let served = world.run(|s| delete(&vault, &one(7), s)).unwrap();
        assert_eq!(by_it(&served), prepared);
        let mut text: serde_json::Value = serde_json::from_str(&served.certificate).unwrap();
        let document = text.as_object_mut().unwrap();
        for own in ["id", "vault", "chain", "signature", "request", "model"] {
            assert!(document.remove(own).is_some(), "{own}");
        }
        text
    };
    assert_eq!(text(true), text(false));
}

#[test]
fn models_without_a_use_for_it_are_refused() {
    let named = |mechanism: &str| Settings {
        mechanism: Some(mechanism.into()),
        lambda: Some(0.1),
        ..Settings::default()
    };
    let ridge = Settings {
        loss: Some("squared".into()),
        target_range: Some((0.0, 10.0)),
        ..named("ridge")
    };
    let secret = Settings { state: Some("secret".into()), releases: Some(4), ..named("solve") };
    let by = |solver: &str| Settings { solver: Some(solver.into()), ..named("solve") };
    for (settings, why) in [
        (named("retrain"), "from zeros"),
        (secret, "`secret` state"),
        (by("newton-cg"), "`newton-cg`"),
        (by("gradient-descent"), "`gradient-descent`"),
        (named("noisy-gd"), "without a Hessian"),
        (named("descent-to-delete"), "without a Hessian"),
        (Settings { releases: Some(4), ..named("distributed-descent") }, "without a Hessian"),
        (ridge, "without a Hessian"),
    ] {
        let world = World::new();
        let (vault, _) = world.trained(settings).unwrap();
        let before = std::fs::read(&vault).unwrap();
        let error = world.run(|s| prepare(&vault, s)).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(error.what_to_do().is_some() && std::fs::read(&vault).unwrap() == before);
        // Nor is one used that someone put there.
        let served = world.run(|s| delete(&vault, &one(7), s)).unwrap();
        assert!(!by_it(&served) || why == "`secret` state");
    }
    let world = World::new();
    let wide = Settings { features: Some("rff:2100".into()), ..named("solve") };
    let (vault, _) = world.trained(wide).unwrap();
    let error = world.run(|s| prepare(&vault, s)).unwrap_err();
    assert!(error.to_string().contains("at most 2048 weights"), "{error}");
}

/// A table of numbers and one word, and its vault with fitted preprocessing.
fn people(world: &World, places: &[&str]) -> PathBuf {
    let mut text = String::from("id,age,place,label\n");
    for row in 0..160 {
        let age = 20.0 + (row as f64 * 0.37).sin() * 9.0;
        let label = if age + (row % 3) as f64 > 21.0 { "yes" } else { "no" };
        writeln!(text, "id-{row},{age:.3},{},{label}", places[row % places.len()]).unwrap();
    }
    // The only one of a place.
    text += "id-160,33.5,elsewhere,no\n";
    let (path, vault) = (world.path("people.csv"), world.path("people.efface"));
    std::fs::write(&path, text).unwrap();
    let source = Source {
        path: Some(path),
        label: Some("label".into()),
        id: Some("id".into()),
        ..Source::default()
    };
    let settings = Settings {
        preprocess: Some("fitted".into()),
        min_frequency: Some(1),
        excess_risk: Some(0.05),
        ..Settings::default()
    };
    world.run(|s| train(&source, settings, &vault, s)).unwrap();
    vault
}

/// Preprocessing that is fitted again hardly moves the columns; where one goes, the factor is left out.
#[test]
fn it_serves_while_fitted_columns_stay() {
    let world = World::new();
    let vault = people(&world, &["Ulm", "Trier", "Bonn"]);
    for id in [3, 4] {
        world.run(|s| prepare(&vault, s)).unwrap();
        let served = world.run(|s| delete(&vault, &one(id), s)).unwrap();
        let work = served.work.clone().unwrap();
        assert!(by_it(&served) && work.hessians == 0 && work.passes <= 8, "{work:?}");
        let verdict = doctor(&vault, Some(&world.keyring)).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    }
    world.run(|s| prepare(&vault, s)).unwrap();
    let verdict = verify_whole_ledger(&vault, None, None, Some(&world.keyring)).unwrap();
    assert!(matches!(&outcome(&verdict, "hessian")[..], [(CheckOutcome::Holds, _)]));
    let served = world.run(|s| delete(&vault, &one(160), s)).unwrap();
    assert!(!by_it(&served) && notices(&served).contains(&"hessian-not-used"), "{served:?}");
    assert!(kept(&vault).is_none());
}
