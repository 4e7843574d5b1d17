//! Rows that are read again for every pass hold no more bytes than allowed, and notice changes.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use efface_learn::{Objective, Refusal, Streamed};
use efface_matrix::Matrix;
use efface_vault::{Genesis, Keyring, Vault};

use super::*;
use crate::plan::shape::Shape;
use crate::plan::{Plan, ValidatedSettings};
use crate::settings::Settings;
use crate::table::facts_of_parts;

const ROWS: usize = 6000;
const COLUMNS: usize = 40;

fn plan() -> Plan {
    plan_of(ROWS)
}

fn plan_of(records: usize) -> Plan {
    plan_by(records, (COLUMNS, 2), Settings::default())
}

/// Plans a model for `records` records of so many columns and classes.
fn plan_by(records: usize, (columns, classes): (usize, usize), settings: Settings) -> Plan {
    let shape = Shape {
        records: records as u64,
        parts: 1,
        features: columns as u32 - 1,
        names: None,
        classes: (0..classes).map(|class| class.to_string()).collect(),
        classes_given: true,
        ids: false,
        subjects: false,
        people: None,
        weights: None,
    };
    let choices = ValidatedSettings::new(settings).unwrap();
    let mut plan = Plan::resolve(&choices, &facts_of_parts(&shape, &choices).unwrap()).unwrap();
    plan.in_parts = false;
    plan
}

fn data() -> Dataset {
    let (mut x, mut y) = (Matrix::dense(COLUMNS), Vec::new());
    for row in 0..ROWS {
        let mut values = vec![(row as f32 * 0.37).sin() / 10.0; COLUMNS];
        values[row % (COLUMNS - 1)] = (row as f32).cos() / 3.0;
        values[COLUMNS - 1] = 1.0;
        x.push(efface_matrix::Row::Dense(&values)).unwrap();
        y.push((row % 2) as f64);
    }
    Dataset::new(x, y).unwrap()
}

/// Returns the same plan for sparse rows, with more rows, since longer chunks of these are summed together.
fn sparse() -> (Plan, Dataset) {
    let mut plan = plan_of(12 * ROWS);
    plan.rows.sparse = true;
    let mut data = Dataset::new(Matrix::sparse(COLUMNS), Vec::new()).unwrap();
    for row in 0..12 * ROWS {
        let indices = [row as u32 % (COLUMNS as u32 - 1), COLUMNS as u32 - 1];
        let row = efface_matrix::Row::Sparse { indices: &indices, values: &[0.3, 1.0] };
        data.push(row, (indices[0] % 2).into()).unwrap();
    }
    (plan, data)
}

/// Runs `with` on dense and sparse rows, each in a vault and with a limit that makes windows of them.
fn both(with: impl Fn(&Vault, &Plan, MemoryBudget, usize)) {
    for (plan, data, little) in [
        (plan(), data(), ROWS * 4 * COLUMNS * 3 / 4),
        (sparse().0, sparse().1, 12 * ROWS * (48 + 24) * 4 / 5),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path(), &plan, &data);
        with(&vault, &plan, MemoryBudget::for_rows(little), data.rows());
    }
}

/// Conjugate gradients form a block for each class, whose memory rows may not use.
#[test]
fn blocks_of_classes_count_against_the_limit() {
    let left = |solver: &str| {
        let settings = Settings {
            loss: Some("softmax".into()),
            lambda: Some(1e-4),
            solver: Some(solver.into()),
            ..Settings::default()
        };
        MemoryBudget::of(1 << 30).unwrap().for_rows_of(&plan_by(ROWS, (785, 10), settings))
    };
    assert_eq!(left("lbfgs") - left("newton-cg"), 785 * 785 * 8 * (2 * 10 + 6));
    assert_eq!(left("automatic"), left("newton-cg"));
}

/// Creates a vault of these rows.
fn vault(folder: &std::path::Path, plan: &Plan, rows: &Dataset) -> Vault {
    let keyring = Keyring::create(&folder.join("keys").join("key.toml"), &[7; 32], &[9; 32]);
    let keyring = keyring.unwrap();
    let genesis = Genesis {
        vault_id: "stream".into(),
        created_at: "2030-01-02T03:04:05Z".into(),
        config_json: "{}".into(),
        public_key: keyring.public_key(),
        block_rows: block_rows(plan),
    };
    let mut creation = Vault::create(&folder.join("model"), &genesis, &keyring).unwrap();
    let positions = (0..rows.rows() as u64).collect();
    let names = Names { positions, ids: None, subjects: None };
    let nobody = ResidueCheck::default();
    let mut stored = InVault::of(Access::Changing(&mut creation), plan, &nobody);
    stored.insert(&Batch { data: rows, names: &names, raw: None }, 1).unwrap();
    drop(stored);
    let mut vault = creation.commit().unwrap();
    vault.unlock(&keyring).unwrap();
    vault
}

/// Returns the most bytes held while windows are shown, and the number of windows.
fn watched(rows: &InVault<'_, '_>, lengths: &[usize]) -> (usize, usize) {
    let gauge = &rows.windows().unwrap().unwrap().gauge;
    let (mut most, mut windows) = (0, 0);
    rows.pass(lengths, &mut |_| {
        most = most.max(gauge.held());
        windows += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(gauge.held(), 0);
    (most, windows)
}

#[test]
fn no_more_bytes_are_held_than_allowed() {
    both(|vault, plan, memory, count| {
        let rows = InVault::at_rest(vault, plan).within(Some(memory));
        assert!(rows.is_streamed().unwrap());
        let most = rows.window();
        assert!(most > 800 && 4 * most < count, "{most}");
        let lengths: Vec<usize> =
            (0..count).step_by(most).map(|first| most.min(count - first)).collect();
        let (held, windows) = watched(&rows, &lengths);
        assert_eq!(windows, lengths.len());
        // Bytes of an encoded window: values and norms, and columns if rows are sparse.
        let numbers = most * if plan.rows.sparse { 3 * 8 + 2 * 8 } else { 4 * COLUMNS + 3 * 8 };
        let allowed = rows.windows().unwrap().unwrap().gauge.most();
        assert!(held >= numbers && held <= allowed, "{held} of {allowed}");
        // A thread that sums reads nothing meanwhile.
        let path = vault.path().to_owned();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| {
            let vault = Vault::open_read_only(&path).unwrap();
            let rows = InVault::at_rest(&vault, plan).within(Some(memory));
            let (held, windows) = watched(&rows, &lengths);
            assert_eq!(windows, lengths.len());
            // While a window is summed, at least that window is held, encoded.
            assert!(held >= numbers, "{held}");
        });
    });
}

#[test]
fn sums_are_those_of_rows_in_memory_and_more_rows_are_not_held() {
    let (folder, plan, data) = (tempfile::tempdir().unwrap(), plan(), data());
    let vault = vault(folder.path(), &plan, &data);
    let constants = plan.constants().unwrap();
    let weights: Vec<f64> = (0..COLUMNS).map(|j| (j as f64).sin()).collect();
    let whole = InVault::at_rest(&vault, &plan);
    assert!(whole.streamed().unwrap().is_none());
    let whole = Objective::new(&constants, whole.data().unwrap()).unwrap().evaluate(&weights);
    let little = MemoryBudget::for_rows(ROWS * 4 * COLUMNS * 3 / 4);
    let rows = InVault::at_rest(&vault, &plan).within(Some(little));
    let streamed = Objective::streamed(&constants, rows.streamed().unwrap().unwrap()).unwrap();
    assert_eq!(streamed.evaluate(&weights), whole);
    let refused = rows.data().unwrap_err();
    assert_eq!(refused.code(), Code::Memory);
    assert!(refused.message().contains("6000 rows in memory"), "{}", refused.message());
    // All rows fit in twice that.
    let enough = MemoryBudget::for_rows(ROWS * 4 * COLUMNS * 2);
    let rows = InVault::at_rest(&vault, &plan).within(Some(enough));
    assert!(rows.streamed().unwrap().is_none() && rows.data().is_ok());
    // A few rows must fit.
    let nothing = InVault::at_rest(&vault, &plan).within(Some(MemoryBudget::for_rows(1000)));
    let refused = nothing.streamed().unwrap_err();
    assert_eq!(refused.code(), Code::Memory);
    assert!(refused.what_to_do().unwrap().contains("at least"));
}

#[test]
fn a_pass_ends_at_the_block_after_which_it_is_told_to() {
    let (folder, plan, data) = (tempfile::tempdir().unwrap(), plan(), data());
    let vault = vault(folder.path(), &plan, &data);
    let block = u64::from(block_rows(&plan));
    assert!(3 * block < ROWS as u64);
    let little = MemoryBudget::for_rows(ROWS * 4 * COLUMNS * 3 / 4);
    let (told, last) = (RefCell::new(Vec::new()), Cell::new(2 * block));
    let on_block = |rows: u64| {
        told.borrow_mut().push(rows);
        if rows < last.get() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let rows = InVault::at_rest(&vault, &plan).within(Some(little)).watched_by(Some(&on_block));
    let window = rows.window();
    let lengths: Vec<usize> =
        (0..ROWS).step_by(window).map(|first| window.min(ROWS - first)).collect();
    let ended = rows.pass(&lengths, &mut |_| Ok(()));
    assert!(ended.is_err());
    assert_eq!(rows.failure().unwrap().code(), Code::Interrupted);
    assert_eq!(told.take(), [block, 2 * block]);
    // If told to continue, the pass is complete.
    last.set(u64::MAX);
    rows.pass(&lengths, &mut |_| Ok(())).unwrap();
    assert_eq!(told.take().last(), Some(&(ROWS as u64)));
}

#[test]
fn windows_of_other_rows_than_there_are_end_the_pass() {
    both(|vault, plan, little, count| {
        let rows = InVault::at_rest(vault, plan).within(Some(little));
        let most = rows.window();
        assert!(4 * most < count, "{most}");
        let whole = vec![most; count / most];
        let rest = count % most;
        for wrong in [&[most, most][..], &whole, &[&whole[..], &[rest + 1]].concat()] {
            let ended = rows.pass(wrong, &mut |_| Ok(()));
            assert!(ended.is_err());
            assert_eq!(rows.failure().unwrap().code(), Code::Damaged);
        }
        rows.pass(&[&whole[..], &[rest]].concat(), &mut |_| Ok(())).unwrap();
        // Refusals of the sums are passed on unchanged.
        let ended = rows.pass(&whole, &mut |_| Err(Refusal::new("enough")));
        assert_eq!(ended, Err(Refusal::new("enough")));
        assert!(rows.failure().is_none());
    });
}

/// Rows that an index did not lead to are found by their names, in the first pass over them.
#[test]
fn rows_that_should_have_left_end_the_pass_as_damage() {
    both(|vault, plan, little, count| {
        let constants = plan.constants().unwrap();
        let ends = |name: String| {
            let leaving = ResidueCheck::ids([name], 2);
            let rows = InVault::of(Access::Reading(vault), plan, &leaving).within(Some(little));
            let streamed = rows.streamed().unwrap().unwrap();
            let streamed = Objective::streamed(&constants, streamed).unwrap();
            let ended = streamed.evaluate(&[0.0; COLUMNS]).map(drop);
            (ended, rows.failure().map(|error| error.code()))
        };
        let (ended, code) = ends(crate::row_id(4321));
        assert!(ended.is_err());
        assert_eq!(code, Some(Code::Damaged));
        assert_eq!(ends(crate::row_id(count as u64)), (Ok(()), None));
    });
}

#[test]
fn a_damaged_block_ends_the_pass_as_damage() {
    let (folder, plan, data) = (tempfile::tempdir().unwrap(), plan(), data());
    drop(vault(folder.path(), &plan, &data));
    let path = folder.path().join("model");
    let change = rusqlite::Connection::open(&path).unwrap();
    let sql = "UPDATE content SET features = zeroblob(length(features)) WHERE first = \
               (SELECT max(first) FROM block)";
    assert_eq!(change.execute(sql, []).unwrap(), 1);
    drop(change);
    let keyring = Keyring::load(&folder.path().join("keys").join("key.toml")).unwrap();
    let mut vault = Vault::open_read_only(&path).unwrap();
    vault.unlock(&keyring).unwrap();
    let little = MemoryBudget::for_rows(ROWS * 4 * COLUMNS * 3 / 4);
    let rows = InVault::at_rest(&vault, &plan).within(Some(little));
    let constants = plan.constants().unwrap();
    let streamed = Objective::streamed(&constants, rows.streamed().unwrap().unwrap()).unwrap();
    assert!(streamed.evaluate(&[0.0; COLUMNS]).is_err());
    assert_eq!(rows.failure().unwrap().code(), Code::Damaged);
}
