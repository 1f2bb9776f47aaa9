//! Training a network over views.

use pgn_machines::{Action, View};
use rayon::prelude::*;

use super::{
    MachineLosses, MachineNet,
    graph::check_view,
    losses::losses,
    rounds::{backward, forward},
};
use crate::{Error, Parameters, Trainer, packing::sum_in_order, simd::with_simd, trainer::Network};

/// Views whose gradients are summed by one thread: a number of its own, so that sums do not
/// depend on how many threads there are.
const GROUP: usize = 8;

impl Network for MachineNet {
    fn parameters(&self) -> &Parameters {
        MachineNet::parameters(self)
    }

    fn update(&mut self, change: impl FnOnce(&mut Parameters)) {
        self.change(change);
    }
}

/// ```
/// use pgn_engine::{MachineNet, MachineSettings, Trainer, TrainerOptions};
/// use pgn_machines::{Machine, programs::dsu};
///
/// let machine = Machine::new(std::sync::Arc::new(dsu()))?;
/// let net = MachineNet::new(machine.signature().clone(), MachineSettings::default(), 0)?;
/// let options = TrainerOptions { learning_rate: 3e-3, ..TrainerOptions::default() };
/// let mut trainer = Trainer::new(net, options)?;
/// let pairs = machine.consistent();
/// let batch: Vec<_> = pairs.iter().map(|(view, action)| (view, action)).collect();
/// for _ in 0..200 {
///     trainer.step(&batch)?;
/// }
/// assert!(batch.iter().all(|(view, action)| trainer.model().predict(view).unwrap() == **action));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Trainer<MachineNet> {
    /// One step of Adam on a batch of views with the program's actions. Returns the losses before
    /// the step; the result is the same to the bit for any number of threads.
    pub fn step(&mut self, batch: &[(&View, &Action)]) -> Result<MachineLosses, Error> {
        let (losses, gradients) = self.gradients(batch)?;
        self.descend(batch.len(), losses.total, gradients)?;
        Ok(losses)
    }

    /// The losses of a batch and their gradients, without a step.
    pub fn gradients(
        &self,
        batch: &[(&View, &Action)],
    ) -> Result<(MachineLosses, Parameters), Error> {
        let signature = self.model.signature();
        for (view, action) in batch {
            check_view(signature, view)?;
            action.check(view, signature).map_err(Error::Input)?;
        }
        let (settings, layout, weights) = self.model.parts();
        let pools = self.model.pools();
        let share = 1.0 / batch.len() as f32;
        let groups: Vec<(MachineLosses, Vec<f32>)> = batch
            .par_chunks(GROUP)
            .map(|group| {
                let (mut tape, mut scratch) = pools.tapes.take(Default::default);
                let mut gradients = pools.gradients.take(|| weights.packing.zeros());
                gradients.fill(0.0);
                tape.graph.build(layout, group.iter().map(|(view, _)| *view));
                let actions = group.iter().map(|(_, action)| *action);
                let losses = with_simd!(self.model.level(), simd => {
                    forward(simd, settings, layout, weights, &mut tape);
                    let losses =
                        losses(simd, layout, weights, &mut tape, actions, share, &mut scratch);
                    backward(simd, settings, layout, weights, &mut tape, &mut gradients);
                    losses
                });
                pools.tapes.put_back((tape, scratch));
                (losses, gradients)
            })
            .collect();
        let mut losses = MachineLosses::default();
        let mut parameters = layout.zeros();
        let sum = sum_in_order(groups, &pools.gradients, |group| losses.add(group, 1.0));
        if let Some(sum) = sum {
            weights.packing.unpack(&sum, &mut parameters);
            pools.gradients.put_back(sum);
        }
        Ok((losses, parameters))
    }
}
