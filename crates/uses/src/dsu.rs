//! Disjoint sets, learned and written by hand, behind one interface.

use pgn_lab::machine::{Executor, MachineRun, Mode};
use pgn_machines::{Outcome, Store};
use pgn_structures::{Dsu, Node, Rng};

use crate::{Error, Result};

/// Sets of nodes that are merged.
pub trait UnionFind {
    /// Merges the sets of two nodes; whether they were different ones.
    fn unite(&mut self, u: Node, v: Node) -> Result<bool>;
    /// Whether two nodes are in one set.
    fn same(&mut self, u: Node, v: Node) -> Result<bool>;
}

/// The paper's disjoint-set union, as a machine learned it.
///
/// ```
/// use pgn_lab::machine::{MachineRun, Mode};
/// use pgn_uses::{LearnedDsu, UnionFind};
///
/// let run = MachineRun::built_in("dsu")?;
/// let mut sets = LearnedDsu::new(&run, Mode::Compiled, 4)?;
/// assert!(sets.unite(0, 1)?);
/// assert!(!sets.unite(1, 0)?);
/// assert!(!sets.same(1, 2)?);
/// # Ok::<(), pgn_uses::Error>(())
/// ```
pub struct LearnedDsu<'a> {
    executor: Executor<'a>,
    store: Store,
    union: usize,
    same: usize,
    operations: u64,
}

impl<'a> LearnedDsu<'a> {
    /// `nodes` sets of one node each. Priorities, which decide who points to whom, are random.
    pub fn new(run: &'a MachineRun, mode: Mode, nodes: usize) -> Result<Self> {
        let operation = |name: &str| {
            run.machine().operation(name).map_err(|error| unfit(run, "disjoint-set union", &error))
        };
        let (union, same) = (operation("union")?, operation("same")?);
        let executor = run.executor(mode)?;
        let store = executor.store(&priorities(nodes));
        Ok(LearnedDsu { executor, store, union, same, operations: 0 })
    }

    /// How many operations the machine has carried out.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The machine's memory, with all pointers.
    pub fn store(&self) -> &Store {
        &self.store
    }

    fn answer(&mut self, operation: usize, u: Node, v: Node) -> Result<bool> {
        self.operations += 1;
        match self.executor.run_with(&mut self.store, &mut (), operation, &[u, v])? {
            Outcome::Answer(answer) => Ok(answer),
            other => Err(unexpected(&other)),
        }
    }
}

impl UnionFind for LearnedDsu<'_> {
    fn unite(&mut self, u: Node, v: Node) -> Result<bool> {
        self.answer(self.union, u, v)
    }

    fn same(&mut self, u: Node, v: Node) -> Result<bool> {
        self.answer(self.same, u, v)
    }
}

impl UnionFind for Dsu {
    fn unite(&mut self, u: Node, v: Node) -> Result<bool> {
        Ok(u != v && self.query_union(u, v)?)
    }

    fn same(&mut self, u: Node, v: Node) -> Result<bool> {
        Ok(self.find(u)? == self.find(v)?)
    }
}

/// Priorities for so many nodes, the same every time.
pub fn priorities(nodes: usize) -> Vec<f32> {
    let mut rng = Rng::new([0, nodes as u64, 0, 0]);
    (0..nodes).map(|_| rng.unit_f32()).collect()
}

pub(crate) fn unfit(run: &MachineRun, wanted: &str, error: &pgn_machines::Error) -> Error {
    Error::Request(format!("{} is no {wanted}: {error}", run.name()))
}

pub(crate) fn unexpected(outcome: &Outcome) -> Error {
    match outcome {
        Outcome::Refused(reason) => Error::Request(format!("the operation was refused: {reason}")),
        other => Error::Request(format!("the machine answered with {other:?}")),
    }
}
