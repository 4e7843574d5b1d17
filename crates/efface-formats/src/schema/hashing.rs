//! The hash of hashed columns: fixed for ever, since stored models depend on it.
//!
//! FNV-1a over the column's name, a byte 0xFF (which UTF-8 never holds) and the value, then the
//! 64-bit finaliser of MurmurHash3 by Austin Appleby, since FNV alone leaves high bits uneven.
//! The low 63 bits give the place, the top bit the sign. FNV: Fowler, Noll, Vo (public domain).

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the place below `width` (which is at least 1) and the sign, 1 or -1.
pub(crate) fn place(column: &str, value: &str, width: u32) -> (u32, f32) {
    let hash = finish(fnv(fnv(fnv(FNV_START, column.as_bytes()), &[0xff]), value.as_bytes()));
    let place = (hash & (u64::MAX >> 1)) % u64::from(width.max(1));
    (place as u32, if hash >> 63 == 0 { 1.0 } else { -1.0 })
}

fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

fn finish(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_agrees_with_its_published_vectors() {
        assert_eq!(fnv(FNV_START, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(FNV_START, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(FNV_START, b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn column_and_value_are_kept_apart() {
        assert_ne!(place("ab", "c", u32::MAX), place("a", "bc", u32::MAX));
    }

    /// Hashes 6400 values to 64 places: expected 100 each, deviation 10; the bound of six deviations fails
    /// for a random function with probability below 64 * 2e-9.
    #[test]
    fn places_and_signs_are_even() {
        let mut counts = [0_i32; 64];
        let mut signs = 0.0;
        for value in 0..6400 {
            let (at, sign) = place("user", &value.to_string(), 64);
            counts[at as usize] += 1;
            signs += sign;
        }
        assert!(counts.iter().all(|count| (count - 100).abs() < 60), "{counts:?}");
        assert!(signs.abs() < 480.0, "{signs}");
    }
}
