#![doc = include_str!("cyclic.md")]

use super::interpolation::{Stretch, StretchError};

/// The most visits that one schedule may list.
pub(crate) const MOST_VISITS: u64 = 100_000;

/// Records of one batch that two runs do not share until some step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Differing {
    /// The last step, counted from 1, that visits them; 0: none.
    pub until: u64,
    /// How far apart they set the two runs' maps at each visit.
    pub shift: f64,
}

/// Returns the stretches of `steps` steps over `batches` batches in turn.
///
/// `each` is a step that visits none of the records. The records of every entry of `differing` shift
/// its last step and every `batches`-th before it, which bounds records anywhere that differ until then
/// while no step expands.
///
/// # Errors
/// Fails if there are more than 100,000 visits in all, or no batch.
pub fn stretches(
    batches: u64,
    steps: u64,
    differing: &[Differing],
    each: Stretch,
) -> Result<Vec<Stretch>, StretchError> {
    let mut visits = Vec::new();
    for records in differing {
        let until = records.until.min(steps);
        let count = if batches == 0 { u64::MAX } else { until.div_ceil(batches) };
        let total = count.saturating_add(visits.len() as u64);
        if total > MOST_VISITS {
            return Err(StretchError::TooManyVisits(total));
        }
        visits
            .extend((0..total - visits.len() as u64).map(|n| (until - n * batches, records.shift)));
    }
    visits.sort_unstable_by_key(|&(step, _)| step);
    let mut list: Vec<Stretch> = Vec::with_capacity(2 * visits.len() + 1);
    let mut done = 0;
    for (step, shift) in visits {
        match list.last_mut() {
            Some(last) if step == done => last.shift += shift,
            _ => {
                list.push(Stretch { steps: step - done - 1, ..each });
                list.push(Stretch { steps: 1, shift: each.shift + shift, ..each });
                done = step;
            }
        }
    }
    list.push(Stretch { steps: steps - done, ..each });
    list.retain(|stretch| stretch.steps > 0);
    Ok(list)
}
