#![doc = include_str!("distributed_descent.md")]

use super::check::{self, malformed};
use super::{AccountantError, World};
use crate::event::{DistributedDescent, Normalizer, State};
use crate::outward;
use crate::quantity::{Delta, Epsilon, Mu};

/// Returns mu of the pair of `world` for averages over a uniform sample, rounded up by a relative 1e-9.
///
/// The derivation is in this module's documentation.
///
/// # Errors
/// Fails if a number of the event is out of range, or a world other than retraining is asked for.
pub fn mu_distributed_descent(
    event: &DistributedDescent,
    world: World,
) -> Result<Mu, AccountantError> {
    let setting = check::setting(&event.setting)?;
    if let Normalizer::Fixed { .. } = event.setting.normalizer {
        return Err(malformed("normalizer", "`mean`: parts average over their positions", "fixed"));
    }
    if event.state != State::Secret {
        return Err(malformed("state", "`secret`: sample and parts are kept", "perfect"));
    }
    check::positive("strong_convexity", event.setting.strong_convexity)?;
    check::records(&event.setting, Some(event.records))?;
    check::count("sample", event.sample)?;
    check::count("parts", event.parts)?;
    check::require("parts", "at most `sample`", event.parts, event.parts <= event.sample)?;
    if let Some(iterations) = event.iterations {
        check::count("iterations", iterations)?;
    }
    let distance = check::nonnegative("distance", event.distance)?;
    let noise = check::positive("noise", event.noise)?;
    let spread = check::grid(event.grid, noise)? * setting.root_parameters;
    check::count("releases", event.releases)?;
    let joint = check::count("joint_releases", event.joint_releases)?;
    let copies = check::count("copies", event.copies)?;
    let unsupported = |reason| AccountantError::Unsupported { notion: world.notion(), reason };
    match world {
        World::Retraining => {
            let mu = (copies * joint).sqrt() * ((2.0 * distance + spread) / noise);
            Ok(outward::mu(outward::up(mu)))
        }
        World::DeletionPrivacy(_) => {
            Err(unsupported("the state kept in `secret` state depends on the deleted records"))
        }
        World::DifferentialPrivacyOneRelease(_) | World::DifferentialPrivacyAllReleases(_) => {
            Err(unsupported("a sample may contain any number of copies of one record"))
        }
    }
}

/// Returns the published conversion of that mu, mu^2/2 + mu sqrt(2 log(2/delta)), rounded up.
///
/// # Errors
/// Fails as [`mu_distributed_descent`] does for retraining, and if the distance was measured, which the
/// published theorem does not cover.
pub fn published_epsilon(
    event: &DistributedDescent,
    delta: Delta,
) -> Result<(Mu, Epsilon), AccountantError> {
    let mu = mu_distributed_descent(event, World::Retraining)?;
    if event.iterations.is_none() {
        return Err(AccountantError::Unsupported {
            notion: "descent",
            reason: "the published theorem counts steps, and this distance was measured: use `gdp`",
        });
    }
    let x = mu.get();
    let epsilon = x * (x / 2.0 + (2.0 * libm::log(2.0 / delta.get())).sqrt());
    Ok((mu, outward::epsilon(outward::up(epsilon))))
}
