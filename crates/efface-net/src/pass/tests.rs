//! Gradients against differences of a second network in double precision, written in the plainest way.

use super::*;
use crate::network::Shape;

/// A layer as the text says it.
enum Plain {
    Conv { filters: usize, side: usize, stride: usize, border: usize },
    Dense { width: usize },
    Norm { groups: usize },
    Tanh,
    Relu,
    Pool { side: usize, stride: usize },
}

/// An image as a list of planes.
type Image = Vec<Vec<Vec<f64>>>;

fn image(row: &[f32], shape: Shape) -> Image {
    let planes = row.chunks(shape.height * shape.width);
    planes
        .map(|plane| {
            plane.chunks(shape.width).map(|l| l.iter().map(|&x| f64::from(x)).collect()).collect()
        })
        .collect()
}

fn windows<'a>(
    image: &'a Image,
    side: usize,
    stride: usize,
    border: usize,
) -> impl Fn(usize, usize, usize, usize, usize) -> f64 + 'a {
    move |channel, y, x, dy, dx| {
        assert!(dy < side && dx < side);
        let (y, x) =
            ((y * stride + dy).wrapping_sub(border), (x * stride + dx).wrapping_sub(border));
        image[channel].get(y).and_then(|line| line.get(x)).copied().unwrap_or(0.0)
    }
}

fn loss(layers: &[Plain], row: &[f32], shape: Shape, label: usize, weights: &[f64]) -> f64 {
    let mut at = weights.iter().copied();
    let mut take = |count: usize| at.by_ref().take(count).collect::<Vec<f64>>();
    let mut image = image(row, shape);
    for layer in layers {
        let (height, width) = (image[0].len(), image[0][0].len());
        let channels = image.len();
        image = match *layer {
            Plain::Conv { filters, side, stride, border } => {
                let w = take(side * side * channels * filters);
                let b = take(filters);
                let value = windows(&image, side, stride, border);
                let places = |n: usize| (n + 2 * border - side) / stride + 1;
                let sum = |f: usize, y: usize, x: usize| {
                    let mut sum = b[f];
                    for dy in 0..side {
                        for dx in 0..side {
                            for c in 0..channels {
                                let k = (dy * side + dx) * channels + c;
                                sum += w[k * filters + f] * value(c, y, x, dy, dx);
                            }
                        }
                    }
                    sum
                };
                let plane = |f| {
                    let line = |y| (0..places(width)).map(|x| sum(f, y, x)).collect();
                    (0..places(height)).map(line).collect()
                };
                (0..filters).map(plane).collect()
            }
            Plain::Dense { width: outputs } => {
                let mut flat = Vec::new();
                for y in 0..height {
                    for x in 0..width {
                        flat.extend(image.iter().map(|plane| plane[y][x]));
                    }
                }
                let w = take(flat.len() * outputs);
                let b = take(outputs);
                let sum = |o: usize| {
                    b[o] + flat.iter().enumerate().map(|(k, v)| v * w[k * outputs + o]).sum::<f64>()
                };
                (0..outputs).map(|o| vec![vec![sum(o)]]).collect()
            }
            Plain::Norm { groups } => {
                let (scales, shifts) = (take(channels), take(channels));
                let size = channels / groups;
                let mut result = image.clone();
                for group in 0..groups {
                    let members = group * size..(group + 1) * size;
                    let all: Vec<f64> = members.clone().flat_map(|c| image[c].concat()).collect();
                    let mean = all.iter().sum::<f64>() / all.len() as f64;
                    let spread = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
                    let deviation = (spread / all.len() as f64 + 1e-5).sqrt();
                    for c in members {
                        for x in result[c].iter_mut().flatten() {
                            *x = (*x - mean) / deviation * scales[c] + shifts[c];
                        }
                    }
                }
                result
            }
            Plain::Tanh | Plain::Relu => {
                let tanh = matches!(layer, Plain::Tanh);
                let mut result = image.clone();
                for x in result.iter_mut().flatten().flatten() {
                    *x = if tanh { x.tanh() } else { x.max(0.0) };
                }
                result
            }
            Plain::Pool { side, stride } => {
                let value = windows(&image, side, stride, 0);
                let places = |n: usize| (n - side) / stride + 1;
                let most = |c, y, x| {
                    let all = (0..side * side).map(|k| value(c, y, x, k / side, k % side));
                    all.fold(f64::NEG_INFINITY, f64::max)
                };
                let plane = |c| {
                    let line = |y| (0..places(width)).map(|x| most(c, y, x)).collect();
                    (0..places(height)).map(line).collect()
                };
                (0..channels).map(plane).collect()
            }
        };
    }
    let logits = image.concat().concat();
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|z| (z - most).exp()).sum();
    most + sum.ln() - logits[label]
}

/// Numbers in (-1, 1).
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Differences of the second network are exact to about 1e-9; numbers in single precision are not.
fn check(text: &str, shape: Shape, outputs: usize, layers: &[Plain]) {
    let network = Network::parse(text, shape, outputs).unwrap();
    let mut weights = network.initial(5);
    // Biases and shifts that count, scales that are not 1.
    for (weight, more) in weights.iter_mut().zip(numbers(network.parameters(), 6)) {
        *weight += 0.1 * more;
    }
    let row = numbers(network.inputs(), 7);
    let label = outputs - 1;
    let mut loaded = Loaded::new(&network);
    loaded.load(&weights);
    let mut gradient = vec![0.0; network.parameters()];
    let mut pass = Pass::new(&network);
    pass.add_gradient(&loaded, &row, label, &mut gradient);
    let once = gradient.clone();
    pass.add_gradient(&loaded, &row, label, &mut gradient);
    let largest = once.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
    for (two, one) in gradient.iter().zip(&once) {
        assert!((two - 2.0 * one).abs() < 1e-6 * largest.max(1.0), "{text}: {two} {one}");
    }

    let exact: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
    assert!(largest > 1e-3, "{text}: {largest}");
    for at in 0..exact.len() {
        let moved = |by: f64| {
            let mut moved = exact.clone();
            moved[at] += by;
            loss(layers, &row, shape, label, &moved)
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let error = (difference - f64::from(once[at])).abs();
        assert!(
            error < 2e-5 * f64::from(largest).max(1.0),
            "{text} {at}: {difference} {}",
            once[at]
        );
    }
}

const GREY: Shape = Shape { channels: 1, height: 9, width: 8 };
const COLOUR: Shape = Shape { channels: 3, height: 6, width: 7 };
const FLAT: Shape = Shape { channels: 11, height: 1, width: 1 };

#[test]
fn dense_layers() {
    check("linear", FLAT, 3, &[Plain::Dense { width: 3 }]);
    check("linear", COLOUR, 2, &[Plain::Dense { width: 2 }]);
    let layers = [
        Plain::Dense { width: 18 },
        Plain::Relu,
        Plain::Dense { width: 5 },
        Plain::Tanh,
        Plain::Dense { width: 4 },
    ];
    check("dense:18,relu,dense:5", FLAT, 4, &layers);
}

#[test]
fn convolutions() {
    let conv = |filters, side, stride, border| Plain::Conv { filters, side, stride, border };
    let (tanh, out) = (|| Plain::Tanh, |width| Plain::Dense { width });
    check("conv:5x3", GREY, 3, &[conv(5, 3, 1, 0), tanh(), out(3)]);
    check("conv:4x4/2+2", COLOUR, 3, &[conv(4, 4, 2, 2), tanh(), out(3)]);
    let layers = [
        conv(16, 4, 2, 1),
        tanh(),
        conv(6, 2, 1, 1),
        Plain::Relu,
        conv(3, 2, 2, 0),
        tanh(),
        out(2),
    ];
    check("conv:16x4/2+1,conv:6x2+1,relu,conv:3x2/2", GREY, 2, &layers);
    // One place, whose window has as many numbers as the image but stands elsewhere.
    let square = Shape { channels: 1, height: 6, width: 6 };
    let layers = [conv(4, 3, 1, 0), tanh(), conv(8, 4, 3, 1), tanh(), out(2)];
    check("conv:4x3,conv:8x4/3+1", square, 2, &layers);
}

#[test]
fn pools() {
    let conv = Plain::Conv { filters: 3, side: 2, stride: 1, border: 0 };
    let pool = |side, stride| Plain::Pool { side, stride };
    let layers = [pool(2, 1), conv, Plain::Tanh, pool(3, 2), pool(2, 1), Plain::Dense { width: 3 }];
    check("pool,conv:3x2,pool:3/2,pool", GREY, 3, &layers);
}

#[test]
fn norms() {
    let conv = Plain::Conv { filters: 6, side: 3, stride: 1, border: 1 };
    let layers = [
        conv,
        Plain::Norm { groups: 3 },
        Plain::Relu,
        Plain::Dense { width: 4 },
        Plain::Norm { groups: 1 },
        Plain::Tanh,
        Plain::Dense { width: 3 },
    ];
    check("conv:6x3+1,groupnorm:3,relu,dense:4,groupnorm:1", COLOUR, 3, &layers);
}

/// Of a row that holds what is not finite, all that is asked for is that nothing panics and that the
/// next row is what it would be.
#[test]
fn rows_leave_nothing_behind() {
    let text = "conv:4x3/2+1,groupnorm:2,relu,pool,conv:5x2,dense:6";
    let network = Network::parse(text, GREY, 3).unwrap();
    let mut loaded = Loaded::new(&network);
    loaded.load(&network.initial(1));
    let row = numbers(network.inputs(), 2);
    let gradient = |pass: &mut Pass<'_>, row: &[f32]| {
        let mut gradient = vec![0.0; network.parameters()];
        pass.add_gradient(&loaded, row, 1, &mut gradient);
        gradient
    };
    let mut pass = Pass::new(&network);
    let first = gradient(&mut pass, &row);
    for bad in [f32::NAN, f32::INFINITY, f32::MAX, -1e38] {
        let mut other = row.clone();
        other[13] = bad;
        let _ = gradient(&mut pass, &other);
        let _ = gradient(&mut pass, &vec![bad; row.len()]);
        assert_eq!(gradient(&mut pass, &row), first, "after {bad}");
    }
}
