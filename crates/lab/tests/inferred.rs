//! A program that is inferred from ordinary code is proved with clauses that are found.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use pgn_lab::{
    MachineConfig, Progress, Session,
    machine::{MACHINE_MODEL, MachineRun, suggest},
};
use pgn_machines::infer::{Code, CodeMemory, Inference};
use pgn_machines::{Machine, Outcome, Program, Result, Signature, Trial, programs, that_hold};

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
fn a_union_find_is_learned_and_proved() {
    let names = Signature::new("plain_union").pointers(&["up"]).registers(&["u", "v"]);
    let names = names.operation("union", "", &["u", "v"], &[]);
    let code: Arc<dyn Code> = Arc::new(Sets(names));
    let learned = Inference::default().infer(&code, &mut |_| {}).unwrap();
    let (states, _) = learned.program.size();
    assert!(states < 8, "fewer than the eight of the hand-written program: {states}");
    assert!(learned.program.dot().contains("digraph"));
    let program: Arc<dyn Program> = Arc::new(learned.program.clone());
    let found = suggest(&program).unwrap();
    assert!(found.refutation.is_none(), "{found:?}");
    let program: Arc<dyn Program> = Arc::new(learned.program.with_clauses(found.clauses));
    let machine = Machine::new(program.clone()).unwrap();
    machine.test_assumptions(Trial { sequences: 20, nodes: 9, operations: 60, seed: 3 }).unwrap();

    programs::register(program).unwrap();
    let mut config = MachineConfig::defaults("plain_union", MACHINE_MODEL, 0).unwrap();
    config.test.sequences = 1;
    // The clauses that were found allow views that no operation leads to.
    config.data.consistent = true;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let (stop, checkpoint_every) = (AtomicBool::new(false), Duration::from_secs(3600));
    let mut observe = |_: &Progress| {};
    let session =
        Session { task: None, initial: None, checkpoint_every, stop: &stop, observe: &mut observe };
    pgn_lab::train(&config, &dir, session).unwrap();
    let certified = MachineRun::load(&dir).unwrap().certify_in(&dir).unwrap();
    assert!(certified.certificate.certified);
    assert!(certified.proof.is_some_and(|proof| proof.proved));
}

/// What held in the runs that clauses are found in, but not in larger ones, is left out.
#[test]
fn clauses_that_runs_refute_are_left_out() {
    let lct = programs::named("lct").unwrap();
    let wrong = ["u.left = nil", "v.left = nil"].map(str::to_owned).to_vec();
    let trial = Trial { sequences: 20, nodes: 8, operations: 60, seed: 3 };
    let held = that_hold(&*lct, [lct.clauses(), wrong].concat(), trial).unwrap();
    assert!(!held.contains(&"u.left = nil".to_owned()));
    assert!(lct.clauses().iter().all(|clause| held.contains(clause)));
}
