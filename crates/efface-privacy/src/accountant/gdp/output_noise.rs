#![doc = include_str!("output_noise.md")]

use super::check::{self, malformed};
use super::{AccountantError, World};
use crate::event::{Normalizer, OutputNoise, State};
use crate::outward;
use crate::quantity::Mu;

/// Returns mu of the pair of `world` for an optimum published with fresh noise, rounded up by a relative
/// 1e-9.
///
/// The derivation is in this module's documentation.
///
/// # Errors
/// Fails if a number of the event is out of range, several joint releases are claimed in `perfect` state,
/// deletion-privacy is asked of `secret` state, or the normaliser lacks what DP needs.
pub fn mu_output_noise(event: &OutputNoise, world: World) -> Result<Mu, AccountantError> {
    let setting = check::setting(&event.setting)?;
    let strong_convexity = check::positive("strong_convexity", event.setting.strong_convexity)?;
    let distance = check::nonnegative("distance", event.distance)?;
    let noise = check::positive("noise", event.noise)?;
    let spread = check::grid(event.grid, noise)? * setting.root_parameters;
    check::records(&event.setting, event.records)?;
    let releases = check::count("releases", event.releases)?;
    let joint = check::count("joint_releases", event.joint_releases)?;
    if event.state == State::Perfect && event.joint_releases != 1 {
        return Err(malformed("joint_releases", "1 in `perfect` state", event.joint_releases));
    }
    refitted(event, world)?;
    let sensitivity = |adjacency| {
        let relative = check::group_sensitivity(&event.setting, adjacency, world.notion())?;
        Ok::<_, AccountantError>(setting.lipschitz * relative / strong_convexity)
    };
    let mu = match world {
        World::Retraining => joint.sqrt() * ((2.0 * distance + spread) / noise),
        World::DeletionPrivacy(_) => {
            if event.state == State::Secret {
                return Err(AccountantError::Unsupported {
                    notion: world.notion(),
                    reason: "the state kept in `secret` state depends on the deleted records",
                });
            }
            (distance + spread) / noise
        }
        World::DifferentialPrivacyOneRelease(adjacency) => {
            (sensitivity(adjacency)? + 2.0 * distance + spread) / noise
        }
        World::DifferentialPrivacyAllReleases(adjacency) => {
            let one = (sensitivity(adjacency)? + 2.0 * distance + spread) / noise;
            releases.max(joint).sqrt() * one
        }
    };
    Ok(outward::mu(outward::up(mu)))
}

/// Preprocessing fitted again with every request: what is released with the weights is exact. No claim covers
/// the records that remain, and none covers an observer of an earlier release.
fn refitted(event: &OutputNoise, world: World) -> Result<(), AccountantError> {
    let Some(fitted) = &event.preprocessing else { return Ok(()) };
    check::count("min_frequency", fitted.min_frequency)?;
    if event.state == State::Secret {
        return Err(malformed("state", "`perfect` with fitted preprocessing", "secret"));
    }
    if !matches!(event.setting.normalizer, Normalizer::Mean { .. }) {
        return Err(malformed("normalizer", "`mean` with fitted preprocessing", "fixed"));
    }
    match world {
        World::Retraining | World::DeletionPrivacy(_) => Ok(()),
        World::DifferentialPrivacyOneRelease(_) | World::DifferentialPrivacyAllReleases(_) => {
            Err(AccountantError::Unsupported {
                notion: world.notion(),
                reason: "the release holds exact statistics of the records, which fitted \
                         preprocessing computes from them",
            })
        }
    }
}
