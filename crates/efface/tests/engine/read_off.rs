//! Constants that were read off the data: one record could have moved them, so nothing is claimed
//! that protects a single record.

use efface::{
    CheckOutcome, Delete, Notion, Selector, Settings, Source, delete, schema, status, train, verify,
};
use efface_privacy::certificate::{Certificate, Origin};

use crate::world::World;

/// A table, the settings that its task needs, and a constant that is read off it or declared.
struct Case {
    constant: &'static str,
    option: &'static str,
    source: fn(&World, bool) -> Source<'static>,
    settings: fn(bool) -> Settings,
}

fn declared() -> Settings {
    Settings { preprocess: Some("declared".into()), ..Settings::default() }
}

fn cases() -> [Case; 4] {
    [
        Case {
            constant: "classes",
            option: "§classes",
            source: |world, declared| Source {
                classes: declared.then(|| vec!["no".to_owned(), "yes".to_owned()]),
                ..world.table("t.csv", 0, 90, 2)
            },
            settings: |_| declared(),
        },
        Case {
            constant: "target-range",
            option: "§target-range",
            source: |world, _| world.table("t.csv", 0, 90, 0),
            settings: |declared| Settings {
                loss: Some("squared".to_owned()),
                target_range: Some((0.0, 10.0)),
                target_range_from_data: !declared,
                ..Settings::default()
            },
        },
        Case { constant: "schema", option: "§schema", source: words, settings: |_| declared() },
        Case { constant: "schema", option: "§width", source: sparse, settings: |_| declared() },
    ]
}

/// A column of words, whose categories are drafted from the table or left out.
fn words(world: &World, declared: bool) -> Source<'static> {
    let source = world.table("t.csv", 0, 90, 2);
    let path = source.path.clone().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let colours = ["red", "green", "blue"];
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(row, line)| match row {
            0 => format!("{line},colour"),
            // One record has a colour of its own.
            7 => format!("{line},violet"),
            _ => format!("{line},{}", colours[row % 3]),
        })
        .collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let classes = Some(vec!["no".to_owned(), "yes".to_owned()]);
    let source = Source { classes, ..source };
    if declared {
        return Source { ignore: vec!["colour".to_owned()], ..source };
    }
    let drafted = schema(&source, false).unwrap().to_toml();
    Source { schema: Some(drafted), ..source }
}

/// A LIBSVM file, one record of which has the largest index.
fn sparse(world: &World, declared: bool) -> Source<'static> {
    let path = world.path("t.libsvm");
    let lines: Vec<String> = (0..90)
        .map(|row| {
            let sign = if row % 2 == 0 { "+1" } else { "-1" };
            let more = if row == 7 { " 9:0.5" } else { "" };
            format!("{sign} {}:0.4 {}:0.3{more}", 1 + row % 3, 5 + row % 2)
        })
        .collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    Source {
        path: Some(path),
        classes: Some(vec!["-1".to_owned(), "1".to_owned()]),
        width: declared.then_some(12),
        ..Source::default()
    }
}

fn one(id: &str) -> Delete {
    Delete { what: Selector::Ids(vec![id.to_owned()]), request_id: None }
}

const PRIVATE: [Notion; 2] = [Notion::DeletionPrivacy, Notion::DifferentialPrivacy];

#[test]
fn what_one_record_could_have_moved_costs_the_notions_that_protect_one() {
    for Case { constant, option, source, settings } in cases() {
        let what = format!("{constant} {option}");
        for declared in [false, true] {
            let world = World::new();
            let vault = world.path("m.efface");
            let table = source(&world, declared);
            let served = world.run(|s| train(&table, settings(declared), &vault, s)).unwrap();
            let certificate = Certificate::parse(&served.certificate).unwrap();
            let listed = certificate.constants.iter().find(|c| c.name == constant).unwrap();
            assert_eq!(listed.origin == Origin::Data, !declared, "{what}");
            let said = certificate.assumptions.iter().any(|a| a.name == constant);
            assert_eq!(said, !declared, "{what}");

            let id = if table.id.is_some() { "id-7" } else { "row:7" };
            let deleted = world.run(|s| delete(&vault, &one(id), s)).unwrap();
            let key = world.keyring.public_key();
            for text in [&served.certificate, &deleted.certificate] {
                let verdict = verify(text, Some(&key), Some(&vault), None).unwrap();
                assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{what}: {verdict:?}");
            }
            for notion in PRIVATE {
                let claimed = deleted.claims.iter().any(|claim| claim.notion == notion);
                assert_eq!(claimed, declared, "{what}: {}", notion.name());
                let all = status(&vault).unwrap().notions;
                let told = all.iter().find(|status| status.notion == notion.name()).unwrap();
                assert_eq!(told.available, declared, "{what}: {told:?}");
                let why =
                    told.note.contains("computed from the data") && told.note.contains(option);
                assert_eq!(why, !declared, "{what}: {told:?}");
            }
        }
        for notion in PRIVATE {
            let world = World::new();
            let settings = Settings {
                notion: Some(notion.name().to_owned()),
                max_group: Some(3),
                ..settings(false)
            };
            let table = source(&world, false);
            let vault = world.path("m.efface");
            let error = world.run(|s| train(&table, settings, &vault, s)).unwrap_err();
            assert!(error.said().contains(&format!("`{constant}` was computed from")), "{error}");
            assert!(error.what_to_do().unwrap().contains(option), "{error}");
        }
    }
}
