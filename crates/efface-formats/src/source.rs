//! Bytes from a file, from standard input or from any reader: unpacked, counted, seekable if
//! a format needs it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use crate::budget::Budget;
use crate::error::{ReadError, fault};
use crate::input::PathOrStdin;
use crate::limits::Limits;

/// Number of bytes that are read to recognise a format.
const HEAD: u64 = 1 << 16;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Something that can be opened, once or several times.
pub(crate) struct Source<'r> {
    name: String,
    kind: Kind<'r>,
    budget: Budget,
}

enum Kind<'r> {
    Path(PathBuf),
    Once(Option<Box<dyn Read + 'r>>),
    Partitioned(Arc<[u8]>),
}

/// An open stream of unpacked bytes.
pub(crate) struct Stream<'r> {
    /// The first bytes, which are also still in `input`.
    pub(crate) head: Vec<u8>,
    pub(crate) input: Box<dyn BufRead + 'r>,
}

/// A reader that can be opened at any byte.
pub(crate) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

impl<'r> Source<'r> {
    /// Returns a path or standard input.
    pub(crate) fn new(path: &PathOrStdin, limits: &Limits) -> Self {
        match path {
            PathOrStdin::Path(path) => Self::path(path, limits),
            PathOrStdin::Stdin => {
                Self::reader(&path.to_string(), Box::new(io::stdin().lock()), limits)
            }
        }
    }

    pub(crate) fn path(path: &Path, limits: &Limits) -> Self {
        let budget = Budget::new(limits);
        if let Ok(about) = path.metadata()
            && about.is_file()
        {
            budget.stored(about.len());
        }
        Self { name: path.display().to_string(), kind: Kind::Path(path.to_path_buf()), budget }
    }

    /// Wraps any reader, named for messages.
    pub(crate) fn reader(name: &str, reader: Box<dyn Read + 'r>, limits: &Limits) -> Self {
        let kind = Kind::Once(Some(reader));
        Self { name: name.to_owned(), kind, budget: Budget::new(limits) }
    }

    /// Returns what may be kept of it.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns the name as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path, if it is one.
    pub(crate) fn as_path(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Path(path) => Some(path),
            Kind::Once(_) | Kind::Partitioned(_) => None,
        }
    }

    /// Opens the bytes, unpacked if they are gzipped. A reader can be opened once.
    pub(crate) fn open(&mut self, limits: &Limits) -> Result<Stream<'r>, ReadError> {
        let stored =
            |inner: Box<dyn Read + 'r>| Stored { inner, read: 0, budget: self.budget.clone() };
        let raw: Box<dyn Read + 'r> = match &mut self.kind {
            Kind::Path(path) => match File::open(path) {
                Ok(file) => Box::new(stored(Box::new(file))),
                Err(error) => return Err(ReadError::of_file(&self.name, error)),
            },
            Kind::Once(reader) => match reader.take() {
                Some(reader) => Box::new(stored(reader)),
                None => {
                    let error = io::Error::other("the input can be read only once");
                    return Err(ReadError::of_file(&self.name, error));
                }
            },
            Kind::Partitioned(bytes) => Box::new(Cursor::new(bytes.clone())),
        };
        self.unpack(raw, limits).map_err(|error| ReadError::of_file(&self.name, error))
    }

    fn unpack(&self, raw: Box<dyn Read + 'r>, limits: &Limits) -> io::Result<Stream<'r>> {
        let (magic, raw) = peek(raw, GZIP.len() as u64)?;
        let (plain, packed): (Box<dyn Read + 'r>, _) = if magic == GZIP {
            let unpacked = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, raw));
            (Box::new(unpacked), Some(self.budget.clone()))
        } else {
            (raw, None)
        };
        let counted = Counted { packed, ..Counted::new(plain, limits) };
        let (head, input) = peek(Box::new(counted), HEAD)?;
        Ok(Stream { head, input: Box::new(BufReader::with_capacity(1 << 16, input)) })
    }

    /// Opens for random access: a plain file as it is, anything else held in memory.
    pub(crate) fn seekable(&mut self, limits: &Limits) -> Result<Box<dyn ReadSeek>, ReadError> {
        Ok(match self.plain_file()? {
            Some(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
            None => Box::new(Cursor::new(self.hold(limits)?)),
        })
    }

    /// Returns the file, if this is one that is not packed.
    pub(crate) fn plain_file(&self) -> Result<Option<File>, ReadError> {
        let Kind::Path(path) = &self.kind else { return Ok(None) };
        let io = |error| ReadError::of_file(&self.name, error);
        let mut file = File::open(path).map_err(io)?;
        let mut magic = Vec::new();
        (&mut file).take(GZIP.len() as u64).read_to_end(&mut magic).map_err(io)?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        Ok((magic != GZIP).then_some(file))
    }

    /// Reads everything into memory, within the budget; later openings use that.
    pub(crate) fn hold(&mut self, limits: &Limits) -> Result<Arc<[u8]>, ReadError> {
        if let Kind::Partitioned(bytes) = &self.kind {
            return Ok(bytes.clone());
        }
        let stream = self.open(limits)?;
        self.hold_stream(stream)
    }

    /// Works as [`Source::hold`], for a stream already open.
    pub(crate) fn hold_stream(&mut self, stream: Stream<'r>) -> Result<Arc<[u8]>, ReadError> {
        // It is read whole before it is shared, so it is there twice for a moment.
        let held: Arc<[u8]> = read_all(stream.input, u64::MAX, 2, &self.budget)
            .map_err(|error| ReadError::of_file(&self.name, error))?
            .into();
        self.kind = Kind::Partitioned(held.clone());
        Ok(held)
    }
}

/// Bytes read between two looks at the budget.
const STEP: u64 = 1 << 20;

/// Reads at most `wanted` bytes, each counted `times`; memory grows only with what arrives.
pub(crate) fn read_all(
    mut input: impl Read,
    wanted: u64,
    times: u64,
    budget: &Budget,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let step = STEP.min(wanted - bytes.len() as u64);
        let read = (&mut input).take(step).read_to_end(&mut bytes)?;
        if read == 0 {
            return Ok(bytes);
        }
        budget.take(read as u64 * times).map_err(io::Error::other)?;
    }
}

/// Counts the bytes of an input as it is stored.
struct Stored<R> {
    inner: R,
    read: u64,
    budget: Budget,
}

impl<R: Read> Read for Stored<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        self.budget.stored(self.read);
        Ok(read)
    }
}

/// Returns the first bytes, and a reader that starts before them.
fn peek<'r>(
    mut reader: Box<dyn Read + 'r>,
    bytes: u64,
) -> io::Result<(Vec<u8>, Box<dyn Read + 'r>)> {
    let mut head = Vec::new();
    (&mut reader).take(bytes).read_to_end(&mut head)?;
    let again = Cursor::new(head.clone()).chain(reader);
    Ok((head, Box::new(again)))
}

/// Stops a stream that yields more unpacked bytes than the limits allow.
pub(crate) struct Counted<R> {
    inner: R,
    left: u64,
    limit: u64,
    /// What a packed stream may unpack to, whether or not anything of it is kept.
    packed: Option<Budget>,
}

impl<R> Counted<R> {
    /// Starts to count at the current position.
    pub(crate) fn new(inner: R, limits: &Limits) -> Self {
        Self { inner, left: limits.stream_bytes, limit: limits.stream_bytes, packed: None }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => {
                self.left = left;
                let check = |packed: &Budget| packed.unpacked(self.limit - left);
                self.packed.as_ref().map_or(Ok(()), check).map_err(io::Error::other)?;
                Ok(read)
            }
            None => Err(io::Error::other(fault!("more than {} bytes, the limit", self.limit))),
        }
    }
}
