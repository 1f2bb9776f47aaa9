//! Credit of a model made by hand, whose credit is known, and what must hold for any model.

use pgn_engine::{Config, Model, Parameters};
use pgn_lab::analysis::{
    Analyses, Analysis, BeyondCounting, Credit, PointerStudy, Shares, analyse_model,
};
use pgn_lab::{Data, RunConfig};
use pgn_structures::{Dataset, Operation, Sampling, Split, Task};

const K: usize = 8;

/// A Deep Sets model of 8 latents whose weights are all 0 but these: (tensor, row, column, value).
fn by_hand(weights: &[(&str, usize, usize, f32)]) -> Model {
    let config = Config { k: K, ..Config::preset("deepsets").unwrap() };
    let mut parameters = Parameters::zeros(&config);
    for &(name, row, column, value) in weights {
        let tensor = parameters.get_mut(name).unwrap();
        let columns = tensor.len() / K;
        tensor[row * columns + column] = value;
    }
    Model::from_parameters(config, parameters).unwrap()
}

/// Sequences of operations on a disjoint-set union of five nodes whose priorities are
/// .3, .9, .2, .1 and .8.
fn five_nodes(operations: &[(u32, u32)]) -> Dataset {
    let operations: Vec<_> = operations.iter().map(|&(u, v)| Operation::new(u, v)).collect();
    let priorities = [0.3, 0.9, 0.2, 0.1, 0.8];
    Dataset::from_operations(&Task::named("dsu").unwrap(), 5, &priorities, &operations).unwrap()
}

#[test]
fn credit_that_is_known() {
    // Columns of the encoder: the priority, whether the node is u or v, then h.
    let model = by_hand(&[
        // z₀ to z₂ are 1 for u and v: of the two, the one with the lower number wins.
        ("encoder.weight", 0, 1, 1.0),
        ("encoder.weight", 1, 1, 1.0),
        ("encoder.weight", 2, 1, 1.0),
        // z₃ is the priority: node 1 wins.
        ("encoder.weight", 3, 0, 1.0),
        // z₄ is its opposite: node 3 wins.
        ("encoder.weight", 4, 0, -1.0),
        // z₅ to z₇ are 0 everywhere: node 0 wins.
        // h₀ = ReLU(z₀): u or v wins. h₁ = ReLU(z₃): node 1. h₂ to h₇ are 0: node 0, idle.
        ("update.weight", 0, 0, 1.0),
        ("update.weight", 1, 3, 1.0),
    ]);
    let set = five_nodes(&[(2, 3), (0, 2), (3, 4)]);
    // 3 → 2; then 2 → 0; then both paths: 3 → 2 → 0 and 4, so that 0 and 2 are on the way.
    assert_eq!(set.masks, [1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0]);

    let credit = Credit::of(&model, &set.into()).unwrap();
    let eighths = |shares: &Shares| -> Vec<[f64; 3]> {
        let kinds = shares.operated.iter().zip(&shares.path).zip(&shares.others);
        kinds
            .map(|((&operated, &path), &others)| [operated, path, others].map(|s| s * 8.0))
            .collect()
    };
    // Step 1, u = 2, v = 3: z₀₋₂ go to u; node 3 has z₄; nodes 1 and 0 have the others.
    // Step 2, u = 0, v = 2: z₀₋₂ and z₅₋₇ go to node 0, which is u.
    // Step 3, u = 3, v = 4: z₀₋₂ and z₄ go to node 3; z₅₋₇ to node 0, on 3's path; z₃ to node 1.
    assert_eq!(eighths(&credit.z), [[4.0, 0.0, 4.0], [6.0, 0.0, 2.0], [4.0, 3.0, 1.0]]);
    // h₀ goes to u or v, h₁ to node 1 and the idle ones to node 0.
    assert_eq!(eighths(&credit.h), [[1.0, 0.0, 7.0], [7.0, 0.0, 1.0], [1.0, 6.0, 1.0]]);
    let sum = [[2.5, 0.0, 5.5], [6.5, 0.0, 1.5], [2.5, 4.5, 1.0]];
    assert_eq!(eighths(&credit.both), sum);
    assert_eq!(credit.baseline.operated, [0.4, 0.4, 0.4]);
    assert_eq!(credit.baseline.path, [0.0, 0.0, 0.4]);
    assert_eq!(credit.baseline.others, [0.6, 0.6, 0.2]);
    assert_eq!(credit.idle, 0.75);
    // What is left of h without its six idle dimensions: one to u or v, one to node 1.
    let tenths: Vec<f64> = credit.live.operated.iter().map(|share| share * 10.0).collect();
    assert_eq!(tenths, [5.0, 7.0, 5.0]);
    assert_eq!(credit.live.path, [0.0, 0.0, 0.3]);
    let mean = credit.z.mean;
    assert_eq!([mean.operated, mean.path, mean.others], [0.58333, 0.125, 0.29167]);
    assert_eq!((credit.nodes, credit.ops, credit.sequences), (5, 3, 1));
}

#[test]
fn beyond_counting_by_hand() {
    // The first two operations are on new nodes, and both answers are 1: they tell nothing. The
    // others are on nodes operated on once, and their answers differ.
    let set = five_nodes(&[(0, 1), (2, 3), (0, 2), (1, 3)]);
    assert_eq!(set.answers, [1, 1, 1, 0]);
    let beyond =
        |weights: &[_]| BeyondCounting::of(&by_hand(weights), &set.clone().into()).unwrap();

    let always_1 = beyond(&[("decoder.bias", 0, 0, 1.0)]);
    assert_eq!((always_1.nodes, always_1.ops, always_1.sequences), (5, 4, 1));
    assert_eq!((always_1.where_1, always_1.where_0, always_1.gain()), (1.0, 1.0, 0.0));

    // z₀ is the priority, and 1 more for u and v: its maximum is 1.3 in the third operation and
    // 1.9 in the fourth.
    let z = [("encoder.weight", 0, 0, 1.0), ("encoder.weight", 0, 1, 1.0)];
    let right = [("decoder.weight", 0, 0, -1.0), ("decoder.bias", 0, 0, 1.5)];
    let wrong = right.map(|(name, row, column, value)| (name, row, column, -value));
    assert_eq!(beyond(&[&z[..], &right].concat()).gain(), 1.0);
    assert_eq!(beyond(&[&z[..], &wrong].concat()).gain(), -1.0);
}

/// Whatever a model answers, it cannot gain where all operations are on new nodes.
#[test]
fn nothing_is_gained_from_nothing() {
    let set = five_nodes(&[(0, 1), (2, 3)]);
    let beyond = BeyondCounting::of(&by_hand(&[]), &set.into()).unwrap();
    assert_eq!((beyond.where_1, beyond.where_0, beyond.gain()), (0.0, 0.0, 0.0));
}

fn small(task: &str, model: &str) -> (RunConfig, Model, Data) {
    let settings = toml::toml! { test = { nodes = [8, 12], sequences = 5 } };
    let mut settings = settings;
    settings.insert("task".into(), task.into());
    settings.insert("model".into(), model.into());
    let config = RunConfig::resolve(settings).unwrap();
    let model = Model::new(config.network.clone(), 3).unwrap();
    let task = Task::named(task).unwrap();
    let data = Data::tests_only(&config, &task, "".as_ref()).unwrap();
    (config, model, data)
}

fn analysis(task: &str, model: &str) -> Analysis {
    let (config, model, data) = small(task, model);
    analyse_model(&config, &model, &data).unwrap()
}

#[test]
fn shares_add_up_to_one() {
    for (task, model) in [("dsu", "gnn"), ("dsu", "pgn"), ("lct", "gnn"), ("lct", "pgn")] {
        let analysis = analysis(task, model);
        assert_eq!(analysis.credit.len(), 2);
        for credit in &analysis.credit {
            for shares in [&credit.z, &credit.h, &credit.both, &credit.live, &credit.baseline] {
                assert_eq!(shares.operated.len(), credit.ops);
                for t in 0..credit.ops {
                    let sum = shares.operated[t] + shares.path[t] + shares.others[t];
                    assert!((sum - 1.0).abs() < 2e-5, "{task} {model}: {sum}");
                }
                let mean = shares.mean;
                assert!((mean.relevant() + mean.others - 1.0).abs() < 2e-5);
            }
            let two = 2.0 / credit.nodes as f64;
            assert!((credit.baseline.mean.operated - two).abs() < 1e-5);
        }
    }
}

#[test]
fn the_truth_in_place_of_a_model_is_always_valid() {
    // A structure that is compared with itself: what the study says of a model that is right.
    let set = Dataset::sample(&Task::named("lct").unwrap(), &sampling()).unwrap();
    for sequence in set.sequences() {
        for t in 0..set.ops {
            let pointers = sequence.pointers_after(t);
            let comparison = pgn_lab::analysis::shape::Comparison::of(pointers, pointers);
            assert!(comparison.is_valid());
        }
    }
}

#[test]
fn a_model_that_points_everything_at_one_node() {
    // All weights are 0, so that every mask logit is 0: all nodes count as visited, all scores
    // tie, and every pointer goes to node 0. From the first step on all nodes are connected.
    let config = Config::preset("pgn").unwrap();
    let zeros = Parameters::zeros(&config);
    let model = Model::from_parameters(config, zeros).unwrap();
    let set = Dataset::sample(&Task::named("dsu").unwrap(), &sampling()).unwrap();
    let study = PointerStudy::of(&model, &set.clone().into()).unwrap();
    // That is right where the truth has one root left.
    let (mut one_root, mut connected) = (0.0, 0.0);
    for pointers in set.pointers.chunks(8) {
        let root = |mut node: usize| {
            while pointers[node] as usize != node {
                node = pointers[node] as usize;
            }
            node
        };
        let pairs = (0..8).flat_map(|i| (0..i).map(move |j| (i, j)));
        connected += pairs.filter(|&(i, j)| root(i) == root(j)).count() as f64;
        one_root += f64::from(u8::from((0..8).all(|i| root(i) == root(0))));
    }
    let steps = 6.0 * 12.0;
    assert!(one_root > 0.0 && one_root < steps);
    assert!((study.valid - one_root / steps).abs() < 1e-5);
    assert!((study.pair_precision - connected / (28.0 * steps)).abs() < 1e-5);
    assert_eq!((study.same_components, study.acyclic), (study.valid, 1.0));
    assert_eq!((study.pair_recall, study.sequences_valid), (1.0, 0.0));
    assert_eq!(study.steps_until_invalid, 0.0);
    assert_eq!(study.along.valid[0], 0.0);
    let star = study.model;
    assert_eq!((star.depth, star.diameter, star.mean_depth), (1.0, 2.0, 0.875));
    let statistics = pgn_structures::Statistics::of(&set);
    assert!((study.truth.mean_depth - statistics.mean_depth).abs() < 1e-5);
}

fn sampling() -> Sampling {
    Sampling { nodes: 8, ops: 12, count: 6, seed: 5, split: Split::Test }
}

#[test]
fn the_same_whatever_the_threads_and_after_a_file() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let one = alone.install(|| analysis("lct", "pgn"));
    let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    assert_eq!(many.install(|| analysis("lct", "pgn")), one);
    assert_eq!(one.chains.len(), 2);
    assert_eq!(one.chains[0].pointers.as_ref().unwrap().model.len(), 7);
    assert!(one.chains[1].pointers.is_none());
    let without = analysis("dsu", "gnn");
    assert!(without.pointers.is_empty() && without.chains.is_empty());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("analyses.json");
    let analyses = Analyses::new(vec![one, without]);
    assert_eq!(analyses.runs[0].task, "dsu", "sorted");
    analyses.save(&path).unwrap();
    assert_eq!(Analyses::load(&path).unwrap(), analyses);
    assert_eq!(analyses.of("lct", "pgn").count(), 1);
}
