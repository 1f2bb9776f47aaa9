//! Pointers seen as a forest: how deep it is.

use crate::Node;

/// How many pointers to follow from each node until one points to itself, in O(n).
///
/// A network's pointers, unlike a structure's, may form cycles: a node on a cycle has depth 0,
/// one that leads into it counts its steps to the cycle.
///
/// ```
/// // 3 → 2 → 0, 1 alone
/// assert_eq!(pgn_structures::forest::depths(&[0, 1, 0, 2]), [0, 0, 1, 2]);
/// ```
///
/// # Panics
///
/// If a pointer is out of range.
pub fn depths(pointers: &[Node]) -> Vec<u32> {
    let mut depths = Vec::new();
    depths_into(pointers, &mut depths);
    depths
}

/// [`depths`], into memory that is used again.
pub fn depths_into(pointers: &[Node], depths: &mut Vec<u32>) {
    const UNKNOWN: u32 = u32::MAX;
    const ON_PATH: u32 = u32::MAX - 1;
    depths.clear();
    depths.resize(pointers.len(), UNKNOWN);
    let mut path = Vec::new();
    for start in 0..pointers.len() {
        let mut node = start;
        while depths[node] == UNKNOWN && pointers[node] as usize != node {
            depths[node] = ON_PATH;
            path.push(node);
            node = pointers[node] as usize;
        }
        match depths[node] {
            UNKNOWN => depths[node] = 0,
            // Back on the path itself: from `node` to its end it is a cycle.
            ON_PATH => {
                while let Some(last) = path.pop() {
                    depths[last] = 0;
                    if last == node {
                        break;
                    }
                }
            }
            _ => {}
        }
        let mut depth = depths[node];
        while let Some(last) = path.pop() {
            depth += 1;
            depths[last] = depth;
        }
    }
}
