//! The files that a run writes: read back to the bit, and damage named.

use std::path::Path;

use pgn_engine::{Config, Parameters, TrainerState};
use pgn_lab::{
    Best, Checkpoint, Evaluation, LearnerState, Scores,
    metrics::{EpochLosses, Metrics, MetricsFile, read_metrics},
};

fn example() -> (Config, Checkpoint) {
    let config = Config::preset("pgn").unwrap();
    let checkpoint = Checkpoint {
        epoch: 17,
        learner: LearnerState {
            trainer: TrainerState {
                parameters: Parameters::initial(&config, 1),
                first_moment: Parameters::initial(&config, 2),
                second_moment: Parameters::initial(&config, 3),
                adam_steps: 85,
                running_accuracy: 0.1 + 0.2,
            },
            hard: vec![3, 1],
            taken: 99,
        },
        best: Some(Best {
            epoch: 4,
            reached: 3,
            // A number that a careless decimal would change.
            evaluation: Evaluation {
                validation: Some(Scores { f1: 0.1 + 0.7, ..Scores::default() }),
                views: None,
            },
            parameters: Parameters::initial(&config, 4),
        }),
        seconds: 1.5,
        metrics_crc32c: 7,
    };
    (config, checkpoint)
}

#[test]
fn every_bit_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint.safetensors");
    let (config, checkpoint) = example();
    checkpoint.save(&path, "a = 1\n").unwrap();
    let back = Checkpoint::load(&path, "a = 1\n", &Parameters::zeros(&config)).unwrap();
    assert_eq!(back.learner, checkpoint.learner);
    assert_eq!(back.best, checkpoint.best);
    assert_eq!((back.epoch, back.seconds), (17, 1.5));
    assert_eq!(back.metrics_crc32c, 7);
    assert_eq!(Checkpoint::epoch_of(&path), Some(17));

    let none = Checkpoint { best: None, ..checkpoint };
    none.save(&path, "").unwrap();
    assert_eq!(Checkpoint::load(&path, "", &Parameters::zeros(&config)).unwrap().best, None);
}

#[test]
fn damage_and_strangers_are_refused_in_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint.safetensors");
    let (config, checkpoint) = example();
    checkpoint.save(&path, "a = 1\n").unwrap();
    let refused = |config: &Config, text: &str| {
        let sentence =
            Checkpoint::load(&path, text, &Parameters::zeros(config)).unwrap_err().to_string();
        assert!(sentence.contains("checkpoint.safetensors") && !sentence.contains('\n'));
        sentence
    };
    assert!(refused(&config, "a = 2\n").contains("another config"));
    let other = Config { k: 16, ..config.clone() };
    assert!(refused(&other, "a = 1\n").contains("damaged checkpoint"));

    let whole = std::fs::read(&path).unwrap();
    for cut in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(refused(&config, "a = 1\n").contains("damaged checkpoint"), "cut at {cut}");
    }
    // One flipped bit in every quarter of the tensors, which end the file.
    let tensors = 4 * 4 * checkpoint.learner.trainer.parameters.values().len();
    for quarter in 0..4 {
        let mut bytes = whole.clone();
        bytes[whole.len() - tensors + quarter * tensors / 4 + 5] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(refused(&config, "a = 1\n").contains("checksum"), "quarter {quarter}");
    }
}

#[test]
fn a_checkpoint_of_another_format_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint.safetensors");
    let (config, checkpoint) = example();
    checkpoint.save(&path, "").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let version = b"pgn-checkpoint-2";
    let at = bytes.windows(version.len()).position(|window| window == version).unwrap();
    bytes[at + version.len() - 1] = b'3';
    std::fs::write(&path, &bytes).unwrap();
    let error = Checkpoint::load(&path, "", &Parameters::zeros(&config)).unwrap_err().to_string();
    assert!(
        error.ends_with("its format is pgn-checkpoint-3; expected pgn-checkpoint-2"),
        "{error}"
    );
}

fn line(epoch: u64) -> Metrics {
    Metrics {
        epoch,
        learning_rate: 0.005,
        losses: EpochLosses::new([("query", 0.1 * epoch as f64)], 1.0),
        validation: Some(Scores { f1: 1.0 / 3.0, ..Scores::default() }),
        views: None,
    }
}

fn open(path: &Path, epoch: u64) -> (MetricsFile, Option<String>) {
    MetricsFile::open(path, epoch, 1).unwrap()
}

#[test]
fn reopening_drops_what_came_after_the_checkpoint_and_half_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.jsonl");
    let (mut file, note) = open(&path, 0);
    assert_eq!(note, None);
    for epoch in 1..=5 {
        file.add(&line(epoch)).unwrap();
    }
    file.sync().unwrap();
    let whole = std::fs::read(&path).unwrap();
    // As a kill in the middle of a write would leave it.
    std::fs::write(&path, &whole[..whole.len() - 7]).unwrap();
    assert_eq!(open(&path, 4).1, None);
    assert_eq!(read_metrics(&path).unwrap(), (1..=4).map(line).collect::<Vec<_>>());

    let (mut file, note) = open(&path, 3);
    assert_eq!(note, None);
    file.add(&line(4)).unwrap();
    file.add(&line(5)).unwrap();
    file.sync().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), whole);
}

#[test]
fn damage_is_named_and_what_is_good_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.jsonl");
    let (mut file, _) = open(&path, 0);
    (1..=6).for_each(|epoch| file.add(&line(epoch)).unwrap());
    file.sync().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let ends = (0..whole.len()).filter(|&at| whole[at] == b'\n').map(|at| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
    let epochs =
        |path: &Path| read_metrics(path).unwrap().iter().map(|line| line.epoch).collect::<Vec<_>>();

    // A byte that is no UTF-8, in the second line; then one that breaks the fourth.
    let mut bytes = whole.clone();
    bytes[starts[1] + 20] = 0xff;
    bytes[starts[3] + 20] = b'}';
    std::fs::write(&path, &bytes).unwrap();
    let note = open(&path, 6).1.unwrap();
    assert_eq!(
        note,
        "metrics.jsonl is damaged in lines 2, 4: 2 of the epochs up to 6 have no line in it"
    );
    assert_eq!(epochs(&path), [1, 3, 5, 6]);

    std::fs::remove_file(&path).unwrap();
    let note = open(&path, 6).1.unwrap();
    assert_eq!(note, "metrics.jsonl is gone: 6 of the epochs up to 6 have no line in it");

    std::fs::write(&path, &whole[starts[2]..]).unwrap();
    let note = open(&path, 6).1.unwrap();
    assert!(note.starts_with("metrics.jsonl is incomplete: 2 of the epochs"), "{note}");
    assert_eq!(epochs(&path), [3, 4, 5, 6]);
}
