//! A program put together from its parts.

use pgn_structures::{Rng, TaskText};

use crate::{Call, Memory, Program, Signature, Store, View};

/// A predicate on what was read so far.
type Holds = fn(&View) -> bool;

/// A [`Program`] made of functions: the short way to write one in Rust.
///
/// ```
/// use pgn_machines::{Definition, Halt, Memory, Signature, invariants, names};
///
/// names! { usize FIELDS: NEXT = "next" }
/// names! { usize REGISTERS: X = "x" }
/// names! { u8 STATES: WALK = "walk", END = "end" }
///
/// fn step(state: u8, memory: &mut dyn Memory) -> Option<u8> {
///     let x = memory.register(X)?; // undefined without an argument
///     memory.visit(x);
///     let Some(next) = memory.pointer(x, NEXT) else { return Some(END) };
///     memory.set_register(X, Some(next));
///     Some(WALK)
/// }
///
/// let signature = Signature::new("last")
///     .pointers(FIELDS)
///     .registers(REGISTERS)
///     .states(STATES)
///     .halt("end", Halt::Node(X as u8))
///     .operation("last", "walk", &["x"], &[]);
/// let list = Definition::new(signature, step)
///     .invariant("a list has an end", |view| invariants::acyclic(view, &[], &[NEXT]));
///
/// let machine = pgn_machines::Machine::new(std::sync::Arc::new(list))?;
/// assert_eq!(machine.consistent().len(), 2); // x.next is nil, or another node
/// # Ok::<(), pgn_machines::Error>(())
/// ```
#[derive(Clone)]
pub struct Definition {
    signature: Signature,
    step: fn(u8, &mut dyn Memory) -> Option<u8>,
    invariants: Vec<(String, Holds)>,
    sample: Option<fn(&Store, &mut Rng) -> Call>,
    about: Option<TaskText>,
}

impl Definition {
    /// A program with these names and steps.
    pub fn new(signature: Signature, step: fn(u8, &mut dyn Memory) -> Option<u8>) -> Self {
        Definition { signature, step, invariants: Vec::new(), sample: None, about: None }
    }

    /// With something that always holds before a step: see [`Program::holds`].
    pub fn invariant(mut self, sentence: &str, holds: fn(&View) -> bool) -> Self {
        self.invariants.push((sentence.to_string(), holds));
        self
    }

    /// With what people call it: a title, a summary and the meaning of the answers 0 and 1, as in
    /// [`TaskText`].
    pub fn about(mut self, title: &str, summary: &str, answers: [&str; 2]) -> Self {
        let operations = self.signature.operations.iter().map(|one| one.name.as_str());
        let operations = operations.collect::<Vec<_>>().join(", ");
        self.about = Some(TaskText::new(title, &operations, summary, answers));
        self
    }

    /// With a way to draw operations: see [`Program::sample`].
    pub fn sampled_by(mut self, sample: fn(&Store, &mut Rng) -> Call) -> Self {
        self.sample = Some(sample);
        self
    }
}

impl Program for Definition {
    fn about(&self) -> TaskText {
        self.about.clone().unwrap_or_else(|| TaskText::named(&self.signature.name))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn step(&self, state: u8, memory: &mut dyn Memory) -> Option<u8> {
        (self.step)(state, memory)
    }

    fn invariants(&self) -> Vec<String> {
        self.invariants.iter().map(|(sentence, _)| sentence.clone()).collect()
    }

    fn holds(&self, invariant: usize, view: &View) -> bool {
        (self.invariants[invariant].1)(view)
    }

    fn sample(&self, store: &Store, rng: &mut Rng) -> Call {
        match self.sample {
            Some(sample) => sample(store, rng),
            None => crate::program::any_call(&self.signature, store, rng),
        }
    }
}

/// Numbers names: `names! { u8 STATES: WALK = "walk", END = "end" }` declares the constants
/// `WALK` = 0 and `END` = 1, of type `u8`, and the list `STATES` of names.
#[macro_export]
macro_rules! names {
    ($type:ident $list:ident: $($constant:ident = $name:literal),* $(,)?) => {
        $crate::names!(@ $type, 0, $($constant,)*);
        const $list: &[&str] = &[$($name),*];
    };
    (@ $type:ident, $number:expr, $constant:ident, $($rest:ident,)*) => {
        #[allow(dead_code)]
        const $constant: $type = $number;
        $crate::names!(@ $type, $number + 1, $($rest,)*);
    };
    (@ $type:ident, $number:expr,) => {};
}
