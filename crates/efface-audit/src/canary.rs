//! A planted record: the worst that the plan's row bound allows in the direction about which the data say
//! least.

use efface::{Code, Error, Plan, Result};
use efface_learn::{Constants, Dataset, effective_row_bound};
use efface_matrix::{Matrix, Row};

use crate::failed;

/// Returns `data` with `count` equal records behind the others, along the feature that the data use least and
/// as long as a row may be.
///
/// # Errors
/// Fails if the plan's capacity has no room for them.
pub fn plant(
    plan: &Plan,
    constants: &Constants,
    mut data: Dataset,
    count: usize,
) -> Result<(Dataset, Vec<usize>)> {
    let rows = data.rows();
    if let Some(capacity) = plan.capacity().filter(|&most| (rows + count) as u64 > most) {
        let message = format!(
            "planting {count} records beside {rows} needs a capacity of {}, got {capacity}",
            rows + count
        );
        return Err(Error::refused(Code::Capacity, message)
            .hint("audit fewer rows with `--rows`, or an existing record"));
    }
    let features = plan.rows.features as usize;
    let mut squares = vec![0.0; features];
    for row in 0..rows {
        for (column, value) in data.x().row(row).iter().filter(|(column, _)| *column < features) {
            squares[column] += f64::from(value) * f64::from(value);
        }
    }
    let least = (0..features).min_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
    let (norm, intercept) = (plan.rows.norm.0, plan.rows.intercept.0);
    // In float32 and within the bound.
    let mut length = norm as f32;
    while effective_row_bound(f64::from(length), intercept) > constants.declared().row_bound {
        length = length.next_down();
    }
    // Labels 1 of two or more classes, and the upper end of a range, are all written 1.
    let (target, weight) = (1.0, constants.max_weight());
    let sparse = matches!(data.x(), Matrix::Sparse(_));
    for _ in 0..count {
        let pushed = if sparse {
            let (at, values) = ([least as u32, features as u32], [length, intercept as f32]);
            let entries = if intercept == 0.0 { 1 } else { 2 };
            data.push_weighted(
                Row::Sparse { indices: &at[..entries], values: &values[..entries] },
                target,
                weight,
            )
        } else {
            let mut row = vec![0.0; plan.columns()];
            row[least] = length;
            if intercept != 0.0 {
                row[features] = intercept as f32;
            }
            data.push_weighted(Row::Dense(&row), target, weight)
        };
        pushed.map_err(failed)?;
    }
    Ok((data, (rows..rows + count).collect()))
}
