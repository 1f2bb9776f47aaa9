//! Splay trees: an ordered set.

use pgn_structures::Node;

use super::tree::{self, FIELDS, LEFT, RIGHT, UP, rotate};
use crate::{Call, Definition, Halt, Memory, Signature, names};

// `s` is splayed, `first` is rotated first, `found` has the key of `x`.
names! { usize REGISTERS: TREE = "tree", X = "x", S = "s", FIRST = "first", FOUND = "found" }
names! { usize CONTROLS: GOAL = "goal" }
names! { u8 GOALS: INSERT = "insert", CONTAINS = "contains", REMOVE = "remove", JOIN = "join" }
names! { u8 STATES:
    START = "start", DESCEND = "descend", SPLAY = "splay", ROTATE_FIRST = "first rotation",
    ROTATE = "rotation", ARRIVED = "arrived", TAKE_OUT = "take out", RIGHTMOST = "rightmost",
    JOINED = "joined", NO = "no", YES = "yes", REMOVED = "removed",
}

/// How often a node is drawn again that cannot be inserted.
const RETRIES: usize = 8;

/// A set ordered by key, as a splay tree. A tree is a node of its own whose `left` is the root.
///
/// `insert(tree, x)` adds a node that is in no tree, unless there is one with its key;
/// `contains(tree, x)` looks for a node with the key of x, and `remove(tree, x)` takes such a node
/// out and gives it (or nil). A node that is in a tree cannot be used as one.
///
/// Sleator and Tarjan 1985, *Self-adjusting binary search trees*.
pub fn splay() -> Definition {
    let signature = Signature::new("splay")
        .version(4)
        .pointers(FIELDS)
        .registers(REGISTERS)
        .control(CONTROLS[GOAL], GOALS)
        .states(STATES)
        .halt("no", Halt::Answer(false))
        .halt("yes", Halt::Answer(true))
        .halt("removed", Halt::Node(FOUND as u8))
        .operation("insert", "start", &["tree", "x"], &[("goal", "insert")])
        .requires("tree != x", "tree and x are the same node")
        .requires("tree.up = nil", "tree is itself in a tree")
        .requires("x.up = nil", "x is in a tree already")
        .requires("x.left = nil", "x is a tree with nodes in it")
        .operation("contains", "start", &["tree", "x"], &[("goal", "contains")])
        .requires("tree.up = nil", "tree is itself in a tree")
        .operation("remove", "start", &["tree", "x"], &[("goal", "remove")])
        .requires("tree.up = nil", "tree is itself in a tree");
    Definition::new(signature, step)
        .clauses(tree::CLAUSES)
        .clauses(CLAUSES)
        .clauses(tree::double_rotation("first", " and g.right = h"))
        .about(
            "Splay tree",
            "splay tree: insert, look for and remove keys of an ordered set",
            ["not in the tree, or there already", "in the tree, or inserted"],
        )
        // Node 0 is the tree.
        .handles(1)
        .sampled_by(|store, rng| {
            let others = (store.len() as Node).saturating_sub(1);
            let (mut operation, mut x) = (rng.below(3) as usize, 1 + rng.below(others));
            // What can be inserted is drawn again a few times, as it may be rare.
            let inside = |x: Node| store.pointer(x, UP).is_some();
            for _ in 0..RETRIES {
                if operation == 0 && inside(x) {
                    x = 1 + rng.below(others);
                }
            }
            if operation == 0 && inside(x) {
                operation = 2;
            }
            Call::new(operation, &[0, x])
        })
}

const CLAUSES: &[&str] = &[
    // Trees and nodes in no tree have no right child.
    "p.up = nil -> p.right = nil",
    // Every node knows its children, except while the right part x of a tree waits to be joined.
    "no, yes, removed: c.up = p -> p.left = c or p.right = c",
    "c.up = p -> p.left = c or p.right = c or goal = join",
    "c.up = p -> p.left = c or p.right = c or x = c",
    "take out, rightmost, splay, first rotation, rotation, arrived: goal = join -> not x reaches tree",
    "tree.up = nil",
    "start, descend: x != nil",
    "start, descend: goal = insert -> x != tree",
    "start, descend: goal = insert -> x.up = nil",
    "start, descend: goal = insert -> x.left = nil",
    "start, descend, take out: goal != join",
    "rightmost, joined: goal = join",
    "except start: s != tree",
    "except start: s reaches tree",
    "except start: s.up != nil",
    "except start: tree.left != nil",
    "first rotation: first = s or s.up = first",
    "first rotation: first.up != nil",
    "first rotation: first.up = p -> p.up != nil",
    "first rotation: first.up = p and p.up = g -> g.left = p or g.right = p",
    "rotation: s.up = p -> p.up != nil",
    "rotation: s.up = p and p.up = g -> g.left = p or g.right = p",
    "arrived: goal != join or s.right = nil",
    "first rotation: first.up != tree",
    "first rotation: first = s and s.up = p -> p.up != tree",
    "rotation: s.up != tree",
    "splay: s.up = tree -> tree.left = s",
    "splay: s.up = p and p.up = tree -> tree.left = p",
    "arrived, take out, joined: s.up = tree",
    // What is joined hangs below s, the last node: s is reached by right turns only.
    "except start, descend, take out: goal = join and s reaches c and c.up = p -> p = tree or p.right = c",
    "splay, first rotation, rotation, arrived, joined: goal = join -> s.right = nil",
    "joined: not x reaches tree",
    "goal = join -> found != nil",
    "goal = join -> x = nil or x.up != nil",
    // Search order: what is below a node is less and below its left child, or greater and below its
    // right child. Below a tree everything is below its left child.
    "q reaches p and p.up != nil and q < p -> p.left != nil",
    "q reaches p and p.up != nil and p < q -> p.right != nil",
    "q reaches p and p.up != nil and q < p and p.left = c -> q reaches c",
    "q reaches p and p.up != nil and p < q and p.right = c -> q reaches c",
    "q reaches p and p.up != nil -> q = p or q < p or p < q",
    "p.left = c and p.up != nil -> c < p",
    "p.right = c -> p < c",
    "r reaches q and q reaches p and p.up != nil and q < p -> r < p",
    "r reaches q and q reaches p and p.up != nil and p < q -> p < r",
    "no, yes, removed: q reaches p and p.up = nil -> q = p or p.left != nil",
    "q reaches p and p.up = nil -> q = p or p.left != nil or goal = join",
    "q reaches p and p.up = nil -> q = p or p.left != nil or q reaches x",
    "no, yes, removed: q reaches p and p.up = nil and p.left = c -> q = p or q reaches c",
    "q reaches p and p.up = nil and p.left = c -> q = p or q reaches c or goal = join",
    "q reaches p and p.up = nil and p.left = c -> q = p or q reaches c or q reaches x",
    // x belongs below s; what waits to be joined is greater than the tree.
    "descend: s reaches p and p.up != nil and s < p -> x < p",
    "descend: s reaches p and p.up != nil and p < s -> p < x",
    "goal = join and q reaches x and p reaches tree -> p = tree or p < q",
    // What is found has the key of x.
    "start, descend: found = nil",
    "splay, first rotation, rotation, arrived: goal = insert | contains | remove -> found = nil or not x < found",
    "splay, first rotation, rotation, arrived: goal = insert | contains | remove -> found = nil or not found < x",
    "splay, first rotation, rotation, arrived, take out: goal = contains | remove -> found = nil or found = s",
    "take out: goal = remove",
    "take out: found = s",
    // No other key than those below s can be that of x, while s descends.
    "descend: q reaches tree -> q = tree or q reaches s or q < x or x < q",
    "splay, first rotation, rotation, arrived: goal = contains | remove and found = nil and q reaches tree
     -> q = tree or q < x or x < q",
    "splay, first rotation, rotation, arrived: goal = insert -> found != nil or x = s",
    "no: goal = contains and q reaches tree -> q = tree or q < x or x < q",
    "removed: goal = remove and q reaches tree -> q = tree or q < x or x < q",
    "no, yes: goal = insert | contains",
    "removed: goal = remove | join",
    "no: goal = insert -> found = nil or not x < found",
    "no: goal = insert -> found = nil or not found < x",
    "yes: goal = insert -> x reaches tree",
    "yes: goal = contains -> found != nil",
    "yes: goal = contains -> not x < found",
    "yes: goal = contains -> not found < x",
    "yes: goal = contains -> found reaches tree",
    "goal = join -> x = nil or p.left != x",
    "goal = join -> x = nil or p.right != x",
];

fn step(state: u8, m: &mut dyn Memory) -> Option<u8> {
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
