//! The space of models: the paper's ten are points in it.
//!
//! A [`Config`] says what the processor reads, where pointers come from, how they are re-aimed,
//! and which losses are on. Names are in [`crate::Preset`].

use pgn_structures::Feature;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Initialisation, Iterated, LossWeights, ProcessorKind, aggregation::Aggregation,
};

/// Which nodes send a message to a node (equation 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
pub enum Forcing {
    /// The ground truth's: teacher forcing, as in the paper.
    Teacher,
    /// The model's own argmax, under the ground truth's masks (`pgn-mo`).
    Own,
    /// Sampled from α by adding Gumbel noise to the scores (`dgm`).
    Sampled,
}

/// What the query and key networks of equation 6 read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttentionInput {
    /// h, to the letter of equation 6.
    H,
    /// \[z ‖ h\], as the note in appendix A suggests.
    Zh,
}

/// The nodes a pointer may be aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Candidates {
    /// Any node.
    All,
    /// Nodes with mask 0, or the node itself.
    Visited,
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
    /// Loss weights.
    pub losses: LossWeights,
    /// How initial weights are drawn.
    #[serde(default, skip_serializing_if = "Initialisation::is_default")]
    pub initialisation: Initialisation,
    /// How latents are computed; the paper's way unless said otherwise.
    #[serde(default, skip_serializing_if = "ProcessorKind::is_paper")]
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

    /// Whether there is a masking network ψ (equation 4).
    pub fn has_masks(&self) -> bool {
        self.pointers == Pointers::Masked || self.losses.masks > 0.0
    }

    /// Whether masks decide which pointers are re-aimed.
    pub(crate) fn heeds_masks(&self) -> bool {
        self.has_masks() && self.pointers != Pointers::Every
    }

    /// How a node's messages become one (equation 8).
    pub fn message_aggregation(&self) -> Aggregation {
        Aggregation::Max
    }

    /// How the nodes become what the decoder reads (equation 3).
    pub fn readout_aggregation(&self) -> Aggregation {
        Aggregation::Max
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
        let invalid = |what: String| Err(Error::InvalidConfig(what));
        if !(8..=256).contains(&self.k) || !self.k.is_multiple_of(8) {
            return invalid(format!("k is {}; expected a multiple of 8 from 8 to 256", self.k));
        }
        if self.features.is_empty() {
            return invalid("inputs is empty; expected at least one feature".into());
        }
        self.losses.validate()?;
        let LossWeights { pointers, dgm, .. } = self.losses;
        let reads_pointers = matches!(self.graph, Graph::Symmetric | Graph::Directed);
        if reads_pointers && self.pointers == Pointers::None {
            return invalid("the graph reads pointers, but pointers is none".into());
        }
        if self.forcing != Forcing::Teacher && !self.owns_pointers() {
            return invalid(
                "forcing is not teacher, but the model has no pointers of its own".into(),
            );
        }
        if self.forcing == Forcing::Own && self.pointers != Pointers::Masked {
            return invalid(
                "forcing own takes the truth's masks, so pointers must be masked".into(),
            );
        }
        if (dgm > 0.0) != (self.forcing == Forcing::Sampled) {
            return invalid("the dgm loss and sampled forcing go together".into());
        }
        if dgm > 0.0 && pointers > 0.0 {
            return invalid(
                "the dgm loss replaces the pointers loss; expected one of the two".into(),
            );
        }
        if self.features.contains(&Feature::SelfPointing) && self.pointers == Pointers::None {
            return invalid("the self-pointing input reads pointers, but pointers is none".into());
        }
        if self.candidates == Candidates::Visited && !self.has_masks() {
            return invalid("candidates visited needs masks, which this model has not".into());
        }
        if self.candidates == Candidates::Visited && self.pointers == Pointers::Every {
            return invalid(
                "candidates visited needs pointers that heed masks, but pointers is every".into(),
            );
        }
        match self.iterated() {
            Some(settings) => settings.validate(self),
            None => Ok(()),
        }
    }
}
