//! What a set of pointers connects, how deep and how wide it is, and whether that is right.
//!
//! A network may point anywhere: in cycles, across components. Nothing here assumes a forest.
//! All functions expect every pointer to be below the number of pointers, and panic otherwise.

use pgn_structures::{Node, forest};

use super::share;

/// For each node the lowest node it is connected to by pointers, whichever way they lead.
///
/// ```
/// // 2 → 0 and 3 → 1 → 3, a cycle
/// assert_eq!(pgn_lab::analysis::shape::components(&[0, 3, 0, 1]), [0, 1, 0, 1]);
/// ```
pub fn components(pointers: &[Node]) -> Vec<Node> {
    let mut above: Vec<Node> = (0..pointers.len() as Node).collect();
    fn find(above: &mut [Node], mut node: Node) -> Node {
        while above[node as usize] != node {
            above[node as usize] = above[above[node as usize] as usize];
            node = above[node as usize];
        }
        node
    }
    for (node, &pointer) in (0..).zip(pointers) {
        let (x, y) = (find(&mut above, node), find(&mut above, pointer));
        above[x.max(y) as usize] = x.min(y);
    }
    (0..pointers.len() as Node).map(|node| find(&mut above, node)).collect()
}

/// The number of cycles of two nodes or more. Where there is one, no `find` ever ends.
///
/// ```
/// use pgn_lab::analysis::shape::cycles;
/// assert_eq!(cycles(&[0, 0, 1]), 0);
/// assert_eq!(cycles(&[1, 0, 3, 4, 2, 2]), 2);
/// ```
pub fn cycles(pointers: &[Node]) -> usize {
    // A component has as many pointers as nodes, and so exactly one circle; it is of one node
    // where a node points to itself.
    let components = components(pointers);
    let lowest = (0..).zip(&components).filter(|&(node, &component)| node == component).count();
    lowest - (0..).zip(pointers).filter(|&(node, &pointer)| node == pointer).count()
}

/// The longest of all shortest paths between connected nodes, over pointers in either direction:
/// how many steps messages need to get everywhere.
///
/// Takes O(n²) time in the worst case.
///
/// ```
/// use pgn_lab::analysis::shape::diameter;
/// assert_eq!(diameter(&[0, 0, 0, 3]), 2); // a star and a lone node
/// assert_eq!(diameter(&[0, 0, 1, 2]), 3); // a chain
/// assert_eq!(diameter(&[1, 2, 3, 0]), 2); // a cycle of four
/// ```
pub fn diameter(pointers: &[Node]) -> u32 {
    let n = pointers.len();
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (node, &pointer) in pointers.iter().enumerate().filter(|&(i, &p)| i != p as usize) {
        neighbours[node].push(pointer as usize);
        neighbours[pointer as usize].push(node);
    }
    const UNSEEN: u32 = u32::MAX;
    let mut distance = vec![UNSEEN; n];
    let mut queue = Vec::with_capacity(n);
    let mut longest = 0;
    for start in (0..n).filter(|&node| !neighbours[node].is_empty()) {
        distance[start] = 0;
        queue.push(start);
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            for &neighbour in &neighbours[node] {
                if distance[neighbour] == UNSEEN {
                    distance[neighbour] = distance[node] + 1;
                    queue.push(neighbour);
                }
            }
        }
        // The last node reached is the farthest.
        longest = longest.max(queue.last().map_or(0, |&node| distance[node]));
        queue.drain(..).for_each(|node| distance[node] = UNSEEN);
    }
    longest
}

/// How deep and how wide a set of pointers is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The most pointers to follow from a node until one points to itself; a node on a cycle has
    /// depth 0.
    pub depth: u32,
    /// The sum of these numbers over all nodes.
    pub total_depth: u64,
    /// See [`diameter`].
    pub diameter: u32,
}

impl Shape {
    /// The shape of `pointers`.
    pub fn of(pointers: &[Node]) -> Shape {
        let depths = forest::depths(pointers);
        Shape {
            depth: depths.iter().copied().max().unwrap_or(0),
            total_depth: depths.iter().copied().map(u64::from).sum(),
            diameter: diameter(pointers),
        }
    }
}

/// How a model's pointers stand to the truth's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Whether the same nodes are connected.
    pub same_components: bool,
    /// Whether every pointer leads to a node that points to itself.
    pub acyclic: bool,
    /// Pairs of nodes that are connected in both.
    pub pairs_in_both: u64,
    /// Pairs of nodes that are connected in the truth.
    pub pairs_in_truth: u64,
    /// Pairs of nodes that are connected in the model.
    pub pairs_in_model: u64,
}

impl Comparison {
    /// Compares two sets of pointers of the same nodes.
    ///
    /// ```
    /// use pgn_lab::analysis::shape::Comparison;
    /// let truth = [0, 0, 1, 3];
    /// // Flatter, with another root, but the same sets.
    /// assert!(Comparison::of(&[1, 1, 1, 3], &truth).is_valid());
    /// // The same sets, but in cycles: nobody can find a root.
    /// let circle = Comparison::of(&[1, 2, 0, 3], &truth);
    /// assert!(circle.same_components && !circle.is_valid());
    /// // Node 3 does not belong to the others.
    /// assert!(!Comparison::of(&[0, 0, 1, 1], &truth).is_valid());
    /// ```
    pub fn of(model: &[Node], truth: &[Node]) -> Comparison {
        let (of_model, of_truth) = (components(model), components(truth));
        let both = of_model.iter().copied().zip(of_truth.iter().copied());
        Comparison {
            same_components: of_model == of_truth,
            acyclic: cycles(model) == 0,
            pairs_in_both: pairs(both.collect()),
            pairs_in_truth: pairs(of_truth),
            pairs_in_model: pairs(of_model),
        }
    }

    /// Whether the model's pointers are a valid structure: every node leads to a root, and the
    /// same nodes are connected as in the truth. For a disjoint-set union that is all there is
    /// to it; for a link/cut tree it is what its answers depend on.
    pub fn is_valid(&self) -> bool {
        self.same_components && self.acyclic
    }
}

/// Comparisons added up, in whole numbers, so that no order of adding up matters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Comparisons {
    pub steps: u64,
    pub valid: u64,
    pub same_components: u64,
    pub acyclic: u64,
    /// In both, in the truth, in the model.
    pairs: [u64; 3],
}

impl From<Comparison> for Comparisons {
    fn from(one: Comparison) -> Comparisons {
        Comparisons {
            steps: 1,
            valid: u64::from(one.is_valid()),
            same_components: u64::from(one.same_components),
            acyclic: u64::from(one.acyclic),
            pairs: [one.pairs_in_both, one.pairs_in_truth, one.pairs_in_model],
        }
    }
}

impl Comparisons {
    pub fn add(mut self, other: Comparisons) -> Comparisons {
        self.steps += other.steps;
        self.valid += other.valid;
        self.same_components += other.same_components;
        self.acyclic += other.acyclic;
        self.pairs.iter_mut().zip(other.pairs).for_each(|(sum, pairs)| *sum += pairs);
        self
    }

    /// Of the pairs connected in the model, the share that is so in the truth; 1 if there are none.
    pub fn precision(&self) -> f64 {
        if self.pairs[2] == 0 { 1.0 } else { share(self.pairs[0], self.pairs[2]) }
    }

    /// Of the pairs connected in the truth, the share that is so in the model; 1 if there are none.
    pub fn recall(&self) -> f64 {
        if self.pairs[1] == 0 { 1.0 } else { share(self.pairs[0], self.pairs[1]) }
    }
}

/// Pairs of equal entries.
fn pairs<T: Ord>(mut groups: Vec<T>) -> u64 {
    groups.sort_unstable();
    let sizes = groups.chunk_by(|a, b| a == b).map(|group| group.len() as u64);
    sizes.map(|size| size * (size - 1) / 2).sum()
}
