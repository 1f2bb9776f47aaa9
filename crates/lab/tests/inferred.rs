//! A program that is inferred from ordinary code is proved with clauses that are found.

use std::sync::Arc;

use pgn_lab::machine::suggest;
use pgn_machines::infer::{Code, CodeMemory, Inference};
use pgn_machines::{Machine, Outcome, Program, Result, Signature, Trial, reclaused};

type Node = u32;

struct Sets(Signature);

const UP: usize = 0;

fn find(m: &mut CodeMemory, x: Node, call: u64) -> Node {
    let mut root = x;
    m.at(call);
    while let Some(up) = m.load(root, UP) {
        root = up;
    }
    let mut x = x;
    while x != root {
        m.at(call + 1);
        let Some(up) = m.load(x, UP) else { break };
        if up == root {
            break;
        }
        m.at(call + 2);
        m.store(x, UP, Some(root));
        x = up;
    }
    root
}

impl Code for Sets {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn run(&self, _: usize, m: &mut CodeMemory, on: &[Node]) -> Result<Outcome> {
        let (a, b) = (find(m, on[0], 10), find(m, on[1], 20));
        m.at(30);
        if a != b {
            let (low, high) = if m.less(a, b) { (a, b) } else { (b, a) };
            m.at(31);
            m.store(low, UP, Some(high));
        }
        Ok(Outcome::Answer(a != b))
    }
}

#[test]
fn a_union_find_is_proved() {
    let names = Signature::new("plain_union").pointers(&["up"]).registers(&["u", "v"]);
    let names = names.operation("union", "", &["u", "v"], &[]);
    let code: Arc<dyn Code> = Arc::new(Sets(names));
    let learned = Inference::default().infer(&code, &mut |_| {}).unwrap();
    let (states, _) = learned.program.size();
    assert!(states < 8, "fewer than the eight of the hand-written program: {states}");
    let program: Arc<dyn Program> = Arc::new(learned.program);
    let found = suggest(&program).unwrap();
    assert!(found.refutation.is_none(), "{found:?}");
    let machine = Machine::new(reclaused(&program, found.clauses)).unwrap();
    assert!(machine.consistent().len() < 60);
    machine.test_assumptions(Trial { sequences: 20, nodes: 9, operations: 60, seed: 3 }).unwrap();
}
