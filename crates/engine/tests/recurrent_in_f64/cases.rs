//! Configs, weights and sequences to compare on.

use pgn_engine::{
    AttentionInput, Candidates, Config, Forcing, LossWeights, Parameters, Pointers, ProcessorKind,
};
use pgn_structures::{Dataset, Feature, Operation, Rng, Sampling, Split, Stream, Task};

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
    let fresh = |config: Config| Config { processor: ProcessorKind::Memoryless, ..config };
    let every_feature = vec![
        Feature::SelfPointing,
        Feature::First,
        Feature::Priority,
        Feature::Second,
        Feature::Operated,
    ];
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
        ("dgm with every feature", Config { features: every_feature, ..preset("dgm") }),
        (
            "gnn with u and v apart",
            Config { features: vec![Feature::First, Feature::Second], ..preset("gnn") },
        ),
        ("pgn with loss weights", Config { losses: weights, ..preset("pgn") }),
        ("pgn-mo with all losses", Config { losses: weights, ..preset("pgn-mo") }),
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
        ("supgnn without masks", {
            let losses = LossWeights { masks: 0.0, ..weights };
            Config { losses, ..preset("supgnn") }
        }),
    ];
    list.map(|(name, config)| (name.to_owned(), config)).into()
}

/// Weights as a model starts with, but for biases that are not 0 and queries that are longer, so
/// that scores differ by more than rounding.
pub fn weights(config: &Config, seed: u64) -> Parameters {
    let mut parameters = Parameters::initial(config, seed);
    let mut rng = Rng::new([seed, Stream::Weights.number(), 1000, 0]);
    for name in ["encoder.bias", "message.bias", "update.bias", "decoder.bias", "mask.bias"] {
        if let Some(values) = parameters.get_mut(name) {
            values.iter_mut().for_each(|value| *value = 0.6 * rng.unit_f32() - 0.3);
        }
    }
    if let Some(values) = parameters.get_mut("query.weight") {
        values.iter_mut().for_each(|value| *value *= 3.0);
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
        operations: vec![Operation { u: 0, v: 0 }; ops],
        answers: (0..ops).map(|t| (t % 2) as u8).collect(),
        masks: (0..ops).map(|t| (t / 2 % 2) as u8).collect(),
        pointers: vec![0; ops],
        fields: Default::default(),
    }
}
