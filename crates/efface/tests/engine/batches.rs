//! `noisy-gd` over batches: whole lives, full batches, and what is refused.

use efface::{Code, Delete, Selector, Settings, Source, add, delete, status, train};
use efface_privacy::certificate::Certificate;
use sha2::{Digest, Sha256};

use crate::world::World;

fn settings() -> Settings {
    Settings {
        mechanism: Some("noisy-gd".into()),
        batches: Some(8),
        lambda: Some(0.05),
        ..Settings::default()
    }
}

fn refused(settings: Settings) -> String {
    let error = World::new().trained(settings).unwrap_err();
    error.message().to_owned()
}

/// As it is documented: the leading 64 bits of SHA-256 after the domain, scaled.
fn batch(id: &str) -> u64 {
    let digest = Sha256::digest(format!("efface.batch/1\0{id}").as_bytes());
    let leading = u64::from_be_bytes(digest[..8].try_into().unwrap());
    ((u128::from(leading) * 8) >> 64) as u64
}

#[test]
fn certificates_state_the_batches() {
    let world = World::new();
    let (vault, first) = world.trained(settings()).unwrap();
    for listed in [
        r#"{"name":"batches","origin":"user","value":"8"}"#,
        r#"{"name":"batch-size","origin":"data","value":"15"}"#,
        r#"{"name":"batch-capacity","origin":"data","value":"39"}"#,
        r#""name":"batches","value":"a record's batch follows from its id alone"#,
    ] {
        assert!(first.certificate.contains(listed), "{listed}");
    }
    let one = Delete { what: Selector::Ids(vec!["id-7".into()]), request_id: None };
    let served = world.run(|s| delete(&vault, &one, s)).unwrap();
    let certificate = Certificate::parse(&served.certificate).unwrap();
    let text = serde_json::to_string(&certificate.event).unwrap();
    assert!(text.contains(r#""batches":{"count":8,"size":15,"most":39,"changed":[1]}"#), "{text}");
    // Where the deleted record was is told to nobody.
    assert!(!text.contains("id-7"));
    let work = served.work.unwrap();
    assert!(work.steps >= 1 && work.passes == work.steps.div_ceil(8), "{work:?}");
}

#[test]
fn an_addition_to_a_full_batch_is_refused_and_changes_nothing() {
    let world = World::new();
    let (vault, _) = world.trained(settings()).unwrap();
    let held = (0..120).filter(|row| batch(&format!("id-{row}")) == 0).count();
    // One more than there is room for, and as many that are spread out.
    let of_one = |all: bool| (1000..).filter(move |row| all || batch(&format!("id-{row}")) == 0);
    let table = |name: &str, rows: Vec<usize>| {
        let text = rows.iter().fold("id,who,y,a,b,c\n".to_owned(), |text, row| {
            text + &format!("id-{row},who-{row},yes,0.1,0.2,0.3\n")
        });
        let path = world.path(name);
        std::fs::write(&path, text).unwrap();
        Source {
            path: Some(path),
            label: Some("y".into()),
            id: Some("id".into()),
            subject: Some("who".into()),
            ..Source::default()
        }
    };
    let many = 39 - held + 1;
    let crowded = table("crowded.csv", of_one(false).take(many).collect());
    let error = world.run(|s| add(&vault, &crowded, None, s)).unwrap_err();
    assert_eq!(error.code(), Code::Capacity);
    assert!(error.message().contains("would have more than 39 records"), "{}", error.message());
    assert_eq!(status(&vault).unwrap().records, 120);
    let fits = table("fits.csv", of_one(false).take(many - 1).collect());
    world.run(|s| add(&vault, &fits, None, s)).unwrap();
    assert_eq!(status(&vault).unwrap().records, 120 + many as u64 - 1);
    let spread = table(
        "spread.csv",
        of_one(true).filter(|row| batch(&format!("id-{row}")) != 0).take(1).collect(),
    );
    world.run(|s| add(&vault, &spread, None, s)).unwrap();
}

#[test]
fn what_is_not_proven_over_batches_is_refused() {
    let text = |name: &str| Some(name.to_owned());
    for (settings, why) in [
        (Settings { radius: Some(2.0), ..settings() }, "`§batches` with `§radius`"),
        (Settings { normalizer: text("mean"), ..settings() }, "`§batches` with `§normalizer mean`"),
        (Settings { state: text("secret"), ..settings() }, "`§state secret`"),
        (Settings { mechanism: text("solve"), ..settings() }, "`§batches`"),
        (Settings { batches: Some(1), ..settings() }, "`§batches` must be from 2"),
        (Settings { accountant: text("langevin"), ..settings() }, "full batches"),
        (
            Settings {
                accountant: text("deletion-rdp"),
                notion: text("deletion-privacy"),
                ..settings()
            },
            "full batches",
        ),
        // No step descends for the loss of a full batch.
        (Settings { eta: Some(4.5), ..settings() }, "`eta` must be below 2/L"),
    ] {
        let message = refused(settings);
        assert!(message.contains(why), "{message}");
    }
}

#[test]
fn private_counts_need_ids_of_the_records_own() {
    let private = || Settings {
        notion: Some("deletion-privacy".into()),
        public_n: Some(120),
        capacity: Some(150),
        delta: Some(1e-6),
        removal_steps: Some(3),
        max_group: Some(3),
        ..settings()
    };
    let world = World::new();
    let (vault, first) = world.trained(private()).unwrap();
    assert!(!first.certificate.contains("\"changed\""));
    let one = Delete { what: Selector::Ids(vec!["id-7".into()]), request_id: None };
    let served = world.run(|s| delete(&vault, &one, s)).unwrap();
    assert!(served.certificate.contains("\"adjacency\":\"remove\""));
    assert!(!served.certificate.contains("\"changed\""));
    let classes = Some(vec!["no".to_owned(), "yes".to_owned()]);
    let ignore = vec!["id".to_owned()];
    let nameless = Source { id: None, classes, ignore, ..world.table("other.csv", 0, 120, 2) };
    let settings = Settings { preprocess: Some("declared".into()), ..private() };
    let other = world.path("other.efface");
    let error = world.run(|s| train(&nameless, settings, &other, s)).unwrap_err();
    assert!(error.message().contains("needs ids"), "{}", error.message());
}
