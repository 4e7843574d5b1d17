//! What an entry of the ledger takes in the vault's file, for every mechanism.

use efface::{Delete, MechanismName, Selector, Settings, add, certificate, delete, export, update};
use rusqlite::Connection;

use crate::world::World;

/// The most bytes that an entry beyond the first may take.
const MOST: i64 = 2048;

fn of(mechanism: &str) -> Settings {
    Settings {
        mechanism: Some(mechanism.into()),
        capacity: Some(400),
        epsilon: Some(1e6),
        ..Settings::default()
    }
}

/// Requests of every kind, with the longest names they may have, and an export.
#[expect(clippy::print_stdout, reason = "sizes are measured, not only checked")]
fn largest(name: &str, settings: Settings, requests: usize) -> i64 {
    let world = World::new();
    let classes = match settings.loss.as_deref() {
        Some("softmax") => 3,
        Some("squared") => 0,
        _ => 2,
    };
    let (vault, _) = world.trained(settings).unwrap_or_else(|error| panic!("{name}: {error}"));
    for number in 0..requests {
        let id = Some(format!("{number:a>128}"));
        let table = || world.table("more.csv", 200 + number, 1, classes);
        match number % 4 {
            0 => {
                let what = Selector::Subjects(vec![format!("who-{number}")]);
                world
                    .run(|s| delete(&vault, &Delete { what, request_id: id.clone() }, s))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            1 => {
                let source = table();
                world
                    .run(|s| add(&vault, &source, id.as_deref(), s))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            2 => {
                let what = Selector::Ids(vec![format!("id-{}", 200 + number - 1)]);
                world
                    .run(|s| delete(&vault, &Delete { what, request_id: id.clone() }, s))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            _ => {
                let source = world.table("other.csv", 117, 1, classes);
                world
                    .run(|s| update(&vault, &source, id.as_deref(), s))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
    for _ in 0..2 {
        world
            .run(|s| export(&vault, efface::ExportFormat::Npz, s))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let whole = certificate(&vault, "latest").unwrap().len();
    let sql = Connection::open(&vault).unwrap();
    let ask = |what: &str| -> i64 { sql.query_row(what, [], |row| row.get(0)).unwrap() };
    let most = ask("SELECT MAX(LENGTH(body)) FROM ledger WHERE entry > 0");
    let mean = ask("SELECT CAST(AVG(LENGTH(body)) AS INTEGER) FROM ledger WHERE entry > 0");
    println!(
        "{name:<36} first {:>5}, largest {most:>5}, mean {mean:>5}, whole {whole:>6}",
        ask("SELECT LENGTH(body) FROM ledger WHERE entry = 0")
    );
    most
}

#[test]
fn entries_take_at_most_two_kilobytes() {
    let secret = |settings: Settings| Settings {
        state: Some("secret".into()),
        releases: Some(60),
        ..settings
    };
    let privacy = efface::Privacy { epsilon: None, delta: None, mu: Some(0.1), group: 3 };
    let declared = |notion: &str, mechanism: &str| Settings {
        notion: Some(notion.into()),
        public_n: Some(120),
        max_group: Some(3),
        ..of(mechanism)
    };
    let ridge = Settings {
        loss: Some("squared".into()),
        target_range: Some((0.0, 10.0)),
        epsilon: None,
        ..of("ridge")
    };
    let descent = Settings {
        lambda: Some(0.1),
        noise: Some(10.0),
        max_group: Some(3),
        ..of("descent-to-delete")
    };
    let parts = Settings {
        capacity: None,
        releases: Some(60),
        noise: Some(10.0),
        ..of("distributed-descent")
    };
    let noisy = Settings { lambda: Some(0.05), ..of("noisy-gd") };
    let named = MechanismName::ALL.map(|name| {
        let settings = match name {
            MechanismName::NoisyGd => noisy.clone(),
            MechanismName::DescentToDelete => descent.clone(),
            MechanismName::DistributedDescent => parts.clone(),
            MechanismName::Ridge => ridge.clone(),
            MechanismName::Shards => Settings { epsilon: None, shards: Some(3), ..of("shards") },
            // An addition after each deletion trains anew.
            MechanismName::DpSgd => {
                Settings { deletions: Some(4), steps: Some(20), ..of("dp-sgd") }
            }
            name => of(name.name()),
        };
        (name.name(), settings)
    });
    let variants = [
        ("solve, softmax", Settings { loss: Some("softmax".into()), ..of("solve") }),
        ("solve, secret", secret(of("solve"))),
        (
            "solve, on a private extractor",
            Settings { extractor_privacy: Some(privacy), max_group: Some(200), ..of("solve") },
        ),
        ("solve, deletion-privacy", declared("deletion-privacy", "solve")),
        (
            "solve, differential-privacy",
            Settings { releases: Some(60), ..declared("differential-privacy", "solve") },
        ),
        ("noisy-gd, mean", Settings { capacity: None, normalizer: Some("mean".into()), ..noisy }),
        (
            "descent-to-delete, secret",
            Settings { variant: Some("secret".into()), releases: Some(60), ..descent },
        ),
    ];
    for (name, settings) in named.into_iter().chain(variants) {
        assert!(largest(name, settings, 24) <= MOST, "{name}");
    }
}
