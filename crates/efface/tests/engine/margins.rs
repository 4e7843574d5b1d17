//! Outputs of tables in memory, which threads share, against those of the same rows in a file.

use std::fmt::Write;
use std::ops::ControlFlow;

use efface::{Linear, MemoryRows, MemoryTable, Numbers, Settings, Source, margins, train, weights};

use crate::world::World;

/// So many numbers are more than one part.
const WIDTH: usize = 40;
const ROWS: usize = 20_000;

fn numbers(rows: usize) -> Vec<f64> {
    let number = |at: usize| ((at * 7919 % 100_003) as f64 / 50_000.0 - 1.0) * (1 + at % 3) as f64;
    (0..rows * WIDTH).map(number).collect()
}

fn memory(numbers: Numbers<'_>) -> Source<'_> {
    let rows = MemoryRows::Dense { numbers, width: WIDTH as u32 };
    let none =
        MemoryTable { rows, labels: None, ids: None, subjects: None, weights: None, names: None };
    Source { memory: Some(none), ..Source::default() }
}

fn file(world: &World, name: &str, numbers: &[f64]) -> Source<'static> {
    let mut text = (0..WIDTH).map(|at| format!("x{at}")).collect::<Vec<_>>().join(",");
    for row in numbers.chunks_exact(WIDTH) {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        write!(text, "\n{}", cells.join(",")).unwrap();
    }
    let path = world.path(name);
    std::fs::write(&path, text).unwrap();
    Source { path: Some(path), ..Source::default() }
}

fn outputs(source: &Source<'_>, linear: &Linear<'_>) -> efface::Result<Vec<f64>> {
    margins(source, linear, &mut |_| ControlFlow::Continue(())).map(|(outputs, _)| outputs)
}

fn near(one: &[f64], other: &[f64]) {
    assert_eq!(one.len(), other.len());
    for (at, (a, b)) in one.iter().zip(other).enumerate() {
        assert!((a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{at}: {a} {b}");
    }
}

#[test]
fn rows_in_memory_have_the_outputs_of_those_in_a_file() {
    let world = World::new();
    let rows = numbers(ROWS);
    let table = file(&world, "rows.csv", &rows);
    let coef: Vec<f64> = (0..2 * WIDTH).map(|at| (at as f64 * 0.37).sin()).collect();
    for (row_map, row_norm) in [("clip", 9.0), ("unit", 2.0), ("refuse", 1e3)] {
        let intercept = &[0.5, -0.25];
        let linear = Linear {
            coef: &coef,
            intercept,
            row_map,
            row_norm,
            preprocessing: None,
            feature_map: None,
            trunk: None,
            network: None,
        };
        let expected = outputs(&table, &linear).unwrap();
        let doubles = outputs(&memory(Numbers::Double(&rows)), &linear).unwrap();
        near(&doubles, &expected);
        let singles: Vec<f32> = rows.iter().map(|&number| number as f32).collect();
        assert_eq!(outputs(&memory(Numbers::Single(&singles)), &linear).unwrap(), doubles);
        let some = outputs(&memory(Numbers::Double(&rows[..9 * WIDTH])), &linear).unwrap();
        assert_eq!(some, doubles[..18]);
    }
}

#[test]
fn a_row_that_cannot_be_stored_is_named() {
    let mut rows = numbers(ROWS);
    let coef = [1.0; WIDTH];
    let linear = |row_map| Linear {
        coef: &coef,
        intercept: &[0.0],
        row_map,
        row_norm: 100.0,
        preprocessing: None,
        feature_map: None,
        trunk: None,
        network: None,
    };
    let refused = |rows: &[f64], row_map| {
        outputs(&memory(Numbers::Double(rows)), &linear(row_map)).unwrap_err().to_string()
    };
    rows[19_999 * WIDTH] = f64::NAN;
    rows[12_345 * WIDTH + 3] = 1e300;
    let text = refused(&rows, "clip");
    assert!(text.contains("12345") && text.contains("x3"), "{text}");
    rows[12_345 * WIDTH + 3] = 1e4;
    let text = refused(&rows, "refuse");
    assert!(text.contains("12345") && text.contains("exceeds the bound 100"), "{text}");
    let text = refused(&rows, "clip");
    assert!(text.contains("19999"), "{text}");
    let text = refused(&rows[1..], "clip");
    assert!(text.contains("799999"), "{text}");
    let stop =
        margins(&memory(Numbers::Double(&rows)), &linear("clip"), &mut |_| ControlFlow::Break(()));
    assert!(stop.unwrap_err().to_string().contains("interrupted"));
}

#[test]
fn a_map_of_no_columns_is_refused() {
    let linear = Linear {
        coef: &[],
        intercept: &[0.0],
        row_map: "clip",
        row_norm: 1.0,
        preprocessing: None,
        feature_map: None,
        trunk: None,
        network: None,
    };
    let refused = outputs(&memory(Numbers::Double(&[])), &linear).unwrap_err();
    assert!(refused.to_string().contains("at least one number"), "{refused}");
}

#[test]
fn fitted_preprocessing_is_the_same_in_memory_and_in_a_file() {
    let world = World::new();
    let rows = numbers(ROWS);
    let mut text = (0..WIDTH).map(|at| format!("x{at},")).collect::<String>() + "y";
    for (at, row) in rows.chunks_exact(WIDTH).take(300).enumerate() {
        let cells: String = row.iter().map(|cell| format!("{cell},")).collect();
        write!(text, "\n{cells}{}", ["no", "yes"][at % 2]).unwrap();
    }
    let path = world.path("train.csv");
    std::fs::write(&path, text).unwrap();
    let source = Source { path: Some(path), label: Some("y".into()), ..Source::default() };
    let vault = world.path("model.efface");
    world.run(|s| train(&source, Settings::default(), &vault, s)).unwrap();
    let model = weights(&vault).unwrap();
    let linear = Linear {
        coef: &model.coef,
        intercept: &model.intercept,
        row_map: &model.row_map,
        row_norm: model.row_norm,
        preprocessing: model.preprocessing.as_deref(),
        feature_map: None,
        trunk: None,
        network: None,
    };
    let names: Vec<String> = (0..WIDTH).map(|at| format!("x{at}")).collect();
    let mut table = memory(Numbers::Double(&rows));
    table.memory = table.memory.map(|memory| MemoryTable { names: Some(&names), ..memory });
    let expected = outputs(&file(&world, "rows.csv", &rows), &linear).unwrap();
    assert_eq!(outputs(&table, &linear).unwrap(), expected);
}
