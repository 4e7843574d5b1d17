//! Writing the file of a new vault to the disk while more of it is made.

use crate::raw_file::RawFile;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Bytes after which the system is asked to write them to the disk.
const STEP: usize = 64 << 20;

/// Writes a file's bytes back to the disk in the background, so that little is left to wait for at the end.
/// The caller that makes the file durable still has to synchronise it.
#[derive(Debug)]
pub(crate) struct Writeback {
    file: Arc<File>,
    /// Bytes written since the system was last asked.
    written: usize,
    asked: Option<JoinHandle<io::Result<()>>>,
}

impl Writeback {
    /// Starts for a file that stays open for longer than this.
    pub(crate) fn of(file: &RawFile) -> Option<Self> {
        Some(Self { file: file.handle()?, written: 0, asked: None })
    }

    /// Counts bytes that were written.
    ///
    /// # Errors
    /// Fails with the error of an earlier write, which the system reports only once.
    pub(crate) fn add(&mut self, bytes: usize) -> io::Result<()> {
        self.written += bytes;
        if self.written < STEP || self.asked.as_ref().is_some_and(|asked| !asked.is_finished()) {
            return Ok(());
        }
        self.end()?;
        self.written = 0;
        let file = Arc::clone(&self.file);
        // If no thread can be started, everything is written at the end.
        self.asked = Builder::new().spawn(move || file.sync_data()).ok();
        Ok(())
    }

    /// Waits for what is being written.
    ///
    /// # Errors
    /// Fails as [`Writeback::add`] does.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        let asked = self.asked.take().map(JoinHandle::join);
        asked.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err(io::Error::other("a thread failed")))
    }
}

impl Drop for Writeback {
    fn drop(&mut self) {
        // The file is given up, so an error no longer matters.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writeback(asked: Option<io::Result<()>>) -> Writeback {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::create(folder.path().join("file")).unwrap());
        let asked = asked.map(|answer| Builder::new().spawn(|| answer).unwrap());
        Writeback { file, written: 0, asked }
    }

    #[test]
    fn the_system_is_asked_once_there_is_enough() {
        let mut writeback = writeback(None);
        writeback.add(STEP - 1).unwrap();
        assert!(writeback.asked.is_none());
        writeback.add(1).unwrap();
        assert!(writeback.asked.is_some());
        assert_eq!(writeback.written, 0);
        writeback.end().unwrap();
    }

    /// The system reports a failure once: it would not be reported again when the file is made durable.
    #[test]
    fn a_failure_is_passed_on() {
        let full = || Err(io::Error::other("full"));
        assert_eq!(writeback(Some(full())).end().unwrap_err().to_string(), "full");
        let mut writeback = writeback(Some(full()));
        while writeback.asked.as_ref().is_some_and(|asked| !asked.is_finished()) {
            std::thread::yield_now();
        }
        assert_eq!(writeback.add(STEP).unwrap_err().to_string(), "full");
    }
}
