//! A machine against its program and against the classical structure, operation by operation.

use pgn_machines::{Exploration, Store};
use pgn_structures::Node;
use serde::Serialize;

use super::{MachineRun, Mode};
use crate::{Result, streams};

/// How a machine did on random sequences of all of its operations, with its program as the truth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineVerdict {
    /// Nodes.
    pub nodes: usize,
    /// Operations tried.
    pub operations: u64,
    /// Operations after which the outcome, a visited node or any field of any node was wrong. A
    /// sequence ends with the first.
    pub wrong: u64,
    /// The first of them, in words.
    pub first: Option<String>,
}

impl MachineRun {
    /// Runs `sequences` random sequences of `3 nodes` operations: every other one as the program
    /// draws them (some programs draw from 4 nodes at least), the rest with any arguments, also equal
    /// ones and such that are refused, and with equal keys.
    pub fn verify(
        &self,
        nodes: usize,
        sequences: u64,
        seed: u64,
        mode: Mode,
    ) -> Result<MachineVerdict> {
        let executor = self.executor(mode)?;
        let machine = self.machine();
        let signature = machine.signature();
        let mut verdict = MachineVerdict { nodes, ..MachineVerdict::default() };
        for sequence in 0..sequences {
            let mut rng = streams::VERIFICATION.rng(seed, nodes as u64, sequence);
            let keys: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
            let mut any = Exploration::new(machine.program(), nodes, seed, sequence);
            let as_drawn = sequence % 2 == 0 && nodes >= 4;
            if as_drawn {
                any.store = Store::new(signature, &keys);
            }
            let mut ours = any.store.clone();
            for t in 0..3 * nodes {
                let call = match as_drawn {
                    true => machine.program().sample(&any.store, &mut rng),
                    false => any.call(),
                };
                let truth = &mut any.store;
                let expected = machine.run_program(truth, call.operation, &call.arguments)?;
                let found = executor.apply(&mut ours, call.operation, &call.arguments);
                verdict.operations += 1;
                let same = found.as_ref().is_ok_and(|(outcome, _)| *outcome == expected)
                    && ours.words() == truth.words()
                    && sorted(&ours) == sorted(truth);
                if !same {
                    verdict.wrong += 1;
                    verdict.first.get_or_insert_with(|| {
                        let name = &signature.operations[call.operation].name;
                        let found = match found {
                            Ok((outcome, _)) => format!("{outcome:?}"),
                            Err(error) => error.to_string(),
                        };
                        format!(
                            "n = {nodes}, sequence {sequence}, operation {t}: {name}{:?} gave \
                             {found}, expected {expected:?} with all fields and visited nodes",
                            call.arguments
                        )
                    });
                    break;
                }
            }
        }
        Ok(verdict)
    }
}

fn sorted(store: &Store) -> Vec<Node> {
    let mut nodes = store.visited().nodes().to_vec();
    nodes.sort_unstable();
    nodes
}
