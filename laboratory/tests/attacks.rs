//! Attacks from outside: what they say of what is not promised, and data that do not do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;
use std::path::Path;

use efface_laboratory::attack::{Outcome, Promise, Setup, attacks};
use efface_laboratory::reproduce::{Options, run};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A folder of data sets whose a9a has these lines.
fn data(folder: &Path, name: &str, lines: impl Iterator<Item = String>) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    lines.for_each(|line| writeln!(packed, "{line}").unwrap());
    let packed = packed.finish().unwrap();
    let folder = folder.join(name).join("libsvm");
    std::fs::create_dir_all(&folder).unwrap();
    for file in ["a9a.gz", "a9a.t.gz"] {
        std::fs::write(folder.join(file), &packed).unwrap();
    }
}

/// A line of two columns and a label.
fn line(k: u32) -> String {
    format!("{} {}:1 {}:1", if k.is_multiple_of(3) { "+1" } else { "-1" }, 1 + k % 7, 8 + k % 5)
}

fn attacked(name: &str, data: Option<&Path>) -> efface::Result<Vec<Outcome>> {
    let attack = attacks().into_iter().find(|attack| attack.name == name).unwrap();
    let data = data.map(Path::to_owned);
    (attack.run)(&Setup { quick: true, seed: 1, data, stop: || false })
}

/// Nobody reads that something resists where nothing is promised, or that efface does where it is
/// another's mechanism that stands.
#[test]
fn what_is_not_promised_is_neither_kept_nor_broken() {
    let lines = attacked("counter", None).unwrap();
    let of = |name: &str| lines.iter().find(|line| line.against.contains(name)).unwrap();
    let printed = of("as printed");
    assert_eq!((printed.expected, printed.broken()), (Promise::Unbroken, Some(false)));
    assert!(printed.lower.is_some() && printed.as_expected());
    let exact = of("secret state");
    assert_eq!((exact.lower, exact.broken(), exact.as_expected()), (None, Some(false), true));

    let lines = attacked("reconstruction", None).unwrap();
    let means: Vec<_> = lines.iter().filter(|line| line.measure.contains("cosine")).collect();
    assert_eq!(means.len(), 6);
    for line in means {
        assert_eq!((line.lower, line.allowed, line.broken()), (None, None, None));
        assert_eq!(line.expected, Promise::Measured);
    }
}

#[test]
fn data_sets_that_are_too_small_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    data(folder.path(), "small", (0..100).map(line));
    let three = |k: u32| line(k).replace("+1", if k.is_multiple_of(2) { "2" } else { "1" });
    data(folder.path(), "three", (0..900).map(three));
    for (attack, needed) in [("membership", "299"), ("reconstruction", "601"), ("slow-down", "300")]
    {
        let refused = |name: &str, parts: &[&str]| {
            let error = attacked(attack, Some(&folder.path().join(name))).unwrap_err().to_string();
            assert!(parts.iter().all(|part| error.contains(part)), "{attack}: {error}");
        };
        refused("small", &["small/libsvm/a9a.gz", "got 100", needed]);
        refused("three", &["three/libsvm/a9a.gz", "two classes"]);
        refused("none", &["none/libsvm/a9a.gz"]);
    }
}

/// Experiments repeat papers on whole data sets: a part of one is refused by name.
#[test]
fn parts_of_public_data_sets_are_not_reproduced() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rows) in [("small", 100), ("empty", 0)] {
        data(folder.path(), name, (0..rows).map(line));
        let options = Options {
            names: vec!["chien2024-fig5".to_owned()],
            quick: true,
            data: Some(folder.path().join(name)),
            folder: folder.path().join("out"),
            replace: false,
            date: "2026-01-01T00:00:00Z".to_owned(),
            stop: || false,
        };
        let done = run(&options, &mut || 0.0, &mut |_| std::ops::ControlFlow::Continue(()));
        let error = done.unwrap_err().to_string();
        let file = format!("{name}/libsvm/a9a.gz");
        for part in [&file, "32561 training rows", &format!("got {rows}")] {
            assert!(error.contains(part), "{error}");
        }
    }
}
