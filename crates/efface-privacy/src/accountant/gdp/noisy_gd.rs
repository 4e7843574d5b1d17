#![doc = include_str!("noisy_gd.md")]

use super::check::{self, malformed};
use super::interpolation::{self, Stretch};
use super::{AccountantError, World, restart};
use crate::event::{Adjacency, NoisyGd, Normalizer, Phase};
use crate::outward;
use crate::quantity::Mu;

/// Events with more phases than this are refused: phases can be merged.
const MOST_PHASES: usize = 100_000;

/// mu of the pair of `world` for noisy gradient descent, rounded up by a relative 1e-9.
///
/// Every step lives on the grid and is computed in float64, so that each step's shift grows by
/// (1 + c) g sqrt(P) + 2 `rounding`. Source: Bok, Su and Altschuler (2024), with the derivation in
/// this module's documentation.
///
/// # Errors
/// When a number of the event is out of range, the counts of its phases contradict each other, the
/// step size is not in (0, 2/L), or the normaliser lacks what the world needs.
///
/// Where the event has a radius, every bound is the least over full histories and those that are
/// taken up late, from any two points of the ball.
pub fn mu_noisy_gd(event: &NoisyGd, world: World) -> Result<Mu, AccountantError> {
    let run = Run::new(event)?;
    let ln_mu = match world {
        World::Retraining => run.retraining()?,
        World::DeletionPrivacy(adjacency) => {
            let shift = run.group_shift(adjacency, world)?;
            run.deletion(shift)?
        }
        World::DifferentialPrivacyOneRelease(adjacency) => {
            let shift = run.group_shift(adjacency, world)?;
            run.ln_mu(&[run.stretch(event.longest, shift)])?
        }
        World::DifferentialPrivacyAllReleases(adjacency) => {
            let shift = run.group_shift(adjacency, world)?;
            run.all_releases(shift)?
        }
    };
    let mu = libm::exp(ln_mu);
    let vanished = mu == 0.0 && ln_mu > f64::NEG_INFINITY;
    Ok(outward::mu(if vanished { f64::MIN_POSITIVE } else { outward::up(mu) }))
}

/// An event whose numbers are checked.
struct Run<'a> {
    event: &'a NoisyGd,
    /// eta G.
    reach: f64,
    /// ln c, rounded up.
    ln_contraction: f64,
    /// What grid and float64 add to every step's shift.
    arithmetic: f64,
    noise: f64,
    /// 2 R, where there is a radius.
    diameter: Option<f64>,
    last: Phase,
}

impl<'a> Run<'a> {
    fn new(event: &'a NoisyGd) -> Result<Self, AccountantError> {
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
        Ok(Self { event, reach, ln_contraction, arithmetic, noise, diameter, last })
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
        let stretches = self
            .event
            .phases
            .iter()
            .map(|phase| Ok(self.stretch(phase.steps, self.reach * self.difference(phase)?)))
            .collect::<Result<Vec<_>, AccountantError>>()?;
        self.ln_mu(&stretches)
    }

    /// Distance of the averaged gradients on a phase's data set and on the latest, relative to G.
    fn difference(&self, phase: &Phase) -> Result<f64, AccountantError> {
        let (then, now) = (phase.only_then as f64, phase.only_now as f64);
        match self.event.setting.normalizer {
            Normalizer::Fixed { n, .. } => Ok((then + now) / n as f64),
            Normalizer::Mean { .. } if phase.only_then == 0 && phase.only_now == 0 => Ok(0.0),
            Normalizer::Mean { .. } => match (phase.records, self.last.records) {
                (Some(before), Some(after)) => Ok(2.0 * then.max(now) / (before.max(after) as f64)),
                _ => Err(AccountantError::Unsupported {
                    notion: World::Retraining.notion(),
                    reason: "the `mean` normaliser needs `records` in every phase",
                }),
            },
        }
    }

    fn deletion(&self, shift: f64) -> Result<f64, AccountantError> {
        let mut before = 0_u64;
        for phase in &self.event.phases[..self.event.phases.len() - 1] {
            before = before
                .checked_add(phase.steps)
                .ok_or_else(|| malformed("steps", "below 2^64 in all phases together", "more"))?;
        }
        if before == 0 {
            return Err(AccountantError::Unsupported {
                notion: "deletion privacy",
                reason: "nothing was deleted: the event has only the phase of learning",
            });
        }
        self.ln_mu(&[self.stretch(before, shift), self.stretch(self.last.steps, 0.0)])
    }

    /// Each release from the published model before it; the squares of the mu add up.
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

/// ln of max(1 - eta m, eta (beta + m) - 1), rounded up; none unless eta (beta + m) < 2.
fn ln_contraction(step: f64, smoothness: f64, strong_convexity: f64) -> Option<f64> {
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
    let Some(&last) = event.phases.last() else {
        return Err(malformed("phases", "at least one", 0));
    };
    if event.phases.len() > MOST_PHASES {
        return Err(malformed("phases", "at most 100000", event.phases.len()));
    }
    check::count("longest", event.longest)?;
    check::count("learning", event.learning)?;
    if event.learning > event.longest {
        return Err(malformed("learning", "at most `longest`", event.learning));
    }
    let mut releases = 0_u64;
    for phase in &event.phases {
        check::count("steps", phase.steps)?;
        check::count("releases", phase.releases)?;
        check::size("only_then", phase.only_then)?;
        check::size("only_now", phase.only_now)?;
        check::records(&event.setting, phase.records)?;
        if phase.steps > event.longest.saturating_mul(phase.releases) {
            return Err(malformed("steps", "at most `longest` for each release", phase.steps));
        }
        if let Normalizer::Fixed { capacity, .. } = event.setting.normalizer {
            for (name, value) in [("only_then", phase.only_then), ("only_now", phase.only_now)] {
                if value > capacity {
                    return Err(malformed(name, "at most `capacity`", value));
                }
            }
        }
        releases = releases.saturating_add(phase.releases);
    }
    if releases != event.releases {
        return Err(malformed("releases", "the sum over `phases`", event.releases));
    }
    let learned = event.phases.first().map_or(0, |phase| phase.steps);
    if event.learning > learned {
        return Err(malformed("learning", "at most the first phase's `steps`", event.learning));
    }
    if last.only_then != 0 || last.only_now != 0 {
        let got = last.only_then.saturating_add(last.only_now);
        return Err(malformed("only_then + only_now of the last phase", "0", got));
    }
    Ok(last)
}
