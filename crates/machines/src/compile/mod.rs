//! Certified machines, compiled: decision trees over reads, run without a network.

mod build;
mod code;
mod dot;
mod run;
mod rust;
mod rust_names;
mod text;
mod tree;

pub(crate) use rust_names::check_names;
pub use tree::{Arm, Branch, Effect, Found, Test, Tree};

use code::{Code, Notes};
use pgn_structures::{Node, Recorder};
use run::End;

use crate::interpret::steps_allowed;
use crate::{Action, Error, Machine, Outcome, Result, Store, Values, View};

/// A machine compiled to a [`Tree`], ready to run.
///
/// ```
/// use std::sync::Arc;
/// use pgn_machines::{Compiled, Machine, Outcome, Store, programs::dsu};
///
/// let machine = Machine::new(Arc::new(dsu()))?;
/// // The table of a network that was certified; here the program's own.
/// let compiled = Compiled::new(&machine, machine.consistent())?;
/// let mut store = Store::new(machine.signature(), &[0.1, 0.7, 0.4, 0.9]);
/// let query_union = machine.operation("query_union")?;
/// assert_eq!(compiled.run(&mut store, query_union, &[0, 1])?, Outcome::Answer(true));
/// assert_eq!(compiled.run(&mut store, query_union, &[1, 0])?, Outcome::Answer(false));
/// # Ok::<(), pgn_machines::Error>(())
/// ```
///
/// It trusts that only views of the table occur, which is what a proof says;
/// [`Compiled::checked`] looks at every micro-step.
#[derive(Clone)]
pub struct Compiled {
    machine: Machine,
    tree: Tree,
    /// How many views the table has.
    views: usize,
    /// What is known of it: see [`Compiled::stating`].
    statement: Option<String>,
    fast: Code,
    recording: Code,
    valued: Code,
}

impl Compiled {
    /// Compiles a table of views and actions: all consistent views, with a network's actions.
    pub fn new(machine: &Machine, pairs: &[(View, Action)]) -> Result<Self> {
        Compiled::of(machine, pairs, false)
    }

    /// [`Compiled::new`] that looks, at every micro-step, whether the view is in the table. One that
    /// is not is an [`Error::Undefined`] that draws it.
    pub fn checked(machine: &Machine, pairs: &[(View, Action)]) -> Result<Self> {
        Compiled::of(machine, pairs, true)
    }

    fn of(machine: &Machine, pairs: &[(View, Action)], checked: bool) -> Result<Self> {
        let tree = build::build(machine, pairs, checked)?;
        let code = |visits, values| Code::of(&tree, Notes { visits, values });
        let (fast, recording, valued) =
            (code(false, false)?, code(true, false)?, code(false, true)?);
        let views = pairs.len();
        Ok(Compiled {
            machine: machine.clone(),
            tree,
            views,
            statement: None,
            fast,
            recording,
            valued,
        })
    }

    /// Adds what was proved or only tested, which emitted Rust then begins with.
    #[must_use]
    pub fn stating(self, statement: Option<String>) -> Self {
        Compiled { statement, ..self }
    }

    /// The machine it was compiled from.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The decision trees.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Carries out an operation; visited nodes are not noted.
    pub fn run(&self, store: &mut Store, operation: usize, arguments: &[Node]) -> Result<Outcome> {
        self.run_with(store, &mut (), operation, arguments)
    }

    /// Carries out an operation on nodes with values.
    pub fn run_with<V: Values>(
        &self,
        store: &mut Store,
        values: &mut V,
        operation: usize,
        arguments: &[Node],
    ) -> Result<Outcome> {
        let code = if V::ACTIVE { &self.valued } else { &self.fast };
        self.run_code(code, store, (&mut (), values), operation, arguments)
    }

    /// Carries out an operation; the nodes it visited are in [`Store::visited`].
    pub fn run_recording(
        &self,
        store: &mut Store,
        operation: usize,
        arguments: &[Node],
    ) -> Result<Outcome> {
        let mut visited = std::mem::take(&mut store.visited);
        visited.clear();
        let notes = (&mut visited, &mut ());
        let outcome = self.run_code(&self.recording, store, notes, operation, arguments);
        store.visited = visited;
        outcome
    }

    fn run_code<R: Recorder, V: Values>(
        &self,
        code: &Code,
        store: &mut Store,
        notes: (&mut R, &mut V),
        operation: usize,
        arguments: &[Node],
    ) -> Result<Outcome> {
        let state = match self.machine.begin(store, operation, arguments) {
            Err(Error::Refused(reason)) => return Ok(Outcome::Refused(reason)),
            started => started?,
        };
        let limit = steps_allowed(store);
        match code.run(store, state, limit, notes)? {
            End::Halt(state) => Ok(self.machine.outcome(store, state).unwrap_or(Outcome::Done)),
            End::Outside(state) => {
                Err(self.machine.undefined(&self.machine.view(store, state, &mut Vec::new())))
            }
        }
    }
}

/// What a compiled machine can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The [`Tree`], as JSON.
    Json,
    /// A drawing, for Graphviz.
    Dot,
    /// A module that compiles on its own.
    Rust,
}

impl Compiled {
    /// The compiled machine as text.
    pub fn emit(&self, format: Format) -> String {
        match format {
            // A tree is made of lists, numbers and strings, which JSON has.
            Format::Json => serde_json::to_string_pretty(&self.tree).unwrap_or_default() + "\n",
            Format::Dot => dot::dot(&self.tree, self.machine.lenses()),
            Format::Rust => {
                let clauses = self.machine.program().clauses();
                let known = rust::Known {
                    clauses: &clauses,
                    views: self.views,
                    statement: self.statement.as_deref(),
                };
                rust::rust(&self.tree, self.machine.lenses(), &known)
            }
        }
    }
}
