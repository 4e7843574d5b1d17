use rand_chacha::ChaCha20Rng;
use rand_core::{Infallible, SeedableRng, TryRng};

use super::lazy::Lazy;
use super::*;
use crate::special::normal_cdf;

/// A generator that first gives one prepared word and then honest ones.
struct Scripted {
    word: u64,
    words: u32,
    rest: ChaCha20Rng,
}

impl TryRng for Scripted {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_u64() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.words += 1;
        Ok(if self.words == 1 { self.word } else { self.rest.next_u64() })
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.rest.fill_bytes(out);
        Ok(())
    }
}

/// Runs `trial` on every sequence of one-bit digits and reports the outcomes settled within
/// `depth` bits with their exact mass; returns the mass left open.
fn every_path<T>(
    depth: u32,
    trial: impl Fn(&mut Source<'_, 1, Scripted>) -> T,
    mut settled: impl FnMut(T, f64),
) -> f64 {
    let (mut path, mut open) = (0_u64, 0.0);
    loop {
        // The digits are taken from the low end, so the first digit is the lowest bit.
        let mut rng = Scripted { word: path, words: 0, rest: ChaCha20Rng::seed_from_u64(1) };
        let mut source = Source::new(&mut rng);
        let outcome = trial(&mut source);
        let spare = source.spare_bits();
        let used = if rng.words > 1 { 65 } else { 64 - spare };
        let length = used.min(depth);
        if used <= depth {
            settled(outcome, 0.5_f64.powi(length as i32));
        } else {
            open += 0.5_f64.powi(length as i32);
        }
        // The next path that differs within the first `length` digits, in digit order.
        let mut digit = length;
        loop {
            if digit == 0 {
                return open;
            }
            digit -= 1;
            if path >> digit & 1 == 0 {
                path = (path | 1 << digit) & (u64::MAX >> (63 - digit));
                break;
            }
        }
    }
}

#[test]
fn the_chain_for_exp_of_minus_half_has_that_probability() {
    let mut yes = 0.0;
    let open = every_path(24, normal::below_exp_half, |outcome, mass| {
        yes += if outcome { mass } else { 0.0 };
    });
    let want = (-0.5_f64).exp();
    assert!(open < 2e-3, "open {open}");
    assert!(yes <= want && want <= yes + open, "{yes} {want} {open}");
}

#[test]
fn the_chain_for_the_fraction_has_its_probability() {
    for k in [0_u32, 1, 2, 5] {
        for x in [0.25_f64, 0.625] {
            let mut yes = 0.0;
            let trial = |source: &mut Source<'_, 1, Scripted>| {
                // x = 0.01000... or 0.10100... in one-bit digits, as many as can be asked for.
                let digits = (1..=64).map(|i| ((x * 2f64.powi(i)) as u64) & 1).collect();
                normal::below_exp_part(k, &mut Lazy::from_digits(digits), source)
            };
            let open = every_path(20, trial, |outcome, mass| {
                yes += if outcome { mass } else { 0.0 };
            });
            let want = (-x * (2.0 * f64::from(k) + x) / (2.0 * f64::from(k) + 2.0)).exp();
            assert!(open < 0.08, "open {open}");
            assert!(yes <= want && want <= yes + open, "k {k} x {x}: {yes} {want} {open}");
        }
    }
}

#[test]
fn one_proposal_has_the_mass_of_the_normal_density() {
    // P(accepted and |Z| rounds to n at scale 1) = (1 - e^-1/2) * integral of exp(-z^2/2).
    let sampler = RoundedNormal::new(1).unwrap();
    let (mut mass, mut rejected) = ([0.0_f64; 4], 0.0);
    let trial = |source: &mut Source<'_, 1, Scripted>| {
        normal::NormalDigits::propose(source).map(|digits| {
            let rounded = digits.fraction.rounded_multiple(sampler.scale(), source);
            (u64::from(digits.whole) + rounded) as usize
        })
    };
    let open = every_path(24, trial, |outcome, weight| match outcome {
        Some(n) => mass[n.min(3)] += weight,
        None => rejected += weight,
    });
    assert!(open < 0.16, "open {open}");
    let scale = -(-0.5_f64).exp_m1() * (2.0 * std::f64::consts::PI).sqrt();
    for (n, &low) in mass.iter().enumerate() {
        let from = if n == 0 { 0.5 } else { normal_cdf(n as f64 - 0.5) };
        let to = if n == 3 { 1.0 } else { normal_cdf(n as f64 + 0.5) };
        let want = scale * (to - from);
        assert!(low <= want && want <= low + open, "{n}: {low} {want} {open}");
    }
    let want = 1.0 - 0.5 * scale;
    assert!(rejected <= want && want <= rejected + open, "{rejected} {want} {open}");
}

#[test]
fn rounding_splits_the_unit_interval_exactly() {
    for scale in [1_u64, 2, 3, 7, 10] {
        let mut mass = vec![0.0; scale as usize + 1];
        let trial = |source: &mut Source<'_, 1, Scripted>| {
            Lazy::draw(source).rounded_multiple(scale, source)
        };
        let open = every_path(18, trial, |n, weight| mass[n as usize] += weight);
        assert!(open < 1e-4, "open {open}");
        for (n, &low) in mass.iter().enumerate() {
            let ends = if n == 0 || n as u64 == scale { 0.5 } else { 1.0 };
            let want = ends / scale as f64;
            assert!(low <= want && want <= low + open, "{scale} {n}: {low} {want}");
        }
    }
}

/// Chi-square of counts against probabilities, and its number of cells.
fn chi_square(counts: &[u64], probabilities: &[f64]) -> f64 {
    let total: u64 = counts.iter().sum();
    counts
        .iter()
        .zip(probabilities)
        .map(|(&count, p)| {
            let expected = p * total as f64;
            (count as f64 - expected).powi(2) / expected
        })
        .sum()
}

/// Upper 1e-9 point of chi-square by Wilson and Hilferty (6 standard deviations).
fn chi_square_limit(freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + 6.0 * spread.sqrt()).powi(3)
}

/// 10^6 draws at scales from 1 to 2^45 against the normal law, chi-square at a false-alarm rate
/// of 1e-9 each; the seed is fixed.
#[test]
fn draws_follow_the_rounded_normal_law() {
    for (seed, scale) in [(1, 1_u64), (2, 3), (3, 1000), (4, 1 << 30), (5, MOST_SCALE)] {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut draws = vec![0_i64; 1_000_000];
        RoundedNormal::new(scale).unwrap().fill(&mut draws, &mut rng);
        // Borders at half-integers of the draw nearest to -4.2 s, ..., 4.2 s.
        let mut borders: Vec<f64> =
            (-42..=42).map(|i| (f64::from(i) / 10.0 * scale as f64).round() + 0.5).collect();
        borders.dedup();
        let mut counts = vec![0_u64; borders.len() + 1];
        for &draw in &draws {
            counts[borders.partition_point(|&b| b < draw as f64)] += 1;
        }
        let cdf = |b: f64| normal_cdf(b / scale as f64);
        let mut probabilities: Vec<f64> =
            borders.windows(2).map(|w| cdf(w[1]) - cdf(w[0])).collect();
        probabilities.insert(0, cdf(borders[0]));
        probabilities.push(cdf(-borders[borders.len() - 1]));
        let statistic = chi_square(&counts, &probabilities);
        let limit = chi_square_limit(counts.len() as f64 - 1.0);
        assert!(statistic < limit, "scale {scale}: {statistic} against {limit}");
    }
}

/// round(s Z) by another method: the distribution function is inverted for a uniform of 64 bits
/// by bisection over the integers. Its own error is about 1e-15 in probability, invisible here.
fn by_bisection(scale: u64, rng: &mut impl Rng) -> i64 {
    let u = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut low, mut high) = (-(9 * scale as i64), 9 * scale as i64);
    while low < high {
        let middle = low + (high - low).div_euclid(2);
        if normal_cdf((middle as f64 + 0.5) / scale as f64) > u {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Two samples of 4 * 10^5 draws at scale 5, two-sample chi-square on 41 cells at a false-alarm
/// rate of 1e-9; the seeds are fixed.
#[test]
fn a_second_sampler_of_another_kind_agrees() {
    let (mut mine, mut theirs) = ([0_u64; 41], [0_u64; 41]);
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let sampler = RoundedNormal::new(5).unwrap();
    let cell = |draw: i64| (draw + 20).clamp(0, 40) as usize;
    for _ in 0..400_000 {
        mine[cell(sampler.draw(&mut rng))] += 1;
        theirs[cell(by_bisection(5, &mut rng))] += 1;
    }
    let statistic: f64 = mine
        .iter()
        .zip(&theirs)
        .map(|(&a, &b)| (a as f64 - b as f64).powi(2) / (a + b) as f64)
        .sum();
    assert!(statistic < chi_square_limit(40.0), "{statistic}");
}

#[test]
fn signs_are_fair_and_draws_are_reproducible() {
    let sampler = RoundedNormal::new(1 << 30).unwrap();
    let mut first = vec![0; 100_000];
    let mut second = first.clone();
    sampler.fill(&mut first, &mut ChaCha20Rng::seed_from_u64(7));
    sampler.fill(&mut second, &mut ChaCha20Rng::seed_from_u64(7));
    assert_eq!(first, second);
    let negative = first.iter().filter(|&&x| x < 0).count() as f64;
    // 6 standard deviations of a fair coin: false-alarm rate 2e-9.
    assert!((negative - 5e4).abs() < 6.0 * 158.2, "{negative}");
}

/// Draws of parts follow the law together, 488 generators of 2,048 draws and one of 576, and are not
/// correlated between them: chi-square and a sum of products, each at a false-alarm rate of 1e-9 or less.
#[test]
fn parts_follow_the_law_and_do_not_resemble_each_other() {
    let sampler = RoundedNormal::new(1).unwrap();
    let mut draws = vec![0_i64; 1_000_000];
    let of_parts = parts(&mut draws, &mut ChaCha20Rng::seed_from_u64(8));
    assert_eq!(of_parts.iter().map(|(part, _)| part.len()).sum::<usize>(), 1_000_000);
    assert!(of_parts.iter().rev().skip(1).all(|(part, _)| part.len() == 2_048));
    for (part, mut rng) in of_parts {
        sampler.fill(part, &mut rng);
    }
    let mut counts = [0_u64; 9];
    draws.iter().for_each(|&draw| counts[(draw + 4).clamp(0, 8) as usize] += 1);
    let probabilities: Vec<f64> = (-4..=4)
        .map(|n| {
            let below = if n == -4 { 0.0 } else { normal_cdf(f64::from(n) - 0.5) };
            let above = if n == 4 { 1.0 } else { normal_cdf(f64::from(n) + 0.5) };
            above - below
        })
        .collect();
    let statistic = chi_square(&counts, &probabilities);
    assert!(statistic < chi_square_limit(8.0), "{statistic}");
    // The variance of round(Z) is 13/12 but for 1e-8; products of independent draws have its square.
    let products: i64 = draws[2_048..].iter().zip(&draws).map(|(a, b)| a * b).sum();
    let deviation = 13.0 / 12.0 * (draws.len() as f64).sqrt();
    assert!((products as f64).abs() < 6.5 * deviation, "{products}");
}

#[test]
fn scales_out_of_range_are_refused() {
    assert_eq!(RoundedNormal::new(0), Err(ScaleError(0)));
    assert_eq!(RoundedNormal::new(MOST_SCALE + 1), Err(ScaleError(MOST_SCALE + 1)));
    assert_eq!(ScaleError(0).to_string(), "`scale` must be in 1..=2^45, got 0");
}

#[test]
fn grids_are_dyadic_and_snap_noise_upward() {
    for noise in [1e-90, 0.03, 0.999_999, 1.0, 1.5, 12345.678, 1e99] {
        for bits in [20, 30, 44] {
            let grid = grid_for(noise, bits).unwrap();
            assert_eq!(grid.spacing.to_bits() & ((1 << 52) - 1), 0, "power of two");
            assert!(grid.spacing * 2f64.powi(bits as i32) <= noise);
            assert!(grid.noise >= noise && grid.noise <= noise * (1.0 + 2f64.powi(-(bits as i32))));
            assert_eq!(grid.scale as f64 * grid.spacing, grid.noise);
            assert!(RoundedNormal::new(grid.scale).is_ok());
        }
    }
    for noise in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        assert_eq!(grid_for(noise, 30).unwrap_err().name, "noise");
    }
    let refused = grid_for(1.0, 45).unwrap_err().to_string();
    assert_eq!(refused, "`bits` must be in 20..=44, got 45");
}
