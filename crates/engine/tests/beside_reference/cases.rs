//! Configs, weights and sequences to compare on.

use pgn_engine::{
    Aggregation, AttentionInput, Candidates, Config, Forcing, InputGraph, LossWeights, Parameters,
    Pointers, ProcessorKind, TestLayers,
};
use pgn_structures::{Dataset, Edge, Feature, Operation, Rng, Sampling, Split, Task};

/// The paper's ten models, and points between them that use every other setting: named, for
/// messages.
pub fn presets(k: usize) -> Vec<(String, Config)> {
    let named = |name: &&str| (name.to_string(), Config { k, ..Config::preset(name).unwrap() });
    Config::PRESETS.iter().map(named).collect()
}

/// Settings the paper's models leave alone.
pub fn variations(k: usize) -> Vec<(String, Config)> {
    let preset = |name: &str| Config { k, ..Config::preset(name).unwrap() };
    let zh = |config: Config| Config { attention_input: AttentionInput::Zh, ..config };
    let visited = |config: Config| Config { candidates: Candidates::Visited, ..config };
    let own = |config: Config| Config { forcing: Forcing::Own, ..config };
    let fresh = |config: Config| Config { processor: ProcessorKind::Memoryless, ..config };
    let every_feature = vec![
        Feature::SelfPointing,
        Feature::First,
        Feature::Priority,
        Feature::Second,
        Feature::Operated,
    ];
    let heard = |name: &str, how| Config { message_aggregation: how, ..preset(name) };
    let read = |name: &str, how| Config { readout_aggregation: how, ..preset(name) };
    let weights = LossWeights { query: 0.5, pointers: 2.0, masks: 0.25, dgm: 0.0 };
    let both = LossWeights { masks: 0.75, ..preset("dgm").losses };
    let list = [
        ("pgn reading [z ‖ h]", zh(preset("pgn"))),
        ("supgnn reading [z ‖ h]", zh(preset("supgnn"))),
        ("dgm reading [z ‖ h]", zh(preset("dgm"))),
        ("pgn that carries nothing", fresh(preset("pgn"))),
        ("gnn that carries nothing", fresh(preset("gnn"))),
        ("pgn aiming at visited nodes", visited(preset("pgn"))),
        ("pgn-mo aiming at visited nodes", visited(zh(preset("pgn-mo")))),
        ("supgnn aiming at visited nodes", visited(preset("supgnn"))),
        ("pgn with every feature", Config { features: every_feature.clone(), ..preset("pgn") }),
        ("dgm with every feature", Config { features: every_feature.clone(), ..preset("dgm") }),
        (
            "gnn with u and v apart",
            Config { features: vec![Feature::First, Feature::Second], ..preset("gnn") },
        ),
        ("pgn with loss weights", Config { losses: weights, ..preset("pgn") }),
        ("pgn with visited nodes weighted", Config { visited_weight: 3.0, ..preset("pgn") }),
        (
            "pgn-free with all weights",
            Config { losses: weights, visited_weight: 0.5, ..preset("pgn-free") },
        ),
        ("supgnn with visited nodes weighted", Config { visited_weight: 5.0, ..preset("supgnn") }),
        ("pgn-mo with all losses", Config { losses: weights, ..preset("pgn-mo") }),
        ("pgn on its own pointers", own(preset("pgn"))),
        ("pgn-asym on its own pointers", own(zh(preset("pgn-asym")))),
        ("pgn-free", preset("pgn-free")),
        ("pgn-free-2", preset("pgn-free-2")),
        ("pgn-nm-free", preset("pgn-nm-free")),
        ("pgn-asym-free", preset("pgn-asym-free")),
        ("pgn-free reading [z ‖ h]", zh(preset("pgn-free"))),
        ("pgn-free aiming at visited nodes", visited(preset("pgn-free"))),
        ("pgn-free that carries nothing", fresh(preset("pgn-free"))),
        ("pgn-free with every feature", {
            Config { features: every_feature.clone(), ..preset("pgn-free") }
        }),
        ("pgn-nm-free with masks", Config { losses: weights, ..preset("pgn-nm-free") }),
        ("pgn-mo-free", {
            Config { losses: LossWeights { pointers: 0.0, ..weights }, ..preset("pgn-free") }
        }),
        ("pgn-nm with masks", Config { losses: weights, ..preset("pgn-nm") }),
        ("pgn without the query loss", {
            let losses = LossWeights { query: 0.0, ..weights };
            Config { losses, ..preset("pgn") }
        }),
        ("dgm with masks", Config { losses: both, ..preset("dgm") }),
        (
            "masked dgm",
            Config {
                pointers: Pointers::Masked,
                forcing: Forcing::Sampled,
                losses: LossWeights { dgm: 3.0, ..both },
                ..visited(preset("dgm"))
            },
        ),
        ("pgn adding messages up", heard("pgn", Aggregation::Sum)),
        ("pgn averaging messages", heard("pgn", Aggregation::Mean)),
        ("pgn-asym averaging messages", heard("pgn-asym", Aggregation::Mean)),
        ("fresh gnn adding messages up", fresh(heard("gnn", Aggregation::Sum))),
        ("gnn averaging messages", heard("gnn", Aggregation::Mean)),
        ("pgn reading out a sum", read("pgn", Aggregation::Sum)),
        ("oracle-ptrs reading out a mean", read("oracle-ptrs", Aggregation::Mean)),
        (
            "deepsets with sums throughout",
            Config { message_aggregation: Aggregation::Sum, ..read("deepsets", Aggregation::Sum) },
        ),
        (
            "pgn-mo with a mean and a sum",
            Config { message_aggregation: Aggregation::Sum, ..read("pgn-mo", Aggregation::Mean) },
        ),
        ("pgn of two layers", Config { layers: 2, ..preset("pgn") }),
        (
            "supgnn of three layers, averaged",
            Config { layers: 3, ..heard("supgnn", Aggregation::Mean) },
        ),
        ("deepsets of two layers", Config { layers: 2, ..preset("deepsets") }),
        (
            "pgn of layers by size",
            Config { layers: 2, test_layers: TestLayers::Nodes(5), ..preset("pgn") },
        ),
        (
            "oracle-ptrs of layers by depth",
            Config { test_layers: TestLayers::Depth(1), ..preset("oracle-ptrs") },
        ),
        ("pgn with a pointer processor", Config { pointer_processor: true, ..preset("pgn") }),
        (
            "supgnn with a pointer processor of two layers",
            Config { pointer_processor: true, layers: 2, ..zh(preset("supgnn")) },
        ),
        ("dgm with a pointer processor", Config { pointer_processor: true, ..preset("dgm") }),
        ("supgnn without masks", {
            let losses = LossWeights { masks: 0.0, ..weights };
            Config { losses, ..preset("supgnn") }
        }),
    ];
    list.map(|(name, config)| (name.to_owned(), config)).into()
}

/// Settings that read more of a sequence than its learned pointers: further pointer types, of which
/// `lct` has two, and an input graph, which [`sample_for`] gives every task.
pub fn with_inputs(k: usize) -> Vec<(String, Config)> {
    let preset = |name: &str| Config { k, ..Config::preset(name).unwrap() };
    let typed =
        |config: Config| Config { pointer_types: vec!["left".into(), "right".into()], ..config };
    let graph = |input_graph, config: Config| Config { input_graph, ..config };
    let list = [
        ("pgn with left and right", typed(preset("pgn"))),
        (
            "pgn-asym with left and right, averaged",
            typed(Config { message_aggregation: Aggregation::Mean, ..preset("pgn-asym") }),
        ),
        ("pgn-nm with left and right", typed(preset("pgn-nm"))),
        ("oracle-ptrs with left and right", typed(preset("oracle-ptrs"))),
        ("pgn-free with left and right", typed(preset("pgn-free"))),
        (
            "pgn on its own left and right, reading [z ‖ h]",
            typed(Config {
                forcing: Forcing::Own,
                attention_input: AttentionInput::Zh,
                ..preset("pgn")
            }),
        ),
        ("pgn with edges", graph(InputGraph::Edges, preset("pgn"))),
        ("pgn-asym with edges", graph(InputGraph::Edges, preset("pgn-asym"))),
        ("pgn with a head for edges", graph(InputGraph::Channel, preset("pgn"))),
        ("pgn-free with a head for edges", graph(InputGraph::Channel, preset("pgn-free"))),
        (
            "heads of all kinds",
            graph(
                InputGraph::Channel,
                typed(Config {
                    pointer_processor: true,
                    readout_aggregation: Aggregation::Sum,
                    ..preset("pgn-free")
                }),
            ),
        ),
    ];
    list.map(|(name, config)| (name.to_owned(), config)).into()
}

/// A sequence that a model of this config can read.
pub fn sample_for(config: &Config, task: &str, nodes: usize, ops: usize, seed: u64) -> Dataset {
    if config.pointer_types.is_empty() && config.input_graph == InputGraph::None {
        return sample(task, nodes, ops, seed);
    }
    sample_with_inputs(nodes, ops, seed)
}

/// A sequence of a link/cut tree with its further fields, and an input graph.
fn sample_with_inputs(nodes: usize, ops: usize, seed: u64) -> Dataset {
    let mut set = sample("lct", nodes, ops, seed);
    set = set.with_fields(&Task::named("lct").unwrap()).unwrap();
    let mut rng = Rng::new([seed, nodes as u64, 1, 1]);
    set.edges = Edge::sample_graph(nodes as u32, nodes, &mut rng);
    set
}

/// Those of them that aim their own pointers in training.
pub fn aiming_in_training(k: usize) -> Vec<(String, Config)> {
    let mut all = variations(k);
    all.retain(|(_, config)| config.aims_in_training());
    all
}

/// Weights as a model starts with, but for biases that are not 0 and queries that are longer, so
/// that scores differ by more than rounding.
pub fn weights(config: &Config, seed: u64) -> Parameters {
    let mut parameters = Parameters::initial(config, seed);
    let mut rng = Rng::new([seed, 16, 1000, 0]);
    let first = ["encoder.bias", "message.bias", "update.bias", "decoder.bias", "mask.bias"];
    let mut biases: Vec<&'static str> =
        parameters.tensors().iter().map(|tensor| tensor.name).collect();
    biases.retain(|name| name.ends_with(".bias") && !first.contains(name));
    for name in first.into_iter().chain(biases) {
        if let Some(values) = parameters.get_mut(name) {
            values.iter_mut().for_each(|value| *value = 0.6 * rng.unit_f32() - 0.3);
        }
    }
    for name in ["query.weight", "query.2.weight", "query.3.weight"] {
        if let Some(values) = parameters.get_mut(name) {
            values.iter_mut().for_each(|value| *value *= 3.0);
        }
    }
    parameters
}

/// One sequence of a task. A single node has no pair of operands; it is its own.
pub fn sample(task: &str, nodes: usize, ops: usize, seed: u64) -> Dataset {
    let task = Task::named(task).unwrap();
    if nodes > 1 {
        let sampling = Sampling { nodes, ops, count: 1, seed, split: Split::Test };
        return Dataset::sample(&task, &sampling).unwrap();
    }
    Dataset {
        task: task.name().to_owned(),
        seed,
        split: Split::Test,
        nodes,
        ops,
        priorities: vec![Rng::new([seed, 0, 0, 0]).unit_f32()],
        operations: vec![Operation::new(0, 0); ops],
        answers: (0..ops).map(|t| (t % 2) as u8).collect(),
        masks: (0..ops).map(|t| (t / 2 % 2) as u8).collect(),
        pointers: vec![0; ops],
        fields: Default::default(),
        edges: Vec::new(),
    }
}
