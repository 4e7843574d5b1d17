//! One module per format; each turns bytes into rows and names what is wrong with them.

pub(crate) mod arrays;
pub(crate) mod columnar;
pub(crate) mod csv;
pub(crate) mod idx;
pub(crate) mod libsvm;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod pixels;
pub(crate) mod png;
pub(crate) mod recognise;
