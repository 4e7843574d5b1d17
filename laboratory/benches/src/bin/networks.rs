//! Networks trained with exact sums: DP-SGD, and mini-batches without noise. MNIST with ten classes.
#![forbid(unsafe_code)]

use std::ops::ControlFlow;
use std::process::ExitCode;

use efface_bench::bench::{run, say, timed};
use efface_bench::rows::Rows;
use efface_bench::table::{Table, ms};
use efface_bench::{Failure, data, machine};
use efface_net::{Data, DpSgdPlan, Network, Optimizer, SgdPlan, Shape, dp_sgd, sgd};
use efface_privacy::accountant::pld::{Segment, epsilon};
use efface_privacy::quantity::{Delta, Mu};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

const NETWORK: &str = "conv:16x8/2+2,pool,conv:32x4/2,pool,dense:32";

/// Constants of DP-SGD, tried by hand with a few learning rates and means of weights.
const STEPS: u64 = 585;
const BATCH: f64 = 2048.0;
const NOISE: f64 = 3.13;
const CLIP: f64 = 0.1;
const LEARNING_RATE: f64 = 4.0;
const AVERAGE: f64 = 0.97;

/// Epochs without noise.
const EPOCHS: [u64; 2] = [1, 5];

fn main() -> ExitCode {
    run("Networks, MNIST", || {
        let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
        let split = data::mnist(&digits.iter().map(String::as_str).collect::<Vec<_>>())?;
        let (rows, labels) = Rows::read_raw(&split.train)?.flat()?;
        let test = Rows::read_raw(&split.test)?.flat()?;
        let network = Network::parse(NETWORK, Shape { channels: 1, height: 28, width: 28 }, 10)?;
        say(&format!(
            "`{}`, {} weights, {} digits of ten classes; accuracy on {} others. Weights are drawn by \
             seed 1, and have an accuracy of {:.4} then.\n",
            network.text(),
            network.parameters(),
            labels.len(),
            test.1.len(),
            accuracy(&network, &network.initial(1), &test)?
        ))?;
        let data = Data { rows: &rows, labels: &labels, units: None };
        private(&network, &data, &test)?;
        exact(&network, &data, &test)?;
        let most = machine::peak_memory().unwrap_or(0) >> 20;
        say(&format!("\nThe process had at most {most} MiB."))
    })
}

/// DP-SGD with its epsilon at delta 1/n, for one record that is there or not.
fn private(network: &Network, data: &Data<'_>, test: &(Vec<f32>, Vec<u32>)) -> Result<(), Failure> {
    let rate = BATCH / data.labels.len() as f64;
    let delta = 1.0 / data.labels.len() as f64;
    let plan = DpSgdPlan {
        steps: STEPS,
        rate,
        noise: NOISE,
        clip: CLIP,
        learning_rate: LEARNING_RATE,
        expected: BATCH,
        optimizer: Optimizer::Sgd { momentum: 0.9 },
        average: Some(AVERAGE),
    }
    .check(network)?;
    let segment = Segment { steps: STEPS, noise: NOISE, rate, group: 1 };
    let epsilon = epsilon(&[segment], Mu::new(0.0)?, Delta::new(delta)?)?;
    say(&format!(
        "DP-SGD: clip {CLIP}, noise {NOISE} clips, {STEPS} steps of {BATCH} records on average, \
         learning rate {LEARNING_RATE}, momentum 0.9, mean of weights with decay {AVERAGE}; epsilon {:.4} \
         at delta 1/n for one record that is there or not.\n",
        epsilon.get()
    ))?;
    // What is measured must be measured again: a generator of a seed, for no release.
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let start = network.initial(1);
    let mut go_on = |_| ControlFlow::Continue(());
    let (weights, time) = timed(|| dp_sgd(network, &plan, data, start, &mut rng, &mut go_on))?;
    let mut table = Table::new(&["accuracy", "time", "a step", "a drawn record"]);
    table.row([
        format!("{:.4}", accuracy(network, &weights, test)?),
        ms(time),
        ms(time / STEPS as f64),
        ms(time / (STEPS as f64 * BATCH)),
    ]);
    say(&table.render())
}

/// Mini-batches of 64 without noise.
fn exact(network: &Network, data: &Data<'_>, test: &(Vec<f32>, Vec<u32>)) -> Result<(), Failure> {
    say(
        "\nWithout noise, to the same bits everywhere: batches of 64, learning rate 0.05, momentum 0.9.\n",
    )?;
    let mut table = Table::new(&["epochs", "accuracy", "time", "a record"]);
    let keys: Vec<u64> = (0..data.labels.len() as u64).collect();
    for epochs in EPOCHS {
        let plan = SgdPlan {
            epochs,
            batch: 64,
            learning_rate: 0.05,
            optimizer: Optimizer::Sgd { momentum: 0.9 },
            average: None,
            seed: 1,
        }
        .check(network)?;
        let mut go_on = |_| ControlFlow::Continue(());
        let start = network.initial(1);
        let (weights, time) = timed(|| sgd(network, &plan, data, &keys, start, &mut go_on))?;
        table.row([
            format!("{epochs}"),
            format!("{:.4}", accuracy(network, &weights, test)?),
            ms(time),
            ms(time / (epochs as f64 * keys.len() as f64)),
        ]);
    }
    say(&table.render())
}

/// The share of rows whose class has the largest logit.
fn accuracy(
    network: &Network,
    weights: &[f32],
    (rows, labels): &(Vec<f32>, Vec<u32>),
) -> Result<f64, Failure> {
    let outputs = network.outputs();
    let mut logits = vec![0.0; labels.len() * outputs];
    network.logits(weights, rows, &mut logits)?;
    let class = |logits: &[f32]| {
        let largest = (0..outputs).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        largest.unwrap_or(0) as u32
    };
    let right = logits.chunks_exact(outputs).zip(labels).filter(|(z, label)| class(z) == **label);
    Ok(right.count() as f64 / labels.len() as f64)
}
