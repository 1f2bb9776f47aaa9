//! Batches of transitions: what an iterated processor is trained on.

use pgn_structures::{Node, Transition};
use rayon::prelude::*;

use super::{Network, Tape, transition::Unroll};
use crate::{Error, Example, Losses, Parameters, simd::with_simd};

/// Transitions whose gradients are summed by one thread: a number of its own, so that sums do not
/// depend on how many threads there are.
const GROUP: usize = 8;

impl Network {
    /// The losses of whole sequences and their gradients: every operation is a transition from the
    /// truth's pointers.
    pub fn sequence_gradients(
        &self,
        parameters: &Parameters,
        batch: &[Example<'_>],
    ) -> (Losses, Parameters) {
        let most = batch.iter().map(|example| example.sequence.nodes()).max().unwrap_or(0);
        let fresh: Vec<Node> = (0..most as Node).collect();
        let transitions: Vec<_> = batch
            .iter()
            .flat_map(|&Example { sequence, .. }| {
                let share = 1.0 / (batch.len() * sequence.ops()) as f32;
                let fresh = &fresh[..sequence.nodes()];
                (0..sequence.ops()).map(move |t| {
                    let before = match t {
                        0 => fresh,
                        _ => sequence.pointers_after(t - 1),
                    };
                    let transition = Transition {
                        priorities: sequence.priorities,
                        before,
                        operation: sequence.operations[t],
                        answer: sequence.answers[t],
                        mask: sequence.mask(t),
                        after: sequence.pointers_after(t),
                    };
                    (transition, share)
                })
            })
            .collect();
        self.shared_gradients(parameters, &transitions)
    }

    /// The losses of single transitions and their gradients.
    pub fn transition_gradients(
        &self,
        parameters: &Parameters,
        batch: &[Transition<'_>],
    ) -> Result<(Losses, Parameters), Error> {
        batch.iter().try_for_each(check)?;
        let share = 1.0 / batch.len() as f32;
        let batch: Vec<_> = batch.iter().map(|&transition| (transition, share)).collect();
        Ok(self.shared_gradients(parameters, &batch))
    }

    /// Losses and gradients of transitions, each with its share of the loss.
    fn shared_gradients(
        &self,
        parameters: &Parameters,
        batch: &[(Transition<'_>, f32)],
    ) -> (Losses, Parameters) {
        let (config, weights) = (&self.config, &self.weights);
        let settings = &weights.settings;
        let groups: Vec<(Losses, Vec<f32>)> = batch
            .par_chunks(GROUP)
            .enumerate()
            .map(|(number, group)| {
                let mut losses = Losses::default();
                let mut gradients = self.gradients.take(|| weights.packing.zeros());
                gradients.fill(0.0);
                let mut tape = self.tapes.take(Tape::default);
                for (place, &(transition, share)) in group.iter().enumerate() {
                    let steps = settings.steps_in_training(number * GROUP + place);
                    let unroll = Unroll { config, weights, transition, share, steps };
                    let one = with_simd!(self.level, simd => {
                        let losses = unroll.forward(simd, &mut tape);
                        unroll.backward(simd, &mut tape, &mut gradients);
                        losses
                    });
                    losses.add(&one, 1.0);
                }
                self.tapes.put_back(tape);
                (losses, gradients)
            })
            .collect();
        self.sum(parameters, groups, |sum| {
            let mut gradients = parameters.zeroed();
            weights.packing.unpack(sum, &mut gradients);
            gradients
        })
    }
}

/// Whether a transition is one that can be computed with.
fn check(transition: &Transition<'_>) -> Result<(), Error> {
    let wrong = |what: String| Err(Error::Input(what));
    let n = transition.before.len();
    for (name, length) in [
        ("priorities", transition.priorities.len()),
        ("masks", transition.mask.len()),
        ("pointers after it", transition.after.len()),
    ] {
        if length != n {
            return wrong(format!(
                "a transition on {n} nodes has {length} {name}; expected one per node"
            ));
        }
    }
    let pointers = transition.before.iter().chain(transition.after);
    if let Some(node) = pointers.into_iter().find(|&&node| node as usize >= n) {
        return wrong(format!("a pointer aims at node {node}; expected a node below {n}"));
    }
    transition.operation.check(n).map_err(|error| Error::Input(error.to_string()))
}
