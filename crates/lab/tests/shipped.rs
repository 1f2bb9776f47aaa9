//! The shipped models, trained on n = 20 alone: right from *every* small state, and on sequences
//! and shapes far larger than those they were trained on.

use std::path::{Path, PathBuf};

use pgn_lab::{
    Run,
    evaluate::evaluate_stream,
    verify::{Shape, verify_all, verify_shape},
};
use pgn_runs::Stop;
use pgn_structures::{Sampling, Split, Task};

const TASKS: [&str; 3] = ["forest", "dsu-ordered", "dsu"];

fn shipped(task: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/exact").join(task)
}

/// (n + 1)ⁿ⁻¹ forests times n (n − 1) ordered pairs; 504,210 transitions at n = 6. For `dsu` times
/// the orders of the participants' priorities, and so up to n = 4 only: six take minutes.
#[test]
fn every_forest_on_up_to_six_nodes_and_every_pair() {
    for task in TASKS {
        let run = Run::load(&shipped(task)).unwrap();
        let model = run.model();
        assert_eq!(run.config().data.nodes, [20]);
        let task = Task::named(task).unwrap();
        let compares = model.config().iterated().unwrap().compare_priorities;
        for n in 2..=if compares { 4 } else { 6usize } {
            let verdict = verify_all(model, &task, n).unwrap();
            let pairs = n * (n - 1);
            let expected = (n + 1).pow(n as u32 - 1) * pairs;
            match compares {
                true => assert!(verdict.transitions >= 2 * expected as u64),
                false => assert_eq!(verdict.transitions, expected as u64),
            }
            let failure = verdict.failure.map(|failure| failure.text()).unwrap_or_default();
            assert_eq!(verdict.wrong, 0, "{failure}");
        }
    }
}

#[test]
fn chains_brooms_stars_and_random_forests() {
    for task in TASKS {
        let run = Run::load(&shipped(task)).unwrap();
        let model = run.model();
        let task = Task::named(task).unwrap();
        for shape in Shape::ALL {
            for nodes in [7, 20, 40, 100] {
                let verdict = verify_shape(model, &task, shape, nodes, 20, 1).unwrap();
                let failure = verdict.failure.map(|failure| failure.text()).unwrap_or_default();
                assert_eq!(verdict.wrong, 0, "{failure}");
            }
        }
    }
}

#[test]
fn whole_sequences() {
    for task in TASKS {
        let run = Run::load(&shipped(task)).unwrap();
        let model = run.model();
        // Sequences that no measurement has looked at.
        let seed = 12345;
        for nodes in [20, 100] {
            let sampling =
                Sampling { seed, split: Split::Test, count: 35, ..Sampling::paper(nodes) };
            let task = Task::named(task).unwrap();
            let scores = evaluate_stream(model, &task, &sampling, Stop::NEVER).unwrap();
            assert_eq!((scores.scores.f1, scores.scores.sequences_exact), (1.0, Some(1.0)));
        }
    }
}
