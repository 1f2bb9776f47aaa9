//! What ordinary code does to a memory: loads, stores and comparisons, in order.

use std::panic::Location;
use std::sync::Arc;

use pgn_structures::Node;

use crate::{Memory, Outcome, Result, Signature, Store};

/// A data structure as one would write it: functions with loops and local variables over a memory
/// that is handed in. No states, no registers, no lenses.
pub trait Code: Send + Sync {
    /// Its names: pointer fields, bits, and operations with a register per argument. It has no
    /// states.
    fn signature(&self) -> &Signature;

    /// Carries out an operation, and notes what it does.
    fn run(
        &self,
        operation: usize,
        memory: &mut CodeMemory<'_>,
        arguments: &[Node],
    ) -> Result<Outcome>;
}

/// The functions that run, outermost first, and where each was called.
pub type Calls = Arc<[(String, String)]>;

/// One access to the memory, with the program point it came from: any number that tells points
/// apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    /// Where in the code.
    pub site: u64,
    /// How the code came there.
    pub calls: Calls,
    /// What.
    pub access: Access,
    /// Of which node, and the second node of a store or a comparison.
    pub nodes: [Option<Node>; 2],
    /// What was loaded.
    pub found: Found,
}

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Of a pointer field.
    Load(u8),
    /// To a pointer field.
    Store(u8),
    /// Of a bit.
    Bit(u8),
    /// Of a bit.
    Toggle(u8),
    /// Of two keys.
    Less,
}

/// What an access found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Found {
    /// A write finds nothing.
    Nothing,
    /// A node or nil.
    Pointer(Option<Node>),
    /// A bit, or the outcome of a comparison.
    Flag(bool),
}

/// A memory that notes what ordinary code does to it.
///
/// Where an access is made is its program point. Functions that are called from several places say
/// so with [`CodeMemory::call`].
#[derive(Debug)]
pub struct CodeMemory<'a> {
    store: &'a mut Store,
    events: Vec<Event>,
    site: Option<u64>,
    calls: Calls,
    /// How many more accesses are carried out; then all finds nothing, so that loops end.
    left: usize,
}

impl<'a> CodeMemory<'a> {
    /// Notes up to `most` accesses.
    pub fn new(store: &'a mut Store, most: usize) -> Self {
        CodeMemory { store, events: Vec::new(), site: None, calls: Arc::default(), left: most }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.store.len()
    }

    /// The memory as it is now, to look at without a trace.
    pub fn before(&self) -> &Store {
        self.store
    }

    /// How many more accesses are carried out.
    pub fn left(&self) -> usize {
        self.left
    }

    /// What happened; `None` if it was too much.
    pub fn events(self) -> Option<Vec<Event>> {
        (self.left > 0).then_some(self.events)
    }

    /// The program point of all accesses that follow, for code that was traced elsewhere.
    pub fn at(&mut self, site: u64) {
        self.site = Some(site);
    }

    /// What `run` does is done in this function, called from this place. Both are names.
    pub fn call<T>(&mut self, function: &str, place: &str, run: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.calls.clone();
        let called = (function.to_owned(), place.to_owned());
        self.calls = outside.iter().cloned().chain([called]).collect();
        let done = run(self);
        self.calls = outside;
        done
    }

    /// The functions that all accesses which follow are in, for code that was traced elsewhere.
    pub fn within(&mut self, calls: Calls) {
        self.calls = calls;
    }

    /// A pointer field of a node.
    #[track_caller]
    pub fn load(&mut self, node: Node, field: usize) -> Option<Node> {
        let found = self.store.pointer(node, field).filter(|_| self.left > 0);
        self.note(Access::Load(field as u8), [Some(node), None], Found::Pointer(found));
        found
    }

    /// Writes a pointer field of a node.
    #[track_caller]
    pub fn store(&mut self, node: Node, field: usize, to: Option<Node>) {
        if self.note(Access::Store(field as u8), [Some(node), to], Found::Nothing) {
            self.store.set_pointer(node, field, to);
        }
    }

    /// A bit of a node.
    #[track_caller]
    pub fn bit(&mut self, node: Node, bit: usize) -> bool {
        let found = self.left > 0 && self.store.bit(node, bit);
        self.note(Access::Bit(bit as u8), [Some(node), None], Found::Flag(found));
        found
    }

    /// Toggles a bit of a node.
    #[track_caller]
    pub fn toggle(&mut self, node: Node, bit: usize) {
        if self.note(Access::Toggle(bit as u8), [Some(node), None], Found::Nothing) {
            self.store.toggle(node, bit);
        }
    }

    /// Whether the key of `a` is less than that of `b`.
    #[track_caller]
    pub fn less(&mut self, a: Node, b: Node) -> bool {
        let found = self.left > 0 && self.store.less(a, b);
        self.note(Access::Less, [Some(a), Some(b)], Found::Flag(found));
        found
    }

    /// Notes an access; whether it may be carried out, on nodes that exist.
    #[track_caller]
    fn note(&mut self, access: Access, nodes: [Option<Node>; 2], found: Found) -> bool {
        let exists = nodes.iter().flatten().all(|&node| (node as usize) < self.store.len());
        if self.left == 0 || !exists {
            self.left = 0;
            return false;
        }
        let here = Location::caller();
        let site = self.site.unwrap_or(u64::from(here.line()) << 32 | u64::from(here.column()));
        self.events.push(Event { site, calls: self.calls.clone(), access, nodes, found });
        self.left -= 1;
        true
    }
}

/// An operation that was watched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Trace {
    pub operation: usize,
    pub arguments: Vec<Node>,
    pub events: Vec<Event>,
    pub outcome: Outcome,
}
