//! Pairing heaps: a priority queue that melds.

use pgn_structures::{Node, Rng};

use crate::{Call, Halt, Memory, Program, Signature, Store, View, invariants};

/// A priority queue as a pairing heap. A heap is a node of its own whose `child` is the least.
///
/// `insert(heap, x)` adds a node, refused if it is in a heap already; `pop_min(heap)` takes out a
/// node of least key and gives it (or nil); `meld(heap, other)` moves all nodes of the other heap.
///
/// Fredman, Sedgewick, Sleator and Tarjan 1986, *The pairing heap*.
pub struct Heap(Signature);

const CHILD: usize = 0;
const NEXT: usize = 1;
const HELD: usize = 0;

/// The heap; the argument, later the minimum; two trees to merge; a list of trees to pair; the
/// pairs so far.
const HEAP: usize = 0;
const X: usize = 1;
const A: usize = 2;
const B: usize = 3;
const LIST: usize = 4;
const PAIRS: usize = 5;

/// What a merge is for: an insertion, or the first or second pass over the children of a root.
const PASS: usize = 0;
const INSERTION: u8 = 0;
const SECOND: u8 = 2;

const INSERT: u8 = 0;
const MELD: u8 = 1;
const MERGE: u8 = 2;
const STORE: u8 = 3;
const POP: u8 = 4;
const PAIR: u8 = 5;
const STACK: u8 = 6;
const UNSTACK: u8 = 7;
const NEXT_PAIR: u8 = 8;
const DONE: u8 = 9;
const MINIMUM: u8 = 10;
const REFUSED: u8 = 11;

impl Heap {
    /// The program.
    pub fn new() -> Self {
        let signature = Signature::new("heap")
            .pointers(["child", "next"])
            .bits(["held"])
            .registers(["heap", "x", "a", "b", "list", "pairs"])
            .control("pass", &["insertion", "first", "second"]);
        let states = ["insert", "meld", "merge", "store", "pop", "pair", "stack", "unstack"];
        let signature = states.iter().fold(signature, |all, name| all.state(name));
        Heap(
            signature
                .state("next pair")
                .halt("done", Halt::Done)
                .halt("minimum", Halt::Node(X as u8))
                .halt("refused", Halt::Refused("x is in a heap already".to_string()))
                .operation("insert", "insert", &["heap", "x"], &[])
                .operation("pop_min", "pop", &["heap"], &[("pass", "first")])
                .operation("meld", "meld", &["heap", "x"], &[]),
        )
    }
}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

impl Program for Heap {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn step(&self, state: u8, m: &mut dyn Memory) -> Option<u8> {
        match state {
            INSERT | MELD => {
                let (heap, x) = (m.register(HEAP)?, m.register(X)?);
                if heap == x {
                    return None;
                }
                let root = m.pointer(heap, CHILD);
                let tree = if state == MELD {
                    let tree = m.pointer(x, CHILD);
                    m.set_pointer(x, CHILD, None);
                    tree
                } else if m.bit(x, HELD) {
                    return Some(REFUSED);
                } else {
                    m.toggle(x, HELD);
                    m.visit(x);
                    Some(x)
                };
                m.set_register(A, root.or(tree));
                m.set_register(B, tree);
                Some(if root.is_some() && tree.is_some() { MERGE } else { STORE })
            }
            // The tree of greater key becomes the first child of the other, which a then holds.
            MERGE => {
                let (a, b) = (m.register(A)?, m.register(B)?);
                let pass = m.control(PASS);
                if a == b {
                    return None;
                }
                let (top, under) = if m.less(b, a) { (b, a) } else { (a, b) };
                let first = m.pointer(top, CHILD);
                m.set_pointer(under, NEXT, first);
                m.set_pointer(top, CHILD, Some(under));
                m.set_register(A, Some(top));
                m.visit(a);
                m.visit(b);
                Some([STORE, STACK, NEXT_PAIR][usize::from(pass)])
            }
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
                m.set_pointer(root, CHILD, None);
                m.toggle(root, HELD);
                m.visit(root);
                Some(PAIR)
            }
            // The first pass, from left to right: takes two trees off the list, merges them, …
            PAIR => {
                let Some(a) = m.register(LIST) else { return Some(UNSTACK) };
                let b = m.pointer(a, NEXT);
                m.set_pointer(a, NEXT, None);
                m.set_register(A, Some(a));
                m.set_register(B, b);
                let Some(b) = b else {
                    m.set_register(LIST, None);
                    return Some(STACK);
                };
                let rest = m.pointer(b, NEXT);
                m.set_pointer(b, NEXT, None);
                m.set_register(LIST, rest);
                Some(MERGE)
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
                m.set_register(A, a);
                m.set_control(PASS, SECOND);
                let Some(a) = a else { return Some(STORE) };
                let rest = m.pointer(a, NEXT);
                m.set_pointer(a, NEXT, None);
                m.set_register(PAIRS, rest);
                Some(NEXT_PAIR)
            }
            NEXT_PAIR => {
                let Some(b) = m.register(PAIRS) else { return Some(STORE) };
                let rest = m.pointer(b, NEXT);
                m.set_pointer(b, NEXT, None);
                m.set_register(B, Some(b));
                m.set_register(PAIRS, rest);
                Some(MERGE)
            }
            _ => None,
        }
    }

    fn invariants(&self) -> Vec<String> {
        vec![
            "no two of the fields `child` and `next` point to the same node".to_string(),
            "following `child` and `next` never leads back to a node".to_string(),
        ]
    }

    fn holds(&self, invariant: usize, view: &View) -> bool {
        match invariant {
            0 => invariants::unshared(view, &[CHILD, NEXT]),
            _ => invariants::acyclic(view, &[], &[CHILD, NEXT]),
        }
    }

    /// Nodes 0 and 1 are heaps.
    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        let (heap, x) = (rng.below(2), 2 + rng.below(store.len() as Node - 2));
        match rng.below(8) {
            0..4 => Call::new(0, &[heap, x]),
            4..7 => Call::new(1, &[heap]),
            _ => Call::new(2, &[heap, 1 - heap]),
        }
    }
}
