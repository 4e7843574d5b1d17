//! What requests leave behind about rows that are gone: nothing that confirms a guess of them.

use std::path::Path;

use efface::{
    Code, Delete, Error, Keyring, Selector, Served, Settings, Source, add, delete, refresh, update,
};
use rusqlite::Connection;

use crate::world::{World, holds};

fn delete_ids(world: &World, vault: &Path, ids: &[&str]) -> Served {
    let what = Selector::Ids(ids.iter().map(|id| (*id).to_owned()).collect());
    world.run(|s| delete(vault, &Delete { what, request_id: None }, s)).unwrap()
}

/// Two records, of which the first has this value in its first column.
fn table(world: &World, name: &str, value: &str) -> Source<'static> {
    let source = world.table(name, 0, 0, 2);
    let text = format!("id,who,y,a,b,c\nnew-1,p,yes,{value},0.2,0.3\nnew-2,q,no,0.3,0.1,-0.2\n");
    std::fs::write(source.path.as_ref().unwrap(), text).unwrap();
    source
}

/// The digests of requests that the vault has.
fn digests(vault: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let connection = Connection::open(vault).unwrap();
    let sql = "SELECT request_id, body_digest FROM request ORDER BY request_id";
    let mut query = connection.prepare(sql).unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

fn outcome(result: Result<Served, Error>) -> Result<(u64, bool), &'static str> {
    result.map(|served| (served.index, served.replayed)).map_err(|error| error.code().as_str())
}

/// Someone with the vault, its keys and candidates for a deleted row asks the request again with
/// each of them: while the row is there, the right one alone is answered; after, all are alike.
#[test]
fn a_request_confirms_no_guess_of_a_deleted_row() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let ask = |value: &str| {
        let table = table(&world, "guess.csv", value);
        world.run(|s| add(&vault, &table, Some("ticket-1"), s))
    };
    assert_eq!(outcome(ask("0.25")), Ok((1, false)));
    assert_eq!(outcome(ask("0.25")), Ok((1, true)));
    assert_eq!(outcome(ask("0.26")), Err("request-conflict"));
    let digest = digests(&vault).into_iter().find(|(id, _)| id == "ticket-1").unwrap().1.unwrap();
    let held = |digest: &[u8]| holds(&std::fs::read(&vault).unwrap(), digest);
    assert!(held(&digest));

    delete_ids(&world, &vault, &["new-1"]);
    assert!(!held(&digest), "the digest outlives the row it covers");
    let mut seen = Vec::new();
    for value in ["0.25", "0.26", "-0.9"] {
        let served = ask(value).unwrap();
        assert!(
            served.notices.iter().any(|n| n.message.contains("cannot be compared")),
            "{served:?}"
        );
        seen.push((served.index, served.replayed, served.notices, served.certificate));
    }
    assert!(seen.iter().all(|answer| *answer == seen[0]), "an answer depends on the guess");
    let other = table(&world, "other.csv", "0.25");
    let kind = world.run(|s| update(&vault, &other, Some("ticket-1"), s));
    assert_eq!(outcome(kind), Err("request-conflict"), "another kind of request");
    let kind = world.run(|s| refresh(&vault, Some("ticket-1"), s));
    assert_eq!(outcome(kind), Err("request-conflict"), "another kind of request");
}

#[test]
fn an_update_erases_the_digests_of_what_it_replaces_and_is_erased_itself() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    let first = table(&world, "first.csv", "0.25");
    let second = table(&world, "second.csv", "0.5");
    world.run(|s| add(&vault, &first, Some("ticket-1"), s)).unwrap();
    world.run(|s| update(&vault, &second, Some("ticket-2"), s)).unwrap();
    let erased =
        |id: &str| digests(&vault).into_iter().find(|(name, _)| name == id).unwrap().1.is_none();
    assert!(erased("ticket-1") && !erased("ticket-2"));
    delete_ids(&world, &vault, &["new-2"]);
    assert!(erased("ticket-2"));
}

/// Two worlds that differ in one row's contents, which is then deleted. Where the model is exact,
/// whatever is stored beside the ledger and its seals is the same in both, byte for byte.
#[test]
fn nothing_stored_tells_what_a_deleted_row_held() {
    let world = |value: &str| {
        let world = World::new();
        let settings = Settings {
            mechanism: Some("ridge".into()),
            loss: Some("squared".into()),
            target_range: Some((0.0, 10.0)),
            lambda: Some(0.1),
            ..Settings::default()
        };
        let (vault, _) = world.trained(settings).unwrap();
        let source = world.table("more.csv", 0, 0, 0);
        let text = format!("id,who,y,a,b,c\nnew-1,p,4.0,{value},0.2,0.3\n");
        std::fs::write(source.path.as_ref().unwrap(), text).unwrap();
        world.run(|s| add(&vault, &source, Some("ticket-1"), s)).unwrap();
        delete_ids(&world, &vault, &["new-1"]);
        stored(&vault)
    };
    let (one, other) = (world("0.25"), world("-0.75"));
    assert!(one.len() > 120);
    for (left, right) in one.iter().zip(&other) {
        assert_eq!(left, right);
    }
    assert_eq!(one.len(), other.len());
}

/// Every row of every table but the ledger, whose certificates name the models that were released,
/// and the tally, whose sums are masked by its head.
fn stored(vault: &Path) -> Vec<String> {
    let connection = Connection::open(vault).unwrap();
    let mut all = Vec::new();
    for table in
        ["genesis", "block", "named", "run", "owned", "counter", "caches", "request", "tombstone"]
    {
        let mut query = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap()));
            all.push(format!("{table}: {}", values.collect::<Vec<_>>().join(" ")));
        }
    }
    let weights: Vec<u8> =
        connection.query_row("SELECT weights FROM model", [], |row| row.get(0)).unwrap();
    all.push(format!("model: {weights:?}"));
    all
}

/// With another secret every deleted id would be unknown, and free to be added again.
#[test]
fn another_secret_is_refused_before_anything_else() {
    let world = World::new();
    let (vault, _) = world.trained(Settings::default()).unwrap();
    delete_ids(&world, &vault, &["id-3"]);
    let path = world.path("keys").join("other.toml");
    let mut other = World::new();
    other.keyring = Keyring::create(&path, &[7; 32], &[8; 32]).unwrap();
    assert_eq!(other.keyring.public_key(), world.keyring.public_key());
    let before = std::fs::read(&vault).unwrap();
    let again = world.table("again.csv", 3, 1, 2);
    let refused = other.run(|s| add(&vault, &again, None, s)).unwrap_err();
    assert_eq!(refused.code(), Code::Key);
    assert!(refused.message().contains("another `hmac_secret`"), "{refused}");
    assert!(std::fs::read(&vault).unwrap() == before);
}
