//! A program put together from its parts.

use pgn_structures::{Node, Rng, TaskText};

use crate::{Call, Memory, Program, Signature, Store};

/// A [`Program`] made of functions: the short way to write one in Rust.
///
/// ```
/// use pgn_machines::{Definition, Halt, Memory, Signature, names};
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
/// let list = Definition::new(signature, step).clauses(&["acyclic next", "x != nil"]);
///
/// let machine = pgn_machines::Machine::new(std::sync::Arc::new(list))?;
/// assert_eq!(machine.consistent().len(), 2); // x.next is nil, or another node
/// # Ok::<(), pgn_machines::Error>(())
/// ```
#[derive(Clone)]
pub struct Definition {
    signature: Signature,
    step: fn(u8, &mut dyn Memory) -> Option<u8>,
    clauses: Vec<String>,
    sample: Option<fn(&Store, &mut Rng) -> Call>,
    about: Option<TaskText>,
    handles: Node,
}

impl Definition {
    /// A program with these names and steps.
    pub fn new(signature: Signature, step: fn(u8, &mut dyn Memory) -> Option<u8>) -> Self {
        Definition { signature, step, clauses: Vec::new(), sample: None, about: None, handles: 0 }
    }

    /// With clauses that hold before every step: see [`Clauses`](crate::Clauses).
    pub fn clauses<T: ToString>(mut self, clauses: impl IntoIterator<Item = T>) -> Self {
        self.clauses.extend(clauses.into_iter().map(|clause| clause.to_string()));
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

    /// With this many nodes that stand for whole structures: see [`Program::handles`].
    pub fn handles(mut self, handles: Node) -> Self {
        self.handles = handles;
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

    fn clauses(&self) -> Vec<String> {
        self.clauses.clone()
    }

    fn handles(&self) -> Node {
        self.handles
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
