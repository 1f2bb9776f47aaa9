//! Link/cut trees, section 3 and appendix C of the paper, rotation by rotation.

use pgn_structures::Node;

use super::tree::{self, FIELDS, LEFT, RIGHT, UP, parent, rotate};
use crate::{Definition, Halt, Memory, Signature, names};

names! { usize BITS: FLIP = "flip" }
// `t` is exposed, `s` is splayed, `x` is walked with, or rotated first.
names! { usize REGISTERS: U = "u", V = "v", T = "t", S = "s", X = "x" }
// Which expose of the operation this is, and which splay of the expose.
names! { usize CONTROLS: CONTEXT = "context", RETURN = "return" }
names! { u8 CONTEXTS:
    TOGGLE_EVERT = "toggle: evert u", TOGGLE_FIND = "toggle: find root of v",
    TOGGLE_ROOT = "toggle: expose root", TOGGLE_CUT = "toggle: cut v",
    TOGGLE_U = "toggle: link u", TOGGLE_V = "toggle: link to v",
    EVERT = "evert", FIND = "find root", FIND_ROOT = "expose root", CUT_U = "cut",
    LINK_U = "link u", LINK_V = "link to v", CONNECTED_U = "connected u", CONNECTED_V = "connected v",
    PATH_U = "path: evert u", PATH_V = "path: expose v", ADD_U = "add", SET_U = "set value",
}
names! { u8 RETURNS: FIRST = "first", ABOVE = "path-parent", AGAIN = "again", WALKING = "walk" }
names! { u8 STATES:
    // How operations start.
    START = "start", ORDER = "order", START_LINK = "start link",
    // Splay(s).
    HEAD = "splay", RELEASE_G = "release grandparent", RELEASE_P = "release parent",
    RELEASE_S = "release node", CHOOSE = "choose rotation", FIRST_ROTATION = "first rotation",
    ROTATION = "rotation", END = "release at the end",
    BACK = "splayed",
    // Expose(t).
    CUT_OFF = "cut off deeper", CLIMB = "climb", JOIN = "join",
    // What comes after an expose.
    TURN = "turn", TURN_LAST = "turn and end", WALK = "walk left", FOUND = "root found",
    NEXT_V = "go on with v", COMPARE = "compare root", CUT = "cut",
    CUT_DONE = "after cut", CHECK_ROOT = "check root", LINK = "link", LINKED = "after link",
    CONNECTED = "connected", PATH = "path", CHANGE = "change value",
    // Answers.
    NO = "no", YES = "yes", DONE = "done", ROOT = "root", SAME_NODE = "same node",
    NOT_A_ROOT = "not a root", ALREADY = "already connected", IS_A_ROOT = "is a root",
    APART = "not connected",
}

/// The paper's link/cut tree as a program. Keys are priorities.
///
/// Fields, answers, visited nodes and aggregates after every operation are those of
/// [`pgn_structures::LinkCutTree`]. Every operation is a few exposes with something in between.
///
/// | operation | answer |
/// | --- | --- |
/// | `query_toggle(u, v)` | whether they were connected; cuts or links |
/// | `link(u, v)` | done; refused if u is no root or v is in its tree |
/// | `cut(u)` | done; refused if u is a root |
/// | `connected(u, v)` | whether they are in one tree |
/// | `find_root(u)` | the root |
/// | `evert(u)` | done |
/// | `path_aggregate(u, v)` | v, whose aggregate is the path's from u; refused if they are apart |
/// | `add(u)`, `set_value(u)` | done; changes the value of u by the operand |
///
/// A node that goes down in a rotation is pulled at once; one that goes up, when its splay ends.
pub fn lct() -> Definition {
    let signature = Signature::new("lct")
        .version(4)
        .pointers(FIELDS)
        .values(&["left", "right"])
        .bits(BITS)
        .registers(REGISTERS)
        .control(CONTROLS[CONTEXT], CONTEXTS)
        .control(CONTROLS[RETURN], RETURNS)
        .states(STATES)
        .halt("no", Halt::Answer(false))
        .halt("yes", Halt::Answer(true))
        .halt("done", Halt::Done)
        .halt("root", Halt::Node(T as u8))
        .refuse("same node", "u and v are the same node")
        .refuse("not a root", "u is not the root of its tree")
        .refuse("already connected", "u and v are already connected")
        .refuse("is a root", "u is the root of its tree")
        .refuse("not connected", "u and v are not connected")
        .operation("query_toggle", "order", &["u", "v"], &[("context", "toggle: evert u")])
        .operation("link", "start link", &["u", "v"], &[("context", "link u")])
        .operation("cut", "start", &["u"], &[("context", "cut")])
        .operation("connected", "start", &["u", "v"], &[("context", "connected u")])
        .operation("find_root", "start", &["u"], &[("context", "find root")])
        .operation("evert", "start", &["u"], &[("context", "evert")])
        .operation("path_aggregate", "start", &["u", "v"], &[("context", "path: evert u")])
        .operation("add", "start", &["u"], &[("context", "add")])
        .operation("set_value", "start", &["u"], &[("context", "set value")]);
    Definition::new(signature, step)
        .clauses(tree::CLAUSES)
        .clauses(CLAUSES)
        .clauses(tree::double_rotation("x", ""))
}

const CLAUSES: &[&str] = &[
    "u != nil",
    r#"context != evert | "find root" | "expose root" | cut | add | "set value" -> v != nil"#,
    r#"except order: context = "toggle: evert u" | "toggle: find root of v" | "toggle: expose root"
       | "toggle: cut v" | "toggle: link u" | "toggle: link to v" -> u != v"#,
    r#"except start link: context = "link u" | "link to v" -> u != v"#,
    // Where which operation can be.
    r#"start: context = cut | "connected u" | "find root" | evert | "path: evert u" | add | "set value""#,
    r#"order: context = "toggle: evert u""#,
    r#"start link: context = "link u""#,
    r#"turn: context = "toggle: evert u" | "path: evert u""#,
    "turn and end: context = evert",
    r#"release at the end, splayed: return = walk -> context = "toggle: find root of v" | "find root""#,
    r#"walk left, root found: context = "toggle: find root of v" | "find root""#,
    r#"go on with v: context = "toggle: evert u" | "path: evert u" | "connected u" | "link u" | "toggle: link u""#,
    r#"compare root: context = "toggle: expose root""#,
    r#"cut, after cut: context = cut | "toggle: cut v""#,
    r#"check root: context = "link u" | "toggle: link u""#,
    r#"link, after link: context = "link to v" | "toggle: link to v""#,
    r#"connected: context = "connected v""#,
    r#"path: context = "path: expose v""#,
    r#"change value: context = add | "set value""#,
    // t is exposed and s splayed: first t itself, then the path-parents of t, each followed by t.
    "except start, order, start link: t != nil",
    "except start, order, start link: s != nil",
    "cut off deeper: return = first",
    "climb: return = first | again",
    "join: return = path-parent",
    "splay, release grandparent, release parent, release node, choose rotation, first rotation,
     rotation, release at the end, splayed, cut off deeper, climb: return = first | again -> s = t",
    "splay, release grandparent, release parent, release node, choose rotation, first rotation,
     rotation: return != walk",
    "splay, release grandparent, release parent, release node, choose rotation, first rotation,
     rotation, release at the end, splayed, join: return = path-parent -> t.up = s",
    "splay, release grandparent, release parent, release node, choose rotation, first rotation,
     rotation, release at the end, splayed, join: return = path-parent -> s.left != t",
    "splay, release grandparent, release parent, release node, choose rotation, first rotation,
     rotation, release at the end, splayed, join: return = path-parent -> s.right != t",
    // What a splay has found above s.
    "release grandparent, release parent, release node, choose rotation, rotation: s.up != nil",
    "release grandparent, release parent, release node, choose rotation, rotation:
     s.up = p -> p.left = s or p.right = s",
    "release grandparent: s.up = p -> p.up != nil",
    "release grandparent: s.up = p and p.up = g -> g.left = p or g.right = p",
    "first rotation: x.left = s or x.right = s or x = s",
    "first rotation: x.up != nil",
    "first rotation: x.up = p -> p.left = x or p.right = x",
    "first rotation: x = s and s.up = p -> p.up != nil",
    "first rotation: x = s and s.up = p and p.up = g -> g.left = p or g.right = p",
    "release at the end, splayed, join: return != walk and s.up = p -> p.left != s",
    "release at the end, splayed, join: return != walk and s.up = p -> p.right != s",
    "cut off deeper, climb: t.up = p -> p.left != t",
    "cut off deeper, climb: t.up = p -> p.right != t",
    r#"context = "toggle: link to v" | "link to v" -> t = v"#,
    "link: v.up = nil",
    // Once what is deeper than t is cut off, nothing is, and t is not turned.
    "splay, release grandparent, release parent, release node, choose rotation, first rotation,
     rotation, release at the end, splayed: return = path-parent | again -> t.right = nil",
    "splay, release grandparent, release parent, release node, choose rotation, first rotation,
     rotation, release at the end, splayed: return = path-parent | again -> t.flip = 0",
    "release at the end: return = again -> s.right = nil",
    "release at the end: return = again -> s.flip = 0",
    "climb, join, turn, turn and end, check root: t.right = nil",
    "cut off deeper, climb, join, turn, turn and end, check root: t.flip = 0",
    "join: s.flip = 0",
    "join: s.right != t",
    // The path-parent that t was joined to is a root of its splay tree, and not turned.
    "release grandparent, first rotation: return != again",
    "splay, release parent, release node, choose rotation, rotation:
     return = again and s.up = p and p.right = s -> p.flip = 0",
    "splay, release parent, release node, choose rotation, rotation, release at the end:
     return = again and s.up = p -> p.left != s",
    "splay, release parent, release node, choose rotation, rotation:
     return = again and s.up = p and p.right = s and p.up = g -> g.left != p",
    "splay, release parent, release node, choose rotation, rotation:
     return = again and s.up = p and p.right = s and p.up = g -> g.right != p",
    r#"root: context = "expose root" -> t.up = nil"#,
    "compare root: u != v",
    "splayed: s.flip = 0",
    "splay, release parent, release node, choose rotation, rotation, release at the end, splayed:
     return = again -> s.left != nil or s.up != nil",
    "splay, release parent, release node, choose rotation, rotation, release at the end, splayed:
     return = again and s.up = p -> p.right = s or s.left != nil",
    r#"check root, go on with v: context = "link u" | "toggle: link u" -> u.up = nil"#,
    r#"check root, go on with v: context = "link u" | "toggle: link u" -> u.right = nil"#,
    r#"check root, go on with v: context = "link u" | "toggle: link u" -> u.flip = 0"#,
    r#"go on with v: context = "link u" | "toggle: link u" -> u.left = nil"#,
    r#"go on with v: context = "link u" | "toggle: link u" -> u != v"#,
    "check root: u != v",
    "check root: t.up = nil",
    r#"except start link: context = "link u" | "toggle: link u" -> t = u"#,
    "link: u != v",
    // Exposed, the root u is alone in its splay tree until v is joined to it, right above it.
    r#"except after link: context = "toggle: link to v" | "link to v" -> u.up = nil or u.up = t"#,
    r#"except after link: context = "toggle: link to v" | "link to v" -> u.up = t or u.left = nil"#,
    r#"except after link: context = "toggle: link to v" | "link to v" -> u.up = t or u.right = nil or u.right = t"#,
    r#"except after link: context = "toggle: link to v" | "link to v" -> u.up = t or u.right = nil or return = again"#,
    r#"except after link: context = "toggle: link to v" | "link to v" -> u.up = t or u.flip = 0"#,
    r#"except after link: context = "toggle: link to v" | "link to v" -> u.up = nil or t.up = nil"#,
    "link: u.up = nil or u.up = v",
];

fn step(state: u8, m: &mut dyn Memory) -> Option<u8> {
    match state {
        START => {
            let u = m.register(U)?;
            expose(m, u)
        }
        // Of the two, the node of higher priority is everted.
        ORDER => {
            let (u, v) = (m.register(U)?, m.register(V)?);
            if u == v {
                return Some(SAME_NODE);
            }
            m.visit(u);
            m.visit(v);
            if m.less(u, v) {
                m.set_register(U, Some(v));
                m.set_register(V, Some(u));
                return expose(m, v);
            }
            expose(m, u)
        }
        START_LINK => {
            let (u, v) = (m.register(U)?, m.register(V)?);
            if u == v { Some(SAME_NODE) } else { expose(m, u) }
        }
        HEAD..=BACK => splay(state, m),
        CUT_OFF => {
            let t = m.register(T)?;
            if let Some(right) = m.pointer(t, RIGHT) {
                m.visit(right); // its parent t is now its path-parent
                m.set_pointer(t, RIGHT, None);
            }
            m.pull(t);
            Some(CLIMB)
        }
        // To the path-parent of t; without one, the expose is done.
        CLIMB => {
            let (t, context) = (m.register(T)?, m.control(CONTEXT));
            if let Some(above) = m.pointer(t, UP) {
                m.set_register(S, Some(above));
                m.set_control(RETURN, ABOVE);
                return Some(HEAD);
            }
            Some(match context {
                TOGGLE_EVERT | PATH_U => TURN,
                EVERT => TURN_LAST,
                TOGGLE_FIND | FIND => WALK,
                TOGGLE_ROOT => COMPARE,
                TOGGLE_CUT | CUT_U => CUT,
                CONNECTED_U => NEXT_V,
                FIND_ROOT => ROOT,
                LINK_U | TOGGLE_U => CHECK_ROOT,
                LINK_V | TOGGLE_V => LINK,
                PATH_V => PATH,
                ADD_U | SET_U => CHANGE,
                _ => CONNECTED,
            })
        }
        // t takes the place of what is deeper than s, its path-parent.
        JOIN => {
            let (s, t) = (m.register(S)?, m.register(T)?);
            if s == t {
                return None;
            }
            if let Some(right) = m.pointer(s, RIGHT) {
                m.visit(right);
            }
            m.set_pointer(s, RIGHT, Some(t));
            m.pull(s);
            m.visit(t);
            m.set_register(S, Some(t));
            m.set_control(RETURN, AGAIN);
            Some(HEAD)
        }
        // The end of Evert(t).
        TURN | TURN_LAST => {
            let t = m.register(T)?;
            m.toggle(t, FLIP);
            release(m, t);
            Some(if state == TURN { NEXT_V } else { DONE })
        }
        // The middle of Find-Root: to the shallowest node of the path.
        WALK => {
            let s = m.register(S)?;
            let Some(left) = m.pointer(s, LEFT) else { return Some(FOUND) };
            m.set_register(S, Some(left));
            m.set_control(RETURN, WALKING);
            Some(END)
        }
        // It is exposed, so that asking again is cheap.
        FOUND => {
            let (s, context) = (m.register(S)?, m.control(CONTEXT));
            m.set_control(CONTEXT, if context == FIND { FIND_ROOT } else { TOGGLE_ROOT });
            expose(m, s)
        }
        NEXT_V => {
            let v = m.register(V)?;
            let next = match m.control(CONTEXT) {
                TOGGLE_EVERT => TOGGLE_FIND,
                PATH_U => PATH_V,
                LINK_U => LINK_V,
                TOGGLE_U => TOGGLE_V,
                _ => CONNECTED_V,
            };
            m.set_control(CONTEXT, next);
            expose(m, v)
        }
        COMPARE => {
            let (t, u, v) = (m.register(T)?, m.register(U)?, m.register(V)?);
            m.set_control(CONTEXT, if t == u { TOGGLE_CUT } else { TOGGLE_U });
            expose(m, if t == u { v } else { u })
        }
        CUT => {
            let t = m.register(T)?;
            let Some(left) = m.pointer(t, LEFT) else { return Some(IS_A_ROOT) };
            m.set_pointer(left, UP, None);
            m.visit(left);
            m.set_pointer(t, LEFT, None);
            m.pull(t);
            Some(CUT_DONE)
        }
        CUT_DONE => Some(if m.control(CONTEXT) == CUT_U { DONE } else { YES }),
        CHECK_ROOT => {
            let u = m.register(U)?;
            Some(if m.pointer(u, LEFT).is_some() { NOT_A_ROOT } else { NEXT_V })
        }
        // v becomes u's left child, unless exposing v has put u below it.
        LINK => {
            let (u, v) = (m.register(U)?, m.register(V)?);
            if m.pointer(u, UP).is_some() {
                return Some(ALREADY);
            }
            if u == v {
                return None;
            }
            m.set_pointer(u, LEFT, Some(v));
            m.set_pointer(v, UP, Some(u));
            m.pull(u);
            m.visit(v);
            Some(LINKED)
        }
        LINKED => Some(if m.control(CONTEXT) == LINK_V { DONE } else { NO }),
        // Exposing u left it without a pointer; only exposing v in its tree gives it one.
        CONNECTED => {
            let (u, v) = (m.register(U)?, m.register(V)?);
            Some(if u == v || m.pointer(u, UP).is_some() { YES } else { NO })
        }
        // The same; t is v, and its splay tree is the path.
        PATH => {
            let (u, v) = (m.register(U)?, m.register(V)?);
            Some(if u == v || m.pointer(u, UP).is_some() { ROOT } else { APART })
        }
        // Topmost, t is in no other node's aggregate.
        CHANGE => {
            let t = m.register(T)?;
            match m.control(CONTEXT) {
                ADD_U => m.add(t),
                _ => m.set(t),
            }
            m.pull(t);
            Some(DONE)
        }
        _ => None,
    }
}

/// `Splay(s)`: makes s the root of its splay tree, two levels at a time.
fn splay(state: u8, m: &mut dyn Memory) -> Option<u8> {
    if state == FIRST_ROTATION {
        let x = m.register(X)?;
        let v = rotate(m, x)?;
        m.pull(v);
        return Some(ROTATION);
    }
    let s = m.register(S)?;
    match state {
        HEAD => {
            let Some(p) = parent(m, s) else { return Some(END) };
            Some(if parent(m, p).is_some() { RELEASE_G } else { RELEASE_P })
        }
        RELEASE_G => {
            let p = m.pointer(s, UP)?;
            let g = m.pointer(p, UP)?;
            release(m, g);
            Some(RELEASE_P)
        }
        RELEASE_P => {
            let p = m.pointer(s, UP)?;
            release(m, p);
            Some(RELEASE_S)
        }
        RELEASE_S => {
            release(m, s);
            Some(CHOOSE)
        }
        CHOOSE => {
            let p = parent(m, s)?;
            let Some(g) = parent(m, p) else { return Some(ROTATION) }; // zig
            let straight = (m.pointer(g, LEFT) == Some(p)) == (m.pointer(p, LEFT) == Some(s));
            m.set_register(X, Some(if straight { p } else { s })); // zig-zig, zig-zag
            Some(FIRST_ROTATION)
        }
        ROTATION => {
            let v = rotate(m, s)?;
            m.pull(v);
            Some(HEAD)
        }
        END => {
            release(m, s);
            Some(BACK)
        }
        // What comes next pulls s anyway, unless the expose goes on from it.
        _ => Some(match m.control(RETURN) {
            FIRST => CUT_OFF,
            ABOVE => JOIN,
            WALKING => WALK,
            _ => {
                m.pull(s);
                CLIMB
            }
        }),
    }
}

/// Begins `Expose(node)`.
fn expose(m: &mut dyn Memory, node: Node) -> Option<u8> {
    m.set_register(T, Some(node));
    m.set_register(S, Some(node));
    m.set_control(RETURN, FIRST);
    Some(HEAD)
}

/// `Release(node)`: swaps its children if that is still to be done, and passes it on.
fn release(m: &mut dyn Memory, node: Node) {
    m.visit(node);
    if m.bit(node, FLIP) {
        m.toggle(node, FLIP);
        let (left, right) = (m.pointer(node, LEFT), m.pointer(node, RIGHT));
        m.set_pointer(node, LEFT, right);
        m.set_pointer(node, RIGHT, left);
        for child in [left, right].into_iter().flatten() {
            m.toggle(child, FLIP);
        }
    }
}
