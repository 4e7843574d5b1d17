//! Common inputs of the searches for a mechanism's constants.

use efface_formats::ImageShape;
use efface_learn::Constants;
use efface_learn::mechanism::{BatchPlan, Grid as Points};
use efface_learn::risk::output_noise;
use efface_page::number::near;
use efface_privacy::accountant::pld::{self, Segment};
use efface_privacy::calibrate::least_count;
use efface_privacy::certificate::Origin;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Composed, Event, Given, Setting};
use efface_privacy::gaussian;
use efface_privacy::quantity::{Delta, Epsilon, Mu};
use efface_privacy::sampler::{Grid, grid_for};

use crate::error::{Code, Error, Result};
use crate::plan::{Target, ValidatedSettings};
use crate::settings::MOST_STEPS;
pub(crate) use crate::settings::default::EXCESS_RISK;

/// Returns the fewest steps of a request with `ok(steps)`; `None` if even [`MOST_STEPS`] are not enough.
pub(crate) fn least_steps(ok: impl FnMut(u64) -> Result<bool>) -> Result<Option<u64>> {
    least_count(MOST_STEPS, ok)
}

/// The largest mu that is tried on top of a network, and how often the range is halved.
const MOST_ROOM: f64 = 16.0;
const HALVINGS: u32 = 24;

/// Public numbers from which a schedule is computed.
pub(crate) struct Public<'a> {
    pub(crate) choices: &'a ValidatedSettings,
    pub(crate) constants: &'a Constants,
    pub(crate) setting: &'a Setting,
    pub(crate) target: &'a Target,
    pub(crate) records: u64,
    /// Number of subjects of the first training, if the mechanism asks for it.
    pub(crate) people: Option<u64>,
    /// Whether records name subjects.
    pub(crate) subjects: bool,
    /// Origin of the normaliser's numbers.
    pub(crate) normalizer_origin: Origin,
    /// Origin of the normaliser's numbers together with delta.
    pub(crate) size_origin: Origin,
    pub(crate) given: Option<&'a Given>,
    /// Records deleted together, before and since, for which claims about features of a training must hold; 0
    /// for other features.
    pub(crate) deletions: u64,
    /// The image shape of rows, if the table states one.
    pub(crate) image: Option<ImageShape>,
    /// The batches that steps are over, unless they are over all records.
    pub(crate) batches: Option<BatchPlan>,
}

impl Public<'_> {
    /// Returns the number of records that may still be deleted from the training of the features, if they
    /// come from one.
    fn since(&self) -> Option<u64> {
        Some(self.deletions.saturating_sub(self.given?.deleted_before()?))
    }

    /// Returns how much mu the target leaves on top of the features' training after all deletions that its
    /// noise must cover; `None` if features come from no training.
    ///
    /// # Errors
    /// Fails if the training alone exceeds the target.
    pub(crate) fn room(&self) -> Result<Option<Mu>> {
        let Some(segments) = self.within()? else { return Ok(None) };
        let (mut good, mut bad) = (0.0, MOST_ROOM);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (good + bad);
            let epsilon = self.beside(&segments, middle)?;
            if epsilon <= self.target.epsilon.0 { good = middle } else { bad = middle }
        }
        Mu::new(good).map(Some).map_err(|error| unaccounted(&error))
    }

    /// Returns the steps of the features' training after all deletions that its noise must cover; `None` if
    /// features come from no training.
    ///
    /// # Errors
    /// Fails if the training alone exceeds the target.
    pub(crate) fn within(&self) -> Result<Option<Vec<Segment>>> {
        let (Some(given), Some(since)) = (self.given, self.since()) else { return Ok(None) };
        let found = pld::declared::deleted_since(given, since);
        let Some((segments, deleted)) = found.map_err(|error| unaccounted(&error))? else {
            return Ok(None);
        };
        let alone = self.beside(&segments, 0.0)?;
        if alone > self.target.epsilon.0 {
            return Err(self.beyond(given, alone, deleted));
        }
        Ok(Some(segments))
    }

    /// Returns the epsilon of a training's steps with something `mu`-GDP on top.
    fn beside(&self, segments: &[Segment], mu: f64) -> Result<f64> {
        let delta = Delta::new(self.target.delta.0).map_err(|error| unaccounted(&error))?;
        let mu = Mu::new(mu).map_err(|error| unaccounted(&error))?;
        let epsilon = pld::event::agreed_epsilon(segments, mu, delta);
        epsilon.map(|agreed| agreed.epsilon.get()).map_err(|error| unaccounted(&error))
    }

    fn beyond(&self, given: &Given, alone: f64, deleted: u64) -> Error {
        if given.declared.is_some() {
            let message = format!(
                "the declared training of the extractor alone reaches epsilon {} after {deleted} \
                 deletions (`§deletions`)",
                near(alone, 3)
            );
            return self.infeasible("on these features").hint(format!(
                "{message}; give a larger `§epsilon`, fewer `§deletions`, or train an extractor with \
                 more noise"
            ));
        }
        let message = format!(
            "the network of the features alone reaches epsilon {} after the {deleted} deletions \
             that its noise was chosen for",
            near(alone, 3)
        );
        self.infeasible("on these features").hint(format!(
            "{message}; give a larger `§epsilon`, or train a network with more noise"
        ))
    }

    /// Returns whether the target is met after as many deletions as the given features allow; `room` is
    /// [`room`](Self::room).
    pub(super) fn is_met(&self, inner: Event, room: Option<Mu>) -> Result<bool> {
        let Some(room) = room else { return self.target.is_met(&self.composed(inner)) };
        let claim = self.target.claim(&inner)?;
        Ok(claim.mu.is_some_and(|mu| mu.0 <= room.get()))
    }

    /// Estimates the largest x whose event meets the target if mu is linear in x; NaN if no estimate is
    /// known. A search starts from it.
    pub(super) fn about(
        &self,
        event: impl Fn(f64) -> Result<Event>,
        room: Option<Mu>,
    ) -> Result<f64> {
        let target = self.target;
        let divergence = matches!(target.notion, Notion::RenyiUnlearning | Notion::DeletionPrivacy);
        let at = |x: f64| {
            let inner = event(x)?;
            let event = if room.is_some() { inner } else { self.composed(inner) };
            let claim = target.claim(&event)?;
            Ok::<_, Error>(match claim.mu {
                Some(mu) if room.is_some() || !divergence => mu.0,
                // A Rényi divergence grows with the square of mu.
                _ if divergence => claim.epsilon.0.sqrt(),
                _ => f64::NAN,
            })
        };
        let most = match room {
            Some(room) => room.get(),
            None if divergence => target.epsilon.0.sqrt(),
            None => {
                let asked =
                    Epsilon::new(target.epsilon.0).ok().zip(Delta::new(target.delta.0).ok());
                let mu = asked.and_then(|(epsilon, delta)| gaussian::mu(epsilon, delta).ok());
                mu.map_or(f64::NAN, Mu::get)
            }
        };
        let (one, two) = (at(1.0)?, at(2.0)?);
        Ok(1.0 + (most - one) / (two - one))
    }

    /// Returns the event on top of the given features, after as many deletions as their figures are for.
    /// Later requests that delete more are accounted when they come.
    pub(super) fn composed(&self, inner: Event) -> Event {
        let Some(given) = self.given else { return inner };
        let removed = Some(match self.since() {
            Some(left) => left,
            None => given.group.max(self.setting.group),
        });
        Event::Composed(Composed { given: given.clone(), removed, inner: Box::new(inner) })
    }

    /// Returns the grid of optima that are found to within [`FARTHEST`] times the noise.
    pub(super) fn grid(&self, sigma: f64) -> Result<Grid> {
        grid(sigma, self.constants.optimum_bound() + FARTHEST * sigma)
    }

    /// Returns the number of records that defaults depend on: N, if it is a public constant.
    pub(super) fn size(&self) -> u64 {
        self.setting.normalizer.divisor(self.records).max(1)
    }

    pub(super) fn smooth(&self) -> f64 {
        self.constants.total_smoothness()
    }

    /// Returns the largest output noise whose bound on the excess risk is within `risk`, for a distance of
    /// `unit` times the noise.
    pub(super) fn affordable(&self, risk: Option<f64>, unit: f64) -> f64 {
        // The risk is a multiple of sigma^2 if distance and grid are multiples of sigma.
        let fine = 0.5_f64.powi(FINEST as i32);
        let per_square = output_noise(self.constants, unit, 1.0, fine);
        (risk.unwrap_or(EXCESS_RISK) / per_square).sqrt() * (1.0 - 1e-6)
    }

    pub(super) fn infeasible(&self, what: &str) -> Error {
        let t = self.target;
        Error::refused(
            Code::Infeasible,
            format!("{} with epsilon {} cannot be met {what}", t.notion.name(), t.epsilon),
        )
    }
}

fn unaccounted(error: &dyn std::fmt::Display) -> Error {
    Error::refused(Code::Accounting, error.to_string())
}

/// Binary digits of the grid below the leading one of the noise, if the weights leave room.
const FINEST: u32 = 30;
/// The fewest such digits that an event may have.
pub(super) const COARSEST: u32 = 20;
/// The largest distance to an optimum that is tried, in multiples of the noise.
pub(super) const FARTHEST: f64 = 1e3;

/// Returns the finest grid that `fits`, for a noise that is rounded up to a multiple of it. The cost of a
/// coarser grid is accounted like that of any grid.
pub(super) fn finest<T>(noise: f64, fits: impl Fn(&Grid) -> Option<T>) -> Result<(Grid, T)> {
    for bits in (COARSEST..=FINEST).rev() {
        let grid = with_bits(noise, bits)?;
        if let Some(found) = fits(&grid) {
            return Ok((grid, found));
        }
    }
    let text = format!(
        "noise {noise:e} is too small relative to the weights: float64 cannot represent them on a \
         grid of 2^-{COARSEST} of it"
    );
    Err(Error::refused(Code::Noise, text)
        .hint("raise `§lambda`, `§noise` or `§excess-risk`, or lower `§row-norm`"))
}

/// Returns the grid for a noise and weights up to `reach`; if float64 can hold them on none, the coarsest,
/// which the mechanism then refuses by its own rules.
pub(super) fn grid(noise: f64, reach: f64) -> Result<Grid> {
    let fits = |grid: &Grid| Points::holds(grid.spacing, reach).then_some(());
    finest(noise, fits).map(|(grid, ())| grid).or_else(|_| with_bits(noise, COARSEST))
}

fn with_bits(noise: f64, bits: u32) -> Result<Grid> {
    grid_for(noise, bits).map_err(|error| Error::refused(Code::Noise, error.to_string()))
}
