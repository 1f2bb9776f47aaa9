//! Memory that notes what a step reads and writes: recording and symbolic execution.

use std::collections::BTreeSet;

use pgn_structures::Node;

use crate::consistent::possible;
use crate::lens::{Path, PathRead};
use crate::{Action, Clauses, Memory, Seen, Signature, Store, View, Write};

/// A memory of which only what has been read exists, and in which nothing is overwritten: reads
/// make up a [`View`], writes an [`Action`].
///
/// What has not been read yet comes from a source: a [`Store`] (recording), a choice among all
/// values that are consistent (symbolic), or nowhere (a view that shows all there is to see).
pub struct TracingMemory<'a> {
    signature: &'a Signature,
    view: View,
    action: Action,
    source: Source<'a>,
    /// How each node was first reached.
    paths: Vec<Path>,
    reads: BTreeSet<PathRead>,
    /// Whether something was read that the source does not have.
    failed: bool,
    /// Whether there were more nodes to see than a step may see.
    crowded: bool,
}

enum Source<'a> {
    View,
    Store(&'a Store, Vec<Node>),
    Choices(&'a mut Choices, &'a Clauses),
}

/// A branch of a symbolic execution: which of how many values each read took.
#[derive(Default)]
pub(crate) struct Choices {
    taken: Vec<(usize, usize)>,
    position: usize,
}

impl Choices {
    /// Goes on to the next branch; false if there is none.
    pub fn advance(&mut self) -> bool {
        self.position = 0;
        while let Some((choice, options)) = self.taken.pop() {
            if choice + 1 < options {
                self.taken.push((choice + 1, options));
                return true;
            }
        }
        false
    }

    fn choose(&mut self, options: usize) -> usize {
        if self.position == self.taken.len() {
            self.taken.push((0, options));
        }
        self.position += 1;
        self.taken[self.position - 1].0
    }
}

/// No step sees more nodes than this.
pub(crate) const MOST_NODES: u8 = 64;

impl<'a> TracingMemory<'a> {
    fn over(signature: &'a Signature, view: View, source: Source<'a>) -> Self {
        let action = Action::idle(&view, signature);
        let (paths, reads) = (Vec::new(), BTreeSet::new());
        TracingMemory {
            signature,
            view,
            action,
            source,
            paths,
            reads,
            failed: false,
            crowded: false,
        }
    }

    /// A memory that has what a view shows.
    pub fn of_view(signature: &'a Signature, view: View) -> Self {
        TracingMemory::over(signature, view, Source::View)
    }

    /// A memory that reads from a store, and leaves it as it is.
    pub fn recording(signature: &'a Signature, state: u8, store: &'a Store) -> Self {
        let view = View::empty(state, signature);
        TracingMemory::over(signature, view, Source::Store(store, Vec::new()))
    }

    pub(crate) fn symbolic(
        signature: &'a Signature,
        clauses: &'a Clauses,
        state: u8,
        choices: &'a mut Choices,
    ) -> Self {
        let source = Source::Choices(choices, clauses);
        TracingMemory::over(signature, View::empty(state, signature), source)
    }

    /// What was read, by access path.
    pub fn reads(&self) -> &BTreeSet<PathRead> {
        &self.reads
    }

    /// What was read.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// What was written, if all that was read could be read.
    pub fn finish(mut self, next: u8) -> Option<Action> {
        self.action.next = next;
        (!self.failed).then_some(self.action)
    }

    /// Whether something was read that is not there, or that nothing consistent could be.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Whether there were more nodes to see than a step may see.
    pub(crate) fn crowded(&self) -> bool {
        self.crowded
    }

    fn add_node(&mut self, path: Path) -> u8 {
        let node = self.view.add_node(self.signature);
        let nodes = usize::from(self.view.nodes);
        self.action.pointers.resize(nodes * self.signature.pointers.len(), Write::Keep);
        self.action.toggles.resize(nodes * self.signature.bits.len(), false);
        self.action.marks.resize(nodes * self.signature.marks.len(), false);
        self.paths.push(path);
        node
    }

    /// Takes one of the values that the source allows for something unread, and sets it.
    fn choose<T: Copy>(&mut self, options: &[T], set: impl Fn(&mut View, T)) -> Option<T> {
        let Source::Choices(choices, clauses) = &mut self.source else {
            self.failed = true;
            return None;
        };
        let consistent: Vec<T> = options
            .iter()
            .copied()
            .filter(|&option| {
                let mut view = self.view.clone();
                set(&mut view, option);
                possible(clauses, &view)
            })
            .collect();
        if consistent.is_empty() {
            self.failed = true;
            return None;
        }
        let chosen = consistent[choices.choose(consistent.len())];
        set(&mut self.view, chosen);
        Some(chosen)
    }

    /// Reads a pointer that is unread so far.
    fn discover(&mut self, place: Place, path: Path) -> Option<Node> {
        self.reads.insert(PathRead::Pointer(path.clone()));
        let seen = match &mut self.source {
            Source::View => {
                self.failed = true;
                return None;
            }
            Source::Store(store, known) => {
                let found = match place {
                    Place::Register(register) => store.register(register),
                    Place::Field(node, field) => store.pointer(known[usize::from(node)], field),
                };
                match found {
                    None => Seen::Nil,
                    Some(found) => match known.iter().position(|&node| node == found) {
                        Some(index) => Seen::Node(index as u8),
                        None => {
                            known.push(found);
                            Seen::Node(self.view.nodes)
                        }
                    },
                }
            }
            Source::Choices(..) => {
                let options = options_of(&self.view);
                let signature = self.signature;
                let set = |view: &mut View, seen| place.set(view, signature, seen);
                // A node that is new is added to the view by `set`; its action follows below.
                let nodes = self.view.nodes;
                let seen = self.choose(&options, set)?;
                self.view.truncate(nodes, signature);
                seen
            }
        };
        if seen == Seen::Node(self.view.nodes) {
            if self.view.nodes == MOST_NODES {
                (self.failed, self.crowded) = (true, true);
                return None;
            }
            self.add_node(path);
        }
        place.set(&mut self.view, self.signature, seen);
        match seen {
            Seen::Node(node) => Some(Node::from(node)),
            _ => None,
        }
    }

    fn path_of(&self, node: Node) -> Path {
        let unknown = Path { register: 0, fields: Vec::new() };
        self.paths.get(node as usize).cloned().unwrap_or(unknown)
    }
}

/// What an unread pointer can be: nil, a node in sight, or another one.
fn options_of(view: &View) -> Vec<Seen> {
    std::iter::once(Seen::Nil).chain((0..=view.nodes).map(Seen::Node)).collect()
}

/// Where a pointer is.
#[derive(Clone, Copy)]
enum Place {
    Register(usize),
    Field(u8, usize),
}

impl Place {
    /// Notes what the pointer is; a node that is not in the view yet is added.
    fn set(self, view: &mut View, signature: &Signature, seen: Seen) {
        if seen == Seen::Node(view.nodes) {
            view.add_node(signature);
        }
        match self {
            Place::Register(register) => view.registers[register] = seen,
            Place::Field(node, field) => {
                view.pointers[usize::from(node) * signature.pointers.len() + field] = seen;
            }
        }
    }
}

impl Memory for TracingMemory<'_> {
    fn register(&mut self, register: usize) -> Option<Node> {
        match self.action.registers[register] {
            Write::Node(node) => return Some(Node::from(node)),
            Write::Nil => return None,
            Write::Keep => {}
        }
        match self.view.registers[register] {
            Seen::Nil => None,
            Seen::Node(node) => Some(Node::from(node)),
            Seen::Unread => {
                let path = Path { register: register as u8, fields: Vec::new() };
                self.discover(Place::Register(register), path)
            }
        }
    }

    fn pointer(&mut self, node: Node, field: usize) -> Option<Node> {
        let index = node as usize * self.signature.pointers.len() + field;
        match self.action.pointers[index] {
            Write::Node(node) => return Some(Node::from(node)),
            Write::Nil => return None,
            Write::Keep => {}
        }
        match self.view.pointers[index] {
            Seen::Nil => None,
            Seen::Node(node) => Some(Node::from(node)),
            Seen::Unread => {
                let mut path = self.path_of(node);
                path.fields.push(field as u8);
                self.discover(Place::Field(node as u8, field), path)
            }
        }
    }

    fn bit(&mut self, node: Node, bit: usize) -> bool {
        let index = node as usize * self.signature.bits.len() + bit;
        let stored = match self.view.bits[index] {
            Some(set) => set,
            None => {
                self.reads.insert(PathRead::Bit(self.path_of(node), bit as u8));
                match &self.source {
                    Source::Store(store, known) => {
                        let set = store.bit(known[node as usize], bit);
                        self.view.bits[index] = Some(set);
                        set
                    }
                    _ => {
                        let put = |view: &mut View, set| view.bits[index] = Some(set);
                        self.choose(&[false, true], put).unwrap_or(false)
                    }
                }
            }
        };
        stored ^ self.action.toggles[index]
    }

    fn less(&mut self, a: Node, b: Node) -> bool {
        if let Some(less) = self.view.less(a as u8, b as u8) {
            return less;
        }
        self.reads.insert(PathRead::Less(self.path_of(a), self.path_of(b)));
        let put = |view: &mut View, less| {
            view.comparisons.push(crate::Comparison { a: a as u8, b: b as u8, less });
        };
        match &self.source {
            Source::Store(store, known) => {
                let less = store.less(known[a as usize], known[b as usize]);
                put(&mut self.view, less);
                less
            }
            _ => self.choose(&[false, true], put).unwrap_or(false),
        }
    }

    fn control(&mut self, control: usize) -> u8 {
        if let Some(value) = self.action.controls[control].or(self.view.controls[control]) {
            return value;
        }
        self.reads.insert(PathRead::Control(control as u8));
        match &self.source {
            Source::Store(store, _) => {
                let value = store.controls[control];
                self.view.controls[control] = Some(value);
                value
            }
            _ => {
                let values: Vec<u8> =
                    (0..self.signature.controls[control].values.len() as u8).collect();
                let put = |view: &mut View, value| view.controls[control] = Some(value);
                self.choose(&values, put).unwrap_or(0)
            }
        }
    }

    fn set_register(&mut self, register: usize, to: Option<Node>) {
        self.action.registers[register] = written(to);
    }

    fn set_pointer(&mut self, node: Node, field: usize, to: Option<Node>) {
        self.action.pointers[node as usize * self.signature.pointers.len() + field] = written(to);
    }

    fn toggle(&mut self, node: Node, bit: usize) {
        self.action.toggles[node as usize * self.signature.bits.len() + bit] ^= true;
    }

    fn set_control(&mut self, control: usize, value: u8) {
        self.action.controls[control] = Some(value);
    }

    fn mark(&mut self, node: Node, mark: usize) {
        self.action.marks[node as usize * self.signature.marks.len() + mark] = true;
    }
}

fn written(to: Option<Node>) -> Write {
    to.map_or(Write::Nil, |node| Write::Node(node as u8))
}
