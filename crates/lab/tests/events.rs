//! Event files for TensorBoard.

use pgn_lab::{
    Scores,
    metrics::{EpochLosses, EventFile, Metrics, MetricsFile, read_events},
};

fn metrics(epoch: u64) -> Metrics {
    Metrics {
        epoch,
        learning_rate: 0.005,
        losses: EpochLosses::new([], epoch as f64 / 3.0),
        validation: Some(Scores { f1: 0.25, mask_accuracy: Some(0.75), ..Scores::default() }),
        views: None,
    }
}

#[test]
fn read_back_what_was_written_and_drop_what_came_later() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.out.tfevents.pgn");
    let mut file = EventFile::open(&path, 0).unwrap();
    for epoch in [1, 2, 300] {
        file.add(&metrics(epoch)).unwrap();
    }
    file.flush().unwrap();
    let events = read_events(&path).unwrap();
    assert_eq!(events.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 1, 2, 300]);
    // A tag, then field 2 with four bytes.
    let holds = |bytes: &[u8]| events[3].1.windows(bytes.len()).any(|window| window == bytes);
    let scalar = |tag: &str, value: f32| [tag.as_bytes(), &[0x15], &value.to_le_bytes()].concat();
    assert!(holds(&scalar("loss/total", 100.0)));
    assert!(holds(&scalar("validation/mask_accuracy", 0.75)));
    assert!(!holds(b"validation/pointer_accuracy"));

    // Cut in the middle of the last record, then resumed from epoch 1.
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    assert_eq!(read_events(&path).unwrap().len(), 3);
    let mut file = EventFile::open(&path, 1).unwrap();
    file.add(&metrics(2)).unwrap();
    file.flush().unwrap();
    let steps: Vec<u64> = read_events(&path).unwrap().iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [0, 1, 2]);
}

#[test]
fn what_is_damaged_is_written_anew_from_the_metrics() {
    let dir = tempfile::tempdir().unwrap();
    let [path, lines] = ["events", "metrics.jsonl"].map(|name| dir.path().join(name));
    let (mut file, _) = MetricsFile::open(&lines, 0, 1).unwrap();
    let (mut events, note) = EventFile::resume(&path, 0, &file).unwrap();
    assert_eq!(note, None);
    for epoch in 1..=4 {
        file.add(&metrics(epoch)).unwrap();
        events.add(&metrics(epoch)).unwrap();
    }
    file.sync().unwrap();
    events.flush().unwrap();
    let whole = std::fs::read(&path).unwrap();
    let expected = read_events(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for (bytes, damaged) in [(&whole[..], false), (&flipped[..], true), (&whole[..100], true)] {
        std::fs::write(&path, bytes).unwrap();
        let (file, _) = MetricsFile::open(&lines, 4, 1).unwrap();
        let (mut events, note) = EventFile::resume(&path, 4, &file).unwrap();
        events.flush().unwrap();
        assert_eq!(note.is_some(), damaged, "{note:?}");
        assert_eq!(read_events(&path).unwrap(), expected);
    }
}

#[test]
fn the_checksum_is_tfrecords() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events");
    EventFile::open(&path, 0).unwrap().flush().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let masked = crc32c::crc32c(&bytes[..8]).rotate_right(15).wrapping_add(0xa282_ead8);
    assert_eq!(bytes[8..12], masked.to_le_bytes());
}

#[test]
fn a_flipped_bit_ends_the_reading() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events");
    let mut file = EventFile::open(&path, 0).unwrap();
    file.add(&metrics(1)).unwrap();
    file.flush().unwrap();
    let whole = std::fs::read(&path).unwrap();
    for index in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[index] ^= 0x10;
        std::fs::write(&path, &bytes).unwrap();
        assert!(read_events(&path).unwrap().len() < 2, "byte {index}");
    }
}

/// A machine may lose power before its last events are on disk.
#[test]
fn a_finished_run_whose_events_are_cut_short_is_still_finished() {
    use pgn_lab::{Outcome, RunConfig, Session, train};
    let config = RunConfig::resolve(toml::toml! {
        task = "dsu"
        epochs = 3
        data = { sequences = 2, validation_sequences = 1, nodes = [5] }
        test = { nodes = [5], sequences = 1 }
    })
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.out.tfevents.pgn");
    let again = || {
        let mut notes = Vec::new();
        let session = Session {
            task: None,
            initial: None,
            checkpoint_every: std::time::Duration::from_secs(60),
            stop: &std::sync::atomic::AtomicBool::new(false),
            observe: &mut |progress| notes.extend(progress.notes.clone()),
        };
        (train(&config, dir.path(), session).unwrap(), notes)
    };
    again();
    let whole = read_events(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let (outcome, notes) = again();
    assert!(matches!(outcome, Outcome::AlreadyFinished(_)));
    assert!(notes[0].starts_with("events.out.tfevents.pgn is damaged or gone"), "{notes:?}");
    assert_eq!(read_events(&path).unwrap(), whole);
    assert!(again().1.is_empty());
}
