//! Rooted forests: the trees that a link/cut tree models, with nothing in between.

use crate::{Halt, Memory, Program, Signature, View, invariants};

/// A forest whose edges come and go, as a program; `up` of a root is nil.
///
/// `toggle(u, v)`: makes u the root of its tree; if v is in it (answer 1), cuts v from its parent,
/// else points u to v. Pointers, answers and visited nodes are those of
/// [`pgn_structures::RootedForest`].
pub struct Forest(Signature);

const UP: usize = 0;

/// Operands, the node that is walked with, and the one below it.
const U: usize = 0;
const V: usize = 1;
const X: usize = 2;
const BELOW: usize = 3;

const GOAL: usize = 0;
const TOGGLE: u8 = 0;

const START: u8 = 0;
const START_FIND: u8 = 1;
const TURN: u8 = 2;
const CLIMB: u8 = 3;
const LINK: u8 = 4;
const NO: u8 = 5;
const YES: u8 = 6;
const DONE: u8 = 7;
const ROOT: u8 = 8;

impl Forest {
    /// The program.
    pub fn new() -> Self {
        Forest(
            Signature::new("forest")
                .pointers(["up"])
                .registers(["u", "v", "x", "below"])
                .control("goal", &["toggle", "other"])
                .state("start")
                .state("start find")
                .state("turn")
                .state("climb")
                .state("link or cut")
                .halt("no", Halt::Answer(false))
                .halt("yes", Halt::Answer(true))
                .halt("done", Halt::Done)
                .halt("root", Halt::Node(X as u8))
                .operation("toggle", "start", &["u", "v"], &[])
                .operation("evert", "start", &["u"], &[("goal", "other")])
                .operation("find_root", "start find", &["u"], &[("goal", "other")]),
        )
    }
}

impl Default for Forest {
    fn default() -> Self {
        Forest::new()
    }
}

impl Program for Forest {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn step(&self, state: u8, m: &mut dyn Memory) -> Option<u8> {
        match state {
            START | START_FIND => {
                let u = m.register(U)?;
                m.set_register(X, Some(u));
                m.set_register(BELOW, None);
                Some(if state == START { TURN } else { CLIMB })
            }
            // Reverses the pointers on the way from u to its root.
            TURN => {
                let (x, below) = (m.register(X)?, m.register(BELOW));
                m.visit(x);
                let up = m.pointer(x, UP);
                m.set_pointer(x, UP, below);
                if up.is_some() {
                    m.set_register(BELOW, Some(x));
                    m.set_register(X, up);
                    return Some(TURN);
                }
                if m.control(GOAL) != TOGGLE {
                    return Some(DONE);
                }
                let v = m.register(V)?;
                m.set_register(X, Some(v));
                Some(CLIMB)
            }
            CLIMB => {
                let x = m.register(X)?;
                m.visit(x);
                match m.pointer(x, UP) {
                    None if m.control(GOAL) == TOGGLE => Some(LINK),
                    None => Some(ROOT),
                    up => {
                        m.set_register(X, up);
                        Some(CLIMB)
                    }
                }
            }
            LINK => {
                let (u, v, root) = (m.register(U)?, m.register(V)?, m.register(X)?);
                if root == u {
                    m.set_pointer(v, UP, None);
                    return Some(YES);
                }
                m.set_pointer(u, UP, Some(v));
                Some(NO)
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
