//! The iterated processor against its definition in plain f64: losses, every gradient by finite
//! differences, and free rollouts; and what a rollout must not depend on.

mod iterated_in_f64;

use iterated_in_f64::IteratedInF64;
use pgn_engine::{
    Candidates, Config, Iterated, Model, Parameters, Participants, ProcessorKind, Relation,
    Trainer, TrainerOptions,
};
use pgn_structures::{
    Curriculum, Dataset, Feature, OwnedTransition, Sampling, Split, Task, Transition,
};

/// Every setting at least once.
fn configs() -> Vec<Config> {
    let base = Config { k: 8, ..Config::preset("pgn-exact").unwrap() };
    let with = |settings: Iterated| Config {
        processor: ProcessorKind::Iterated(Iterated { steps: 5, more_steps: 2, ..settings }),
        ..base.clone()
    };
    let exact = Iterated::default();
    vec![
        with(exact.clone()),
        with(Iterated { cap: None, ..exact.clone() }),
        with(Iterated { cap: Some(0.5), ..exact.clone() }),
        with(Iterated { participants: Participants::All, ..exact.clone() }),
        Config {
            candidates: Candidates::All,
            features: vec![Feature::Priority, Feature::Operated, Feature::SelfPointing],
            ..with(Iterated { participants: Participants::All, ..exact.clone() })
        },
        with(Iterated { relations: vec![Relation::Children], ..exact.clone() }),
        with(Iterated { relations: vec![Relation::Parent, Relation::Global], ..exact.clone() }),
        with(Iterated { relation_biases: false, ..exact.clone() }),
        with(Iterated { compare_priorities: true, ..exact.clone() }),
        Config { visited_weight: 3.0, ..with(exact) },
    ]
}

/// Fresh weights with biases that are not zero, so that nothing hides behind a ReLU.
fn model(config: &Config, seed: u64) -> Model {
    let mut parameters = Parameters::initial(config, seed);
    let mut rng = pgn_structures::Rng::new([seed, 99, 0, 0]);
    let biases: Vec<_> =
        parameters.tensors().iter().filter(|t| t.shape.len() == 1).cloned().collect();
    for tensor in biases {
        for value in &mut parameters.values_mut()[tensor.range.clone()] {
            *value = 0.4 * rng.unit_f32() - 0.1;
        }
    }
    Model::from_parameters(config.clone(), parameters).unwrap()
}

fn transitions(task: &str, nodes: usize, count: u64) -> Vec<OwnedTransition> {
    let task = Task::named(task).unwrap();
    let curriculum = Curriculum::of_size(nodes);
    (0..count).map(|index| curriculum.sample(&task, 7, 0, index).unwrap()).collect()
}

#[test]
fn losses_and_gradients_by_finite_differences() {
    for (number, config) in configs().iter().enumerate() {
        for task in ["forest", "dsu-ordered", "dsu"] {
            let owned = transitions(task, 7, 6);
            let batch: Vec<Transition> = owned.iter().map(|one| one.get()).collect();
            let model = model(config, number as u64);
            let layout = model.parameters().clone();
            let values: Vec<f64> = layout.values().iter().map(|&v| f64::from(v)).collect();
            let loss = |values: &[f64]| {
                let reference = IteratedInF64::new(config, &layout, values);
                let losses = batch.iter().enumerate().map(|(i, one)| reference.loss(i, one));
                losses.sum::<f64>() / batch.len() as f64
            };
            let trainer = Trainer::new(model.clone(), TrainerOptions::default()).unwrap();
            let (losses, gradients) = trainer.gradients_on(&batch).unwrap();
            let expected = loss(&values);
            assert!((losses.total - expected).abs() < 1e-4 * expected, "{number} {task}");
            let size = gradients.values().iter().fold(1e-2f32, |m, v| m.max(v.abs()));
            // Every 23rd weight: all tensors, all parts of them, in a bearable time.
            let mut kinks = 0;
            for at in (number % 23..values.len()).step_by(23) {
                let slope = |h: f64| {
                    let mut moved = values.clone();
                    moved[at] += h;
                    let up = loss(&moved);
                    moved[at] -= 2.0 * h;
                    (up - loss(&moved)) / (2.0 * h)
                };
                let (wide, narrow) = (slope(1e-5), slope(1e-6));
                // A ReLU, cap or maximum that switches within the difference has no slope.
                if (wide - narrow).abs() > 1e-5 {
                    kinks += 1;
                    continue;
                }
                let off = (f64::from(gradients.values()[at]) - narrow).abs();
                let name = layout.tensors().iter().find(|t| t.range.contains(&at)).unwrap();
                assert!(
                    off < 1e-4 * f64::from(size).max(1.0),
                    "config {number}, {task}, {}: {} instead of {narrow}",
                    name.name,
                    gradients.values()[at]
                );
            }
            assert!(kinks < values.len() / 200, "{kinks} kinks");
        }
    }
}

/// Free rollouts agree with the definition, run for as many steps as the rollout took.
#[test]
fn rollouts_agree_with_the_definition() {
    for (number, config) in configs().iter().enumerate() {
        let model = model(config, number as u64);
        let layout = model.parameters().clone();
        let values: Vec<f64> = layout.values().iter().map(|&v| f64::from(v)).collect();
        let reference = IteratedInF64::new(config, &layout, &values);
        for one in transitions("forest", 9, 20) {
            let one = one.get();
            let mut state = model.start_with(one.priorities).unwrap();
            state.set_pointers(one.before).unwrap();
            let logit = state.apply(one.operation).unwrap().logit;
            let outcome = reference.run(&one, state.processor_steps());
            assert!((f64::from(logit) - outcome.answer).abs() < 1e-3);
            for (i, mask) in outcome.masks.iter().enumerate() {
                let ours = f64::from(state.mask_logits()[i]);
                match mask {
                    Some(logit) => assert!((ours - logit).abs() < 1e-3, "{ours} {logit}"),
                    None => assert!(ours > 100.0),
                }
                let k = config.k;
                for (ours, theirs) in state.latents()[i * k..][..k].iter().zip(&outcome.x[i]) {
                    assert!(mask.is_none() || (f64::from(*ours) - theirs).abs() < 1e-3);
                }
                // Where it points: a candidate whose score nothing beats by more than rounding.
                let target = state.pointers()[i] as usize;
                if !mask.is_some_and(|logit| logit < -1e-3) {
                    continue;
                }
                let candidate = |j: usize| {
                    config.candidates == Candidates::All
                        || outcome.masks[j].is_some_and(|logit| logit < -1e-3)
                };
                let score = outcome.scores[i][target].unwrap();
                for j in (0..9).filter(|&j| candidate(j)) {
                    assert!(outcome.scores[i][j].is_none_or(|other| other < score + 1e-3));
                }
            }
        }
    }
}

#[test]
fn sequences_are_their_transitions() {
    let config = &configs()[0];
    let trainer = Trainer::new(model(config, 1), TrainerOptions::default()).unwrap();
    let task = Task::named("forest").unwrap();
    let set = Dataset::sample(&task, &Sampling { count: 2, ..Sampling::paper(8) }).unwrap();
    let (losses, gradients) = trainer.gradients(&set.sequences().collect::<Vec<_>>()).unwrap();
    let mut owned = Vec::new();
    for sequence in set.sequences() {
        for t in 0..sequence.ops() {
            let before = match t {
                0 => (0..8).collect(),
                _ => sequence.pointers_after(t - 1).to_vec(),
            };
            owned.push(
                OwnedTransition::of(&task, sequence.priorities, &before, sequence.operations[t])
                    .unwrap(),
            );
        }
    }
    let batch: Vec<_> = owned.iter().map(|one| one.get()).collect();
    let (same, same_gradients) = trainer.gradients_on(&batch).unwrap();
    assert!((losses.total - same.total).abs() < 1e-6);
    for (a, b) in gradients.values().iter().zip(same_gradients.values()) {
        assert!((a - b).abs() < 1e-5);
    }
}

#[test]
fn training_is_the_same_on_any_number_of_threads() {
    let train = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let options = TrainerOptions { clip: Some(1.0), ..TrainerOptions::default() };
            let mut trainer = Trainer::new(model(&configs()[0], 3), options).unwrap();
            let owned = transitions("dsu-ordered", 12, 50);
            let batch: Vec<_> = owned.iter().map(|one| one.get()).collect();
            for _ in 0..5 {
                trainer.step_on(&batch).unwrap();
            }
            trainer.model().parameters().to_bytes()
        })
    };
    assert_eq!(train(1), train(3));
}

/// Nodes that no message reaches change nothing: the same operation among a million others.
#[test]
fn an_operation_does_not_depend_on_unreached_nodes() {
    let model = model(&configs()[0], 5);
    for one in transitions("forest", 9, 10) {
        let one = one.get();
        let mut small = model.start(9).unwrap();
        small.set_pointers(one.before).unwrap();
        let mut large = model.start(100_000).unwrap();
        let mut pointers: Vec<u32> = (0..100_000).collect();
        pointers[..9].copy_from_slice(one.before);
        large.set_pointers(&pointers).unwrap();
        let logits = [small.apply(one.operation), large.apply(one.operation)]
            .map(|answer| answer.unwrap().logit);
        assert_eq!(logits[0], logits[1]);
        assert_eq!(small.pointers(), &large.pointers()[..9]);
        assert_eq!(large.pointers()[9..], pointers[9..]);
        assert_eq!(small.mask_logits(), &large.mask_logits()[..9]);
        assert!(large.latents().is_empty());
        assert!(large.participants().unwrap().len() <= 9);
    }
}

#[test]
fn attention_is_a_distribution_over_candidates() {
    let model = model(&configs()[0], 8);
    let mut state = model.start(9).unwrap();
    let one = &transitions("forest", 9, 1)[0];
    state.set_pointers(one.get().before).unwrap();
    state.apply(one.get().operation).unwrap();
    for node in 0..9 {
        let alpha = state.attention(node).unwrap();
        assert!((alpha.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn the_paper_s_models_refuse_transitions_and_configs_are_checked() {
    let paper = Model::new(Config::preset("pgn").unwrap(), 0).unwrap();
    let trainer = Trainer::new(paper, TrainerOptions::default()).unwrap();
    let owned = transitions("forest", 5, 1);
    let error = trainer.gradients_on(&[owned[0].get()]).unwrap_err();
    assert!(error.to_string().contains("carries latents"));
    let exact = Config::preset("pgn-exact").unwrap();
    let with = |settings: Iterated| Config {
        processor: ProcessorKind::Iterated(settings),
        ..exact.clone()
    };
    let wrong = [
        with(Iterated { steps: 0, ..Iterated::default() }),
        with(Iterated { relations: vec![], ..Iterated::default() }),
        with(Iterated {
            relations: vec![Relation::Global, Relation::Parent],
            ..Iterated::default()
        }),
        with(Iterated { cap: Some(0.0), ..Iterated::default() }),
        Config { candidates: Candidates::All, ..exact.clone() },
        Config { pointers: pgn_engine::Pointers::Every, ..exact.clone() },
    ];
    for config in wrong {
        assert!(config.validate().is_err(), "{config:?}");
    }
    exact.validate().unwrap();
    let task = Task::named("dsu-ordered").unwrap();
    let sampling = Sampling { count: 2, split: Split::Test, ..Sampling::paper(12) };
    let set = Dataset::sample(&task, &sampling).unwrap();
    let rollout = Model::new(exact, 0).unwrap().rollout(set.sequence(0)).unwrap();
    assert_eq!(rollout.pointers.unwrap().len(), 12 * 18);
}
