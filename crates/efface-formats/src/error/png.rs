//! Rules of folders of PNG images.

/// An image, or a folder of them, that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PngFault {
    /// Another file.
    #[error("the file does not begin as PNG files do")]
    Signature,
    /// The file ends early.
    #[error("the file ends within one of its parts")]
    Truncated,
    /// A checksum or a filter is wrong, pixels are missing, or a part must not be where it is.
    #[error("the file is damaged")]
    Damaged,
    /// Pixels of a kind that is not read.
    #[error("images must be in 8-bit gray or RGB; this one has {depth} bits of {color}")]
    Kind {
        /// Bits of a number.
        depth: u8,
        /// What a pixel is.
        color: &'static str,
    },
    /// An image with more numbers than a row may have.
    #[error("the image has more than {most} numbers, the limit")]
    Large {
        /// The limit.
        most: u32,
    },
    /// A file that is larger than an image may be.
    #[error("the file has more than {most} bytes, the limit")]
    LargeFile {
        /// The limit.
        most: u64,
    },
    /// An image of another size.
    #[error("the image is {got}, and `{first}` is {expected}: all must be of one size and kind")]
    Size {
        /// Its size.
        got: String,
        /// The first image.
        first: String,
        /// The size of that.
        expected: String,
    },
    /// No image lies in a folder that is directly below.
    #[error(
        "every image lies in a folder of a folder, such as `{name}`, so that the first folders are no \
         classes: name the folder in which the classes are, or give a table of file names and labels"
    )]
    Classes {
        /// The first image.
        name: String,
    },
    /// An option that folders have no use for.
    #[error("a folder is read as one of PNG images, to which `{option}` does not apply")]
    Option {
        /// Its name.
        option: &'static str,
    },
    /// No images at all.
    #[error("the folder has no files `*.png`")]
    NoImages,
    /// A name that is not text.
    #[error("the name of the file `{name}` is not valid Unicode")]
    Name {
        /// The name, as far as it can be shown.
        name: String,
    },
    /// Folders in folders in folders.
    #[error("there are more than {most} folders below each other")]
    Deep {
        /// The limit.
        most: usize,
    },
    /// An image that lies in no folder of a class.
    #[error(
        "`{name}` lies in no folder of a class: give a table of names and labels with `§labels`, or put \
         the images of each class into a folder of its name"
    )]
    NoClass {
        /// The image.
        name: String,
    },
    /// A table of labels with more or fewer columns.
    #[error(
        "labels of images need a table of two columns, the names of the files and the labels, got {got}"
    )]
    LabelColumns {
        /// Columns of the table.
        got: usize,
    },
    /// A label of an image that is not there.
    #[error("the folder has no image `{name}`")]
    NoImage {
        /// The name in the table.
        name: String,
    },
    /// Two labels of one image.
    #[error("the image `{name}` has two labels")]
    LabelTwice {
        /// The name in the table.
        name: String,
    },
    /// An image without a label.
    #[error("the image `{name}` has no label; the first line of the table names the two columns")]
    NoLabel {
        /// The image.
        name: String,
    },
}
