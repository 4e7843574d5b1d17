//! Slow-down poisoning (Marchant, Rubinstein, Alfeld 2022): records crafted so that deleting them is
//! dear.
//!
//! The adversary has thirty directions of her own, with two equal rows in each whose labels differ, and
//! deletes one of each. The model has no other reason to lean either way, so that taking one out moves it far
//! where the other one is, which is what the published bound on a removal's residual grows with; objective
//! perturbation trains anew each time its budget is spent. Thirty honest records are the comparison.

use efface::Result;
use efface_learn::mechanism::{Kept, newton};
use efface_learn::solver::{Solver, Stopping, most_work, unwatched};
use efface_learn::{Constants, Dataset, Loss, Objective};
use efface_privacy::event::State;

use super::pool::Pool;
use super::{Attack, Outcome, Setup, noisy_gd};
use crate::perturbation::{Plan, request, train};
use crate::trial::engine::{constants, dataset, output_noise};
use crate::trial::{Engine, failed};

pub(super) const ATTACK: Attack = Attack {
    name: "slow-down",
    target: "objective perturbation, whose residual budget the deleted records spend",
    adversary: "owns a fifth of the records, crafts them, and asks for half of them to be deleted, one by one",
    reason: "the bound on a removal's residual grows with how far the removal moves the model",
    source: "Marchant, Rubinstein, Alfeld 2022",
    run,
};

const RECORDS: usize = 300;
/// Records that are deleted, one by one.
const DELETED: usize = 30;
const TAU: f64 = 1e-4;

/// Rows in order; the first [`DELETED`] go.
struct Rows {
    cols: usize,
    rows: Vec<(Vec<f32>, f64)>,
}

impl Rows {
    fn from(&self, first: usize) -> Result<Dataset> {
        dataset(self.cols, self.rows[first..].iter().map(|(x, y)| (x.as_slice(), *y)))
    }

    fn one(&self, place: usize) -> Result<Dataset> {
        let (x, y) = &self.rows[place];
        dataset(self.cols, [(x.as_slice(), *y)])
    }
}

fn run(setup: &Setup) -> Result<Vec<Outcome>> {
    let pool = Pool::of(setup, RECORDS)?;
    let mut rng = setup.generator(0, false);
    let cols = pool.cols() + DELETED;
    let honest: Vec<(Vec<f32>, f64)> = pool
        .draw(RECORDS, &mut rng)
        .into_iter()
        .map(|place| {
            let (row, label) = pool.record(place);
            (row.iter().copied().chain([0.0; DELETED]).collect(), label)
        })
        .collect();
    let mut crafted = honest.clone();
    for (place, (row, label)) in crafted[..2 * DELETED].iter_mut().enumerate() {
        row.fill(0.0);
        row[pool.cols() + place % DELETED] = 1.0;
        *label = f64::from(u8::from(place < DELETED));
    }
    let (honest, crafted) = (Rows { cols, rows: honest }, Rows { cols, rows: crafted });
    let constants = constants(Loss::Logistic, cols, 0.003, RECORDS as u64)?;

    let runs = setup.trials(50);
    let anew = |rows: &Rows| perturbed(&constants, rows, runs, setup);
    let (plain, under) = (anew(&honest)?, anew(&crafted)?);
    let line = |against: &str, measured: f64, allowed: f64, promise: String| {
        let against = format!("{}: {against}", pool.name);
        let measure = "passes for 30 deletions";
        Outcome::certain(&against, measure, measured, allowed).by(promise)
    };
    // Means over runs with fresh noise.
    let mean = |outcome: Outcome| Outcome { trials: runs, ..outcome.must_break() };
    let mut outcomes = vec![
        mean(
            Outcome::certain(
                &format!("{}: objective perturbation", pool.name),
                "mean of trainings anew in 30 deletions",
                under.anew as f64 / runs as f64,
                plain.anew as f64 / runs as f64,
            )
            .by("as many as for honest records"),
        ),
        mean(Outcome {
            measure: "mean of passes for 30 deletions".into(),
            ..line(
                "objective perturbation",
                under.passes as f64 / runs as f64,
                plain.passes as f64 / runs as f64,
                "as many as for honest records".into(),
            )
        }),
    ];
    let steps = noisy_gd(&constants, 0.05, (100, 20))?;
    let (plain, under) = (served(&steps, &honest, setup)?, served(&steps, &crafted, setup)?);
    outcomes.push(line(
        steps.name(),
        under as f64,
        plain as f64,
        "K = 20 a request whatever the records: as for honest ones".into(),
    ));
    let solve = Engine::solve(&constants, 0.5, TAU)?;
    let (plain, under) = (served(&solve, &honest, setup)?, served(&solve, &crafted, setup)?);
    let most = |start: f64| {
        let stopping = Stopping { distance: TAU };
        most_work(&constants, Solver::Newton, stopping, start).passes * DELETED as u64
    };
    let cap = most(constants.optimum_bound());
    outcomes.push(line(
        solve.name(),
        under as f64,
        cap as f64,
        format!("the public cap; honest records take {plain}"),
    ));
    let (plain, under) =
        (remembered(&constants, &honest, setup)?, remembered(&constants, &crafted, setup)?);
    outcomes.push(line(
        "efface `solve`, secret state with a Newton memory",
        under as f64,
        cap as f64,
        format!("the public cap; honest records take {plain}"),
    ));
    Ok(outcomes)
}

/// What the deletions of some runs cost together.
struct Cost {
    passes: u64,
    anew: u64,
}

/// By objective perturbation, as published.
fn perturbed(constants: &Constants, rows: &Rows, runs: u64, setup: &Setup) -> Result<Cost> {
    // sigma epsilon/c with sigma = 10, epsilon = 1, delta = 1e-4.
    let budget = 10.0 / (2.0 * (1.5e4_f64).ln()).sqrt();
    let plan = Plan::new(constants, 10.0, budget, 1e-8, Solver::Newton)?;
    let mut cost = Cost { passes: 0, anew: 0 };
    for run in 0..runs {
        life(constants, rows, &plan, run, setup, &mut cost)?;
    }
    Ok(cost)
}

/// One training and its thirty deletions.
fn life(
    constants: &Constants,
    rows: &Rows,
    plan: &Plan,
    run: u64,
    setup: &Setup,
    cost: &mut Cost,
) -> Result<()> {
    let rng = &mut setup.generator(10 + run, false);
    let none = dataset(rows.cols, [])?;
    let all = rows.from(0)?;
    let objective = Objective::new(constants, &all).map_err(failed)?;
    let mut now = train(&objective, plan, rng, &mut unwatched)?;
    for gone in 1..=DELETED {
        setup.go_on()?;
        let (rest, removed) = (rows.from(gone)?, rows.one(gone - 1)?);
        let objective = Objective::new(constants, &rest).map_err(failed)?;
        let next = request(&objective, plan, &now, (&removed, &none), rng, &mut unwatched)?;
        cost.passes += next.passes;
        cost.anew += u64::from(next.step.is_none());
        now = next;
    }
    Ok(())
}

/// By a mechanism in perfect state: gradient passes.
fn served(engine: &Engine, rows: &Rows, setup: &Setup) -> Result<u64> {
    let mut rng = setup.generator(2, false);
    let mut now = engine.train(&rows.from(0)?, &mut rng)?;
    let mut passes = 0;
    for gone in 1..=DELETED {
        setup.go_on()?;
        now = engine.request(&rows.from(gone)?, &now, (1, 0), &mut rng)?;
        passes += now.passes;
    }
    Ok(passes)
}

/// By `solve` with a memory: gradient passes over all rows.
fn remembered(constants: &Constants, rows: &Rows, setup: &Setup) -> Result<u64> {
    let state = (State::Secret, DELETED as u64 + 1);
    let plan = output_noise(0.5, TAU, state, Solver::Newton)?;
    let plan = plan.check(constants, RECORDS).map_err(failed)?;
    let mut rng = setup.generator(3, false);
    let (all, none) = (rows.from(0)?, dataset(rows.cols, [])?);
    let objective = Objective::new(constants, &all).map_err(failed)?;
    let first = newton::begin(&objective, &plan, None, &mut unwatched).map_err(failed)?;
    let mut now = first.publish(constants, &plan, 1, &mut rng).map_err(failed)?;
    let mut passes = 0;
    for gone in 1..=DELETED {
        setup.go_on()?;
        let kept: &Kept = now.kept.as_ref().ok_or_else(|| failed("nothing is kept"))?;
        let mut pending =
            newton::change(constants, &plan, kept, &rows.one(gone - 1)?, &none).map_err(failed)?;
        if pending.needs_pass(&plan) {
            let rest = rows.from(gone)?;
            let objective = Objective::new(constants, &rest).map_err(failed)?;
            pending.correct(&objective, &plan, &mut unwatched).map_err(failed)?;
        }
        let count = gone as u64 + 1;
        now = pending.publish(constants, &plan, count, &mut rng).map_err(failed)?;
        passes += now.evidence.passes();
    }
    Ok(passes)
}
