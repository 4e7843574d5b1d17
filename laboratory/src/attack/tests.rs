//! Every attack succeeds where it must and fails where it must.
//!
//! Seeds are fixed. A line about a mechanism that keeps its promise fails by chance with probability
//! at most 1e-8 over the choice of the seed.

use super::{Promise, Setup, attacks};

fn quick() -> Setup {
    Setup { quick: true, seed: 1, data: None, stop: || false }
}

fn check(name: &str) {
    let attack = attacks().into_iter().find(|attack| attack.name == name).unwrap();
    let outcomes = (attack.run)(&quick()).unwrap();
    let shown: Vec<String> = outcomes.iter().map(|o| format!("{o:?}")).collect();
    let shown = shown.join("\n");
    assert!(outcomes.iter().all(super::Outcome::as_expected), "{shown}");
    assert!(outcomes.iter().any(|o| o.expected == Promise::Broken), "no target:\n{shown}");
    assert!(outcomes.iter().any(|o| o.expected == Promise::Kept), "nothing resists:\n{shown}");
    // A promise that allows everything would resist everything.
    assert!(
        outcomes.iter().all(|o| o.measure != "advantage" || o.allowed < Some(0.95)),
        "a promise is empty:\n{shown}"
    );
    if std::env::var_os("EFFACE_SHOW").is_some() {
        std::fs::write(std::env::temp_dir().join(format!("attack-{name}")), shown).unwrap();
    }
}

#[test]
fn sum() {
    check("sum");
}

#[test]
fn median() {
    check("median");
}

#[test]
fn counter() {
    check("counter");
}

#[test]
fn coin() {
    check("coin");
}

#[test]
fn perturbation() {
    check("perturbation");
}

#[test]
fn softmax_clipping() {
    check("softmax-clipping");
}

#[test]
fn sisa() {
    check("sisa");
}

#[test]
fn membership() {
    check("membership");
}

#[test]
fn one_run() {
    check("one-run");
}

#[test]
fn kept() {
    check("kept");
}

#[test]
fn reconstruction() {
    check("reconstruction");
}

#[test]
fn slow_down() {
    check("slow-down");
}
