//! A model: a config and the weights that go with it.

use std::{path::Path as FilePath, sync::Arc};

use pgn_structures::{Node, Operation, Sequence, given_priorities};
use rayon::prelude::*;

use crate::{Config, Error, Parameters, State, held::Held, iterated, simd::Path, weights::Weights};

/// A network of the family, ready to run.
///
/// ```
/// use pgn_engine::{Config, Model};
/// use pgn_structures::Operation;
///
/// let model = Model::new(Config::preset("pgn")?, 0)?;
/// let mut state = model.start(20)?;
/// let answer = state.apply(Operation { u: 3, v: 7 })?;
/// assert!((0.0..=1.0).contains(&answer.probability));
/// assert_eq!(answer.pointers.len(), 20);
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    config: Config,
    parameters: Parameters,
    layout: Layout,
    path: Path,
}

/// The weights as the processor's kernels want them.
#[derive(Clone, Debug)]
enum Layout {
    Once(Box<Weights>),
    Iterated(Box<iterated::Weights>),
}

impl Layout {
    fn new(config: &Config, parameters: &Parameters) -> Layout {
        match config.iterated() {
            None => Layout::Once(Box::new(Weights::new(config, parameters))),
            Some(settings) => {
                Layout::Iterated(Box::new(iterated::Weights::new(config, settings, parameters)))
            }
        }
    }
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
        let layout = Layout::new(&config, &parameters);
        Ok(Model { config, parameters, layout, path: Path::best() })
    }

    /// Reads the weights from a `model.safetensors`.
    pub fn load(config: Config, path: &FilePath) -> Result<Model, Error> {
        config.validate()?;
        let parameters = Parameters::load(&config, path)?;
        Model::from_parameters(config, parameters)
    }

    /// The same model on another instruction path.
    pub fn on_path(self, path: Path) -> Model {
        Model { path, ..self }
    }

    /// What kind of model it is.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its weights.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The instructions it computes with.
    pub fn path(&self) -> Path {
        self.path
    }

    /// The weights of the paper's processor.
    pub(crate) fn weights(&self) -> &Weights {
        match &self.layout {
            Layout::Once(weights) => weights,
            Layout::Iterated(_) => {
                unreachable!("asked for only where the processor is the paper's")
            }
        }
    }

    /// The weights of an iterated processor, if that is what it has.
    pub(crate) fn iterated(&self) -> Option<&iterated::Weights> {
        match &self.layout {
            Layout::Once(_) => None,
            Layout::Iterated(weights) => Some(weights),
        }
    }

    /// Changes the weights.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Parameters)) {
        change(&mut self.parameters);
        self.layout = Layout::new(&self.config, &self.parameters);
    }

    /// A fresh structure of `nodes` nodes, with priorities from a fixed stream.
    pub fn start(&self, nodes: usize) -> Result<State<'_>, Error> {
        self.start_with(&given_priorities(nodes, 0)?)
    }

    /// A fresh structure, one node per priority.
    pub fn start_with(&self, priorities: &[f32]) -> Result<State<'_>, Error> {
        State::new(Held::Borrowed(self), priorities)
    }

    /// The same for a model shared by several owners: the state keeps it alive.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use pgn_engine::{Config, Model, State};
    ///
    /// fn start() -> Result<State<'static>, pgn_engine::Error> {
    ///     Arc::new(Model::new(Config::preset("pgn")?, 0)?).start_shared(&[0.3, 0.1])
    /// }
    /// assert_eq!(start()?.pointers(), [0, 1]);
    /// # Ok::<(), pgn_engine::Error>(())
    /// ```
    pub fn start_shared(self: &Arc<Self>, priorities: &[f32]) -> Result<State<'static>, Error> {
        State::new(Held::Shared(Arc::clone(self)), priorities)
    }

    /// Rolls out one sequence freely: the model reads its own pointers and masks, never the
    /// truth's. Models with given pointers read those of the sequence.
    pub fn rollout(&self, sequence: Sequence<'_>) -> Result<Rollout, Error> {
        self.check(sequence)?;
        let (n, ops) = (sequence.nodes(), sequence.ops());
        let mut state = self.start_with(sequence.priorities)?;
        let mut query_logits = Vec::with_capacity(ops);
        let mut mask_logits = self.config.has_masks().then(|| Vec::with_capacity(ops * n));
        let mut pointers = self.config.owns_pointers().then(|| Vec::with_capacity(ops * n));
        for (t, &operation) in sequence.operations.iter().enumerate() {
            query_logits.push(state.apply(operation)?.logit);
            if let Some(logits) = &mut mask_logits {
                logits.extend_from_slice(state.mask_logits());
            }
            if let Some(pointers) = &mut pointers {
                pointers.extend_from_slice(state.pointers());
            }
            if self.config.pointers == crate::Pointers::Given {
                state.set_pointers(sequence.pointers_after(t))?;
            }
        }
        Ok(Rollout { query_logits, mask_logits, pointers })
    }

    /// Rolls out many sequences, in parallel on the current rayon pool.
    pub fn rollouts(&self, sequences: &[Sequence<'_>]) -> Result<Vec<Rollout>, Error> {
        let each = sequences.par_iter().with_max_len(1);
        each.map(|&sequence| self.rollout(sequence)).collect()
    }

    /// Whether a sequence is one this model can read.
    pub(crate) fn check(&self, sequence: Sequence<'_>) -> Result<(), Error> {
        let (n, ops) = (sequence.nodes(), sequence.ops());
        let wrong = |what: String| Err(Error::Input(what));
        if n == 0 {
            return wrong("a sequence has no nodes; expected at least 1".into());
        }
        for (name, length, expected) in [
            ("answers", sequence.answers.len(), ops),
            ("masks", sequence.masks.len(), ops * n),
            ("pointers", sequence.pointers.len(), ops * n),
        ] {
            if length != expected {
                return wrong(format!(
                    "a sequence of {ops} operations on {n} nodes has {length} {name}; expected {expected}"
                ));
            }
        }
        if let Some(node) = sequence.pointers.iter().find(|&&node| node as usize >= n) {
            return wrong(format!("a pointer aims at node {node}; expected a node below {n}"));
        }
        for &Operation { u, v } in sequence.operations {
            if let Some(node) = [u, v].into_iter().find(|&node| node as usize >= n) {
                return wrong(format!("an operation names node {node}; expected a node below {n}"));
            }
            if u == v && n > 1 {
                return wrong(format!(
                    "the operation ({u}, {v}) names one node twice; expected two different nodes"
                ));
            }
        }
        if let Some(priority) = sequence.priorities.iter().find(|priority| !priority.is_finite()) {
            return wrong(format!("a priority is {priority}; expected a finite number"));
        }
        for (name, values) in [("answer", sequence.answers), ("mask", sequence.masks)] {
            if let Some(value) = values.iter().find(|&&value| value > 1) {
                return wrong(format!("a sequence has the {name} {value}; expected 0 or 1"));
            }
        }
        Ok(())
    }
}
