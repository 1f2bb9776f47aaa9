//! Inference: traces, states, a program, and operations on which it is wrong, until there are none.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{Code, CodeMemory, Inferred, automaton::Automaton, trace::Trace};
use crate::{
    Call, Definition, Error, Exploration, Outcome, Program, Result, Store, Trial, interpret,
    interpret::steps_allowed,
};

/// How a program is inferred.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inference {
    /// Whether program points are told, or only accesses.
    pub sites: bool,
    /// Nodes of the memories on which code is watched first; on the last it is tested too.
    pub nodes: Vec<usize>,
    /// How many times traces on which the program is wrong are added.
    pub rounds: usize,
    /// What operations are drawn from.
    pub seed: u64,
    /// How many fields a micro-step may read, before it is split.
    pub reads: usize,
}

impl Default for Inference {
    fn default() -> Self {
        Inference { sites: true, nodes: vec![3, 5, 8], rounds: 60, seed: 0, reads: 2 }
    }
}

/// How far inference is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum InferenceProgress {
    /// Traces to explain.
    Traces(usize),
    /// States that are settled, and how many are next.
    States(usize, usize),
    /// Of so many fresh operations, so many are wrong.
    Tested(u64, u64),
}

impl fmt::Display for InferenceProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Traces(traces) => write!(f, "{traces} traces to explain"),
            Self::States(settled, next) => write!(f, "{settled} states settled, {next} next"),
            Self::Tested(tested, wrong) => {
                write!(f, "{wrong} of {tested} fresh operations differ")
            }
        }
    }
}

/// A program that does what ordinary code did in all traces, and on fresh operations.
pub struct Learned {
    /// The program.
    pub program: Inferred,
    /// Traces that were needed.
    pub traces: usize,
}

impl Inference {
    /// Infers a program from code. States of a function are the same wherever it is called from, if
    /// what happens next can be explained so; if not, each call has its own.
    pub fn infer(
        &self,
        code: &Arc<dyn Code>,
        progress: &mut dyn FnMut(InferenceProgress),
    ) -> Result<Learned> {
        let shared = self.infer_with(code, true, progress);
        match shared {
            Err(Error::Program(_)) if self.sites => self.infer_with(code, false, progress),
            shared => shared,
        }
    }

    fn infer_with(
        &self,
        code: &Arc<dyn Code>,
        shared: bool,
        progress: &mut dyn FnMut(InferenceProgress),
    ) -> Result<Learned> {
        let seen = |mut trace: Trace| {
            for event in trace.events.iter_mut().filter(|_| !shared) {
                let mut site = DefaultHasher::new();
                (event.site, std::mem::take(&mut event.calls)).hash(&mut site);
                event.site = site.finish();
            }
            trace
        };
        let operations = code.signature().operations.len();
        let mut known: HashSet<Trace> = HashSet::new();
        let mut traces: Vec<Trace> = Vec::new();
        for (turn, &nodes) in self.nodes.iter().enumerate() {
            self.watch(code, nodes, 4, 10 * nodes, turn as u64, &mut |trace, _| {
                let trace = seen(trace);
                if known.insert(trace.clone()) {
                    traces.push(trace);
                }
                Ok(true)
            })?;
        }
        for round in 0..self.rounds as u64 {
            // Short traces first: states are settled in the order in which they are met.
            traces.sort_by(|a, b| {
                (a.events.len(), &a.arguments).cmp(&(b.events.len(), &b.arguments))
            });
            progress(InferenceProgress::Traces(traces.len()));
            let mut automaton = Automaton::of(&traces, operations, self.sites);
            if !self.sites {
                automaton.merge(&traces, false, &mut |settled, next| {
                    progress(InferenceProgress::States(settled, next));
                });
            }
            let Some(trees) = automaton.trees(&traces, self.sites) else {
                return Err(Error::Program(format!(
                    "what `{}` does next does not follow from nodes, nil and comparisons that it has \
                     seen",
                    code.signature().name
                )));
            };
            let program = Inferred::new(&**code, &automaton, &trees, self.reads)?;
            let mut wrong: Vec<Trace> = Vec::new();
            let (mut tested, mut differ) = (0, 0);
            let largest = self.nodes.last().copied().unwrap_or(8);
            for (nodes, sequences, count) in
                [(largest, 600, 60), (20, 200, 60), (40, 40, 150), (200, 8, 400)]
            {
                let turn = 100 + 1000 * round + nodes as u64;
                self.watch(code, nodes, sequences, count, turn, &mut |trace, [before, after]| {
                    tested += 1;
                    if !agrees(&program, &trace, before, after) {
                        differ += 1;
                        wrong.extend(Some(seen(trace)).filter(|trace| known.insert(trace.clone())));
                    }
                    Ok(differ < 8)
                })?;
                if differ > 0 {
                    break;
                }
            }
            progress(InferenceProgress::Tested(tested, differ));
            if differ == 0 {
                return Ok(Learned { program, traces: traces.len() });
            }
            if wrong.is_empty() {
                break;
            }
            traces.append(&mut wrong);
        }
        Err(Error::Program(format!(
            "`{}` was not inferred: after at most {} rounds, the program still differs from the code",
            code.signature().name,
            self.rounds
        )))
    }

    /// Compares a program with the code on random and adversarial operations, whole memories and
    /// outcomes: how many, and how many of them differ.
    pub fn compare(
        &self,
        code: &Arc<dyn Code>,
        program: &Inferred,
        trial: Trial,
    ) -> Result<(u64, u64)> {
        let (mut tested, mut wrong) = (0, 0);
        let Trial { sequences, nodes, operations, seed } = trial;
        let watcher = Inference { seed, ..self.clone() };
        watcher.watch(code, nodes, sequences, operations, 7, &mut |trace, [before, after]| {
            tested += 1;
            wrong += u64::from(!agrees(program, &trace, before, after));
            Ok(true)
        })?;
        Ok((tested, wrong))
    }

    /// Runs the code on random operations, and hands over what it did, with the memory before and
    /// after, until it is told to stop.
    fn watch(
        &self,
        code: &Arc<dyn Code>,
        nodes: usize,
        sequences: u64,
        operations: usize,
        turn: u64,
        hand: &mut dyn FnMut(Trace, [&Store; 2]) -> Result<bool>,
    ) -> Result<()> {
        let signature = code.signature();
        let outline = Definition::new(signature.clone(), |_, _| None);
        for sequence in 0..sequences {
            let mut explored = Exploration::new(&outline, nodes, self.seed, turn << 32 | sequence);
            for _ in 0..operations {
                let Call { operation, arguments } = explored.call();
                if signature.refusal(&explored.store, operation, &arguments).is_some() {
                    continue;
                }
                let before = explored.store.clone();
                let most = steps_allowed(&before) as usize;
                let mut memory = CodeMemory::new(&mut explored.store, most);
                let outcome = code.run(operation, &mut memory, &arguments)?;
                let Some(events) = memory.events() else {
                    return Err(Error::Program(format!(
                        "`{}` of `{}` does not end, or uses a node that does not exist, on nodes {arguments:?}",
                        signature.operations[operation].name, signature.name
                    )));
                };
                let trace = Trace { operation, arguments, events, outcome };
                if !hand(trace, [&before, &explored.store])? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Whether a program does to a memory what the code did.
fn agrees(program: &Inferred, trace: &Trace, before: &Store, after: &Store) -> bool {
    let mut store = before.for_program(program.signature());
    let outcome = interpret(program, &mut store, &mut (), trace.operation, &trace.arguments);
    let outcome = outcome.map(|outcome| match outcome {
        Outcome::Refused(_) => None,
        outcome => Some(outcome),
    });
    outcome.is_ok_and(|outcome| outcome.as_ref() == Some(&trace.outcome)) && store.same_nodes(after)
}
