//! Ctrl-C and other polite requests to stop, and a vault that is in use.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::table::{Label, table};
use crate::workshop::Workshop;

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

/// Waits for the end; gives up, and ends the process, after a minute.
fn end(mut child: Child) -> Output {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the program did not stop: {:?}", child.wait_with_output());
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

/// Lets the program come to its work, which would take hours.
fn under_way(child: &mut Child) {
    thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().unwrap().is_none(), "the work is too short for this test");
}

fn interrupted(child: Child) {
    let output = end(child);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("interrupted; nothing was changed"), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn interrupting_a_training_leaves_no_vault() {
    for name in ["-INT", "-TERM"] {
        let w = Workshop::new();
        w.write("data.csv", table(Label::Two, 0, 300));
        w.efface("key create").done();
        let line = "train data.csv --label y --id id --subject user --mechanism noisy-gd \
                    --lambda 0.01 --steps 100000000 -o m.efface";
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut child = w.heeding_signals(&words).spawn().unwrap();
        under_way(&mut child);
        signal(&child, name);
        interrupted(child);
        let files: Vec<_> = w.files().into_iter().map(|(path, _)| path).collect();
        assert_eq!(files, [w.path("data.csv")]);
    }
}

#[test]
fn interrupting_a_deletion_leaves_the_vault_as_it_was() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 300));
    w.efface(
        "train data.csv --label y --id id --subject user --mechanism noisy-gd --lambda 0.01 \
         --noise 0.1 --removal-steps 100000000 --steps 100 -o m.efface",
    )
    .done();
    let before = w.files();
    let words = ["delete", "m.efface", "--subject", "u7"];
    let mut child = w.heeding_signals(&words).spawn().unwrap();
    under_way(&mut child);

    let holder = format!("process {}", child.id());
    w.efface("delete m.efface --record r1")
        .fails(3, &["in use", &holder, "efface delete, since 20", "--wait"]);
    let status = w.efface("status m.efface --json").done().json();
    assert_eq!((&status["records"], &status["version"]), (&300.into(), &1.into()));

    signal(&child, "-INT");
    interrupted(child);
    assert!(w.files() == before, "the folder was changed");
}

/// A first signal asks; a second one ends a program that cannot hear, here for want of input.
#[test]
fn a_second_signal_ends_at_once() {
    let w = Workshop::new();
    w.write("data.csv", table(Label::Two, 0, 50));
    w.efface("train data.csv --label y --id id --subject user -o m.efface").done();
    let mut child =
        w.heeding_signals(&["predict", "m.efface", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"id,user,x1,x2").unwrap();
    under_way(&mut child);
    signal(&child, "-INT");
    under_way(&mut child);
    signal(&child, "-INT");
    let output = end(child);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    drop(input);
}
