//! Induction: what holds before a step holds after it, of nodes outside its view too.

use std::collections::{HashMap, HashSet};

use crate::clause::{Atom, Clause, Effect, Literal, Order, Term};
use crate::proof::{Action, NIL, NOTHING, Row, View};
use crate::solver::Lit;
use crate::theory::Theory;
use crate::{Refutation, Theories, World, draw};

/// Numbers of obligations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Clauses after rows of the table.
    pub induction: usize,
    /// Those of them whose every part is left alone.
    pub untouched: usize,
    /// Edges that must not close a cycle.
    pub acyclic: usize,
    /// Clauses in the initial memory and at the start of operations.
    pub start: usize,
    /// Clauses about answers.
    pub answers: usize,
}

/// Clauses that were found not to be inductive, by text; collected instead of refuted if somebody
/// asks for all of them.
pub type Broken = Option<HashSet<String>>;

/// Checks all rows, the initial memory and the start of every operation.
pub fn check(
    world: &World,
    theories: &mut Theories,
    broken: &mut Broken,
) -> Result<Counts, Refutation> {
    let mut counts = Counts::default();
    for row in &world.proof.rows {
        let next = row.action.next;
        let goals: Vec<&Clause> = world
            .clauses
            .iter()
            .filter(|goal| goal.states[next] && goal.effect.is_none())
            .collect();
        let here = |goal: &Clause| goal.states[row.view.state];
        let (touched, untouched): (Vec<_>, Vec<_>) =
            goals.into_iter().partition(|goal| !(here(goal) && is_untouched(world, goal, row)));
        let halts = world.proof.signature.states[next].halt.is_some();
        let answers = touched.iter().filter(|goal| halts && !goal.about_memory()).count();
        counts.answers += answers;
        counts.induction += touched.len() + untouched.len() - answers;
        counts.untouched += untouched.len();
        counts.acyclic += prove(world, theories, row.view.state, row, &touched, &[], broken)?;
    }
    let idle: Vec<&Clause> = world.idle().collect();
    counts.start += idle.len();
    start_memory(world, theories, &idle, broken)?;
    for (operation, given) in world.proof.signature.operations.iter().zip(&world.calls) {
        let names = &world.proof.signature;
        let mut view = View {
            state: operation.entry,
            registers: vec![NIL; names.registers.len()],
            controls: vec![0; names.controls.len()],
            ..View::default()
        };
        operation.arguments.iter().for_each(|&register| view.registers[register] = NOTHING);
        operation
            .controls
            .iter()
            .for_each(|&(control, value)| view.controls[control] = value as i16);
        let row = Row { view, action: keep(world, operation.entry) };
        let goals: Vec<&Clause> = world
            .clauses
            .iter()
            .filter(|goal| goal.states[operation.entry] && goal.effect.is_none())
            .collect();
        if !can_be_called(world, theories, &row.view, &operation.arguments, given) {
            let why = format!("no memory and no arguments allow a call of {}", operation.name);
            return Err(world.refute("start", &why, &row.view));
        }
        counts.start += goals.len();
        prove(world, theories, World::IDLE, &row, &goals, given, broken)?;
    }
    Ok(counts)
}

/// Whether preconditions exclude all calls, so that what is proved of them would mean nothing.
fn can_be_called(
    world: &World,
    theories: &mut Theories,
    view: &View,
    arguments: &[usize],
    given: &[Clause],
) -> bool {
    (0..=arguments.len()).any(|nodes| {
        let theory = theories.of(world, World::IDLE, nodes);
        let mark = theory.solver.mark();
        theory.assume(view);
        given.iter().for_each(|clause| theory.add_instances(clause));
        for &register in arguments {
            let places: Vec<Lit> = (0..nodes).map(|node| theory.register(register, node)).collect();
            theory.solver.add(&places);
        }
        let possible = theory.solver.satisfiable();
        theory.solver.back_to(mark);
        possible
    })
}

fn keep(world: &World, next: usize) -> Action {
    let names = &world.proof.signature;
    Action {
        registers: vec![NOTHING; names.registers.len()],
        controls: vec![NOTHING; names.controls.len()],
        next,
        ..Action::default()
    }
}

/// In the initial memory all fields are nil and all bits 0, and all nodes are on their own.
fn start_memory(
    world: &World,
    theories: &mut Theories,
    goals: &[&Clause],
    broken: &mut Broken,
) -> Result<(), Refutation> {
    let names = &world.proof.signature;
    let most = goals.iter().map(|goal| goal.variables).max().unwrap_or(0);
    for nodes in 0..=most {
        let view = View {
            nodes,
            registers: vec![NOTHING; names.registers.len()],
            controls: vec![NOTHING; names.controls.len()],
            pointers: vec![NIL; nodes * names.pointers.len()],
            bits: vec![0; nodes * names.bits.len()],
            ..View::default()
        };
        let theory = theories.of(world, World::NOTHING_KNOWN, nodes);
        let mark = theory.solver.mark();
        theory.assume(&view);
        for a in 0..nodes {
            for b in (0..nodes).filter(|&b| b != a) {
                theory.solver.add(&[!theory.below(a, b)]);
                theory.solver.add(&[!theory.same(a, b)]);
            }
        }
        let mut action = keep(world, 0);
        action.pointers = vec![NOTHING; view.pointers.len()];
        action.toggles = vec![0; view.bits.len()];
        let row = Row { view, action };
        for goal in goals {
            let before = theory.solver.mark();
            if let Some(why) = Step::new(world, theory, &row).refute(Goal::Clause(goal), false) {
                collect(world.refute("start", &why, &row.view), broken)?;
            }
            theory.solver.back_to(before);
        }
        theory.solver.back_to(mark);
    }
    Ok(())
}

/// Whether an action leaves alone all that a clause speaks of.
fn is_untouched(world: &World, goal: &Clause, row: &Row) -> bool {
    let (fields, bits) = (world.proof.signature.pointers.len(), world.proof.signature.bits.len());
    let action = &row.action;
    let writes = |field: usize| {
        action.pointers.iter().skip(field).step_by(fields.max(1)).any(|&to| to != NOTHING)
    };
    let orders = match &world.order {
        Order::None => false,
        Order::Up(field) => writes(*field),
        Order::Down(fields) => fields.iter().any(|&field| writes(field)),
    };
    let affects = world.clauses.iter().any(|one| one.effect.is_some() && one.states[action.next]);
    let touches = |atom: &Atom| match *atom {
        Atom::Field(field, ..) => writes(field),
        Atom::Bit(bit, _) => {
            action.toggles.iter().skip(bit).step_by(bits.max(1)).any(|&toggle| toggle == 1)
        }
        Atom::Below(..) => orders,
        Atom::Same(..) => affects,
        Atom::Control(control, _) => action.controls[control] != NOTHING,
        Atom::Equal(..) | Atom::Less(..) => false,
    };
    let moved = |term: Term| matches!(term, Term::Register(register) if action.registers[register] != NOTHING);
    !goal.terms().any(moved) && !goal.literals.iter().any(|literal| touches(&literal.atom))
}

/// What is to be proved after a row.
#[derive(Clone, Copy)]
enum Goal<'c> {
    Clause(&'c Clause),
    /// That the edge of this number closes no cycle.
    Edge(usize),
}

/// Proves clauses after a row, and that no edge closes a cycle: how many edges there are.
fn prove(
    world: &World,
    theories: &mut Theories,
    state: usize,
    row: &Row,
    clauses: &[&Clause],
    given: &[Clause],
    broken: &mut Broken,
) -> Result<usize, Refutation> {
    let kind = if state == World::IDLE { "start" } else { "induction" };
    let edges = edges(world, row);
    let goals = clauses.iter().map(|clause| Goal::Clause(clause));
    for goal in (0..edges).map(Goal::Edge).chain(goals) {
        let known = |clause: &Clause| broken.as_ref().is_some_and(|all| all.contains(&clause.text));
        if matches!(goal, Goal::Clause(clause) if known(clause)) {
            continue;
        }
        let mut found = refute_with(world, theories, state, row, goal, given, false);
        if found.is_some() {
            // What is known of other registers may help.
            found = refute_with(world, theories, state, row, goal, given, true);
        }
        if let Some(why) = found {
            let why = format!("{why}\n  {}", world.draw_action(row));
            collect(world.refute(kind, &why, &row.view), broken)?;
        }
    }
    Ok(edges)
}

/// Takes down a violated clause, where they are collected.
fn collect(refutation: Refutation, broken: &mut Broken) -> Result<(), Refutation> {
    match (broken, &refutation.clause) {
        (Some(all), Some(clause)) => {
            all.insert(clause.clone());
            Ok(())
        }
        _ => Err(refutation),
    }
}

/// Looks for a counterexample among the nodes of the view and those that a goal names. They are
/// all different, so that every number of others is tried.
fn refute_with(
    world: &World,
    theories: &mut Theories,
    state: usize,
    row: &Row,
    goal: Goal<'_>,
    given: &[Clause],
    all: bool,
) -> Option<String> {
    let variables = if let Goal::Clause(clause) = goal { clause.variables } else { 0 };
    let most = variables + outside(world, row, goal, all).len();
    (0..=most).find_map(|more| {
        let theory = theories.of(world, state, row.view.nodes + more);
        let mark = theory.solver.mark();
        theory.assume(&row.view);
        given.iter().for_each(|clause| theory.add_instances(clause));
        let found = theory.solver.propagate().then(|| {
            let mut step = Step::new(world, theory, row);
            match step.plan() {
                Err(why) => Some(why),
                Ok(()) => step.refute(goal, all),
            }
        });
        theory.solver.back_to(mark);
        found.flatten()
    })
}

/// The registers that the view does not show: all, or those that a goal is about.
fn outside(world: &World, row: &Row, goal: Goal<'_>, all: bool) -> Vec<usize> {
    let unread = |register: &usize| row.view.registers[*register] == NOTHING;
    if all {
        return (0..row.view.registers.len()).filter(unread).collect();
    }
    let Goal::Clause(clause) = goal else { return Vec::new() };
    let ghost = clause.literals.iter().any(|literal| matches!(literal.atom, Atom::Same(..)));
    let ends = |one: &&Clause| ghost && one.effect.is_some() && one.states[row.action.next];
    let effects = world.clauses.iter().filter(ends);
    let mut registers = Vec::new();
    for term in clause.terms().chain(effects.flat_map(|effect| effect.terms())) {
        if let Term::Register(register) = term
            && row.action.registers[register] == NOTHING
            && unread(&register)
            && !registers.contains(&register)
        {
            registers.push(register);
        }
    }
    registers
}

/// How many pointers of the order a row writes.
fn edges(world: &World, row: &Row) -> usize {
    let fields = world.proof.signature.pointers.len().max(1);
    let ordered = |field: usize| match &world.order {
        Order::None => false,
        Order::Up(up) => *up == field,
        Order::Down(down) => down.contains(&field),
    };
    let writes = row.action.pointers.iter().enumerate();
    writes.filter(|(place, to)| ordered(place % fields) && **to >= 0).count()
}

/// A change of the order of nodes.
#[derive(Clone, Copy)]
enum Edit {
    /// A node loses its parent.
    Cut(usize),
    /// A node gets a parent.
    Add(usize, usize),
}

/// Where a term can be: each node with the condition that it is there.
type Places = Vec<(usize, Lit)>;

/// What holds after a row, in terms of what held before.
struct Step<'s> {
    world: &'s World,
    theory: &'s mut Theory,
    row: &'s Row,
    edits: Vec<Edit>,
    /// By number of edits and two nodes.
    order: HashMap<(usize, usize, usize), Lit>,
}

impl<'s> Step<'s> {
    fn new(world: &'s World, theory: &'s mut Theory, row: &'s Row) -> Self {
        Step { world, theory, row, edits: Vec::new(), order: HashMap::new() }
    }

    /// Lists what changes in the order: first all edges that go, then those that come. As all
    /// writes happen at once and every part of an acyclic graph is acyclic, the order of the
    /// latter does not matter.
    fn plan(&mut self) -> Result<(), String> {
        let (Row { view, action }, names) = (self.row, &self.world.proof.signature);
        let fields = match &self.world.order {
            Order::None => return Ok(()),
            Order::Up(field) => std::slice::from_ref(field),
            Order::Down(fields) => fields,
        };
        let up = matches!(self.world.order, Order::Up(_));
        let mut new = Vec::new();
        for node in 0..view.nodes {
            for &field in fields {
                let place = node * names.pointers.len() + field;
                let (old, to) = (view.pointers[place], action.pointers[place]);
                if to == NOTHING {
                    continue;
                }
                if up {
                    self.edits.push(Edit::Cut(node));
                } else if old >= 0 {
                    self.edits.push(Edit::Cut(old as usize));
                } else if old == NOTHING {
                    let nil = self.theory.field(field, node, self.theory.nodes);
                    if self.theory.solver.value(nil) != Some(true) {
                        return Err(format!(
                            "`{}` is overwritten, not read before, and not known to be nil",
                            names.pointers[field]
                        ));
                    }
                }
                if to >= 0 {
                    new.push(if up {
                        Edit::Add(node, to as usize)
                    } else {
                        Edit::Add(to as usize, node)
                    });
                }
            }
        }
        self.edits.extend(new);
        Ok(())
    }

    fn gate(&mut self, a: Lit, b: Lit) -> Lit {
        let value = |lit: Lit| self.theory.solver.value(lit);
        match (value(a), value(b)) {
            (Some(false), _) | (_, Some(false)) => Lit::FALSE,
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ => {
                let both = self.theory.solver.fresh();
                self.theory.solver.add(&[!both, a]);
                self.theory.solver.add(&[!both, b]);
                self.theory.solver.add(&[both, !a, !b]);
                both
            }
        }
    }

    fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.gate(!a, !b)
    }

    /// Whether b is above a after the first edits. Without its edge to a parent, a node that was
    /// below `node` keeps what is below `node`; a new edge adds what is above the parent.
    fn below(&mut self, edits: usize, a: usize, b: usize) -> Lit {
        if edits == 0 || a == b || a.max(b) == self.theory.nodes {
            return self.theory.below(a, b);
        }
        if let Some(&known) = self.order.get(&(edits, a, b)) {
            return known;
        }
        let before = edits - 1;
        let was = self.below(before, a, b);
        let is = match self.edits[before] {
            Edit::Cut(node) => {
                let (under, over) = (self.below(before, a, node), self.below(before, b, node));
                let apart = self.or(!under, over);
                self.gate(was, apart)
            }
            Edit::Add(child, parent) => {
                let (under, over) = (self.below(before, a, child), self.below(before, parent, b));
                let new = self.gate(under, over);
                self.or(was, new)
            }
        };
        self.order.insert((edits, a, b), is);
        is
    }

    /// `a ~ b` after the effects of an operation that ends.
    fn same(&mut self, a: usize, b: usize) -> Lit {
        let mut is = self.theory.same(a, b);
        let world = self.world;
        let next = self.row.action.next;
        for clause in world.clauses.iter().filter(|clause| clause.states[next]) {
            let Some(effect) = clause.effect else { continue };
            let mut when = Lit::TRUE;
            for literal in &clause.literals {
                if let Atom::Control(control, values) = &literal.atom {
                    let holds = self.control(*control, values);
                    when = self.gate(when, if literal.positive { !holds } else { holds });
                }
            }
            is = match effect {
                Effect::Join(u, v) => {
                    let (u, v) = (self.places(u, &[]), self.places(v, &[]));
                    let [a_is_u, a_is_v] = [&u, &v]
                        .map(|places| self.where_ever(places, |theory, node| theory.same(a, node)));
                    let [b_is_u, b_is_v] = [&u, &v]
                        .map(|places| self.where_ever(places, |theory, node| theory.same(b, node)));
                    let (one, other) = (self.gate(a_is_u, b_is_v), self.gate(a_is_v, b_is_u));
                    let joined = self.or(one, other);
                    let now = self.gate(when, joined);
                    self.or(is, now)
                }
                Effect::Split(v) => {
                    let v = self.places(v, &[]);
                    let [a, b] =
                        [a, b].map(|node| self.where_ever(&v, |theory, v| theory.below(node, v)));
                    let (both, neither) = (self.gate(a, b), self.gate(!a, !b));
                    let together = self.or(both, neither);
                    let stays = self.or(!when, together);
                    self.gate(is, stays)
                }
            };
        }
        is
    }

    /// A literal about the node at one of these places.
    fn where_ever(&mut self, places: &Places, of: impl Fn(&Theory, usize) -> Lit) -> Lit {
        if let [(node, Lit::TRUE)] = places[..] {
            return of(self.theory, node);
        }
        let is = self.theory.solver.fresh();
        for &(node, there) in places {
            let lit = of(self.theory, node);
            self.theory.solver.add(&[!there, !is, lit]);
            self.theory.solver.add(&[!there, is, !lit]);
        }
        is
    }

    /// Whether a field of the controller has one of these values afterwards.
    fn control(&mut self, control: usize, values: &[usize]) -> Lit {
        let known = match self.row.action.controls[control] {
            NOTHING => self.row.view.controls[control],
            written => written,
        };
        if known >= 0 {
            return if values.contains(&(known as usize)) { Lit::TRUE } else { Lit::FALSE };
        }
        let literals: Vec<Lit> =
            values.iter().map(|&value| self.theory.control(control, value)).collect();
        literals.into_iter().fold(Lit::FALSE, |any, lit| self.or(any, lit))
    }

    fn places(&self, term: Term, variables: &[Places]) -> Places {
        let nodes = self.theory.nodes;
        let at = |number: i16| if number == NIL { nodes } else { number as usize };
        match term {
            Term::Nil => vec![(nodes, Lit::TRUE)],
            Term::Variable(variable) => variables[variable].clone(),
            Term::Register(register) => {
                match (self.row.action.registers[register], self.row.view.registers[register]) {
                    (NOTHING, NOTHING) => (0..=nodes)
                        .map(|node| (node, self.theory.register(register, node)))
                        .collect(),
                    (NOTHING, read) => vec![(at(read), Lit::TRUE)],
                    (written, _) => vec![(at(written), Lit::TRUE)],
                }
            }
        }
    }

    /// An atom about nodes, afterwards; `a ~ b` as it was before, where an answer speaks of it.
    fn after(&mut self, atom: &Atom, nodes: &[usize], answer: bool) -> Lit {
        let (fields, bits) =
            (self.world.proof.signature.pointers.len(), self.world.proof.signature.bits.len());
        let inside = nodes.first().is_some_and(|&node| node < self.row.view.nodes);
        match *atom {
            Atom::Field(field, ..)
                if inside && self.row.action.pointers[nodes[0] * fields + field] != NOTHING =>
            {
                let to = self.row.action.pointers[nodes[0] * fields + field];
                let to = if to == NIL { self.theory.nodes } else { to as usize };
                if to == nodes[1] { Lit::TRUE } else { Lit::FALSE }
            }
            Atom::Bit(bit, _) if inside && self.row.action.toggles[nodes[0] * bits + bit] == 1 => {
                !self.theory.bit(bit, nodes[0])
            }
            Atom::Below(..) => self.below(self.edits.len(), nodes[0], nodes[1]),
            Atom::Same(..) if !answer => self.same(nodes[0], nodes[1]),
            Atom::Equal(..) if nodes[0] == nodes[1] => Lit::TRUE,
            Atom::Equal(..) => Lit::FALSE,
            Atom::Field(field, ..) => self.theory.field(field, nodes[0], nodes[1]),
            Atom::Bit(bit, _) => self.theory.bit(bit, nodes[0]),
            Atom::Less(..) => self.theory.less(nodes[0], nodes[1]),
            Atom::Same(..) => self.theory.same(nodes[0], nodes[1]),
            Atom::Control(..) => Lit::FALSE,
        }
    }

    /// Looks for a memory in which a goal fails, and draws it.
    fn refute(&mut self, goal: Goal<'_>, all: bool) -> Option<String> {
        let nodes = self.theory.nodes;
        let variables = if let Goal::Clause(clause) = goal { clause.variables } else { 0 };
        let mut names: Vec<Places> = Vec::new();
        for _ in 0..variables {
            names.push((0..nodes).map(|node| (node, self.theory.solver.fresh())).collect());
        }
        for register in outside(self.world, self.row, goal, all) {
            let there = |node| (node, self.theory.register(register, node));
            names.push((0..=nodes).map(there).collect());
        }
        for places in &names {
            let literals: Vec<Lit> = places.iter().map(|place| place.1).collect();
            self.theory.solver.add(&literals);
            self.theory.at_most_one(&literals);
        }
        // A node outside the view has a name, or it would not be needed.
        for node in self.row.view.nodes..nodes {
            let literals: Vec<Lit> = names.iter().map(|places| places[node].1).collect();
            self.theory.solver.add(&literals);
        }
        let why = match goal {
            Goal::Edge(number) => {
                let added = |edit: &(usize, &Edit)| matches!(edit.1, Edit::Add(..));
                let at = self.edits.iter().enumerate().filter(added).nth(number)?.0;
                let Edit::Add(child, parent) = self.edits[at] else { return None };
                let cycle = self.below(at, parent, child);
                self.theory.solver.add(&[cycle]);
                "a pointer closes a cycle".to_owned()
            }
            Goal::Clause(clause) => {
                let answer = !clause.about_memory();
                clause.literals.iter().for_each(|one| self.falsify(one, &names, answer));
                format!("`{}` is violated afterwards", clause.text)
            }
        };
        let found = self.theory.solver.satisfiable();
        found.then(|| format!("{why}; for example with\n{}", draw(self.world, self.theory)))
    }

    /// Demands that a literal is false afterwards.
    fn falsify(&mut self, literal: &Literal, variables: &[Places], answer: bool) {
        let sign = |lit: Lit| if literal.positive { !lit } else { lit };
        if let Atom::Control(control, values) = &literal.atom {
            let holds = self.control(*control, values);
            return self.theory.solver.add(&[sign(holds)]);
        }
        let terms = literal.atom.terms();
        let first = self.places(terms[0], variables);
        let second = match terms.get(1) {
            Some(&term) => self.places(term, variables),
            None => vec![(self.theory.nodes, Lit::TRUE)],
        };
        for &(a, at) in &first {
            for &(b, bt) in &second {
                let dead = |lit| self.theory.solver.value(lit) == Some(false);
                if !dead(at) && !dead(bt) {
                    let holds = self.after(&literal.atom, &[a, b], answer);
                    self.theory.solver.add(&[!at, !bt, sign(holds)]);
                }
            }
        }
    }
}
