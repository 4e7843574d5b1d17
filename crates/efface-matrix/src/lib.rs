//! Dense and sparse matrices with one-pass gradient kernels that give the same bits on any number of threads

