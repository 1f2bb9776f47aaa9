//! The classical structures, one operation at a time.

use numpy::{IntoPyArray, PyArray1};
use pgn_structures::{Dsu, Linking, Node, Operation, PointerStructure, Visited, given_priorities};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};

use crate::{error, error::Error, node::NodeArg};

/// What a structure is made from, a number of nodes or a priority for each, as priorities; those
/// that are drawn are the ones `pgn rollout --ops` draws.
fn priorities(nodes: &Bound<'_, PyAny>, seed: u64) -> PyResult<Vec<f32>> {
    let priorities: Vec<f32> = match (nodes.extract::<usize>(), nodes.extract()) {
        (Ok(nodes), _) => given_priorities(nodes, seed).map_err(Error::from)?,
        (_, Ok(priorities)) => priorities,
        _ => {
            return Err(PyTypeError::new_err(format!(
                "nodes is {}; expected a number of nodes, or a priority for each",
                nodes.repr()?
            )));
        }
    };
    match priorities.iter().find(|priority| !priority.is_finite()) {
        None => Ok(priorities),
        Some(priority) => Err(PyValueError::new_err(format!(
            "a priority is {priority}; expected a finite number"
        ))),
    }
}

/// What Python gets from `apply`: the answer and the visited nodes.
type Applied<'py> = (bool, Bound<'py, PyArray1<Node>>);

/// Carries out a checked operation.
fn apply<'py>(
    py: Python<'py>,
    structure: &mut dyn PointerStructure,
    visited: &mut Visited,
    nodes: usize,
    (u, v): (&NodeArg, &NodeArg),
) -> PyResult<Applied<'py>> {
    let operation = Operation::new(u.get(nodes)?, v.get(nodes)?);
    operation.check(nodes).map_err(error::operation)?;
    visited.clear();
    let answer = structure.apply(operation, visited).map_err(Error::from)?;
    Ok((answer, PyArray1::from_slice(py, visited.nodes())))
}

/// A class around a structure: what every one has, methods that forward to the structure once
/// their nodes are checked, and what is its own.
macro_rules! class {
    (
        $(#[$about:meta])*
        $class:ident($structure:ty), $name:literal;
        $(#[$apply:meta])*
        apply;
        forward { $($(#[$doc:meta])* $method:ident($($node:ident),*) -> $out:ty;)* }
        own { $($own:tt)* }
    ) => {
        $(#[$about])*
        #[pyclass(module = "pgn")]
        #[derive(Clone)]
        pub struct $class($structure, Visited);

        impl $class {
            /// The built-in task that it is.
            pub const NAME: &'static str = $name;
        }

        #[pymethods]
        impl $class {
            #[classattr]
            fn name() -> &'static str {
                $class::NAME
            }

            fn __len__(&self) -> usize {
                self.0.len()
            }

            $(#[$apply])*
            fn apply<'py>(
                &mut self,
                py: Python<'py>,
                u: NodeArg,
                v: NodeArg,
            ) -> PyResult<Applied<'py>> {
                let n = self.0.len();
                apply(py, &mut self.0, &mut self.1, n, (&u, &v))
            }

            $($(#[$doc])*
            fn $method(&mut self, $($node: NodeArg),*) -> PyResult<$out> {
                let n = self.0.len();
                self.0.$method($($node.get(n)?),*).map_err(error::operation)
            })*

            /// Where every node points, as a new array.
            #[getter]
            fn pointers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<Node>> {
                let mut row = vec![0; self.0.len()];
                self.0.pointers(&mut row);
                row.into_pyarray(py)
            }

            /// An independent copy.
            fn copy(&self) -> Self {
                self.clone()
            }

            $($own)*
        }
    };
}

class! {
    /// A disjoint-set union with path compression, linking by priority (or by operands).
    ///
    /// Made from a number of nodes, whose priorities are drawn from ``seed``, or from an array of
    /// priorities.
    ///
    /// >>> sets = pgn.DisjointSet([0.1, 0.7, 0.4, 0.9])
    /// >>> sets.apply(0, 1)  # were they apart? and which nodes were visited
    /// (True, array([0, 1], dtype=uint32))
    /// >>> sets.union(2, 3), sets.connected(0, 3)
    /// (True, False)
    /// >>> sets.pointers
    /// array([1, 1, 3, 3], dtype=uint32)
    DisjointSet(Dsu), "dsu";
    /// ``query-union(u, v)``: the answer, 1 if they were apart, and the nodes it visited.
    apply;
    forward {
        /// The root of the set that holds ``u``; the path to it is compressed.
        find(u) -> Node;
        /// Whether ``u`` and ``v`` are in one set.
        connected(u, v) -> bool;
        /// Merges the sets that hold ``u`` and ``v``; whether they were apart.
        union(u, v) -> bool;
    }
    own {
        #[new]
        #[pyo3(signature = (nodes, *, seed=0, linking="priority"))]
        fn new(nodes: &Bound<'_, PyAny>, seed: u64, linking: &str) -> PyResult<Self> {
            let mut dsu = Dsu::linking(match linking {
                "priority" => Linking::Priority,
                "operands" => Linking::Operands,
                other => {
                    return Err(PyValueError::new_err(format!(
                        "linking is {other}; expected priority or operands"
                    )));
                }
            });
            let priorities = priorities(nodes, seed)?;
            dsu.reset(&priorities);
            Ok(DisjointSet(dsu, Visited::new(priorities.len())))
        }
    }
}

class! {
    /// A forest of rooted trees whose edges come and go, as splay trees of preferred paths.
    ///
    /// >>> forest = pgn.LinkCutTree(4)
    /// >>> forest.link(0, 1)  # the root 0 becomes a child of 1
    /// >>> forest.link(2, 1)
    /// >>> forest.find_root(0), forest.path(0, 2), forest.connected(0, 3)
    /// (1, [0, 1, 2], False)
    /// >>> answer, visited = forest.apply(0, 3)  # query-toggle: they were apart, now they are not
    /// >>> answer, forest.connected(0, 3)
    /// (False, True)
    LinkCutTree(pgn_structures::LinkCutTree), "lct";
    /// ``query-toggle(u, v)``: the answer, 1 if they were connected, and the nodes it visited.
    apply;
    forward {
        /// Makes the path from the root to ``u`` preferred and ``u`` the topmost node.
        expose(u) -> ();
        /// The root of the tree that holds ``u``.
        find_root(u) -> Node;
        /// Whether ``u`` and ``v`` are in one tree.
        connected(u, v) -> bool;
        /// Makes the root ``u`` a child of ``v``, which is in another tree.
        link(u, v) -> ();
        /// Removes the edge from ``u`` to its parent.
        cut(u) -> ();
        /// Makes ``u`` the root of its tree.
        evert(u) -> ();
        /// The nodes from ``u`` to ``v``, or ``None`` if they are not connected. Everts ``u``.
        path(u, v) -> Option<Vec<Node>>;
    }
    own {
        #[classattr]
        fn fields() -> [&'static str; 2] {
            ["left", "right"]
        }

        #[classattr]
        fn bits() -> [&'static str; 1] {
            ["flip"]
        }

        #[new]
        #[pyo3(signature = (nodes, *, seed=0))]
        fn new(nodes: &Bound<'_, PyAny>, seed: u64) -> PyResult<Self> {
            let priorities = priorities(nodes, seed)?;
            let visited = Visited::new(priorities.len());
            Ok(LinkCutTree(pgn_structures::LinkCutTree::new(&priorities), visited))
        }

        /// The left child of every node in its splay tree, itself where there is none.
        #[getter]
        fn left<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Node>>> {
            self.child(py, 1)
        }

        /// The right child of every node in its splay tree, itself where there is none.
        #[getter]
        fn right<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<Node>>> {
            self.child(py, 2)
        }

        /// 1 where left and right are still to be swapped, from that node down.
        #[getter]
        fn flip<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
            let mut row = vec![0; self.0.len()];
            self.0.bit_field(0, &mut row).map_err(Error::from)?;
            Ok(row.into_pyarray(py))
        }
    }
}

impl LinkCutTree {
    fn child<'py>(&self, py: Python<'py>, field: usize) -> PyResult<Bound<'py, PyArray1<Node>>> {
        let mut row = vec![0; self.0.len()];
        self.0.pointer_field(field, &mut row).map_err(Error::from)?;
        Ok(row.into_pyarray(py))
    }
}

class! {
    /// Rooted trees whose pointers are their edges: dynamic trees without splay trees.
    ///
    /// >>> forest = pgn.RootedForest(4)
    /// >>> forest.apply(0, 1)  # they were apart: 0 is put under 1
    /// (False, array([0, 1], dtype=uint32))
    /// >>> forest.pointers
    /// array([1, 1, 2, 3], dtype=uint32)
    RootedForest(pgn_structures::RootedForest), "forest";
    /// Toggles the edge between ``u`` and ``v``: the answer, and the nodes it visited.
    apply;
    forward {
        /// The root of the tree that holds ``u``.
        find_root(u) -> Node;
        /// Makes ``u`` the root of its tree.
        evert(u) -> ();
    }
    own {
        #[classattr]
        fn features() -> [&'static str; 3] {
            ["first", "second", "self-pointing"]
        }

        #[new]
        #[pyo3(signature = (nodes, *, seed=0))]
        fn new(nodes: &Bound<'_, PyAny>, seed: u64) -> PyResult<Self> {
            let nodes = priorities(nodes, seed)?.len();
            let visited = Visited::new(nodes);
            Ok(RootedForest(pgn_structures::RootedForest::with_nodes(nodes), visited))
        }
    }
}
