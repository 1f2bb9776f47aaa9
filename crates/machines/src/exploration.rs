//! Random operations that go where a program's own sampler rarely does.

use pgn_structures::{Node, Rng};

use crate::machine::RUNS;
use crate::{Call, Program, Store};

/// A sequence of operations on a memory of its own: keys that may be equal, arguments that may be
/// the same node, and patterns that make structures deep, local or lopsided. Calls may violate
/// preconditions; they are refused.
///
/// ```
/// use pgn_machines::{Exploration, interpret, programs};
///
/// let lct = programs::lct();
/// let mut sequence = Exploration::new(&lct, 20, 0, 0);
/// for _ in 0..30 {
///     let call = sequence.call();
///     interpret(&lct, &mut sequence.store, &mut (), call.operation, &call.arguments)?;
/// }
/// # Ok::<(), pgn_machines::Error>(())
/// ```
pub struct Exploration<'p> {
    program: &'p dyn Program,
    /// The memory, which starts empty; the caller carries out the calls on it.
    pub store: Store,
    rng: Rng,
    pattern: Pattern,
    calls: u64,
    last: Node,
}

/// What a sequence does with the arguments that it draws.
#[derive(Clone, Copy)]
enum Pattern {
    /// As they are.
    Random,
    /// Neighbours, one after the other: long chains.
    Chain,
    /// Half of them end in node 0.
    Star,
    /// Half of them begin where the last one ended.
    Local,
}

impl<'p> Exploration<'p> {
    /// Sequence number `index` over so many nodes.
    pub fn new(program: &'p dyn Program, nodes: usize, seed: u64, index: u64) -> Self {
        let mut rng = RUNS.rng(seed, nodes as u64, index);
        let some = [u32::MAX, nodes.div_ceil(3) as u32, 2];
        let values = some[rng.below(3) as usize].max(1);
        let keys: Vec<f32> = (0..nodes).map(|_| rng.below(values) as f32).collect();
        let patterns = [Pattern::Random, Pattern::Chain, Pattern::Star, Pattern::Local];
        let pattern = patterns[rng.below(4) as usize];
        let store = Store::new(program.signature(), &keys);
        Exploration { program, store, rng, pattern, calls: 0, last: 0 }
    }

    /// The next operation.
    pub fn call(&mut self) -> Call {
        let (program, rng) = (self.program, &mut self.rng);
        let nodes = self.store.len() as u32;
        // Samplers keep to what is legal and likely; some need four nodes.
        let mut call = if nodes >= 4 && rng.below(2) == 0 {
            program.sample(&self.store, rng)
        } else {
            let operations = &program.signature().operations;
            let operation = rng.below(operations.len() as u32) as usize;
            let arguments = operations[operation].arguments.iter().map(|_| rng.below(nodes));
            Call { operation, arguments: arguments.collect() }
        };
        match (self.pattern, &mut call.arguments[..]) {
            (Pattern::Chain, arguments) => {
                let places = (self.calls..).map(|place| (place % u64::from(nodes)) as Node);
                arguments.iter_mut().zip(places).for_each(|(one, node)| *one = node);
            }
            (Pattern::Star, [.., one]) if rng.below(2) == 0 => *one = 0,
            (Pattern::Local, [one, ..]) if rng.below(2) == 0 => *one = self.last,
            _ => {}
        }
        if let [first, others @ ..] = &mut call.arguments[..]
            && rng.below(16) == 0
        {
            others.fill(*first);
        }
        self.last = call.arguments.last().copied().unwrap_or(0);
        self.calls += 1;
        call
    }
}
