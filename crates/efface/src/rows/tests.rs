//! The contract of row stores, checked on each of them.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use efface_formats::{MemoryRows, MemoryTable, Numbers, Values};
use efface_learn::{Dataset, Parts, Refusal};
use efface_matrix::{Matrix, Totals};
use efface_net::PartSum;
use efface_vault::{Genesis, Keyring, Vault};

use super::*;
use crate::Part;
use crate::plan::ValidatedSettings;
use crate::plan::shape::Shape;
use crate::rows::source::Source;
use crate::settings::Settings;
use crate::table::facts_of_parts;

/// Records 1 to 6, of three subjects with two records each.
const RECORDS: usize = 6;

type Told<T> = std::result::Result<T, String>;

fn plan(parts: bool) -> Plan {
    let shape = Shape {
        records: RECORDS as u64,
        parts: 1,
        features: 2,
        names: None,
        classes: vec!["0".into(), "1".into()],
        classes_given: true,
        ids: true,
        subjects: true,
        people: None,
        weights: None,
    };
    let choices = ValidatedSettings::new(Settings::default()).unwrap();
    let facts = facts_of_parts(&shape, &choices).unwrap();
    let mut plan = Plan::resolve(&choices, &facts).unwrap();
    plan.in_parts = parts;
    plan
}

/// Rows that differ in their first value; `first` counts the records before.
fn data(first: usize, rows: usize) -> Dataset {
    let mut x = Matrix::dense(3);
    let mut y = Vec::new();
    for row in first..first + rows {
        x.push(efface_matrix::Row::Dense(&[row as f32 / 100.0, 0.5, 1.0])).unwrap();
        y.push((row % 2) as f64);
    }
    Dataset::new(x, y).unwrap()
}

fn names(first: usize, rows: usize) -> Names {
    let range = || first..first + rows;
    Names {
        positions: range().map(|row| row as u64).collect(),
        ids: Some(range().map(|row| format!("id-{row}").into()).collect()),
        subjects: Some(range().map(|row| format!("who-{}", row / 2).into()).collect()),
    }
}

fn numbers(records: &[RecordId]) -> Vec<i64> {
    records.iter().map(|record| record.get()).collect()
}

fn firsts(data: &Dataset) -> Vec<usize> {
    let first = |row| (data.x().row(row).values()[0] * 100.0).round() as usize;
    (0..data.rows()).map(first).collect()
}

/// Checks a store of six records in this order; `readable` says whether rows can be read.
fn keeps_the_contract(rows: &mut dyn Rows, readable: bool) {
    assert_eq!(rows.count().unwrap(), RECORDS);
    let found = rows.find_ids(&["id-4", "nobody", "id-1", "id-4"]).unwrap();
    assert_eq!((numbers(&found.found), &*found.missing), (vec![5, 2], &["nobody".to_owned()][..]));
    assert_eq!(numbers(&rows.find_subject("who-1").unwrap()), [3, 4]);
    assert_eq!(numbers(&rows.find_subject("nobody").unwrap()), [0; 0]);
    let whose = ["who-0", "who-0", "who-1", "who-1", "who-2", "who-2"];
    assert_eq!(
        (rows.keys().unwrap(), rows.subjects().unwrap()),
        (vec![1, 2, 3, 4, 5, 6], whose.map(String::from).to_vec())
    );
    let who = rows.identities(&found.found).unwrap();
    assert_eq!((&*who[0].id, who[0].subject.as_deref()), ("id-4", Some("who-2")));
    assert_eq!((who[1].record.get(), who[1].added_version), (2, 1));
    rows.check().unwrap();
    if readable {
        assert!(rows.parts().is_none());
        assert_eq!(firsts(rows.data().unwrap()), [0, 1, 2, 3, 4, 5]);
        let read = rows.read(&found.found).unwrap();
        assert_eq!((read.keys, firsts(&read.data)), (vec![5, 2], vec![4, 1]));
        assert_eq!(firsts(&rows.pick(&[6, 1, 6]).unwrap()), [5, 0, 5]);
        assert!(rows.pick(&[7]).is_err());
    } else {
        assert_eq!(rows.parts().unwrap().records(), RECORDS);
        assert_eq!(rows.data().unwrap_err().code(), Code::InParts);
        assert_eq!(rows.pick(&[1]).unwrap_err().code(), Code::InParts);
    }

    let mut told = 0;
    let mut on_records = |more| {
        told += more;
        Ok(())
    };
    rows.erase(&found.found, &mut on_records).unwrap();
    assert_eq!((told, rows.count().unwrap()), (2, RECORDS - 2));
    assert_eq!(rows.find_ids(&["id-1", "id-4"]).unwrap().missing, ["id-1", "id-4"]);
    assert_eq!(numbers(&rows.find_subject("who-2").unwrap()), [6]);
    assert_eq!(rows.subjects().unwrap(), ["who-0", "who-1", "who-1", "who-2"]);
    if !readable {
        assert_eq!(rows.parts().unwrap().records(), RECORDS - 2);
        let (data, names) = (data(RECORDS, 1), names(RECORDS, 1));
        let refused = rows.insert(&Batch { data: &data, names: &names, raw: None }, 2).unwrap_err();
        assert_eq!(refused.code(), Code::InParts);
        return;
    }
    assert_eq!(rows.keys().unwrap(), [1, 3, 4, 6]);
    assert_eq!(firsts(rows.data().unwrap()), [0, 2, 3, 5]);
    // Numbers are never reused, not even the last one.
    let last = rows.find_ids(&["id-5"]).unwrap().found;
    rows.erase(&last, &mut |_| Ok(())).unwrap();
    let (data, names) = (data(RECORDS, 2), names(RECORDS, 2));
    assert_eq!(rows.insert(&Batch { data: &data, names: &names, raw: None }, 2).unwrap(), [7, 8]);
    assert_eq!(rows.keys().unwrap(), [1, 3, 4, 7, 8]);
    assert_eq!(firsts(rows.data().unwrap()), [0, 2, 3, 6, 7]);
    let added = rows.find_subject("who-3").unwrap();
    assert_eq!(rows.identities(&added).unwrap()[1].added_version, 2);
}

/// Creates a vault in a folder, filled by `fill`.
fn vault(
    plan: &Plan,
    fill: impl FnOnce(&mut efface_vault::Creation),
) -> (tempfile::TempDir, Vault) {
    let folder = tempfile::tempdir().unwrap();
    let keyring = Keyring::create(&folder.path().join("key.toml"), &[7; 32], &[9; 32]).unwrap();
    let genesis = Genesis {
        vault_id: "0123456789abcdef0123456789abcdef".into(),
        created_at: "2030-01-02T03:04:05Z".into(),
        config_json: serde_json::to_string(plan).unwrap(),
        public_key: keyring.public_key(),
        block_rows: super::block_rows(plan),
    };
    let mut creation = Vault::create(&folder.path().join("m.efface"), &genesis, &keyring).unwrap();
    fill(&mut creation);
    (folder, creation.commit().unwrap())
}

fn fill(creation: &mut efface_vault::Creation, plan: &Plan, leaving: &ResidueCheck) {
    let (data, names) = (data(0, RECORDS), names(0, RECORDS));
    let mut rows = RowStore::Vault.open(Access::Changing(creation), plan, leaving).unwrap();
    assert_eq!(
        rows.insert(&Batch { data: &data, names: &names, raw: None }, 1).unwrap(),
        [1, 2, 3, 4, 5, 6]
    );
}

#[test]
fn rows_in_a_vault_keep_the_contract() {
    let (plan, leaving) = (plan(false), ResidueCheck::default());
    let (_folder, mut vault) = vault(&plan, |creation| fill(creation, &plan, &leaving));
    let mut transaction = vault.begin().unwrap();
    let access = Access::Changing(&mut transaction);
    keeps_the_contract(&mut *RowStore::Vault.open(access, &plan, &leaving).unwrap(), true);
}

#[test]
fn rows_in_a_vault_that_should_have_left_are_found() {
    let (plan, none) = (plan(false), ResidueCheck::default());
    let (_folder, mut vault) = vault(&plan, |creation| fill(creation, &plan, &none));
    let leaving = ResidueCheck::ids(["id-2".to_owned()], 2);
    let mut transaction = vault.begin().unwrap();
    let mut rows =
        RowStore::Vault.open(Access::Changing(&mut transaction), &plan, &leaving).unwrap();
    assert_eq!(rows.check().unwrap_err().code(), Code::Damaged);
    assert_eq!(rows.check_names().unwrap_err().code(), Code::Damaged);
    assert_eq!(rows.data().unwrap_err().code(), Code::Damaged);
    let found = rows.find_ids(&["id-2"]).unwrap().found;
    rows.erase(&found, &mut |_| Ok(())).unwrap();
    rows.check().unwrap();
    rows.check_names().unwrap();
    assert_eq!(firsts(rows.data().unwrap()), [0, 1, 3, 4, 5]);
}

#[test]
fn rows_that_are_only_read_are_not_changed() {
    let (plan, leaving) = (plan(false), ResidueCheck::default());
    let (_folder, vault) = vault(&plan, |creation| fill(creation, &plan, &leaving));
    let mut rows = RowStore::Vault.open(Access::Reading(&vault), &plan, &leaving).unwrap();
    let found = rows.find_ids(&["id-2"]).unwrap().found;
    rows.erase(&found, &mut |_| Ok(())).unwrap_err();
    assert_eq!(rows.count().unwrap(), RECORDS);
}

#[test]
fn rows_in_memory_keep_the_contract() {
    let plan = plan(false);
    let mut first = InMemory::of(&plan, data(0, RECORDS), names(0, RECORDS));
    keeps_the_contract(&mut first, true);
    let mut filled = InMemory::of(&plan, Keyed::none(&plan).unwrap().data, Names::default());
    let all = InMemory::of(&plan, data(0, RECORDS), names(0, RECORDS)).into_records(None).unwrap();
    filled.insert(&all.batch(), 1).unwrap();
    keeps_the_contract(&mut filled, true);
    let alike = Batch { data: &data(20, 1), names: &Names::by_position(1), raw: None };
    assert_eq!(filled.insert(&alike, 3).unwrap_err().code(), Code::Ids);
}

#[test]
fn rows_in_memory_obey_the_plan() {
    let plan = plan(false);
    let mut rows = InMemory::of(&plan, data(0, 2), Names::by_position(2));
    rows.check().unwrap();
    assert_eq!(numbers(&rows.find_ids(&["row:1", "row:2", "id-0"]).unwrap().found), [2]);
    let long = data(4000, 1);
    rows.insert(&Batch { data: &long, names: &Names::by_position(1).after(2), raw: None }, 2)
        .unwrap();
    assert_eq!(rows.check().unwrap_err().code(), Code::Data);
}

/// One part, in this process.
#[derive(Debug)]
struct Here(Mutex<Part>);

impl Here {
    fn of(plan: &Plan) -> Self {
        let numbers: Vec<f64> = (0..RECORDS).flat_map(|row| [row as f64 / 100.0, 0.5]).collect();
        let names = names(0, RECORDS);
        let text = |list: &Option<Vec<Box<str>>>| -> Vec<String> {
            list.iter().flatten().map(ToString::to_string).collect()
        };
        let (ids, subjects) = (text(&names.ids), text(&names.subjects));
        let labels: Vec<i64> = (0..RECORDS as i64).map(|row| row % 2).collect();
        let table = MemoryTable {
            rows: MemoryRows::Dense { numbers: Numbers::Double(&numbers), width: 2 },
            labels: Some(Values::Integers(&labels)),
            ids: Some(Values::Texts(&ids)),
            subjects: Some(Values::Texts(&subjects)),
            weights: None,
            names: None,
        };
        let source = Source { memory: Some(table), ..Source::default() };
        let plan = serde_json::to_string(plan).unwrap();
        let part = Part::new(&source, &plan, [1; 16], &mut |_| ControlFlow::Continue(()));
        Self(Mutex::new(part.unwrap()))
    }

    fn part<T>(&self, work: impl FnOnce(&mut Part) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Parts for Here {
    fn count(&self) -> usize {
        1
    }

    fn records(&self) -> usize {
        self.part(|part| part.rows())
    }

    fn totals(
        &self,
        weights: &[f64],
        take: &mut dyn FnMut(Totals),
    ) -> std::result::Result<(), Refusal> {
        self.part(|part| take(part.totals(weights).unwrap()));
        Ok(())
    }

    fn hessians(
        &self,
        weights: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> std::result::Result<(), Refusal> {
        self.part(|part| take(part.hessian(weights).unwrap()));
        Ok(())
    }

    fn products(
        &self,
        weights: &[f64],
        vector: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> std::result::Result<(), Refusal> {
        self.part(|part| take(part.product(weights, vector).unwrap()));
        Ok(())
    }
}

impl Partitioned for Here {
    fn sizes(&self) -> Vec<usize> {
        vec![self.records()]
    }

    fn clipped(&self, step: &NetworkStep<'_>, take: &mut dyn FnMut(PartSum)) -> Told<()> {
        let told = |part: &mut Part| part.clipped(step.number, 0, step.weights, &step.drawn[0]);
        take(self.part(told).map_err(|error| error.message().to_owned())?);
        Ok(())
    }

    fn holders(&self) -> Told<u64> {
        Ok(1)
    }

    fn make(&self, _: &str) -> Told<u64> {
        Ok(0)
    }

    fn names(&self, _: usize) -> Told<Names> {
        self.part(|part| part.names().cloned().ok_or_else(|| "dropped".to_owned()))
    }

    fn withdraw(&self, places: &[Place]) -> Told<()> {
        let mut rows: Vec<u64> = places.iter().map(|place| place.row).collect();
        rows.sort_unstable();
        let moved = self.part(|part| part.set_state(&[], &rows, None));
        moved.map_err(|error| error.message().to_owned())
    }
}

#[test]
fn rows_in_parts_keep_the_contract() {
    let (plan, leaving) = (plan(true), ResidueCheck::default());
    let here = Here::of(&plan);
    let (_folder, mut vault) = vault(&plan, |creation| insert_places(creation, &here, 1).unwrap());
    let mut transaction = vault.begin().unwrap();
    let access = Access::Changing(&mut transaction);
    keeps_the_contract(&mut *RowStore::Parts(&here).open(access, &plan, &leaving).unwrap(), false);
    assert_eq!(here.part(|part| part.rows()), RECORDS - 2);
    // What a request took out before it failed comes back, and the vault lists it again.
    drop(transaction);
    here.part(|part| part.set_state(&[], &[], None)).unwrap();
    let rows = RowStore::Parts(&here).open(Access::Reading(&vault), &plan, &leaving).unwrap();
    assert_eq!(rows.count().unwrap(), RECORDS);
}

#[test]
fn a_store_is_asked_only_for_its_own_models() {
    let (here, there) = (plan(false), plan(true));
    let parts = Here::of(&there);
    assert_eq!(RowStore::Vault.check(&there).unwrap_err().code(), Code::HeldElsewhere);
    assert_eq!(RowStore::Parts(&parts).check(&here).unwrap_err().code(), Code::HeldHere);
    let leaving = ResidueCheck::default();
    let (_folder, mut vault) = vault(&there, |creation| {
        insert_places(creation, &parts, 1).unwrap();
    });
    let withdrawn = [Place { part: 0, row: 3 }];
    parts.withdraw(&withdrawn).unwrap();
    let transaction = vault.begin().unwrap();
    let opened = RowStore::Parts(&parts).open(Access::Reading(&transaction), &there, &leaving);
    assert!(opened.err().unwrap().message().contains("lists 6 records"));
}
