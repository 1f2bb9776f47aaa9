//! Programs of machines that are Python classes.
//!
//! A step reads and writes a memory that lives only while it runs, and Python code cannot hold on
//! to a borrowed thing. So a step is run again and again: each time it gets the answers to the
//! reads so far and ends at the next one, which is then carried out on the memory. Steps must be
//! functions of what they read, so that this changes nothing.

use std::sync::{Arc, Mutex, PoisonError};

use pgn_machines::{Call, Clauses, Halt, Memory, Program, Signature, Store, any_call};
use pgn_structures::{Node, Rng};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyList};

/// What Python code raised; the first comes first.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The exception, if there was one, else the outcome.
    pub fn or<T>(&self, outcome: PyResult<T>) -> PyResult<T> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => outcome,
        }
    }
}

/// Name, first state, registers of arguments, values of controls.
type Operation = (String, String, Vec<String>, Vec<(String, String)>);

/// What Python says of a program.
#[derive(FromPyObject)]
pub struct Declared {
    name: String,
    version: u32,
    pointers: Vec<String>,
    bits: Vec<String>,
    marks: Vec<String>,
    registers: Vec<String>,
    controls: Vec<(String, Vec<String>)>,
    states: Vec<String>,
    /// State, kind and register or reason.
    halts: Vec<(String, String, String)>,
    operations: Vec<Operation>,
    /// Operation, condition and reason for refusing.
    requires: Vec<(String, String, String)>,
    clauses: Vec<String>,
    /// Runs a step as far as the answers go.
    run: Py<PyAny>,
    /// Draws an operation, if the class does.
    draw: Option<Py<PyAny>>,
}

/// A Python class as a [`Program`].
pub struct PythonProgram {
    signature: Signature,
    clauses: Vec<String>,
    run: Py<PyAny>,
    draw: Option<Py<PyAny>>,
    raised: Raised,
}

impl PythonProgram {
    /// The program, and where what it raises is found.
    pub fn of(declared: Declared) -> PyResult<(PythonProgram, Raised)> {
        let mut signature = Signature::new(&declared.name)
            .version(declared.version)
            .pointers(&strs(&declared.pointers))
            .bits(&strs(&declared.bits))
            .marks(&strs(&declared.marks))
            .registers(&strs(&declared.registers))
            .states(&strs(&declared.states));
        for (name, values) in &declared.controls {
            signature = signature.control(name, &strs(values));
        }
        for (state, kind, detail) in &declared.halts {
            let halt = match &**kind {
                "done" => Halt::Done,
                "yes" => Halt::Answer(true),
                "no" => Halt::Answer(false),
                "node" => Halt::Node(number(&declared.registers, detail, "register")?),
                _ => Halt::Refused(detail.clone()),
            };
            signature = signature.halt(state, halt);
        }
        for (name, entry, arguments, controls) in &declared.operations {
            let controls: Vec<_> = controls.iter().map(|(c, v)| (&**c, &**v)).collect();
            signature = signature.operation(name, entry, &strs(arguments), &controls);
            for (_, condition, reason) in declared.requires.iter().filter(|one| one.0 == *name) {
                signature = signature.requires(condition, reason);
            }
        }
        signature.check().map_err(PyValueError::new_err)?;
        Clauses::parse(&signature, &declared.clauses).map_err(PyValueError::new_err)?;
        let raised = Raised::default();
        let program = PythonProgram {
            signature,
            clauses: declared.clauses,
            run: declared.run,
            draw: declared.draw,
            raised: raised.clone(),
        };
        Ok((program, raised))
    }

    fn try_step(&self, state: u8, memory: &mut dyn Memory) -> PyResult<Option<u8>> {
        Python::attach(|py| {
            let answers = PyList::empty(py);
            let (mut done, mut known) = (0, Vec::new());
            loop {
                let run = self.run.bind(py).call1((state, &answers, done))?;
                let (commands, ended, next): (Vec<Command>, bool, Option<u8>) = run.extract()?;
                done += commands.len();
                for command in commands {
                    if let Some(answer) = command.carry_out(memory, &mut known, py)? {
                        answers.append(answer)?;
                    }
                }
                if ended {
                    return Ok(next);
                }
            }
        })
    }
}

pub fn strs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn number(names: &[String], name: &str, what: &str) -> PyResult<u8> {
    names.iter().position(|known| known == name).map(|index| index as u8).ok_or_else(|| {
        PyValueError::new_err(format!("there is no {what} `{name}`; expected one of {names:?}"))
    })
}

/// A read or a write: its kind, a node, a field and a value, as far as it has them.
#[derive(FromPyObject)]
struct Command(String, Option<Node>, Option<usize>, Option<Node>);

impl Command {
    /// The answer, if it is a read.
    fn carry_out<'py>(
        self,
        memory: &mut dyn Memory,
        known: &mut Vec<Node>,
        py: Python<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Command(kind, node, field, value) = self;
        let given = value.filter(|_| kind != "set_control");
        if let Some(node) = node.into_iter().chain(given).find(|node| !known.contains(node)) {
            return Err(PyValueError::new_err(format!(
                "{kind} is given the node {node}, which this step has not read; nodes are handles, \
                 to be passed on as they are"
            )));
        }
        let missing = || PyValueError::new_err(format!("{kind} is not given what it needs"));
        let of_node = || node.ok_or_else(missing);
        let of_field = || field.ok_or_else(missing);
        let answer = match &*kind {
            "register" | "pointer" => {
                let found = match node {
                    None => memory.register(of_field()?),
                    Some(node) => memory.pointer(node, of_field()?),
                };
                known.extend(found);
                found.into_pyobject(py)?.into_any()
            }
            "bit" => memory.bit(of_node()?, of_field()?).into_pyobject(py)?.to_owned().into_any(),
            "less" => {
                let less = memory.less(of_node()?, value.ok_or_else(missing)?);
                less.into_pyobject(py)?.to_owned().into_any()
            }
            "control" => memory.control(of_field()?).into_pyobject(py)?.into_any(),
            _ => {
                match &*kind {
                    "set_register" => memory.set_register(of_field()?, value),
                    "set_pointer" => memory.set_pointer(of_node()?, of_field()?, value),
                    "toggle" => memory.toggle(of_node()?, of_field()?),
                    "set_control" => {
                        memory.set_control(of_field()?, value.ok_or_else(missing)? as u8);
                    }
                    "mark" => memory.mark(of_node()?, of_field()?),
                    other => {
                        let what = format!("a step has no command {other}");
                        return Err(PyValueError::new_err(what));
                    }
                }
                return Ok(None);
            }
        };
        Ok(Some(answer))
    }
}

impl Program for PythonProgram {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8> {
        match self.try_step(state, memory) {
            Ok(next) => next,
            Err(error) => {
                self.raised.keep(error);
                None
            }
        }
    }

    fn clauses(&self) -> Vec<String> {
        self.clauses.clone()
    }

    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        match self.try_draw(store, rng) {
            Ok(Some(call)) => return call,
            Ok(None) => {}
            Err(error) => self.raised.keep(error),
        }
        any_call(&self.signature, store, rng)
    }
}

impl PythonProgram {
    /// What the class draws, if it does: the operation and its nodes.
    fn try_draw(&self, store: &Store, rng: &mut Rng) -> PyResult<Option<Call>> {
        let Some(draw) = &self.draw else { return Ok(None) };
        let nodes = 0..store.len() as Node;
        let pointers: Vec<Vec<Option<Node>>> = (0..self.signature.pointers.len())
            .map(|field| nodes.clone().map(|node| store.pointer(node, field)).collect())
            .collect();
        let bits: Vec<Vec<bool>> = (0..self.signature.bits.len())
            .map(|bit| nodes.clone().map(|node| store.bit(node, bit)).collect())
            .collect();
        Python::attach(|py| {
            let lent = Bound::new(py, crate::rng::Rng::of(rng))?;
            let drawn = draw.bind(py).call1((store.len(), pointers, bits, &lent))?;
            let (operation, arguments) = drawn.extract()?;
            *rng = lent.get().get();
            Ok(Some(Call { operation, arguments }))
        })
    }
}
