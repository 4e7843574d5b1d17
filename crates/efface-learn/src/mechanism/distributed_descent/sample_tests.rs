//! The law of the sample after any sequence of requests chosen without looking at it.

use std::collections::BTreeMap;

use rand_chacha::ChaCha20Rng;

use super::*;
use crate::example::generator;

/// What a request does, told from the records alone.
#[derive(Debug, Clone, Copy)]
enum Request {
    /// Adds so many records.
    Add(usize),
    /// Deletes the record added last.
    DeleteNewest,
    /// Deletes so many of the oldest.
    DeleteOldest(usize),
    /// Replaces the oldest by a new one, in one request.
    Replace,
    /// Replaces all by so many new ones, in one request.
    Renew(usize),
}

/// The records, and the keys handed out so far.
#[derive(Debug, Clone)]
struct World {
    present: Vec<u64>,
    next: u64,
}

impl World {
    fn new(records: u64) -> Self {
        Self { present: (0..records).collect(), next: records }
    }

    /// Serves one request on the sample with `draw` as source of uniform numbers.
    fn serve(&mut self, sample: &mut Sample, request: Request, draw: impl FnMut(u64) -> u64) {
        let n = self.present.len();
        let (gone, new) = match request {
            Request::Add(count) => (0..0, count),
            Request::DeleteNewest => (n - 1..n, 0),
            Request::DeleteOldest(count) => (0..count, 0),
            Request::Replace => (0..1, 1),
            Request::Renew(count) => (0..n, count),
        };
        let removed: Vec<u64> = self.present.drain(gone).collect();
        let added: Vec<u64> = (self.next..self.next + new as u64).collect();
        self.present.extend(&added);
        self.next += new as u64;
        sample
            .redraw(Membership { present: &self.present, added: &added, removed: &removed }, draw);
    }

    /// The sample as a number in base n, its digits the records' places in the data.
    fn cell(&self, sample: &Sample) -> usize {
        sample.keys().iter().fold(0, |cell, key| {
            cell * self.present.len() + self.present.binary_search(key).unwrap()
        })
    }
}

/// Exact probabilities of the cells: every sequence of draws is followed.
fn law(run: impl Fn(&mut dyn FnMut(u64) -> u64) -> usize) -> BTreeMap<usize, f64> {
    let mut law = BTreeMap::new();
    let mut path: Vec<(u64, u64)> = Vec::new();
    loop {
        let mut depth = 0;
        let cell = run(&mut |bound| {
            if depth == path.len() {
                path.push((0, bound));
            }
            depth += 1;
            path[depth - 1].0
        });
        *law.entry(cell).or_insert(0.0) +=
            path.iter().map(|(_, b)| 1.0 / *b as f64).product::<f64>();
        while path.last().is_some_and(|(choice, bound)| choice + 1 == *bound) {
            path.pop();
        }
        match path.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return law,
        }
    }
}

#[test]
fn the_law_is_exactly_uniform() {
    use Request::*;
    let sequences: [&[Request]; 7] = [
        &[Add(1)],
        &[DeleteOldest(1)],
        &[Add(1), DeleteNewest, Add(1), DeleteNewest],
        &[DeleteOldest(1), Add(2), DeleteNewest],
        &[Replace, Replace, DeleteOldest(1)],
        &[Add(2), DeleteOldest(3), Add(1)],
        &[Renew(2), Add(1), Renew(3)],
    ];
    for requests in sequences {
        let mut worlds = World::new(2);
        let law = law(|draw| {
            let mut world = World::new(2);
            let mut sample = Sample::from_keys((0..2).map(|_| draw(2)).collect());
            for request in requests {
                world.serve(&mut sample, *request, &mut *draw);
            }
            world.cell(&sample)
        });
        let mut sample = Sample::from_keys(vec![0, 1]);
        for request in requests {
            worlds.serve(&mut sample, *request, |_| 0);
        }
        let cells = worlds.present.len().pow(2);
        assert_eq!(law.len(), cells, "{requests:?}");
        for (cell, probability) in law {
            let off = (probability * cells as f64 - 1.0).abs();
            assert!(off < 1e-12, "{requests:?}: cell {cell} has {probability}");
        }
    }
}

#[test]
fn the_number_of_copies_of_an_addition_is_binomial() {
    // B = 4 positions, the sixth record: P(k copies) = C(4, k) (1/6)^k (5/6)^(4-k).
    let law = law(|draw| {
        let mut world = World::new(5);
        let mut sample = Sample::from_keys(vec![0; 4]);
        world.serve(&mut sample, Request::Add(1), &mut *draw);
        sample.keys().iter().filter(|key| **key == 5).count()
    });
    for (k, choices) in [1.0, 4.0, 6.0, 4.0, 1.0].into_iter().enumerate() {
        let expected = choices * 5.0_f64.powi(4 - k as i32) / 6.0_f64.powi(4);
        assert!((law[&k] / expected - 1.0).abs() < 1e-12, "{k}");
    }
}

/// Pearson's statistic of `counts` against equal probabilities.
fn pearson(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
}

/// What a chi-square variable with `freedom` degrees of freedom exceeds with probability at most
/// e^-x (Laurent and Massart 2000, Lemma 1).
fn threshold(freedom: f64, x: f64) -> f64 {
    freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x
}

/// Runs a sequence from `records` records many times; the cells of the final samples.
fn cells(
    records: u64,
    size: usize,
    runs: usize,
    rng: &mut ChaCha20Rng,
    mut play: impl FnMut(&mut World, &mut Sample, &mut ChaCha20Rng),
) -> Vec<u64> {
    let mut counts = Vec::new();
    for _ in 0..runs {
        let mut world = World::new(records);
        let mut sample = Sample::draw(size, &world.present, rng);
        play(&mut world, &mut sample, rng);
        counts.resize(world.present.len().pow(size as u32), 0);
        counts[world.cell(&sample)] += 1;
    }
    counts
}

const SIZE: usize = 3;
const RUNS: usize = 12_000;

/// A sequence of twelve requests that leaves between 2 and 5 records, drawn from a seed.
fn sequence(seed: u64) -> Vec<Request> {
    use Request::*;
    let mut rng = generator(seed);
    let mut present = 4;
    let mut requests = Vec::new();
    while requests.len() < 12 {
        let request = match below(8, &mut rng) {
            0 | 1 => Add(1),
            2 => Add(2),
            3 | 4 => DeleteNewest,
            5 => DeleteOldest(2),
            6 => Replace,
            _ => Renew(3),
        };
        let after = match request {
            Add(count) => present + count,
            DeleteNewest => present - 1,
            DeleteOldest(count) => present - count.min(present),
            Replace => present,
            Renew(count) => count,
        };
        if (2..=5).contains(&after) {
            present = after;
            requests.push(request);
        }
    }
    requests
}

#[test]
fn the_law_is_uniform_after_many_adversarial_sequences() {
    // 40 sequences, 12,000 runs of each, up to 5^3 = 125 cells (96 runs expected in each at least):
    // Pearson's statistic of the joint law of all positions. False-alarm rate 1e-6 for all
    // sequences together, in the chi-square approximation; fixed seeds.
    let x = (40.0_f64 / 1e-6).ln();
    for seed in 0..40 {
        let requests = match seed {
            // The just-added record is deleted again and again; then nothing but growth; then
            // nothing but loss after growth.
            0 => [Request::Add(1), Request::DeleteNewest].repeat(10),
            1 => vec![Request::DeleteOldest(3), Request::Add(1), Request::Add(1), Request::Add(1)],
            2 => [vec![Request::Add(1); 8], vec![Request::DeleteOldest(1); 9]].concat(),
            _ => sequence(seed),
        };
        let mut rng = generator(1000 + seed);
        let counts = cells(4, SIZE, RUNS, &mut rng, |world, sample, rng| {
            for request in &requests {
                world.serve(sample, *request, |bound| below(bound, rng));
            }
        });
        let (statistic, freedom) = (pearson(&counts), counts.len() as f64 - 1.0);
        assert!(statistic < threshold(freedom, x), "{requests:?}: {statistic} of {freedom}");
    }
}

#[test]
fn planted_biases_are_caught() {
    let x = (40.0_f64 / 1e-6).ln();
    let caught = |counts: &[u64]| pearson(counts) > threshold(counts.len() as f64 - 1.0, x);
    // Draws that are off by one.
    let mut rng = generator(7);
    let counts = cells(4, SIZE, RUNS, &mut rng, |world, sample, rng| {
        world.serve(sample, Request::Add(1), |bound| below((bound - 1).max(1), rng));
    });
    assert!(caught(&counts));
    let counts = cells(4, SIZE, RUNS, &mut rng, |world, sample, rng| {
        world.serve(sample, Request::DeleteOldest(1), |bound| below((bound - 1).max(1), rng));
    });
    assert!(caught(&counts));
    // A requester who looks at the sample, and deletes the record with the most copies: the claim
    // is not made for such requests, and would be false.
    let counts = cells(3, SIZE, RUNS, &mut rng, |world, sample, rng| {
        let copies = |key: &u64| sample.keys().iter().filter(|held| *held == key).count();
        let most = *world.present.iter().max_by_key(|key| copies(key)).unwrap();
        world.present.retain(|key| *key != most);
        let (present, removed) = (&world.present[..], &[most][..]);
        sample.change(Membership { present, added: &[], removed }, rng);
    });
    assert!(caught(&counts));
}

#[test]
fn positions_change_only_where_the_request_says() {
    let mut rng = generator(3);
    let present: Vec<u64> = (0..100).collect();
    let mut sample = Sample::draw(1000, &present, &mut rng);
    let before = sample.clone();
    let left: Vec<u64> = (1..100).collect();
    let members = Membership { present: &left, added: &[], removed: &[0] };
    let changed = sample.change(members, &mut rng);
    for (position, (old, new)) in before.keys().iter().zip(sample.keys()).enumerate() {
        assert_eq!(changed.binary_search(&position).is_ok(), *old == 0);
        assert_eq!(old != new, *old == 0);
    }
    assert!(!sample.keys().contains(&0));
}

#[test]
fn parts_cover_the_positions_once() {
    for size in 1..60 {
        for parts in 1..=size {
            let mut next = 0;
            for part in 0..parts {
                let range = positions(size, parts, part);
                assert_eq!(range.start, next);
                assert!((size / parts..=size / parts + 1).contains(&range.len()));
                assert!(range.clone().all(|position| part_of(size, parts, position) == part));
                next = range.end;
            }
            assert_eq!(next, size);
        }
    }
}
