//! Images in NPY and NPZ files: three and four axes, in both orders, against the same numbers as rows.

use super::npy::Order;
use efface_formats::{Format, ImageShape, ReadOptions};
use proptest::prelude::*;

use super::collect::{Collected, collect, refused, unlabelled};
use super::npy::npy;

fn shape(channels: u32, height: u32, width: u32) -> ImageShape {
    ImageShape { channels, height, width }
}

fn read(bytes: &[u8], options: &ReadOptions) -> (Collected, Option<ImageShape>) {
    let (read, summary) = collect(Format::Npy, bytes, options).unwrap();
    (read, summary.image)
}

/// Bytes of images are divided by 255 as those of IDX files are; bytes of tables and other numbers stay.
#[test]
fn bytes_of_images_are_divided() {
    let (images, found) = read(&npy(&[2, 1, 2], Order::C, &[0_u8, 255, 51, 102]), &unlabelled());
    assert_eq!((images.rows, found), (vec![vec![0.0, 1.0], vec![0.2, 0.4]], Some(shape(1, 1, 2))));
    let (table, found) = read(&npy(&[1, 2], Order::C, &[0_u8, 255]), &unlabelled());
    assert_eq!((table.rows, found), (vec![vec![0.0, 255.0]], None));
    let (floats, _) = read(&npy(&[1, 1, 2], Order::C, &[0.5_f32, 255.0]), &unlabelled());
    assert_eq!(floats.rows, [[0.5, 255.0]]);
}

/// Two pixels in two channels, which rows have one after the other.
#[test]
fn channels_come_first_in_rows() {
    let (read, found) =
        read(&npy(&[1, 1, 2, 2], Order::C, &[1.0_f64, 10., 2., 20.]), &unlabelled());
    assert_eq!((read.rows, found), (vec![vec![1.0, 2.0, 10.0, 20.0]], Some(shape(2, 1, 2))));
}

#[test]
fn images_of_another_shape_are_refused() {
    let of = |image| ReadOptions { image: Some(image), ..unlabelled() };
    let images = npy(&[1, 2, 3], Order::C, &[0.5_f32; 6]);
    read(&images, &of(shape(1, 2, 3)));
    let message = refused(Format::Npy, &images, &of(shape(1, 3, 2)));
    assert_eq!(
        message,
        "data.npy: the images are 2x3, and those that the model was trained on 3x2"
    );
    let message = refused(Format::Npy, &images, &of(shape(2, 1, 3)));
    assert!(message.ends_with("2x3, and those that the model was trained on 2x1x3"), "{message}");
    // A table states no shape.
    read(&npy(&[1, 6], Order::C, &[0.5_f32; 6]), &of(shape(1, 3, 2)));
}

#[test]
fn images_that_end_early_or_late_are_refused() {
    for order in [Order::C, Order::Fortran] {
        let whole = npy(&[2, 2, 1, 2], order, &[1.0_f64; 8]);
        let early = refused(Format::Npy, &whole[..whole.len() - 1], &unlabelled());
        assert!(early.contains("the file ends within row:1"), "{early}");
        let late = refused(Format::Npy, &[&whole[..], b"x"].concat(), &unlabelled());
        assert!(late.contains("extra bytes after the 2 rows"), "{late}");
    }
}

proptest! {
    /// By the index of each number alone.
    #[test]
    fn every_number_finds_its_place(
        rows in 1_usize..4, height in 1_usize..4, width in 1_usize..4, channels in 0_usize..4,
        fortran in any::<bool>(),
    ) {
        let depth = channels.max(1);
        let value = |row, line, column, channel| {
            (((row * height + line) * width + column) * depth + channel) as f32
        };
        let mut values = vec![0.0_f32; rows * height * width * depth];
        let mut expected = vec![vec![0.0_f32; height * width * depth]; rows];
        for (row, expected) in expected.iter_mut().enumerate() {
            for (place, expected) in expected.iter_mut().enumerate() {
                let (channel, pixel) = (place / (height * width), place % (height * width));
                let (line, column) = (pixel / width, pixel % width);
                let number = value(row, line, column, channel);
                let at = if fortran {
                    row + rows * (line + height * (column + width * channel))
                } else {
                    number as usize
                };
                values[at] = number;
                *expected = number;
            }
        }
        let mut axes = vec![rows as u64, height as u64, width as u64];
        if channels > 0 {
            axes.push(channels as u64);
        }
        let order = if fortran { Order::Fortran } else { Order::C };
        let (read, found) = read(&npy(&axes, order, &values), &unlabelled());
        prop_assert_eq!(read.rows, expected);
        prop_assert_eq!(found, Some(shape(depth as u32, height as u32, width as u32)));
    }
}
