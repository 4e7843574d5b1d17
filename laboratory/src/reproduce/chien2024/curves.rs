//! What follows from the published numbers: sums, and both bounds between and beyond them.

use efface::{Code, Error, MechanismName, Result};
use efface_privacy::accountant::descent::Descent;
use serde_json::json;

use super::published::{Case, Place};
use super::tight;
use crate::reproduce::account;
use crate::reproduce::outcome::{Outcome, Sheet, number};

pub(super) fn add(place: Place, cases: &[Case], outcome: &mut Outcome) -> Result<()> {
    match place {
        Place::Table2 | Place::Table3 => {
            let ratios = cases.iter().map(|case| case.ours[0] / case.tight);
            outcome.measure("least-ratio", ratios.clone().fold(f64::INFINITY, f64::min));
            outcome.measure("most-ratio", ratios.fold(0.0, f64::max));
            Ok(())
        }
        Place::Figure3b => sequences(cases, outcome),
        Place::Figure3c => noise_against_steps(cases, outcome),
        Place::Figure4 => groups(cases, outcome),
    }
}

/// One case of each data set, in the order they appear.
fn data(cases: &[Case]) -> Vec<&Case> {
    let mut firsts: Vec<&Case> = Vec::new();
    for case in cases {
        if firsts.iter().all(|first| first.data != case.data) {
            firsts.push(case);
        }
    }
    firsts
}

/// Steps of descent-to-delete by Theorem 3.2 for a hundred single deletions.
fn descent(case: &Case, parameters: f64) -> Result<f64> {
    let problem = Descent {
        lipschitz: case.input("lipschitz"),
        strong_convexity: case.input("strong_convexity"),
        smoothness: 1.0 / case.input("eta"),
        records: case.input("n"),
        parameters,
        epsilon: case.input("target_epsilon"),
        delta: case.input("delta"),
    };
    let refused = |error: efface_privacy::accountant::PublishedError| {
        Error::refused(Code::By(MechanismName::DescentToDelete), error.to_string())
    };
    let iterations = problem.perfect_iterations().map_err(refused)?;
    let steps = |update| Ok(problem.perfect_steps(iterations, update).map_err(refused)? as f64);
    (1..=100).map(steps).sum()
}

fn sequences(cases: &[Case], outcome: &mut Outcome) -> Result<()> {
    for first in data(cases) {
        let name = &first.data;
        let parameters = match name.as_str() {
            "MNIST" => 784.0,
            "CIFAR-10-binary" => 512.0,
            _ => 5120.0,
        };
        let total = descent(first, parameters)?;
        outcome.measure(format!("{name}-descent"), total);
        for case in cases.iter().filter(|case| case.data == *name) {
            let group = case.input("group");
            let published = case.ours.iter().sum::<f64>();
            let tight = case.ours.len() as f64 * case.tight;
            outcome.measure(format!("{name}-{group}"), published);
            outcome.measure(format!("{name}-{group}-saves"), 1.0 - published / total);
            outcome.measure(format!("{name}-{group}-tight"), tight);
        }
    }
    Ok(())
}

/// The same case with other numbers.
fn with(case: &Case, changes: &[(&str, f64)]) -> Case {
    let mut changed = case.clone();
    for (name, value) in changes {
        let value = if *name == "group" { json!(*value as u64) } else { json!(value.to_string()) };
        changed.inputs.insert((*name).to_owned(), value);
    }
    changed.inputs.remove("step_stride");
    changed
}

/// Least steps of the published bound.
fn published_steps(case: &Case) -> Result<f64> {
    let mut inputs = case.inputs.clone();
    inputs.insert("steps".to_owned(), json!(0));
    account::number("langevin", &inputs.into(), "least_steps_for_target")
}

fn noise_against_steps(cases: &[Case], outcome: &mut Outcome) -> Result<()> {
    let sigmas = [0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0];
    let columns =
        ["data", "sigma", "steps", "tight", "epsilon before forgetting", "epsilon before, tight"];
    let mut sheet = Sheet::new("noises", &columns);
    for case in data(cases) {
        let name = &case.data;
        for (place, sigma) in sigmas.into_iter().enumerate() {
            let case = with(case, &[("sigma", sigma)]);
            let steps = published_steps(&case)?;
            let tight = tight::steps(&case.inputs, 1)? as f64;
            // What the first model's noise promises the batch: no step after the request.
            let mut inputs = case.inputs.clone();
            inputs.insert("steps".to_owned(), json!(0));
            let before = account::number("langevin", &inputs.into(), "epsilon_at_steps")?;
            let sharp = tight::epsilon(&case.inputs, sigma, &[0])?;
            let cells = [sigma, steps, tight, before, sharp].map(number);
            sheet.row(std::iter::once(name.clone()).chain(cells));
            outcome.measure(format!("{name}-{sigma}-epsilon0"), before);
            if place == 0 {
                outcome.measure(format!("{name}-most-steps"), steps);
                outcome.measure(format!("{name}-tight-most-steps"), tight);
            }
        }
    }
    outcome.sheets.push(sheet);
    Ok(())
}

fn groups(cases: &[Case], outcome: &mut Outcome) -> Result<()> {
    let sizes = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0];
    let mut sheet = Sheet::new("groups", &["epsilon", "S", "steps", "tight"]);
    let mut targets: Vec<f64> = cases.iter().map(|case| case.input("target_epsilon")).collect();
    targets.sort_by(f64::total_cmp);
    targets.dedup();
    for target in targets {
        for size in sizes {
            let case = with(&cases[0], &[("group", size), ("target_epsilon", target)]);
            let (steps, tight) = (published_steps(&case)?, tight::steps(&case.inputs, 1)? as f64);
            sheet.row([target, size, steps, tight].map(number));
            // That of the largest group stays.
            outcome.measure(format!("most-steps-{target}"), steps);
            outcome.measure(format!("tight-steps-{target}"), tight);
        }
    }
    outcome.sheets.push(sheet);
    Ok(())
}
