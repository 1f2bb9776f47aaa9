//! Programs inferred from ordinary code: as the code on every operation, and small.

use std::sync::Arc;

use pgn_machines::infer::{Code, CodeMemory, Inference, Learned};
use pgn_machines::{Outcome, Result, Signature, Trial};

type Node = u32;

/// Ordinary code: its names, and a function.
struct Ordinary(Signature, fn(usize, &mut CodeMemory, &[Node]) -> Outcome);

impl Code for Ordinary {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn run(&self, operation: usize, memory: &mut CodeMemory, on: &[Node]) -> Result<Outcome> {
        Ok((self.1)(operation, memory, on))
    }
}

const UP: usize = 0;

fn find(m: &mut CodeMemory, mut x: Node, site: u64) -> Node {
    let mut root = x;
    loop {
        m.at(site);
        let Some(up) = m.load(root, UP) else { break };
        root = up;
    }
    while x != root {
        m.at(site + 1);
        let Some(up) = m.load(x, UP) else { break };
        if up == root {
            break;
        }
        m.at(site + 2);
        m.store(x, UP, Some(root));
        x = up;
    }
    root
}

fn union(_: usize, m: &mut CodeMemory, on: &[Node]) -> Outcome {
    let (a, b) = (find(m, on[0], 10), find(m, on[1], 20));
    if a == b {
        return Outcome::Answer(false);
    }
    m.at(30);
    if m.less(a, b) {
        m.at(31);
        m.store(a, UP, Some(b));
    } else {
        m.at(32);
        m.store(b, UP, Some(a));
    }
    Outcome::Answer(true)
}

fn dsu() -> Arc<dyn Code> {
    let names = Signature::new("plain_dsu").pointers(&["up"]).registers(&["u", "v"]);
    Arc::new(Ordinary(names.operation("union", "", &["u", "v"], &[]), union))
}

fn learn(code: &Arc<dyn Code>, how: &Inference) -> Learned {
    how.infer(code, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

const LEFT: usize = 0;
const RIGHT: usize = 1;
const ABOVE: usize = 2;

/// Inserts x into the search tree below h.
fn insert(_: usize, m: &mut CodeMemory, on: &[Node]) -> Outcome {
    let [h, x] = [on[0], on[1]];
    m.at(1);
    let Some(mut t) = m.load(h, LEFT) else {
        m.at(2);
        m.store(h, LEFT, Some(x));
        m.at(3);
        m.store(x, ABOVE, Some(h));
        return Outcome::Answer(true);
    };
    loop {
        m.at(4);
        let side = if m.less(x, t) { LEFT } else { RIGHT };
        m.at(5 + side as u64);
        match m.load(t, side) {
            Some(below) => t = below,
            None => {
                m.at(7 + side as u64);
                m.store(t, side, Some(x));
                m.at(9);
                m.store(x, ABOVE, Some(t));
                return Outcome::Answer(true);
            }
        }
    }
}

#[test]
fn a_search_tree() {
    let names = Signature::new("plain_tree").pointers(&["left", "right", "above"]);
    let names = names.registers(&["h", "x"]).operation("insert", "", &["h", "x"], &[]);
    let names = ["left", "right", "above"]
        .into_iter()
        .fold(names, |names, field| names.requires(&format!("x.{field} = nil"), "x is in a tree"));
    let names = names.requires("h != x", "h and x are the same node");
    let names = names
        .requires("h.above = nil", "h is in a tree")
        .requires("h.right = nil", "h is in a tree");
    let code: Arc<dyn Code> = Arc::new(Ordinary(names, insert));
    let how = Inference::default();
    let learned = learn(&code, &how);
    assert!(learned.program.size().0 <= 5, "{:?}", learned.program.size());
    assert!(learned.program.picture().contains("x.above = "), "{}", learned.program.picture());
    let trial = Trial { sequences: 4, nodes: 300, operations: 500, seed: 9 };
    assert_eq!(how.compare(&code, &learned.program, trial).unwrap().1, 0);
}

#[test]
fn a_union_find_with_sites_and_without() {
    let code = dsu();
    for sites in [true, false] {
        let mut how = Inference::default();
        how.sites = sites;
        let learned = learn(&code, &how);
        let (states, _) = learned.program.size();
        assert!(states <= if sites { 6 } else { 12 }, "{states} states, sites told: {sites}");
        let trial = Trial { sequences: 4, nodes: 300, operations: 500, seed: 9 };
        assert_eq!(how.compare(&code, &learned.program, trial).unwrap().1, 0);
    }
}

/// Both nodes are written at one place, so that it follows itself.
#[test]
fn a_loop_that_only_writes() {
    let names = Signature::new("both").pointers(&["up"]).registers(&["x", "y"]);
    let names = names.operation("free", "", &["x", "y"], &[]);
    let code: Arc<dyn Code> = Arc::new(Ordinary(names, |_, m, on| {
        m.load(on[0], UP);
        for &node in on {
            m.store(node, UP, None);
        }
        Outcome::Done
    }));
    let how = Inference::default();
    let learned = how.infer(&code, &mut |_| {});
    // Which turn it is cannot be told where both are the same node: that is refused, or right.
    if let Ok(learned) = learned {
        let trial = Trial { sequences: 4, nodes: 30, operations: 100, seed: 9 };
        assert_eq!(how.compare(&code, &learned.program, trial).unwrap().1, 0);
    }
}

#[test]
fn code_that_is_wrong_is_refused() {
    let names = |fields: &[&str]| {
        let names = Signature::new("odd").pointers(fields).registers(&["x"]);
        names.operation("odd", "", &["x"], &[])
    };
    let refused = |code: Ordinary| {
        let code: Arc<dyn Code> = Arc::new(code);
        let found = Inference::default().infer(&code, &mut |_| {});
        found.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let endless = Ordinary(names(&["up"]), |_, m, on| {
        while m.load(on[0], UP).is_none() && m.left() > 0 {}
        Outcome::Done
    });
    assert!(refused(endless).contains("does not end"));
    // What is counted is nowhere in the memory.
    let counts = Ordinary(names(&["up"]), |_, m, on| {
        for _ in 0..on[0] % 3 {
            m.load(on[0], UP);
        }
        Outcome::Done
    });
    assert!(refused(counts).contains("does not follow"));
}
