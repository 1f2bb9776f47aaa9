//! Tests of what a certificate takes for granted.

use std::collections::HashMap;

use crate::interpret::steps_allowed;
use crate::{Action, Error, Exploration, Machine, Result, Seen, Signature, Store, View};

/// Random runs on which the assumptions of a certificate are tested.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// How many sequences.
    pub sequences: u64,
    /// Nodes in each.
    pub nodes: usize,
    /// Operations in each.
    pub operations: usize,
    /// What they are drawn from.
    pub seed: u64,
}

impl Machine {
    /// Tests, before every micro-step of random runs, that the clauses hold (of the whole
    /// memory, up to 20 nodes), and that the view is one of the consistent ones.
    ///
    /// Gives the number of different views met. An error shows what was found.
    pub fn test_assumptions(&self, trial: Trial) -> Result<usize> {
        let signature = self.signature();
        let consistent: HashMap<&View, &Action> =
            self.consistent().iter().map(|(view, action)| (view, action)).collect();
        let mut met: HashMap<View, ()> = HashMap::new();
        let mut nodes = Vec::new();
        for sequence in 0..trial.sequences {
            let mut explored = Exploration::new(self.program(), trial.nodes, trial.seed, sequence);
            for _ in 0..trial.operations {
                let call = explored.call();
                let store = &mut explored.store;
                let mut state = match self.begin(store, call.operation, &call.arguments) {
                    Err(Error::Refused(_)) => continue,
                    started => started?,
                };
                let mut allowed = 0..steps_allowed(store);
                while self.outcome(store, state).is_none() && allowed.next().is_some() {
                    if let Some(whole) = store.whole(signature, state)
                        && let Some(clause) = self.clauses().violated(&whole)
                    {
                        return Err(Error::Program(format!(
                            "program `{}` violates its clause `{clause}`:\n{}",
                            signature.name,
                            whole.picture(signature)
                        )));
                    }
                    let view = self.view(store, state, &mut nodes);
                    let Some(action) = consistent.get(&view) else {
                        return Err(Error::Program(format!(
                            "program `{}` meets a view that the enumeration lacks:\n{}",
                            signature.name,
                            view.picture(signature)
                        )));
                    };
                    self.apply(store, &nodes, action);
                    state = action.next;
                    met.entry(view).or_default();
                }
            }
        }
        Ok(met.len())
    }
}

impl Store {
    /// All of a small memory as one view; `None` of more than 20 nodes.
    pub fn whole(&self, signature: &Signature, state: u8) -> Option<View> {
        let nodes = u8::try_from(self.len()).ok().filter(|&nodes| nodes <= 20)?;
        let seen = |node: Option<u32>| node.map_or(Seen::Nil, |node| Seen::Node(node as u8));
        let mut view = View::empty(state, signature);
        (0..nodes).for_each(|_| {
            view.add_node(signature);
        });
        for node in 0..self.len() {
            for field in 0..signature.pointers.len() {
                let index = node * signature.pointers.len() + field;
                view.pointers[index] = seen(self.pointer(node as u32, field));
            }
            for bit in 0..signature.bits.len() {
                view.bits[node * signature.bits.len() + bit] = Some(self.bit(node as u32, bit));
            }
        }
        for (index, register) in view.registers.iter_mut().enumerate() {
            *register = seen(self.register(index));
        }
        for (control, &value) in view.controls.iter_mut().zip(&self.controls) {
            *control = Some(value);
        }
        Some(view)
    }
}
