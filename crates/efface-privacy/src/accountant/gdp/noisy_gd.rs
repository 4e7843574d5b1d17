#![doc = include_str!("noisy_gd.md")]

mod batches;

use super::check::{self, malformed};
use super::interpolation::{self, Stretch};
use super::{AccountantError, World, restart};
use crate::event::{Adjacency, NoisyGd, Normalizer, Phase, Setting};
use crate::outward;
use crate::quantity::Mu;

/// Returns mu of the pair of `world` for noisy gradient descent, rounded up by a relative 1e-9.
///
/// Every step lives on the grid and is computed in float64, so that each step's shift grows by
/// (1 + c) g sqrt(P) + 2 `rounding`. Source: Bok, Su and Altschuler (2024), with the derivation in
/// this module's documentation.
///
/// # Errors
/// Fails if a number of the event is out of range, the counts of its phases contradict each other, the step
/// size is not in (0, 2/L), or the normaliser lacks what the world needs.
///
/// If the event has a radius, every bound is the least over full histories and histories that begin late,
/// from any two points of the ball. For batches see [`cyclic`](super::cyclic).
pub fn mu_noisy_gd(event: &NoisyGd, world: World) -> Result<Mu, AccountantError> {
    let history = History::new(event)?;
    let ln_mu = match &event.batches {
        None => history.over_all(world)?,
        Some(batches) => history.over(batches, world)?,
    };
    let mu = libm::exp(ln_mu);
    let vanished = mu == 0.0 && ln_mu > f64::NEG_INFINITY;
    Ok(outward::mu(if vanished { f64::MIN_POSITIVE } else { outward::up(mu) }))
}

/// An event whose numbers are checked.
pub(crate) struct History<'a> {
    event: &'a NoisyGd,
    setting: check::Checked,
    /// eta G.
    reach: f64,
    /// ln c, rounded up.
    ln_contraction: f64,
    /// What grid and float64 add to every step's shift.
    arithmetic: f64,
    noise: f64,
    /// 2 R if there is a radius.
    diameter: Option<f64>,
    last: Phase,
}

impl<'a> History<'a> {
    /// Checks the event; every accountant of noisy gradient descent starts here.
    pub(crate) fn new(event: &'a NoisyGd) -> Result<Self, AccountantError> {
        let setting = check::setting(&event.setting)?;
        let step = check::positive("step", event.step)?;
        let noise = check::positive("noise", event.noise)?;
        let grid = check::grid(event.grid, noise)?;
        let rounding = check::nonnegative("rounding", event.rounding)?;
        let radius = event.radius.map(|radius| check::positive("radius", radius)).transpose()?;
        let ln_contraction = ln_contraction(step, setting.smoothness, setting.strong_convexity)
            .ok_or_else(|| {
                malformed("step", "below 2/(smoothness + strong_convexity)", event.step)
            })?;
        let last = phases(event)?;
        let spread = grid * setting.root_parameters;
        let arithmetic = (1.0 + libm::exp(ln_contraction)) * spread + 2.0 * rounding;
        let reach = step * setting.lipschitz;
        let diameter = radius.map(|radius| 2.0 * radius);
        Ok(Self { event, setting, reach, ln_contraction, arithmetic, noise, diameter, last })
    }

    /// Returns how far a group moves the averaged gradient, relative to G, if records are replaced (a removed
    /// record is replaced by one without loss).
    pub(crate) fn replaced_group(
        &self,
        adjacency: Adjacency,
        notion: &'static str,
    ) -> Result<f64, AccountantError> {
        let setting = &self.event.setting;
        match (setting.normalizer, adjacency) {
            (Normalizer::Fixed { n, .. }, _) => Ok(check::group(setting)? / n as f64),
            (Normalizer::Mean { .. }, Adjacency::Replace) => {
                Ok(0.5 * check::group_sensitivity(setting, adjacency, notion)?)
            }
            (Normalizer::Mean { .. }, Adjacency::Remove) => Err(AccountantError::Unsupported {
                notion,
                reason: "the published theorem replaces records, which under `mean` is not removal",
            }),
        }
    }

    fn over_all(&self, world: World) -> Result<f64, AccountantError> {
        match world {
            World::Retraining => self.retraining(),
            World::DeletionPrivacy(adjacency) => self.deletion(self.group_shift(adjacency, world)?),
            World::DifferentialPrivacyOneRelease(adjacency) => {
                let shift = self.group_shift(adjacency, world)?;
                self.ln_mu(&[self.stretch(self.event.longest, shift)])
            }
            World::DifferentialPrivacyAllReleases(adjacency) => {
                self.all_releases(self.group_shift(adjacency, world)?)
            }
        }
    }

    fn group_shift(&self, adjacency: Adjacency, world: World) -> Result<f64, AccountantError> {
        let relative = check::group_sensitivity(&self.event.setting, adjacency, world.notion())?;
        Ok(self.reach * relative)
    }

    fn stretch(&self, steps: u64, shift: f64) -> Stretch {
        Stretch {
            steps,
            ln_contraction: self.ln_contraction,
            shift: shift + self.arithmetic,
            noise: self.noise,
        }
    }

    fn ln_mu(&self, stretches: &[Stretch]) -> Result<f64, AccountantError> {
        let whole = interpolation::ln_mu(0.0, stretches)?;
        match self.diameter {
            None => Ok(whole),
            Some(diameter) => Ok(whole.min(restart::ln_mu(diameter, stretches)?)),
        }
    }

    fn retraining(&self) -> Result<f64, AccountantError> {
        self.ln_mu(&self.towards_retraining()?)
    }

    /// Returns the phases' stretches, against a run on the latest data.
    fn towards_retraining(&self) -> Result<Vec<Stretch>, AccountantError> {
        self.event
            .phases
            .iter()
            .map(|phase| {
                Ok(self.stretch(
                    phase.steps,
                    self.reach * gradient_gap(&self.event.setting, phase, &self.last)?,
                ))
            })
            .collect()
    }

    /// Returns nu: what is published is nu-GDP close to the same `steps` steps in exact arithmetic and off
    /// the grid, from the same start.
    pub(crate) fn arithmetic_mu(&self, steps: u64) -> Result<f64, AccountantError> {
        let ln_mu = interpolation::ln_mu(0.0, &[self.stretch(steps, 0.0)])?;
        Ok(outward::up(libm::exp(ln_mu).max(f64::MIN_POSITIVE)))
    }

    /// Steps of all phases together.
    pub(crate) fn steps(&self) -> Result<u64, AccountantError> {
        let sum = self.event.phases.iter().try_fold(0_u64, |sum, p| sum.checked_add(p.steps));
        sum.ok_or_else(|| malformed("steps", "below 2^64 in all phases together", "more"))
    }

    /// Returns the last `steps` steps on the latest data from any two points of the ball.
    pub(crate) fn contraction(&self, steps: u64) -> Result<Option<Contraction>, AccountantError> {
        let Some(diameter) = self.diameter else { return Ok(None) };
        let mut earlier = self.towards_retraining()?;
        let steps = steps.min(self.last.steps);
        if let Some(last) = earlier.last_mut() {
            last.steps -= steps;
        }
        earlier.retain(|stretch| stretch.steps > 0);
        let before = if earlier.is_empty() { 0.0 } else { libm::exp(self.ln_mu(&earlier)?) };
        let reach = libm::exp(self.ln_contraction) * diameter + self.arithmetic;
        Ok(Some(Contraction {
            steps,
            reach: outward::up(reach / self.noise),
            before: outward::up(before),
        }))
    }

    /// Returns eta.
    pub(crate) fn step(&self) -> f64 {
        self.event.step.0
    }

    /// Returns beta + m, rounded up.
    pub(crate) fn total_smoothness(&self) -> f64 {
        (self.setting.smoothness + self.setting.strong_convexity).next_up()
    }

    /// m.
    pub(crate) fn strong_convexity(&self) -> f64 {
        self.setting.strong_convexity
    }

    /// G.
    pub(crate) fn lipschitz(&self) -> f64 {
        self.setting.lipschitz
    }

    /// Returns sigma^2 = s^2/(2 eta).
    pub(crate) fn variance(&self) -> f64 {
        self.noise * self.noise / (2.0 * self.event.step.0)
    }

    /// Steps before the last phase.
    fn before_last(&self) -> Result<u64, AccountantError> {
        match self.steps()? - self.last.steps {
            0 => Err(AccountantError::Unsupported {
                notion: "deletion privacy",
                reason: "nothing was deleted: the event has only the training phase",
            }),
            before => Ok(before),
        }
    }

    fn deletion(&self, shift: f64) -> Result<f64, AccountantError> {
        let before = self.before_last()?;
        self.ln_mu(&[self.stretch(before, shift), self.stretch(self.last.steps, 0.0)])
    }

    /// Bounds each release from the published model before it; the squares of the mu add up.
    fn all_releases(&self, shift: f64) -> Result<f64, AccountantError> {
        let mut ln_total = f64::NEG_INFINITY;
        for phase in &self.event.phases {
            let steps = if phase.releases == 1 { phase.steps } else { self.event.longest };
            let ln_mu = self.ln_mu(&[self.stretch(steps, shift)])?;
            let ln_square = libm::log(phase.releases as f64) + 2.0 * ln_mu;
            ln_total = interpolation::ln_add(ln_total, ln_square);
        }
        Ok(0.5 * ln_total)
    }
}

/// What the last steps do to runs that are anywhere in a ball.
pub(crate) struct Contraction {
    pub(crate) steps: u64,
    /// D/s~: the largest distance of two noiseless results, in units of the noise.
    pub(crate) reach: f64,
    /// mu of the runs before these steps.
    pub(crate) before: f64,
}

/// Returns the distance of the averaged gradients on a phase's data set and on the latest, relative to G.
pub(super) fn gradient_gap(
    setting: &Setting,
    phase: &Phase,
    last: &Phase,
) -> Result<f64, AccountantError> {
    let (then, now) = (phase.only_then as f64, phase.only_now as f64);
    match setting.normalizer {
        Normalizer::Fixed { n, .. } => Ok((then + now) / n as f64),
        Normalizer::Mean { .. } if phase.only_then == 0 && phase.only_now == 0 => Ok(0.0),
        Normalizer::Mean { .. } => match (phase.records, last.records) {
            (Some(before), Some(after)) => Ok(2.0 * then.max(now) / (before.max(after) as f64)),
            _ => Err(AccountantError::Unsupported {
                notion: World::Retraining.notion(),
                reason: "the `mean` normaliser needs `records` in every phase",
            }),
        },
    }
}

/// Returns ln of max(1 - eta m, eta (beta + m) - 1), rounded up; `None` unless eta (beta + m) < 2.
pub(super) fn ln_contraction(step: f64, smoothness: f64, strong_convexity: f64) -> Option<f64> {
    let curvature = (step * (smoothness + strong_convexity).next_up()).next_up();
    if curvature.is_nan() || curvature >= 2.0 {
        return None;
    }
    // Half-way rounding of log and log1p is below 4 units in the last place.
    let up = |ln: f64| ln * (1.0 - 4.0 * f64::EPSILON);
    let flat = (step * strong_convexity).next_down().max(0.0);
    let by_convexity = if flat < 1.0 { up(libm::log1p(-flat)) } else { f64::NEG_INFINITY };
    let overshoot = (curvature - 1.0).next_up();
    let by_smoothness = if overshoot > 0.0 { up(libm::log(overshoot)) } else { f64::NEG_INFINITY };
    Some(by_convexity.max(by_smoothness).min(0.0))
}

/// Checks the phases against each other and returns the last one.
fn phases(event: &NoisyGd) -> Result<Phase, AccountantError> {
    check::count("longest", event.longest)?;
    check::count("learning", event.learning)?;
    if event.learning > event.longest {
        return Err(malformed("learning", "at most `longest`", event.learning));
    }
    let (first, last) = check::phases(&event.setting, &event.phases, event.longest)?;
    let releases = event.phases.iter().fold(0_u64, |sum, p| sum.saturating_add(p.releases));
    if releases != event.releases {
        return Err(malformed("releases", "the sum over `phases`", event.releases));
    }
    if event.learning > first.steps {
        return Err(malformed("learning", "at most the first phase's `steps`", event.learning));
    }
    replaced(event)?;
    batches::check(event)?;
    Ok(last)
}

/// Checks that the requests' counts explain how far each phase is from the latest data.
fn replaced(event: &NoisyGd) -> Result<(), AccountantError> {
    let Some(replaced) = &event.replaced else { return Ok(()) };
    if replaced.len() + 1 != event.phases.len() {
        return Err(malformed("replaced", "one number for each request", replaced.len()));
    }
    let mut since = 0_u64;
    for (index, phase) in event.phases.iter().enumerate().rev() {
        since = since.saturating_add(replaced.get(index).copied().unwrap_or(0));
        check::size("replaced", since)?;
        let differing = phase.only_then.max(phase.only_now);
        if differing > since {
            return Err(malformed("replaced", "at least what earlier phases differ by", since));
        }
    }
    Ok(())
}
