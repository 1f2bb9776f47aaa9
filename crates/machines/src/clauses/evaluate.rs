//! What is known of a clause in a view, in which most of a memory is unread.

use super::{Atom, Clause, Clauses, Literal, Order, Term};
use crate::{Seen, View};

/// The first clause of which some instance is known to be false, or becomes so when what other
/// instances imply is taken as read.
pub fn violated<'c>(clauses: &'c Clauses, view: &View) -> Option<&'c Clause> {
    let here = |clause: &&Clause| clause.states.get(usize::from(view.state)) == Some(&true);
    let mut view = view.clone();
    loop {
        let Some(parents) = Parents::of(clauses.order.as_ref(), &view) else {
            // The order itself is violated: the clause that declares it has no literals.
            return clauses.clauses.iter().find(|clause| clause.literals.is_empty());
        };
        let known = Known { view: &view, parents: &parents };
        let mut implied = Vec::new();
        for clause in clauses.clauses.iter().filter(here).filter(|one| !one.literals.is_empty()) {
            let mut nodes = vec![None; clause.variables];
            if known.refuted(&clause.literals, &mut nodes, 0, &mut implied) {
                return Some(clause);
            }
        }
        if implied.is_empty() {
            return None;
        }
        implied.into_iter().for_each(|fact| fact.put(&mut view));
    }
}

/// Something that was not read, but follows from a clause.
enum Fact {
    Register(usize, Seen),
    Pointer(u8, usize, Seen),
    Bit(u8, usize, bool),
}

impl Fact {
    fn put(self, view: &mut View) {
        let fields = view.pointers.len().checked_div(usize::from(view.nodes)).unwrap_or(0);
        let bits = view.bits.len().checked_div(usize::from(view.nodes)).unwrap_or(0);
        match self {
            Fact::Register(register, value) => view.registers[register] = value,
            Fact::Pointer(node, field, to) => {
                view.pointers[usize::from(node) * fields + field] = to;
            }
            Fact::Bit(node, bit, set) => view.bits[usize::from(node) * bits + bit] = Some(set),
        }
    }
}

/// The node above each node, in the order that `reaches` follows.
struct Parents {
    above: Vec<Seen>,
    /// Whether `a reaches b` follows the order downwards.
    down: bool,
}

impl Parents {
    /// `None` if there is a cycle, or a node below two others.
    fn of(order: Option<&Order>, view: &View) -> Option<Parents> {
        let nodes = usize::from(view.nodes);
        let mut above = vec![Seen::Unread; nodes];
        match order {
            None => {}
            Some(Order::Along(field)) => {
                (0..view.nodes)
                    .for_each(|node| above[usize::from(node)] = view.pointer(node, *field));
            }
            Some(Order::Tree(fields)) => {
                for node in 0..view.nodes {
                    for &field in fields {
                        if let Seen::Node(to) = view.pointer(node, field) {
                            let before =
                                std::mem::replace(&mut above[usize::from(to)], Seen::Node(node));
                            if before != Seen::Unread {
                                return None;
                            }
                        }
                    }
                }
            }
        }
        let parents = Parents { above, down: matches!(order, Some(Order::Tree(_))) };
        let ends = |node: u8| parents.chain(node).count() <= nodes;
        (0..view.nodes).all(ends).then_some(parents)
    }

    /// A node and those above it, as far as they are known; one more than there are in a cycle.
    fn chain(&self, node: u8) -> impl Iterator<Item = u8> {
        let above = |node: &u8| match self.above[usize::from(*node)] {
            Seen::Node(above) => Some(above),
            _ => None,
        };
        std::iter::successors(Some(node), above).take(self.above.len() + 1)
    }

    fn reaches(&self, from: u8, to: u8) -> Option<bool> {
        let (from, to) = if self.down { (to, from) } else { (from, to) };
        if self.chain(from).any(|node| node == to) {
            return Some(true);
        }
        let top = self.chain(from).last().unwrap_or(from);
        let complete = self.above[usize::from(top)] == Seen::Nil;
        // What is above `from` and unknown is above `top`, so it does not lead to `top`.
        (complete || self.chain(to).any(|node| node == top)).then_some(false)
    }
}

struct Known<'v> {
    view: &'v View,
    parents: &'v Parents,
}

impl Known<'_> {
    /// Whether some choice of nodes for the variables from `next` on makes all literals false;
    /// else, what the instances imply of which only one literal is not known.
    fn refuted(
        &self,
        literals: &[Literal],
        nodes: &mut Vec<Option<u8>>,
        next: usize,
        implied: &mut Vec<Fact>,
    ) -> bool {
        let mut unknown = None;
        for literal in literals {
            match self.truth(literal, nodes) {
                Truth::Is(true) => return false,
                Truth::Unknown if unknown.replace(literal).is_some() => return false,
                _ => {}
            }
        }
        if next == nodes.len() {
            if let Some(fact) = unknown.and_then(|literal| self.fact(literal, nodes)) {
                implied.push(fact);
            }
            return unknown.is_none();
        }
        for node in 0..self.view.nodes {
            nodes[next] = Some(node);
            if self.refuted(literals, nodes, next + 1, implied) {
                return true;
            }
        }
        nodes[next] = None;
        false
    }

    fn value(&self, term: Term, nodes: &[Option<u8>]) -> Option<Seen> {
        match term {
            Term::Nil => Some(Seen::Nil),
            Term::Register(register) => Some(self.view.registers[register]),
            Term::Variable(variable) => nodes[variable].map(Seen::Node),
        }
    }

    /// What makes a literal true, if it is one field, bit or register.
    fn fact(&self, literal: &Literal, nodes: &[Option<u8>]) -> Option<Fact> {
        let value = |term: Term| self.value(term, nodes).unwrap_or(Seen::Unread);
        match literal.atom {
            Atom::Field(a, field, b) if literal.positive => match (value(a), value(b)) {
                (_, Seen::Unread) => None,
                (Seen::Node(node), to) => Some(Fact::Pointer(node, field, to)),
                _ => None,
            },
            Atom::Equal(a, b) if literal.positive => match (a, value(a), b, value(b)) {
                (Term::Register(one), Seen::Unread, _, to)
                | (_, to, Term::Register(one), Seen::Unread)
                    if to != Seen::Unread =>
                {
                    Some(Fact::Register(one, to))
                }
                _ => None,
            },
            Atom::Bit(a, bit) => match value(a) {
                Seen::Node(node) => Some(Fact::Bit(node, bit, literal.positive)),
                _ => None,
            },
            _ => None,
        }
    }

    fn truth(&self, literal: &Literal, nodes: &[Option<u8>]) -> Truth {
        let value = |term: Term| self.value(term, nodes).ok_or(());
        let of_nodes = |a: Term, b: Term, known: &dyn Fn(u8, u8) -> Option<bool>| {
            Ok(match (value(a)?, value(b)?) {
                (Seen::Node(a), Seen::Node(b)) => known(a, b),
                (Seen::Nil, _) | (_, Seen::Nil) => Some(false),
                _ => None,
            })
        };
        let known = || -> Result<Option<bool>, ()> {
            match &literal.atom {
                Atom::Equal(a, b) => Ok(same(value(*a)?, value(*b)?)),
                Atom::Field(a, field, b) => {
                    let (a, b) = (value(*a)?, value(*b)?);
                    Ok(match a {
                        Seen::Node(node) => same(self.view.pointer(node, *field), b),
                        Seen::Nil => Some(false),
                        Seen::Unread => None,
                    })
                }
                Atom::Bit(a, bit) => Ok(match value(*a)? {
                    Seen::Node(node) => self.view.bit(node, *bit),
                    Seen::Nil => Some(false),
                    Seen::Unread => None,
                }),
                Atom::Reaches(a, b) => of_nodes(*a, *b, &|a, b| self.parents.reaches(a, b)),
                Atom::Less(a, b) => of_nodes(*a, *b, &|a, b| self.view.less(a, b)),
                Atom::Ghost => Ok(None),
                Atom::Control(control, values) => {
                    Ok(self.view.controls[*control].map(|value| values.contains(&value)))
                }
            }
        };
        match known() {
            Err(()) => Truth::Open,
            Ok(None) => Truth::Unknown,
            Ok(Some(holds)) => Truth::Is(holds == literal.positive),
        }
    }
}

/// What is known of a literal; open as long as one of its variables has no node.
enum Truth {
    Open,
    Unknown,
    Is(bool),
}

fn same(a: Seen, b: Seen) -> Option<bool> {
    (a != Seen::Unread && b != Seen::Unread).then_some(a == b)
}
