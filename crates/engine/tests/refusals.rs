//! Input that does not fit is refused with a sentence that says what was found and what was
//! expected; never a panic.

use pgn_engine::{
    Aggregation, Candidates, Config, Error, Example, Forcing, Graph, InputGraph, LossWeights,
    Model, Parameters, TestLayers, Trainer, TrainerOptions,
};
use pgn_structures::{Feature, Operation, Sequence};

fn preset(name: &str) -> Config {
    Config { k: 8, ..Config::preset(name).unwrap() }
}

/// Two operations on three nodes.
fn sequence() -> Sequence<'static> {
    Sequence {
        priorities: &[0.1, 0.2, 0.3],
        operations: const { &[Operation::new(0, 1), Operation::new(2, 1)] },
        answers: &[1, 0],
        masks: &[0, 0, 1, 1, 0, 0],
        pointers: &[1, 1, 2, 1, 1, 1],
        fields: Default::default(),
        edges: &[],
    }
}

#[test]
fn configs() {
    let pgn = preset("pgn");
    let losses = pgn.losses;
    let with = |losses: LossWeights| Config { losses, ..preset("pgn") };
    let cases = [
        (Config { k: 0, ..pgn.clone() }, "k is 0; expected a multiple of 8 from 8 to 256"),
        (Config { k: 12, ..pgn.clone() }, "k is 12; expected a multiple of 8"),
        (Config { k: 264, ..pgn.clone() }, "k is 264; expected a multiple of 8 from 8 to 256"),
        (Config { features: vec![], ..pgn.clone() }, "inputs is empty"),
        (with(LossWeights { query: -1.0, ..losses }), "weight of the query loss is -1"),
        (with(LossWeights { pointers: f32::NAN, ..losses }), "weight of the pointers loss is NaN"),
        (with(LossWeights { masks: f32::INFINITY, ..losses }), "weight of the masks loss is inf"),
        (with(LossWeights { dgm: -0.5, ..losses }), "weight of the dgm loss is -0.5"),
        (Config { visited_weight: 0.0, ..pgn.clone() }, "visited_weight is 0; expected a finite"),
        (Config { visited_weight: f32::NAN, ..pgn.clone() }, "visited_weight is NaN; expected"),
        (
            Config { graph: Graph::Symmetric, ..preset("gnn") },
            "graph reads pointers, but pointers is none",
        ),
        (
            Config { graph: Graph::Directed, ..preset("supgnn") },
            "graph reads pointers, but pointers is none",
        ),
        (
            Config { forcing: Forcing::Own, ..preset("oracle-ptrs") },
            "the model has no pointers of its own",
        ),
        (Config { forcing: Forcing::Own, ..preset("pgn-nm") }, "expected pointers = \"masked\""),
        (
            Config { forcing: Forcing::Free, ..preset("oracle-ptrs") },
            "the model has no pointers of its own",
        ),
        (
            Config { forcing: Forcing::Sampled, ..preset("pgn") },
            "losses.dgm > 0 requires forcing = \"sampled\"",
        ),
        (with(LossWeights { dgm: 1.0, ..losses }), "losses.dgm > 0 requires forcing = \"sampled\""),
        (
            Config { losses: LossWeights { dgm: 1.0, ..losses }, ..preset("dgm") },
            "losses.dgm replaces losses.pointers",
        ),
        (
            Config { features: vec![Feature::SelfPointing], ..preset("gnn") },
            "requires pointers; pointers is none",
        ),
        (
            Config { candidates: Candidates::Visited, ..preset("pgn-nm") },
            "candidates = \"visited\" requires a model with masks",
        ),
        (
            Config {
                candidates: Candidates::Visited,
                losses: LossWeights { masks: 1.0, ..losses },
                ..preset("pgn-nm")
            },
            "candidates = \"visited\" requires pointers = \"masked\"",
        ),
        (Config { layers: 0, ..pgn.clone() }, "layers is 0; expected from 1 to 64"),
        (Config { layers: 65, ..pgn.clone() }, "layers is 65; expected from 1 to 64"),
        (
            Config { test_layers: TestLayers::Nodes(1), ..pgn.clone() },
            "test_layers.nodes is 1; expected at least 2",
        ),
        (
            Config { test_layers: TestLayers::Depth(0), ..pgn.clone() },
            "test_layers.depth is 0; expected at least 1",
        ),
        (
            Config { test_layers: TestLayers::Depth(2), ..preset("gnn") },
            "test_layers.depth reads pointers, but pointers is none",
        ),
        (
            Config { pointer_processor: true, ..preset("oracle-ptrs") },
            "pointer_processor requires a model with masks or pointers",
        ),
        (
            Config { pointer_types: vec!["a".into(), "a".into()], ..pgn.clone() },
            "pointer_types names a field twice",
        ),
        (
            Config { pointer_types: ["a", "b", "c", "d"].map(String::from).into(), ..pgn.clone() },
            "pointer_types has 4 entries; expected at most 3",
        ),
        (
            Config {
                pointer_types: vec!["left".into()],
                candidates: Candidates::Visited,
                ..pgn.clone()
            },
            "pointer_types may aim at nodes that are not visited",
        ),
        (
            Config { pointer_types: vec!["left".into()], ..preset("dgm") },
            "pointers that are not sampled",
        ),
        (
            Config { input_graph: InputGraph::Channel, ..preset("gnn") },
            "input_graph goes beside pointers",
        ),
        (Config { layers: 2, ..Config::preset("pgn-exact").unwrap() }, "an iterated one has steps"),
        (
            Config {
                message_aggregation: Aggregation::Sum,
                ..Config::preset("pgn-exact").unwrap()
            },
            "an iterated processor requires message_aggregation",
        ),
        (
            Config { input_graph: InputGraph::Edges, ..Config::preset("pgn-exact").unwrap() },
            "an iterated processor has one pointer per node and no input graph",
        ),
    ];
    for (config, expected) in cases {
        let message = config.validate().unwrap_err().to_string();
        assert!(message.starts_with("invalid model config: "), "{message}");
        assert!(message.contains(expected), "'{message}' does not say '{expected}'");
        assert_eq!(Model::new(config, 0).unwrap_err().to_string(), message);
    }
    for name in Config::PRESETS {
        assert!(preset(name).validate().is_ok());
    }
    let unknown = Config::preset("pgnn").unwrap_err().to_string();
    assert!(unknown.contains("'pgnn'") && unknown.contains("pgn-asym"), "{unknown}");
}

#[test]
fn sequences() {
    let fine = sequence();
    let op = |u, v| Operation::new(u, v);
    let (beyond, twice) = ([op(0, 1), op(2, 3)], [op(0, 1), op(2, 2)]);
    let cases = [
        (Sequence { priorities: &[], ..fine }, "no nodes; expected at least 1"),
        (Sequence { answers: &[1], ..fine }, "has 1 answers; expected 2"),
        (Sequence { masks: &fine.masks[1..], ..fine }, "has 5 masks; expected 6"),
        (Sequence { pointers: &[], ..fine }, "has 0 pointers; expected 6"),
        (Sequence { pointers: &[1, 1, 2, 1, 1, 3], ..fine }, "node 3; expected a node below 3"),
        (Sequence { operations: &beyond, ..fine }, "names node 3; expected a node below 3"),
        (Sequence { operations: &twice, ..fine }, "(2, 2) names one node twice"),
        (Sequence { answers: &[0, 2], ..fine }, "the answer 2; expected 0 or 1"),
        (Sequence { masks: &[0, 0, 1, 7, 0, 0], ..fine }, "the mask 7; expected 0 or 1"),
        (Sequence { priorities: &[0.1, f32::NAN, 0.2], ..fine }, "priority is NaN"),
        (Sequence { priorities: &[0.1, f32::INFINITY, 0.2], ..fine }, "priority is inf"),
    ];
    for name in Config::PRESETS {
        let model = Model::new(preset(name), 0).unwrap();
        let trainer = Trainer::new(model.clone(), TrainerOptions::default()).unwrap();
        let fine = Example::oracle(model.config(), fine);
        trainer.gradients(&[fine]).unwrap();
        model.rollout(fine).unwrap();
        for (bad, expected) in cases {
            let bad = Example::oracle(model.config(), bad);
            for message in [
                trainer.gradients(&[fine, bad]).unwrap_err().to_string(),
                model.rollout(bad).unwrap_err().to_string(),
                model.rollouts(&[fine, bad]).unwrap_err().to_string(),
            ] {
                assert!(message.contains(expected), "'{message}' does not say '{expected}'");
            }
        }
    }
}

#[test]
fn structures_in_use() {
    let model = Model::new(preset("oracle-ptrs"), 0).unwrap();
    assert!(model.start(0).is_err());
    assert!(model.start_with(&[]).unwrap_err().to_string().contains("0 nodes"));
    let nan = model.start_with(&[0.5, f32::NAN]).unwrap_err().to_string();
    assert!(nan.contains("a priority is NaN; expected a finite number"), "{nan}");
    let mut state = model.start(4).unwrap();
    let before = state.clone();
    for (operation, expected) in [
        (Operation::new(4, 0), "names node 4; expected nodes below 4"),
        (Operation::new(0, u32::MAX), "names node 4294967295; expected nodes below 4"),
        (Operation::new(2, 2), "(2, 2) names one node twice"),
    ] {
        let message = state.apply(operation).unwrap_err().to_string();
        assert!(message.contains(expected), "'{message}' does not say '{expected}'");
    }
    for pointers in [&[0, 1, 2][..], &[0, 1, 2, 4], &[0; 5]] {
        let message = state.set_pointers(pointers).unwrap_err().to_string();
        assert!(message.contains("expected 4 nodes, each below 4"), "{message}");
    }
    assert_eq!(state.latents(), before.latents(), "what was refused left no trace");
    assert_eq!(state.pointers(), before.pointers());
    assert!(state.attention(0).is_none(), "this model has no attention");
    let model = Model::new(preset("pgn"), 0).unwrap();
    assert!(model.start(4).unwrap().attention(4).is_none(), "there is no node 4");
}

#[test]
fn training_options() {
    let model = Model::new(preset("pgn"), 0).unwrap();
    let default = TrainerOptions::default();
    for learning_rate in [f32::NAN, f32::INFINITY, -0.1] {
        let options = TrainerOptions { learning_rate, ..default };
        let message = Trainer::new(model.clone(), options).unwrap_err().to_string();
        assert!(message.contains("the learning rate is"), "{message}");
        let mut trainer = Trainer::new(model.clone(), default).unwrap();
        let later = trainer.set_learning_rate(learning_rate).unwrap_err();
        assert_eq!(later.to_string(), message);
    }
    for clip in [0.0, -1.0, f32::NAN] {
        let options = TrainerOptions { clip: Some(clip), ..default };
        let message = Trainer::new(model.clone(), options).unwrap_err().to_string();
        assert!(message.contains("expected a number above 0"), "{message}");
    }
    let free = Model::new(preset("pgn-free"), 0).unwrap();
    for (model, teacher_probability, what) in [
        (&free, -0.1, "expected a number from 0 to 1"),
        (&free, 1.1, "expected a number from 0 to 1"),
        (&free, f32::NAN, "expected a number from 0 to 1"),
        (&model, 0.5, "needs a model with forcing own or free"),
    ] {
        let options = TrainerOptions { teacher_probability, ..default };
        let message = Trainer::new(model.clone(), options).unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
        let mut trainer = Trainer::new(model.clone(), default).unwrap();
        let later = trainer.set_teacher_probability(teacher_probability).unwrap_err();
        assert_eq!(later.to_string(), message);
    }
    let state = Trainer::new(model, default).unwrap().state();
    let model = |name| Model::new(preset(name), 0).unwrap();
    assert!(Trainer::resume(model("gnn"), default, state.clone()).is_err());
    let moments = Parameters::zeros(&preset("gnn"));
    let mixed = pgn_engine::TrainerState { first_moment: moments, ..state.clone() };
    assert!(Trainer::resume(model("pgn"), default, mixed).is_err());
    assert!(Trainer::resume(model("pgn"), default, state).is_ok());
}

/// An error about a config has the key of the setting as data.
#[test]
fn config_errors_have_a_key() {
    let losses = LossWeights { masks: -1.0, ..preset("pgn").losses };
    for (config, expected) in [
        (Config { k: 7, ..preset("pgn") }, "k"),
        (Config { losses, ..preset("pgn") }, "losses.masks"),
        (Config { layers: 0, ..preset("pgn") }, "layers"),
        (Config { layers: 2, ..preset("pgn-exact") }, "processor"),
    ] {
        match config.validate() {
            Err(Error::InvalidConfig { key, .. }) => assert_eq!(key, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

/// An empty batch takes no step of Adam.
#[test]
fn empty_batches() {
    for name in ["pgn", "pgn-exact"] {
        let model = Model::new(preset(name), 0).unwrap();
        let mut trainer = Trainer::new(model, TrainerOptions::default()).unwrap();
        let before = trainer.state();
        assert_eq!(trainer.step::<Example>(&[]).unwrap().total, 0.0);
        if name == "pgn-exact" {
            assert_eq!(trainer.step_on(&[]).unwrap().total, 0.0);
        }
        assert_eq!(trainer.state(), before, "{name}");
    }
}
