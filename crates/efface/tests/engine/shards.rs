//! Networks of shards: whole lives that leave no trace, what a request touches, and what is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::{
    CheckOutcome, Code, Delete, ExportFormat, Linear, Selector, Settings, Source, add, certificate,
    delete, erase, evaluate, export, margins, predict, refresh, status, train, update,
    verify_ledger, verify_whole_ledger, weights,
};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::world::World;

/// Weights of one network: dense:3 of three numbers and two classes.
const EACH: usize = 3 * 3 + 3 + 2 * 3 + 2;
const SHARDS: u64 = 4;

fn settings() -> Settings {
    Settings {
        mechanism: Some("shards".into()),
        network: Some("dense:3".into()),
        shards: Some(SHARDS),
        epochs: Some(3),
        batch_size: Some(5),
        public_n: Some(120),
        capacity: Some(400),
        ..Settings::default()
    }
}

/// As it is documented: the leading 64 bits of SHA-256 after the domain, scaled.
fn shard(name: &str) -> u64 {
    let digest = Sha256::digest(format!("efface.shard/1\0{name}").as_bytes());
    let leading = u64::from_be_bytes(digest[..8].try_into().unwrap());
    ((u128::from(leading) * u128::from(SHARDS)) >> 64) as u64
}

fn named(ids: &[String]) -> Delete {
    Delete { what: Selector::Ids(ids.to_vec()), request_id: None }
}

/// A record by id: whose it is, and which of its contents it has.
type Records = BTreeMap<String, (String, u64)>;

fn record(number: u64) -> (String, (String, u64)) {
    (format!("id-{number}"), (format!("who-{}", number / 3), number))
}

/// A table of such records, in this order.
fn table(
    world: &World,
    name: &str,
    records: &[(String, (String, u64))],
    people: bool,
) -> Source<'static> {
    let mut text = String::from("id,who,y,a,b,c\n");
    for (id, (who, content)) in records {
        let (s, t) = ((*content as f64 * 0.7).sin(), (*content as f64 * 1.3).cos());
        let y = if s + 0.4 * t > 0.0 { "yes" } else { "no" };
        text += &format!("{id},{who},{y},{s:.4},{t:.4},{:.4}\n", s * t);
    }
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    Source {
        path: Some(path),
        label: Some("y".into()),
        id: Some("id".into()),
        subject: people.then(|| "who".into()),
        ignore: if people { Vec::new() } else { vec!["who".into()] },
        classes: Some(vec!["no".into(), "yes".into()]),
        ..Source::default()
    }
}

/// A vault trained on these records.
fn trained(
    world: &World,
    name: &str,
    records: &[(String, (String, u64))],
    people: bool,
) -> PathBuf {
    let source = table(world, &format!("{name}.csv"), records, people);
    let vault = world.path(&format!("{name}.efface"));
    world.run(|s| train(&source, settings(), &vault, s)).unwrap();
    vault
}

fn bits(vault: &Path) -> Vec<u64> {
    weights(vault).unwrap().coef.iter().map(|weight| weight.to_bits()).collect()
}

fn event(vault: &Path) -> Value {
    let text = certificate(vault, "latest").unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["event"].clone()
}

fn holds(world: &World, vault: &Path) {
    let key = world.keyring.public_key();
    let verdict = verify_whole_ledger(vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    assert!(verdict.checks.iter().any(|check| check.name == "shards"));
}

fn below(rng: &mut ChaCha20Rng, most: usize) -> usize {
    (rng.next_u64() % most as u64) as usize
}

/// One random request; the records after it.
fn serve(
    world: &World,
    vault: &Path,
    rng: &mut ChaCha20Rng,
    records: &mut Records,
    next: &mut u64,
) {
    let ids: Vec<String> = records.keys().cloned().collect();
    let some: BTreeSet<String> =
        (0..1 + below(rng, 4)).map(|_| ids[below(rng, ids.len())].clone()).collect();
    let people = weights(vault).unwrap().subjects;
    match below(rng, 4) {
        0 if people => {
            let who = records[&ids[below(rng, ids.len())]].0.clone();
            let what = Selector::Subjects(vec![who.clone()]);
            world.run(|s| delete(vault, &Delete { what, request_id: None }, s)).unwrap();
            records.retain(|_, (whose, _)| *whose != who);
        }
        0 | 1 => {
            let some: Vec<String> = some.into_iter().collect();
            world.run(|s| delete(vault, &named(&some), s)).unwrap();
            some.iter().for_each(|id| drop(records.remove(id)));
        }
        2 => {
            let new: Vec<_> = (0..3).map(|more| record(*next + more)).collect();
            *next += 3;
            let source = table(world, "more.csv", &new, people);
            world.run(|s| add(vault, &source, None, s)).unwrap();
            records.extend(new);
        }
        _ => {
            // Other contents, of somebody else now and then.
            let change = |id: &String| {
                let who = if below(rng, 2) == 0 { records[id].0.clone() } else { "new".into() };
                (id.clone(), (who, 1000 + rng.next_u64() % 1000))
            };
            let new: Vec<_> = some.iter().map(change).collect();
            let source = table(world, "other.csv", &new, people);
            world.run(|s| update(vault, &source, None, s)).unwrap();
            records.extend(new);
        }
    }
}

#[test]
fn after_any_requests_the_model_is_that_of_the_records_there_are() {
    for seed in 0..6 {
        let (world, people) = (World::new(), seed % 2 == 0);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let first: Vec<_> = (0..60).map(record).collect();
        let vault = trained(&world, "lived", &first, people);
        let (mut records, mut next): (Records, u64) = (first.into_iter().collect(), 60);
        for request in 0..6 {
            serve(&world, &vault, &mut rng, &mut records, &mut next);
            // In another order, by one thread or two, in vaults that never saw another record.
            let rest: Vec<_> = records.clone().into_iter().rev().collect();
            let threads = 1 + request % 2;
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let name = format!("never-{request}");
            let never = pool.install(|| trained(&world, &name, &rest, people));
            assert_eq!(bits(&vault), bits(&never), "seed {seed}, request {request}");
        }
        holds(&world, &vault);
    }
}

#[test]
fn a_request_changes_the_networks_of_its_shards_and_no_other() {
    for people in [false, true] {
        let world = World::new();
        let first: Vec<_> = (0..60).map(record).collect();
        let vault = trained(&world, "model", &first, people);
        assert_eq!(event(&vault)["retrained"], SHARDS);
        let before = bits(&vault);
        assert_eq!(before.len(), EACH * SHARDS as usize);
        let served = world.run(|s| delete(&vault, &named(&["id-7".into()]), s)).unwrap();
        let claim = &served.claims[0];
        assert_eq!((claim.notion.name(), claim.epsilon.0), ("exact-removal", 0.0));
        assert_eq!(served.claims.len(), 1);
        assert_eq!(event(&vault)["retrained"], 1);
        let whose = if people { "who-2" } else { "id-7" };
        let after = bits(&vault);
        let changed = (0..SHARDS as usize).filter(|&place| {
            let of = |all: &[u64]| all[place * EACH..][..EACH].to_vec();
            of(&before) != of(&after)
        });
        assert_eq!(changed.collect::<Vec<_>>(), [shard(whose) as usize]);
        // Three epochs over the other records of its shard, five at a time.
        let place = |(id, (who, _)): &(String, (String, u64))| shard(if people { who } else { id });
        let others = first.iter().filter(|record| place(record) == shard(whose)).count() - 1;
        assert_eq!(served.work.unwrap().steps, 3 * (others as u64).div_ceil(5));
        let unit = if people { "subject" } else { "record" };
        assert_eq!(event(&vault)["unit"], unit);
        holds(&world, &vault);
    }
}

/// The network of the subject before has to forget the record, too.
#[test]
fn an_update_may_move_a_record_from_one_shard_to_another() {
    let world = World::new();
    let mut records: Vec<_> = (0..60).map(record).collect();
    let vault = trained(&world, "model", &records, true);
    let other = (0..).map(|n| format!("other-{n}")).find(|who| shard(who) != shard("who-2"));
    records[7].1 = (other.unwrap(), 7);
    let source = table(&world, "moved.csv", &records[7..8], true);
    world.run(|s| update(&vault, &source, None, s)).unwrap();
    assert_eq!(event(&vault)["retrained"], 2);
    assert_eq!(bits(&vault), bits(&trained(&world, "never", &records, true)));
    holds(&world, &vault);
}

#[test]
fn a_shard_without_records_says_nothing() {
    let world = World::new();
    let first: Vec<_> = (0..60).map(record).collect();
    let vault = trained(&world, "model", &first, false);
    let gone: Vec<String> =
        first.iter().map(|(id, _)| id.clone()).filter(|id| shard(id) == 2).collect();
    world.run(|s| delete(&vault, &named(&gone), s)).unwrap();
    let after = bits(&vault);
    assert!(after[2 * EACH..3 * EACH].iter().all(|&bits| bits == 0));
    let kept: Vec<_> = first.into_iter().filter(|(id, _)| shard(id) != 2).collect();
    let never = trained(&world, "never", &kept, false);
    assert_eq!(after, bits(&never));
    let test = world.table("test.csv", 300, 30, 2);
    predict(&vault, &Source { subject: None, ..test }, &mut |told| {
        assert!((told.probabilities.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        Ok(())
    })
    .unwrap();
    holds(&world, &vault);
}

/// Records that are named by their position keep it, so that nothing is left of what another one held.
#[test]
fn what_a_deleted_record_held_is_in_no_weight() {
    let world = World::new();
    let vaults = [5, 900].map(|content| {
        let mut first: Vec<_> = (0..60).map(record).collect();
        first[5].1.1 = content;
        let source = table(&world, &format!("{content}.csv"), &first, false);
        let mut ignore = source.ignore.clone();
        ignore.push("id".into());
        let source = Source { id: None, ignore, ..source };
        let vault = world.path(&format!("{content}.efface"));
        world.run(|s| train(&source, settings(), &vault, s)).unwrap();
        vault
    });
    let [one, other] = &vaults;
    assert_ne!(bits(one), bits(other));
    for vault in &vaults {
        world.run(|s| delete(vault, &named(&["row:5".into()]), s)).unwrap();
        holds(&world, vault);
    }
    assert_eq!(bits(one), bits(other));
}

#[test]
fn an_erased_model_is_trained_anew_on_what_remains() {
    let world = World::new();
    let first: Vec<_> = (0..60).map(record).collect();
    let vault = trained(&world, "model", &first, false);
    world.run(|s| erase(&vault, &named(&["id-3".into(), "id-9".into()]), s)).unwrap();
    assert!(weights(&vault).is_err(), "the model is withdrawn");
    world.run(|s| refresh(&vault, None, s)).unwrap();
    assert_eq!(event(&vault)["retrained"], SHARDS);
    let kept: Vec<_> =
        first.into_iter().filter(|(id, _)| !["id-3", "id-9"].contains(&id.as_str())).collect();
    assert_eq!(bits(&vault), bits(&trained(&world, "never", &kept, false)));
    holds(&world, &vault);
    let error = world.run(|s| refresh(&vault, None, s)).unwrap_err();
    assert_eq!(error.code(), Code::NothingToRefresh);
}

#[test]
fn outputs_are_mean_log_probabilities_wherever_they_are_computed() {
    let world = World::new();
    let first: Vec<_> = (0..90).map(record).collect();
    let vault = trained(&world, "model", &first, false);
    let test = Source { subject: None, ..world.table("test.csv", 300, 60, 2) };
    let model = weights(&vault).unwrap();
    assert_eq!(model.network.as_deref(), Some("dense:3,image=3x1x1,shards=4"));
    let margins_of = |network: &str, coef: &[f64]| {
        let linear = Linear {
            coef,
            intercept: &[0.0, 0.0],
            row_map: &model.row_map,
            row_norm: model.row_norm,
            preprocessing: None,
            feature_map: None,
            trunk: None,
            network: Some(network),
        };
        let source = Source { schema: Some(model.schema.clone()), ..test.clone() };
        margins(&source, &linear, &mut |_| ControlFlow::Continue(())).map(|(outputs, _)| outputs)
    };
    let outputs = margins_of("dense:3,image=3x1x1,shards=4", &model.coef).unwrap();
    let mut means = vec![0.0; outputs.len()];
    for network in model.coef.chunks(EACH) {
        let logits = margins_of("dense:3,image=3x1x1", network).unwrap();
        for (means, logits) in means.chunks_mut(2).zip(logits.chunks(2)) {
            let total = (logits[0].exp() + logits[1].exp()).ln();
            means.iter_mut().zip(logits).for_each(|(mean, z)| *mean += (z - total) / 4.0);
        }
    }
    assert!(outputs.iter().zip(&means).all(|(one, other)| (one - other).abs() < 1e-12));
    let mut row = 0;
    predict(&vault, &test, &mut |told| {
        let odds = (told.probabilities[1].1 / told.probabilities[0].1).ln();
        assert!((odds - (outputs[2 * row + 1] - outputs[2 * row])).abs() < 1e-9);
        row += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(row, 60);
    assert!(evaluate(&vault, &test).unwrap().accuracy.unwrap() > 0.5);
    for wrong in ["dense:3,image=3x1x1,shards=3", "dense:3,image=3x1x1,shards=04"] {
        margins_of(wrong, &model.coef).unwrap_err();
    }
    for format in ["npz", "json", "safetensors"] {
        let format = ExportFormat::from_name(format).unwrap();
        let bytes = world.run(|s| export(&vault, format, s)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(format == ExportFormat::Npz || text.contains("shards=4"), "{format:?}");
    }
}

#[test]
fn certificates_say_what_they_rest_on() {
    let world = World::new();
    let (vault, first) = world.trained(settings()).unwrap();
    for listed in [
        r#"{"name":"shards","origin":"user","value":"4"}"#,
        r#"{"name":"epochs","origin":"user","value":"3"}"#,
        r#"{"name":"batch-size","origin":"user","value":"5"}"#,
        r#"{"name":"arithmetic","origin":"default","value":"1"}"#,
        r#""evidence":"enforced","name":"determinism""#,
        r#""evidence":"declared","name":"network""#,
        "under the names that they have",
        "the names of the remaining records and subjects",
    ] {
        assert!(first.certificate.contains(listed), "{listed}");
    }
    assert!(!first.certificate.contains("the kept sums"));
    let now = status(&vault).unwrap();
    assert_eq!((now.deletions_left, now.releases_left), (None, None));
    let exact: Vec<_> = now.notions.iter().filter(|notion| notion.available).collect();
    assert_eq!(exact.len(), 1);
    assert_eq!(exact[0].notion, "exact-removal");
    let key = world.keyring.public_key();
    // Networks are trained anew where all is asked for, and else not.
    let verdict = verify_ledger(&vault, Some(&key), None, Some(&world.keyring)).unwrap();
    assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    assert!(verdict.checks.iter().all(|check| check.name != "shards"));
}

#[test]
fn what_shards_have_no_use_for_is_refused() {
    let refused = |settings: Settings, said: &str| {
        let error = World::new().trained(settings).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    };
    let of = settings;
    refused(Settings { shards: Some(13), ..of() }, "120 records are too few for 13 shards");
    refused(Settings { shards: Some(0), ..of() }, "`shards` must be");
    refused(Settings { shards: Some(5000), ..of() }, "`shards` must be");
    refused(Settings { network: Some("conv:4x2".into()), ..of() }, "conv");
    refused(Settings { network: Some("dense:4,image=2x2".into()), ..of() }, "the 3 features");
    let large = Settings { network: Some("dense:3000,dense:2000".into()), ..of() };
    refused(large, "4 networks of");
    for (settings, name) in [
        (Settings { epsilon: Some(1.0), ..of() }, "epsilon"),
        (Settings { delta: Some(1e-6), ..of() }, "delta"),
        (Settings { seed: Some(1), ..of() }, "seed"),
        (Settings { noise: Some(1.0), ..of() }, "noise"),
        (Settings { max_group: Some(2), ..of() }, "max-group"),
        (Settings { lambda: Some(0.1), ..of() }, "lambda"),
        (Settings { intercept: Some(1.0), ..of() }, "intercept"),
        (
            Settings { normalizer: Some("mean".into()), capacity: None, public_n: None, ..of() },
            "normalizer",
        ),
    ] {
        refused(settings, &format!("`{name}` has no meaning with `shards`"));
    }
    let loss = Settings { loss: Some("squared".into()), target_range: Some((0.0, 9.0)), ..of() };
    refused(loss, "with the loss `squared`");
    refused(Settings { state: Some("secret".into()), ..of() }, "secret");
    refused(
        Settings { notion: Some("differential-privacy".into()), ..of() },
        "only `exact-removal`",
    );
    refused(Settings { class_weight: vec!["yes=2".into()], ..of() }, "class-weight");
    let fitted = Settings { public_n: None, capacity: None, ..of() };
    refused(Settings { preprocess: Some("fitted".into()), ..fitted }, "depend on each of them");
    refused(Settings { eta: Some(1e9), ..of() }, "`eta` must be");
    refused(Settings { deletions: Some(3), ..of() }, "no such training is given");
    refused(Settings { epochs: Some(3), ..Settings::default() }, "`shards` only");
}
