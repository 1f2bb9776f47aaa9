//! A network over views, as users call it.

use std::path::Path;

use pgn_machines::{Action, Signature, View};
use pgn_structures::Rng;
use rayon::prelude::*;

use super::{
    MachineSettings, Prediction,
    decisions::decide,
    graph::check_view,
    layout::{CONTROLLER, ENCODER, Layout, MESSAGE, NODE},
    losses::Scratch,
    rounds::{Tape, forward},
    scores::Scores,
    weights::Weights,
};
use crate::{
    Error, Initialisation, Parameters, SimdLevel, buffer_pool::BufferPool, error::require,
    simd::with_simd,
};

/// Views whose outputs are computed together. Their bits do not depend on it.
const GROUP: usize = 16;

/// A network from views to actions, for one program.
///
/// ```
/// use pgn_engine::{MachineNet, MachineSettings};
/// use pgn_machines::{Machine, programs::dsu};
///
/// let machine = Machine::new(std::sync::Arc::new(dsu()))?;
/// let net = MachineNet::new(machine.signature().clone(), MachineSettings::default(), 0)?;
/// let (view, _) = &machine.consistent()[0];
/// let action = net.predict(view)?; // untrained: some action
/// assert!(action.check(view, machine.signature()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MachineNet {
    signature: Signature,
    settings: MachineSettings,
    layout: Layout,
    parameters: Parameters,
    weights: Weights,
    level: SimdLevel,
    pools: Pools,
}

/// Buffers that are used again.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    pub tapes: BufferPool<(Tape, Scratch)>,
    pub gradients: BufferPool<Vec<f32>>,
}

impl MachineNet {
    /// A network with fresh weights.
    pub fn new(
        signature: Signature,
        settings: MachineSettings,
        seed: u64,
    ) -> Result<MachineNet, Error> {
        settings.check()?;
        check_signature(&signature)?;
        let parameters = initial(&Layout::new(&signature, &settings), seed);
        MachineNet::from_parameters(signature, settings, parameters)
    }

    /// A network with these weights.
    pub fn from_parameters(
        signature: Signature,
        settings: MachineSettings,
        parameters: Parameters,
    ) -> Result<MachineNet, Error> {
        settings.check()?;
        check_signature(&signature)?;
        let layout = Layout::new(&signature, &settings);
        if layout.zeros().tensors() != parameters.tensors() {
            return Err(Error::Input(format!(
                "the weights are not those of a network for program `{}`",
                signature.name
            )));
        }
        let weights = Weights::of(&layout, &parameters);
        let (level, pools) = (SimdLevel::best(), Pools::default());
        Ok(MachineNet { signature, settings, layout, parameters, weights, level, pools })
    }

    /// The network in the bytes of a `model.safetensors`; `path` is named in errors.
    pub fn from_bytes(
        signature: Signature,
        settings: MachineSettings,
        bytes: &[u8],
        path: &Path,
    ) -> Result<MachineNet, Error> {
        settings.check()?;
        check_signature(&signature)?;
        let zeros = Layout::new(&signature, &settings).zeros();
        MachineNet::from_parameters(signature, settings, zeros.filled_from(bytes, path)?)
    }

    /// Reads a `model.safetensors`.
    pub fn load(
        signature: Signature,
        settings: MachineSettings,
        path: &Path,
    ) -> Result<MachineNet, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::File {
            path: path.to_owned(),
            trouble: format!("cannot be read ({error})"),
        })?;
        MachineNet::from_bytes(signature, settings, &bytes, path)
    }

    /// Writes a `model.safetensors`, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        self.parameters.save(path)
    }

    /// With another set of instructions than the fastest.
    pub fn on_level(mut self, level: SimdLevel) -> MachineNet {
        self.level = level;
        self
    }

    /// The program's names.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The choices it was made with.
    pub fn settings(&self) -> &MachineSettings {
        &self.settings
    }

    /// Its weights.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What to write on a view.
    pub fn predict(&self, view: &View) -> Result<Action, Error> {
        check_view(&self.signature, view)?;
        let mut predictions = self.group(std::slice::from_ref(view).iter());
        Ok(predictions.pop().map(|prediction| prediction.action).unwrap_or_default())
    }

    /// What to write on each of many views, and by what margin, in parallel. The bits of a score
    /// do not depend on the other views or on the number of threads.
    pub fn predictions(&self, views: &[&View]) -> Result<Vec<Prediction>, Error> {
        views.iter().try_for_each(|view| check_view(&self.signature, view))?;
        let groups = views.par_chunks(GROUP).map(|group| self.group(group.iter().copied()));
        Ok(groups.flatten_iter().collect())
    }

    fn group<'a>(&self, views: impl Iterator<Item = &'a View> + Clone) -> Vec<Prediction> {
        let (mut tape, scratch) = self.pools.tapes.take(Default::default);
        tape.graph.build(&self.layout, views);
        let (settings, layout, weights) = self.parts();
        let predictions = with_simd!(self.level, simd => {
            forward(simd, settings, layout, weights, &mut tape);
            let scores = Scores { layout, weights, tape: &tape };
            let mut row = Vec::new();
            (0..tape.graph.views()).map(
                #[inline(always)]
                |view| decide(simd, scores, view, &mut row)
            ).collect()
        });
        self.pools.tapes.put_back((tape, scratch));
        predictions
    }

    pub(super) fn parts(&self) -> (&MachineSettings, &Layout, &Weights) {
        (&self.settings, &self.layout, &self.weights)
    }

    pub(super) fn pools(&self) -> &Pools {
        &self.pools
    }

    pub(super) fn level(&self) -> SimdLevel {
        self.level
    }

    /// Changes the weights.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Parameters)) {
        change(&mut self.parameters);
        self.weights = Weights::of(&self.layout, &self.parameters);
    }
}

fn check_signature(signature: &Signature) -> Result<(), Error> {
    signature.check().or_else(|what| require(false, "program", what))
}

/// Fresh weights: normal, cut at 2σ, biases zero. σ = 1/√(how many numbers a layer adds up in a
/// typical row), which for the encoder is not its number of columns, as few features are on.
fn initial(layout: &Layout, seed: u64) -> Parameters {
    let k = layout.k;
    let mut parameters = layout.zeros();
    for (number, (name, fan_in)) in
        [(ENCODER, 8), (MESSAGE, 4 * k), (NODE, k), (CONTROLLER, k)].into_iter().enumerate()
    {
        let mut rng = Rng::new([seed, crate::streams::WEIGHTS.number(), 1000 + number as u64, 0]);
        let values = parameters.tensor_mut(name);
        Initialisation::Lecun.draw_weights(&mut rng, fan_in, 1, values);
    }
    parameters
}
