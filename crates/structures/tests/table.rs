//! The figures of the sampled sequences against those of an independent implementation,
//! measured on 35 other sequences of each size.

use pgn_structures::{Dataset, Sampling, Split, Statistics, Task};

/// Task, nodes; answers 1, masks 0, self-pointing, mean depth, as published to two or three
/// places.
const REFERENCE: [(&str, usize, [f64; 4]); 8] = [
    ("dsu", 20, [0.60, 0.152, 0.40, 1.0]),
    ("dsu", 50, [0.62, 0.064, 0.39, 1.1]),
    ("dsu", 100, [0.62, 0.033, 0.39, 1.1]),
    ("dsu", 200, [0.63, 0.017, 0.39, 1.2]),
    ("lct", 20, [0.25, 0.231, 0.46, 1.9]),
    ("lct", 50, [0.23, 0.124, 0.44, 2.6]),
    ("lct", 100, [0.23, 0.075, 0.43, 3.4]),
    ("lct", 200, [0.22, 0.044, 0.43, 4.3]),
];

const COUNT: usize = 140;

fn sample(task: &str, nodes: usize) -> Dataset {
    let sampling = Sampling { count: COUNT, split: Split::Test, ..Sampling::paper(nodes) };
    Dataset::sample(&Task::named(task).unwrap(), &sampling).unwrap()
}

/// One sequence's figures: answers 1, masks 0, self-pointing.
fn figures(set: &Dataset, index: usize) -> [f64; 3] {
    let sequence = set.sequence(index);
    let one = Dataset {
        priorities: sequence.priorities.to_vec(),
        operations: sequence.operations.to_vec(),
        answers: sequence.answers.to_vec(),
        masks: sequence.masks.to_vec(),
        pointers: sequence.pointers.to_vec(),
        fields: Default::default(),
        edges: Vec::new(),
        task: set.task.clone(),
        seed: set.seed,
        split: set.split,
        nodes: set.nodes,
        ops: set.ops,
    };
    let figures = Statistics::of(&one);
    [figures.answers_1, figures.masks_zero, figures.self_pointing]
}

#[test]
fn shares_agree_within_sampling_noise() {
    for (task, nodes, reference) in REFERENCE {
        let set = sample(task, nodes);
        let sequences: Vec<_> = (0..COUNT).map(|index| figures(&set, index)).collect();
        for figure in 0..3 {
            let mean = sequences.iter().map(|s| s[figure]).sum::<f64>() / COUNT as f64;
            let spread = sequences.iter().map(|s| (s[figure] - mean).powi(2)).sum::<f64>();
            let variance = spread / (COUNT - 1) as f64;
            // Noise of the reference's 35 sequences and of ours, and the reference's rounding.
            let noise = (variance / 35.0 + variance / COUNT as f64).sqrt();
            let rounding = if figure == 1 { 0.0005 } else { 0.005 };
            let off = (mean - reference[figure]).abs();
            assert!(
                off < 3.0 * noise + rounding,
                "{task}, {nodes} nodes, figure {figure}: {mean} against {}",
                reference[figure]
            );
        }
    }
}

/// The reference does not say after which operations its depth was taken; it has to lie between
/// the mean over all of them, while the forest still grows, and the mean after the last.
#[test]
fn depths_enclose_the_reference() {
    for (task, nodes, [_, _, _, reference]) in REFERENCE {
        let set = sample(task, nodes);
        let figures = Statistics::of(&set);
        let (throughout, at_the_end) = (figures.mean_depth, figures.final_mean_depth);
        assert!(
            throughout < reference && reference < at_the_end + 0.1,
            "{task}, {nodes} nodes: {throughout} to {at_the_end} against {reference}"
        );
    }
}
