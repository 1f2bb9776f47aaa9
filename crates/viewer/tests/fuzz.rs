//! Structure-aware fuzzing of everything that reads a file, in process.
//!
//! Less than a minute by default. `PGN_FUZZ_INPUTS=10000000 PGN_FUZZ_SEED=7 cargo test --release -p
//! pgn-viewer --test fuzz -- --nocapture` is the long run; it prints the table that
//! `docs/reliability.md` has. `fuzz/` has the same readers for libFuzzer.

#![cfg(unix)]

#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "fuzz/readers.rs"]
mod readers;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Mutex,
    time::Duration,
};

use mutate::{Random, mutate};
use readers::{Reader, all, clean_up};

/// Inputs by default, over all readers.
const INPUTS: u64 = 20_000;
/// No input may take longer, in CPU time: the machine may be busy with other things.
const SLOW: Duration = Duration::from_secs(2);
/// The most memory of the whole process, in kB.
const MEMORY: u64 = 1 << 20;

#[derive(Default)]
struct Row {
    tried: u64,
    accepted: u64,
    slowest: Duration,
    troubles: Vec<String>,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn fuzz(reader: &Reader, inputs: u64, seed: u64) -> Row {
    let mut row = Row::default();
    let mut random =
        Random::new(seed ^ reader.name.len() as u64 ^ u64::from(reader.name.as_bytes()[0]));
    for index in 0..inputs {
        let input = mutate(reader.kind, &reader.seed, &mut random);
        let begun = cpu_time();
        let read = catch_unwind(AssertUnwindSafe(|| (reader.read)(&input)));
        let took = cpu_time().saturating_sub(begun);
        row.tried += 1;
        row.slowest = row.slowest.max(took);
        let trouble = match read {
            Err(_) => "panicked".to_owned(),
            Ok(_) if took > SLOW => format!("took {took:?}"),
            Ok(accepted) => {
                row.accepted += u64::from(accepted);
                continue;
            }
        };
        let kept = std::env::temp_dir().join(format!("pgn-fuzz-{}-{index}", reader.name));
        std::fs::write(&kept, &input).unwrap();
        row.troubles.push(format!("{}: input {index} {trouble}: {}", reader.name, kept.display()));
        if row.troubles.len() > 20 {
            break;
        }
    }
    row
}

/// CPU time of this thread so far.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The most memory that this process has had, in kB; 0 where that is not known.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0)
}

#[test]
fn every_reader_survives_damaged_files() {
    let readers = all();
    for reader in &readers {
        // Events and metrics are told whole by other means.
        let accepted = (reader.read)(&reader.seed);
        assert!(accepted, "{} does not accept an intact file", reader.name);
    }
    let (inputs, seed) = (number("PGN_FUZZ_INPUTS", INPUTS), number("PGN_FUZZ_SEED", 0));
    let each = inputs.div_ceil(readers.len() as u64);
    let rows: Mutex<Vec<(usize, Row)>> = Mutex::default();
    let next = Mutex::new(0..readers.len());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(index) = next.lock().unwrap().next() else { break };
                    let row = fuzz(&readers[index], each, seed);
                    rows.lock().unwrap().push((index, row));
                }
                clean_up();
            });
        }
    });
    clean_up();
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(index, _)| *index);
    println!("| reader | inputs | accepted | slowest | troubles |");
    println!("| --- | --: | --: | --: | --: |");
    for (index, row) in &rows {
        let Row { tried, accepted, slowest, troubles } = row;
        let (name, slowest) = (readers[*index].name, slowest.as_secs_f64() * 1e3);
        println!("| {name} | {tried} | {accepted} | {slowest:.1} ms | {} |", troubles.len());
    }
    println!("seed {seed}; {} MB of memory at the most", most_memory() >> 10);
    let troubles: Vec<String> = rows.into_iter().flat_map(|(_, row)| row.troubles).collect();
    assert!(troubles.is_empty(), "{}", troubles.join("\n"));
    assert!(most_memory() < MEMORY, "{} kB of memory", most_memory());
}
