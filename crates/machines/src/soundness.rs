//! Tests of what a certificate takes for granted.

use std::collections::HashMap;

use crate::consistent::Consistency;
use crate::machine::RUNS;
use crate::{Action, Error, Machine, Result, Seen, Signature, Store, View};

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
    /// Tests, before every micro-step of random runs, that the invariants hold (of the whole
    /// memory, up to 200 nodes), and that the view is one of the consistent ones. Keys are equal and
    /// arguments repeated more often than by chance.
    ///
    /// Gives the number of different views met. An error shows what was found.
    pub fn test_assumptions(&self, trial: Trial) -> Result<usize> {
        let signature = self.signature();
        let consistent: HashMap<&View, &Action> =
            self.consistent().iter().map(|(view, action)| (view, action)).collect();
        let sentences = self.program().invariants();
        let mut met: HashMap<View, ()> = HashMap::new();
        let mut nodes = Vec::new();
        for sequence in 0..trial.sequences {
            let mut rng = RUNS.rng(trial.seed, trial.nodes as u64, sequence);
            // Every second sequence has keys that are often equal.
            let values = if sequence % 2 == 0 { u32::MAX } else { trial.nodes.div_ceil(3) as u32 };
            let keys: Vec<f32> = (0..trial.nodes).map(|_| rng.below(values) as f32).collect();
            let mut store = Store::new(signature, &keys);
            for _ in 0..trial.operations {
                let mut call = self.program().sample(&store, &mut rng);
                // Equal arguments are rare in large memories, and not drawn by every program.
                if rng.below(16) == 0
                    && let [first, others @ ..] = &mut call.arguments[..]
                {
                    others.fill(*first);
                }
                let mut state = match self.begin(&mut store, call.operation, &call.arguments) {
                    Err(Error::Refused(_)) => continue,
                    started => started?,
                };
                while self.outcome(&store, state).is_none() {
                    if let Some(whole) = store.whole(signature, state) {
                        let broken = Consistency::of(self.program()).broken(&whole);
                        if let Some(invariant) = broken {
                            return Err(Error::Program(format!(
                                "program `{}` breaks its invariant that {}:\n{}",
                                signature.name,
                                sentences[invariant],
                                whole.picture(signature)
                            )));
                        }
                    }
                    let view = self.view(&store, state, &mut nodes);
                    let Some(action) = consistent.get(&view) else {
                        return Err(Error::Program(format!(
                            "program `{}` meets a view that the enumeration lacks:\n{}",
                            signature.name,
                            view.picture(signature)
                        )));
                    };
                    self.apply(&mut store, &nodes, action);
                    state = action.next;
                    met.entry(view).or_default();
                }
            }
        }
        Ok(met.len())
    }
}

impl Store {
    /// All of a small memory as one view; `None` of more than 200 nodes.
    pub fn whole(&self, signature: &Signature, state: u8) -> Option<View> {
        let nodes = u8::try_from(self.len()).ok().filter(|&nodes| nodes <= 200)?;
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
