//! Training a network over views.

use pgn_machines::{Action, View};
use rayon::prelude::*;

use super::{
    MachineLosses, MachineNet,
    graph::check_view,
    losses::{Scratch, losses},
    rounds::{Tape, backward, forward},
    weights::Gradients,
};
use crate::{Error, Parameters, adam, simd::with_simd, spare::Spare};

/// Views whose gradients are summed by one thread: a number of its own, so that sums do not
/// depend on how many threads there are.
const GROUP: usize = 8;

/// Everything a trainer needs to go on where another stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineTrainerState {
    /// The weights.
    pub parameters: Parameters,
    /// Adam's running mean of the gradients.
    pub first_moment: Parameters,
    /// Adam's running mean of their squares.
    pub second_moment: Parameters,
    /// Steps taken.
    pub steps: u64,
}

/// A network over views in training.
///
/// ```
/// use pgn_engine::{MachineNet, MachineSettings, MachineTrainer};
/// use pgn_machines::{Machine, programs::dsu};
///
/// let machine = Machine::new(std::sync::Arc::new(dsu()))?;
/// let net = MachineNet::new(machine.signature().clone(), MachineSettings::default(), 0)?;
/// let mut trainer = MachineTrainer::new(net);
/// let pairs = machine.consistent();
/// let batch: Vec<_> = pairs.iter().map(|(view, action)| (view, action)).collect();
/// for _ in 0..200 {
///     trainer.step(&batch, 3e-3)?;
/// }
/// assert!(batch.iter().all(|(view, action)| trainer.net().predict(view).unwrap() == **action));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MachineTrainer {
    net: MachineNet,
    first_moment: Parameters,
    second_moment: Parameters,
    steps: u64,
    spare: Spare<(Tape, Scratch)>,
    spare_gradients: Spare<Gradients>,
}

impl MachineTrainer {
    /// Training from the beginning.
    pub fn new(net: MachineNet) -> MachineTrainer {
        let zeros = net.parts().1.zeros();
        MachineTrainer {
            net,
            first_moment: zeros.clone(),
            second_moment: zeros,
            steps: 0,
            spare: Spare::new(),
            spare_gradients: Spare::new(),
        }
    }

    /// Training from where `state` was taken. Names and settings are those of `net`, whose weights
    /// are replaced.
    pub fn resume(net: MachineNet, state: MachineTrainerState) -> Result<MachineTrainer, Error> {
        let zeros = net.parts().1.zeros();
        let MachineTrainerState { parameters, first_moment, second_moment, steps } = state;
        if [&parameters, &first_moment, &second_moment]
            .iter()
            .any(|part| part.tensors() != zeros.tensors())
        {
            return Err(Error::Input("the training state is that of another network".into()));
        }
        let mut trainer = MachineTrainer::new(net);
        trainer.net.update(|weights| *weights = parameters);
        Ok(MachineTrainer { first_moment, second_moment, steps, ..trainer })
    }

    /// What [`MachineTrainer::resume`] needs.
    pub fn state(&self) -> MachineTrainerState {
        MachineTrainerState {
            parameters: self.net.parameters().clone(),
            first_moment: self.first_moment.clone(),
            second_moment: self.second_moment.clone(),
            steps: self.steps,
        }
    }

    /// The network as it is now.
    pub fn net(&self) -> &MachineNet {
        &self.net
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// One step of Adam on a batch of views with the program's actions. Returns the losses before
    /// the step; the result is the same to the bit for any number of threads.
    pub fn step(
        &mut self,
        batch: &[(&View, &Action)],
        learning_rate: f32,
    ) -> Result<MachineLosses, Error> {
        if !(learning_rate.is_finite() && learning_rate >= 0.0) {
            return Err(Error::Input(format!(
                "the learning rate is {learning_rate}; expected a finite number of at least 0"
            )));
        }
        let (losses, gradients) = self.gradients(batch)?;
        if !losses.total.is_finite() {
            return Err(Error::Input(format!(
                "training diverged at step {}: the loss is {}; a lower learning rate may help",
                self.steps, losses.total
            )));
        }
        self.steps += 1;
        let (first, second) = (&mut self.first_moment, &mut self.second_moment);
        let steps = self.steps;
        self.net.update(|weights| {
            adam::step(steps, learning_rate, &gradients, [first, second], weights);
        });
        Ok(losses)
    }

    /// The losses of a batch and their gradients, without a step.
    pub fn gradients(
        &self,
        batch: &[(&View, &Action)],
    ) -> Result<(MachineLosses, Parameters), Error> {
        let signature = self.net.signature();
        for (view, action) in batch {
            check_view(signature, view)?;
            action.check(view, signature).map_err(Error::Input)?;
        }
        let (settings, layout, weights) = self.net.parts();
        let share = 1.0 / batch.len() as f32;
        let groups: Vec<(MachineLosses, Gradients)> = batch
            .par_chunks(GROUP)
            .map(|group| {
                let (mut tape, mut scratch) = self.spare.take(Default::default);
                let mut gradients = self.spare_gradients.take(|| Gradients::zeros(layout));
                gradients.clear();
                tape.graph.build(layout, group.iter().map(|(view, _)| *view));
                let actions = group.iter().map(|(_, action)| *action);
                let losses = with_simd!(self.net.level(), simd => {
                    forward(simd, settings, layout, weights, &mut tape);
                    let losses =
                        losses(simd, layout, weights, &mut tape, actions, share, &mut scratch);
                    backward(simd, settings, layout, weights, &mut tape, &mut gradients);
                    losses
                });
                self.spare.put_back((tape, scratch));
                (losses, gradients)
            })
            .collect();
        let mut losses = MachineLosses::default();
        let mut parameters = layout.zeros();
        // Sums run in the order of the batch, whichever thread finished first.
        let mut sum: Option<Gradients> = None;
        for (part, mut gradients) in groups {
            losses.add(&part);
            match &mut sum {
                None => sum = Some(gradients),
                Some(sum) => {
                    sum.add(&mut gradients);
                    self.spare_gradients.put_back(gradients);
                }
            }
        }
        if let Some(sum) = sum {
            sum.unpack(layout, &mut parameters);
            self.spare_gradients.put_back(sum);
        }
        Ok((losses, parameters))
    }
}
