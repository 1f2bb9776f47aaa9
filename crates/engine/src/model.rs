//! A model: a config and the weights that go with it.

use std::{ops::ControlFlow, path::Path, sync::Arc};

use pgn_structures::{Node, Sequence, given_priorities};
use rayon::prelude::*;

use crate::{
    Config, Error, Example, Network, Parameters, SimdLevel, State, Step,
    processor::{Design, Processor},
};

/// A network of the family, ready to run.
///
/// ```
/// use pgn_engine::{Config, Model};
/// use pgn_structures::Operation;
///
/// let model = Model::new(Config::preset("pgn")?, 0)?;
/// let mut state = model.start(20)?;
/// let answer = state.apply(Operation::new(3, 7))?;
/// assert!((0.0..=1.0).contains(&answer.probability));
/// assert_eq!(answer.pointers.len(), 20);
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    config: Arc<Config>,
    level: SimdLevel,
    parameters: Parameters,
    processor: Arc<dyn Processor>,
}

/// What a free rollout of one sequence gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    /// \[ops\]; above 0 means answer 1.
    pub query_logits: Vec<f32>,
    /// \[ops, nodes\]; above 0 means mask 1, left alone. For models with masks.
    pub mask_logits: Option<Vec<f32>>,
    /// \[ops, nodes\], after each operation. For models with pointers of their own.
    pub pointers: Option<Vec<Node>>,
}

impl Rollout {
    /// One with no operations yet, and room for those of a sequence.
    pub fn of(config: &Config, sequence: Sequence<'_>) -> Rollout {
        let (n, ops) = (sequence.nodes(), sequence.ops());
        Rollout {
            query_logits: Vec::with_capacity(ops),
            mask_logits: config.has_masks().then(|| Vec::with_capacity(ops * n)),
            pointers: config.owns_pointers().then(|| Vec::with_capacity(ops * n)),
        }
    }

    /// Adds what the next operation gave.
    pub fn push(&mut self, step: Step<'_>) {
        self.query_logits.push(step.logit);
        if let Some(logits) = &mut self.mask_logits {
            logits.extend_from_slice(step.mask_logits());
        }
        if let Some(pointers) = &mut self.pointers {
            pointers.extend_from_slice(step.pointers());
        }
    }
}

impl Network for Model {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn update(&mut self, change: impl FnOnce(&mut Parameters)) {
        change(&mut self.parameters);
        // States that share the old weights keep them.
        match Arc::get_mut(&mut self.processor) {
            Some(processor) => processor.update(&self.parameters),
            None => self.rebuild(),
        }
    }

    fn aims_in_training(&self) -> bool {
        self.config().aims_in_training()
    }
}

impl Model {
    /// A model with fresh weights.
    pub fn new(config: Config, seed: u64) -> Result<Model, Error> {
        config.validate()?;
        let parameters = Parameters::initial(&config, seed);
        Model::from_parameters(config, parameters)
    }

    /// A model with the weights given.
    pub fn from_parameters(config: Config, parameters: Parameters) -> Result<Model, Error> {
        config.validate()?;
        if parameters.tensors() != Parameters::zeros(&config).tensors() {
            return Err(Error::Input(
                "the weights are those of a model with another config".into(),
            ));
        }
        let config = Arc::new(config);
        let level = SimdLevel::best();
        let processor = (Design::of(&config).build)(&config, level, &parameters);
        Ok(Model { config, level, parameters, processor })
    }

    /// Reads the weights from a `model.safetensors`.
    pub fn load(config: Config, path: &Path) -> Result<Model, Error> {
        config.validate()?;
        let parameters = Parameters::load(&config, path)?;
        Model::from_parameters(config, parameters)
    }

    /// Computes with other instructions.
    pub fn on_level(mut self, level: SimdLevel) -> Model {
        self.level = level;
        self.rebuild();
        self
    }

    fn rebuild(&mut self) {
        let build = Design::of(&self.config).build;
        self.processor = build(&self.config, self.level, &self.parameters);
    }

    /// What kind of model it is.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its weights.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    pub(crate) fn processor(&self) -> &dyn Processor {
        &*self.processor
    }

    /// A fresh structure of `nodes` nodes, with priorities from a fixed stream.
    pub fn start(&self, nodes: usize) -> Result<State, Error> {
        self.start_with(&given_priorities(nodes, 0)?)
    }

    /// A fresh structure, one node per priority.
    pub fn start_with(&self, priorities: &[f32]) -> Result<State, Error> {
        State::new(Arc::clone(&self.processor), self.config().has_kinds(), priorities)
    }

    /// Rolls out one sequence freely: the model reads its own pointers and masks, never the
    /// truth's. Models with given pointers read those.
    pub fn rollout<'a>(&self, example: impl Into<Example<'a>>) -> Result<Rollout, Error> {
        let example = example.into();
        let mut rollout = Rollout::of(self.config(), example.sequence);
        self.replay(example, |step| {
            rollout.push(step);
            ControlFlow::Continue(())
        })?;
        Ok(rollout)
    }

    /// Rolls out many sequences, in parallel on the current rayon pool.
    pub fn rollouts<'a, E>(&self, examples: &[E]) -> Result<Vec<Rollout>, Error>
    where
        E: Copy + Into<Example<'a>> + Sync,
    {
        let each = examples.par_iter().with_max_len(1);
        each.map(|&example| self.rollout(example)).collect()
    }
}
