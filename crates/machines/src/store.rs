//! Plain memory: the nodes of a structure in arrays.

use pgn_structures::{Node, Visited};

use crate::{Memory, Signature, Values, values};

/// No node.
pub(crate) const NIL: Node = Node::MAX;

/// n nodes with their fields, keys, and the registers and fields of the controller.
///
/// A node is a few adjacent words: its pointers, then its bits. A node of the link/cut tree takes
/// 16 bytes.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) words: Vec<u32>,
    /// Words per node.
    pub(crate) stride: usize,
    /// Pointer fields per node; the bits follow, in one word.
    pub(crate) fields: usize,
    pub(crate) keys: Vec<u32>,
    pub(crate) registers: Vec<Node>,
    pub(crate) controls: Vec<u8>,
    pub(crate) visited: Visited,
    marks: Vec<(u8, Node)>,
    /// Fields that lead to children, if nodes have values.
    children: Vec<u8>,
}

impl Store {
    /// One node per key, all pointers nil, all bits 0.
    pub fn new(signature: &Signature, keys: &[f32]) -> Self {
        Store::with_ranks(signature, keys.iter().map(|&key| ordered(key)).collect())
    }

    /// A store whose keys are whole numbers.
    pub fn with_ranks(signature: &Signature, keys: Vec<u32>) -> Self {
        let fields = signature.pointers.len();
        let stride = fields + usize::from(!signature.bits.is_empty());
        let mut words = vec![NIL; stride * keys.len()];
        if stride > fields {
            words.iter_mut().skip(fields).step_by(stride).for_each(|bits| *bits = 0);
        }
        Store {
            words,
            stride,
            fields,
            registers: vec![NIL; signature.registers.len()],
            controls: vec![0; signature.controls.len()],
            visited: Visited::new(keys.len()),
            keys,
            marks: Vec::new(),
            children: signature.children.clone(),
        }
    }

    /// These nodes, with the registers and fields of the controller that a program has.
    pub(crate) fn for_program(&self, signature: &Signature) -> Self {
        let registers = vec![NIL; signature.registers.len()];
        Store { registers, controls: vec![0; signature.controls.len()], ..self.clone() }
    }

    /// Whether all pointers and bits of nodes are equal.
    pub(crate) fn same_nodes(&self, other: &Store) -> bool {
        self.words == other.words
    }

    /// Keys as whole numbers that compare as they do.
    pub fn ranks(&self) -> &[u32] {
        &self.keys
    }

    /// Number of nodes, n.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// A pointer field of a node; nil too if there is no such node or field.
    pub fn pointer(&self, node: Node, field: usize) -> Option<Node> {
        let node = self.words.get(node as usize * self.stride..)?.get(..self.fields)?;
        node_of(*node.get(field)?)
    }

    /// A bit of a node; false too if there is no such node or bit.
    pub fn bit(&self, node: Node, bit: usize) -> bool {
        let exists = (node as usize) < self.len() && self.stride > self.fields && bit < 32;
        exists && self.words[node as usize * self.stride + self.fields] >> bit & 1 == 1
    }

    /// Whether the key of `a` is less than that of `b`; false if one of them does not exist.
    pub fn less(&self, a: Node, b: Node) -> bool {
        let key = |node: Node| self.keys.get(node as usize);
        key(a).zip(key(b)).is_some_and(|(a, b)| a < b)
    }

    /// A register; nil too if there is no such register.
    pub fn register(&self, register: usize) -> Option<Node> {
        node_of(*self.registers.get(register)?)
    }

    /// Changes the key of a node, if it exists: for a host that reuses nodes.
    pub fn set_key(&mut self, node: Node, rank: u32) {
        if let Some(key) = self.keys.get_mut(node as usize) {
            *key = rank;
        }
    }

    /// The nodes that the last operation visited.
    pub fn visited(&self) -> &Visited {
        &self.visited
    }

    /// Carries out the arithmetic that a micro-step has asked for.
    pub(crate) fn settle(&mut self, values: &mut impl Values) {
        let marks = std::mem::take(&mut self.marks);
        if self.children.is_empty() {
            return;
        }
        for &(mark, node) in &marks {
            match usize::from(mark) {
                values::ADD => values.add(node),
                values::SET => values.set(node),
                _ => {}
            }
        }
        for &(mark, node) in &marks {
            if usize::from(mark) == values::PULL {
                let first = node as usize * self.stride;
                let children = self.children.iter().map(|&field| first + usize::from(field));
                let children = children.map(|place| self.words[place]);
                values.pull(node, children.filter(|&child| child != NIL));
            }
        }
    }

    /// All fields of all nodes, for comparing two stores.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Prepares for an operation: arguments in registers, everything else as at the start.
    pub(crate) fn begin(&mut self, signature: &Signature, operation: usize, arguments: &[Node]) {
        let operation = &signature.operations[operation];
        self.registers.fill(NIL);
        self.controls.fill(0);
        for (&register, &node) in operation.arguments.iter().zip(arguments) {
            self.registers[usize::from(register)] = node;
        }
        for &(control, value) in &operation.controls {
            self.controls[usize::from(control)] = value;
        }
        self.visited.clear();
    }
}

pub(crate) fn node_of(word: u32) -> Option<Node> {
    (word != NIL).then_some(word)
}

/// A number that compares as the float does; not a number comes last.
fn ordered(key: f32) -> u32 {
    let bits = (key + 0.0).to_bits(); // -0 becomes 0
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

impl Memory for Store {
    #[inline]
    fn register(&mut self, register: usize) -> Option<Node> {
        node_of(self.registers[register])
    }

    #[inline]
    fn pointer(&mut self, node: Node, field: usize) -> Option<Node> {
        node_of(self.words[node as usize * self.stride + field])
    }

    #[inline]
    fn bit(&mut self, node: Node, bit: usize) -> bool {
        self.words[node as usize * self.stride + self.fields] >> bit & 1 == 1
    }

    #[inline]
    fn less(&mut self, a: Node, b: Node) -> bool {
        self.keys[a as usize] < self.keys[b as usize]
    }

    #[inline]
    fn control(&mut self, control: usize) -> u8 {
        self.controls[control]
    }

    #[inline]
    fn set_register(&mut self, register: usize, to: Option<Node>) {
        self.registers[register] = to.unwrap_or(NIL);
    }

    #[inline]
    fn set_pointer(&mut self, node: Node, field: usize, to: Option<Node>) {
        self.words[node as usize * self.stride + field] = to.unwrap_or(NIL);
    }

    #[inline]
    fn toggle(&mut self, node: Node, bit: usize) {
        self.words[node as usize * self.stride + self.fields] ^= 1 << bit;
    }

    #[inline]
    fn set_control(&mut self, control: usize, value: u8) {
        self.controls[control] = value;
    }

    #[inline]
    fn mark(&mut self, node: Node, mark: usize) {
        match mark {
            0 => self.visited.insert(node),
            _ => self.marks.push((mark as u8, node)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Store, ordered};
    use crate::{Program, programs::heap};

    #[test]
    fn what_does_not_exist_is_nil() {
        let store = Store::new(heap().signature(), &[0.1, 0.2]);
        assert_eq!((store.pointer(2, 0), store.pointer(u32::MAX, 0)), (None, None));
        assert_eq!((store.pointer(0, 2), store.register(99)), (None, None));
        assert!(store.less(0, 1) && !store.less(0, 2) && !store.bit(2, 0) && !store.bit(0, 99));
    }

    #[test]
    fn ranks_compare_as_floats_do() {
        let keys = [-f32::INFINITY, -1.5, -1e-30, -0.0, 0.0, 1e-30, 0.5, 2.0, f32::INFINITY];
        for a in keys {
            for b in keys {
                assert_eq!(ordered(a) < ordered(b), a < b, "{a} {b}");
            }
        }
    }
}
