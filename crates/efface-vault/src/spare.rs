//! Memory that blocks are read to one after another: new memory for each costs more than reading them.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroizing;

/// Memory that was given back, as it was left; overwritten when all of it is dropped.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<Zeroizing<Vec<u8>>>>);

impl Spare {
    /// Some memory, with whatever was left in it.
    pub(crate) fn take(&self) -> Vec<u8> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.pop().map(|mut bytes| std::mem::take(&mut *bytes)).unwrap_or_default()
    }

    pub(crate) fn give(&self, bytes: Vec<u8>) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(Zeroizing::new(bytes));
    }
}

/// Bytes of a block's features. Memory that was spare is spare again once they are dropped.
pub(crate) struct Features {
    bytes: Vec<u8>,
    from: Option<Arc<Spare>>,
}

impl Features {
    pub(crate) fn in_spare(bytes: Vec<u8>, spare: &Arc<Spare>) -> Self {
        Self { bytes, from: Some(Arc::clone(spare)) }
    }

    /// The bytes, which are whoever's who takes them.
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

impl Drop for Features {
    fn drop(&mut self) {
        if let Some(spare) = self.from.take() {
            spare.give(std::mem::take(&mut self.bytes));
        }
    }
}

impl std::fmt::Debug for Features {
    /// How many: they are private data and do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_but_where_somebody_took_the_bytes() {
        let spare = Arc::new(Spare::default());
        assert!(spare.take().is_empty());
        let mut memory = Vec::with_capacity(100);
        memory.extend([7; 100]);
        let place = memory.as_ptr();
        let features = Features::in_spare(memory, &spare);
        assert_eq!(
            (&features[..3], format!("{features:?}")),
            (&[7; 3][..], "100 bytes".to_owned())
        );
        drop(features);
        let again = spare.take();
        assert_eq!((again.as_ptr(), again.len()), (place, 100));
        let taken = Features::in_spare(again, &spare).into_bytes();
        assert_eq!(taken, [7; 100]);
        assert!(spare.take().is_empty());
        drop(Features::from(taken));
        assert!(spare.take().is_empty());
    }
}
