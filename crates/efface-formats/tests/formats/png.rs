//! Folders of PNG images: what is read, and one test per way to be malformed.

use std::fs;
use std::io::Write;
use std::path::Path;

use efface_formats::{Format, ImageShape, Input, ReadOptions, Summary, read};
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use super::collect::{Collected, plain, unlabelled};

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    let length = (data.len() as u32).to_be_bytes();
    [&length[..], kind, data, &crc.sum().to_be_bytes()].concat()
}

fn header(width: u32, height: u32, rest: [u8; 5]) -> Vec<u8> {
    chunk(b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &rest].concat())
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn file(parts: &[Vec<u8>]) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n".to_vec(), parts.concat()].concat()
}

/// An image of lines, each with its filter in front.
fn png(width: u32, height: u32, color: u8, lines: &[u8]) -> Vec<u8> {
    let parts = [
        header(width, height, [8, color, 0, 0, 0]),
        chunk(b"tEXt", b"Title\0x"),
        chunk(b"IDAT", &packed(lines)[..5]),
        chunk(b"IDAT", &packed(lines)[5..]),
        chunk(b"IEND", b""),
    ];
    file(&parts)
}

fn gray(pixels: [u8; 4]) -> Vec<u8> {
    let [a, b, c, d] = pixels;
    png(2, 2, 0, &[0, a, b, 0, c, d])
}

fn put(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn look(folder: &Path, options: &ReadOptions) -> Result<(Collected, Summary), String> {
    look_with(folder, None, options)
}

fn look_with(
    folder: &Path,
    labels: Option<&str>,
    options: &ReadOptions,
) -> Result<(Collected, Summary), String> {
    let labels = labels.map(|name| folder.join(name));
    let input = Input { labels, ..Input::file(folder) };
    let mut sink = Collected::default();
    let read = read(&input, options, &mut sink);
    let folder = folder.display().to_string();
    read.map(|summary| (sink, summary))
        .map_err(|error| error.to_string().replace(&folder, "images"))
}

fn scaled(bytes: &[u8]) -> Vec<f32> {
    bytes.iter().map(|byte| (f64::from(*byte) / 255.0) as f32).collect()
}

/// No label column: classes and ids come from the folder.
fn classes() -> ReadOptions {
    ReadOptions { label: None, ..plain() }
}

#[test]
fn folders_of_folders_are_no_classes() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "train/cat/1.png", gray([0, 1, 2, 3]));
    put(folder.path(), "test/dog/2.png", gray([4, 5, 6, 7]));
    let error = look(folder.path(), &classes()).unwrap_err();
    assert!(error.contains("every image lies in a folder of a folder, such as `test/dog/2.png`"));
    assert!(look(folder.path(), &unlabelled()).is_ok());
    assert!(look(&folder.path().join("train"), &classes()).is_ok());
}

#[test]
fn folders_are_classes_and_paths_are_ids() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "dog/b.PNG", gray([4, 5, 6, 255]));
    put(folder.path(), "cat/a.png", gray([0, 1, 2, 3]));
    put(folder.path(), "cat/old/a.png", gray([7, 8, 9, 10]));
    put(folder.path(), "cat/.hidden.png", "no image");
    put(folder.path(), "readme.txt", "no image");
    let (read, summary) = look(folder.path(), &classes()).unwrap();
    assert_eq!(read.ids, ["cat/a.png", "cat/old/a.png", "dog/b.PNG"]);
    assert_eq!(read.rows, [scaled(&[0, 1, 2, 3]), scaled(&[7, 8, 9, 10]), scaled(&[4, 5, 6, 255])]);
    assert_eq!(summary.classes.unwrap().names, ["cat", "dog"]);
    let shape = ImageShape { channels: 1, height: 2, width: 2 };
    assert_eq!((summary.format, summary.image), (Some(Format::Png), Some(shape)));
    let (read, _) = look(folder.path(), &unlabelled()).unwrap();
    assert_eq!(read.rows.len(), 3);
}

#[test]
fn a_table_has_the_labels() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "1.png", gray([1; 4]));
    put(folder.path(), "2.png", gray([2; 4]));
    put(folder.path(), "labels.csv", "file,class\n2.png,yes\n1,no\n");
    let (_, summary) = look_with(folder.path(), Some("labels.csv"), &classes()).unwrap();
    assert_eq!(summary.classes.unwrap().names, ["no", "yes"]);
    let refused = |table: &str| {
        put(folder.path(), "labels.csv", table);
        look_with(folder.path(), Some("labels.csv"), &classes()).unwrap_err()
    };
    assert!(refused("file,class\n1,no\n").contains("the image `2.png` has no label"));
    assert!(refused("file,class\n1,no\n2,no\n3,no\n").contains("no image `3`"));
    assert!(refused("file,class\n1,no\n2,no\n1.png,no\n").contains("`1.png` has two labels"));
    assert!(refused("file,class,more\n1,no,x\n").contains("two columns"));
    let alone = look(folder.path(), &classes()).unwrap_err();
    assert!(alone.contains("`1.png` lies in no folder of a class"), "{alone}");
}

/// Each filter undoes what was taken off, and colors stand channel after channel.
#[test]
fn filters_and_colors() {
    let folder = tempfile::tempdir().unwrap();
    let lines: [u8; 20] = [0, 10, 20, 30, 1, 10, 20, 30, 2, 1, 1, 1, 3, 5, 5, 5, 4, 1, 2, 3];
    put(folder.path(), "a/x.png", png(3, 5, 0, &lines));
    let (read, _) = look(folder.path(), &unlabelled()).unwrap();
    let expected = [10, 20, 30, 10, 30, 60, 11, 31, 61, 10, 25, 48, 11, 27, 51];
    assert_eq!(read.rows, [scaled(&expected)]);

    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a/x.png", png(2, 2, 0, &[0, 100, 10, 4, 100, 5]));
    let (read, _) = look(folder.path(), &unlabelled()).unwrap();
    assert_eq!(read.rows, [scaled(&[100, 10, 200, 105])], "the corner is nearest");

    let folder = tempfile::tempdir().unwrap();
    let lines = [1, 1, 2, 3, 10, 20, 30, 4, 1, 1, 1, 1, 1, 1];
    put(folder.path(), "a/x.png", png(2, 2, 2, &lines));
    let (read, summary) = look(folder.path(), &unlabelled()).unwrap();
    let expected = [1, 11, 2, 12, 2, 22, 3, 23, 3, 33, 4, 34];
    let shape = ImageShape { channels: 3, height: 2, width: 2 };
    assert_eq!((read.rows, summary.image), (vec![scaled(&expected)], Some(shape)));
}

#[test]
fn what_is_no_such_image_is_refused_by_name() {
    let good = gray([1, 2, 3, 4]);
    let lines = [0, 1, 2, 0, 3, 4];
    let whole =
        |rest| vec![header(2, 2, rest), chunk(b"IDAT", &packed(&lines)), chunk(b"IEND", b"")];
    let of = |rest| file(&whole(rest));
    let mut flipped = good.clone();
    let place = flipped.len() - 20;
    flipped[place] ^= 1;
    let idat = |bytes: &[u8]| {
        file(&[header(2, 2, [8, 0, 0, 0, 0]), chunk(b"IDAT", bytes), chunk(b"IEND", b"")])
    };
    // Checksums that the decoder would forgive: of a part without pixels, and of all pixels.
    let (mut title, mut sum) = (good.clone(), packed(&lines));
    title[33 + 12] ^= 1;
    *sum.last_mut().unwrap() ^= 1;
    let end = chunk(b"IEND", b"");
    for (bytes, part) in [
        (b"GIF89a".to_vec(), "does not begin as PNG"),
        (good[..good.len() - 1].to_vec(), "ends within"),
        (good[..good.len() - 12].to_vec(), "ends within"),
        (flipped, "is damaged"),
        (idat(&packed(&lines[..5])), "is damaged"),
        (idat(&packed(&[5, 1, 2, 0, 3, 4])), "is damaged"),
        (idat(&packed(&lines)[..8]), "is damaged"),
        (of([8, 3, 0, 0, 0]), "8 bits of a palette"),
        (of([16, 0, 0, 0, 0]), "16 bits of gray"),
        (of([8, 6, 0, 0, 0]), "RGB with transparency"),
        (of([8, 0, 1, 0, 0]), "is damaged"),
        (file(&[header(0, 2, [8, 0, 0, 0, 0]), end.clone()]), "is damaged"),
        (
            file(&[header(1 << 31, 1 << 31, [8, 2, 0, 0, 0]), end.clone()]),
            "more than 16777216 numbers",
        ),
        (file(std::slice::from_ref(&end)), "is damaged"),
        (file(&[header(2, 2, [8, 0, 0, 0, 0]), chunk(b"ABCD", b""), end]), "is damaged"),
        (title, "is damaged"),
        (idat(&sum), "is damaged"),
        (png(1, 2, 0, &[0, 1, 0, 2]), "is 1x2 in gray, and `a/1.png` is 2x2 in gray"),
        (png(2, 2, 2, &[0; 14]), "is 2x2 in RGB"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "a/1.png", &good);
        put(folder.path(), "b/2.png", bytes);
        let told = look(folder.path(), &classes()).unwrap_err();
        assert!(told.starts_with("images: `b/2.png`: ") && told.contains(part), "{told}: {part}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(look(folder.path(), &classes()).unwrap_err().contains("no files `*.png`"));
    let deep = "a/".repeat(10) + "x.png";
    put(folder.path(), &deep, &good);
    assert!(look(folder.path(), &classes()).unwrap_err().contains("more than 8 folders"));
}

/// A few kilobytes that would unpack to more than an image has are read no further, and what follows
/// the pixels is no part of the image.
#[test]
fn what_is_more_than_pixels_is_left() {
    let lines = [0, 1, 2, 0, 3, 4];
    let bomb = [&lines[..], &vec![0; 1 << 24]].concat();
    for bytes in [png(2, 2, 0, &bomb), [&gray([1, 2, 3, 4])[..], b"more"].concat()] {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "a/x.png", bytes);
        let (read, _) = look(folder.path(), &unlabelled()).unwrap();
        assert_eq!(read.rows, [scaled(&[1, 2, 3, 4])]);
    }
}

/// Lines in several passes are put where they belong.
#[test]
fn interlaced_images_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let passes = packed(&[0, 1, 0, 2, 0, 3, 4]);
    let parts = [header(2, 2, [8, 0, 0, 0, 1]), chunk(b"IDAT", &passes), chunk(b"IEND", b"")];
    put(folder.path(), "a/x.png", file(&parts));
    let (read, _) = look(folder.path(), &unlabelled()).unwrap();
    assert_eq!(read.rows, [scaled(&[1, 2, 3, 4])]);
}

/// No byte of a file, with its sums made right again, does more than make another image or an error.
#[test]
fn changed_bytes_are_an_image_or_an_error() {
    let lines = [0, 1, 2, 1, 3, 4];
    let parts =
        [[&[0, 0, 0, 2, 0, 0, 0, 2][..], &[8, 0, 0, 0, 0]].concat(), packed(&lines), vec![]];
    let kinds = [b"IHDR", b"IDAT", b"IEND"];
    let folder = tempfile::tempdir().unwrap();
    for part in 0..2 {
        for at in 0..parts[part].len() {
            for change in [1, 2, 0x80, 0xff] {
                let mut parts = parts.clone();
                parts[part][at] ^= change;
                let chunks = kinds.iter().zip(&parts).map(|(kind, data)| chunk(kind, data));
                put(folder.path(), "a/x.png", file(&chunks.collect::<Vec<_>>()));
                if let Ok((read, _)) = look(folder.path(), &unlabelled()) {
                    assert_eq!(read.rows.len(), 1, "{part} {at} {change}");
                }
            }
        }
    }
}

/// A pipe would wait for whoever writes to it.
#[cfg(unix)]
#[test]
fn a_pipe_is_no_image() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a/x.png", gray([1, 2, 3, 4]));
    let pipe = folder.path().join("a/y.png");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    assert!(look(folder.path(), &unlabelled()).unwrap_err().ends_with("`a/y.png` is not a file"));
}
