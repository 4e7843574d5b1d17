//! A feature map as text, both ways.

use std::fmt;
use std::str::FromStr;

use super::{FeatureMap, Kind, VERSION};
use crate::cell::quoted;
use crate::error::{Fault, fault};

pub(super) const FOURIER: &str = "rff";
pub(super) const GATED: &str = "gated";
pub(super) const CONVOLUTION: &str = "random-conv";
pub(super) const NETWORK: &str = "network";

/// The options of a map; each is `None` if it is not given.
#[derive(Default)]
struct Given {
    gamma: Option<f64>,
    norm: Option<f64>,
    image: Option<(u32, u32)>,
    seed: Option<u64>,
    version: Option<u64>,
}

impl FromStr for FeatureMap {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let mut parts = text.trim().split(',');
        let head = parts.next().unwrap_or_default();
        let (name, size) = head.split_once(':').unwrap_or((head, ""));
        let (name, size) = (name.trim(), size.trim());
        if name == NETWORK {
            return network(size, &parts.collect::<Vec<_>>());
        }
        let mut given = Given::default();
        for part in parts {
            given.take(part, name)?;
        }
        if let Some(got) = given.version.filter(|got| *got != VERSION) {
            return Err(fault!(
                "`§features` knows `version={known}`, got {got}; leave it out",
                known = VERSION
            ));
        }
        let norm = given.norm.unwrap_or(1.0);
        let kind = match name {
            FOURIER => {
                // One over the square of the longest distance's half.
                let gamma = given.gamma.unwrap_or(1.0 / (norm * norm));
                Kind::Fourier { features: whole("the number of features", size)?, gamma, norm }
            }
            GATED => Kind::Gated { features: whole("the number of features", size)?, norm },
            CONVOLUTION => {
                let (filters, side) = size.split_once('x').ok_or_else(|| {
                    fault!(
                        "`§features` needs filters as `random-conv:FxK`, F filters of K x K \
                         numbers, got `{got}`",
                        got = quoted(size)
                    )
                })?;
                Kind::Convolution {
                    filters: whole("the number of filters", filters)?,
                    side: whole("the side of a filter", side)?,
                    image: given.image,
                }
            }
            _ => {
                return Err(fault!(
                    "`§features` must be `rff:P`, `gated:P`, `random-conv:FxK` or \
                     `network:VAULT`, got `{got}`",
                    got = quoted(name)
                ));
            }
        };
        let map = Self { kind, seed: given.seed.unwrap_or(0), given: None };
        map.check()?;
        Ok(map)
    }
}

/// Reads the map of a network, in the one way in which it is written; what makes its features is not stated.
fn network(size: &str, parts: &[&str]) -> Result<FeatureMap, Fault> {
    let features: u32 = whole("the number of features", size)?;
    let wrong = || {
        fault!(
            "a network's features are told as `network:P,DIGEST,version=1`, got `{got}`",
            got = quoted(&parts.join(","))
        )
    };
    let [digest, version] = parts else { return Err(wrong()) };
    if *version != "version=1" || digest.len() != 64 {
        return Err(wrong());
    }
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(digest.as_bytes().chunks_exact(2)) {
        let digit = |at: usize| match digits.get(at) {
            Some(digit @ b'0'..=b'9') => Ok(digit - b'0'),
            Some(digit @ b'a'..=b'f') => Ok(digit - b'a' + 10),
            _ => Err(wrong()),
        };
        *byte = digit(0)? << 4 | digit(1)?;
    }
    let kind = Kind::Network { features, digest: bytes };
    let map = FeatureMap { kind, seed: 0, given: None };
    map.check()?;
    Ok(map)
}

impl Given {
    /// Takes an option of the kind of that name.
    fn take(&mut self, part: &str, kind: &str) -> Result<(), Fault> {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (name, value) = (name.trim(), value.trim());
        let known: &[&str] = match kind {
            FOURIER => &["gamma", "norm", "seed", "version"],
            GATED => &["norm", "seed", "version"],
            _ => &["image", "seed", "version"],
        };
        if !known.contains(&name) {
            let (got, known) = (quoted(part.trim()), known.join(", "));
            return Err(fault!(
                "an option of `§features` must be one of {known}, as in `seed=7`, got `{got}`"
            ));
        }
        let twice = || fault!("`§features` has `{name}` twice");
        let before = match name {
            "gamma" => self.gamma.replace(number("`gamma`", value)?).is_some(),
            "norm" => self.norm.replace(number("`norm`", value)?).is_some(),
            "image" => {
                let (height, width) = value.split_once('x').ok_or_else(|| {
                    fault!(
                        "`image` in `§features` must be HEIGHTxWIDTH, as in `image=28x28`, got \
                         `{got}`",
                        got = quoted(value)
                    )
                })?;
                let shape = (
                    whole("the height of an image", height)?,
                    whole("the width of an image", width)?,
                );
                self.image.replace(shape).is_some()
            }
            "seed" => self.seed.replace(whole("`seed`", value)?).is_some(),
            _ => self.version.replace(whole("`version`", value)?).is_some(),
        };
        if before { Err(twice()) } else { Ok(()) }
    }
}

fn whole<T: FromStr>(what: &'static str, text: &str) -> Result<T, Fault> {
    let text = text.trim();
    text.parse().map_err(|_| {
        fault!(
            "{what} in `§features` must be a whole number of at least 0, got `{got}`",
            got = quoted(text)
        )
    })
}

fn number(what: &'static str, text: &str) -> Result<f64, Fault> {
    text.parse().map_err(|_| {
        fault!("{what} in `§features` must be a number, got `{got}`", got = quoted(text))
    })
}

impl fmt::Display for FeatureMap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self.kind {
            Kind::Fourier { features, gamma, norm } => {
                write!(out, "{name}:{features},gamma={gamma:?},norm={norm:?}")?;
            }
            Kind::Gated { features, norm } => write!(out, "{name}:{features},norm={norm:?}")?,
            Kind::Convolution { filters, side, image } => {
                write!(out, "{name}:{filters}x{side}")?;
                if let Some((height, width)) = image {
                    write!(out, ",image={height}x{width}")?;
                }
            }
            Kind::Network { features, digest } => {
                write!(out, "{name}:{features},")?;
                digest.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
                return write!(out, ",version={VERSION}");
            }
        }
        write!(out, ",seed={},version={VERSION}", self.seed)
    }
}

impl TryFrom<String> for FeatureMap {
    type Error = Fault;

    fn try_from(text: String) -> Result<Self, Fault> {
        text.parse()
    }
}

impl From<FeatureMap> for String {
    fn from(map: FeatureMap) -> Self {
        map.to_string()
    }
}
