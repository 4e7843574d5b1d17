//! Reads the counts and lengths of Thrift's compact form.
//!
//! The decoder allocates memory by the counts that a footer or a page header states. This reader ensures that
//! no list states more elements, and no text more bytes, than there are left, and extracts the numbers that
//! pages are judged by.

/// Structs inside structs, and schema groups inside groups, at most.
pub(super) const DEEPEST: usize = 64;

/// The bytes are not Thrift, or end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// More bytes might help.
    Short,
    /// The bytes are wrong, and more would not help.
    Wrong(&'static str),
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Boolean(bool),
    Byte,
    /// An integer of 16, 32 or 64 bits.
    Integer,
    Double,
    Text,
    List,
    Map,
    Struct,
}

/// Bytes, and a place in them.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the number and type of the next field; `None` at the end of the struct. `last` is the number
    /// of the field before, 0 at first.
    pub(super) fn field(&mut self, last: &mut i16) -> Result<Option<(i16, Type)>, Broken> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let number = match byte >> 4 {
            0 => i16::try_from(self.integer()?).map_err(|_| Broken::Wrong("a field number"))?,
            step => last.checked_add(i16::from(step)).ok_or(Broken::Wrong("a field number"))?,
        };
        *last = number;
        Ok(Some((number, kind(byte & 0x0f)?)))
    }

    pub(super) fn integer(&mut self) -> Result<i64, Broken> {
        let raw = self.varint()?;
        Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    /// Returns the number of elements of a list and their type.
    pub(super) fn list(&mut self) -> Result<(u64, Type), Broken> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        self.within(count)?;
        Ok((count, kind(byte & 0x0f)?))
    }

    /// Passes over a value, and checks the counts in it.
    pub(super) fn skip(&mut self, kind: Type, depth: usize) -> Result<(), Broken> {
        if depth >= DEEPEST {
            return Err(Broken::Wrong("structs nested too deeply"));
        }
        match kind {
            Type::Boolean(_) => {}
            Type::Byte => self.pass(1)?,
            Type::Integer => drop(self.varint()?),
            Type::Double => self.pass(8)?,
            Type::Text => {
                let length = self.varint()?;
                self.pass(length)?;
            }
            Type::List => {
                let (count, element) = self.list()?;
                for _ in 0..count {
                    self.element(element, depth + 1)?;
                }
            }
            Type::Map => {
                let count = self.varint()?;
                self.within(count)?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                for _ in 0..count {
                    self.element(self::kind(kinds >> 4)?, depth + 1)?;
                    self.element(self::kind(kinds & 0x0f)?, depth + 1)?;
                }
            }
            Type::Struct => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// Skips an element of a list or map, where a truth value is a byte of its own.
    fn element(&mut self, kind: Type, depth: usize) -> Result<(), Broken> {
        self.skip(if matches!(kind, Type::Boolean(_)) { Type::Byte } else { kind }, depth)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        let byte = *self.bytes.get(self.at).ok_or(Broken::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, Broken> {
        varint(self.bytes, &mut self.at)
    }

    fn pass(&mut self, count: u64) -> Result<(), Broken> {
        self.within(count)?;
        self.at += count as usize;
        Ok(())
    }

    /// Checks that there are bytes for so many elements: each takes at least one.
    fn within(&self, count: u64) -> Result<(), Broken> {
        if count <= (self.bytes.len() - self.at) as u64 { Ok(()) } else { Err(Broken::Short) }
    }
}

fn kind(code: u8) -> Result<Type, Broken> {
    Ok(match code {
        1 => Type::Boolean(true),
        2 => Type::Boolean(false),
        3 => Type::Byte,
        4..=6 => Type::Integer,
        7 => Type::Double,
        8 => Type::Text,
        9 | 10 => Type::List,
        11 => Type::Map,
        12 => Type::Struct,
        _ => return Err(Broken::Wrong("an unknown type")),
    })
}

/// Returns an unsigned number in groups of seven bits, the lowest first.
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Broken> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or(Broken::Short)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Broken::Wrong("a number beyond 64 bits"))
}
