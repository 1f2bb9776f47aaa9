//! Operations per second of the programs, the compiled trees and the hand-written structures,
//! in one run on one core.
//!
//! ```text
//! cargo run --release -p pgn-machines --example speed [nodes] [operations]
//! ```

use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use pgn_machines::compile::Format;
use pgn_machines::{Compiled, Machine, Outcome, Store, programs};
use pgn_structures::{Dsu, LinkCutTree, Node, Operation, Rng};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let nodes: usize = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let count: usize = arguments.next().map_or(Ok(1_500_000), |text| text.parse())?;
    println!("n = {nodes}, {count} operations");

    let mut rng = Rng::new([1, 0, nodes as u64, 0]);
    let priorities: Vec<f32> = (0..nodes).map(|_| rng.unit_f32()).collect();
    let operations: Vec<Operation> =
        (0..count).map(|_| Operation::sample(nodes as Node, &mut rng)).collect();

    for (name, operation) in [("dsu", "query_union"), ("lct", "query_toggle")] {
        let (answers, by_hand) = match name {
            "dsu" => {
                let mut structure = Dsu::new(&priorities);
                measure(&operations, |u, v| Ok(structure.query_union(u, v)?))?
            }
            _ => {
                let mut structure = <LinkCutTree>::new(&priorities);
                measure(&operations, |u, v| Ok(structure.query_toggle(u, v)?))?
            }
        };
        println!("{name}: {by_hand:>10.0} operations/s  hand-written");

        let machine = Machine::new(programs::named(name).ok_or("unknown program")?)?;
        let number = machine.operation(operation)?;
        let compiled = Compiled::new(&machine, machine.consistent())?;
        let mut store = Store::new(machine.signature(), &priorities);
        let (found, speed) =
            measure(&operations, |u, v| answer(compiled.run(&mut store, number, &[u, v])?))?;
        assert!(found == answers, "the compiled tree answers otherwise");
        println!("{name}: {speed:>10.0} operations/s  compiled tree, {:.2}×", by_hand / speed);

        let checked = Compiled::checked(&machine, machine.consistent())?;
        let mut looked = Store::new(machine.signature(), &priorities);
        let (found, speed) =
            measure(&operations, |u, v| answer(checked.run(&mut looked, number, &[u, v])?))?;
        assert!(found == answers, "the checked tree answers otherwise");
        println!("{name}: {speed:>10.0} operations/s  checked tree, {:.2}×", by_hand / speed);

        // Keys that compare as the priorities do.
        let keys: Vec<u32> = priorities.iter().map(|priority| priority.to_bits()).collect();
        let emitted = run_emitted(&compiled, operation, &keys, &operations)?;
        assert!(emitted.0 == answers, "the emitted Rust answers otherwise");
        let (speed, times) = (emitted.1, by_hand / emitted.1);
        println!("{name}: {speed:>10.0} operations/s  emitted Rust, {times:.2}×");

        let mut plain = Store::new(machine.signature(), &priorities);
        let (found, speed) = measure(&operations, |u, v| {
            answer(machine.run_program(&mut plain, number, &[u, v])?)
        })?;
        assert!(found == answers, "the program answers otherwise");
        assert!(plain.words() == store.words(), "pointers differ");
        println!("{name}: {speed:>10.0} operations/s  program, {:.2}×", by_hand / speed);
    }
    Ok(())
}

/// The answers of the emitted Rust, compiled by `rustc -O`, and operations per second.
fn run_emitted(
    compiled: &Compiled,
    operation: &str,
    keys: &[u32],
    operations: &[Operation],
) -> Result<(Vec<bool>, f64), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("pgn-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("emitted.rs"), compiled.emit(Format::Rust))?;
    let (structure, new) = match operation {
        "query_union" => ("Dsu", "keys"),
        _ => ("Lct", "keys, ()"),
    };
    let main =
        DRIVER.replace("STRUCTURE", structure).replace("NEW", new).replace("QUERY", operation);
    std::fs::write(folder.join("main.rs"), main)?;
    let words = keys.iter().copied().chain(operations.iter().flat_map(|one| [one.u, one.v]));
    let input: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    std::fs::write(folder.join("input"), input)?;
    let rustc = ["-O", "--edition", "2024", "-o", "main", "main.rs"];
    let built = Command::new("rustc").args(rustc).current_dir(&folder).status()?;
    if !built.success() {
        return Err("rustc failed".into());
    }
    let done = Command::new(folder.join("main"))
        .arg(folder.join("input"))
        .arg(keys.len().to_string())
        .output()?;
    std::fs::remove_dir_all(&folder)?;
    let seconds: f64 = String::from_utf8(done.stderr)?.trim().parse()?;
    let answers = done.stdout.iter().map(|&answer| answer == 1).collect();
    Ok((answers, operations.len() as f64 / seconds))
}

/// Runs an emitted module: keys and operations come from a file, answers go to standard output.
const DRIVER: &str = r#"
    use std::io::Write;
    mod emitted;
    fn main() {
        let mut arguments = std::env::args().skip(1);
        let input = std::fs::read(arguments.next().unwrap()).unwrap();
        let nodes: usize = arguments.next().unwrap().parse().unwrap();
        let words = input.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        let words: Vec<u32> = words.collect();
        let (keys, pairs) = words.split_at(nodes);
        let keys = keys.to_vec();
        let mut structure = emitted::STRUCTURE::new(NEW);
        let start = std::time::Instant::now();
        let answers: Vec<u8> = pairs
            .chunks_exact(2)
            .map(|pair| u8::from(structure.QUERY(pair[0], pair[1]) == Ok(emitted::Outcome::Answer(true))))
            .collect();
        eprintln!("{}", start.elapsed().as_secs_f64());
        std::io::stdout().write_all(&answers).unwrap();
    }
"#;

type Answer = Result<bool, Box<dyn std::error::Error>>;

/// The answers, and operations per second.
fn measure(
    operations: &[Operation],
    mut apply: impl FnMut(Node, Node) -> Answer,
) -> Result<(Vec<bool>, f64), Box<dyn std::error::Error>> {
    let start = seconds();
    let answers = operations.iter().map(|o| apply(o.u, o.v)).collect::<Result<Vec<_>, _>>()?;
    Ok((answers, operations.len() as f64 / (seconds() - start)))
}

/// Processor time of this thread where the system tells it, so that other programs disturb less;
/// else time on the clock.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match nanoseconds {
        Some(nanoseconds) => nanoseconds * 1e-9,
        None => START.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

fn answer(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Answer(answer) => Ok(answer),
        other => Err(format!("{other:?}").into()),
    }
}
