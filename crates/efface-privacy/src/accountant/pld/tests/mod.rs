//! DP-SGD for groups against known numbers, closed forms and looser bounds.

mod grid;

use super::mixture::Mixture;
use super::*;
use crate::special::normal_cdf;
use proptest::prelude::*;

fn segment(noise: f64, rate: f64, steps: u64, group: u64) -> Segment {
    Segment { steps, noise, rate, group }
}

fn none() -> Mu {
    Mu::new(0.0).unwrap()
}

fn of(segments: &[Segment], head: f64, delta: f64) -> f64 {
    epsilon(segments, Mu::new(head).unwrap(), Delta::new(delta).unwrap()).unwrap().get()
}

fn in_direction(segment: Segment, direction: Direction, delta: f64) -> f64 {
    let Ok(Steps::Sampled(parts)) = Steps::new(&[segment], none()) else { panic!("not sampled") };
    epsilon_in(&parts, direction, Delta::new(delta).unwrap()).unwrap()
}

const N: f64 = 1.0 / 60_000.0;

/// Both directions, and the conversion of Rényi divergences, which is looser.
#[test]
fn known_settings() {
    for (noise, rate, steps, group, delta, added, removed, rdp) in [
        (1.0, 0.01, 1000, 1, 1e-5, 1.8282, 1.4177, 2.1078),
        (2.0, 1024.0 / 60_000.0, 878, 1, N, 1.0052, 0.9319, 1.1089),
        (2.0, 1024.0 / 60_000.0, 878, 5, N, 6.2878, 5.6912, 6.8357),
        (26.74, 4096.0 / 60_000.0, 175, 8, N, 0.9795, 0.9693, 1.0748),
        (145.673, 8192.0 / 60_000.0, 73, 36, N, 1.0479, 1.0450, 1.1485),
        (0.8, 0.02, 500, 3, 1e-6, 18.4107, 9.7259, 20.6551),
    ] {
        let segment = segment(noise, rate, steps, group);
        let near = |got: f64, want: f64| {
            assert!((got / want - 1.0).abs() < 1e-3, "{segment:?}: {got} against {want}");
        };
        near(in_direction(segment, Direction::Added, delta), added);
        near(in_direction(segment, Direction::Removed, delta), removed);
        let most = 100.min(1200 / group);
        near(
            rdp_epsilon(&[segment], crate::outward::mu(0.0), Delta::new(delta).unwrap(), most)
                .unwrap()
                .get(),
            rdp,
        );
        assert!(of(&[segment], 0.0, delta) >= added * (1.0 - 1e-4));
    }
}

/// By whole orders alone: a little more than by all orders, and never less than what it checks.
#[test]
fn whole_orders_bound_the_same() {
    let of = |segments: &[Segment], head: f64, delta, hops| {
        let (head, delta) = (crate::outward::mu(head), Delta::new(delta).unwrap());
        whole_orders_epsilon(segments, head, delta, hops, 64).unwrap().get()
    };
    // Sums over all draws of each order by another program.
    for (noise, rate, steps, group, delta, want) in [
        (1.0, 0.01, 1000, 1, 1e-5, 2.107_753_075_45),
        (26.74, 4096.0 / 60_000.0, 175, 8, N, 1.074_768_480_04),
        (1000.0, 1e-6, 1000, 1, 1e-5, 0.100_982_474_486),
        (2.0, 1.0, 10, 3, 1e-5, 32.626_631_103_85),
    ] {
        let segment = segment(noise, rate, steps, group);
        let (found, all) = (of(&[segment], 0.0, delta, Hops::One), Delta::new(delta).unwrap());
        let all = rdp_epsilon(&[segment], crate::outward::mu(0.0), all, 64).unwrap().get();
        assert!((found / want - 1.0).abs() < 1e-7, "{segment:?}: {found}");
        assert!(found >= all * (1.0 - 1e-8) && found >= self::of(&[segment], 0.0, delta));
        // Twice what holds at the delta that is left for each of both ways.
        let both = of(&[segment], 0.1, delta, Hops::Two);
        let share = delta / (1.0 + (both / 2.0).exp());
        let one = of(&[segment], 0.1, share.max(1e-300), Hops::One);
        assert!((2.0 * one / both - 1.0).abs() < 1e-6, "{segment:?}: {both} {one}");
    }
    let parts = [segment(1.0, 0.01, 400, 1), segment(1.0, 0.01, 600, 1)];
    assert!((of(&parts, 0.0, 1e-5, Hops::One) / 2.107_753_075_45 - 1.0).abs() < 1e-7);
}

/// A trunk with a head on top: sharper than adding what each has.
#[test]
fn a_head_is_composed_with_a_trunk() {
    let trunk = segment(26.74, 4096.0 / 60_000.0, 175, 8);
    let delta = Delta::new(N).unwrap();
    for (alone, joint) in [(0.48, 1.119), (0.153, 0.998)] {
        let mu = gaussian::mu(Epsilon::new(alone).unwrap(), delta).unwrap();
        let got = epsilon(&[trunk], mu, delta).unwrap().get();
        assert!((got / joint - 1.0).abs() < 1e-3, "{alone}: {got}");
    }
}

/// Delta of one step in either direction, by the definition.
fn one_step(segment: Segment, direction: Direction, epsilon: f64) -> f64 {
    let Segment { noise, rate, group, .. } = segment;
    let k = group as f64;
    let ln_choose =
        |j: f64| libm::lgamma(k + 1.0) - libm::lgamma(j + 1.0) - libm::lgamma(k - j + 1.0);
    let weight = |j: f64| (ln_choose(j) + j * rate.ln() + (k - j) * (-rate).ln_1p()).exp();
    let weights: Vec<(f64, f64)> = (0..=group).map(|j| (j as f64, weight(j as f64))).collect();
    let loss = |x: f64| {
        let ratio = |(j, w): &(f64, f64)| w * (j * (2.0 * x - j) / (2.0 * noise * noise)).exp_m1();
        weights.iter().map(ratio).sum::<f64>().ln_1p()
    };
    let aim = if direction == Direction::Added { epsilon } else { -epsilon };
    let (mut low, mut high) = (-40.0 * noise, k + 40.0 * noise);
    if loss(low) >= aim {
        return if direction == Direction::Added { f64::NAN } else { 0.0 };
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if loss(middle) < aim { low = middle } else { high = middle }
    }
    let x = high;
    let mixture =
        |tail: &dyn Fn(f64) -> f64| weights.iter().map(|(j, w)| w * tail(*j)).sum::<f64>();
    match direction {
        Direction::Added => {
            let p = mixture(&|j| normal_cdf((j - x) / noise));
            p - epsilon.exp() * normal_cdf(-x / noise)
        }
        Direction::Removed => {
            let p = mixture(&|j| normal_cdf((x - j) / noise));
            normal_cdf(x / noise) - epsilon.exp() * p
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn one_step_is_not_below_its_closed_form(
        ln_noise in -0.7_f64..4.0, ln_rate in -6.0_f64..-0.05, group in 1_u64..40,
        share in 0.05_f64..3.0,
    ) {
        let segment = segment(ln_noise.exp(), ln_rate.exp(), 1, group);
        let epsilon = share * group as f64 * segment.rate / segment.noise;
        let exact = [Direction::Added, Direction::Removed]
            .map(|direction| one_step(segment, direction, epsilon))
            .into_iter()
            .fold(0.0, f64::max);
        prop_assume!(exact > 1e-9 && exact < 0.9);
        let got = delta(&[segment], none(), Epsilon::new(epsilon).unwrap()).unwrap();
        prop_assert!(got >= exact - 1e-14, "{got} below {exact}");
        prop_assert!(got <= exact * (1.0 + 1e-3) + 1e-14, "{got} far above {exact}");
        let back = of(&[segment], 0.0, got);
        prop_assert!((back / epsilon - 1.0).abs() < 1e-3, "{back} against {epsilon}");
    }

    /// The conversion of Rényi divergences is an upper bound found in another way.
    #[test]
    fn losses_are_below_what_divergences_give(
        ln_noise in -0.2_f64..4.0, ln_rate in -7.0_f64..-0.3, ln_steps in 0.0_f64..9.0,
        group in 1_u64..9, tens in 3.0_f64..10.0, which in 0_usize..4,
    ) {
        let steps = ln_steps.exp() as u64;
        let segment = segment(ln_noise.exp(), ln_rate.exp(), steps, group);
        let delta = 10_f64.powf(-tens);
        let got = in_direction(segment, Direction::Added, delta);
        let looser = rdp_epsilon(&[segment], crate::outward::mu(0.0), Delta::new(delta).unwrap(), 40).unwrap().get();
        prop_assert!(got <= looser * (1.0 + 1e-6), "{got} above {looser}");
        // More of anything is no better.
        let more = [
            Segment { steps: steps + 1, ..segment },
            Segment { group: group + 1, ..segment },
            Segment { rate: segment.rate * 1.1, ..segment },
            Segment { noise: segment.noise * 0.9, ..segment },
        ];
        prop_assert!(in_direction(more[which], Direction::Added, delta) >= got * (1.0 - 2e-4));
    }
}

#[test]
fn without_sampling_the_closed_form_is_exact() {
    let delta = Delta::new(1e-6).unwrap();
    let mu = Mu::new(3.0 * 20_f64.sqrt() / 40.0).unwrap();
    let want = gaussian::epsilon(mu, delta).unwrap().get();
    let got = of(&[segment(40.0, 1.0, 20, 3)], 0.0, 1e-6);
    assert!(got >= want && got <= want * (1.0 + 1e-13), "{got} against {want}");
    // The grid gives the same for a rate that is nearly 1.
    let near = of(&[segment(40.0, 1.0 - 1e-9, 20, 3)], 0.0, 1e-6);
    assert!((near / want - 1.0).abs() < 1e-4, "{near} against {want}");
    // And so it does for phases of which one is Gaussian.
    let both = of(&[segment(40.0, 1.0 - 1e-9, 10, 3), segment(40.0, 1.0, 10, 3)], 0.0, 1e-6);
    assert!((both / want - 1.0).abs() < 1e-4, "{both} against {want}");
}

#[test]
fn a_phase_may_be_split() {
    let whole = of(&[segment(1.0, 0.01, 1000, 2)], 0.0, 1e-6);
    let halves = [segment(1.0, 0.01, 400, 2), segment(1.0, 0.01, 600, 2)];
    let split = of(&halves, 0.0, 1e-6);
    assert!((whole / split - 1.0).abs() < 1e-4, "{whole} against {split}");
}

#[test]
fn nothing_that_reveals_nothing_costs() {
    for nothing in [segment(1.0, 0.0, 10, 1), segment(1.0, 0.1, 0, 1), segment(1.0, 0.1, 10, 0)] {
        assert_eq!(of(&[nothing], 0.0, 1e-5), 0.0);
        let epsilon = Epsilon::new(0.0).unwrap();
        assert_eq!(delta(&[nothing], none(), epsilon).unwrap(), 0.0);
        assert_eq!(rdp(nothing, 2).unwrap().get(), 0.0);
    }
    assert_eq!(of(&[], 0.0, 1e-5), 0.0);
    // Delta alone suffices.
    assert_eq!(of(&[segment(100.0, 0.01, 10_000, 1)], 0.0, 4e-3), 0.0);
    assert_eq!(of(&[segment(0.6, 1e-5, 10, 1)], 0.0, 1e-3), 0.0);
    let infinite = Epsilon::new(f64::INFINITY).unwrap();
    assert_eq!(delta(&[segment(1.0, 0.01, 10, 1)], none(), infinite).unwrap(), 0.0);
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    let refused = |segment: Segment, delta: f64| match epsilon(
        &[segment],
        none(),
        Delta::new(delta).unwrap(),
    ) {
        Err(PldError::Range { name, .. }) => name,
        other => panic!("{segment:?}: {other:?}"),
    };
    for noise in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e308, 1e-3] {
        assert_eq!(refused(segment(noise, 0.1, 10, 1), 1e-5), "noise");
    }
    for rate in [-0.1, 1.5, f64::NAN, 1e-300, f64::INFINITY] {
        assert_eq!(refused(segment(1.0, rate, 10, 1), 1e-5), "rate");
    }
    assert_eq!(refused(segment(1.0, 0.1, u64::MAX, 1), 1e-5), "steps");
    assert_eq!(refused(segment(1.0, 0.1, 10, u64::MAX), 1e-5), "group");
    assert_eq!(refused(segment(1.0, 0.1, 10, 1), 1e-300), "delta");
    let head =
        epsilon(&[segment(1.0, 0.1, 10, 1)], Mu::new(1e3).unwrap(), Delta::new(0.1).unwrap());
    let refused = head.unwrap_err().to_string();
    assert!(refused.contains("are 1000") && refused.contains("more than 100, beside"), "{refused}");
    let wide = epsilon(&[segment(0.1, 0.5, 10, 500)], none(), Delta::new(1e-5).unwrap());
    assert!(matches!(wide, Err(PldError::Wide { group: 500, .. })), "{wide:?}");
    for (order, group) in [(1, 1), (5000, 1), (64, 65)] {
        let refused = rdp(segment(1.0, 0.1, 10, group), order);
        assert!(matches!(refused, Err(PldError::Range { name: "order", .. })));
    }
}

#[test]
fn extremes_are_computed() {
    for (noise, rate, steps, group, delta) in [
        (0.3, 0.5, 1_000_000, 64, 1e-5),
        (0.3, 0.999_999, 1000, 64, 1e-12),
        (0.3, 1e-5, 10, 1, 1e-12),
        (0.6, 1e-5, 1, 8, 1e-12),
        (1e6, 1e-12, 1, 1, 1e-30),
        (1000.0, 1e-5, 1_000_000, 1, 1e-12),
        (3.0, 0.1, 100, 1, 1e-150),
        (0.5, 1e-5, 3, 5, 1e-12),
        (0.7, 1e-5, 30, 64, 1e-12),
        (1.0, 1e-5, 3, 1, 1e-12),
        (1.0, 1e-4, 1000, 5, 1e-12),
    ] {
        let segment = segment(noise, rate, steps, group);
        let got = of(&[segment], 0.0, delta);
        // The most that any run loses: every unit drawn in every step.
        let drawn = Mu::new(group as f64 * (steps as f64).sqrt() / noise).unwrap();
        let most = gaussian::epsilon(drawn, Delta::new(delta).unwrap()).unwrap().get();
        assert!(got > 0.0 && got <= most * 1.01, "{segment:?}: {got} of {most}");
    }
}

#[test]
fn divergences_of_one_unit_are_binomial_sums() {
    let (noise, rate, order) = (1.3_f64, 0.07_f64, 9_u64);
    let mut sum = 0.0;
    let mut choose = 1.0;
    for j in 0..=order {
        let j = j as f64;
        let drawn = rate.powf(j) * (1.0 - rate).powf(order as f64 - j);
        sum += choose * drawn * ((j * j - j) / (2.0 * noise * noise)).exp();
        choose *= (order as f64 - j) / (j + 1.0);
    }
    let want = 5.0 * f64::ln(sum) / (order - 1) as f64;
    let got = rdp(segment(noise, rate, 5, 1), order).unwrap().get();
    assert!(got >= want && got <= want * (1.0 + 1e-8), "{got} against {want}");
    // Every unit drawn: two Gaussians.
    let drawn = rdp(segment(2.0, 1.0, 3, 4), 5).unwrap().get();
    assert!((drawn / (3.0 * 5.0 * 16.0 / 8.0) - 1.0).abs() < 1e-8);
}

/// Where logarithms of weights are large beside the divergence, their rounding must not take it below.
#[test]
fn divergences_of_large_groups_are_not_below_the_exact_ones() {
    // ln of the sum over i and j of p_i p_j e^{ij/sigma^2}, in 50 digits.
    let got = rdp(segment(1e6, 0.35, 1, 1024), 2).unwrap().get();
    assert!((1.284_505_60e-7..1.286e-7).contains(&got), "{got:e}");
}

#[test]
fn phases_of_one_kind_are_one_and_too_many_kinds_are_refused() {
    let phase = segment(2.0, 0.01, 10, 1);
    let many: Vec<Segment> = vec![phase; 1000];
    let one = of(&[Segment { steps: 10_000, ..phase }], 0.0, 1e-5);
    assert_eq!(of(&many, 0.0, 1e-5), one);
    let different = |i: u32| Segment { noise: 2.0 + f64::from(i) * 1e-3, ..phase };
    let kinds: Vec<Segment> = (0..257).map(different).collect();
    let refused = epsilon(&kinds, none(), Delta::new(1e-5).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("at most 256 kinds of steps"), "{refused}");
    let long = vec![Segment { steps: 600_000_000, ..phase }; 2];
    let refused = epsilon(&long, none(), Delta::new(1e-5).unwrap()).unwrap_err();
    assert!(refused.to_string().contains("at most 1e9"), "{refused}");
    let orders =
        rdp_epsilon(&[phase], crate::outward::mu(0.0), Delta::new(1e-5).unwrap(), u64::MAX)
            .unwrap_err();
    assert!(orders.to_string().contains("`most` must be"), "{orders}");
}

#[test]
fn the_noise_found_is_enough_and_a_little_less_is_not() {
    let (wanted, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap());
    let segment = segment(1.0, 0.01, 200, 2);
    let found = noise(segment, wanted, delta).unwrap();
    let at = |noise: f64| of(&[Segment { noise, ..segment }], 0.0, 1e-5);
    assert!(at(found) <= 1.0 && at(found * (1.0 - 3e-4)) > 1.0, "{found}");
    let drawn = Segment { rate: 1.0, steps: 1_000_000, group: 4000, ..segment };
    let hopeless = noise(drawn, wanted, delta).unwrap_err().to_string();
    assert!(hopeless.starts_with("no `noise` up to 100,000 reaches epsilon 1"), "{hopeless}");
}
