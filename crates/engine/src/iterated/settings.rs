//! The choices that make an iterated processor.

use serde::{Deserialize, Serialize};

use crate::{
    AttentionInput, Candidates, Config, Error, Forcing, Graph, Pointers, config::is_default,
    error::require,
};

/// Who sends a node messages, each kind with a message function of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The node it points to (for a root, itself).
    Parent,
    /// The nodes that point to it, itself excepted; the strongest counts.
    Children,
    /// Every node that takes part; the strongest counts.
    Global,
}

impl Relation {
    /// All of them, in the order of the columns of `update.weight`.
    pub const ALL: [Relation; 3] = [Relation::Parent, Relation::Children, Relation::Global];

    /// The name of its tensors in `model.safetensors`.
    pub(crate) fn tensors(self) -> [&'static str; 2] {
        match self {
            Relation::Parent => ["parent.weight", "parent.bias"],
            Relation::Children => ["children.weight", "children.bias"],
            Relation::Global => ["global.weight", "global.bias"],
        }
    }
}

/// Which nodes take part in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Participants {
    /// u and v, and from the step after it was reached whatever a participant points to. All
    /// others send nothing, and have mask 1.
    Reached,
    /// All nodes, from the first step on.
    All,
}

/// The settings of [`ProcessorKind::Iterated`](crate::ProcessorKind::Iterated).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iterated {
    /// Processor steps per operation while training, and the least a rollout may take.
    pub steps: usize,
    /// While training, transition i of a batch takes i mod (`more_steps` + 1) steps more: a model
    /// that is done has to learn to stay done.
    pub more_steps: usize,
    /// How many more a rollout may take for every step that reached a new node. It stops sooner
    /// when nothing changes any more.
    pub steps_per_depth: usize,
    /// Which relations send messages.
    pub relations: Vec<Relation>,
    /// Where x is cut off; absent for a plain ReLU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<f32>,
    /// Which nodes take part.
    pub participants: Participants,
    /// Whether pointer scores have a bias by relation: self, parent, child, u, v.
    pub relation_biases: bool,
    /// Whether "j has the higher priority than i" is one of these relations: exact, where two
    /// priorities that a network has read differ by a rounding error. What a task defaults to whose
    /// structure compares priorities.
    #[serde(default, skip_serializing_if = "is_default")]
    pub compare_priorities: bool,
}

impl Default for Iterated {
    fn default() -> Self {
        Iterated {
            steps: 24,
            more_steps: 24,
            steps_per_depth: 4,
            relations: Relation::ALL.to_vec(),
            cap: Some(6.0),
            participants: Participants::Reached,
            relation_biases: true,
            compare_priorities: false,
        }
    }
}

impl Iterated {
    /// How many relations pointer scores have a bias for.
    pub(crate) fn biases(&self) -> usize {
        match (self.relation_biases, self.compare_priorities) {
            (false, _) => 0,
            (true, false) => 5,
            (true, true) => 6,
        }
    }

    /// Processor steps of transition number `index` of a batch, while training.
    pub(crate) fn steps_in_training(&self, index: usize) -> usize {
        self.steps + index % (self.more_steps + 1)
    }

    /// Whether these settings and the rest of the config go together.
    pub(crate) fn validate(&self, config: &Config) -> Result<(), Error> {
        require(
            (1..=4096).contains(&self.steps),
            "processor.iterated.steps",
            "processor.iterated.steps is out of range; expected 1 to 4096",
        )?;
        require(
            self.more_steps <= 4096,
            "processor.iterated.more_steps",
            "processor.iterated.more_steps is too large; expected at most 4096",
        )?;
        require(
            self.steps_per_depth <= 64,
            "processor.iterated.steps_per_depth",
            "processor.iterated.steps_per_depth is too large; expected at most 64",
        )?;
        let order = |relation: &Relation| Relation::ALL.iter().position(|one| one == relation);
        require(
            !self.relations.is_empty() && self.relations.is_sorted_by(|a, b| order(a) < order(b)),
            "processor.iterated.relations",
            "processor.iterated.relations: expected one or more of parent, children and global, in \
             this order",
        )?;
        require(
            self.cap.is_none_or(|cap| cap.is_finite() && cap > 0.0),
            "processor.iterated.cap",
            "processor.iterated.cap: expected a finite number above 0",
        )?;
        require(
            config.graph == Graph::Symmetric
                && config.pointers == Pointers::Masked
                && config.forcing == Forcing::Teacher
                && config.attention_input == AttentionInput::Zh
                && config.losses.dgm == 0.0,
            "processor",
            "an iterated processor needs graph symmetric, pointers masked, forcing teacher, \
             attention_input zh and no dgm loss",
        )?;
        require(
            config.layers == 1 && is_default(&config.test_layers) && !config.pointer_processor,
            "processor",
            "layers, test_layers and pointer_processor are settings of the paper's processor; an \
             iterated one has steps",
        )?;
        require(
            config.pointer_types.is_empty() && is_default(&config.input_graph),
            "processor",
            "an iterated processor has one pointer per node and no input graph",
        )?;
        require(
            is_default(&config.message_aggregation) && is_default(&config.readout_aggregation),
            "processor",
            "an iterated processor requires message_aggregation and readout_aggregation max",
        )?;
        require(
            self.relation_biases || !self.compare_priorities,
            "processor.iterated.compare_priorities",
            "processor.iterated.compare_priorities requires relation_biases",
        )?;
        require(
            self.participants == Participants::All || config.candidates == Candidates::Visited,
            "processor.iterated.participants",
            "participants = \"reached\" requires candidates = \"visited\": other nodes have no keys",
        )
    }
}
