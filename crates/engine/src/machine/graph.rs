//! A batch of views as one graph: rows, what each row is given, and which reads which.

use pgn_machines::{Seen, Signature, View};

use super::layout::Layout;
use crate::Error;

/// Rows of several views: all nodes of all views, then the controllers.
///
/// A relation is a list of *slots*. What its matrix multiplies is, per slot, the sum of the rows
/// that the slot reads; the product is added to every row that the slot writes. One slot serves
/// all nodes that read the same thing, and all nodes that are read together.
#[derive(Debug, Default)]
pub struct Graph {
    /// Where the nodes of each view begin; at the end, how many there are.
    pub starts: Vec<usize>,
    /// Features that are on: (row, feature).
    pub features: Vec<(u32, u32)>,
    /// Where the slots of each relation begin; at the end, how many there are.
    pub slots: Vec<usize>,
    /// (slot, row).
    pub reads: Vec<(u32, u32)>,
    /// (slot, row).
    pub writes: Vec<(u32, u32)>,
    /// By which relations node i is related to node j of its view, as a set of bits: node i of
    /// view v has a row of as many entries as the view has nodes.
    pub related: Vec<u64>,
    /// Where the rows of `related` of each view begin.
    pub related_starts: Vec<usize>,
    /// By node, the registers that hold it.
    pub held: Vec<u64>,
}

impl Graph {
    pub fn views(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn nodes(&self) -> usize {
        self.starts[self.views()]
    }

    pub fn rows(&self) -> usize {
        self.nodes() + self.views()
    }

    /// The relations of node i (counted in view v) to each node of the view.
    pub fn related(&self, v: usize, i: usize) -> &[u64] {
        let count = self.starts[v + 1] - self.starts[v];
        &self.related[self.related_starts[v] + i * count..][..count]
    }

    /// Takes the place of what was there. The views must fit the layout ([`check_view`]).
    pub fn build<'a>(&mut self, layout: &Layout, views: impl Iterator<Item = &'a View> + Clone) {
        self.starts.clear();
        self.starts.push(0);
        for view in views.clone() {
            self.starts.push(self.nodes() + usize::from(view.nodes));
        }
        self.features.clear();
        self.slots.clear();
        self.reads.clear();
        self.writes.clear();
        self.add_features(layout, views.clone());
        self.relate_nodes(layout, views.clone());
        self.relate_controllers(layout, views);
        debug_assert_eq!(self.slots.len(), layout.relations() + 1);
    }

    fn add_features<'a>(&mut self, layout: &Layout, views: impl Iterator<Item = &'a View>) {
        let nodes = self.nodes();
        for (v, view) in views.enumerate() {
            let start = self.starts[v];
            let common = layout.common_features(view.state, &view.controls);
            let mut on = |row: usize, feature: usize| {
                self.features.push((row as u32, feature as u32));
            };
            for node in 0..view.nodes {
                let row = start + usize::from(node);
                common.iter().for_each(|&feature| on(row, feature));
                for field in 0..layout.fields {
                    match view.pointer(node, field) {
                        Seen::Nil => on(row, layout.nil_field(field)),
                        Seen::Unread => on(row, layout.unread_field(field)),
                        Seen::Node(_) => {}
                    }
                }
                for bit in 0..layout.bits {
                    on(row, layout.bit(bit, view.bit(node, bit)));
                }
            }
            let row = nodes + v;
            common.iter().for_each(|&feature| on(row, layout.node_features() + feature));
            for (register, &seen) in view.registers.iter().enumerate() {
                match seen {
                    Seen::Nil => on(row, layout.nil_register(register)),
                    Seen::Unread => on(row, layout.unread_register(register)),
                    Seen::Node(node) => on(start + usize::from(node), layout.held_by(register)),
                }
            }
        }
    }

    fn relate_nodes<'a>(&mut self, layout: &Layout, views: impl Iterator<Item = &'a View> + Clone) {
        self.related.clear();
        self.related_starts.clear();
        for view in views.clone() {
            let count = usize::from(view.nodes);
            let first = self.related.len();
            self.related_starts.push(first);
            self.related.resize(first + count * count, 0);
            let related = &mut self.related[first..];
            let mut relate = |i: usize, j: usize, relation: usize| {
                related[i * count + j] |= 1 << relation;
            };
            for node in 0..view.nodes {
                let i = usize::from(node);
                relate(i, i, Layout::ITSELF);
                for field in 0..layout.fields {
                    if let Seen::Node(to) = view.pointer(node, field) {
                        relate(i, usize::from(to), layout.ahead(field));
                        relate(usize::from(to), i, layout.behind(field));
                    }
                }
            }
            for read in &view.comparisons {
                let (a, b) = (usize::from(read.a), usize::from(read.b));
                relate(a, b, layout.compared(read.less));
                relate(b, a, layout.compared(read.less) + 1);
            }
        }
        for relation in 0..layout.between_nodes() {
            self.slots.push(self.next_slot());
            for v in 0..self.views() {
                let start = self.starts[v];
                let count = self.starts[v + 1] - start;
                for i in 0..count {
                    let slot = self.next_slot();
                    let mut read = false;
                    for j in 0..count {
                        let related = self.related[self.related_starts[v] + i * count + j];
                        if related >> relation & 1 == 1 {
                            self.reads.push((slot as u32, (start + j) as u32));
                            read = true;
                        }
                    }
                    if read {
                        self.writes.push((slot as u32, (start + i) as u32));
                    }
                }
            }
        }
    }

    fn relate_controllers<'a>(
        &mut self,
        layout: &Layout,
        views: impl Iterator<Item = &'a View> + Clone,
    ) {
        self.held.clear();
        self.held.resize(self.nodes(), 0);
        let controller = |v: usize| (self.starts[self.starts.len() - 1] + v) as u32;
        let in_register = |register: usize| {
            let starts = &self.starts;
            views.clone().enumerate().filter_map(move |(v, view)| match view.registers[register] {
                Seen::Node(node) => Some((v, (starts[v] + usize::from(node)) as u32)),
                _ => None,
            })
        };
        let (reads, writes, slots) = (&mut self.reads, &mut self.writes, &mut self.slots);
        let next = |writes: &[(u32, u32)]| writes.last().map_or(0, |&(slot, _)| slot + 1);
        for register in 0..layout.registers {
            debug_assert_eq!(slots.len(), layout.to_register(register));
            slots.push(next(writes) as usize);
            for (v, node) in in_register(register) {
                self.held[node as usize] |= 1 << register;
                let slot = next(writes);
                reads.push((slot, controller(v)));
                writes.push((slot, node));
            }
        }
        // To all nodes of a view; a view without nodes has no slot.
        slots.push(next(writes) as usize);
        let filled = |v: &usize| self.starts[v + 1] > self.starts[*v];
        for v in (0..self.starts.len() - 1).filter(filled) {
            let slot = next(writes);
            reads.push((slot, controller(v)));
            writes.extend((self.starts[v]..self.starts[v + 1]).map(|node| (slot, node as u32)));
        }
        for register in 0..layout.registers {
            debug_assert_eq!(slots.len(), layout.of_register(register));
            slots.push(next(writes) as usize);
            for (v, node) in in_register(register) {
                let slot = next(writes);
                reads.push((slot, node));
                writes.push((slot, controller(v)));
            }
        }
        slots.push(next(writes) as usize);
        for v in (0..self.starts.len() - 1).filter(filled) {
            let slot = next(writes);
            reads.extend((self.starts[v]..self.starts[v + 1]).map(|node| (slot, node as u32)));
            writes.push((slot, controller(v)));
        }
        slots.push(next(writes) as usize);
        for v in 0..self.starts.len() - 1 {
            let slot = next(writes);
            reads.push((slot, controller(v)));
            writes.push((slot, controller(v)));
        }
        slots.push(next(writes) as usize);
    }

    /// Every slot writes something, so the last one is that of the last write.
    fn next_slot(&self) -> usize {
        self.writes.last().map_or(0, |&(slot, _)| slot as usize + 1)
    }
}

/// Refuses a view that is not one of this program's.
pub fn check_view(signature: &Signature, view: &View) -> Result<(), Error> {
    let refuse = |trouble: String| {
        Err(Error::Input(format!("a view does not fit program `{}`: {trouble}", signature.name)))
    };
    let nodes = usize::from(view.nodes);
    for (what, found, expected) in [
        ("registers", view.registers.len(), signature.registers.len()),
        ("fields of the controller", view.controls.len(), signature.controls.len()),
        ("pointers", view.pointers.len(), nodes * signature.pointers.len()),
        ("bits", view.bits.len(), nodes * signature.bits.len()),
    ] {
        if found != expected {
            return refuse(format!("it has {found} {what}; expected {expected}"));
        }
    }
    if usize::from(view.state) >= signature.states.len() {
        let states = signature.states.len();
        return refuse(format!("it is of state {}; there are {states}", view.state));
    }
    for (value, control) in view.controls.iter().zip(&signature.controls) {
        if let Some(value) = *value
            && usize::from(value) >= control.values.len()
        {
            let (name, count) = (&control.name, control.values.len());
            return refuse(format!("`{name}` is value {value} of {count}"));
        }
    }
    let compared = view.comparisons.iter().flat_map(|read| [read.a, read.b]);
    let pointed = view.pointers.iter().chain(&view.registers).filter_map(|&seen| match seen {
        Seen::Node(node) => Some(node),
        _ => None,
    });
    if let Some(node) = pointed.chain(compared).find(|&node| node >= view.nodes) {
        return refuse(format!("it names node {node} of {nodes}"));
    }
    Ok(())
}
