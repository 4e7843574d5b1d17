//! Time and a stop end audits within a run.

use std::sync::atomic::{AtomicU64, Ordering};

use efface::{Code, Result, Settings};

use super::{AuditResult, Budget, Options, Verdict, audit};
use crate::vault_tests::trained;

const RUNS: u64 = 24;

fn settings(mechanism: &str) -> Settings {
    Settings {
        mechanism: Some(mechanism.into()),
        lambda: Some(0.1),
        delta: Some(1e-2),
        epsilon: Some(1.0),
        ..Settings::default()
    }
}

/// What ends the audit after it was asked `last` times.
#[derive(Clone, Copy)]
enum End {
    Stop,
    Time,
}

/// An audit that `end` ends, and how often it was asked whether to end.
fn ended(vault: &std::path::Path, end: End, last: u64) -> (Result<AuditResult>, u64) {
    let asked = AtomicU64::new(0);
    let ask = || asked.fetch_add(1, Ordering::Relaxed);
    let (stop, elapsed) = (|| ask() >= last, || ask() as f64);
    let budget = match end {
        End::Stop => Budget { runs: RUNS, limit: None, elapsed: &|| 0.0, stop: &stop },
        End::Time => {
            Budget { runs: RUNS, limit: Some(last as f64), elapsed: &elapsed, stop: &|| false }
        }
    };
    let result = audit(vault, &Options::default(), [3; 32], &budget);
    (result, asked.into_inner())
}

/// Wherever an audit is ended it asks only a few times more: each thread in its step, and between parts.
#[test]
fn audits_end_within_a_run() {
    let batches = Settings { batches: Some(4), ..settings("noisy-gd") };
    let threads = rayon::current_num_threads() as u64;
    for (settings, method) in [
        (batches, "engine"),
        (settings("noisy-gd"), "batched"),
        (settings("descent-to-delete"), "batched"),
        (settings("solve"), "engine"),
    ] {
        let (_bench, vault) = trained(11, settings);
        let (whole, asks) = ended(&vault, End::Stop, u64::MAX);
        assert_eq!(whole.unwrap().method, method);
        assert!(asks > 2 * RUNS, "{method}: {asks}");
        for part in [0, asks / 50, asks / 3, asks - 1] {
            let (stopped, more) = ended(&vault, End::Stop, part);
            assert_eq!(stopped.unwrap_err().code(), Code::Interrupted, "{method}, {part}");
            assert!(more <= part + 4 * (threads + 1), "{method}: {more} asks, stop after {part}");
        }
    }
}

/// What was done in time is told; where nothing was, that is.
#[test]
fn audits_tell_what_was_done_in_time() {
    let (_bench, vault) = trained(11, Settings { batches: Some(4), ..settings("noisy-gd") });
    let (whole, asks) = ended(&vault, End::Time, u64::MAX);
    let made =
        |result: AuditResult| result.runs.direction + result.runs.threshold + result.runs.counted;
    assert_eq!(made(whole.unwrap()), RUNS);
    let threads = rayon::current_num_threads() as u64;
    let (part, more) = ended(&vault, End::Time, asks * 2 / 3);
    let runs = made(part.unwrap());
    assert!(runs > 0 && runs < RUNS, "{runs} runs");
    assert!(more <= asks * 2 / 3 + 4 * (threads + 1), "{more} asks of {asks}");
    let (none, asked) = ended(&vault, End::Time, 1);
    let error = none.unwrap_err();
    assert_eq!(error.code(), Code::Audit);
    assert!(error.message().contains("limit of 1 seconds passed"), "{error}");
    assert!(asked <= 4, "{asked}");
}

/// Runs of exact removal end in time, too.
#[test]
fn exact_removal_ends_in_time() {
    let (_bench, vault) = trained(
        11,
        Settings {
            mechanism: Some("ridge".into()),
            lambda: Some(0.1),
            preprocess: Some("declared".into()),
            ..Settings::default()
        },
    );
    let (whole, asks) = ended(&vault, End::Time, u64::MAX);
    assert_eq!(whole.unwrap().compared.len(), 4);
    let (none, _) = ended(&vault, End::Time, 0);
    let none = none.unwrap();
    assert_eq!((none.verdict, none.compared.len()), (Verdict::Undecided, 0));
    let (part, _) = ended(&vault, End::Time, asks / 2);
    let part = part.unwrap();
    assert!(
        part.compared.len() < 4 && part.notes.iter().any(|note| note.contains("limit of time"))
    );
}
