//! Pointers seen as a forest: how deep it is, and what it looks like.

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

/// A picture of the forest in text, largest tree first, at most `max_lines` lines long.
///
/// ```
/// let picture = pgn_structures::forest::picture(&[0, 1, 0, 2, 0], 20);
/// assert_eq!(picture, "\
/// 0
/// ├─ 2
/// │  └─ 3
/// └─ 4
/// alone: 1
/// ");
/// ```
///
/// # Panics
///
/// If a pointer is out of range.
pub fn picture(pointers: &[Node], max_lines: usize) -> String {
    let n = pointers.len();
    let roots = roots(pointers);
    let mut children: Vec<Vec<Node>> = vec![Vec::new(); n];
    let mut is_root = vec![false; n];
    roots.iter().for_each(|&root| is_root[root as usize] = true);
    for (node, &pointer) in (0..).zip(pointers) {
        if !is_root[node as usize] {
            children[pointer as usize].push(node);
        }
    }
    let size = |root: Node| {
        let (mut size, mut left) = (0, vec![root]);
        while let Some(node) = left.pop() {
            size += 1;
            left.extend(&children[node as usize]);
        }
        size
    };
    let mut trees: Vec<(Node, usize)> = roots.iter().map(|&root| (root, size(root))).collect();
    trees.sort_by_key(|&(root, size)| (std::cmp::Reverse(size), root));

    let mut text = String::new();
    let (mut lines, mut shown) = (0, 0);
    'all: for &(root, _) in trees.iter().filter(|&&(root, size)| !is_alone(pointers, root, size)) {
        // What is still to be drawn: a node, what stands before it, what stands before its
        // children.
        let mut stack = vec![(root, String::new(), String::new())];
        while let Some((node, before, below)) = stack.pop() {
            if lines == max_lines {
                break 'all;
            }
            let pointer = pointers[node as usize];
            let note = match node == root && pointer != root {
                true => format!(" (on a cycle, points to {pointer})"),
                false => String::new(),
            };
            text += &format!("{before}{node}{note}\n");
            lines += 1;
            shown += 1;
            for (place, &child) in children[node as usize].iter().rev().enumerate() {
                let (branch, rest) =
                    if place == 0 { ("└─ ", "   ") } else { ("├─ ", "│  ") };
                stack.push((child, format!("{below}{branch}"), format!("{below}{rest}")));
            }
        }
    }
    let alone: Vec<_> =
        trees.iter().filter(|&&(root, size)| is_alone(pointers, root, size)).collect();
    let in_trees = n - alone.len();
    if shown < in_trees {
        text += &format!("… and {} more nodes in trees\n", in_trees - shown);
    }
    if !alone.is_empty() {
        let names: Vec<_> = alone.iter().take(40).map(|(root, _)| root.to_string()).collect();
        let more = alone.len() - names.len();
        let more = if more > 0 { format!(" … and {more} more") } else { String::new() };
        text += &format!("alone: {}{more}\n", names.join(" "));
    }
    text
}

fn is_alone(pointers: &[Node], root: Node, size: usize) -> bool {
    size == 1 && pointers[root as usize] == root
}

/// The nodes that point to themselves, and the lowest node of each cycle.
fn roots(pointers: &[Node]) -> Vec<Node> {
    let depths = depths(pointers);
    let mut done = vec![false; pointers.len()];
    let mut roots = Vec::new();
    for node in 0..pointers.len() {
        if depths[node] == 0 && !done[node] {
            roots.push(node as Node);
            let mut next = node;
            while !done[next] {
                done[next] = true;
                next = pointers[next] as usize;
            }
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_agree_with_walking() {
        let mut rng = crate::Rng::new([7, 0, 0, 0]);
        for n in 1..60u32 {
            let pointers: Vec<Node> = (0..n).map(|_| rng.below(n)).collect();
            let on_cycle = |node: Node| {
                let mut next = pointers[node as usize];
                (0..n).any(|_| {
                    let back = next == node;
                    next = pointers[next as usize];
                    back
                })
            };
            for node in 0..n {
                let (mut steps, mut next) = (0, node);
                while !on_cycle(next) {
                    next = pointers[next as usize];
                    steps += 1;
                }
                assert_eq!(depths(&pointers)[node as usize], steps);
            }
        }
    }

    #[test]
    fn a_picture_of_a_cycle_shows_every_node_once() {
        // 1 → 2 → 3 → 1, 0 → 2
        assert_eq!(
            picture(&[2, 2, 3, 1], 9),
            "1 (on a cycle, points to 2)\n└─ 3\n   └─ 2\n      └─ 0\n"
        );
    }

    #[test]
    fn a_long_chain_is_cut_short() {
        let pointers: Vec<Node> = (0..100_000u32).map(|node| node.saturating_sub(1)).collect();
        assert_eq!(picture(&pointers, 3), "0\n└─ 1\n   └─ 2\n… and 99997 more nodes in trees\n");
        assert_eq!(depths(&pointers)[99_999], 99_999);
    }
}
