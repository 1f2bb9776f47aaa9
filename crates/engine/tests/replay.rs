//! Replays: what a step reports, whose pointers a model reads, and that it can be stopped.

use std::ops::ControlFlow;

use pgn_engine::{
    Config, Driver, Error, Example, Model, Parameters, Step, Trainer, TrainerOptions,
};
use pgn_structures::{Dataset, Node, Operation, Sampling, Task};

fn sample(task: &str) -> Dataset {
    let sampling = Sampling { count: 2, ..Sampling::paper(20) };
    Dataset::sample(&Task::named(task).unwrap(), &sampling).unwrap()
}

/// An untrained model whose masks let pointers move.
fn model(preset: &str) -> Model {
    let config = Config::preset(preset).unwrap();
    let mut parameters = Parameters::initial(&config, 3);
    if let Some(bias) = parameters.get_mut("mask.bias") {
        bias.fill(-1.0);
    }
    Model::from_parameters(config, parameters).unwrap()
}

#[test]
fn moves_lead_from_one_set_of_pointers_to_the_next() {
    let set = sample("lct");
    for preset in ["gnn", "pgn", "pgn-nm", "oracle-ptrs", "pgn-exact"] {
        let model = model(preset);
        let example = Example::oracle(model.config(), set.sequence(0));
        let mut pointers: Vec<Node> = (0..20).collect();
        let (mut steps, mut moves) = (0, 0);
        model
            .replay(example, |step| {
                assert_eq!(step.operation, example.sequence.operations[step.t]);
                let before = pointers.clone();
                for one in step.moved() {
                    assert_eq!(pointers[one.node as usize], one.from, "{preset}");
                    assert_ne!(one.from, one.to, "{preset}");
                    pointers[one.node as usize] = one.to;
                    moves += 1;
                }
                assert_eq!(pointers, step.pointers(), "{preset}: nothing else moved");
                let changed: Vec<Node> =
                    (0..20).filter(|&i| before[i as usize] != pointers[i as usize]).collect();
                assert_eq!(step.answer().changed, changed, "{preset}");
                if preset == "oracle-ptrs" {
                    assert_eq!(step.pointers(), example.sequence.pointers_after(step.t));
                }
                steps += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(steps, 30, "{preset}");
        assert_eq!(moves > 0, preset != "gnn", "{preset}");
    }
}

#[test]
fn a_replay_stops_when_it_is_told_to() {
    let set = sample("dsu");
    let mut seen = 0;
    let stop = |step: Step<'_>| {
        seen += 1;
        if step.t == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    model("pgn").replay(set.sequence(0), stop).unwrap();
    assert_eq!(seen, 5);
}

/// Operations made one at a time.
struct Made<'a> {
    rest: &'a [Operation],
    logits: Vec<f32>,
}

impl Driver for Made<'_> {
    type Error = Error;

    fn next_operation(&mut self) -> Result<Option<Operation>, Error> {
        let Some((&next, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        Ok(Some(next))
    }

    fn observe(&mut self, step: Step<'_>) -> Result<ControlFlow<()>, Error> {
        self.logits.push(step.logit);
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn a_driver_sees_what_a_rollout_gives() {
    let set = sample("dsu");
    let (model, sequence) = (model("pgn"), set.sequence(1));
    let mut made = Made { rest: sequence.operations, logits: Vec::new() };
    model.drive(sequence.priorities, &mut made).unwrap();
    assert_eq!(made.logits, model.rollout(sequence).unwrap().query_logits);
}

/// Given pointers are what the processor reads; the truth's are not read in their place.
#[test]
fn given_pointers_and_the_truth_are_two_inputs() {
    let set = sample("lct");
    let sequence = set.sequence(0);
    let still: Vec<Node> = (0..30).flat_map(|_| 0..20).collect();
    let model = model("oracle-ptrs");
    let trainer = Trainer::new(model.clone(), TrainerOptions::default()).unwrap();
    let logits = |given: &[Node], truth: &[Node]| {
        let sequence = pgn_structures::Sequence { pointers: truth, ..sequence };
        let example = Example { sequence, given: Some(given) };
        let losses = trainer.gradients(&[example]).unwrap().0;
        (model.rollout(example).unwrap().query_logits, losses.total)
    };
    let oracle = logits(sequence.pointers, sequence.pointers);
    assert_eq!(logits(sequence.pointers, &still), oracle, "the truth is not read");
    assert_ne!(logits(&still, sequence.pointers), oracle, "given pointers are");
}

#[test]
fn pointers_go_to_whom_they_are_given() {
    let set = sample("dsu");
    let sequence = set.sequence(0);
    for (preset, given, expected) in [
        ("oracle-ptrs", None, "none came with a sequence"),
        ("pgn", Some(sequence.pointers), "the model is given none"),
        ("pgn-ptrs", Some(&sequence.pointers[1..]), "has 599 given pointers; expected 600"),
        ("pgn-ptrs", Some(&[20; 600][..]), "aims at node 20; expected a node below 20"),
    ] {
        let model = model(preset);
        let example = Example { sequence, given };
        let trainer = Trainer::new(model.clone(), TrainerOptions::default()).unwrap();
        for message in [
            model.rollout(example).unwrap_err().to_string(),
            trainer.gradients(&[example]).unwrap_err().to_string(),
        ] {
            assert!(message.contains(expected), "{preset}: '{message}'");
        }
    }
}
