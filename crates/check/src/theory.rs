//! What is known before a step, over a few nodes: a clause of a SAT solver per axiom and instance.
//!
//! All clauses are universal, so what holds in a memory holds of any few of its nodes. If these few
//! contradict each other, no memory has them: nothing outside needs to be looked at.

use crate::World;
use crate::clause::{Atom, Clause, Order, Term};
use crate::proof::{NIL, NOTHING, View};
use crate::solver::{Lit, Solver};

/// A solver whose variables say what holds of nodes 0 to `nodes` − 1; `nodes` itself stands for nil.
pub struct Theory {
    pub solver: Solver,
    pub nodes: usize,
    /// Where the variables of each relation begin.
    field: usize,
    bit: usize,
    below: usize,
    less: usize,
    same: usize,
    register: usize,
    /// By control; at the end, where the last one ends.
    control: Vec<usize>,
}

impl Theory {
    pub fn new<'c>(
        world: &World,
        clauses: impl Iterator<Item = &'c Clause>,
        nodes: usize,
    ) -> Theory {
        let names = &world.proof.signature;
        let mut next = 1;
        let mut take = |count: usize| {
            next += count;
            next - count
        };
        let (field, bit) =
            (take(names.pointers.len() * nodes * (nodes + 1)), take(names.bits.len() * nodes));
        let (below, less, same) = (take(nodes * nodes), take(nodes * nodes), take(nodes * nodes));
        let register = take(names.registers.len() * (nodes + 1));
        let counts = names.controls.iter().map(|control| control.values.len());
        let control = counts.chain([0]).map(&mut take).collect();
        let solver = Solver::new(next);
        let mut theory = Theory { solver, nodes, field, bit, below, less, same, register, control };
        theory.add_axioms(world);
        clauses.for_each(|clause| theory.add_instances(clause));
        theory
    }

    /// Field `f` of node a is b, which may be nil. Nil has no fields.
    pub fn field(&self, f: usize, a: usize, b: usize) -> Lit {
        let place = self.field + (f * self.nodes + a) * (self.nodes + 1) + b;
        if a == self.nodes { Lit::FALSE } else { Lit::positive(place) }
    }

    pub fn bit(&self, bit: usize, a: usize) -> Lit {
        if a == self.nodes { Lit::FALSE } else { Lit::positive(self.bit + bit * self.nodes + a) }
    }

    /// b is above a in the order, or the same node.
    pub fn below(&self, a: usize, b: usize) -> Lit {
        self.pair(self.below, a, b, Lit::TRUE)
    }

    pub fn less(&self, a: usize, b: usize) -> Lit {
        self.pair(self.less, a, b, Lit::FALSE)
    }

    pub fn same(&self, a: usize, b: usize) -> Lit {
        self.pair(self.same, a, b, Lit::TRUE)
    }

    fn pair(&self, first: usize, a: usize, b: usize, itself: Lit) -> Lit {
        match (a.max(b) == self.nodes, a == b) {
            (true, _) => Lit::FALSE,
            (_, true) => itself,
            _ => Lit::positive(first + a * self.nodes + b),
        }
    }

    /// A register holds this node, or nil. It may hold a node that is not among these.
    pub fn register(&self, register: usize, node: usize) -> Lit {
        Lit::positive(self.register + register * (self.nodes + 1) + node)
    }

    pub fn control(&self, control: usize, value: usize) -> Lit {
        Lit::positive(self.control[control] + value)
    }

    pub fn at_most_one(&mut self, literals: &[Lit]) {
        for (at, &one) in literals.iter().enumerate() {
            literals[..at].iter().for_each(|&other| self.solver.add(&[!one, !other]));
        }
    }

    fn add_axioms(&mut self, world: &World) {
        let (n, names) = (self.nodes, &world.proof.signature);
        for a in 0..n {
            for f in 0..names.pointers.len() {
                let values: Vec<Lit> = (0..=n).map(|b| self.field(f, a, b)).collect();
                self.at_most_one(&values);
            }
        }
        for register in 0..names.registers.len() {
            let places: Vec<Lit> = (0..=n).map(|node| self.register(register, node)).collect();
            self.at_most_one(&places);
        }
        for (control, values) in names.controls.iter().map(|one| one.values.len()).enumerate() {
            let values: Vec<Lit> = (0..values).map(|value| self.control(control, value)).collect();
            self.at_most_one(&values);
            self.solver.add(&values);
        }
        let pairs =
            || (0..n).flat_map(move |a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b);
        let triples = || pairs().flat_map(move |(a, b)| (0..n).map(move |c| (a, b, c)));
        let triples = || triples().filter(|&(a, b, c)| c != a && c != b);
        if world.order != Order::None {
            self.link_order(&world.order);
            for (a, b) in pairs() {
                self.solver.add(&[!self.below(a, b), !self.below(b, a)]);
            }
            for (a, b, c) in triples() {
                let (ab, ac, bc) = (self.below(a, b), self.below(a, c), self.below(b, c));
                self.solver.add(&[!ab, !bc, ac]);
                // What is above a node is a chain.
                self.solver.add(&[!ab, !ac, bc, self.below(c, b)]);
            }
        }
        if world.compares {
            for (a, b) in pairs() {
                self.solver.add(&[!self.less(a, b), !self.less(b, a)]);
            }
            for (a, b, c) in triples() {
                let (ab, ac, bc) = (self.less(a, b), self.less(a, c), self.less(b, c));
                self.solver.add(&[!ab, !bc, ac]);
                self.solver.add(&[!ac, ab, bc]);
            }
        }
        if world.ghost {
            for (a, b) in pairs() {
                self.solver.add(&[!self.same(a, b), self.same(b, a)]);
            }
            for (a, b, c) in triples() {
                self.solver.add(&[!self.same(a, b), !self.same(b, c), self.same(a, c)]);
            }
        }
    }

    /// What pointers say about the order.
    fn link_order(&mut self, order: &Order) {
        let fields = match order {
            Order::None => vec![],
            Order::Up(field) => vec![*field],
            Order::Down(fields) => fields.clone(),
        };
        let up = matches!(order, Order::Up(_));
        for f in fields {
            for a in 0..self.nodes {
                for b in 0..self.nodes {
                    let (edge, from, to) =
                        (self.field(f, a, b), if up { a } else { b }, if up { b } else { a });
                    if a == b {
                        self.solver.add(&[!edge]);
                        continue;
                    }
                    self.solver.add(&[!edge, self.below(from, to)]);
                    // Whatever else is above a node is above its parent.
                    for z in (0..self.nodes).filter(|&z| z != from && z != to) {
                        self.solver.add(&[!edge, !self.below(from, z), self.below(to, z)]);
                    }
                }
                if up {
                    for z in (0..self.nodes).filter(|&z| z != a) {
                        self.solver.add(&[!self.field(f, a, self.nodes), !self.below(a, z)]);
                    }
                }
            }
        }
    }

    /// All instances of a clause over these nodes.
    pub fn add_instances(&mut self, clause: &Clause) {
        let mut terms: Vec<Term> = Vec::new();
        for term in clause.terms() {
            if term != Term::Nil && !terms.contains(&term) {
                terms.push(term);
            }
        }
        let ends: Vec<usize> = terms
            .iter()
            .map(|term| self.nodes + usize::from(matches!(term, Term::Register(_))))
            .collect();
        if ends.contains(&0) {
            return;
        }
        let mut places = vec![0; terms.len()];
        loop {
            let place = |term: Term| match terms.iter().position(|known| *known == term) {
                Some(at) => places[at],
                None => self.nodes,
            };
            let mut literals = Vec::with_capacity(terms.len() + clause.literals.len());
            for (term, &node) in terms.iter().zip(&places) {
                if let Term::Register(register) = *term {
                    literals.push(!self.register(register, node));
                }
            }
            for literal in &clause.literals {
                match &literal.atom {
                    Atom::Control(control, values) => {
                        let all = 0..self.values_of(*control);
                        let holds = all.filter(|value| values.contains(value) == literal.positive);
                        literals.extend(holds.map(|value| self.control(*control, value)));
                    }
                    atom => {
                        let lit = self.atom(atom, place);
                        literals.push(if literal.positive { lit } else { !lit });
                    }
                }
            }
            self.solver.add(&literals);
            // The next choice of nodes, like a counter.
            let Some(at) = (0..places.len()).find(|&at| places[at] + 1 < ends[at]) else { return };
            places[..at].fill(0);
            places[at] += 1;
        }
    }

    pub fn values_of(&self, control: usize) -> usize {
        self.control[control + 1] - self.control[control]
    }

    /// An atom about nodes.
    pub fn atom(&self, atom: &Atom, place: impl Fn(Term) -> usize) -> Lit {
        match *atom {
            Atom::Equal(a, b) if place(a) == place(b) => Lit::TRUE,
            Atom::Equal(..) | Atom::Control(..) => Lit::FALSE,
            Atom::Field(f, a, b) => self.field(f, place(a), place(b)),
            Atom::Bit(bit, a) => self.bit(bit, place(a)),
            Atom::Below(a, b) => self.below(place(a), place(b)),
            Atom::Less(a, b) => self.less(place(a), place(b)),
            Atom::Same(a, b) => self.same(place(a), place(b)),
        }
    }

    /// Takes what a view shows as known.
    pub fn assume(&mut self, view: &View) {
        let node = |number: i16| if number == NIL { self.nodes } else { number as usize };
        let mut facts = Vec::new();
        for (register, &to) in view.registers.iter().enumerate().filter(|one| *one.1 != NOTHING) {
            facts.push(self.register(register, node(to)));
        }
        for (control, &value) in view.controls.iter().enumerate().filter(|one| *one.1 >= 0) {
            facts.push(self.control(control, value as usize));
        }
        let (fields, bits) =
            (view.pointers.len() / view.nodes.max(1), view.bits.len() / view.nodes.max(1));
        for (place, &to) in view.pointers.iter().enumerate().filter(|one| *one.1 != NOTHING) {
            facts.push(self.field(place % fields, place / fields, node(to)));
        }
        for (place, &bit) in view.bits.iter().enumerate().filter(|one| *one.1 >= 0) {
            let lit = self.bit(place % bits, place / bits);
            facts.push(if bit == 1 { lit } else { !lit });
        }
        for &(a, b, less) in &view.less {
            let lit = self.less(a, b);
            facts.push(if less == 1 { lit } else { !lit });
        }
        facts.into_iter().for_each(|fact| self.solver.add(&[fact]));
    }
}
