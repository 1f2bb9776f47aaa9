//! Sequences are the same bytes everywhere and for ever. The vectors here were printed by
//! `random_streams.py`, which shares no code with the crate.

use std::collections::HashSet;

use pgn_structures::{Dataset, Error, Operation, Rng, Sampling, Split, Stream, Task};

const KEY: [u64; 4] = [1, 2, 3, 4];

#[test]
fn words_are_those_of_chacha8() {
    // The published vector for a zero key and nonce.
    let mut rng = Rng::new([0; 4]);
    let bytes: Vec<u8> = (0..16).flat_map(|_| rng.next_u32().to_le_bytes()).collect();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e\
         984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"
    );
    // Across the end of the first block of 16.
    let mut rng = Rng::new(KEY);
    let words: Vec<u32> = (0..20).map(|_| rng.next_u32()).collect();
    let last = [0xd534dbcc, 0xb7278159, 0x8f4b49f1, 0xd13f762c, 0x46b4d8c9, 0x58e6fe22];
    assert_eq!(words[14..], last);
}

#[test]
fn integers_and_fractions_are_fixed() {
    let mut rng = Rng::new(KEY);
    let small: Vec<u32> = (0..12).map(|_| rng.below(7)).collect();
    assert_eq!(small, [4, 0, 4, 2, 6, 1, 6, 1, 3, 1, 4, 1]);
    assert_eq!(rng.next_u32(), 0x41da20ff);

    // Three words in ten are refused here, so the rejection is in this vector too.
    let mut rng = Rng::new(KEY);
    let large: Vec<u32> = (0..12).map(|_| rng.below(3_000_000_000)).collect();
    assert_eq!(
        large,
        [
            2040719744, 1035770504, 2707759076, 753054218, 2950590076, 817680058, 712854527,
            577654568, 2498513423, 2146339657, 2452123791, 1041824006
        ]
    );
    assert_eq!(rng.next_u32(), 0xcef015db);

    let mut rng = Rng::new(KEY);
    let singles = [11412531, 1113079, 11042102, 5792448, 15142886, 4211384];
    for single in singles {
        assert_eq!(rng.unit_f32(), single as f32 / 16777216.0);
    }

    let mut rng = Rng::new(KEY);
    let doubles = [6127056400412639u64, 5928183662742273, 8129775168195297, 8858850901301753];
    for double in doubles {
        assert_eq!(rng.unit_f64(), double as f64 / 9007199254740992.0);
    }
}

fn set(nodes: usize, ops: usize, count: usize, seed: u64, split: Split) -> Dataset {
    let task = Task::named("dsu").unwrap();
    Dataset::sample(&task, &Sampling { nodes, ops, count, seed, split }).unwrap()
}

#[test]
fn a_sequence_is_drawn_as_documented() {
    let set = set(4, 8, 3, 5, Split::Validation);
    let third = set.sequence(2);
    let priorities = [11858742, 16581449, 4218625, 10602455].map(|p| p as f32 / 16777216.0);
    assert_eq!(third.priorities, priorities);
    let pairs = [(1, 2), (1, 3), (1, 3), (2, 3), (2, 0), (1, 2), (1, 3), (3, 1)];
    assert_eq!(third.operations, pairs.map(|(u, v)| Operation::new(u, v)));
}

#[test]
fn repeated_priorities_are_drawn_again() {
    // Two of the first 12 000 draws repeat an earlier one at this key.
    let set = set(12_000, 3, 1, 1, Split::Train);
    let one = set.sequence(0);
    let last = [15029917, 363441, 16486296].map(|p| p as f32 / 16777216.0);
    assert_eq!(one.priorities[11_997..], last);
    let pairs = [(7328, 5005), (5485, 556), (8565, 7858)];
    assert_eq!(one.operations, pairs.map(|(u, v)| Operation::new(u, v)));
    let distinct: HashSet<u32> = one.priorities.iter().map(|p| p.to_bits()).collect();
    assert_eq!(distinct.len(), 12_000);
}

#[test]
fn more_sequences_or_operations_begin_with_the_same_ones() {
    let small = set(20, 30, 4, 9, Split::Train);
    let large = set(20, 45, 9, 9, Split::Train);
    for (few, many) in small.sequences().zip(large.sequences()) {
        assert_eq!(few.priorities, many.priorities);
        assert_eq!(few.operations, &many.operations[..30]);
        assert_eq!(few.pointers, &many.pointers[..30 * 20]);
    }
}

#[test]
fn seeds_splits_and_sequences_are_independent() {
    let mut seen = HashSet::new();
    for seed in 0..5 {
        for split in Split::ALL {
            for sequence in set(20, 30, 5, seed, split).sequences() {
                assert!(seen.insert(format!("{:?}", sequence.operations)), "{seed} {split}");
                assert!(seen.insert(format!("{:?}", sequence.priorities)), "{seed} {split}");
            }
        }
    }
    assert_eq!(Stream::TRANSITIONS.number(), 20);
    assert_eq!(Split::ALL.map(|split| split.stream().number()), [0, 1, 2, 3]);
}

#[test]
fn tasks_at_one_seed_see_the_same_operations() {
    let sampling = Sampling::paper(20);
    let sample = |task| Dataset::sample(&Task::named(task).unwrap(), &sampling).unwrap();
    let (dsu, lct) = (sample("dsu"), sample("lct"));
    assert_eq!(dsu.operations, lct.operations);
    assert_eq!(dsu.priorities, lct.priorities);
    assert_ne!(dsu.pointers, lct.pointers);
}

/// FNV-1a: enough to notice any change.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf29ce484222325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3)
    })
}

#[test]
fn files_are_the_same_bytes_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.safetensors");
    for (task, expected) in [("dsu", 1486206474507202955), ("lct", 6325847989100933505)] {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let sampling = Sampling { seed: 3, ..Sampling::paper(20) };
                let set = Dataset::sample(&Task::named(task).unwrap(), &sampling).unwrap();
                set.save(&path).unwrap();
            });
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(fingerprint(&bytes), expected, "{task} with {threads} threads");
        }
    }
}

#[test]
fn requests_without_sense_are_refused() {
    let task = Task::named("dsu").unwrap();
    let fine = Sampling::paper(20);
    for (sampling, sentence) in [
        (Sampling { nodes: 0, ..fine }, "two different nodes, but nodes = 0"),
        (Sampling { nodes: 1, ..fine }, "two different nodes, but nodes = 1"),
        (Sampling { nodes: (1 << 24) + 1, ..fine }, "at most 2^24"),
        (Sampling { ops: 0, ..fine }, "ops = 0"),
        (Sampling { count: 0, ..fine }, "count = 0"),
        (Sampling { count: usize::MAX / 2, ..fine }, "do not fit in memory"),
    ] {
        let error = Dataset::sample(&task, &sampling).unwrap_err();
        assert!(matches!(error, Error::Request(_)), "{error:?}");
        assert!(error.to_string().contains(sentence), "{error}");
    }
}
