//! The space of models: the paper's ten are points in it.
//!
//! A [`Config`] says what the processor reads, where pointers come from, how they are re-aimed,
//! and which losses are on. Names are in [`crate::Preset`].

use pgn_structures::Feature;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Initialisation, Iterated, LossWeights, ProcessorKind, aggregation::Aggregation,
    error::require,
};

/// Which nodes send a message to a node (equation 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Graph {
    /// Every node, itself included: the unrestricted GNN.
    Complete,
    /// Only the node itself: Deep Sets.
    SelfOnly,
    /// The node it points to and the nodes that point to it (Π of equation 7).
    Symmetric,
    /// Only the node it points to (Π̃ of equation 7, before symmetrisation).
    Directed,
}

/// Where the pointers that [`Graph::Symmetric`] and [`Graph::Directed`] read come from, and
/// how a rollout re-aims them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Pointers {
    /// The model keeps no pointers.
    None,
    /// They come with the sequence, in training and at test alike.
    Given,
    /// The model's own: nodes with mask 0 are re-aimed at argmax α (equations 5 to 7).
    Masked,
    /// The model's own: every node is re-aimed at every step (μ = 0 throughout).
    Every,
}

/// Which pointers the processor reads while training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Forcing {
    /// The ground truth's: teacher forcing, as in the paper.
    Teacher,
    /// The model's own argmax, under the ground truth's masks (`pgn-mo`).
    Own,
    /// The model's own argmax under its own masks, as in a rollout (`pgn-free`). Losses are on the
    /// same nodes as with the others.
    Free,
    /// Sampled from α by adding Gumbel noise to the scores (`dgm`).
    Sampled,
}

/// What the query and key networks of equation 6 read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AttentionInput {
    /// h, to the letter of equation 6.
    H,
    /// \[z ‖ h\], as the note in appendix A suggests.
    Zh,
}

/// The nodes a pointer may be aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Candidates {
    /// Any node.
    All,
    /// Nodes with mask 0, or the node itself.
    Visited,
}

/// How often the processor is applied in a rollout. It is at least as often as in training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TestLayers {
    /// As often as in training.
    #[default]
    Training,
    /// In proportion to log n: as often as in training for so many nodes.
    Nodes(usize),
    /// In proportion to the depth of u or v, whichever is larger: as often as in training where
    /// their pointers are so many steps from a root.
    Depth(usize),
}

/// How a model reads the graph that comes with a sequence (section 2 of the paper).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InputGraph {
    /// It does not.
    #[default]
    None,
    /// Its edges are added to those of the pointers.
    Edges,
    /// Messages along its edges, and from every node to itself, have a function of their own, and
    /// go into the update beside the others.
    #[serde(rename = "head")]
    Channel,
}

/// The most graphs that messages are sent along.
const MOST_CHANNELS: usize = 4;

/// The most layers of an operation.
const MOST_LAYERS: usize = 64;

/// Whether a setting has its default, which config files leave out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one() -> usize {
    1
}

fn is_one(layers: &usize) -> bool {
    *layers == 1
}

fn weight_one() -> f32 {
    1.0
}

/// One model of the family.
///
/// ```
/// use pgn_engine::{Config, Graph};
/// let config = Config::preset("pgn-asym")?;
/// assert_eq!(config.graph, Graph::Directed);
/// assert_eq!(config.k, 32);
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Latent features per node, k; a multiple of 8 from 8 to 256.
    pub k: usize,
    /// What a node is told about an operation: the entries of eᵢ, m of them.
    #[serde(rename = "inputs")]
    pub features: Vec<Feature>,
    /// Which nodes send messages.
    pub graph: Graph,
    /// Where pointers come from.
    pub pointers: Pointers,
    /// Which pointers the processor reads while training.
    pub forcing: Forcing,
    /// What query and key read.
    pub attention_input: AttentionInput,
    /// Where a pointer may be aimed.
    pub candidates: Candidates,
    /// How a node's messages become one (equation 8).
    #[serde(default, skip_serializing_if = "is_default")]
    pub message_aggregation: Aggregation,
    /// How the nodes become what the decoder reads (equation 3).
    #[serde(default, skip_serializing_if = "is_default")]
    pub readout_aggregation: Aggregation,
    /// How often the processor is applied to every operation, each time to what it gave before:
    /// 1 in the paper.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub layers: usize,
    /// How often it is applied in rollouts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub test_layers: TestLayers,
    /// Whether pointers and masks read a second processor, with weights of its own on the same z.
    /// The first one's h is what the answer is read from, and what is carried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pointer_processor: bool,
    /// Extra pointer fields of the task's schema that are learned beside its learned one, each
    /// with an attention head and a message function of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pointer_types: Vec<String>,
    /// How the graph that comes with a sequence is read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub input_graph: InputGraph,
    /// Loss weights.
    pub losses: LossWeights,
    /// How many times each visited node (mask 0) counts in the mask loss; the loss is still divided
    /// by operations × nodes.
    #[serde(default = "weight_one")]
    pub visited_weight: f32,
    /// How initial weights are drawn.
    #[serde(default, skip_serializing_if = "is_default")]
    pub initialisation: Initialisation,
    /// How latents are computed; the paper's way unless said otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub processor: ProcessorKind,
}

impl Config {
    /// m, the number of entries of eᵢ.
    pub fn m(&self) -> usize {
        self.features.len()
    }

    /// Whether the model keeps pointers of its own.
    pub fn owns_pointers(&self) -> bool {
        matches!(self.pointers, Pointers::Masked | Pointers::Every)
    }

    /// Whether it aims its pointers itself in training, as [`Forcing::Own`] and
    /// [`Forcing::Free`] do.
    pub fn aims_in_training(&self) -> bool {
        matches!(self.forcing, Forcing::Own | Forcing::Free)
    }

    /// Whether nodes are told the kind of an operation, as tasks with several kinds need.
    pub fn has_kinds(&self) -> bool {
        self.features.iter().any(|feature| matches!(feature, Feature::Kind(_)))
    }

    /// Whether there is a masking network ψ (equation 4).
    pub fn has_masks(&self) -> bool {
        self.pointers == Pointers::Masked || self.losses.masks > 0.0
    }

    /// Whether masks decide which pointers are re-aimed.
    pub(crate) fn heeds_masks(&self) -> bool {
        self.has_masks() && self.pointers != Pointers::Every
    }

    /// How many graphs messages are sent along, each with a message function of its own.
    pub(crate) fn channels(&self) -> usize {
        1 + self.pointer_types.len() + usize::from(self.input_graph == InputGraph::Channel)
    }

    /// How many pointers a node has.
    pub(crate) fn types(&self) -> usize {
        1 + self.pointer_types.len()
    }

    /// Whether masks and pointers have a processor of their own.
    pub(crate) fn processors(&self) -> usize {
        if self.pointer_processor { 2 } else { 1 }
    }

    /// How often the processor is applied to an operation of a rollout on `nodes` nodes, where u
    /// and v are up to `depth` pointers from a root.
    pub(crate) fn layers_in_rollouts(&self, nodes: usize, depth: impl FnOnce() -> usize) -> usize {
        let layers = self.layers as f64;
        let wanted = match self.test_layers {
            TestLayers::Training => layers,
            TestLayers::Nodes(base) => layers * libm::log(nodes as f64) / libm::log(base as f64),
            TestLayers::Depth(base) => layers * depth() as f64 / base as f64,
        };
        (wanted.ceil() as usize).clamp(self.layers, MOST_LAYERS)
    }

    /// Whether there are query and key networks (equation 6).
    pub fn has_attention(&self) -> bool {
        self.owns_pointers() || self.losses.pointers > 0.0
    }

    /// Latents that a node carries from one operation to the next: k, or none.
    pub fn carried(&self) -> usize {
        if self.processor == ProcessorKind::Recurrent { self.k } else { 0 }
    }

    /// The settings of an iterated processor, if that is what it has.
    pub fn iterated(&self) -> Option<&Iterated> {
        match &self.processor {
            ProcessorKind::Recurrent | ProcessorKind::Memoryless => None,
            ProcessorKind::Iterated(settings) => Some(settings),
        }
    }

    /// The width of what query and key read.
    pub fn attention_width(&self) -> usize {
        match self.attention_input {
            AttentionInput::H => self.k,
            AttentionInput::Zh => 2 * self.k,
        }
    }

    /// Whether every value is one the engine can compute with.
    pub fn validate(&self) -> Result<(), Error> {
        let Config { k, layers, pointers, forcing, candidates, .. } = *self;
        let Config { features, pointer_types, losses, visited_weight, .. } = self;
        require(
            (8..=256).contains(&k) && k.is_multiple_of(8),
            "k",
            format!("k is {k}; expected a multiple of 8 from 8 to 256"),
        )?;
        require(!features.is_empty(), "inputs", "inputs is empty; expected at least one feature")?;
        losses.validate()?;
        require(
            visited_weight.is_finite() && *visited_weight > 0.0,
            "visited_weight",
            format!("visited_weight is {visited_weight}; expected a finite number > 0"),
        )?;
        let reads_pointers = matches!(self.graph, Graph::Symmetric | Graph::Directed);
        let has_pointers = pointers != Pointers::None;
        require(
            !reads_pointers || has_pointers,
            "graph",
            "graph reads pointers, but pointers is none",
        )?;
        require(
            forcing == Forcing::Teacher || self.owns_pointers(),
            "forcing",
            "forcing is not \"teacher\", but the model has no pointers of its own",
        )?;
        require(
            forcing != Forcing::Own || pointers == Pointers::Masked,
            "forcing",
            "forcing = \"own\" uses the true masks; expected pointers = \"masked\"",
        )?;
        require(
            (losses.dgm > 0.0) == (forcing == Forcing::Sampled),
            "losses.dgm",
            "losses.dgm > 0 requires forcing = \"sampled\", and the other way round",
        )?;
        require(
            losses.dgm == 0.0 || losses.pointers == 0.0,
            "losses.dgm",
            "losses.dgm replaces losses.pointers; expected one of them to be 0",
        )?;
        require(
            !features.contains(&Feature::SelfPointing) || has_pointers,
            "inputs",
            "inputs has \"self-pointing\", which requires pointers; pointers is none",
        )?;
        let among_visited = candidates == Candidates::Visited;
        require(
            !among_visited || self.has_masks(),
            "candidates",
            "candidates = \"visited\" requires a model with masks",
        )?;
        require(
            !among_visited || pointers != Pointers::Every,
            "candidates",
            "candidates = \"visited\" requires pointers = \"masked\", not \"every\"",
        )?;
        require(
            (1..=MOST_LAYERS).contains(&layers),
            "layers",
            format!("layers is {layers}; expected from 1 to {MOST_LAYERS}"),
        )?;
        match self.test_layers {
            TestLayers::Training => {}
            TestLayers::Nodes(base) => require(
                base >= 2,
                "test_layers.nodes",
                format!("test_layers.nodes is {base}; expected at least 2"),
            )?,
            TestLayers::Depth(base) => {
                let what = format!("test_layers.depth is {base}; expected at least 1");
                require(base >= 1, "test_layers.depth", what)?;
                let what = "test_layers.depth reads pointers, but pointers is none";
                require(has_pointers, "test_layers.depth", what)?;
            }
        }
        require(
            !self.pointer_processor || self.has_masks() || self.has_attention(),
            "pointer_processor",
            "pointer_processor requires a model with masks or pointers of its own",
        )?;
        let types = pointer_types.len();
        require(
            self.channels() <= MOST_CHANNELS,
            "pointer_types",
            format!(
                "pointer_types has {types} entries; expected at most {} here",
                (types + MOST_CHANNELS).saturating_sub(self.channels())
            ),
        )?;
        let again = |(i, name): (usize, &String)| pointer_types[..i].contains(name);
        require(
            !pointer_types.iter().enumerate().any(again),
            "pointer_types",
            "pointer_types names a field twice; expected each once",
        )?;
        require(
            types == 0 || reads_pointers && forcing != Forcing::Sampled,
            "pointer_types",
            "pointer_types needs a graph that reads pointers, and pointers that are not sampled",
        )?;
        require(
            types == 0 || !among_visited,
            "pointer_types",
            "pointer_types may aim at nodes that are not visited, but candidates is visited",
        )?;
        require(
            is_default(&self.input_graph) || reads_pointers,
            "input_graph",
            "input_graph goes beside pointers, but the graph does not read them",
        )?;
        self.iterated().map_or(Ok(()), |settings| settings.validate(self))
    }
}
