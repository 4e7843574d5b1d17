//! Two verifiers, one verdict: `docs/verify.py` shares no code with the accountants, and must judge
//! certificates of random events, honest and not, as they do.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use ed25519_dalek::{Signer, SigningKey};
use efface_privacy::certificate::{
    Certificate, Chain, Constant, ModelRef, Noise, Origin, Request, RequestKind, SCHEMA, Scope,
    Signature, Standing, event_constants, seal, verify,
};
use efface_privacy::claim::{Claim, Question, Requests, evaluate, in_words, scope};
use efface_privacy::event::{
    Adjacency, Event, NoisyGd, Normalizer, OutputNoise, Phase, Procedure, Setting, State,
};
use efface_privacy::quantity::Decimal;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Certificates compared; each has up to five claims.
const CERTIFICATES: u64 = 60;

/// How far a dishonest number is from the honest one, relatively: well beyond the margin of 1e-9
/// by which each stage of the accounting rounds up.
const LIE: f64 = 1e-7;

struct Draw(ChaCha20Rng);

impl Draw {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn coin(&mut self) -> bool {
        self.unit() < 0.5
    }

    /// Uniform in the exponent between 10^low and 10^high.
    fn number(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(low + (high - low) * self.unit())
    }

    /// A count up to `most`, small ones as likely as large ones.
    fn count(&mut self, most: u64) -> u64 {
        (self.number(0.0, (most as f64).log10()) as u64).clamp(1, most)
    }

    fn setting(&mut self) -> (Setting, u64) {
        let n = 10 + self.count(10_000_000);
        let setting = Setting {
            parameters: self.count(1_000_000),
            normalizer: if self.coin() {
                Normalizer::Fixed { n, capacity: 2 * n + 200 }
            } else {
                Normalizer::Mean { minimum: n }
            },
            lipschitz: Decimal(self.number(-1.0, 1.0)),
            smoothness: Decimal(self.number(-2.0, 1.0)),
            strong_convexity: Decimal(self.number(-8.0, 0.5)),
            group: self.count(10),
        };
        (setting, n)
    }

    fn output_noise(&mut self) -> Event {
        let (setting, records) = self.setting();
        let noise = self.number(-4.0, 1.0);
        let secret = self.coin();
        Event::OutputNoise(OutputNoise {
            setting,
            procedure: Procedure::Solve,
            distance: Decimal(noise * self.number(-7.0, 1.5)),
            noise: Decimal(noise),
            grid: Decimal(grid(noise)),
            state: if secret { State::Secret } else { State::Perfect },
            joint_releases: if secret { self.count(50) } else { 1 },
            releases: self.count(1000),
            records: self.coin().then_some(records),
        })
    }

    fn noisy_gd(&mut self) -> Event {
        let (mut setting, records) = self.setting();
        if self.unit() < 0.1 {
            setting.strong_convexity = Decimal(0.0);
        }
        let curvature = setting.smoothness.0 + setting.strong_convexity.0;
        let noise = self.number(-4.0, 0.0);
        let mut phases: Vec<Phase> = (0..self.count(12))
            .map(|position| Phase {
                steps: self.count(if position == 0 { 1_000_000 } else { 1000 }),
                releases: if position > 0 && self.unit() < 0.2 { self.count(20) } else { 1 },
                only_then: self.count(100) - 1,
                only_now: self.count(100) - 1,
                records: Some(records + self.count(100)),
            })
            .collect();
        if let Some(last) = phases.last_mut() {
            (last.only_then, last.only_now) = (0, 0);
        }
        Event::NoisyGd(NoisyGd {
            setting,
            step: Decimal(1.998 * self.unit() / curvature),
            noise: Decimal(noise),
            grid: Decimal(grid(noise)),
            rounding: Decimal(noise * self.number(-14.0, -9.0)),
            longest: phases.iter().map(|phase| phase.steps).max().unwrap(),
            learning: phases[0].steps,
            releases: phases.iter().map(|phase| phase.releases).sum(),
            phases,
        })
    }

    fn claims(&mut self, event: &Event, delta: f64) -> Vec<Claim> {
        let order = 1.0 + self.number(-3.0, 3.0);
        let adjacency = if self.coin() { Adjacency::Remove } else { Adjacency::Replace };
        let deletion = |requests| Question::Deletion { order, adjacency, requests };
        [
            Question::Indistinguishable { delta },
            Question::Renyi { order },
            deletion(Requests::NonAdaptive),
            deletion(Requests::PAdaptive(self.count(100))),
            Question::Differential { delta, adjacency },
        ]
        .iter()
        .filter_map(|question| evaluate(event, question).ok())
        .collect()
    }

    /// Makes one number of one claim a little too good.
    fn lie(&mut self, claims: &mut [Claim]) {
        let position = self.0.next_u64() as usize % claims.len();
        let claim = &mut claims[position];
        let number = match self.0.next_u64() % 3 {
            0 => &mut claim.epsilon,
            1 => &mut claim.mu,
            _ => &mut claim.advantage,
        };
        number.0 *= 1.0 - LIE;
        claim.words = in_words(claim);
    }
}

/// A power of two at most 2^-29 of the noise.
fn grid(noise: f64) -> f64 {
    (noise.log2().floor() - 30.0).exp2()
}

fn certificate(event: Event, claims: Vec<Claim>, delta: f64, index: u64) -> Certificate {
    let grid = match &event {
        Event::OutputNoise(e) => e.grid,
        Event::NoisyGd(e) => e.grid,
    };
    let constant =
        |name: &str, value| Constant { name: name.to_owned(), value, origin: Origin::User };
    let mut constants: Vec<Constant> =
        event_constants(&event).into_iter().map(|(name, value)| constant(name, value)).collect();
    constants.push(constant("delta", Decimal(delta).to_string()));
    let (covers, does_not_cover) = scope(&event);
    Certificate {
        schema: SCHEMA.to_owned(),
        id: format!("vault/{index}"),
        vault: "vault".to_owned(),
        issued_at: "2026-01-02T03:04:05Z".to_owned(),
        not_for_release: false,
        request: Request {
            id: "escapes: \u{1f600} \u{7f} \u{2028} \" \\ \u{1}".to_owned(),
            kind: RequestKind::Delete,
            records: "1".to_owned(),
            subject: None,
            received_at: "2026-01-02T03:04:05Z".to_owned(),
        },
        model: ModelRef { digest_before: None, digest_after: "00".to_owned(), version: index + 1 },
        claims,
        event,
        constants,
        assumptions: Vec::new(),
        noise: Noise { sampler: "exact-grid".to_owned(), generator: "chacha20".to_owned(), grid },
        scope: Scope { covers, does_not_cover },
        annex: "00".to_owned(),
        chain: Chain { index: index + 1, previous: "ab".repeat(32), hash: String::new() },
        signature: Signature {
            key_id: String::new(),
            public_key: String::new(),
            value: String::new(),
        },
    }
}

/// Worst standing of each file that `docs/verify.py` prints.
fn judged(folder: &Path, files: &[String], key: &[u8; 32]) -> BTreeMap<String, Standing> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verify.py");
    let output = Command::new("python3")
        .current_dir(folder)
        .arg(script.canonicalize().unwrap())
        .args(files)
        .args(["--key", &hex::encode(key)])
        .output()
        .expect("this test needs python3 on the path");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut standings = BTreeMap::new();
    for line in text.lines() {
        let (standing, rest) = line.split_once("  ").unwrap();
        let file = rest.trim_start().split_once(": ").unwrap().0;
        let worst = standings.entry(file.to_owned()).or_insert(Standing::Holds);
        match standing.trim() {
            "holds" => {}
            "fails" => *worst = Standing::Fails,
            other => panic!("{other}: {line}"),
        }
    }
    let standing = if standings.values().any(|s| *s == Standing::Fails) { 1 } else { 0 };
    assert_eq!(output.status.code(), Some(standing), "{}", String::from_utf8_lossy(&output.stderr));
    standings
}

#[test]
fn both_verifiers_agree_on_random_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = key.verifying_key().to_bytes();
    let mut draw = Draw(ChaCha20Rng::from_seed([3; 32]));
    let mut compared = 0;
    let mut files = Vec::new();
    let mut ours = BTreeMap::new();
    for index in 0..CERTIFICATES {
        let event = if draw.coin() { draw.output_noise() } else { draw.noisy_gd() };
        let least = if draw.coin() { -290.0 } else { -12.0 };
        let delta = draw.number(least, -0.5);
        let mut claims = draw.claims(&event, delta);
        if claims.is_empty() {
            continue;
        }
        compared += claims.len();
        if index % 3 == 0 {
            draw.lie(&mut claims);
        }
        let document = serde_json::to_value(certificate(event, claims, delta, index)).unwrap();
        let (text, _) = seal(document, &public, |bytes| key.sign(bytes).to_bytes()).unwrap();
        let file = format!("{index}.json");
        fs::write(folder.path().join(&file), &text).unwrap();
        ours.insert(file.clone(), verify(&text, Some(&public)).unwrap().standing());
        files.push(file);
    }
    let theirs = judged(folder.path(), &files, &public);
    assert_eq!(ours, theirs);
    let held = ours.values().filter(|standing| **standing == Standing::Holds).count();
    let caught = ours.len() - held;
    assert!(compared > 150 && held > 30 && caught > 10, "{compared} {held} {caught}");
}
