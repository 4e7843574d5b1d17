//! The text of an architecture.

use super::layer::Activation;
use super::{NetworkError, large};

/// Most layers that a text may have.
const MOST_ITEMS: usize = 64;

/// Most filters, units of a layer, and groups.
const MOST_WIDTH: usize = 1 << 16;

/// Largest side of a window, stride and border.
const MOST_SIDE: usize = 1 << 10;

/// One layer as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Convolution { filters: usize, side: usize, stride: usize, border: usize },
    Dense { width: usize },
    GroupNorm { groups: usize },
    Activation(Activation),
    Pool { side: usize, stride: usize },
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Convolution { filters, side, stride, border } => {
                write!(f, "conv:{filters}x{side}")?;
                if stride != 1 {
                    write!(f, "/{stride}")?;
                }
                if border != 0 {
                    write!(f, "+{border}")?;
                }
                Ok(())
            }
            Self::Dense { width } => write!(f, "dense:{width}"),
            Self::GroupNorm { groups } => write!(f, "groupnorm:{groups}"),
            Self::Activation(Activation::Tanh) => write!(f, "tanh"),
            Self::Activation(Activation::Relu) => write!(f, "relu"),
            Self::Pool { side: 2, stride: 1 } => write!(f, "pool"),
            Self::Pool { side, stride: 1 } => write!(f, "pool:{side}"),
            Self::Pool { side, stride } => write!(f, "pool:{side}/{stride}"),
        }
    }
}

/// Returns the layers of a text; `linear` has none. A `tanh`, which goes without saying, is left out.
pub(super) fn parse(text: &str) -> Result<Vec<Item>, NetworkError> {
    if text.trim() == "linear" {
        return Ok(Vec::new());
    }
    let mut items = Vec::new();
    let mut before = None;
    for part in text.split(',') {
        let item = item(part.trim())?;
        check_place(&item, before)?;
        before = Some(item);
        if item != Item::Activation(Activation::Tanh) {
            items.push(item);
        }
        if items.len() > MOST_ITEMS {
            return Err(large("layers that memory should hold: at most 64 are read"));
        }
    }
    Ok(items)
}

pub(super) fn render(items: &[Item]) -> String {
    if items.is_empty() {
        return "linear".to_owned();
    }
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Refuses what must follow a layer directly and does not.
fn check_place(item: &Item, before: Option<Item>) -> Result<(), NetworkError> {
    let sums = matches!(before, Some(Item::Convolution { .. } | Item::Dense { .. }));
    let rule = match item {
        Item::GroupNorm { .. } if !sums => "right after `conv` or `dense`",
        Item::Activation(_) if !sums && !matches!(before, Some(Item::GroupNorm { .. })) => {
            "right after `conv`, `dense` or `groupnorm`"
        }
        _ => return Ok(()),
    };
    Err(NetworkError::Refused(format!("`{item}` must come {rule}")))
}

fn item(part: &str) -> Result<Item, NetworkError> {
    let unknown = || {
        NetworkError::Refused(format!(
            "`{part}` is no layer; layers are conv:FILTERSxSIDE[/STRIDE][+BORDER], \
             pool[:SIDE[/STRIDE]], dense:WIDTH, groupnorm:GROUPS, tanh and relu, or `linear` \
             alone"
        ))
    };
    let number = |text: &str, what, least, most| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            return Err(unknown());
        }
        let number = text.parse().unwrap_or(usize::MAX);
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        Err(NetworkError::Refused(format!("`{part}`: {what} must be in {least}..={most}")))
    };
    let side = |text: &str| number(text, "the side", 1, MOST_SIDE);
    let stride =
        |text: Option<&str>| text.map_or(Ok(1), |text| number(text, "the stride", 1, MOST_SIDE));
    let (name, rest) = match part.split_once(':') {
        Some((name, rest)) => (name, Some(rest)),
        None => (part, None),
    };
    match (name, rest) {
        ("conv", Some(rest)) => {
            let (filters, rest) = rest.split_once('x').ok_or_else(unknown)?;
            let (rest, border) = split(rest, '+');
            let (window, step) = split(rest, '/');
            Ok(Item::Convolution {
                filters: number(filters, "the number of filters", 1, MOST_WIDTH)?,
                side: side(window)?,
                stride: stride(step)?,
                border: border.map_or(Ok(0), |text| number(text, "the border", 0, MOST_SIDE))?,
            })
        }
        ("dense", Some(width)) => {
            Ok(Item::Dense { width: number(width, "the width", 1, MOST_WIDTH)? })
        }
        ("groupnorm", Some(groups)) => {
            Ok(Item::GroupNorm { groups: number(groups, "the number of groups", 1, MOST_WIDTH)? })
        }
        ("pool", rest) => {
            let (window, step) = split(rest.unwrap_or("2"), '/');
            Ok(Item::Pool { side: side(window)?, stride: stride(step)? })
        }
        ("tanh", None) => Ok(Item::Activation(Activation::Tanh)),
        ("relu", None) => Ok(Item::Activation(Activation::Relu)),
        _ => Err(unknown()),
    }
}

/// Returns what stands before a mark, and what stands after it.
fn split(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}
