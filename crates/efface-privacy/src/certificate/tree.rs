//! One hash for the subjects of a request, however many they are.

use sha2::{Digest, Sha256};

/// Returns the root of the Merkle tree over the keyed hashes of a request's subjects: RFC 9162, section
/// 2.1.1, with SHA-256, over the distinct hashes in ascending order. A path of that RFC proves to one person
/// that the request named them, and reveals no other person. A request names at least one subject; without
/// subjects the root is the hash of the empty string.
#[must_use]
pub fn subjects_root(mut hashes: Vec<[u8; 32]>) -> String {
    hashes.sort_unstable();
    hashes.dedup();
    hex::encode(root(&hashes))
}

fn root(leaves: &[[u8; 32]]) -> [u8; 32] {
    let hash = match leaves {
        [] => Sha256::new(),
        [leaf] => Sha256::new().chain_update([0]).chain_update(leaf),
        _ => {
            // The left tree is complete: its leaves are the largest power of two below their number.
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            Sha256::new().chain_update([1]).chain_update(root(left)).chain_update(root(right))
        }
    };
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::{Digest, Sha256, subjects_root};

    fn hash(parts: &[&[u8]]) -> [u8; 32] {
        Sha256::digest(parts.concat()).into()
    }

    #[test]
    fn the_root_is_that_of_the_tree_written_out_by_hand() {
        let leaf = |byte: u8| hash(&[&[0], &[byte; 32]]);
        let node = |left: [u8; 32], right: [u8; 32]| hash(&[&[1], &left, &right]);
        let root = |bytes: &[u8]| subjects_root(bytes.iter().map(|byte| [*byte; 32]).collect());
        let two = node(leaf(1), leaf(2));
        let four = node(two, node(leaf(3), leaf(4)));
        assert_eq!(root(&[1]), hex::encode(leaf(1)));
        assert_eq!(root(&[2, 1]), hex::encode(two));
        assert_eq!(root(&[3, 1, 2]), hex::encode(node(two, leaf(3))));
        assert_eq!(root(&[4, 3, 2, 1]), hex::encode(four));
        assert_eq!(root(&[1, 2, 3, 4, 5, 3]), hex::encode(node(four, leaf(5))));
        assert_eq!(root(&[6, 5, 4, 3, 2, 1]), hex::encode(node(four, node(leaf(5), leaf(6)))));
    }
}
