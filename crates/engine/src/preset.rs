//! Models by name: a table. Nothing else in the project compares a model's name with a string to
//! decide what to do.

use pgn_structures::Feature;

use crate::{
    Aggregation, AttentionInput, Candidates, Config, Error, Forcing, Graph, Initialisation,
    InputGraph, Iterated, LossWeights, Pointers, ProcessorKind, TestLayers,
};

/// Where the pointers come from that a model with [`Pointers::Given`] is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PointerSource {
    /// It is given none.
    None,
    /// The ground truth's.
    Truth,
    /// Those of a trained model's free rollouts; usually one of the preset named here.
    Teacher(&'static str),
}

/// A model with a name.
///
/// ```
/// use pgn_engine::{PointerSource, Preset};
/// let student = Preset::named("pgn-ptrs")?;
/// assert_eq!(student.given, PointerSource::Teacher("pgn"));
/// assert_eq!(student.config(), Preset::named("oracle-ptrs")?.config());
/// # Ok::<(), pgn_engine::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// What users call it.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether it is one of the paper's models.
    pub in_paper: bool,
    /// Where the pointers come from that it is given.
    pub given: PointerSource,
    config: fn() -> Config,
}

impl Preset {
    /// All presets: the paper's in the order of its tables, then ours.
    pub const ALL: &[Preset] = &[
        Preset {
            name: "gnn",
            summary: "messages between all pairs of nodes; no pointers",
            config: || Config { graph: Graph::Complete, ..without_pointers() },
            ..PAPER
        },
        Preset {
            name: "deepsets",
            summary: "no messages between nodes; no pointers",
            config: || Config { graph: Graph::SelfOnly, ..without_pointers() },
            ..PAPER
        },
        Preset {
            name: "pgn-nm",
            summary: "pgn without masks: every pointer is re-aimed at every operation",
            // With h alone it stays further below the paper (results/studies/recipe.md).
            config: || Config { attention_input: AttentionInput::Zh, ..pgn_nm() },
            ..PAPER
        },
        Preset {
            name: "pgn",
            summary: "the pointer graph network: messages along its own pointers, masked updates",
            config: pgn,
            ..PAPER
        },
        Preset {
            name: "pgn-ptrs",
            summary: "messages along the pointers of a trained pgn's free rollouts",
            config: with_given_pointers,
            given: PointerSource::Teacher("pgn"),
            ..PAPER
        },
        Preset {
            name: "oracle-ptrs",
            summary: "messages along the ground truth's pointers, at test time too",
            config: with_given_pointers,
            given: PointerSource::Truth,
            ..PAPER
        },
        Preset {
            name: "supgnn",
            summary: "gnn that is also trained to predict masks and pointers",
            config: || Config { graph: Graph::Complete, pointers: Pointers::None, ..pgn() },
            ..PAPER
        },
        Preset {
            name: "dgm",
            summary: "pointers sampled from attention, trained by the DGM reward (Kazi et al. 2020)",
            config: || Config {
                pointers: Pointers::Every,
                forcing: Forcing::Sampled,
                losses: LossWeights { dgm: 1.0, ..QUERY_LOSS },
                visited_weight: 1.0,
                ..pgn()
            },
            ..PAPER
        },
        Preset {
            name: "pgn-mo",
            summary: "pgn with supervised masks only: it reads its own pointers in training too",
            config: || Config {
                forcing: Forcing::Own,
                losses: LossWeights { pointers: 0.0, ..ALL_LOSSES },
                ..pgn()
            },
            ..PAPER
        },
        Preset {
            name: "pgn-asym",
            summary: "pgn whose messages flow only from the node pointed to",
            config: pgn_asym,
            ..PAPER
        },
        Preset {
            name: "pgn-free",
            summary: "pgn that reads its own masks and pointers in training too",
            config: || free(pgn()),
            ..OURS
        },
        Preset {
            name: "pgn-free-2",
            summary: "pgn-free with two processor layers per operation",
            config: || Config { layers: 2, ..free(pgn()) },
            ..OURS
        },
        Preset {
            name: "pgn-nm-free",
            summary: "pgn-nm that reads its own pointers in training too",
            config: || free(pgn_nm()),
            ..OURS
        },
        Preset {
            name: "pgn-asym-free",
            summary: "pgn-asym that reads its own masks and pointers in training too",
            config: || free(pgn_asym()),
            ..OURS
        },
        Preset {
            name: "pgn-ptrs-free",
            summary: "messages along the pointers of a trained pgn-free's free rollouts",
            config: with_given_pointers,
            given: PointerSource::Teacher("pgn-free"),
            ..OURS
        },
        Preset {
            name: Config::EXACT,
            summary: "many processor steps per operation, trained on single operations; exact on \
                      structures without hidden state",
            config: || Config {
                features: Feature::ORDERED.to_vec(),
                attention_input: AttentionInput::Zh,
                candidates: Candidates::Visited,
                losses: LossWeights { query: 1.0, pointers: 16.0, masks: 4.0, dgm: 0.0 },
                visited_weight: 1.0,
                processor: ProcessorKind::Iterated(Iterated::default()),
                ..pgn()
            },
            ..OURS
        },
    ];

    /// The preset of that name.
    pub fn named(name: &str) -> Result<&'static Preset, Error> {
        Preset::ALL.iter().find(|preset| preset.name == name).ok_or_else(|| Error::UnknownModel {
            name: name.to_owned(),
            known: Preset::ALL.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// The preset whose pointers the model of that name is given, if it is one that has a teacher.
    pub fn teacher_of(name: &str) -> Option<&'static str> {
        match Preset::named(name).ok()?.given {
            PointerSource::Teacher(teacher) => Some(teacher),
            _ => None,
        }
    }

    /// Its config.
    pub fn config(&self) -> Config {
        (self.config)()
    }
}

impl Config {
    /// The names of the paper's models, in the order of the paper's tables.
    pub const PRESETS: &[&'static str] = &{
        let mut names = [""; 10];
        let (mut from, mut to) = (0, 0);
        while from < Preset::ALL.len() {
            if Preset::ALL[from].in_paper {
                names[to] = Preset::ALL[from].name;
                to += 1;
            }
            from += 1;
        }
        names
    };

    /// The preset that executes a structure exactly: [`ProcessorKind::Iterated`], trained on
    /// transitions.
    pub const EXACT: &'static str = "pgn-exact";

    /// The config of a [`Preset`], by name.
    pub fn preset(name: &str) -> Result<Config, Error> {
        Ok(Preset::named(name)?.config())
    }
}

/// What the paper's presets have in common.
const PAPER: Preset =
    Preset { name: "", summary: "", in_paper: true, given: PointerSource::None, config: pgn };

/// And the others.
const OURS: Preset = Preset { in_paper: false, ..PAPER };

const QUERY_LOSS: LossWeights = LossWeights { query: 1.0, pointers: 0.0, masks: 0.0, dgm: 0.0 };

/// Chosen on seeds that are in no table (results/studies/recipe.md), as is [`VISITED_WEIGHT`].
const ALL_LOSSES: LossWeights = LossWeights { pointers: 5.0, masks: 1.0, ..QUERY_LOSS };

/// Visited nodes are 2 to 23 % of all: counted once, a model does best to visit few.
const VISITED_WEIGHT: f32 = 3.0;

fn pgn() -> Config {
    Config {
        k: 32,
        features: Feature::PAPER.to_vec(),
        graph: Graph::Symmetric,
        pointers: Pointers::Masked,
        forcing: Forcing::Teacher,
        attention_input: AttentionInput::H,
        candidates: Candidates::All,
        message_aggregation: Aggregation::Max,
        readout_aggregation: Aggregation::Max,
        layers: 1,
        test_layers: TestLayers::Training,
        pointer_processor: false,
        pointer_types: Vec::new(),
        input_graph: InputGraph::None,
        losses: ALL_LOSSES,
        visited_weight: VISITED_WEIGHT,
        initialisation: Initialisation::default(),
        processor: ProcessorKind::Recurrent,
    }
}

fn pgn_nm() -> Config {
    Config {
        pointers: Pointers::Every,
        losses: LossWeights { masks: 0.0, ..ALL_LOSSES },
        visited_weight: 1.0,
        ..pgn()
    }
}

fn pgn_asym() -> Config {
    Config { graph: Graph::Directed, ..pgn() }
}

/// Models that read their own pointers in training recover from errors anyway. With weighted masks
/// the heavier pointer loss of `pgn` lowers their F₁ on link/cut trees, and on disjoint sets it
/// makes hardly a difference (results/studies/recipe.md).
fn free(config: Config) -> Config {
    let losses = LossWeights { pointers: 1.0, ..config.losses };
    Config { forcing: Forcing::Free, losses, ..config }
}

fn without_pointers() -> Config {
    Config { pointers: Pointers::None, losses: QUERY_LOSS, visited_weight: 1.0, ..pgn() }
}

fn with_given_pointers() -> Config {
    Config { pointers: Pointers::Given, losses: QUERY_LOSS, visited_weight: 1.0, ..pgn() }
}
