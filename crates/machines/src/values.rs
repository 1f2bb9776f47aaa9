//! Values of nodes and what is aggregated over them: the arithmetic of a machine.
//!
//! A program says *when* a node's aggregate is recomputed and when a value is written
//! ([`Memory::pull`](crate::Memory::pull), [`add`](crate::Memory::add),
//! [`set`](crate::Memory::set)); a network learns that like every other write. *What* is computed
//! is up to the host, in exact arithmetic, and no view depends on it.

use pgn_structures::{Aggregate, Max, Min, Node, Sum};

/// Marks of programs with values, after `visit`: see [`Signature::values`](crate::Signature::values).
pub(crate) const MARKS: [&str; 3] = ["pull", "add", "set"];
pub(crate) const PULL: usize = 1;
pub(crate) const ADD: usize = 2;
pub(crate) const SET: usize = 3;

/// What a node holds besides pointers and bits.
///
/// In a micro-step, all pointers are written first, then values, then one aggregate.
/// `()` holds nothing, at no cost.
pub trait Values {
    /// Whether there is anything to do.
    const ACTIVE: bool = true;
    /// Recomputes the aggregate of a node from its value and those of its children.
    fn pull(&mut self, node: Node, children: impl Iterator<Item = Node>);
    /// Adds the operand of the operation to the value of a node.
    fn add(&mut self, node: Node);
    /// Sets the value of a node to the operand of the operation.
    fn set(&mut self, node: Node);
}

impl Values for () {
    const ACTIVE: bool = false;
    #[inline(always)]
    fn pull(&mut self, _: Node, _: impl Iterator<Item = Node>) {}
    #[inline(always)]
    fn add(&mut self, _: Node) {}
    #[inline(always)]
    fn set(&mut self, _: Node) {}
}

/// An [`Aggregate`] whose values can be added to.
pub trait Arithmetic: Aggregate {
    /// This value with another added to it.
    fn plus(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    ($($aggregate:ident),*) => {$(
        impl<T: Copy + PartialOrd + std::ops::Add<Output = T>> Arithmetic for $aggregate<T> {
            #[inline]
            fn plus(self, other: Self) -> Self {
                $aggregate(self.0 + other.0)
            }
        }
    )*};
}

arithmetic!(Sum, Max, Min);

/// A number and the node it belongs to, for aggregates that tell where: `Max<At<u32>>`. Of equal
/// numbers the one of the lower node is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At<T> {
    /// The number.
    pub value: T,
    /// Where it is.
    pub node: Node,
}

impl<T: std::ops::Add<Output = T>> std::ops::Add for At<T> {
    type Output = Self;

    /// Adds to the number; it stays where it is.
    fn add(self, other: Self) -> Self {
        At { value: self.value + other.value, node: self.node }
    }
}

/// A value and an aggregate per node: [`Sum`], [`Min`], [`Max`], with [`At`] where needed.
///
/// ```
/// use std::sync::Arc;
/// use pgn_machines::{Aggregates, Compiled, Machine, Outcome, Store, programs::lct};
/// use pgn_structures::Sum;
///
/// let machine = Machine::new(Arc::new(lct()))?;
/// let compiled = Compiled::new(&machine, machine.consistent())?;
/// let mut store = Store::new(machine.signature(), &[0.0; 3]);
/// let mut values = Aggregates::new(vec![Sum(1), Sum(10), Sum(100)], Sum(0));
///
/// for edge in [[0, 1], [1, 2]] {
///     compiled.run_with(&mut store, &mut values, machine.operation("link")?, &edge)?;
/// }
/// let path = machine.operation("path_aggregate")?;
/// let end = compiled.run_with(&mut store, &mut values, path, &[0, 2])?;
/// assert_eq!(end, Outcome::Node(Some(2)));
/// assert_eq!(values.aggregate(2), Some(Sum(111)));
/// # Ok::<(), pgn_machines::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregates<A> {
    /// The value and the aggregate.
    nodes: Vec<[A; 2]>,
    operand: A,
}

impl<A: Arithmetic> Aggregates<A> {
    /// One value per node, each node on its own; `operand` is what the next operation adds or
    /// sets.
    pub fn new(values: Vec<A>, operand: A) -> Self {
        Aggregates { nodes: values.into_iter().map(|value| [value, value]).collect(), operand }
    }

    /// The value of a node, if it exists.
    pub fn value(&self, node: Node) -> Option<A> {
        self.nodes.get(node as usize).map(|[value, _]| *value)
    }

    /// What is aggregated over a node, if it exists, and everything below it in its splay tree.
    pub fn aggregate(&self, node: Node) -> Option<A> {
        self.nodes.get(node as usize).map(|[_, aggregate]| *aggregate)
    }

    /// The operand of the operations that follow.
    pub fn set_operand(&mut self, operand: A) {
        self.operand = operand;
    }
}

impl<A: Arithmetic> Values for Aggregates<A> {
    #[inline]
    fn pull(&mut self, node: Node, children: impl Iterator<Item = Node>) {
        let Some(&[value, _]) = self.nodes.get(node as usize) else { return };
        let mut aggregate = value;
        for child in children {
            if let Some([_, below]) = self.nodes.get(child as usize) {
                aggregate = aggregate.combine(*below);
            }
        }
        self.nodes[node as usize][1] = aggregate;
    }

    #[inline]
    fn add(&mut self, node: Node) {
        if let Some([value, _]) = self.nodes.get_mut(node as usize) {
            *value = value.plus(self.operand);
        }
    }

    #[inline]
    fn set(&mut self, node: Node) {
        if let Some([value, _]) = self.nodes.get_mut(node as usize) {
            *value = self.operand;
        }
    }
}
