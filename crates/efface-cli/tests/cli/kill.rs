//! A stream of requests in which the program is killed at random moments.
//!
//! `EFFACE_KILLS` says how many kills (15 without it; 200 for a full run).

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::table::Draws;
use crate::traces::{Form, Planted, found, name, planted_table, train};
use crate::workshop::Workshop;

struct Stream {
    w: Workshop,
    form: Form,
    draws: Draws,
    live: Vec<Planted>,
    /// Needles of everything that has left.
    gone: Vec<Vec<u8>>,
    /// A request that was served.
    first: Option<Vec<String>>,
    /// How long the slowest request took that was left alone.
    whole: Duration,
    /// How the kills fell: before the commit, between commit and answer, after the answer.
    fell: [usize; 3],
}

/// A request and what it does.
struct Request {
    words: Vec<String>,
    after: Vec<Planted>,
    /// Needles of what it takes out, and of what it brings.
    gone: Vec<Vec<u8>>,
    new: Vec<Vec<u8>>,
}

impl Stream {
    fn request(&mut self, number: usize) -> Request {
        let mut words: Vec<String> = Vec::new();
        let mut after = self.live.clone();
        let (mut gone, mut brought) = (Vec::new(), Vec::new());
        let any = self.draws.below(after.len() as u64) as usize;
        // Now and then a class leaves with its only record.
        let alone = after.iter().position(|r| number % 8 == 4 && r.has_own_class());
        let pick = alone.unwrap_or(any);
        match number % 4 {
            0 => {
                let record = after.swap_remove(pick);
                words.extend(["delete", "m.efface", "--record", &record.id].map(Into::into));
                gone = record.record();
            }
            1 => {
                let subject = after[pick].subject.clone();
                words.extend(["delete", "m.efface", "--subject", &subject].map(Into::into));
                let (left, stay) = after.into_iter().partition(|r| r.subject == subject);
                after = stay;
                let left: Vec<Planted> = left;
                gone = left.iter().flat_map(Planted::record).collect();
                gone.push(subject.into_bytes());
            }
            2 => {
                let subject = name("su", &mut self.draws);
                let new: Vec<Planted> =
                    (0..4).map(|_| Planted::of(self.form, &subject, &mut self.draws)).collect();
                brought = new.iter().flat_map(Planted::record).collect();
                words.extend(["add".into(), "m.efface".into(), self.table(&new)]);
                after.extend(new);
            }
            _ => {
                let new = after[pick].changed(&mut self.draws);
                gone = after[pick].contents();
                brought = new.contents();
                words.extend([
                    "update".into(),
                    "m.efface".into(),
                    self.table(std::slice::from_ref(&new)),
                ]);
                after[pick] = new;
            }
        }
        words.extend(["--request-id".into(), format!("k-{number}"), "--json".into()]);
        Request { words, after, gone, new: brought }
    }

    fn table(&self, records: &[Planted]) -> String {
        let path = self.w.outside("rows.csv");
        fs::write(&path, planted_table(records)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs a request and kills it at a random moment; whether it was acknowledged.
    fn killed(&mut self, request: &Request) -> bool {
        let mut child = self.w.command(&request.words).spawn().unwrap();
        let share = self.draws.below(1200) as f64 / 1000.0;
        thread::sleep(self.whole.mul_f64(share));
        // It may have ended by itself.
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        stdout.ends_with('\n') && serde_json::from_str::<Value>(&stdout).is_ok()
    }

    /// Undoes what was left half done: any opening for writing does, also one that asks for the
    /// certificate of a request served long ago.
    fn recover(&self) {
        if let Some(words) = &self.first {
            assert_eq!(self.w.run(words).done().json()["replayed"], true);
        }
    }

    /// How often each request id stands in the ledger; checkpoints have none.
    fn ledger(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in self.w.efface("certificate list m.efface --json").done().stdout.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            match entry["request_id"].as_str() {
                Some(id) => *counts.entry(id.to_owned()).or_insert(0) += 1,
                None => assert_eq!(entry["kind"], "checkpoint"),
            }
        }
        counts
    }

    fn records(&self) -> u64 {
        self.w.efface("status m.efface --json").done().json()["records"].as_u64().unwrap()
    }

    /// One request, killed and then asked again.
    fn round(&mut self, number: usize, key: &str) {
        let request = self.request(number);
        let id = format!("k-{number}");
        let acknowledged = self.first.is_some() && self.killed(&request);

        self.recover();
        let verify = ["ledger", "verify", "m.efface", "--key", key];
        self.w.run(&verify).done();
        let times = self.ledger().get(&id).copied().unwrap_or(0);
        assert!(times <= 1, "request {id} stands {times} times in the ledger");
        assert!(times == 1 || !acknowledged, "request {id} was acknowledged and is lost");
        self.fell[times + usize::from(acknowledged)] += 1;
        let records = if times == 1 { request.after.len() } else { self.live.len() };
        assert_eq!(self.records(), records as u64, "request {id} is there in part");
        let out = if times == 1 { &request.gone } else { &request.new };
        assert_eq!(found(&self.w, out), 0, "request {id} is there in part");

        let start = Instant::now();
        let again = self.w.run(&request.words).done().json();
        self.whole = self.whole.max(start.elapsed());
        assert_eq!(again["replayed"], times == 1, "{again}");
        assert_eq!(self.ledger().get(&id), Some(&1));

        self.live = request.after;
        self.first.get_or_insert(request.words);
        self.gone.extend(request.gone);
        let left = found(&self.w, &self.gone);
        assert_eq!(left, 0, "after request {id}, {left} traces of deleted records are found");
        self.w.run(&verify).done();
    }
}

#[test]
fn killed_at_any_moment_with_numbers() {
    killed_at_any_moment(Form::Numbers, |_, _| "--capacity 2000".to_owned());
}

/// Words, days, missing cells, and a class and categories that one record has.
#[test]
fn killed_at_any_moment_with_raw_rows() {
    killed_at_any_moment(Form::Raw, |_, _| String::new());
}

/// A last layer on the features of a network, which other records taught in another vault.
#[test]
fn killed_at_any_moment_on_a_network() {
    killed_at_any_moment(Form::Numbers, |w, draws| {
        let taught: Vec<Planted> =
            (0..60).map(|_| Planted::of(Form::Numbers, "someone", draws)).collect();
        let table = w.outside("taught.csv");
        fs::write(&table, planted_table(&taught)).unwrap();
        // A request takes out at most 4 records, or those of one subject.
        let deletions = 8 * (kills() + 1);
        w.efface(&format!(
            "train {} --label y --id id --subject user --mechanism dp-sgd --network dense:4 --unit record \
             --classes 0,1 --public-n 60 --rate 0.2 --steps 3 --epsilon 1 --delta 1e-4 \
             --deletions {deletions} -o trunk.efface",
            table.display()
        ))
        .done();
        "--features network:trunk.efface --mechanism ridge --lambda 0.01 --epsilon 3 --delta 1e-3 \
         --capacity 2000"
            .to_owned()
    });
}

/// How many kills there are.
fn kills() -> usize {
    std::env::var("EFFACE_KILLS").map_or(15, |text| text.parse().unwrap())
}

/// `settings` are those of the model, once made what it needs.
fn killed_at_any_moment(form: Form, settings: impl FnOnce(&Workshop, &mut Draws) -> String) {
    let kills = kills();
    let mut draws = Draws::new(2024);
    let mut live = Vec::new();
    for _ in 0..150 + kills / 4 {
        let subject = name("su", &mut draws);
        live.extend((0..2).map(|_| Planted::of(form, &subject, &mut draws)));
    }
    let w = Workshop::new();
    let settings = settings(&w, &mut draws);
    train(&w, &live, &settings);
    let key = w.public_key();
    let whole = Duration::from_millis(1);
    let (gone, first, fell) = (Vec::new(), None, [0; 3]);
    let mut stream = Stream { w, form, draws, live, gone, first, whole, fell };
    // The first request is only timed and not killed.
    for number in 0..=kills {
        stream.round(number, &key);
    }
    let [undone, unanswered, answered] = stream.fell;
    println!(
        "kills: {undone} before the commit, {unanswered} after it, {answered} after the answer"
    );
    let ledger = stream.ledger();
    assert_eq!(ledger.len(), kills + 2);
    assert!(ledger.values().all(|times| *times == 1));
    let live: Vec<Vec<u8>> =
        stream.live.iter().map(|planted| planted.id.as_bytes().to_vec()).collect();
    assert_eq!(found(&stream.w, &live), live.len(), "every living record is there");
}

#[test]
fn a_training_that_is_killed_leaves_no_vault() {
    for form in Form::ALL {
        let mut draws = Draws::new(7);
        let records: Vec<Planted> =
            (0..300).map(|_| Planted::of(form, "someone", &mut draws)).collect();
        let w = Workshop::new();
        let start = Instant::now();
        train(&w, &records, "");
        let whole = start.elapsed();
        let table = w.outside("data.csv");
        let line =
            ["train", table.to_str().unwrap(), "--label", "y", "--id", "id", "--subject", "user"];
        for share in [0.2, 0.5, 0.7, 0.8, 0.9, 0.95] {
            let _ = fs::remove_file(w.path("m.efface"));
            let mut child = w.command(&[&line[..], &["-o", "m.efface"]].concat()).spawn().unwrap();
            thread::sleep(whole.mul_f64(share));
            let _ = child.kill();
            child.wait().unwrap();
            if w.path("m.efface").exists() {
                w.efface("status m.efface").done();
            }
        }
        let _ = fs::remove_file(w.path("m.efface"));
        train(&w, &records, "");
        let names: Vec<_> = w.files().into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, [w.path("m.efface")], "leftovers of killed trainings are taken away");
    }
}
