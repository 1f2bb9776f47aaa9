//! Disjoint-set union, section 3 of the paper: path compression, linking by priority.

use crate::{Halt, Memory, Program, Signature, View, invariants};

/// The paper's disjoint-set union as a program. Keys are priorities; `up` of a root is nil.
///
/// `query_union(u, v)` and `union(u, v)` answer whether u and v were apart, and merge their sets;
/// `same(u, v)` answers whether they are in one set; `find(u)` gives the root.
///
/// A find climbs to the root and then walks the path a second time, pointing each node at the
/// root: pointers and visited nodes are those of [`pgn_structures::Dsu`].
pub struct Dsu(Signature);

const UP: usize = 0;

/// `s` walks; `root` is what a climb found; `x` is the root of u.
const U: usize = 0;
const V: usize = 1;
const S: usize = 2;
const ROOT: usize = 3;
const X: usize = 4;

/// Whose root is looked for, and what comes then.
const GOAL: usize = 0;
const SAME: u8 = 1;
const FIND: u8 = 2;
const SECOND: usize = 1;

const START: u8 = 0;
const CLIMB: u8 = 1;
const COMPRESS: u8 = 2;
const FOUND: u8 = 3;
const LINK: u8 = 4;
const NO: u8 = 5;
const YES: u8 = 6;
const NODE: u8 = 7;

impl Dsu {
    /// The program.
    pub fn new() -> Self {
        Dsu(Signature::new("dsu")
            .pointers(["up"])
            .registers(["u", "v", "s", "root", "x"])
            .control("goal", &["union", "same", "find"])
            .control("second", &["no", "yes"])
            .state("start")
            .state("climb")
            .state("compress")
            .state("found")
            .state("link")
            .halt("no", Halt::Answer(false))
            .halt("yes", Halt::Answer(true))
            .halt("root", Halt::Node(ROOT as u8))
            .operation("query_union", "start", &["u", "v"], &[("goal", "union")])
            .operation("union", "start", &["u", "v"], &[("goal", "union")])
            .operation("same", "start", &["u", "v"], &[("goal", "same")])
            .operation("find", "start", &["u"], &[("goal", "find")]))
    }
}

impl Default for Dsu {
    fn default() -> Self {
        Dsu::new()
    }
}

impl Program for Dsu {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn step(&self, state: u8, m: &mut dyn Memory) -> Option<u8> {
        match state {
            START => {
                let u = m.register(U)?;
                m.set_register(S, Some(u));
                m.set_register(ROOT, Some(u));
                Some(CLIMB)
            }
            // Up to the root, which `root` then holds; `s` stays at the beginning of the path.
            CLIMB => {
                let root = m.register(ROOT)?;
                m.visit(root);
                match m.pointer(root, UP) {
                    None => Some(COMPRESS),
                    up => {
                        m.set_register(ROOT, up);
                        Some(CLIMB)
                    }
                }
            }
            // Once more along the path, pointing every node at the root.
            COMPRESS => {
                let (s, root) = (m.register(S)?, m.register(ROOT)?);
                if s == root {
                    return Some(FOUND);
                }
                let up = m.pointer(s, UP)?;
                if up == root {
                    return Some(FOUND);
                }
                m.set_pointer(s, UP, Some(root));
                m.set_register(S, Some(up));
                Some(COMPRESS)
            }
            FOUND => {
                if m.control(GOAL) == FIND {
                    return Some(NODE);
                }
                if m.control(SECOND) == 1 {
                    return Some(LINK);
                }
                let (v, root) = (m.register(V)?, m.register(ROOT)?);
                m.set_register(X, Some(root));
                m.set_register(S, Some(v));
                m.set_register(ROOT, Some(v));
                m.set_control(SECOND, 1);
                Some(CLIMB)
            }
            LINK => {
                let (x, y) = (m.register(X)?, m.register(ROOT)?);
                let goal = m.control(GOAL);
                if goal == SAME {
                    return Some(if x == y { YES } else { NO });
                }
                if x == y {
                    return Some(NO);
                }
                // The root of lower priority points to the other.
                if m.less(x, y) {
                    m.set_pointer(x, UP, Some(y));
                } else {
                    m.set_pointer(y, UP, Some(x));
                }
                Some(YES)
            }
            _ => None,
        }
    }

    fn invariants(&self) -> Vec<String> {
        vec!["following `up` from a node never leads back to it".to_string()]
    }

    fn holds(&self, _: usize, view: &View) -> bool {
        invariants::acyclic(view, &[UP], &[])
    }
}
