//! A ledger with checkpoints: what commands read of it, and heads of it that were kept.

use std::ops::ControlFlow;

use efface::{Context, ExportFormat, Keyring};

use crate::table::{Label, table};
use crate::tamper::sql;
use crate::workshop::Workshop;

/// A vault after training, a deletion and so many exports.
fn vault(exports: usize) -> (Workshop, String) {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 60));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    w.efface("delete m.efface --record r3").done();
    let keyring = Keyring::load(&w.key_file()).unwrap();
    for _ in 0..exports {
        let mut context = Context {
            clock: &|| "2126-01-02T03:04:05Z".to_owned(),
            entropy: &mut |_| Err("none is needed".to_owned()),
            keyring: &keyring,
            watch: &mut |_| ControlFlow::Continue(()),
            wait: std::time::Duration::ZERO,
            rows: efface::RowStore::Vault,
        };
        efface::export(&w.path("m.efface"), ExportFormat::Npz, &mut context).unwrap();
    }
    let key = w.public_key();
    (w, key)
}

/// Entries between the first and the last checkpoint can be anything: nobody but who verifies all
/// of them reads them.
#[test]
fn commands_read_from_the_last_checkpoint_on() {
    let (w, key) = vault(140);
    let kept = w.efface("status m.efface --json").done().json();
    let damaged = "'{\"chain\":' WHERE entry > 1 AND entry < 100";
    sql(&w, &format!("UPDATE ledger SET body = {damaged}; UPDATE whole SET body = {damaged}"));
    assert_eq!(w.efface("status m.efface --json").done().json(), kept);
    let verify = ["ledger", "verify", "m.efface", "--key", &key];
    let ran = w.run(&verify).done();
    assert!(ran.stdout.contains("--all"), "{ran:#?}");
    w.efface("export m.efface --to npz -o w.npz").done();
    w.efface("predict m.efface data.csv").done();
    w.efface("certificate export m.efface").done();
    // The exports were noted by a clock a hundred years ahead.
    let ran = w.efface("delete m.efface --record r4 --certificate c.json").done();
    assert!(ran.stderr.contains("2126-01-02T03:04:05Z"), "{ran:#?}");
    let certificate = ["certificate", "verify", "c.json", "--vault", "m.efface", "--key", &key];
    w.run(&certificate).done();
    let ran = w.run(&verify).done();
    assert!(ran.stdout.contains("NOTICE     clock: "), "{ran:#?}");
    let ran = w.run(&[&verify[..], &["--all"]].concat()).exits(1);
    for entry in [2, 50, 99] {
        assert!(ran.stdout.contains(&format!("FAILS      entry {entry}: ")), "{ran:#?}");
    }
}

#[test]
fn heads_are_taken_as_they_are_printed() {
    let (w, key) = vault(70);
    let status = w.efface("status m.efface").done().stdout;
    let printed = status.lines().find_map(|line| line.strip_prefix("head ")).unwrap().trim();
    let (index, hash) = printed.split_once(' ').unwrap();
    let verify =
        |head: &str| w.run(&["ledger", "verify", "m.efface", "--key", &key, "--head", head]);
    for head in [printed, hash, &hash.to_uppercase(), &format!("{index} {}", hash.to_uppercase())] {
        let ran = verify(head).done();
        assert!(ran.stdout.contains(&format!("the given head is entry {index}")), "{ran:#?}");
    }
    for head in [&hash[..40], &printed[..20], "af6b", "nonsense", "", "1 2 3"] {
        verify(head)
            .fails(2, &["`head` must be an entry's index and hash", "64 hexadecimal digits"]);
    }
    let ran = verify(&format!("1 {hash}")).exits(1);
    assert!(ran.stdout.contains(&format!("the hash is that of entry {index}")), "{ran:#?}");
    w.efface("certificate export m.efface -o c.json").done();
    let line = ["certificate", "verify", "c.json", "--vault", "m.efface", "--key", &key, "--head"];
    w.run(&[&line[..], &[printed]].concat()).done();
    w.run(&[&line[..], &["af6b"]].concat()).fails(2, &["`head` must be"]);
}
