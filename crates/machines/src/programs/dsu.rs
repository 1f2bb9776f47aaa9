//! Disjoint-set union, section 3 of the paper: path compression, linking by priority.

use crate::{Definition, Halt, Memory, Signature, names};

names! { usize FIELDS: UP = "up" }
// `root` climbs, `s` is where a climb began, `x` is the root of u.
names! { usize REGISTERS: U = "u", V = "v", S = "s", ROOT = "root", X = "x" }
names! { usize CONTROLS: GOAL = "goal", SECOND = "second" }
names! { u8 GOALS: UNION = "union", SAME = "same", FIND = "find" }
names! { u8 STATES:
    START = "start", CLIMB = "climb", COMPRESS = "compress", FOUND = "found", LINK = "link",
    NO = "no", YES = "yes", NODE = "root",
}

/// The paper's disjoint-set union as a program. Keys are priorities; `up` of a root is nil.
///
/// `query_union(u, v)` and `union(u, v)` answer whether u and v were apart, and merge their sets;
/// `same(u, v)` answers whether they are in one set; `find(u)` gives the root.
///
/// A find climbs to the root and then walks the path a second time, pointing each node at the
/// root: pointers and visited nodes are those of [`pgn_structures::Dsu`].
pub fn dsu() -> Definition {
    let signature = Signature::new("dsu")
        .version(4)
        .pointers(FIELDS)
        .registers(REGISTERS)
        .control(CONTROLS[GOAL], GOALS)
        .control(CONTROLS[SECOND], &["no", "yes"])
        .states(STATES)
        .halt("no", Halt::Answer(false))
        .halt("yes", Halt::Answer(true))
        .halt("root", Halt::Node(ROOT as u8))
        .operation("query_union", "start", &["u", "v"], &[("goal", "union")])
        .operation("union", "start", &["u", "v"], &[("goal", "union")])
        .operation("same", "start", &["u", "v"], &[("goal", "same")])
        .operation("find", "start", &["u"], &[("goal", "find")]);
    Definition::new(signature, step).clauses(CLAUSES)
}

const CLAUSES: &[&str] = &[
    "acyclic up",
    "u != nil",
    "goal = union | same -> v != nil",
    "goal = find -> v = nil",
    "start: second = no",
    "except start: root != nil",
    "climb, compress: s reaches root",
    "compress, found, link: root.up = nil",
    "except start: second = yes -> x != nil",
    "except start: second = yes -> x.up = nil",
    "except start: second = yes -> goal != find",
    "link: second = yes",
    "link: goal != find",
    // The sets are those of the roots …
    "p reaches q -> p ~ q",
    "p.up = nil and q.up = nil and p ~ q -> p = q",
    // … in which the finds stay …
    "except start: second = no -> root ~ u",
    "except start: second = yes -> root ~ v",
    "except start: second = yes -> x ~ u",
    // … and of which the answers speak.
    "yes: goal = union -> not u ~ v",
    "yes: goal = union -> join u v",
    "yes: goal = same -> u ~ v",
    "no: goal = union -> u ~ v",
    "no: goal = same -> not u ~ v",
    "root: root ~ u",
    "no, yes: goal != find",
    "root: goal = find",
    "root: root.up = nil",
];

fn step(state: u8, m: &mut dyn Memory) -> Option<u8> {
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
