//! Memory for reading blocks one after another: allocating new memory for each costs more than reading it.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroize;

/// Memory that was given back, as it was left; it is overwritten when the pool is dropped.
#[derive(Default)]
pub(crate) struct BufferPool(Mutex<Vec<Vec<u8>>>);

impl BufferPool {
    /// Returns some memory, with whatever was left in it.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn give(&self, bytes: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        let left = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        left.iter_mut().for_each(|bytes| wipe(bytes));
    }
}

/// Overwrites bytes, whole words far faster than one by one.
pub(crate) fn wipe(bytes: &mut [u8]) {
    let (start, words, end) = bytemuck::pod_align_to_mut::<u8, u64>(bytes);
    start.zeroize();
    words.zeroize();
    end.zeroize();
}

/// Bytes of a block's features. Memory from a pool goes back to it once they are dropped, other is
/// overwritten.
pub(crate) struct Features {
    bytes: Vec<u8>,
    from: Option<Arc<BufferPool>>,
}

impl Features {
    pub(crate) fn from_pool(bytes: Vec<u8>, pool: &Arc<BufferPool>) -> Self {
        Self { bytes, from: Some(Arc::clone(pool)) }
    }

    /// Overwrites all but the first bytes and keeps these.
    pub(crate) fn truncate(&mut self, length: usize) {
        wipe(self.bytes.get_mut(length..).unwrap_or_default());
        self.bytes.truncate(length);
    }

    /// Returns the bytes, which then belong to the caller.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.from = None;
        std::mem::take(&mut self.bytes)
    }
}

impl From<Vec<u8>> for Features {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, from: None }
    }
}

impl Deref for Features {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Features {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Features {
    fn drop(&mut self) {
        match self.from.take() {
            Some(pool) => pool.give(std::mem::take(&mut self.bytes)),
            None => wipe(&mut self.bytes),
        }
    }
}

impl std::fmt::Debug for Features {
    /// Shows the count alone: the bytes are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_but_where_somebody_took_the_bytes() {
        let pool = Arc::new(BufferPool::default());
        assert!(pool.take().is_empty());
        let mut memory = Vec::with_capacity(100);
        memory.extend([7; 100]);
        let place = memory.as_ptr();
        let features = Features::from_pool(memory, &pool);
        assert_eq!(
            (&features[..3], format!("{features:?}")),
            (&[7; 3][..], "100 bytes".to_owned())
        );
        drop(features);
        let again = pool.take();
        assert_eq!((again.as_ptr(), again.len()), (place, 100));
        let taken = Features::from_pool(again, &pool).into_bytes();
        assert_eq!(taken, [7; 100]);
        assert!(pool.take().is_empty());
        drop(Features::from(taken));
        assert!(pool.take().is_empty());
        let mut odd: Vec<u8> = (1..=77).collect();
        wipe(&mut odd[3..]);
        assert_eq!(odd[..3], [1, 2, 3]);
        assert_eq!(odd[3..], [0; 74]);
    }
}
