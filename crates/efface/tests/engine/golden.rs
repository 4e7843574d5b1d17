//! What seeded lives release and write into their ledgers, byte for byte, by mechanism and row store.
//!
//! The table tells that a change of the code changed bits, not which bits are right. It must be the same on
//! every machine, and factors of Hessians are not: models are solved by `lbfgs`, and what a Newton memory
//! keeps is left out.

use std::fmt::Write as _;
use std::path::Path;

use efface::{
    Context, Delete, MemoryBudget, Resident, Result, RowStore, Selector, Served, Settings, Source,
    add, certificate, delete, erase, refresh, train, update, weights,
};
use sha2::{Digest, Sha256};

use crate::partitioned::Cluster;
use crate::streamed::{ids, kept, settings};
use crate::world::World;

/// Enough for several chunks where little memory is allowed.
const ROWS: usize = 900;

/// Bytes for rows: less than all of them need.
const LITTLE: usize = 160_000;

type Request<'a> = dyn Fn(&World, &Path, &mut Context<'_>) -> Result<Served> + 'a;

/// Ends a request: whether it was served.
type End<'a> = dyn Fn(bool) + 'a;

#[test]
fn releases_and_ledgers_are_as_they_were() {
    let mut table = String::new();
    for (name, classes, given) in cases() {
        for store in ["vault", "within", "resident"] {
            let (world, resident) = (World::new(), Resident::default());
            let rows = match store {
                "vault" => RowStore::Vault,
                "within" => RowStore::Within(MemoryBudget::for_rows(LITTLE)),
                _ => RowStore::Resident(&resident),
            };
            let source = named(world.table("train.csv", 0, ROWS, classes), classes);
            let line = format!("{name} {store}");
            live(&world, rows, &source, given.clone(), classes, &line, &mut table, &|_| ());
        }
        if classes == 2 && name != "fitted" {
            let (world, cluster) = (World::new(), Cluster::of(&[200, 90, 310]));
            let end = |served| cluster.end(served);
            let line = format!("{name} parts");
            let rows = RowStore::Parts(&cluster);
            live(&world, rows, &cluster.source(), given, classes, &line, &mut table, &end);
        }
    }
    insta::assert_snapshot!(table);
}

fn named(source: Source<'static>, classes: usize) -> Source<'static> {
    let classes = match classes {
        0 => None,
        2 => Some(vec!["no".to_owned(), "yes".to_owned()]),
        n => Some((0..n).map(|class| format!("class{class}")).collect()),
    };
    Source { classes, ..source }
}

/// All kinds of requests, one after another; a line of what each left or why it was refused.
#[allow(clippy::too_many_arguments)]
fn live(
    world: &World,
    rows: RowStore<'_>,
    source: &Source<'_>,
    given: Settings,
    classes: usize,
    line: &str,
    table: &mut String,
    end: &End<'_>,
) {
    let vault = world.path("model.efface");
    let more = world.table("more.csv", 7000, 30, classes);
    let again = world.table("again.csv", 100, 2, classes);
    let who = Selector::Subjects(vec!["who-90".into()]);
    let person = Delete { what: who, request_id: Some("person".into()) };
    let requests: [(&str, &Request<'_>); 8] = [
        ("train", &|_, vault, s| train(source, given.clone(), vault, s)),
        ("delete", &|_, vault, s| delete(vault, &ids(&[17, 0, 1, 599]), s)),
        ("add", &|_, vault, s| add(vault, &more, Some("more"), s)),
        ("update", &|_, vault, s| update(vault, &again, Some("again"), s)),
        ("delete person", &|_, vault, s| delete(vault, &person, s)),
        ("refresh", &|_, vault, s| refresh(vault, Some("anew"), s)),
        ("erase", &|_, vault, s| erase(vault, &ids(&[9]), s)),
        ("after", &|_, vault, s| refresh(vault, Some("after"), s)),
    ];
    for (verb, request) in requests {
        // Models begin in memory: only requests read rows within a limit.
        let within = verb == "train" && matches!(rows, RowStore::Within(_));
        let rows = if within { RowStore::Vault } else { rows };
        let served = world.run_on(rows, |s| request(world, &vault, s));
        end(served.is_ok());
        let left = left(&vault, served, !line.starts_with("newton"));
        writeln!(table, "{line} {verb}: {left}").unwrap();
        if !vault.exists() {
            break;
        }
    }
}

/// What a request left: the newest entry of the ledger, the weights, and what is kept.
fn left(vault: &Path, served: Result<Served>, with_kept: bool) -> String {
    if let Err(error) = served {
        return error.code().as_str().to_owned();
    }
    let mut hasher = Sha256::new();
    hasher.update(certificate(vault, "latest").unwrap());
    hasher.update(weights(vault).map(|weights| weights.digest).unwrap_or_default());
    if with_kept {
        hasher.update(kept(vault).unwrap_or_default());
    }
    hex::encode(&hasher.finalize()[..10])
}

fn cases() -> Vec<(&'static str, usize, Settings)> {
    let by =
        |mechanism: &str| Settings { mechanism: Some(mechanism.into()), ..Settings::default() };
    let loss = |loss: &str| Settings { loss: Some(loss.into()), ..Settings::default() };
    let range = Some((0.0, 10.0));
    let newton = Settings {
        state: Some("secret".into()),
        solver: Some("newton".into()),
        releases: Some(40),
        ..Settings::default()
    };
    let private = Settings {
        notion: Some("differential-privacy".into()),
        epsilon: Some(4.0),
        releases: Some(9),
        max_group: Some(4),
        ..Settings::default()
    };
    let network = Settings { network: Some("dense:4".into()), ..Settings::default() };
    let sampled = Settings {
        mechanism: Some("dp-sgd".into()),
        steps: Some(30),
        rate: Some(0.05),
        deletions: Some(5),
        unit: Some("record".into()),
        ..network.clone()
    };
    let shards =
        Settings { mechanism: Some("shards".into()), shards: Some(3), epochs: Some(2), ..network };
    let noise = Some(0.05);
    let mut list = vec![
        ("solve", 2, Settings::default()),
        ("solve of three classes", 3, loss("softmax")),
        ("huber-hinge", 2, loss("huber-hinge")),
        ("squared", 0, Settings { target_range: range, ..loss("squared") }),
        ("newton", 2, newton),
        ("private", 2, private),
        ("fitted", 2, Settings { preprocess: Some("fitted".into()), ..Settings::default() }),
        ("random features", 2, Settings { features: Some("rff:64".into()), ..Settings::default() }),
        ("retrain", 2, by("retrain")),
        ("noisy-gd", 2, Settings { noise, ..by("noisy-gd") }),
        ("noisy-gd in batches", 2, Settings { noise, batches: Some(4), ..by("noisy-gd") }),
        ("descent-to-delete", 2, Settings { noise, ..by("descent-to-delete") }),
        ("distributed-descent", 2, Settings { releases: Some(9), ..by("distributed-descent") }),
        ("ridge", 2, by("ridge")),
    ];
    for (name, _, given) in &mut list {
        let steps = ["noisy-gd", "noisy-gd in batches", "descent-to-delete", "ridge"];
        let solver = (!steps.contains(name)).then(|| "lbfgs".to_owned());
        let solver = given.solver.take().or(solver);
        *given = settings(Settings { solver, ..std::mem::take(given) });
    }
    let fitted = Settings { preprocess: Some("fitted".into()), ..by("ridge") };
    list.extend([("ridge, fitted", 2, fitted), ("dp-sgd", 2, sampled), ("shards", 2, shards)]);
    list
}
