//! LIBSVM: sparse text, `label index:value ...`.
//!
//! Indices ascend strictly from 1, or from 0 if the options say so; `#` begins a comment; empty
//! lines are skipped. The width is declared, or follows from the largest index of the file, found in
//! a first pass.

use crate::cell::{Cell, quoted};
use crate::error::{Fault, ReadError, Spot, fault};
use crate::limits::Limits;
use crate::lines::Lines;
use crate::name::number_name;
use crate::numbers::Numbers;
use crate::options::{ReadOptions, Task};
use crate::rows::{Keys, RowValues, Rows};
use crate::source::Stream;

/// Lines of a LIBSVM file.
struct LibsvmLines<'r> {
    lines: Lines<'r>,
    base: Base,
    raw: Vec<u8>,
    text: String,
}

/// The index of the first feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Zero,
    One,
}

impl Base {
    /// Counts as the options say, else as LIBSVM does.
    pub(crate) fn of(zero_based: Option<bool>) -> Self {
        if zero_based == Some(true) { Self::Zero } else { Self::One }
    }

    /// Returns the number that features are named by.
    pub(crate) fn first(self) -> u32 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
        }
    }
}

impl<'r> LibsvmLines<'r> {
    /// Returns the lines of an open file.
    fn open(
        file: &str,
        stream: Stream<'r>,
        base: Base,
        limits: &Limits,
    ) -> Result<Self, ReadError> {
        let lines = Lines::new(file, stream.input, limits.line_bytes)?;
        Ok(Self { lines, base, raw: Vec::new(), text: String::new() })
    }

    /// Goes to the next line with content; `false` after the last.
    fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            self.raw = std::mem::take(&mut self.text).into_bytes();
            self.raw.clear();
            if !self.lines.next(&mut self.raw)? {
                return Ok(false);
            }
            if let Some(comment) = self.raw.iter().position(|&byte| byte == b'#') {
                self.raw.truncate(comment);
            }
            self.text = String::from_utf8(std::mem::take(&mut self.raw))
                .map_err(|_| self.fault(fault!("the text is not UTF-8; save the file as UTF-8")))?;
            if !self.text.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    /// Returns the label, and the pairs after it. A line may start with a pair if no label is wanted.
    fn parts(&self, label_required: bool) -> Result<(Option<&str>, Pairs<'_>), ReadError> {
        let text = self.text.trim_ascii();
        let (first, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let pairs = |rest| Pairs { rest, base: self.base, before: None };
        match (first.contains(':'), label_required) {
            (false, _) => Ok((Some(first), pairs(rest))),
            (true, false) => Ok((None, pairs(text))),
            (true, true) => Err(self.fault(fault!(
                "the line must start with a label, got `{token}`",
                token = quoted(first)
            ))),
        }
    }

    /// Returns a fault of this line.
    fn fault(&self, fault: Fault) -> ReadError {
        ReadError::at(self.lines.place(), fault)
    }
}

/// Lines as rows of so many features.
pub(crate) struct LibsvmRows<'r, 'o> {
    lines: LibsvmLines<'r>,
    width: u32,
    options: &'o ReadOptions,
    indices: Vec<u32>,
    numbers: Vec<f64>,
}

impl<'r, 'o> LibsvmRows<'r, 'o> {
    pub(crate) fn open(
        file: &str,
        stream: Stream<'r>,
        width: u32,
        options: &'o ReadOptions,
    ) -> Result<Self, ReadError> {
        let base = Base::of(options.zero_based);
        let lines = LibsvmLines::open(file, stream, base, &options.limits)?;
        Ok(Self { lines, width, options, indices: Vec::new(), numbers: Vec::new() })
    }
}

impl Rows for LibsvmRows<'_, '_> {
    fn advance(&mut self) -> Result<Option<Spot>, ReadError> {
        Ok(self.lines.advance()?.then(|| self.lines.lines.place().spot))
    }

    fn label(&mut self, at: usize) -> Result<Cell<'_>, ReadError> {
        let token = self.lines.parts(true)?.0.unwrap_or_default();
        let expected = self.options.labels_wanted();
        label(token, at, expected, self.options.task).map_err(|fault| self.lines.fault(fault))
    }

    fn features(&mut self) -> Result<RowValues<'_>, ReadError> {
        let (_, mut pairs) = self.lines.parts(false)?;
        self.indices.clear();
        self.numbers.clear();
        while let Some((column, value)) =
            pairs.entry(self.width).map_err(|fault| self.lines.fault(fault))?
        {
            self.indices.push(column);
            self.numbers.push(value);
        }
        Ok(RowValues::Sparse { indices: &self.indices, numbers: Numbers::Double(&self.numbers) })
    }

    fn keys(&mut self) -> Result<Keys<'_>, ReadError> {
        Ok(Keys::default())
    }
}

/// Reads one of the labels of a line, which commas separate if there are several.
fn label(token: &str, at: usize, expected: usize, task: Task) -> Result<Cell<'_>, Fault> {
    if expected == 1 {
        return match task == Task::Classification && token.contains(',') {
            true => Err(fault!(
                "`{token}` is several labels, and each line has one class; several numbers are \
                 learnt together where they are named, with `§label` once for each, by `§mechanism \
                 ridge`",
                token = quoted(token)
            )),
            false => Ok(number_or_word(token)),
        };
    }
    let got = token.split(',').count();
    if got != expected {
        let found = if got == 1 { "one label".to_owned() } else { format!("{got} labels") };
        return Err(fault!(
            "`{}` is {found}; {expected} were named, with `§label` once for each",
            quoted(token)
        ));
    }
    Ok(token.split(',').nth(at).map_or(Cell::Null, Cell::Text))
}

/// Returns a label, as a number if it spells one.
fn number_or_word(token: &str) -> Cell<'_> {
    if let Ok(whole) = token.parse() {
        return Cell::Integer(whole);
    }
    number_name(token).and_then(|name| name.parse().ok()).map_or(Cell::Text(token), Cell::Number)
}

/// The pairs of one line.
struct Pairs<'a> {
    rest: &'a str,
    base: Base,
    before: Option<u32>,
}

impl Pairs<'_> {
    /// Returns the next index, as the file has it, and its value.
    fn next(&mut self) -> Result<Option<(u32, f64)>, Fault> {
        let rest = self.rest.trim_ascii_start();
        if rest.is_empty() {
            return Ok(None);
        }
        let (token, rest) =
            rest.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((rest, ""));
        self.rest = rest;
        let pair = || fault!("`{token}` is not `index:value`", token = quoted(token));
        let (index, value) = token.split_once(':').ok_or_else(pair)?;
        if index == "qid" {
            return Err(fault!("query ids (`qid`) are for ranking, which is not supported"));
        }
        if !index.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(pair());
        }
        let value: f64 = value.parse().map_err(|_| pair())?;
        // Digits alone, so that only too many of them cannot be read.
        let index: u32 = index.parse().map_err(|_| match index {
            "" => pair(),
            _ => fault!(
                "index {token} is too large; the largest supported is {}",
                u32::MAX,
                token = quoted(index)
            ),
        })?;
        if index < self.base.first() {
            return Err(fault!(
                "index 0, but LIBSVM indices start at 1; if those of this file start at 0, give \
                 `§zero-based`"
            ));
        }
        if let Some(before) = self.before.filter(|&before| index <= before) {
            return Err(fault!("indices must increase, got {index} after {before}"));
        }
        self.before = Some(index);
        Ok(Some((index, value)))
    }

    /// Returns the next column counted from 0 and its finite value.
    fn entry(&mut self, width: u32) -> Result<Option<(u32, f64)>, Fault> {
        let Some((index, value)) = self.next()? else { return Ok(None) };
        let first = self.base.first();
        let column = index - first;
        if column >= width {
            let largest = width - 1 + first;
            return Err(fault!(
                "index {index}, but the largest is {largest}: the model, or `§width`, has \
                 {width} features"
            ));
        }
        if value.is_finite() {
            Ok(Some((column, value)))
        } else {
            Err(fault!("index {index}: numbers must be finite, got {value}"))
        }
    }
}

/// Returns the number of features: as many as the largest index of the file calls for.
pub(crate) fn width(
    file: &str,
    stream: Stream<'_>,
    base: Base,
    limits: &Limits,
) -> Result<u32, ReadError> {
    let mut lines = LibsvmLines::open(file, stream, base, limits)?;
    let mut width = 0;
    while lines.advance()? {
        let (_, mut pairs) = lines.parts(false)?;
        while let Some((index, _)) = pairs.next().map_err(|fault| lines.fault(fault))? {
            width = width.max((index - base.first()).saturating_add(1));
        }
    }
    if width == 0 {
        Err(lines.fault(fault!("no line has an index, so the file has no features")))
    } else {
        Ok(width)
    }
}
