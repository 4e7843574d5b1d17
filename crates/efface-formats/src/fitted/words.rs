//! Words of free text, and their places in a row.

use crate::schema::hashing;

/// Returns the words of a text: runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns how many words a text has.
pub(super) fn count(text: &str) -> u64 {
    words(text).count() as u64
}

/// Writes the entries of a text among `width` places, ascending: lower-cased words counted with the signs of
/// their hashes, divided by the Euclidean norm; nothing if no word is left.
pub(super) fn entries(column: &str, text: &str, width: u32, out: &mut Vec<(u32, f32)>) {
    out.clear();
    let mut lower = String::new();
    for word in words(text) {
        lower.clear();
        lower.extend(word.chars().flat_map(char::to_lowercase));
        out.push(hashing::place(column, &lower, width));
    }
    out.sort_unstable_by_key(|(place, _)| *place);
    out.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
    out.retain(|(_, count)| *count != 0.0);
    // Counts are integers, so that the sum of squares is exact.
    let squares: f64 = out.iter().map(|(_, count)| f64::from(*count) * f64::from(*count)).sum();
    let norm = squares.sqrt();
    out.iter_mut().for_each(|(_, count)| *count = (f64::from(*count) / norm) as f32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_whatever_the_case_and_order() {
        let of = |text| {
            let mut out = Vec::new();
            entries("c", text, 1024, &mut out);
            out
        };
        assert_eq!(of("Große Straße, GROSSE strasse"), of("große strasse; straße -- grosse"));
        assert_eq!(of("a a b").len(), 2);
        assert!((of("a a b").iter().map(|(_, v)| v * v).sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(of(" ... ").is_empty());
        assert_eq!(count("it's 3 o'clock"), 5);
    }
}
