//! Pairing heaps: a priority queue that melds.

use pgn_structures::Node;

use crate::{Call, Definition, Halt, Memory, Signature, names};

names! { usize FIELDS: CHILD = "child", NEXT = "next" }
names! { usize BITS: HELD = "held" }
// `x` is the argument, later the minimum; `a` and `b` are merged; `list` is to be paired.
names! { usize REGISTERS:
    HEAP = "heap", X = "x", A = "a", B = "b", LIST = "list", PAIRS = "pairs",
}
// What a merge is for: an insertion, or the first or second pass over the children of a root.
names! { usize CONTROLS: PASS = "pass" }
names! { u8 PASSES: INSERTION = "insertion", FIRST = "first", SECOND = "second" }
names! { u8 STATES:
    INSERT = "insert", MELD = "meld", MERGE = "merge", MERGED = "merged", STORE = "store", POP = "pop",
    PAIR = "pair", STACK = "stack", UNSTACK = "unstack", NEXT_PAIR = "next pair",
    DONE = "done", MINIMUM = "minimum",
}

/// How often a node is drawn again that cannot be inserted.
const RETRIES: usize = 8;

/// A priority queue as a pairing heap. A heap is a node of its own whose `child` is the least.
///
/// `insert(heap, x)` adds a node, refused if it is in a heap already; `pop_min(heap)` takes out a
/// node of least key and gives it (or nil); `meld(heap, x)` moves all nodes of heap x to the other.
/// A node that is in a heap cannot be used as one.
///
/// Fredman, Sedgewick, Sleator and Tarjan 1986, *The pairing heap*.
pub fn heap() -> Definition {
    let signature = Signature::new("heap")
        .version(4)
        .pointers(FIELDS)
        .bits(BITS)
        .registers(REGISTERS)
        .control(CONTROLS[PASS], PASSES)
        .states(STATES)
        .halt("done", Halt::Done)
        .halt("minimum", Halt::Node(X as u8))
        .operation("insert", "insert", &["heap", "x"], &[])
        .requires("heap != x", "heap and x are the same node")
        .requires("x.held = 0", "x is in a heap already")
        .requires("heap.held = 0", "heap is itself in a heap")
        .requires("x.child = nil", "x is a heap with nodes in it")
        .operation("pop_min", "pop", &["heap"], &[("pass", "first")])
        .requires("heap.held = 0", "heap is itself in a heap")
        .operation("meld", "meld", &["heap", "x"], &[])
        .requires("heap != x", "heap and x are the same node")
        .requires("heap.held = 0", "heap is itself in a heap")
        .requires("x.held = 0", "x is in a heap");
    Definition::new(signature, step)
        .clauses(CLAUSES)
        .about(
            "Pairing heap",
            "pairing heap: insert a node, pop the least, meld two heaps",
            ["refused, or empty", "done, or the least node"],
        )
        // Nodes 0 and 1 are heaps.
        .handles(2)
        .sampled_by(|store, rng| {
            let others = (store.len() as Node).saturating_sub(2);
            let (heap, mut x) = (rng.below(2), 2 + rng.below(others));
            // Nodes that can be inserted are drawn again a few times, as they may be rare.
            for _ in 0..RETRIES {
                if store.bit(x, HELD) {
                    x = 2 + rng.below(others);
                }
            }
            match rng.below(8) {
                0..4 if others > 0 && !store.bit(x, HELD) => Call::new(0, &[heap, x]),
                0..7 => Call::new(1, &[heap]),
                _ => Call::new(2, &[heap, 1 - heap]),
            }
        })
}

const CLAUSES: &[&str] = &[
    "tree child, next",
    // What is held is in a heap; heaps and free nodes are above or beside nothing.
    "p.child = c -> c.held = 1",
    "p.next = c -> c.held = 1",
    "p.held = 0 -> p.next = nil",
    "p.held = 0 and q reaches p -> q = p",
    "p.held = 0 and p.child = c -> c.next = nil",
    "heap != nil",
    "heap.held = 0",
    "insert, meld: x != nil",
    "insert, meld: x != heap",
    "insert, meld: x.held = 0",
    "insert: x.child = nil",
    "insert, meld: pass = insertion",
    "pop, pair, stack, unstack: pass = first",
    "next pair: pass = second",
    "except insert, meld, pop: heap.child = nil",
    // a, b, list and pairs are trees of their own, or the first of a list of them.
    "merge, merged, stack: a != nil",
    "merge: b != nil",
    "merge: a != b",
    "merge, merged, store, stack, next pair: a = nil or a.held = 1",
    "merge, merged, store, stack, next pair: a = nil or a.next = nil",
    "merge, merged, store, stack, next pair: p reaches a -> p = a",
    "merge: b.held = 1",
    "merge: b.next = nil",
    "merge: p reaches b -> p = b",
    "except insert, meld, pop: list = nil or list.held = 1",
    "except insert, meld, pop: p reaches list -> p = list",
    "merge, merged, stack: list = nil or list != a",
    "merge: list = nil or list != b",
    "unstack, next pair: list = nil",
    "merge, merged: pass = first or list = nil",
    "except insert, meld, pop: pairs = nil or pairs.held = 1",
    "except insert, meld, pop: p reaches pairs -> p = pairs",
    "merge, merged, stack, next pair: pairs = nil or pairs != a",
    "merge: pairs = nil or pairs != b",
    "pair, merge, merged, stack: pairs = nil or pairs != list",
    "merge, merged: pass = insertion -> pairs = nil",
    "pop: list = nil",
    "pop: pairs = nil",
    "insert, meld: list = nil",
    "insert, meld: pairs = nil",
    "next pair: a = nil -> pairs = nil",
    "store: pairs = nil",
    "store: pass != first",
    "stack, next pair, merge, merged: heap != a",
];

fn step(state: u8, m: &mut dyn Memory) -> Option<u8> {
    match state {
        INSERT | MELD => {
            let (heap, x) = (m.register(HEAP)?, m.register(X)?);
            let root = m.pointer(heap, CHILD);
            let tree = if state == MELD {
                let tree = m.pointer(x, CHILD);
                m.set_pointer(x, CHILD, None);
                tree
            } else {
                m.toggle(x, HELD);
                m.visit(x);
                Some(x)
            };
            m.set_pointer(heap, CHILD, None);
            m.set_register(A, root.or(tree));
            m.set_register(B, tree);
            Some(if root.is_some() && tree.is_some() { MERGE } else { STORE })
        }
        // The tree of greater key becomes the first child of the other, which a then holds.
        MERGE => {
            let (a, b) = (m.register(A)?, m.register(B)?);
            let (top, under) = if m.less(b, a) { (b, a) } else { (a, b) };
            let first = m.pointer(top, CHILD);
            m.set_pointer(under, NEXT, first);
            m.set_pointer(top, CHILD, Some(under));
            m.set_register(A, Some(top));
            m.visit(a);
            m.visit(b);
            Some(MERGED)
        }
        MERGED => Some([STORE, STACK, NEXT_PAIR][usize::from(m.control(PASS))]),
        STORE => {
            let (heap, a) = (m.register(HEAP)?, m.register(A));
            m.set_pointer(heap, CHILD, a);
            Some(if m.control(PASS) == INSERTION { DONE } else { MINIMUM })
        }
        POP => {
            let heap = m.register(HEAP)?;
            let root = m.pointer(heap, CHILD);
            m.set_register(X, root);
            let Some(root) = root else { return Some(MINIMUM) };
            let list = m.pointer(root, CHILD);
            m.set_register(LIST, list);
            m.set_pointer(heap, CHILD, None);
            m.set_pointer(root, CHILD, None);
            m.toggle(root, HELD);
            m.visit(root);
            Some(PAIR)
        }
        // The first pass, from left to right: takes two trees off the list, merges them, …
        PAIR => {
            let Some(a) = m.register(LIST) else { return Some(UNSTACK) };
            let b = take_next(m, a);
            let rest = b.and_then(|b| take_next(m, b));
            m.set_register(A, Some(a));
            m.set_register(B, b);
            m.set_register(LIST, rest);
            Some(if b.is_some() { MERGE } else { STACK })
        }
        // … and stacks the result.
        STACK => {
            let (a, pairs) = (m.register(A)?, m.register(PAIRS));
            m.set_pointer(a, NEXT, pairs);
            m.set_register(PAIRS, Some(a));
            Some(PAIR)
        }
        // The second pass: merges all into the one that was stacked last.
        UNSTACK => {
            let a = m.register(PAIRS);
            let rest = a.and_then(|a| take_next(m, a));
            m.set_register(A, a);
            m.set_register(PAIRS, rest);
            m.set_control(PASS, SECOND);
            Some(NEXT_PAIR)
        }
        NEXT_PAIR => {
            let Some(b) = m.register(PAIRS) else { return Some(STORE) };
            let rest = take_next(m, b);
            m.set_register(B, Some(b));
            m.set_register(PAIRS, rest);
            Some(MERGE)
        }
        _ => None,
    }
}

/// Takes a tree off a list: what comes after it.
fn take_next(m: &mut dyn Memory, tree: Node) -> Option<Node> {
    let next = m.pointer(tree, NEXT);
    m.set_pointer(tree, NEXT, None);
    next
}
