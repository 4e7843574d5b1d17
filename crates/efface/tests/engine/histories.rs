//! Random requests: the events of certificates against data sets written down beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use efface::{
    CheckOutcome, Delete, Selector, Served, Settings, Source, add, delete, refresh, train, update,
    verify, verify_ledger, weights,
};
use efface_privacy::certificate::Certificate;
use efface_privacy::event::{Event, Phase};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::world::World;

/// A record: its number, and how often its contents were replaced.
type Record = (usize, usize);

const FIRST: usize = 60;

/// A table of records whose contents follow from number and revision.
fn table(world: &World, name: &str, records: impl IntoIterator<Item = Record>) -> Source<'static> {
    let mut text = String::from("id,y,a,b,c\n");
    for (id, revision) in records {
        let k = (id + 1000 * revision) as f64;
        let (s, t) = ((k * 0.7).sin(), (k * 1.3).cos());
        text += &format!("id-{id},{:.3},{s:.4},{t:.4},{:.4}\n", 0.6 * s + 0.2 * t, s * t);
    }
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    Source { path: Some(path), label: Some("y".into()), id: Some("id".into()), ..Source::default() }
}

/// A model and what is true of it.
struct Life {
    world: World,
    vault: PathBuf,
    rng: ChaCha20Rng,
    present: BTreeMap<usize, usize>,
    next: usize,
    /// The data of each release since learning, or since the last refresh.
    since: Vec<BTreeSet<Record>>,
    deleted: u64,
    touched: u64,
    served: Served,
}

impl Life {
    fn new(settings: Settings, seed: u64) -> Self {
        let world = World::new();
        let source = table(&world, "train.csv", (0..FIRST).map(|id| (id, 0)));
        let vault = world.path("model.efface");
        let served = world.run(|s| train(&source, settings, &vault, s)).unwrap();
        let present: BTreeMap<usize, usize> = (0..FIRST).map(|id| (id, 0)).collect();
        let since = vec![present.iter().map(|(id, revision)| (*id, *revision)).collect()];
        let rng = ChaCha20Rng::seed_from_u64(seed);
        Self { world, vault, rng, present, next: FIRST, since, deleted: 0, touched: 0, served }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.rng.next_u64() % bound as u64) as usize
    }

    /// Some of the records present, the latest ones more often than not.
    fn some(&mut self, most: usize) -> Vec<usize> {
        let count = 1 + self.below(most);
        let mut ids: Vec<usize> = self.present.keys().copied().collect();
        let mut picked = Vec::new();
        for _ in 0..count.min(ids.len().saturating_sub(1)) {
            let late = self.below(2) == 0;
            let span = if late { ids.len().min(6) } else { ids.len() };
            let place = ids.len() - 1 - self.below(span);
            picked.push(ids.remove(place));
        }
        picked
    }

    fn request(&mut self, refreshes: bool) {
        let name = format!("table-{}.csv", self.served.version);
        // Never far from the first number of records.
        let few = self.present.len() < FIRST - 10;
        match if few { 3 } else { self.below(if refreshes { 8 } else { 7 }) } {
            0..=2 => {
                let ids = self.some(5);
                let names = ids.iter().map(|id| format!("id-{id}")).collect();
                let request = Delete { what: Selector::Ids(names), request_id: None };
                self.served = self.world.run(|s| delete(&self.vault, &request, s)).unwrap();
                self.present.retain(|id, _| !ids.contains(id));
                self.count(ids.len(), 0);
            }
            3 | 4 => {
                let count = 1 + self.below(4);
                let ids: Vec<usize> = (self.next..self.next + count).collect();
                self.next += count;
                let source = table(&self.world, &name, ids.iter().map(|id| (*id, 0)));
                self.served = self.world.run(|s| add(&self.vault, &source, None, s)).unwrap();
                self.present.extend(ids.into_iter().map(|id| (id, 0)));
                self.count(0, count);
            }
            5 | 6 => {
                let ids = self.some(3);
                ids.iter().for_each(|id| *self.present.get_mut(id).unwrap() += 1);
                let records: Vec<Record> = ids.iter().map(|id| (*id, self.present[id])).collect();
                let source = table(&self.world, &name, records);
                self.served = self.world.run(|s| update(&self.vault, &source, None, s)).unwrap();
                self.count(ids.len(), ids.len());
            }
            _ => {
                self.served = self.world.run(|s| refresh(&self.vault, None, s)).unwrap();
                self.since.clear();
                self.touched = 0;
            }
        }
        self.since.push(self.present.iter().map(|(id, revision)| (*id, *revision)).collect());
    }

    fn count(&mut self, deleted: usize, added: usize) {
        self.deleted += deleted as u64;
        self.touched += (deleted + added) as u64;
    }

    fn event(&self) -> Event {
        let certificate = Certificate::parse(&self.served.certificate).unwrap();
        assert_eq!(certificate.event.releases(), self.served.version);
        certificate.event
    }

    /// Phases state exactly in how many records each data set since learning differs from the
    /// latest.
    fn check_phases(&self, phases: &[Phase]) {
        assert_eq!(phases.len(), self.since.len());
        let now = self.since.last().unwrap();
        for (phase, then) in phases.iter().zip(&self.since) {
            let differ = |a: &BTreeSet<Record>, b| a.difference(b).count() as u64;
            assert_eq!((phase.only_then, phase.only_now), (differ(then, now), differ(now, then)));
            assert!(phase.records.is_none_or(|records| records == then.len() as u64));
        }
    }

    fn check_signed(&self) {
        let key = self.world.keyring.public_key();
        let verdict =
            verify(&self.served.certificate, Some(&key), Some(&self.vault), None).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
        let head = Some(self.served.head.as_str());
        let verdict =
            verify_ledger(&self.vault, Some(&key), head, Some(&self.world.keyring)).unwrap();
        assert_eq!(verdict.outcome(), CheckOutcome::Holds, "{verdict:?}");
    }
}

fn regression(mechanism: &str, normalizer: &str) -> Settings {
    Settings {
        mechanism: Some(mechanism.into()),
        normalizer: Some(normalizer.into()),
        loss: Some("squared".into()),
        target_range: Some((-1.0, 1.0)),
        lambda: Some(0.1),
        epsilon: Some(1e6),
        ..Settings::default()
    }
}

#[test]
fn events_of_noisy_gd_count_what_requests_did() {
    for (seed, normalizer) in [(1, "fixed"), (2, "mean")] {
        let settings = Settings {
            noise: Some(1.0),
            steps: Some(3),
            removal_steps: Some(2),
            capacity: (normalizer == "fixed").then_some(200),
            ..regression("noisy-gd", normalizer)
        };
        let mut life = Life::new(settings, seed);
        for _ in 0..25 {
            life.request(false);
            let Event::NoisyGd(event) = life.event() else { panic!("another event") };
            life.check_phases(&event.phases);
            assert_eq!(event.replaced.unwrap().len() + 1, event.phases.len());
        }
        life.check_signed();
    }
}

#[test]
fn events_of_descent_to_delete_count_what_requests_did() {
    for (seed, variant) in [(1, "secret"), (2, "perfect"), (3, "weak")] {
        for normalizer in ["fixed", "mean"] {
            let secret = variant != "perfect";
            let settings = Settings {
                variant: Some(variant.into()),
                diameter: (variant == "weak").then_some(4.0),
                noise: Some(10.0),
                steps: Some(20),
                iterations: Some(2),
                max_group: Some(2),
                releases: secret.then_some(60),
                capacity: (normalizer == "fixed").then_some(200),
                ..regression("descent-to-delete", normalizer)
            };
            let mut life = Life::new(settings, seed);
            for _ in 0..25 {
                let before = life.touched;
                life.request(secret);
                let Event::Descent(event) = life.event() else { panic!("another event") };
                life.check_phases(&event.phases);
                // At least the steps of one update for every two records.
                let updates = (life.touched.saturating_sub(before)).div_ceil(2);
                let refreshed = event.phases.len() == 1;
                let least = if refreshed { 20 } else { 2 * updates.max(1) };
                assert!(event.phases.last().unwrap().steps >= least, "{event:?}");
                assert!(2 * event.updates >= life.touched, "{event:?}");
            }
            life.check_signed();
        }
    }
}

#[test]
fn what_is_given_is_charged_for_every_deleted_record() {
    let privacy = efface::Privacy { epsilon: None, delta: None, mu: Some(0.1), group: 3 };
    let secret = Settings {
        state: Some("secret".into()),
        solver: Some("newton".into()),
        clip: Some(f64::INFINITY),
        releases: Some(60),
        ..regression("solve", "fixed")
    };
    let settings = Settings {
        extractor_privacy: Some(privacy),
        capacity: Some(200),
        max_group: Some(200),
        ..secret
    };
    let mut life = Life::new(settings, 4);
    for _ in 0..25 {
        life.request(true);
        let Event::Composed(event) = life.event() else { panic!("another event") };
        assert_eq!(event.removed, Some(life.deleted));
    }
    life.check_signed();
}

#[test]
fn ridge_ends_where_a_model_of_the_rest_begins() {
    for (seed, normalizer) in [(5, "fixed"), (6, "mean")] {
        let fixed = normalizer == "fixed";
        let settings = || Settings {
            epsilon: None,
            public_n: Some(60),
            capacity: fixed.then_some(200),
            // Said or not: `ridge` clips nothing.
            clip: (!fixed).then_some(f64::INFINITY),
            ..regression("ridge", normalizer)
        };
        let mut life = Life::new(settings(), seed);
        for _ in 0..25 {
            life.request(false);
        }
        life.check_signed();
        let rest = life.present.iter().rev().map(|(id, revision)| (*id, *revision));
        let source = table(&life.world, "rest.csv", rest);
        let vault = life.world.path("rest.efface");
        let anew = life.world.run(|s| train(&source, settings(), &vault, s)).unwrap();
        assert_eq!(weights(&life.vault).unwrap().coef, weights(&vault).unwrap().coef);
        assert_eq!(weights(&life.vault).unwrap().intercept, weights(&vault).unwrap().intercept);
        // Alike as the models are, their digests are salted.
        let digest =
            |served: &Served| Certificate::parse(&served.certificate).unwrap().model.digest_after;
        assert_ne!(digest(&life.served), digest(&anew));
    }
}
