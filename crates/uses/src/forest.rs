//! Dynamic forests with values, learned and written by hand, behind one interface.

use pgn_lab::machine::{Executor, MachineRun, Mode};
use pgn_machines::{Aggregates, Arithmetic, Outcome, Store};
use pgn_structures::{LinkCutTree, Node};

use crate::dsu::{unexpected, unfit};
use crate::{Error, Result};

/// Rooted trees whose edges come and go, with a value per node that is aggregated along paths.
pub trait DynamicForest<A> {
    /// Makes u, the root of its tree, a child of v.
    fn link(&mut self, u: Node, v: Node) -> Result<()>;
    /// Cuts u from its parent.
    fn cut(&mut self, u: Node) -> Result<()>;
    /// Makes u the root of its tree.
    fn evert(&mut self, u: Node) -> Result<()>;
    /// What the values from u to v aggregate to, both included; `None` if they are apart. u is
    /// the root of its tree afterwards.
    fn path_aggregate(&mut self, u: Node, v: Node) -> Result<Option<A>>;
    /// Changes the value of u.
    fn set_value(&mut self, u: Node, value: A) -> Result<()>;
    /// Adds to the value of u.
    fn add(&mut self, u: Node, value: A) -> Result<()>;
}

/// The link/cut tree, as a machine learned it: when to recompute an aggregate is learned too.
///
/// ```
/// use pgn_lab::machine::{MachineRun, Mode};
/// use pgn_structures::Sum;
/// use pgn_uses::{DynamicForest, LearnedForest};
///
/// let run = MachineRun::built_in("lct")?;
/// let mut forest = LearnedForest::new(&run, Mode::Compiled, vec![Sum(1), Sum(10), Sum(100)])?;
/// forest.link(0, 1)?;
/// forest.link(1, 2)?;
/// forest.add(1, Sum(5))?;
/// assert_eq!(forest.path_aggregate(0, 2)?, Some(Sum(116)));
/// forest.cut(2)?; // 0 is the root
/// assert_eq!(forest.path_aggregate(0, 2)?, None);
/// # Ok::<(), pgn_uses::Error>(())
/// ```
pub struct LearnedForest<'a, A> {
    executor: Executor<'a>,
    store: Store,
    values: Aggregates<A>,
    numbers: [usize; 6],
    operations: u64,
}

/// The operations that are used, in the order of `numbers`.
const NAMES: [&str; 6] = ["link", "cut", "evert", "path_aggregate", "set_value", "add"];

impl<'a, A: Arithmetic> LearnedForest<'a, A> {
    /// One node per value, each a tree of its own. There is at least one.
    pub fn new(run: &'a MachineRun, mode: Mode, values: Vec<A>) -> Result<Self> {
        let mut numbers = [0; NAMES.len()];
        for (number, name) in numbers.iter_mut().zip(NAMES) {
            let found = run.machine().operation(name);
            *number = found.map_err(|error| unfit(run, "link/cut tree with values", &error))?;
        }
        let Some(&first) = values.first() else {
            return Err(Error::Request("a forest needs at least one node".to_owned()));
        };
        let executor = run.executor(mode)?;
        let store = executor.store(&vec![0.0; values.len()]);
        let values = Aggregates::new(values, first);
        Ok(LearnedForest { executor, store, values, numbers, operations: 0 })
    }

    /// How many operations the machine has carried out.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The value of a node, if it exists.
    pub fn value(&self, u: Node) -> Option<A> {
        self.values.value(u)
    }

    fn run(&mut self, operation: usize, arguments: &[Node]) -> Result<Outcome> {
        self.operations += 1;
        let number = self.numbers[operation];
        Ok(self.executor.run_with(&mut self.store, &mut self.values, number, arguments)?)
    }

    fn done(&mut self, operation: usize, arguments: &[Node]) -> Result<()> {
        match self.run(operation, arguments)? {
            Outcome::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}

impl<A: Arithmetic> DynamicForest<A> for LearnedForest<'_, A> {
    fn link(&mut self, u: Node, v: Node) -> Result<()> {
        self.done(0, &[u, v])
    }

    fn cut(&mut self, u: Node) -> Result<()> {
        self.done(1, &[u])
    }

    fn evert(&mut self, u: Node) -> Result<()> {
        self.done(2, &[u])
    }

    fn path_aggregate(&mut self, u: Node, v: Node) -> Result<Option<A>> {
        match self.run(3, &[u, v])? {
            Outcome::Node(Some(end)) => Ok(self.values.aggregate(end)),
            Outcome::Refused(_) => Ok(None),
            other => Err(unexpected(&other)),
        }
    }

    fn set_value(&mut self, u: Node, value: A) -> Result<()> {
        self.values.set_operand(value);
        self.done(4, &[u])
    }

    fn add(&mut self, u: Node, value: A) -> Result<()> {
        self.values.set_operand(value);
        self.done(5, &[u])
    }
}

impl<A: Arithmetic> DynamicForest<A> for LinkCutTree<A> {
    fn link(&mut self, u: Node, v: Node) -> Result<()> {
        Ok(LinkCutTree::link(self, u, v)?)
    }

    fn cut(&mut self, u: Node) -> Result<()> {
        Ok(LinkCutTree::cut(self, u)?)
    }

    fn evert(&mut self, u: Node) -> Result<()> {
        Ok(LinkCutTree::evert(self, u)?)
    }

    fn path_aggregate(&mut self, u: Node, v: Node) -> Result<Option<A>> {
        Ok(LinkCutTree::path_aggregate(self, u, v)?)
    }

    fn set_value(&mut self, u: Node, value: A) -> Result<()> {
        Ok(LinkCutTree::set_value(self, u, value)?)
    }

    fn add(&mut self, u: Node, value: A) -> Result<()> {
        let changed = self.value(u)?.plus(value);
        Ok(LinkCutTree::set_value(self, u, changed)?)
    }
}
