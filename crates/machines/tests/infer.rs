//! Programs inferred from ordinary code: as the code on every operation, and small.

use std::sync::Arc;

use pgn_machines::infer::{Code, CodeMemory, Inference, InferenceProgress, Learned};
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
    let learned = how.infer(code, &mut |progress| match progress {
        InferenceProgress::States(..) => {}
        other => println!("{other:?}"),
    });
    let learned = learned.unwrap_or_else(|error| panic!("{error}"));
    println!("{} traces, {:?}", learned.traces, learned.program.size());
    println!(
        "{:?}\n{}",
        pgn_machines::Program::signature(&learned.program).registers,
        learned.program.picture()
    );
    learned
}

#[test]
fn a_union_find_with_sites_and_without() {
    let code = dsu();
    for sites in [true, false] {
        let mut how = Inference::default();
        how.sites = sites;
        let learned = learn(&code, &how);
        let trial = Trial { sequences: 4, nodes: 300, operations: 500, seed: 9 };
        assert_eq!(how.compare(&code, &learned.program, trial).unwrap(), 0);
    }
}
