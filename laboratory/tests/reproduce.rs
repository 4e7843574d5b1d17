//! Experiments from outside: everything runs, and `laboratory/reproductions.md` says what comes out.
//!
//! The rows of experiments without data are held against the code; the others too, if
//! `EFFACE_REPRODUCED` names the folder of a full run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use efface::Code;
use efface_laboratory::reproduce::{Done, Options, experiments, run};

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn options(folder: &Path) -> Options {
    Options {
        names: Vec::new(),
        quick: false,
        data: None,
        folder: folder.to_owned(),
        replace: false,
        date: "2026-01-01T00:00:00Z".to_owned(),
        stop: || false,
    }
}

fn ran(options: &Options) -> efface::Result<Vec<Done>> {
    run(options, &mut || 0.0, &mut |_| ControlFlow::Continue(()))
}

/// Names of experiments that read no data.
fn accounting() -> Vec<String> {
    let all = experiments().unwrap();
    all.into_iter().filter(|e| e.data_names().is_empty()).map(|e| e.name).collect()
}

#[test]
fn everything_runs_quickly_on_real_data() {
    let Some(data) = std::env::var_os("EFFACE_DATA") else {
        // Written directly: the harness shows what passing tests print only if asked.
        let _ = std::io::stderr()
            .write_all(b"SKIPPED everything_runs_quickly_on_real_data: EFFACE_DATA is not set\n");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { quick: true, data: Some(data.into()), ..options(&folder.path().join("out")) };
    let done = ran(&options).unwrap();
    assert_eq!(done.len(), experiments().unwrap().len());
    let page = fs::read_to_string(options.folder.join("index.html")).unwrap();
    for one in &done {
        assert!(page.contains(&format!("<h2 id=\"{}\">", one.name)), "{}", one.name);
        // What these claim on few rows follows from their noise, not from what is learnt.
        if ["guo2020-fig5", "koloskova2025-start"].contains(&one.name.as_str()) {
            assert!(one.lines.len() == 2 && one.lines.iter().all(|line| line.agrees), "{one:?}");
        }
    }
    for entry in fs::read_dir(&options.folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.is_empty(), "{}", path.display());
    }
}

#[test]
fn accounting_needs_no_data_and_explains_its_differences() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { names: accounting(), ..options(folder.path()) };
    for one in ran(&options).unwrap() {
        for line in one.lines.iter().filter(|line| !line.agrees) {
            assert!(!line.why.is_empty(), "{}: {}", one.name, line.says);
        }
        assert!(one.provenance.line().contains("data: none"), "{}", one.name);
    }
}

/// The page of an earlier run is replaced where that is asked for, anything else of that name never.
#[test]
fn pages_of_others_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("index.html");
    let options = Options { names: vec!["chien2024-table1".into()], ..options(folder.path()) };
    ran(&options).unwrap();
    let refused = ran(&options).unwrap_err();
    assert_eq!((refused.code(), refused.kind()), (Code::Exists, efface::Kind::Input), "{refused}");
    let options = Options { replace: true, ..options };
    ran(&options).unwrap();
    fs::write(&page, "<html>my own</html>").unwrap();
    let refused = ran(&options).unwrap_err();
    assert!(refused.message().contains("index.html` was not written by"), "{refused}");
    assert_eq!(fs::read_to_string(&page).unwrap(), "<html>my own</html>");
}

/// What was cut short is not written, even if its parts took the cut for a result.
#[test]
fn nothing_is_written_of_an_experiment_that_was_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let names = vec!["chien2024-table1".into()];
    let told = ran(&Options { names, stop: || true, ..options(folder.path()) }).unwrap_err();
    assert_eq!(told.kind(), efface::Kind::Interrupted);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_is_missing_is_refused_before_anything_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let refused = ran(&options(&out)).unwrap_err();
    assert!(refused.message().contains("no folder of data sets is named"), "{refused}");
    let unknown = Options { names: vec!["fig9".into()], ..options(&out) };
    assert!(ran(&unknown).unwrap_err().message().ends_with("got `fig9`"));
    assert!(!out.exists());
    let stopped = Options { names: vec!["khi2024".into()], ..options(&out) };
    let stopped = run(&stopped, &mut || 0.0, &mut |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!(stopped.kind(), efface::Kind::Interrupted);
}

/// The row of an experiment states how many statements agree, and each number that differs.
#[test]
fn the_page_holds_these_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    ran(&Options { names: accounting(), ..options(folder.path()) }).unwrap();
    let measured = std::env::var_os("EFFACE_REPRODUCED").map(PathBuf::from);
    let page = fs::read_to_string(root("laboratory/reproductions.md")).unwrap();
    for experiment in experiments().unwrap() {
        let name = &experiment.name;
        let begin = format!("| `{name}` |");
        let mut rows = page.lines().filter(|line| line.starts_with(&begin));
        let row = rows.next().unwrap_or_else(|| panic!("the page has no row for `{name}`"));
        assert!(rows.next().is_none(), "the page has two rows for `{name}`");
        let from = match (experiment.data_names().is_empty(), &measured) {
            (true, _) => folder.path(),
            (false, Some(folder)) => folder,
            (false, None) => continue,
        };
        // Statement, the paper's number, the number here, the verdict, an explanation.
        let table = fs::read_to_string(from.join(format!("{name}.md"))).unwrap();
        let lines: Vec<Vec<&str>> =
            table.lines().skip(2).map(|line| line.split(" | ").collect()).collect();
        let agree = lines.iter().filter(|cells| cells[3] == "agrees").count();
        let verdict = format!("| {agree} of {} |", lines.len());
        assert!(row.contains(&verdict), "`{name}` should say `{verdict}`: {row}");
        for cells in lines.iter().filter(|cells| cells[3] == "differs") {
            assert!(row.contains(cells[2]), "`{name}` should say `{}`: {row}", cells[2]);
        }
    }
}
