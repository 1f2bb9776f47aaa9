//! Rooted forests: the trees that a link/cut tree models, with nothing in between.

use crate::{Definition, Halt, Memory, Signature, names};

names! { usize FIELDS: UP = "up" }
// `x` walks up, `below` is where it came from.
names! { usize REGISTERS: U = "u", V = "v", X = "x", BELOW = "below" }
names! { usize CONTROLS: GOAL = "goal" }
names! { u8 GOALS: TOGGLE = "toggle", OTHER = "other" }
names! { u8 STATES:
    START = "start", START_FIND = "start find", TURN = "turn", CLIMB = "climb",
    LINK = "link or cut", NO = "no", YES = "yes", DONE = "done", ROOT = "root",
}

/// A forest whose edges come and go, as a program; `up` of a root is nil.
///
/// `toggle(u, v)`: makes u the root of its tree; if v is in it (answer 1), cuts v from its parent,
/// else points u to v. Pointers, answers and visited nodes are those of
/// [`pgn_structures::RootedForest`]. Also `evert(u)` and `find_root(u)`.
pub fn forest() -> Definition {
    let signature = Signature::new("forest")
        .version(4)
        .pointers(FIELDS)
        .registers(REGISTERS)
        .control(CONTROLS[GOAL], GOALS)
        .states(STATES)
        .halt("no", Halt::Answer(false))
        .halt("yes", Halt::Answer(true))
        .halt("done", Halt::Done)
        .halt("root", Halt::Node(X as u8))
        .operation("toggle", "start", &["u", "v"], &[])
        .requires("u != v", "u and v are the same node")
        .operation("evert", "start", &["u"], &[("goal", "other")])
        .operation("find_root", "start find", &["u"], &[("goal", "other")]);
    Definition::new(signature, step).clauses(CLAUSES)
}

const CLAUSES: &[&str] = &[
    "acyclic up",
    "u != nil",
    "goal = toggle -> v != nil",
    "goal = toggle -> u != v",
    "goal = other -> v = nil",
    "start find: goal = other",
    "turn, climb, link or cut: x != nil",
    // The path from u to x is turned already, and apart from what is above x.
    "turn: below = nil -> x = u",
    "turn: below != nil -> below reaches u",
    "turn: below != nil -> u.up = nil",
    "turn: not below reaches p or not x reaches p",
    "climb, link or cut: goal = toggle -> u.up = nil",
    "climb, link or cut: goal = toggle -> v reaches x",
    "link or cut: goal = toggle",
    "link or cut: u != v",
    "link or cut: x.up = nil",
    // Connected nodes are those of one tree, but while the tree of u is in two parts.
    "p reaches q -> p ~ q",
    "except turn: p.up = nil and q.up = nil and p ~ q -> p = q",
    "turn: p.up = nil and q.up = nil and p ~ q -> p = q or p = u or q = u",
    "turn: below = nil and p.up = nil and q.up = nil and p ~ q -> p = q",
    "turn: x ~ u",
    "climb: goal = other -> x ~ u",
    "no: not u ~ v",
    "no: join u v",
    "yes: u ~ v",
    "yes: split v",
    "root: x ~ u",
    "no, yes: goal = toggle",
    "done, root: goal = other",
    "root: x.up = nil",
];

fn step(state: u8, m: &mut dyn Memory) -> Option<u8> {
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
