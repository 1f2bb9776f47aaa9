//! Binary search trees that nobody balances.

use crate::{
    Error, Feature, Node, Operation, OperationKind, PointerStructure, Recorder, Result, Rng,
    Schema, TaskText, Visited,
};

/// A search tree with the nodes' priorities as keys; every node points to its parent.
///
/// `insert(u)` and `remove(u)` answer **1** if the tree has changed. `above(u, v)` answers **1** if v
/// is met on the way from the root to u, or to where u would be, and changes nothing. A node with two
/// children is replaced by the next in order (Hibbard). Visited are the nodes of the search, of the
/// way to the next in order, and those whose parent changes.
///
/// # Complexity
///
/// O(depth) per operation: O(log n) in expectation for random insertions, O(n) at worst.
///
/// # Example
///
/// ```
/// use pgn_structures::{Bst, Operation, PointerStructure, Visited};
///
/// let (mut tree, mut visited) = (Bst::default(), Visited::new(3));
/// tree.reset(&[0.5, 0.75, 0.25]);
/// for node in 0..3 {
///     assert!(tree.apply(Operation::of_kind(0, node, node), &mut visited)?); // insert
/// }
/// assert_eq!([0, 1, 2].map(|node| tree.pointer(node)), [0, 0, 0]);
/// assert!(tree.apply(Operation::of_kind(1, 0, 0), &mut visited)?); // remove the root
/// assert!(tree.apply(Operation::of_kind(2, 2, 1), &mut visited)?); // 1 is above 2
/// # Ok::<(), pgn_structures::Error>(())
/// ```
///
/// # Literature
///
/// Hibbard 1962, *Some combinatorial properties of certain trees*; Knuth 1973, section 6.2.2.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bst {
    keys: Vec<f32>,
    /// [`UP`], [`LEFT`] and [`RIGHT`]; nil is the node itself.
    fields: [Vec<Node>; 3],
    held: Vec<bool>,
    root: Option<Node>,
}

const UP: usize = 0;
const LEFT: usize = 1;
const RIGHT: usize = 2;

/// The kinds of operations, by number.
const INSERT: u8 = 0;
const REMOVE: u8 = 1;
const ABOVE: u8 = 2;

const FEATURES: &[Feature] = &[
    Feature::Priority,
    Feature::First,
    Feature::Second,
    Feature::Kind(INSERT),
    Feature::Kind(REMOVE),
    Feature::Kind(ABOVE),
];

impl Bst {
    fn get(&self, field: usize, node: Node) -> Option<Node> {
        let value = self.fields[field][node as usize];
        (value != node).then_some(value)
    }

    fn set(&mut self, field: usize, node: Node, value: Option<Node>) {
        self.fields[field][node as usize] = value.unwrap_or(node);
    }

    /// The side of `node` on which the key of `u` is.
    fn side(&self, node: Node, u: Node) -> usize {
        if self.keys[u as usize] < self.keys[node as usize] { LEFT } else { RIGHT }
    }

    /// Searches for u: the last node of the way, if the tree is not empty, and whether `meet` was on
    /// the way before u.
    fn search(&self, u: Node, meet: Node, recorder: &mut impl Recorder) -> (Option<Node>, bool) {
        let (mut last, mut next, mut met) = (None, self.root, false);
        while let Some(node) = next {
            recorder.visit(node);
            last = Some(node);
            if node == u {
                break;
            }
            met |= node == meet;
            next = self.get(self.side(node, u), node);
        }
        (last, met)
    }

    fn insert(&mut self, u: Node, recorder: &mut impl Recorder) -> bool {
        let (last, _) = self.search(u, u, recorder);
        match last {
            Some(found) if found == u => return false,
            Some(parent) => {
                self.set(self.side(parent, u), parent, Some(u));
                self.set(UP, u, Some(parent));
            }
            None => self.root = Some(u),
        }
        self.held[u as usize] = true;
        true
    }

    fn remove(&mut self, u: Node, recorder: &mut impl Recorder) -> bool {
        if self.search(u, u, recorder).0 != Some(u) {
            return false;
        }
        let (left, right) = (self.get(LEFT, u), self.get(RIGHT, u));
        let heir = match (left, right) {
            (Some(_), Some(right)) => {
                // The leftmost node on the right, which its own right child replaces first.
                let mut heir = right;
                recorder.visit(heir);
                while let Some(next) = self.get(LEFT, heir) {
                    heir = next;
                    recorder.visit(heir);
                }
                if heir != right {
                    self.replace(heir, self.get(RIGHT, heir), recorder);
                    self.hang(heir, RIGHT, self.get(RIGHT, u), recorder);
                }
                self.hang(heir, LEFT, left, recorder);
                Some(heir)
            }
            (left, right) => left.or(right),
        };
        self.replace(u, heir, recorder);
        (UP..=RIGHT).for_each(|field| self.set(field, u, None));
        self.held[u as usize] = false;
        true
    }

    /// Makes `child` a child of `node`.
    fn hang(&mut self, node: Node, side: usize, child: Option<Node>, recorder: &mut impl Recorder) {
        self.set(side, node, child);
        if let Some(child) = child {
            self.set(UP, child, Some(node));
            recorder.visit(child);
        }
    }

    /// Puts `heir` in the place of `node`, below its parent.
    fn replace(&mut self, node: Node, heir: Option<Node>, recorder: &mut impl Recorder) {
        match self.get(UP, node) {
            Some(parent) => self.hang(parent, self.side(parent, node), heir, recorder),
            None => {
                self.root = heir;
                if let Some(heir) = heir {
                    self.set(UP, heir, None);
                    recorder.visit(heir);
                }
            }
        }
    }
}

impl PointerStructure for Bst {
    fn name(&self) -> &str {
        "bst"
    }

    fn about(&self) -> TaskText {
        TaskText::new(
            "Binary search tree",
            "insert, remove, above",
            "unbalanced search tree: insert, remove, and ask what is on the way to a node",
            ["unchanged, or not on the way", "inserted or removed, or on the way"],
        )
    }

    fn schema(&self) -> Schema {
        Schema::new(&["up", "left", "right"], &["held"])
    }

    fn features(&self) -> &[Feature] {
        FEATURES
    }

    fn kinds(&self) -> Vec<OperationKind> {
        [("insert", 1), ("remove", 1), ("above", 2)]
            .map(|(name, operands)| OperationKind::new(name, operands))
            .to_vec()
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.keys = priorities.to_vec();
        self.fields = std::array::from_fn(|_| (0..priorities.len() as Node).collect());
        self.held = vec![false; priorities.len()];
        self.root = None;
    }

    /// Insertions twice as often as removals; half of the questions are about a node on the way.
    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        let kind = [INSERT, INSERT, REMOVE, ABOVE, ABOVE][rng.below(5) as usize];
        let Operation { u, v, .. } = Operation::sample(nodes, rng);
        if kind != ABOVE {
            return Operation::of_kind(kind, u, u);
        }
        let mut way = Visited::new(nodes as usize);
        self.search(u, u, &mut way);
        let way: Vec<Node> = way.nodes().iter().copied().filter(|&node| node != u).collect();
        match way.len() as u32 {
            0 => Operation::of_kind(kind, u, v),
            _ if rng.below(2) == 0 => Operation::of_kind(kind, u, v),
            length => Operation::of_kind(kind, u, way[rng.below(length) as usize]),
        }
    }

    /// Insertions from alternating ends, a chain; then, node by node from its root: is it above the far
    /// end, is the far end above it, remove it, remove it again, insert it.
    fn adversary(&self, step: usize, order: &[Node]) -> Option<Operation> {
        let n = order.len();
        let at = |step: usize| order[crate::family::alternating(step, n)];
        let Some(later) = step.checked_sub(n) else {
            return Some(Operation::of_kind(INSERT, at(step), at(step)));
        };
        let (near, far) = (at(later / 5), at(n - 1 - later / 5 % n));
        Some(match later % 5 {
            0 => Operation::of_kind(ABOVE, far, near),
            1 => Operation::of_kind(ABOVE, near, far),
            2 | 3 => Operation::of_kind(REMOVE, near, near),
            _ => Operation::of_kind(INSERT, near, near),
        })
    }

    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> Result<bool> {
        let Operation { u, v, kind } = operation;
        visited.insert(u);
        visited.insert(v);
        Ok(match kind {
            INSERT => self.insert(u, visited),
            REMOVE => self.remove(u, visited),
            _ => self.search(u, v, visited).1,
        })
    }

    fn pointer(&self, node: Node) -> Node {
        self.fields[UP][node as usize]
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> Result<()> {
        let values = self.fields.get(field);
        let values = values.ok_or_else(|| Error::structure("bst", "has three pointer fields"))?;
        row.copy_from_slice(values);
        Ok(())
    }

    fn bit_field(&self, _: usize, row: &mut [u8]) -> Result<()> {
        for (bit, &held) in row.iter_mut().zip(&self.held) {
            *bit = u8::from(held);
        }
        Ok(())
    }
}
