//! The same bits for any number of threads, in training and in rollouts, and rollouts of structures
//! that are spread over threads against the reference.

mod beside_reference;

use beside_reference::cases::{presets, weights};
use pgn_engine::{
    Config, Example, Model, Parameters, Trainer, TrainerOptions,
    reference::{Net, rollout},
};
use pgn_structures::{Dataset, Operation, Rng, Sampling, Sequence, Stream, Task};
use rayon::ThreadPoolBuilder;

/// What `work` gives with 1, 2 and 5 threads, which must be the same.
fn on_any_number_of_threads<T: PartialEq + Send>(what: &str, work: impl Fn() -> T + Sync) -> T {
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&work)
    };
    let first = run(1);
    for threads in [2, 5] {
        assert!(run(threads) == first, "{what}: {threads} threads differ from one");
    }
    first
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn fifty_steps_of_training() {
    let sampling = Sampling { count: 13, ops: 8, ..Sampling::paper(9) };
    let set = Dataset::sample(&Task::named("lct").unwrap(), &sampling).unwrap();
    let batch: Vec<Sequence> = set.sequences().collect();
    for (preset, teacher_probability) in
        [("pgn", 0.0), ("gnn", 0.0), ("dgm", 0.0), ("pgn-free", 0.0), ("pgn-free", 0.3)]
    {
        let config = Config { k: 16, ..Config::preset(preset).unwrap() };
        let options = TrainerOptions { teacher_probability, ..TrainerOptions::default() };
        let initial = Parameters::initial(&config, 3);
        let (weights, _) = on_any_number_of_threads(preset, || {
            let model = Model::from_parameters(config.clone(), initial.clone()).unwrap();
            let mut trainer = Trainer::new(model, options).unwrap();
            let losses: Vec<u64> =
                (0..50).map(|_| trainer.step(&batch).unwrap().total.to_bits()).collect();
            (bits(trainer.model().parameters().values()), losses)
        });
        assert_ne!(weights, bits(initial.values()), "{preset} has learned something");
    }
}

/// A sequence over many nodes, without a truth (a rollout reads none; given pointers are a chain of
/// pairs).
struct Large {
    priorities: Vec<f32>,
    operations: Vec<Operation>,
    answers: Vec<u8>,
    masks: Vec<u8>,
    pointers: Vec<u32>,
}

impl Large {
    fn new(n: usize, ops: usize) -> Large {
        let mut rng = Rng::new([n as u64, Stream::TEST.number(), 0, 0]);
        Large {
            priorities: (0..n).map(|_| rng.unit_f32()).collect(),
            operations: (0..ops).map(|_| Operation::sample(n as u32, &mut rng)).collect(),
            answers: vec![0; ops],
            masks: vec![1; ops * n],
            pointers: (0..ops).flat_map(|_| (0..n as u32).map(|i| i & !1)).collect(),
        }
    }

    fn sequence(&self) -> Sequence<'_> {
        let Large { priorities, operations, answers, masks, pointers } = self;
        let fields = Default::default();
        Sequence { priorities, operations, answers, masks, pointers, fields, edges: &[] }
    }
}

#[test]
fn rollouts_of_3000_nodes() {
    let large = Large::new(3000, 3);
    for (name, config) in presets(8) {
        let model = Model::from_parameters(config.clone(), weights(&config, 5)).unwrap();
        let (_, pointers, _) = on_any_number_of_threads(&name, || {
            let rollout = model.rollout(Example::oracle(&config, large.sequence())).unwrap();
            let masks = rollout.mask_logits.map(|logits| bits(&logits));
            (bits(&rollout.query_logits), rollout.pointers, masks)
        });
        if let Some(pointers) = pointers {
            let moved = pointers.iter().enumerate().filter(|&(i, &node)| i % 3000 != node as usize);
            assert!(moved.count() > 100, "{name}: pointers move");
        }
    }
}

/// More nodes than one thread takes: blocks of 512, the last one short.
#[test]
fn rollouts_over_several_blocks_equal_the_reference() {
    for n in [513, 1100] {
        let large = Large::new(n, 2);
        let sequence = large.sequence();
        for (name, config) in presets(8) {
            let parameters = weights(&config, 5);
            let expected =
                rollout(&config, &Net::new(&config, &parameters).unwrap(), sequence).unwrap();
            let model = Model::from_parameters(config.clone(), parameters).unwrap();
            let ours = model.rollout(Example::oracle(&config, sequence)).unwrap();
            let mut different = 0;
            for (t, expected) in expected.iter().enumerate() {
                // As in `fast_against_reference.rs`: rounding of f32, some layers deep.
                let close = |ours: f32, theirs: f64| {
                    (f64::from(ours) - theirs).abs() < 5e-6 * theirs.abs().max(1.0)
                };
                // Pointers that differ after the first operation would change all that follows.
                if different == 0 {
                    assert!(close(ours.query_logits[t], expected.logit), "{name}, n = {n}");
                    if let Some(masks) = &ours.mask_logits {
                        let pairs = masks[t * n..][..n].iter().zip(&expected.mask_logits);
                        assert!(pairs.into_iter().all(|(&a, &b)| close(a, b)), "{name}, n = {n}");
                    }
                }
                if let Some(pointers) = &ours.pointers {
                    let pairs = pointers[t * n..][..n].iter().zip(&expected.pointers);
                    different += pairs.filter(|&(&a, &b)| a as usize != b).count();
                }
            }
            // Among a thousand candidates the best two may be closer than rounding; not often.
            assert!(different * 200 <= n, "{name}, n = {n}: {different} pointers differ");
        }
    }
}
