//! The header of an NPY file.

use std::io::{BufRead, Read};

use super::MAGIC;
use crate::error::{Fault, fault, within};
use crate::format::arrays::{ArrayHeader, Element, Endian};
use crate::limits::Limits;

/// More axes than NumPy has.
const MOST_AXES: usize = 64;

/// Reads magic, version and dictionary; the data follow in `input`.
pub(crate) fn read_header(
    mut input: &mut dyn BufRead,
    limits: &Limits,
) -> Result<ArrayHeader, Fault> {
    let mut take = |count: u64, short: &str| {
        let mut bytes = Vec::new();
        let read = (&mut input).take(count).read_to_end(&mut bytes)?;
        if read as u64 == count { Ok(bytes) } else { Err(fault!("{short}")) }
    };
    let (not_npy, short) =
        ("the file does not start with the magic bytes of NPY", "the file ends inside its header");
    let start = take(MAGIC.len() as u64 + 2, not_npy)?;
    let (magic, version) = start.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(fault!("{not_npy}"));
    }
    let bytes = match version {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        _ => {
            let (major, minor) = (version[0], version[1]);
            return Err(fault!("NPY versions 1 to 3 are supported, got {major}.{minor}"));
        }
    };
    let length = take(bytes, short)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    within("bytes in the header", length, u64::from(limits.header_bytes))?;
    let text = take(length, short)?;
    Parser { text: &text, at: 0 }.header()
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn header(&mut self) -> Result<ArrayHeader, Fault> {
        let (mut descr, mut column_major, mut shape) = (None, None, None);
        self.sign(b'{', "no `{`")?;
        while !self.skip(b'}') {
            let key = self.string()?;
            self.sign(b':', "no `:`")?;
            let first = match key.as_str() {
                "descr" => descr.replace(self.descr()?).is_none(),
                "fortran_order" => column_major.replace(self.boolean()?).is_none(),
                "shape" => shape.replace(self.tuple()?).is_none(),
                _ => return Err(self.wrong("an unknown key")),
            };
            if !first {
                return Err(self.wrong("a repeated key"));
            }
            if !self.skip(b',') {
                self.sign(b'}', "neither a `,` nor a `}`")?;
                break;
            }
        }
        self.spaces();
        if self.at != self.text.len() {
            return Err(self.wrong("text after the `}`"));
        }
        match (descr, column_major, shape) {
            (Some((element, endian)), Some(column_major), Some(shape)) => {
                Ok(ArrayHeader { shape, element, endian, column_major })
            }
            _ => Err(self.wrong("a missing key")),
        }
    }

    fn descr(&mut self) -> Result<(Element, Endian), Fault> {
        self.spaces();
        if self.text.get(self.at) == Some(&b'[') {
            return Err(fault!(
                "structured arrays are not supported; save the columns as one array of numbers"
            ));
        }
        let descr = self.string()?;
        element(&descr)
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.spaces();
        let quote = match self.text.get(self.at) {
            Some(&quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.wrong("no quoted string")),
        };
        self.at += 1;
        let rest = &self.text[self.at..];
        let Some(length) = rest.iter().position(|&byte| byte == quote) else {
            return Err(self.wrong("a quote that is never closed"));
        };
        let word = &rest[..length];
        if !word.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\') {
            return Err(self.wrong("a string with special characters"));
        }
        self.at += length + 1;
        Ok(word.iter().map(|&byte| char::from(byte)).collect())
    }

    fn boolean(&mut self) -> Result<bool, Fault> {
        self.spaces();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("neither `True` nor `False`"))
    }

    fn tuple(&mut self) -> Result<Vec<u64>, Fault> {
        self.sign(b'(', "no `(`")?;
        let mut axes = Vec::new();
        while !self.skip(b')') {
            if axes.len() == MOST_AXES {
                return Err(self.wrong("too many axes"));
            }
            axes.push(self.number()?);
            if !self.skip(b',') {
                self.sign(b')', "neither `,` nor `)`")?;
                break;
            }
        }
        Ok(axes)
    }

    fn number(&mut self) -> Result<u64, Fault> {
        self.spaces();
        let start = self.at;
        let mut value = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
            let Some(next) = next else { return Err(self.wrong("a number beyond 64 bits")) };
            value = next;
            self.at += 1;
        }
        if self.text[self.at..].starts_with(b"np.") {
            return Err(fault!(
                "the shape in the header is not of plain whole numbers, as `np.lib.format.open_memmap` writes it \
                 for NumPy's integers; write the file anew: `np.save(NAME, np.load(NAME))`, with a shape of `int`s"
            ));
        }
        if self.at == start {
            return Err(self.wrong("no whole number"));
        }
        // Python 2 wrote an `L` behind long integers.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        Ok(value)
    }

    fn sign(&mut self, sign: u8, what: &'static str) -> Result<(), Fault> {
        if self.skip(sign) { Ok(()) } else { Err(self.wrong(what)) }
    }

    fn skip(&mut self, sign: u8) -> bool {
        self.spaces();
        let there = self.text.get(self.at) == Some(&sign);
        self.at += usize::from(there);
        there
    }

    fn spaces(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn wrong(&self, what: &'static str) -> Fault {
        fault!(
            "the header must be a dictionary of `descr`, `fortran_order` and `shape`: {what} at \
             byte {byte} of it",
            byte = self.at
        )
    }
}

fn element(descr: &str) -> Result<(Element, Endian), Fault> {
    let unknown = || {
        fault!(
            "elements of type `{descr}` are not supported; use f2, f4, f8, i1 to i8, u1 to u8, \
             bool, or strings for labels and ids",
            descr = crate::cell::quoted(descr)
        )
    };
    let (order, rest) = descr.split_at_checked(1).ok_or_else(unknown)?;
    let endian = match order {
        "<" | "|" => Endian::Little,
        ">" => Endian::Big,
        "=" if cfg!(target_endian = "little") => Endian::Little,
        "=" => Endian::Big,
        _ => return Err(unknown()),
    };
    let (kind, size) = rest.split_at_checked(1).ok_or_else(unknown)?;
    if kind == "O" {
        return Err(fault!(
            "object arrays contain pickled code and are never loaded; save numbers or strings \
             instead"
        ));
    }
    let size: u32 = size.parse().map_err(|_| unknown())?;
    let element = match (kind, size) {
        ("f", 2) => Element::F16,
        ("f", 4) => Element::F32,
        ("f", 8) => Element::F64,
        ("i", 1) => Element::I8,
        ("i", 2) => Element::I16,
        ("i", 4) => Element::I32,
        ("i", 8) => Element::I64,
        ("u", 1) => Element::U8,
        ("u", 2) => Element::U16,
        ("u", 4) => Element::U32,
        ("u", 8) => Element::U64,
        ("b", 1) => Element::Bool,
        ("U", 1..) => Element::Unicode(size),
        ("S", 1..) => Element::Bytes(size),
        _ => return Err(unknown()),
    };
    Ok((element, endian))
}
