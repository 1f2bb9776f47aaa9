//! Operations per second of the programs, the compiled trees and the hand-written structures,
//! in one run on one core.
//!
//! ```text
//! cargo run --release -p pgn-machines --example speed [nodes] [operations]
//! ```

use std::time::Instant;

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
        let compiled = Compiled::new(&machine, &machine.consistent())?;
        let mut store = Store::new(machine.signature(), &priorities);
        let (found, speed) =
            measure(&operations, |u, v| answer(compiled.run(&mut store, number, &[u, v])?))?;
        assert!(found == answers, "the compiled tree answers otherwise");
        println!("{name}: {speed:>10.0} operations/s  compiled tree, {:.2}×", by_hand / speed);

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

type Answer = Result<bool, Box<dyn std::error::Error>>;

/// The answers, and operations per second.
fn measure(
    operations: &[Operation],
    mut apply: impl FnMut(Node, Node) -> Answer,
) -> Result<(Vec<bool>, f64), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let answers = operations.iter().map(|o| apply(o.u, o.v)).collect::<Result<Vec<_>, _>>()?;
    Ok((answers, operations.len() as f64 / start.elapsed().as_secs_f64()))
}

fn answer(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Answer(answer) => Ok(answer),
        other => Err(format!("{other:?}").into()),
    }
}
