//! Figure 5: a network that is private by itself, beside a last layer on its features, at one epsilon.

use std::ops::ControlFlow;

use efface::{Notion, Result, Served, Settings};
use efface_matrix::{Matrix, Row};
use efface_net::{Network, Optimizer, SgdPlan, Shape, sgd};
use serde::Deserialize;

use crate::reproduce::bench::Bench;
use crate::reproduce::data::Split;
use crate::reproduce::images::Images;
use crate::reproduce::outcome::{Outcome, number};
use crate::trial::{Rows, Stop, Table, Vaults, failed};

/// Settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Grid {
    network: String,
    /// Height and width of the images.
    image: (usize, usize),
    /// Which of the last layers the features are in front of.
    layer: usize,
    /// lambda of the last layer.
    lambda: f64,
    /// Deletions that epsilon is for, all together.
    deletions: usize,
    delta: f64,
    levels: Vec<Level>,
    /// Random filters, which no deletion concerns.
    filters: String,
    /// Epochs of the network without noise.
    epochs: u64,
    #[serde(default)]
    rows: Option<usize>,
}

/// One epsilon, and how many records on average are in each of the steps of its training.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    epsilon: f64,
    batch: f64,
    steps: u64,
}

/// A network in a vault, a last layer on its features in another, and both after the deletions.
#[derive(Debug)]
struct Pair {
    noise: f64,
    /// Accuracy of the network, and of the last layer.
    alone: f64,
    headed: f64,
    /// epsilon of their certificates after the deletions.
    certified: [f64; 2],
    /// Accuracy of the last layer after the deletions.
    after: f64,
    /// Seconds of the request that deletes from the last layer.
    seconds: f64,
}

impl Grid {
    fn shape(&self) -> Shape {
        Shape { channels: 1, height: self.image.0, width: self.image.1 }
    }

    fn of_image(&self, text: &str) -> String {
        format!("{text},image={}x{}", self.image.0, self.image.1)
    }

    fn declared(&self, mechanism: &str) -> Settings {
        Settings {
            mechanism: Some(mechanism.to_owned()),
            preprocess: Some("declared".to_owned()),
            ..Settings::default()
        }
    }

    fn ridge(&self, features: Option<String>) -> Settings {
        Settings { features, lambda: Some(self.lambda), ..self.declared("ridge") }
    }

    fn pair(
        &self,
        level: Level,
        (train, test): (&Table, &Table),
        positions: &[usize],
        records: usize,
        vaults: &mut Vaults,
        clock: &mut dyn FnMut() -> f64,
    ) -> Result<Pair> {
        let network = Settings {
            network: Some(self.of_image(&self.network)),
            rate: Some(level.batch / records as f64),
            steps: Some(level.steps),
            deletions: Some(self.deletions as u64),
            epsilon: Some(level.epsilon),
            delta: Some(self.delta),
            ..self.declared("dp-sgd")
        };
        let trained = vaults.train("network", &train.source(), network)?;
        let noise = Vaults::noise(&trained).unwrap_or(f64::NAN);
        let alone = vaults.accuracy("network", &test.source())?;
        let path = vaults.path("network");
        let features = format!("network:{},layer={}", path.display(), self.layer);
        vaults.train("model", &train.source(), self.ridge(Some(features)))?;
        let headed = vaults.accuracy("model", &test.source())?;
        let begin = clock();
        let served = vaults.delete("model", positions)?;
        let seconds = clock() - begin;
        let after = vaults.accuracy("model", &test.source())?;
        let network = vaults.delete("network", positions)?;
        let certified = [epsilon(&network)?, epsilon(&served)?];
        vaults.discard("model")?;
        vaults.discard("network")?;
        Ok(Pair { noise, alone, headed, certified, after, seconds })
    }

    /// A last layer on the same features of the network as it starts: nothing of it is learnt.
    fn untrained(&self, split: &Split, vaults: &mut Vaults) -> Result<f64> {
        let network = self.parsed()?;
        let features = |rows: &Rows| -> Result<Rows> {
            let images = Images::of(rows, 0..rows.len(), |pixel| pixel);
            let width = network.hidden(self.layer).unwrap_or(0);
            let mut values = vec![0.0; images.len() * width];
            let weights = network.initial(0);
            network.features(self.layer, &weights, &images.rows, &mut values).map_err(failed)?;
            // Numbers in [-1, 1] as rows of length 1 at most, as the engine has them.
            let size = (width as f32).sqrt();
            values.iter_mut().for_each(|value| *value /= size);
            let mut x = Matrix::dense(width);
            for row in values.chunks_exact(width) {
                x.push(Row::Dense(row)).map_err(failed)?;
            }
            Ok(Rows { x, y: rows.y.clone() })
        };
        let [train, test] = [&split.train, &split.test].map(features);
        let (train, test) = (Table::of(&train?, true), Table::of(&test?, true));
        vaults.train("floor", &train.source(), self.ridge(None))?;
        let accuracy = vaults.accuracy("floor", &test.source())?;
        vaults.discard("floor")?;
        Ok(accuracy)
    }

    /// A last layer on random filters, by the engine's own map.
    fn filtered(&self, train: &Table, test: &Table, vaults: &mut Vaults) -> Result<f64> {
        let features = self.of_image(&self.filters);
        vaults.train("filters", &train.source(), self.ridge(Some(features)))?;
        let accuracy = vaults.accuracy("filters", &test.source())?;
        vaults.discard("filters")?;
        Ok(accuracy)
    }

    /// The same network without noise.
    fn without_noise(&self, split: &Split, stop: Stop) -> Result<f64> {
        let network = self.parsed()?;
        let [train, test] =
            [&split.train, &split.test].map(|rows| Images::of(rows, 0..rows.len(), |pixel| pixel));
        let plan = SgdPlan {
            epochs: self.epochs,
            batch: 64,
            learning_rate: 0.05,
            optimizer: Optimizer::Sgd { momentum: 0.9 },
            average: None,
            seed: 1,
        };
        let plan = plan.check(&network).map_err(failed)?;
        let keys: Vec<u64> = (0..train.len() as u64).collect();
        let watch =
            &mut |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let weights = sgd(&network, &plan, &train.data(), &keys, network.initial(0), watch)
            .map_err(failed)?;
        test.accuracy(&network, &weights)
    }

    fn parsed(&self) -> Result<Network> {
        Network::parse(&self.network, self.shape(), 10).map_err(failed)
    }
}

/// epsilon of what is certified for all that were deleted.
fn epsilon(served: &Served) -> Result<f64> {
    let wanted = Notion::IndistinguishableFromRetraining;
    let claim = served.claims.iter().find(|claim| claim.notion == wanted);
    claim
        .map(|claim| claim.epsilon.0)
        .ok_or_else(|| failed("closeness to retraining is not claimed"))
}

pub(crate) fn run(grid: &Grid, bench: &mut Bench<'_>) -> Result<Outcome> {
    let (_, split) = bench.data(grid.rows)?;
    let (train, test) = (Table::of(&split.train, true), Table::of(&split.test, true));
    let positions = split.train.picked(grid.deletions);
    let records = split.train.len();
    let mut vaults = Vaults::open(bench.seed(), bench.stop)?;
    let columns = [
        "model",
        "epsilon asked",
        "noise",
        "epsilon certified",
        "accuracy",
        "after the deletions",
        "seconds of the request",
    ];
    let mut outcome = Outcome::of(&columns);
    let (mut largest, mut between) = (0.0_f64, 0.0_f64);
    for &level in &grid.levels {
        bench.say(&format!("epsilon = {}", level.epsilon))?;
        let both = (&train, &test);
        let pair = grid.pair(level, both, &positions, records, &mut vaults, bench.seconds)?;
        let [network, model] = pair.certified;
        largest = largest.max(network.max(model) / level.epsilon);
        between = between.max((network - model).abs() / level.epsilon);
        let start = |what: &str| [what.to_owned(), number(level.epsilon), number(pair.noise)];
        let cells = [network, pair.alone, pair.alone].map(number);
        outcome.row(start("network with noise").into_iter().chain(cells).chain(["0".to_owned()]));
        let cells = [model, pair.headed, pair.after, pair.seconds].map(number);
        outcome.row(start("ridge on its features").into_iter().chain(cells));
        outcome.measure(format!("alone-{}", level.epsilon), pair.alone);
        outcome.measure(format!("headed-{}", level.epsilon), pair.headed);
        outcome.measure(format!("lead-{}", level.epsilon), pair.headed - pair.alone);
    }
    bench.say("features that are not learnt, and no noise")?;
    let floor = grid.untrained(&split, &mut vaults)?;
    let filters = grid.filtered(&train, &test, &mut vaults)?;
    let plain = grid.without_noise(&split, bench.stop)?;
    let lines = [
        ("floor", "ridge on the same network, untrained", floor),
        ("filters", "ridge on random filters", filters),
        ("plain", "network without noise or certificate", plain),
    ];
    for (name, shown, accuracy) in lines {
        let none = || String::new();
        outcome.row([shown.into(), none(), none(), none(), number(accuracy), none(), none()]);
        outcome.measure(name, accuracy);
    }
    let least = grid.levels.iter().map(|level| level.epsilon).fold(f64::INFINITY, f64::min);
    let lowest = outcome.measured[&format!("headed-{least}")];
    outcome.measure("above-filters", lowest - filters);
    let most = grid.levels.iter().map(|level| level.epsilon).fold(0.0, f64::max);
    outcome.measure("above-filters-most", outcome.measured[&format!("headed-{most}")] - filters);
    outcome.measure("above-floor", lowest - floor);
    outcome.measure("certified", largest);
    outcome.measure("between", between);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::draws::{generator, uniform};

    /// Images of ten classes: a bright line in another place for each.
    fn images(count: usize) -> Rows {
        let mut rng = generator(4, 0);
        let (mut x, mut y) = (Matrix::dense(100), Vec::new());
        for row in 0..count {
            let class = row % 10;
            let pixel =
                |at: usize, own: f64| own / 4.0 + f64::from(u8::from(at / 10 == class)) / 2.0;
            let pixels: Vec<f32> = (0..100).map(|at| pixel(at, uniform(&mut rng)) as f32).collect();
            x.push(Row::Dense(&pixels)).unwrap();
            y.push(class as f64);
        }
        Rows { x, y }
    }

    /// Both certificates are of the same steps for the same records, and as many may go as were asked for.
    #[test]
    fn a_network_and_its_last_layer_are_certified_alike() {
        let grid = Grid {
            network: "conv:4x4/2,dense:12".into(),
            image: (10, 10),
            layer: 2,
            lambda: 1e-4,
            deletions: 4,
            delta: 1e-4,
            levels: vec![],
            filters: "random-conv:8x4".into(),
            epochs: 5,
            rows: None,
        };
        let split = Split { train: images(600), test: images(200) };
        let (train, test) = (Table::of(&split.train, true), Table::of(&split.test, true));
        let mut vaults = Vaults::open(1, || false).unwrap();
        let level = Level { epsilon: 20.0, batch: 100.0, steps: 40 };
        let clock = &mut || 0.0;
        let both = (&train, &test);
        let pair = grid.pair(level, both, &[3, 50, 7, 9], 600, &mut vaults, clock).unwrap();
        let [network, model] = pair.certified;
        assert!((network / model - 1.0).abs() < 1e-9, "{pair:?}");
        assert!(network <= 20.0 && network > 15.0, "{pair:?}");
        // Fewer are further from the target.
        let few = grid.pair(level, both, &[3], 600, &mut vaults, clock).unwrap();
        assert!(few.certified[0] < 0.5 * network, "{few:?}");
        let more = grid.pair(level, both, &[1, 2, 3, 4, 5], 600, &mut vaults, clock).unwrap_err();
        assert_eq!(more.kind(), efface::Kind::Refused);
        let floor = grid.untrained(&split, &mut vaults).unwrap();
        let filters = grid.filtered(&train, &test, &mut vaults).unwrap();
        let plain = grid.without_noise(&split, || false).unwrap();
        for accuracy in [floor, filters, plain, pair.headed] {
            assert!(accuracy > 0.9, "{floor} {filters} {plain} {pair:?}");
        }
    }
}
