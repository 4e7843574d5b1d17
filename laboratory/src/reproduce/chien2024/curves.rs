//! The figures of the published numbers, with the sharper bound in each.

use efface::{Code, Error, MechanismName, Result};
use efface_privacy::accountant::descent::Descent;
use serde_json::json;

use super::published::{Case, Place};
use super::tight;
use crate::reproduce::account;
use crate::reproduce::outcome::Outcome;
use efface_page::figure::{Axis, Figure, Panel, Series};

pub(super) fn add(place: Place, cases: &[Case], outcome: &mut Outcome) -> Result<()> {
    match place {
        Place::Table2 => noises(cases, outcome, "Noise of descent-to-delete for one deletion"),
        Place::Table3 => noises(cases, outcome, "Noise with which one noisy step forgets a record"),
        Place::Figure3b => sequences(cases, outcome),
        Place::Figure3c => noise_against_steps(cases, outcome),
        Place::Figure4 => groups(cases, outcome),
    }
}

/// The data sets in the order they appear.
fn data(cases: &[Case]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for case in cases {
        if !names.contains(&case.data.as_str()) {
            names.push(&case.data);
        }
    }
    names
}

/// Values that differ, in the order they appear.
fn distinct(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for value in values.filter(|value| !value.is_nan()) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

fn noises(cases: &[Case], outcome: &mut Outcome, title: &str) -> Result<()> {
    let epsilon = |case: &Case| {
        let epsilon = case.input("epsilon");
        if epsilon.is_nan() { case.input("target_epsilon") } else { epsilon }
    };
    let panels = data(cases).into_iter().map(|name| {
        let here: Vec<&Case> = cases.iter().filter(|case| case.data == name).collect();
        let steps = distinct(here.iter().map(|case| case.input("iterations")));
        let steps = if steps.is_empty() { vec![f64::NAN] } else { steps };
        let series = steps.into_iter().enumerate().flat_map(|(place, count)| {
            let of: Vec<&Case> = here
                .iter()
                .filter(|case| count.is_nan() || case.input("iterations") == count)
                .copied()
                .collect();
            let line =
                |value: fn(&Case) -> f64| of.iter().map(|c| (epsilon(c), value(c))).collect();
            let steps = if count.is_nan() { "K = 1".to_owned() } else { format!("I = {count}") };
            [
                Series::new(format!("published, {steps}"), place, line(|c| c.paper[0])).dashed(),
                Series::new(format!("tight, {steps}"), place, line(|c| c.tight)),
            ]
        });
        Panel::new(name, Axis::log("epsilon"), Axis::log("sigma"))
            .with_all(series.collect::<Vec<_>>())
    });
    outcome.draw("", &Figure::new(format!("{title}, delta = 1/n"), panels.collect()));
    let ratios = cases.iter().map(|case| case.ours[0] / case.tight);
    outcome.measure("least-ratio", ratios.clone().fold(f64::INFINITY, f64::min));
    outcome.measure("most-ratio", ratios.fold(0.0, f64::max));
    Ok(())
}

/// Steps of descent-to-delete by Theorem 3.2 for a hundred single deletions, summed as they come.
fn descent(case: &Case, parameters: f64) -> Result<Vec<f64>> {
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
    let mut sum = 0.0;
    (1..=100)
        .map(|update| {
            sum += problem.perfect_steps(iterations, update).map_err(refused)? as f64;
            Ok(sum)
        })
        .collect()
}

fn sequences(cases: &[Case], outcome: &mut Outcome) -> Result<()> {
    let mut panels = Vec::new();
    for name in data(cases) {
        let here: Vec<&Case> = cases.iter().filter(|case| case.data == name).collect();
        let mut panel = Panel::new(
            name,
            Axis::linear("records forgotten").from(0.0, 100.0),
            Axis::log("steps so far"),
        );
        let parameters = match name {
            "MNIST" => 784.0,
            "CIFAR-10-binary" => 512.0,
            _ => 5120.0,
        };
        let steps = descent(here[0], parameters)?;
        let total = steps[99];
        outcome.measure(format!("{name}-descent"), total);
        let each_ten = steps.iter().enumerate().skip(9).step_by(10);
        let points = each_ten.map(|(index, sum)| (index as f64 + 1.0, *sum)).collect();
        panel = panel.with(Series::new("descent-to-delete, published", 6, points).dashed());
        for (place, case) in here.iter().enumerate() {
            let group = case.input("group");
            let mut sum = 0.0;
            let published = case.ours.iter().enumerate().map(|(index, steps)| {
                sum += steps;
                ((index + 1) as f64 * group, sum)
            });
            let label = format!("Langevin, S = {group}");
            panel = panel.with(
                Series::new(format!("{label}, published"), place, published.collect()).dashed(),
            );
            let count = case.ours.len();
            let tight = (1..=count).map(|k| (k as f64 * group, k as f64 * case.tight)).collect();
            panel = panel.with(Series::new(format!("{label}, tight"), place, tight));
            let sums = (case.ours.iter().sum::<f64>(), count as f64 * case.tight);
            outcome.measure(format!("{name}-{group}"), sums.0);
            outcome.measure(format!("{name}-{group}-saves"), 1.0 - sums.0 / total);
            outcome.measure(format!("{name}-{group}-tight"), sums.1);
        }
        panels.push(panel);
    }
    let title =
        "Steps to forget 100 records in batches of S: epsilon = 1, delta = 1/n, sigma = 0.03";
    outcome.draw("", &Figure::new(title, panels).sized(360, 360));
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
    let (mut steps, mut first) = (Vec::new(), Vec::new());
    for name in data(cases) {
        let Some(case) = cases.iter().find(|case| case.data == name) else { continue };
        let (mut published, mut tight, mut learnt, mut sharp) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for sigma in sigmas {
            let case = with(case, &[("sigma", sigma)]);
            published.push((sigma, published_steps(&case)?));
            tight.push((sigma, tight::steps(&case.inputs, 1)? as f64));
            // What the first model's noise promises the batch: no step after the request.
            let mut inputs = case.inputs.clone();
            inputs.insert("steps".to_owned(), json!(0));
            let before = account::number("langevin", &inputs.into(), "epsilon_at_steps")?;
            learnt.push((sigma, before));
            sharp.push((sigma, tight::epsilon(&case.inputs, sigma, &[0])?));
            outcome.measure(format!("{name}-{sigma}-epsilon0"), before);
        }
        outcome.measure(format!("{name}-most-steps"), published[0].1);
        outcome.measure(format!("{name}-tight-most-steps"), tight[0].1);
        let shown: Vec<_> = cases
            .iter()
            .filter(|case| case.data == name)
            .map(|case| (case.input("sigma"), case.paper[0]))
            .collect();
        let axes = || Axis::log("sigma");
        steps.push(
            Panel::new(name, axes(), Axis::log("steps"))
                .with(Series::new("published bound", 0, published).dashed().plain())
                .with(Series::new("the paper's numbers", 0, shown).scattered())
                .with(Series::new("tight bound", 1, tight).plain()),
        );
        first.push(
            Panel::new(name, axes(), Axis::log("epsilon before forgetting"))
                .with(Series::new("published bound", 0, learnt).dashed().plain())
                .with(Series::new("tight bound", 1, sharp).plain()),
        );
    }
    let title = "Steps to forget 100 records at once with epsilon = 1 (above), and the epsilon that the \
                 noise of learning alone gives them (below)";
    let columns = steps.len();
    steps.extend(first);
    outcome.draw("", &Figure::new(title, steps).in_columns(columns).sized(360, 290));
    Ok(())
}

fn groups(cases: &[Case], outcome: &mut Outcome) -> Result<()> {
    let sizes = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0];
    let mut panels = [
        Panel::new("published bound", Axis::linear("records at once"), Axis::linear("steps")),
        Panel::new("tight bound", Axis::linear("records at once"), Axis::linear("steps")),
    ];
    let targets = distinct(cases.iter().map(|case| case.input("target_epsilon")));
    for (place, target) in targets.into_iter().enumerate() {
        let (mut published, mut tight) = (Vec::new(), Vec::new());
        for size in sizes {
            let case = with(&cases[0], &[("group", size), ("target_epsilon", target)]);
            published.push((size, published_steps(&case)?));
            tight.push((size, tight::steps(&case.inputs, 1)? as f64));
        }
        outcome.measure(format!("most-steps-{target}"), published[sizes.len() - 1].1);
        outcome.measure(format!("tight-steps-{target}"), tight[sizes.len() - 1].1);
        let name = format!("epsilon = {target}");
        let [left, right] = panels;
        let marks = cases
            .iter()
            .filter(|case| case.input("target_epsilon") == target)
            .map(|case| (case.input("group"), case.paper[0]))
            .collect();
        panels = [
            left.with(Series::new(&*name, place, published).plain()).with(
                Series::new(format!("{name}, the paper's numbers"), place, marks).scattered(),
            ),
            right.with(Series::new(name, place, tight).plain()),
        ];
    }
    let title = "MNIST 3 versus 8: steps to forget S records at once, sigma = 0.03, delta = 1/n";
    outcome.draw("", &Figure::new(title, panels.into()));
    Ok(())
}
