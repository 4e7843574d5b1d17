//! What one release has to do with those before it.

use efface::below::vault::Vault;
use efface::{Delete, Settings, Which, delete, plan, refresh, status, weights};

use crate::world::World;

#[test]
fn fresh_noise_in_every_release() {
    // Refreshes publish the same optimum again, found to within tau. With the same noise two of
    // them would be within 2 tau; with fresh noise of standard deviation sigma > 4 tau the four
    // weights of six refreshes all stay within 4 tau with probability below 1e-4 (fixed seeds).
    let world = World::new();
    let settings = Settings {
        state: Some("secret".into()),
        releases: Some(2),
        noise: Some(0.05),
        ..Settings::default()
    };
    let (vault, _) = world.trained(settings).unwrap();
    let coefficients = || weights(&vault).unwrap().coef;
    let efface::Schedule::Output { distance, noise, .. } = plan(&vault).unwrap().schedule else {
        panic!("another mechanism")
    };
    assert!(noise.0 > 4.0 * distance.0);
    let mut before = coefficients();
    let mut moved = Vec::new();
    for _ in 0..6 {
        world.run(|s| refresh(&vault, None, s)).unwrap();
        let now = coefficients();
        moved.extend(now.iter().zip(&before).map(|(a, b)| (a - b).abs()));
        before = now;
    }
    assert!(moved.iter().any(|m| *m > 4.0 * distance.0), "{moved:?} {distance}");
}

#[test]
fn annexes_before_a_deletion_are_erased() {
    let world = World::new();
    let (path, _) = world.trained(Settings::default()).unwrap();
    let annex = |index| Vault::open_read_only(&path).unwrap().annex(index).unwrap();
    assert!(annex(0).is_some());
    let one = Delete { what: Which::Ids(vec!["id-7".into()]), request_id: None };
    world.run(|s| delete(&path, &one, s)).unwrap();
    assert_eq!(annex(0), None, "it was measured while the record was there");
    assert!(annex(1).is_some());
    assert_eq!(status(&path).unwrap().records, 119);
}
