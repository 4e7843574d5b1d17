//! Records held outside the vault, in parts: the same models, whatever is lost on the way.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use efface::{
    CheckOutcome, Code, Context, Delete, Error, MemoryRows, MemoryTable, Names, NetworkStep,
    Numbers, Part, PartSum, Partitioned, Parts, Place, Refusal, Result, RowStore, Selector, Served,
    Settings, Shape, Source, Totals, Values, add, delete, delete_dry_run, entries, erase, refresh,
    status, train, update, verify, weights,
};

use crate::foreign::{Alteration, alter};
use crate::world::World;

const WIDTH: u32 = 3;
const SALT: [u8; 16] = [3; 16];

/// Rows that parts are made from, each time again.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) numbers: Vec<f64>,
    labels: Vec<i64>,
    ids: Vec<String>,
    pub(crate) subjects: Vec<String>,
}

impl Rows {
    pub(crate) fn new(first: usize, rows: usize) -> Self {
        let range = || first..first + rows;
        let wave = |row: usize| ((row as f64 * 0.7).sin(), (row as f64 * 1.3).cos());
        Self {
            numbers: range().flat_map(|row| [wave(row).0, wave(row).1, 0.5]).collect(),
            labels: range().map(|row| i64::from(wave(row).0 > 0.1)).collect(),
            ids: range().map(|row| format!("id-{row}")).collect(),
            subjects: range().map(|row| format!("who-{}", row / 3)).collect(),
        }
    }

    pub(crate) fn source(&self) -> Source<'_> {
        let rows = MemoryRows::Dense { numbers: Numbers::Double(&self.numbers), width: WIDTH };
        Source {
            memory: Some(MemoryTable {
                rows,
                labels: Some(Values::Integers(&self.labels)),
                ids: Some(Values::Texts(&self.ids)),
                subjects: Some(Values::Texts(&self.subjects)),
                weights: None,
                names: None,
            }),
            ..Source::default()
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Kept {
    plan: String,
    parts: Vec<Option<Part>>,
    erased: Vec<Vec<u64>>,
    withdrawn: Vec<Vec<u64>>,
    prints: Vec<u128>,
    pub(crate) passes: usize,
}

/// Parts in this process, which get lost at some passes, and at one cannot be had at all.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) rows: Vec<Rows>,
    kept: Mutex<Kept>,
    pub(crate) lost_at: Vec<usize>,
    pub(crate) fails_at: Option<usize>,
    /// What becomes of the answers to a step of a network.
    pub(crate) spoilt: Option<fn(u64, &mut Vec<PartSum>)>,
}

impl Cluster {
    pub(crate) fn of(sizes: &[usize]) -> Self {
        let mut first = 0;
        let rows = sizes.iter().map(|&size| {
            first += size;
            Rows::new(first - size, size)
        });
        let (rows, kept) = (rows.collect(), Mutex::default());
        Self { rows, kept, lost_at: Vec::new(), fails_at: None, spoilt: None }
    }

    pub(crate) fn source(&self) -> Source<'_> {
        let whose = self.rows.iter().flat_map(|rows| &rows.subjects).collect::<BTreeSet<_>>();
        let shape = Shape {
            records: self.rows.iter().map(|rows| rows.ids.len() as u64).sum(),
            parts: self.rows.len() as u64,
            features: WIDTH,
            names: None,
            classes: vec!["0".into(), "1".into()],
            classes_given: true,
            ids: true,
            subjects: true,
            people: Some(whose.len() as u64),
            weights: None,
        };
        Source { parts: Some(shape), ..Source::default() }
    }

    pub(crate) fn kept<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn made(&self, plan: &str, part: usize) -> Result<Part> {
        let watch = &mut |_: &efface::Progress| std::ops::ControlFlow::Continue(());
        Part::new(&self.rows[part].source(), plan, SALT, watch)
    }

    /// One pass over all parts.
    fn pass(
        &self,
        mut work: impl FnMut(usize, &Part) -> Result<()>,
    ) -> std::result::Result<(), Refusal> {
        self.kept(|kept| -> Result<()> {
            kept.passes += 1;
            if self.fails_at == Some(kept.passes) {
                return Err(Error::storage(Code::Parts, "out of reach"));
            }
            for index in 0..kept.parts.len() {
                if self.lost_at.contains(&kept.passes) && index % 2 == 0 {
                    kept.parts[index] = None;
                }
                if kept.parts[index].is_none() {
                    kept.parts[index] = Some(self.made(&kept.plan, index)?);
                }
                let Kept { parts, erased, withdrawn, prints, .. } = kept;
                let part = parts[index].as_mut().unwrap();
                part.set_state(&erased[index], &withdrawn[index], Some(prints[index]))?;
                work(index, part)?;
            }
            Ok(())
        })
        .map_err(|error| Refusal::new(error.message()))
    }

    /// A request has ended: what it withdrew is erased, or comes back.
    pub(crate) fn end(&self, served: bool) {
        self.kept(|kept| {
            for index in 0..kept.parts.len() {
                let Kept { parts, erased, withdrawn, prints, .. } = kept;
                let gone = std::mem::take(&mut withdrawn[index]);
                if served {
                    erased[index].extend(gone);
                    erased[index].sort_unstable();
                }
                let part = parts[index].as_mut().unwrap();
                part.set_state(&erased[index], &[], None).unwrap();
                prints[index] = part.fingerprint();
            }
        });
    }
}

impl Parts for Cluster {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn records(&self) -> usize {
        self.kept(|kept| kept.parts.iter().flatten().map(Part::rows).sum())
    }

    fn totals(
        &self,
        weights: &[f64],
        take: &mut dyn FnMut(Totals),
    ) -> std::result::Result<(), Refusal> {
        self.pass(|_, part| part.totals(weights).map(&mut *take))
    }

    fn hessians(
        &self,
        weights: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> std::result::Result<(), Refusal> {
        self.pass(|_, part| part.hessian(weights).map(&mut *take))
    }

    fn products(
        &self,
        weights: &[f64],
        vector: &[f64],
        take: &mut dyn FnMut(Vec<f64>),
    ) -> std::result::Result<(), Refusal> {
        self.pass(|_, part| part.product(weights, vector).map(&mut *take))
    }
}

impl Partitioned for Cluster {
    fn sizes(&self) -> Vec<usize> {
        self.kept(|kept| kept.parts.iter().map(|part| part.as_ref().unwrap().rows()).collect())
    }

    /// In another order with every step.
    fn clipped(
        &self,
        step: &NetworkStep<'_>,
        take: &mut dyn FnMut(PartSum),
    ) -> std::result::Result<(), String> {
        let mut told = Vec::new();
        let asked = self.pass(|index, part| {
            told.push(part.clipped(step.number, index, step.weights, &step.drawn[index])?);
            Ok(())
        });
        asked.map_err(|error| error.to_string())?;
        let first = step.number as usize % told.len();
        told.rotate_left(first);
        if let Some(spoilt) = self.spoilt {
            spoilt(step.number, &mut told);
        }
        told.into_iter().for_each(take);
        Ok(())
    }

    fn holders(&self) -> std::result::Result<u64, String> {
        Ok(2)
    }

    fn make(&self, plan: &str) -> std::result::Result<u64, String> {
        let parts: Result<Vec<_>> = (0..self.rows.len()).map(|i| self.made(plan, i)).collect();
        let parts = parts.map_err(|error| error.message().to_owned())?;
        self.kept(|kept| {
            kept.plan = plan.to_owned();
            kept.erased = vec![Vec::new(); parts.len()];
            kept.withdrawn = kept.erased.clone();
            kept.prints = parts.iter().map(Part::fingerprint).collect();
            kept.parts = parts.into_iter().map(Some).collect();
            Ok(kept.parts.iter().flatten().map(Part::shortened).sum())
        })
    }

    fn names(&self, part: usize) -> std::result::Result<Names, String> {
        self.kept(|kept| {
            let plan = kept.plan.clone();
            let held = kept.parts[part].get_or_insert_with(|| self.made(&plan, part).unwrap());
            held.names().cloned().ok_or_else(|| "the names were dropped".to_owned())
        })
    }

    fn withdraw(&self, places: &[Place]) -> std::result::Result<(), String> {
        self.kept(|kept| {
            for place in places {
                kept.withdrawn[place.part as usize].push(place.row);
            }
            for index in 0..kept.parts.len() {
                let Kept { parts, erased, withdrawn, prints, .. } = kept;
                withdrawn[index].sort_unstable();
                let part = parts[index].as_mut().unwrap();
                part.set_state(&erased[index], &withdrawn[index], None)
                    .map_err(|error| error.message().to_owned())?;
                prints[index] = part.fingerprint();
            }
            Ok(())
        })
    }
}

pub(crate) fn subject(name: &str) -> Delete {
    Delete { what: Selector::Subjects(vec![name.to_owned()]), request_id: None }
}

pub(crate) fn ids(names: &[&str]) -> Delete {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Delete { what: Selector::Ids(names), request_id: None }
}

fn seeded(mechanism: &str) -> Settings {
    Settings {
        seed: Some(7),
        mechanism: Some(mechanism.into()),
        preprocess: Some("declared".into()),
        ..Settings::default()
    }
}

/// A model in its world, with what holds its rows.
pub(crate) struct Model {
    pub(crate) world: World,
    pub(crate) vault: std::path::PathBuf,
    pub(crate) cluster: Cluster,
}

impl Model {
    pub(crate) fn trained(cluster: Cluster, settings: Settings) -> Result<Self> {
        let world = World::new();
        let vault = world.path("m.efface");
        world
            .run_on(RowStore::Parts(&cluster), |s| train(&cluster.source(), settings, &vault, s))?;
        Ok(Self { world, vault, cluster })
    }

    pub(crate) fn run<T>(&self, work: impl FnOnce(&mut Context<'_>) -> Result<T>) -> Result<T> {
        self.world.run_on(RowStore::Parts(&self.cluster), work)
    }

    pub(crate) fn delete(&self, request: &Delete) -> Result<Served> {
        let served = self.run(|s| delete(&self.vault, request, s));
        self.cluster.end(served.is_ok());
        served
    }

    fn digest(&self) -> String {
        weights(&self.vault).unwrap().digest
    }
}

#[test]
fn one_part_gives_the_model_of_its_table() {
    for mechanism in ["solve", "retrain", "noisy-gd", "descent-to-delete"] {
        let model = Model::trained(Cluster::of(&[90]), seeded(mechanism)).unwrap();
        let (there, rows) = (World::new(), Rows::new(0, 90));
        let vault = there.path("m.efface");
        let classes = Some(vec!["0".into(), "1".into()]);
        let source = Source { classes, ..rows.source() };
        there.run(|s| train(&source, seeded(mechanism), &vault, s)).unwrap();
        assert_eq!(model.digest(), weights(&vault).unwrap().digest, "{mechanism}");
        model.delete(&subject("who-3")).unwrap();
        there.run(|s| delete(&vault, &subject("who-3"), s)).unwrap();
        assert_eq!(model.digest(), weights(&vault).unwrap().digest, "{mechanism}");
        assert_eq!(status(&model.vault).unwrap().records, 87);
    }
}

#[test]
fn parts_that_are_lost_and_made_again_change_no_bit_and_draw_no_second_noise() {
    for (mechanism, solver) in [("solve", "newton"), ("solve", "newton-cg"), ("noisy-gd", "")] {
        let settings = || Settings {
            solver: (!solver.is_empty()).then(|| solver.to_owned()),
            ..seeded(mechanism)
        };
        let sizes = [40, 0, 23, 60];
        let calm = Model::trained(Cluster::of(&sizes), settings()).unwrap();
        let mut stormy = Cluster::of(&sizes);
        stormy.lost_at = vec![2, 3];
        let mut stormy = Model::trained(stormy, settings()).unwrap();
        assert_eq!(calm.digest(), stormy.digest(), "{mechanism}");
        for who in ["who-0", "who-13", "who-40"] {
            let passes = stormy.cluster.kept(|kept| kept.passes);
            stormy.cluster.lost_at = vec![passes + 1, passes + 2];
            let served = [calm.delete(&subject(who)), stormy.delete(&subject(who))];
            let [one, other] = served.map(Result::unwrap);
            assert_eq!(calm.digest(), stormy.digest(), "{mechanism} {who}");
            assert_eq!((one.work, one.remaining), (other.work, other.remaining));
        }
        // One certificate, and so one release, for each request.
        let kinds: Vec<_> = entries(&stormy.vault).unwrap().into_iter().map(|e| e.kind).collect();
        assert_eq!(kinds.len(), 4, "{kinds:?}");
        assert_eq!(status(&stormy.vault).unwrap().records, 114);
    }
}

#[test]
fn a_request_that_fails_leaves_vault_and_parts_as_they_were() {
    let mut model = Model::trained(Cluster::of(&[40, 50]), seeded("noisy-gd")).unwrap();
    let before = std::fs::read(&model.vault).unwrap();
    let prints = model.cluster.kept(|kept| kept.prints.clone());
    model.cluster.fails_at = Some(model.cluster.kept(|kept| kept.passes) + 2);
    let error = model.delete(&subject("who-3")).unwrap_err();
    assert!(error.message().contains("out of reach"), "{}", error.message());
    assert_eq!(std::fs::read(&model.vault).unwrap(), before);
    assert_eq!(model.cluster.kept(|kept| kept.prints.clone()), prints);
    model.cluster.fails_at = None;
    model.delete(&subject("who-3")).unwrap();
    assert_eq!(model.cluster.records(), 87);
    // The failure drew noise that nobody saw; what is released was drawn afresh.
    assert_eq!(entries(&model.vault).unwrap().len(), 2);
    assert!(model.delete(&subject("who-3")).unwrap().replayed);
    let unknown = model.delete(&ids(&["id-1", "nobody"])).unwrap_err();
    assert_eq!(unknown.code(), Code::UnknownRecord);
    assert_eq!(model.cluster.records(), 87);
}

#[test]
fn parts_that_come_back_otherwise_are_refused() {
    let mut model = Model::trained(Cluster::of(&[40, 50]), seeded("solve")).unwrap();
    model.delete(&ids(&["id-7"])).unwrap();
    model.cluster.rows[0].numbers.rotate_left(WIDTH as usize);
    model.cluster.lost_at = vec![model.cluster.kept(|kept| kept.passes) + 1];
    let error = model.delete(&ids(&["id-50"])).unwrap_err();
    assert!(error.message().contains("different rows than before"), "{}", error.message());
}

#[test]
fn certificates_verify_and_say_where_the_rows_were() {
    let model = Model::trained(Cluster::of(&[40, 50]), Settings::default()).unwrap();
    let served = model.delete(&subject("who-3")).unwrap();
    let verdict = verify(&served.certificate, None, Some(&model.vault), None).unwrap();
    let fails = |check: &&efface::Check| check.outcome == CheckOutcome::Fails;
    assert_eq!(verdict.checks.iter().find(fails), None);
    for words in
        ["rows are stored in 2 partitions outside the vault", "2 worker processes that hold them"]
    {
        assert!(served.certificate.contains(words), "{words}");
    }
    let private = Settings {
        notion: Some("differential-privacy".into()),
        delta: Some(1e-6),
        public_n: Some(90),
        capacity: Some(120),
        max_group: Some(3),
        epsilon: Some(50.0),
        releases: Some(2),
        ..Settings::default()
    };
    let model = Model::trained(Cluster::of(&[40, 50]), private).unwrap();
    let hidden = model.delete(&subject("who-3")).unwrap().certificate;
    for words in ["stored in several partitions", "several worker processes that hold them"] {
        assert!(hidden.contains(words), "{words}: {hidden}");
    }
}

#[test]
fn commands_that_need_rows_are_refused() {
    let model = Model::trained(Cluster::of(&[40, 50]), Settings::default()).unwrap();
    let (world, vault) = (&model.world, &model.vault);
    let more = Rows::new(200, 2);
    let code = |error: Error| error.code();
    let elsewhere = Code::HeldElsewhere;
    assert_eq!(code(world.run(|s| delete(vault, &ids(&["id-1"]), s)).unwrap_err()), elsewhere);
    assert_eq!(code(world.run(|s| add(vault, &more.source(), None, s)).unwrap_err()), elsewhere);
    // Also with those that hold the rows, and before any row is left out of their sums.
    let own = Rows::new(0, 2);
    let error = model.run(|s| update(vault, &own.source(), None, s)).unwrap_err();
    assert_eq!((code(error), model.cluster.records()), (elsewhere, 90));
    // What needs no rows is as ever.
    let dry = delete_dry_run(vault, &ids(&["id-1", "id-2"]), &world.keyring).unwrap();
    assert_eq!((dry.records, dry.remaining), (2, 88));
    assert_eq!(code(world.run(|s| refresh(vault, None, s)).unwrap_err()), Code::NothingToRefresh);
    let ordinary = world.path("ordinary.efface");
    let rows = Rows::new(0, 60);
    world.run(|s| train(&rows.source(), Settings::default(), &ordinary, s)).unwrap();
    let error = model.run(|s| delete(&ordinary, &ids(&["id-1"]), s));
    assert_eq!(code(error.unwrap_err()), Code::HeldHere);
}

#[test]
fn a_damaged_vault_without_its_rows_is_not_mended() {
    let model = Model::trained(Cluster::of(&[40, 50]), Settings::default()).unwrap();
    alter(&model.vault, 7, Alteration::Remove);
    let before = std::fs::read(&model.vault).unwrap();
    // The row of the missing name is still in its part.
    let there = model.world.run(|s| erase(&model.vault, &ids(&["id-1"]), s)).unwrap_err();
    assert_eq!(there.code(), Code::HeldElsewhere, "{}", there.message());
    let here = model.run(|s| erase(&model.vault, &ids(&["id-1"]), s)).unwrap_err();
    assert_eq!(here.code(), Code::Damaged, "{}", here.message());
    assert_eq!(std::fs::read(&model.vault).unwrap(), before);
    assert_eq!(model.cluster.records(), 90);
}

#[test]
fn secret_states_are_refreshed_from_the_parts() {
    let settings = Settings {
        variant: Some("secret".into()),
        releases: Some(2),
        ..seeded("descent-to-delete")
    };
    let model = Model::trained(Cluster::of(&[40, 50]), settings).unwrap();
    model.delete(&ids(&["id-1"])).unwrap();
    assert_eq!(model.delete(&ids(&["id-2"])).unwrap_err().code(), Code::ReleasesExhausted);
    model.run(|s| refresh(&model.vault, None, s)).unwrap();
    model.delete(&ids(&["id-2"])).unwrap();
    assert_eq!(status(&model.vault).unwrap().records, 88);
}

#[test]
fn mechanisms_that_need_rows_are_refused_by_name() {
    let refused = |settings: Settings| {
        let cluster = Cluster::of(&[40, 50]);
        let error = Model::trained(cluster, settings).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), Code::InParts, "{}", error.message());
        error.message().to_owned()
    };
    let samples = Settings { releases: Some(9), ..seeded("distributed-descent") };
    assert!(refused(samples).contains("distributed-descent"));
    let ridge = Settings {
        loss: Some("squared".into()),
        target_range: Some((0.0, 1.0)),
        ..Settings { mechanism: Some("ridge".into()), ..Settings::default() }
    };
    assert!(refused(ridge).contains("ridge"));
    let memory = Settings {
        state: Some("secret".into()),
        releases: Some(9),
        solver: Some("newton".into()),
        ..seeded("solve")
    };
    assert!(refused(memory).contains("memory"));
}

#[test]
fn records_that_break_a_rule_refuse_the_training() {
    let fails = |change: &dyn Fn(&mut Rows)| {
        let mut cluster = Cluster::of(&[40, 50]);
        change(&mut cluster.rows[1]);
        let world = World::new();
        let vault = world.path("m.efface");
        let error = world
            .run_on(RowStore::Parts(&cluster), |s| {
                train(&cluster.source(), Settings::default(), &vault, s)
            })
            .unwrap_err();
        assert!(!vault.exists());
        error.message().to_owned()
    };
    assert!(fails(&|rows| rows.ids[3] = "id-0".into()).contains("duplicate id `id-0`"));
    assert!(fails(&|rows| rows.numbers[4] = f64::NAN).contains("finite"));
    assert!(fails(&|rows| rows.labels[0] = 7).contains("not among the model's classes"));
}
