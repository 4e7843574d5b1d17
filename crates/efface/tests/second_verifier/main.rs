//! Two verifiers, one verdict: `verifier/efface_verify.py` shares no code with the accountants, and
//! must come to the same result in every check of random certificates, honest and not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod batches;
mod breaks;
mod declared;
mod draw;
mod features;
mod forms;
mod networks;
mod phases;
mod read_off;
mod refitted;
mod shards;
mod targets;
mod trunks;
mod weights;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread::{self, available_parallelism};

use ed25519_dalek::{Signer, SigningKey};
use efface_privacy::certificate::{Certificate, CheckOutcome, seal, verify};
use efface_privacy::claim::in_words;
use efface_privacy::event::{Composed, Event};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use batches::BATCH_BREAKS;
use breaks::{BREAKS, Break, STATED_BREAKS};
use draw::Draw;
use features::FEATURE_BREAKS;
use read_off::{KEPT_BREAKS, READ_OFF_BREAKS};
use refitted::{REFITTED_BREAKS, ROW_BREAKS};
use targets::TARGET_BREAKS;
use weights::WEIGHT_BREAKS;

/// Honest certificates; each has up to five claims.
const CERTIFICATES: u64 = 120;

/// Honest certificates that each rule is broken in; more with `make soak`.
fn most_broken() -> usize {
    if std::env::var_os("EFFACE_SOAK").is_some() { 3 } else { 1 }
}

/// Those that are compared as they are and with lies: the first third, or with `make soak` all.
fn some(certificates: &[Certificate]) -> &[Certificate] {
    let all = certificates.len();
    &certificates[..if most_broken() > 1 { all } else { all / 3 }]
}

/// How each check of a certificate came out, by name.
type Checks = BTreeMap<String, CheckOutcome>;

/// What `verifier/efface_verify.py` prints of each file; as many run at once as there are cores.
fn judged(folder: &Path, files: &[String], key: &[u8; 32]) -> BTreeMap<String, Checks> {
    let at_once = available_parallelism().map_or(1, usize::from).min(files.len());
    // Dealt out in turn: neighbours are alike, and so is the time they take.
    let share = |first: usize| files.iter().skip(first).step_by(at_once);
    thread::scope(|scope| {
        let dealt = |first| scope.spawn(move || judged_by_one(folder, share(first), key));
        let running: Vec<_> = (0..at_once).map(dealt).collect();
        running.into_iter().flat_map(|judging| judging.join().unwrap()).collect()
    })
}

/// The output of `verifier/efface_verify.py` about some files.
fn second_verifier<'f>(
    folder: &Path,
    files: impl IntoIterator<Item = &'f String>,
    key: &[u8; 32],
) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../verifier/efface_verify.py");
    Command::new("python3")
        .current_dir(folder)
        .arg(script.canonicalize().unwrap())
        .args(files)
        .args(["--key", &hex::encode(key)])
        .output()
        .expect("this test needs python3 on the path")
}

fn judged_by_one<'f>(
    folder: &Path,
    files: impl Iterator<Item = &'f String>,
    key: &[u8; 32],
) -> BTreeMap<String, Checks> {
    let output = second_verifier(folder, files, key);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut outcomes: BTreeMap<String, Checks> = BTreeMap::new();
    for line in text.lines() {
        let (outcome, rest) = line.split_once("  ").unwrap();
        let parts: Vec<&str> = rest.trim_start().splitn(4, ": ").collect();
        let name = match parts[1] {
            claim if claim.starts_with("claim ") => format!("{claim}: {}", parts[2]),
            name => name.to_owned(),
        };
        let outcome = match outcome.trim() {
            "holds" => CheckOutcome::Holds,
            "fails" => CheckOutcome::Fails,
            other => panic!("{other}: {line}"),
        };
        let twice = outcomes.entry(parts[0].to_owned()).or_default().insert(name, outcome);
        assert!(twice.is_none(), "{line}");
    }
    let fails = outcomes.values().flat_map(BTreeMap::values).any(|s| *s == CheckOutcome::Fails);
    let expected = if fails { 1 } else { 0 };
    assert_eq!(output.status.code(), Some(expected), "{}", String::from_utf8_lossy(&output.stderr));
    outcomes
}

/// Certificates on disk, and what the first verifier makes of them.
struct Files {
    folder: tempfile::TempDir,
    key: SigningKey,
    names: Vec<String>,
    ours: BTreeMap<String, Checks>,
}

impl Files {
    /// None yet.
    fn new() -> Self {
        let (folder, key) = (tempfile::tempdir().unwrap(), SigningKey::from_bytes(&[7; 32]));
        Self { folder, key, names: Vec::new(), ours: BTreeMap::new() }
    }

    /// The key that signs them.
    fn public(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    /// Seals, writes and verifies a certificate.
    fn add(&mut self, name: String, certificate: &Certificate) -> &Checks {
        let public = self.public();
        let document = serde_json::to_value(certificate).unwrap();
        let sign = |bytes: &[u8]| self.key.sign(bytes).to_bytes();
        let (mut text, hash) = seal(document, &public, sign).unwrap();
        if !certificate.chain.hash.is_empty() {
            text = text.replace(&hash, &certificate.chain.hash);
        }
        fs::write(self.folder.path().join(&name), &text).unwrap();
        let verdict = verify(&text, Some(&public)).unwrap();
        let checks = verdict.checks.into_iter().map(|check| (check.name, check.outcome)).collect();
        self.names.push(name.clone());
        self.ours.entry(name).or_insert(checks)
    }

    /// Adds certificates that hold.
    fn honest(&mut self, certificates: &[Certificate]) {
        for (index, certificate) in some(certificates).iter().enumerate() {
            let checks = self.add(format!("honest-{index}.json"), certificate);
            assert!(failing(checks).is_empty(), "{index}: {:?}", failing(checks));
        }
    }

    /// Adds every second certificate with claims that `lie` makes false: more than `least` checks would
    /// fail if all were compared.
    fn lies(
        &mut self,
        honest: &[Certificate],
        least: usize,
        mut lie: impl FnMut(&mut Certificate),
    ) {
        let mut caught = 0;
        for (index, certificate) in some(honest).iter().enumerate().step_by(2) {
            let mut lying = certificate.clone();
            lie(&mut lying);
            caught += failing(self.add(format!("lie-{index}.json"), &lying)).len();
        }
        assert!(caught * honest.len() > least * some(honest).len(), "{caught}");
    }

    /// Adds certificates in which one rule each is broken. Each rule begins at another certificate, so that
    /// all take part.
    fn broken<'r>(
        &mut self,
        honest: &[Certificate],
        stride: usize,
        rules: impl IntoIterator<Item = &'r (&'static str, Break)>,
    ) {
        for (rule, (check, make)) in rules.into_iter().enumerate() {
            let from = honest.iter().cycle().skip(stride * rule).take(honest.len());
            let broken = from.filter_map(|certificate| {
                let mut broken = certificate.clone();
                make(&mut broken).then_some(broken)
            });
            let mut tried = 0;
            for (number, certificate) in broken.take(most_broken()).enumerate() {
                let checks = self.add(format!("broken-{rule}-{number}.json"), &certificate);
                let failing = failing(checks);
                assert!(failing.iter().any(|name| name.starts_with(check)), "{rule}: {failing:?}");
                tried += 1;
            }
            assert!(tried > 0, "{rule}: no certificate to break");
        }
    }

    /// The second verifier must say the same of all.
    fn compare(&self) {
        assert_eq!(self.ours, judged(self.folder.path(), &self.names, &self.public()));
    }
}

/// Makes one claim false, by more than the grid of privacy losses adds.
fn understate(certificate: &mut Certificate) {
    certificate.claims.truncate(1);
    let claim = &mut certificate.claims[0];
    claim.epsilon.0 *= 0.99;
    claim.words = in_words(claim);
}

/// The event of a model on what another training made.
fn composed(certificate: &mut Certificate) -> &mut Composed {
    match &mut certificate.event {
        Event::Composed(event) => event,
        other => panic!("{other:?}"),
    }
}

fn failing(checks: &Checks) -> Vec<&str> {
    checks
        .iter()
        .filter(|(_, s)| **s == CheckOutcome::Fails)
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Changes that event.
fn with(certificate: &mut Certificate, change: impl FnOnce(&mut Composed)) -> bool {
    change(composed(certificate));
    true
}

#[test]
fn both_verifiers_agree_on_random_certificates() {
    let mut files = Files::new();
    let mut draw = Draw(ChaCha20Rng::from_seed([3; 32]));
    let honest: Vec<Certificate> = (0..CERTIFICATES).map(|index| draw.honest(index)).collect();
    let compared: usize = honest.iter().map(|certificate| certificate.claims.len()).sum();
    assert!(compared > 150, "{compared}");
    files.honest(&honest);
    // An epsilon of 0 cannot be made smaller.
    files.lies(&honest, 20, |lying| draw.lie(&mut lying.claims));
    let rules = BREAKS.iter().chain(WEIGHT_BREAKS).chain(READ_OFF_BREAKS).chain(REFITTED_BREAKS);
    let rules =
        rules.chain(TARGET_BREAKS).chain(FEATURE_BREAKS).chain(BATCH_BREAKS).chain(ROW_BREAKS);
    files.broken(&honest, 7, rules.chain(STATED_BREAKS).chain(KEPT_BREAKS));
    files.compare();
}
