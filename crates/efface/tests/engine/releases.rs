//! What one release has to do with those before it.

use efface::{Settings, plan, refresh, weights};

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
    let efface::Schedule::Output(fixed) = plan(&vault).unwrap().schedule else {
        panic!("another mechanism")
    };
    let distance = fixed.distance;
    assert!(fixed.noise > 4.0 * distance);
    let mut before = coefficients();
    let mut moved = Vec::new();
    for _ in 0..6 {
        world.run(|s| refresh(&vault, None, s)).unwrap();
        let now = coefficients();
        moved.extend(now.iter().zip(&before).map(|(a, b)| (a - b).abs()));
        before = now;
    }
    assert!(moved.iter().any(|m| *m > 4.0 * distance), "{moved:?} {distance}");
}
