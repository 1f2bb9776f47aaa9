//! Splay trees: an ordered set.

use pgn_structures::{Node, Rng};

use crate::{Call, Halt, Memory, Program, Signature, Store, View, invariants};

/// A set ordered by key, as a splay tree. A tree is a node of its own whose `left` is the root.
///
/// `insert(tree, x)` adds a node, `contains(tree, x)` looks for one with the key of x, and
/// `remove(tree, x)` takes such a node out and gives it (or nil).
///
/// Sleator and Tarjan 1985, *Self-adjusting binary search trees*.
pub struct Splay(Signature);

const UP: usize = 0;
const LEFT: usize = 1;
const RIGHT: usize = 2;

/// The tree, the argument, the node that is splayed, the one to rotate first, what was found.
const TREE: usize = 0;
const X: usize = 1;
const S: usize = 2;
const FIRST: usize = 3;
const FOUND: usize = 4;

const GOAL: usize = 0;
const INSERT: u8 = 0;
const CONTAINS: u8 = 1;
const REMOVE: u8 = 2;
const JOIN: u8 = 3;

const START: u8 = 0;
const DESCEND: u8 = 1;
const SPLAY: u8 = 2;
const ROTATE_FIRST: u8 = 3;
const ROTATE: u8 = 4;
const ARRIVED: u8 = 5;
const TAKE_OUT: u8 = 6;
const RIGHTMOST: u8 = 7;
const JOINED: u8 = 8;
const NO: u8 = 9;
const YES: u8 = 10;
const REMOVED: u8 = 11;

impl Splay {
    /// The program.
    pub fn new() -> Self {
        let signature = Signature::new("splay")
            .pointers(["up", "left", "right"])
            .registers(["tree", "x", "s", "first", "found"])
            .control("goal", &["insert", "contains", "remove", "join"]);
        let states = ["start", "descend", "splay", "first rotation", "rotation", "arrived"];
        let more = ["take out", "rightmost", "joined"];
        let signature = states.iter().chain(&more).fold(signature, |all, name| all.state(name));
        Splay(
            signature
                .halt("no", Halt::Answer(false))
                .halt("yes", Halt::Answer(true))
                .halt("removed", Halt::Node(FOUND as u8))
                .operation("insert", "start", &["tree", "x"], &[])
                .operation("contains", "start", &["tree", "x"], &[("goal", "contains")])
                .operation("remove", "start", &["tree", "x"], &[("goal", "remove")]),
        )
    }
}

impl Default for Splay {
    fn default() -> Self {
        Splay::new()
    }
}

impl Program for Splay {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn step(&self, state: u8, m: &mut dyn Memory) -> Option<u8> {
        match state {
            START => {
                let (tree, x) = (m.register(TREE)?, m.register(X)?);
                let goal = m.control(GOAL);
                match m.pointer(tree, LEFT) {
                    None if goal == INSERT => hang(m, x, tree, LEFT, YES),
                    None if goal == CONTAINS => Some(NO),
                    None => Some(REMOVED),
                    root => go(m, S, root, DESCEND),
                }
            }
            // Towards the key of x; s ends on it, or where it would be.
            DESCEND => {
                let (s, x) = (m.register(S)?, m.register(X)?);
                let goal = m.control(GOAL);
                m.visit(s);
                let side = match (m.less(x, s), m.less(s, x)) {
                    (true, _) => LEFT,
                    (_, true) => RIGHT,
                    _ => return go(m, FOUND, Some(s), SPLAY),
                };
                match m.pointer(s, side) {
                    None if goal == INSERT => {
                        m.set_register(S, Some(x));
                        hang(m, x, s, side, SPLAY)
                    }
                    None => Some(SPLAY),
                    below => go(m, S, below, DESCEND),
                }
            }
            SPLAY => {
                let (s, tree) = (m.register(S)?, m.register(TREE)?);
                let p = m.pointer(s, UP)?;
                if p == tree {
                    return Some(ARRIVED);
                }
                let g = m.pointer(p, UP)?;
                if g == tree {
                    return Some(ROTATE); // zig
                }
                let straight = (m.pointer(g, LEFT) == Some(p)) == (m.pointer(p, LEFT) == Some(s));
                go(m, FIRST, Some(if straight { p } else { s }), ROTATE_FIRST)
            }
            ROTATE_FIRST | ROTATE => {
                let node = m.register(if state == ROTATE { S } else { FIRST })?;
                rotate(m, node)?;
                Some(if state == ROTATE { SPLAY } else { ROTATE })
            }
            ARRIVED => {
                let found = m.register(FOUND).is_some();
                Some(match m.control(GOAL) {
                    INSERT if found => NO,
                    CONTAINS if !found => NO,
                    REMOVE if found => TAKE_OUT,
                    REMOVE => REMOVED,
                    JOIN => JOINED,
                    _ => YES,
                })
            }
            // s is the root: what is left of it becomes the tree, what is right waits in x.
            TAKE_OUT => {
                let (s, tree) = (m.register(S)?, m.register(TREE)?);
                let (left, right) = (m.pointer(s, LEFT), m.pointer(s, RIGHT));
                [UP, LEFT, RIGHT].into_iter().for_each(|field| m.set_pointer(s, field, None));
                let Some(root) = left.or(right) else {
                    m.set_pointer(tree, LEFT, None);
                    return Some(REMOVED);
                };
                m.set_register(X, right);
                m.set_register(S, left);
                m.set_control(GOAL, JOIN);
                hang(m, root, tree, LEFT, if left.is_some() { RIGHTMOST } else { REMOVED })
            }
            RIGHTMOST => {
                let s = m.register(S)?;
                m.visit(s);
                match m.pointer(s, RIGHT) {
                    None => Some(SPLAY),
                    right => go(m, S, right, RIGHTMOST),
                }
            }
            JOINED => match (m.register(S)?, m.register(X)) {
                (s, Some(x)) if s != x => hang(m, x, s, RIGHT, REMOVED),
                (_, Some(_)) => None,
                (_, None) => Some(REMOVED),
            },
            _ => None,
        }
    }

    fn invariants(&self) -> Vec<String> {
        vec![
            "a node is the left or right child of one node at most, and `up` of a child is its \
             parent"
                .to_string(),
            "following `left` and `right`, or `up` backwards, never leads back to a node"
                .to_string(),
        ]
    }

    fn holds(&self, invariant: usize, view: &View) -> bool {
        match invariant {
            0 => invariants::inverse(view, UP, &[LEFT, RIGHT]),
            _ => invariants::acyclic(view, &[UP], &[LEFT, RIGHT]),
        }
    }

    /// Node 0 is the tree.
    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        let (operation, x) = (rng.below(3) as usize, 1 + rng.below(store.len() as Node - 1));
        Call::new(operation, &[0, x])
    }
}

fn go(m: &mut dyn Memory, register: usize, to: Option<Node>, next: u8) -> Option<u8> {
    m.set_register(register, to);
    Some(next)
}

/// Makes `node` a child of `above`.
fn hang(m: &mut dyn Memory, node: Node, above: Node, side: usize, next: u8) -> Option<u8> {
    if node == above {
        return None;
    }
    m.set_pointer(above, side, Some(node));
    m.set_pointer(node, UP, Some(above));
    m.visit(node);
    Some(next)
}

/// Brings a node one level up, over its parent.
fn rotate(m: &mut dyn Memory, u: Node) -> Option<()> {
    let v = m.pointer(u, UP)?;
    let w = m.pointer(v, UP)?;
    let side_of = |m: &mut dyn Memory, below, above| match below {
        _ if m.pointer(above, LEFT) == Some(below) => Some((LEFT, RIGHT)),
        _ if m.pointer(above, RIGHT) == Some(below) => Some((RIGHT, LEFT)),
        _ => None,
    };
    let ((side, other), (above, _)) = (side_of(m, u, v)?, side_of(m, v, w)?);
    let inner = m.pointer(u, other);
    m.set_pointer(v, side, inner);
    if let Some(inner) = inner {
        m.set_pointer(inner, UP, Some(v));
        m.visit(inner);
    }
    hang(m, v, u, other, 0)?;
    hang(m, u, w, above, 0)?;
    Some(())
}
