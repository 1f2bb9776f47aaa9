//! Ordinary Python code as a program: it is watched, and a program of micro-steps is inferred.

use std::sync::Arc;

use pgn_lab::machine::{Suggestion, suggest_first};
use pgn_machines::{
    Error, Machine, Outcome, Program, Result, Signature, Store, Trial,
    infer::{Calls, Code, CodeMemory, Inference, Inferred},
    programs,
};
use pgn_structures::Node;
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::program::{Raised, strs};

/// What Python says of code.
#[derive(FromPyObject)]
pub struct DeclaredCode {
    name: String,
    pointers: Vec<String>,
    bits: Vec<String>,
    /// Name and arguments.
    operations: Vec<(String, Vec<String>)>,
    /// Operation, condition and reason for refusing.
    requires: Vec<(String, String, String)>,
    sites: bool,
    reads: usize,
    search: bool,
    /// Is told in words how far it is.
    progress: Py<PyAny>,
    clauses: Option<Vec<String>>,
    /// Runs an operation.
    record: Py<PyAny>,
}

/// Program point, number of the functions that run, kind, field, node and second node.
type Access = (u64, usize, String, usize, Node, Option<Node>);

/// What an operation did, in which functions, and how it ended.
type Recorded = (Vec<Access>, Vec<Calls>, Outcome);

struct PythonCode {
    signature: Signature,
    record: Py<PyAny>,
    raised: Raised,
}

/// What was inferred: a picture in text and for Graphviz; states, leaves, traces and views; clauses; what the checker has
/// against them.
pub type Told = ((String, String), (usize, usize, usize, usize), Vec<String>, Option<String>);

/// Code, and what was inferred from it.
pub struct Watched {
    pub told: Told,
    code: Arc<dyn Code>,
    program: Inferred,
    raised: Raised,
}

impl Watched {
    /// How many operations were tested, and on how many of them the program differs from the code.
    pub fn compare(&self, py: Python<'_>, trial: Trial) -> PyResult<(u64, u64)> {
        let test = || Inference::default().compare(&self.code, &self.program, trial);
        let found = py.detach(test);
        self.raised.or(found.map_err(|error| PyValueError::new_err(error.to_string())))
    }
}

/// Infers a program, finds clauses for it, and makes it known by its name.
pub fn infer(py: Python<'_>, declared: DeclaredCode) -> PyResult<Watched> {
    let mut names: Vec<&str> = Vec::new();
    for (_, arguments) in &declared.operations {
        names.extend(
            arguments
                .iter()
                .map(|name| &**name)
                .filter(|name| !names.contains(name))
                .collect::<Vec<_>>(),
        );
    }
    let mut signature = Signature::new(&declared.name)
        .pointers(&strs(&declared.pointers))
        .bits(&strs(&declared.bits))
        .registers(&names);
    for (name, arguments) in &declared.operations {
        signature = signature.operation(name, "", &strs(arguments), &[]);
        for (_, condition, reason) in declared.requires.iter().filter(|one| one.0 == *name) {
            signature = signature.requires(condition, reason);
        }
    }
    let raised = Raised::default();
    let code = PythonCode { signature, record: declared.record, raised: raised.clone() };
    let code: Arc<dyn Code> = Arc::new(code);
    let say = |text: String| {
        Python::attach(|py| drop(declared.progress.bind(py).call1((text,))));
    };
    let found = py.detach(|| -> pgn_lab::Result<(Told, Inferred)> {
        let mut how = Inference::default();
        how.sites = declared.sites;
        how.reads = declared.reads;
        let learned = how.infer(&code, &mut |progress| say(progress.to_string()))?;
        let (states, leaves) = learned.program.size();
        let picture = (learned.program.picture(), learned.program.dot());
        say(format!("{states} states; looking for clauses"));
        let given = declared.clauses.clone().unwrap_or_default();
        let mut program = learned.program.with_clauses(given);
        let both = [program.clone(), program.clone().looking()];
        let mut found = Suggestion { clauses: program.clauses(), ..Suggestion::default() };
        if declared.search {
            let each = both.clone().map(|one| Arc::new(one) as Arc<dyn Program>);
            let (number, suggestion) = suggest_first(&each)?;
            (program, found) = (both[number].clone(), suggestion);
        }
        let program = program.with_clauses(found.clauses.clone());
        let views = Machine::new(Arc::new(program.clone()))?.consistent().len();
        programs::register(Arc::new(program.clone()))?;
        let refutation = found.refutation.map(|refutation| refutation.to_string());
        let told = (picture, (states, leaves, learned.traces, views), found.clauses, refutation);
        Ok((told, program))
    });
    let found = found.map_err(|error| PyValueError::new_err(error.to_string()));
    let (told, program) = raised.or(found)?;
    Ok(Watched { told, code, program, raised })
}

impl Code for PythonCode {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn run(
        &self,
        operation: usize,
        memory: &mut CodeMemory<'_>,
        arguments: &[Node],
    ) -> Result<Outcome> {
        let (accesses, calls, outcome) =
            self.record(operation, memory, arguments).map_err(|error| {
                let text = error.to_string();
                self.raised.keep(error);
                Error::Program(text)
            })?;
        for (site, within, kind, field, node, other) in accesses {
            memory.at(site);
            memory.within(calls.get(within).cloned().unwrap_or_default());
            match &*kind {
                "load" => drop(memory.load(node, field)),
                "store" => memory.store(node, field, other),
                "bit" => drop(memory.bit(node, field)),
                "toggle" => memory.toggle(node, field),
                _ => drop(memory.less(node, other.unwrap_or(node))),
            }
        }
        Ok(outcome)
    }
}

impl PythonCode {
    fn record(
        &self,
        operation: usize,
        memory: &CodeMemory<'_>,
        arguments: &[Node],
    ) -> PyResult<Recorded> {
        let (store, most): (&Store, usize) = (memory.before(), memory.left());
        let nodes = 0..store.len() as Node;
        let pointers: Vec<Vec<Option<Node>>> = (0..self.signature.pointers.len())
            .map(|field| nodes.clone().map(|node| store.pointer(node, field)).collect())
            .collect();
        let bits: Vec<Vec<bool>> = (0..self.signature.bits.len())
            .map(|bit| nodes.clone().map(|node| store.bit(node, bit)).collect())
            .collect();
        Python::attach(|py| {
            let given = (operation, arguments, pointers, bits, store.ranks(), most);
            let done = self.record.bind(py).call1(given)?;
            type Done = (Vec<Access>, Vec<Vec<(String, String)>>, (String, Option<Node>));
            let (accesses, calls, (kind, value)): Done = done.extract()?;
            let outcome = match &*kind {
                "answer" => Outcome::Answer(value == Some(1)),
                "node" => Outcome::Node(value),
                _ => Outcome::Done,
            };
            Ok((accesses, calls.into_iter().map(Calls::from).collect(), outcome))
        })
    }
}
