//! Tables in memory serve as files do: the same model, bit for bit, and the same refusals.

use std::io::Write as _;

use efface::{
    Delete, MemoryRows, MemoryTable, Numbers, Selector, Settings, Source, Values, add, delete,
    status, train, update, weights,
};

use crate::world::World;

const WIDTH: u32 = 3;

/// A table: features, classes, ids and subjects, three records each.
struct Rows {
    numbers: Vec<f64>,
    labels: Vec<String>,
    ids: Vec<String>,
    subjects: Vec<String>,
}

impl Rows {
    fn new(first: usize, rows: usize) -> Self {
        let range = || first..first + rows;
        let wave = |row: usize| ((row as f64 * 0.7).sin(), (row as f64 * 1.3).cos());
        Self {
            numbers: range().flat_map(|row| [wave(row).0, wave(row).1, 0.5]).collect(),
            labels: range()
                .map(|row| if wave(row).0 > 0.1 { "yes" } else { "no" }.to_owned())
                .collect(),
            ids: range().map(|row| format!("id-{row}")).collect(),
            subjects: range().map(|row| format!("who-{}", row / 3)).collect(),
        }
    }

    fn source<'a>(&'a self, names: Option<&'a [String]>) -> Source<'a> {
        let rows = MemoryRows::Dense { numbers: Numbers::Double(&self.numbers), width: WIDTH };
        Source {
            memory: Some(MemoryTable {
                rows,
                labels: Some(Values::Texts(&self.labels)),
                ids: Some(Values::Texts(&self.ids)),
                subjects: Some(Values::Texts(&self.subjects)),
                weights: None,
                names,
            }),
            ..Source::default()
        }
    }

    fn csv(&self, world: &World, name: &str) -> Source<'static> {
        let path = world.path(name);
        let mut file = std::fs::File::create(&path).unwrap();
        writeln!(file, "a,b,c,y,id,who").unwrap();
        for (row, x) in self.numbers.chunks(WIDTH as usize).enumerate() {
            let [y, id, who] = [&self.labels, &self.ids, &self.subjects].map(|list| &list[row]);
            writeln!(file, "{},{},{},{y},{id},{who}", x[0], x[1], x[2]).unwrap();
        }
        Source {
            path: Some(path),
            label: Some("y".into()),
            id: Some("id".into()),
            subject: Some("who".into()),
            ..Source::default()
        }
    }
}

fn names() -> Vec<String> {
    ["a", "b", "c"].map(str::to_owned).to_vec()
}

fn seeded(mechanism: &str) -> Settings {
    Settings {
        seed: Some(7),
        mechanism: Some(mechanism.into()),
        preprocess: Some("declared".into()),
        ..Settings::default()
    }
}

fn subject(name: &str) -> Delete {
    Delete { what: Selector::Subjects(vec![name.to_owned()]), request_id: None }
}

#[test]
fn a_table_in_memory_trains_and_serves_as_a_file() {
    let names = names();
    let (first, more) = (Rows::new(0, 90), Rows::new(300, 6));
    for mechanism in ["solve", "noisy-gd"] {
        // Two worlds in step: what one draws, the other draws.
        let (here, there) = (World::new(), World::new());
        let vaults = [here.path("m.efface"), there.path("m.efface")];
        let same = |what: &str| {
            let [one, other] = vaults.each_ref().map(|path| weights(path).unwrap().digest);
            assert_eq!(one, other, "{mechanism}: {what}");
        };
        let file = first.csv(&there, "first.csv");
        let memory = first.source(Some(&names));
        here.run(|s| train(&memory, seeded(mechanism), &vaults[0], s)).unwrap();
        there.run(|s| train(&file, seeded(mechanism), &vaults[1], s)).unwrap();
        same("train");
        here.run(|s| delete(&vaults[0], &subject("who-3"), s)).unwrap();
        there.run(|s| delete(&vaults[1], &subject("who-3"), s)).unwrap();
        same("delete");
        let file = more.csv(&there, "more.csv");
        here.run(|s| add(&vaults[0], &more.source(Some(&names)), None, s)).unwrap();
        there.run(|s| add(&vaults[1], &file, None, s)).unwrap();
        same("add");
        let mut changed = Rows::new(300, 2);
        changed.numbers[0] = 0.25;
        let file = changed.csv(&there, "changed.csv");
        here.run(|s| update(&vaults[0], &changed.source(Some(&names)), None, s)).unwrap();
        there.run(|s| update(&vaults[1], &file, None, s)).unwrap();
        same("update");
        // A table from a file goes on a vault that was made from memory.
        let last = Rows::new(600, 1).csv(&there, "last.csv");
        for (world, vault) in [&here, &there].into_iter().zip(&vaults) {
            world.run(|s| add(vault, &last, None, s)).unwrap();
        }
        same("add from a file");
        assert_eq!(status(&vaults[0]).unwrap().records, 94);
        let kept = weights(&vaults[0]).unwrap();
        assert_eq!(kept.names, Some(names.clone()));
        assert_eq!(kept.classes, Some(vec!["no".to_owned(), "yes".to_owned()]));
        assert_eq!((kept.coef.len(), kept.intercept.len(), kept.sparse), (3, 1, false));
    }
}

#[test]
fn nothing_about_a_file_applies_to_memory() {
    let world = World::new();
    let rows = Rows::new(0, 30);
    let vault = world.path("m.efface");
    let path = Some(world.path("nowhere.csv"));
    for (word, source) in [
        ("path", Source { path: path.clone(), ..rows.source(None) }),
        ("labels", Source { labels: path, ..rows.source(None) }),
        ("format", Source { format: Some("csv".into()), ..rows.source(None) }),
        ("label", Source { label: Some("y".into()), ..rows.source(None) }),
    ] {
        let error = world.run(|s| train(&source, Settings::default(), &vault, s)).unwrap_err();
        assert_eq!(error.message(), format!("`{word}` does not apply to a table in memory"));
    }
    assert!(!vault.exists());
}

#[test]
fn a_table_without_names_does_not_go_on_a_model_of_other_columns() {
    let world = World::new();
    let names = names();
    let vault = world.path("m.efface");
    let rows = Rows::new(0, 60);
    let declared = Settings { preprocess: Some("declared".into()), ..Settings::default() };
    world.run(|s| train(&rows.source(Some(&names)), declared, &vault, s)).unwrap();
    let more = Rows::new(100, 2);
    let other = ["a", "c", "b"].map(str::to_owned);
    let error = world.run(|s| add(&vault, &more.source(Some(&other)), None, s)).unwrap_err();
    assert_eq!(error.message(), "X: column 2 is `c`, but `b` in the schema");
    let narrow = Rows { numbers: vec![0.5; 2], ..Rows::new(100, 2) };
    let mut source = narrow.source(None);
    if let Some(table) = &mut source.memory {
        table.rows = MemoryRows::Dense { numbers: Numbers::Double(&narrow.numbers), width: 1 };
    }
    let error = world.run(|s| add(&vault, &source, None, s)).unwrap_err();
    assert_eq!(error.message(), "X: rows have 1 features, but 3 are declared");
    assert_eq!(status(&vault).unwrap().records, 60);
}
