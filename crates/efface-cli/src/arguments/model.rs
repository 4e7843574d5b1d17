//! What kind of model is trained, and how.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use efface::{Error, Privacy, Settings};

use crate::failure::{Failure, unreadable};

use super::count;
use super::names::{LOSSES, MECHANISMS, NORMALIZERS, ROW_MAPS, SOLVERS, VARIANTS};

/// The model, and the public constants of its objective.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArguments {
    /// The loss [default: logistic]
    #[arg(long, value_name = "NAME", value_parser = LOSSES)]
    loss: Option<String>,

    /// How the model is trained and how it forgets [default: solve]
    ///
    /// `solve` starts from the published model, finds the optimum to a measured distance and
    /// publishes with fresh noise; `retrain` does the same from a fresh start; `noisy-gd` takes
    /// noisy gradient steps; `descent-to-delete` takes exact ones and publishes with noise. `ridge`
    /// solves the squared loss from whole-number sums: removal is exact and there is no noise, so
    /// the remaining records get no guarantee. `distributed-descent` averages models of the parts
    /// of a sample and keeps the sample uniform, so that a request touches few parts.
    /// `objective-perturbation` removes by Newton steps as published, and its certificates never
    /// verify (NOT SOUND).
    #[arg(long, value_name = "NAME", value_parser = MECHANISMS)]
    mechanism: Option<String>,

    /// Strength of the regularisation; 0 for `noisy-gd` with a radius only [default: 1e-3]
    ///
    /// Choose it from public knowledge, or on public data with `efface evaluate`: every model
    /// tried on the private data is one more release that no certificate covers.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    lambda: Option<f64>,

    /// Bound on the length of a row, as public knowledge [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    row_norm: Option<f64>,

    /// What is done to rows: shorten the longer ones, scale all to the bound, or refuse the
    /// longer ones [default: clip]
    #[arg(long, value_name = "NAME", value_parser = ROW_MAPS)]
    row_map: Option<String>,

    /// The constant appended to each row [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    intercept: Option<f64>,

    /// Append no constant
    #[arg(long, conflicts_with = "intercept")]
    no_intercept: bool,

    /// `squared`: the declared range of y, as public knowledge
    #[arg(long, value_name = "LOW,HIGH", value_parser = pair, allow_hyphen_values = true)]
    target_range: Option<(f64, f64)>,

    /// `squared`: where residuals are clipped, in half ranges of y; `inf` for nowhere [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    clip: Option<f64>,

    /// `huber-hinge`: width of the smooth part [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    hinge_width: Option<f64>,

    /// What sums are divided by: a public constant, or the current number of records [default:
    /// fixed]
    #[arg(long, value_name = "NAME", value_parser = NORMALIZERS)]
    normalizer: Option<String>,

    /// N, as public knowledge: the number of records, or the sum of their weights
    ///
    /// Without it N is the first number of records, or the sum of their weights rounded to a whole
    /// number: a value taken from the data. Then nothing can be claimed in which the number of
    /// records is private.
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    public_n: Option<u64>,

    /// Maximum number of records [default: 1.25 N, with weights 1.25 times the first
    /// number of records]
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    capacity: Option<u64>,

    /// Maximum weight of a record, as public knowledge [default: the largest of the
    /// first records']
    ///
    /// Noise grows with it. The default is read off the data, and certificates say so.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    max_weight: Option<f64>,

    /// `mean`: minimum number of records, as public knowledge
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    minimum: Option<u64>,

    /// `solve`, `retrain`: the solver; with `--state secret`, `newton` serves requests from the
    /// changed rows alone while a bound lasts [default: by the number of parameters]
    #[arg(long, value_name = "NAME", value_parser = SOLVERS)]
    solver: Option<String>,

    /// `noisy-gd`, `descent-to-delete`: size of a step [default: 2/(L+m), or what the accountant allows; 1/L if m = 0]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    eta: Option<f64>,

    /// `noisy-gd`: radius of the ball that contains the weights, as public knowledge
    ///
    /// Bounds then use the ball too, and `--lambda 0` is allowed.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    radius: Option<f64>,

    /// `noisy-gd`, `solve`: weights to start from, an NPZ file as exported or an NPY file
    ///
    /// For `solve` it saves time and changes no claim. For `noisy-gd` state how it was made.
    #[arg(long, value_name = "FILE")]
    start: Option<PathBuf>,

    /// The start was made without the private data
    #[arg(long)]
    start_public: bool,

    /// The start was made privately, from data that may hold the same records
    ///
    /// EPSILON,DELTA,GROUP or mu=MU,GROUP: differential privacy for GROUP records together, one
    /// world lacking them. Claims then state the totals.
    #[arg(long, value_name = "FIGURES", value_parser = privacy)]
    start_privacy: Option<Privacy>,

    /// The features were made by a private extractor, from data that may hold the same records
    ///
    /// Figures as for `--start-privacy`; with any mechanism.
    #[arg(long, value_name = "FIGURES", value_parser = privacy)]
    extractor_privacy: Option<Privacy>,

    /// A line to add to what every certificate does not cover; may be given several times
    ///
    /// For instance how features were scaled, or how settings were chosen.
    #[arg(long, value_name = "TEXT")]
    not_covered: Vec<String>,

    /// `noisy-gd`, `descent-to-delete`: steps of the first training
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    steps: Option<u64>,

    /// `noisy-gd`: steps for each request [default: the fewest that meet the target]
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    removal_steps: Option<u64>,

    /// `descent-to-delete`: which theorem's procedure [default: perfect]
    ///
    /// `perfect` goes on from the published weights; `secret` from the unperturbed ones, which it
    /// keeps; `regularised` and `weak` do so too, and choose lambda from `--diameter`.
    #[arg(long, value_name = "NAME", value_parser = VARIANTS)]
    variant: Option<String>,

    /// The parameter xi of two mechanisms [default: 1]
    ///
    /// `descent-to-delete --variant weak`: how the steps of updates grow, i^(2 xi) times those of the
    /// first for update i, xi from 1 to 16. `distributed-descent`: the size of its sample, N^xi
    /// positions, xi from 1 to 4/3.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    xi: Option<f64>,

    /// The parameter I of two mechanisms [default: the fewest that noise, target or theorem allow]
    ///
    /// `descent-to-delete`: steps of an update, each for up to `--max-group` deleted or added
    /// records; 10 where the variant chooses lambda. `distributed-descent --accountant descent`:
    /// the I of Theorem 4.5, from which its noise and its budget of steps follow.
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    iterations: Option<u64>,

    /// `descent-to-delete`: diameter of the ball around 0 that holds the weights [default: one that
    /// holds every optimum]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    diameter: Option<f64>,

    /// `distributed-descent`: independent copies, of which the best is published after noise
    /// [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = count, allow_negative_numbers = true)]
    copies: Option<u64>,
}

impl ModelArguments {
    /// Writes what was given into settings.
    ///
    /// # Errors
    /// A start that cannot be read.
    pub(crate) fn add_to(self, settings: &mut Settings) -> Result<(), Failure> {
        settings.start = self.start.as_deref().map(start).transpose()?;
        settings.start_public = self.start_public;
        settings.start_privacy = self.start_privacy;
        settings.extractor_privacy = self.extractor_privacy;
        settings.not_covered = self.not_covered;
        settings.loss = self.loss;
        settings.mechanism = self.mechanism;
        settings.lambda = self.lambda;
        settings.row_norm = self.row_norm;
        settings.row_map = self.row_map;
        settings.intercept = if self.no_intercept { Some(0.0) } else { self.intercept };
        settings.target_range = self.target_range;
        settings.clip = self.clip;
        settings.hinge_width = self.hinge_width;
        settings.normalizer = self.normalizer;
        settings.public_n = self.public_n;
        settings.capacity = self.capacity;
        settings.minimum = self.minimum;
        settings.max_weight = self.max_weight;
        settings.solver = self.solver;
        settings.eta = self.eta;
        settings.radius = self.radius;
        settings.steps = self.steps;
        settings.removal_steps = self.removal_steps;
        settings.variant = self.variant;
        settings.xi = self.xi;
        settings.iterations = self.iterations;
        settings.diameter = self.diameter;
        settings.copies = self.copies;
        Ok(())
    }
}

/// The most bytes that are read as a start.
const MOST: u64 = 1 << 30;

fn start(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MOST {
        let message = format!("`{}` must have at most {MOST} bytes, got more", path.display());
        return Err(Error::input("start", message).into());
    }
    Ok(bytes)
}

fn privacy(text: &str) -> Result<Privacy, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let number = |part: &str| part.parse::<f64>().map_err(|_| format!("`{part}` is not a number"));
    let count = |part: &str| part.parse::<u64>().map_err(|_| format!("`{part}` is not a count"));
    match parts[..] {
        [epsilon, delta, group] => Ok(Privacy {
            epsilon: Some(number(epsilon)?),
            delta: Some(number(delta)?),
            mu: None,
            group: count(group)?,
        }),
        [mu, group] => match mu.strip_prefix("mu=") {
            Some(mu) => {
                let mu = Some(number(mu)?);
                Ok(Privacy { epsilon: None, delta: None, mu, group: count(group)? })
            }
            None => Err("EPSILON,DELTA,GROUP or mu=MU,GROUP is needed, as in 1,1e-6,10".into()),
        },
        _ => Err("EPSILON,DELTA,GROUP or mu=MU,GROUP is needed, as in 1,1e-6,10".into()),
    }
}

fn pair(text: &str) -> Result<(f64, f64), String> {
    let number = |part: &str| {
        part.trim().parse::<f64>().map_err(|_| format!("`{}` is not a number", part.trim()))
    };
    match text.split_once(',') {
        Some((low, high)) => Ok((number(low)?, number(high)?)),
        None => Err("two numbers with a comma between are needed, as in 0,10".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_a_pair_or_a_mu_with_a_group() {
        let pair = privacy("0.5, 1e-6,10").unwrap();
        assert_eq!(
            (pair.epsilon, pair.delta, pair.mu, pair.group),
            (Some(0.5), Some(1e-6), None, 10)
        );
        let mu = privacy("mu=0.25,3").unwrap();
        assert_eq!((mu.epsilon, mu.mu, mu.group), (None, Some(0.25), 3));
        for bad in ["1", "1,2", "1,2,x", "mu=a,1", "mu=1", "1,2,3,4", ""] {
            assert!(privacy(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges_are_two_numbers() {
        assert_eq!(pair("-1.5, 2e1"), Ok((-1.5, 20.0)));
        assert!(pair("3").unwrap_err().contains("comma"));
        assert_eq!(pair("1,x").unwrap_err(), "`x` is not a number");
        assert!(pair("1,2,3").is_err());
    }
}
