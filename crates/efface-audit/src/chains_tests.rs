//! Chains side by side and the engine's own runs, from vaults.

use efface::{Settings, Simulation, World};
use efface_privacy::event::Event;

use super::chains;
use super::worlds::{Seeds, Side, Worlds, watch};
use crate::vault_tests::trained;

/// The reference that is run side by side is the engine's, for every mechanism that can be: from the
/// same generator both worlds end within a few spacings of the grid, which rounding may cost.
#[test]
fn the_reference_side_by_side_is_the_engine_s() {
    let base = || Settings {
        lambda: Some(0.1),
        delta: Some(1e-2),
        epsilon: Some(1.0),
        ..Settings::default()
    };
    let named = |mechanism: &str| Settings { mechanism: Some(mechanism.into()), ..base() };
    let descent = || named("descent-to-delete");
    for (name, settings) in [
        ("noisy-gd", named("noisy-gd")),
        ("noisy-gd, mean", Settings { normalizer: Some("mean".into()), ..named("noisy-gd") }),
        ("perfect", descent()),
        ("perfect, mean", Settings { normalizer: Some("mean".into()), ..descent() }),
        ("perfect, published", Settings { accountant: Some("descent".into()), ..descent() }),
        ("secret", Settings { variant: Some("secret".into()), releases: Some(3), ..descent() }),
    ] {
        let (_folder, vault) = trained(9, settings);
        let sample = efface::audit_sample(&vault, &[]).unwrap();
        let (plan, data) = (&sample.plan, &sample.records);
        let constants = plan.constants().unwrap();
        let simulation = Simulation::new(plan, data, &[5]).unwrap();
        let seeds = || Seeds::new([8; 32]);
        let rng = &mut seeds().generator(Side::Deleted, 1_000_000);
        let learnt = simulation.learn(World::Before, rng, &mut watch(&|| false)).unwrap();
        let deleted = simulation.delete(&learnt, rng, &mut watch(&|| false)).unwrap();
        let batch = chains::batch(&simulation, &constants, data, &deleted, rng, &|| false)
            .unwrap()
            .unwrap();
        let worlds = batch.worlds(&constants, &[5], seeds());
        let (spacing, eta) = match deleted.event.core() {
            Event::NoisyGd(event) => (event.grid.0, event.step.0),
            Event::Descent(event) => (event.grid.0, event.step.0),
            other => panic!("{other:?}"),
        };
        let most = spacing * (2.0 + 1.0 / (1.0 - constants.contraction(eta)));
        for side in [Side::Deleted, Side::Reference] {
            let many = worlds.releases(side, 0..20, &|| false).unwrap();
            for (run, chain) in many.chunks_exact(worlds.parameters()).enumerate() {
                let rng = &mut seeds().generator(side, run as u64);
                let expected = match side {
                    Side::Deleted => {
                        let learnt =
                            simulation.learn(World::Before, rng, &mut watch(&|| false)).unwrap();
                        simulation.delete(&learnt, rng, &mut watch(&|| false)).unwrap()
                    }
                    Side::Reference => {
                        simulation.reference(&deleted.event, rng, &mut watch(&|| false)).unwrap()
                    }
                };
                for (a, b) in chain.iter().zip(&expected.weights) {
                    assert!((a - b).abs() <= most, "{name}, {side:?} {run}: {a} and {b}");
                }
            }
        }
    }
}
