//! Batches of transitions: what an iterated processor is trained on.

use pgn_structures::{Node, Transition};

use super::{Weights, transition::gradients};
use crate::{Error, Example, Losses, Parameters, Trainer};

impl Trainer {
    /// One step of Adam on a batch of transitions, for models with an iterated processor. Returns
    /// the losses before the step; the result is the same to the bit for any number of threads.
    ///
    /// ```
    /// use pgn_engine::{Config, Model, Trainer, TrainerOptions};
    /// use pgn_structures::{Curriculum, Task};
    ///
    /// let task = Task::named("forest")?;
    /// let model = Model::new(Config::preset("pgn-exact")?, 0)?;
    /// let mut trainer = Trainer::new(model, TrainerOptions::default())?;
    /// let owned = (0..64)
    ///     .map(|index| Curriculum::of_size(20).sample(&task, 0, 0, index))
    ///     .collect::<Result<Vec<_>, _>>()?;
    /// let batch: Vec<_> = owned.iter().map(|one| one.get()).collect();
    /// let first = trainer.step_on(&batch)?.total;
    /// for _ in 0..20 {
    ///     trainer.step_on(&batch)?;
    /// }
    /// assert!(trainer.step_on(&batch)?.total < first);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step_on(&mut self, batch: &[Transition<'_>]) -> Result<Losses, Error> {
        let (losses, gradients) = self.gradients_on(batch)?;
        self.descend(losses, gradients, batch.len())
    }

    /// The losses of a batch of transitions and their gradients, without a step.
    pub fn gradients_on(&self, batch: &[Transition<'_>]) -> Result<(Losses, Parameters), Error> {
        let Some(weights) = self.model().network().iterated() else {
            return Err(Error::Input(
                "single transitions teach only models with an iterated processor: the paper's \
                 carries latents from one operation to the next"
                    .into(),
            ));
        };
        batch.iter().try_for_each(check)?;
        let share = 1.0 / batch.len() as f32;
        let batch: Vec<_> = batch.iter().map(|&transition| (transition, share)).collect();
        Ok(self.weighed(weights, &batch))
    }

    /// The same of whole sequences: every operation is a transition from the truth's pointers.
    pub(crate) fn unrolled_gradients(
        &self,
        weights: &Weights,
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
                        fields_before: Default::default(),
                        fields_after: Default::default(),
                    };
                    (transition, share)
                })
            })
            .collect();
        self.weighed(weights, &transitions)
    }

    fn weighed(&self, weights: &Weights, batch: &[(Transition<'_>, f32)]) -> (Losses, Parameters) {
        let config = self.model().config();
        let (mut losses, gradients) = gradients(config, weights, self.model().simd_level(), batch);
        losses.weigh(config);
        (losses, gradients)
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
