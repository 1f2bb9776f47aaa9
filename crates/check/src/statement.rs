//! What a proof means, in a paragraph: as far as the clauses tell.

use crate::World;
use crate::clause::{Atom, Clause, Effect, Literal, Order, Term};
use crate::proof::NOTHING;

/// What the clauses of a program say of its memory and its answers.
#[derive(Clone, Debug, Default)]
pub struct Claims(String);

impl Claims {
    pub fn of(world: &World) -> Claims {
        let text =
            [calls(world), order(world), keys(world), sets(world), answers(world), call(world)]
                .concat();
        Claims(text)
    }

    /// Everything that is proved, and what is left to believe.
    pub fn statement(&self, program: &str, views: usize, network: bool) -> String {
        let network = match network {
            false => "",
            true => {
                " The network takes every decision of that table, in any order of summation, with \
                  or without fused multiplications."
            }
        };
        format!(
            "Proved: whatever operations are called on however many nodes, a machine that acts as \
             the table of program {program} says meets only the {views} views in it, every step is \
             defined, and the clauses hold before every step and between operations.{network}{} \
             That operations end is not proved. To believe: this checker, the compiler and the \
             hardware, and that the machine reads and writes memory as the lenses and actions say.",
            self.0
        )
    }
}

/// Which calls it is about.
fn calls(world: &World) -> String {
    let operations = world.proof.signature.operations.iter().filter(|one| !one.requires.is_empty());
    let needs: Vec<String> = operations
        .map(|one| {
            let all: Vec<String> = one.requires.iter().map(|text| format!("`{text}`")).collect();
            format!("{} needs {}", one.name, all.join(" and "))
        })
        .collect();
    if needs.is_empty() {
        return String::new();
    }
    format!(" This is about calls that meet their preconditions: {}.", needs.join("; "))
}

fn order(world: &World) -> String {
    let field = |field: &usize| format!("`{}`", world.proof.signature.pointers[*field]);
    match &world.order {
        Order::None => String::new(),
        Order::Up(up) => format!(" Following {} never leads back to a node.", field(up)),
        Order::Down(down) => {
            let fields: Vec<String> = down.iter().map(field).collect();
            format!(" The nodes form trees along {}.", fields.join(" and "))
        }
    }
}

/// Pointers that always lead to smaller or to greater keys, or to what has such nodes below it.
fn keys(world: &World) -> String {
    let ordered = |clause: &&Clause| {
        let [.., last] = &clause.literals[..] else { return false };
        let Atom::Less(a, b) = last.atom else { return false };
        let given = || clause.literals.iter().filter(|one| !one.positive).map(|one| &one.atom);
        let below = |child: Term, to: Term| {
            let both = [(child, to), (to, child)];
            child == to
                || given().any(|atom| matches!(atom, Atom::Below(c, q) if both.contains(&(*c, *q))))
        };
        let pointer = |from: Term, to: Term| {
            given().any(|atom| matches!(atom, Atom::Field(_, p, c) if *p == from && below(*c, to)))
        };
        last.positive
            && clause.states.iter().all(|&applies| applies)
            && (pointer(a, b) || pointer(b, a))
    };
    let found = world.clauses.iter().filter(ordered);
    let found = list(found);
    if found.is_empty() { found } else { format!(" Keys are in search order: {found}.") }
}

/// What `~` is.
fn sets(world: &World) -> String {
    if !world.ghost {
        return String::new();
    }
    let effects = || world.clauses.iter().filter(|clause| clause.effect.is_some());
    let splits = effects().any(|clause| matches!(clause.effect, Some(Effect::Split(_))));
    let what = if splits { "connected nodes" } else { "nodes of one set" };
    format!(
        " `~` stands for {what}: at first each node is alone, and an operation changes this only \
         where it ends: {}.",
        list(effects())
    )
}

/// What holds where an operation ends, and where nothing is known to.
fn answers(world: &World) -> String {
    let states = &world.proof.signature.states;
    let about = |clause: &&Clause| clause.effect.is_none() && !clause.about_memory();
    let speaks =
        |clause: &Clause, state: usize| clause.states[state] && states[state].halt.is_some();
    let clauses = || world.clauses.iter().filter(about);
    let known = list(clauses().filter(|one| (0..states.len()).any(|state| speaks(one, state))));
    // An operation that is just done says nothing, so there is nothing to prove.
    let says = |state: &usize| {
        states[*state].halt.as_ref().is_some_and(|halt| halt.as_str() != Some("done"))
    };
    let silent = |state: &usize| !clauses().any(|clause| speaks(clause, *state));
    let unknown = (0..states.len()).filter(says).filter(silent);
    let unknown: Vec<String> = unknown.map(|state| format!("`{}`", states[state].name)).collect();
    let mut text = String::new();
    if !known.is_empty() {
        text += &format!(" Of answers only this is proved: {known}.");
    }
    if !unknown.is_empty() {
        text +=
            &format!(" Nothing is proved about what these answers mean: {}.", unknown.join(", "));
    }
    text
}

/// Whether what clauses say at the end of an operation is about what it was called with.
fn call(world: &World) -> String {
    let (names, rows) = (&world.proof.signature, &world.proof.rows);
    let ends = |clause: &&Clause| {
        let halts = names.states.iter().map(|state| state.halt.is_some());
        clause.states.iter().zip(halts).any(|(applies, halts)| *applies && halts)
    };
    let clauses = || world.clauses.iter().filter(ends);
    let given = |register: usize| {
        let term = |term| matches!(term, Term::Register(one) if one == register);
        names.operations.iter().any(|operation| operation.arguments.contains(&register))
            && clauses().any(|clause| clause.terms().any(term))
    };
    let asked = |control: usize| {
        let about = |one: &Literal| matches!(one.atom, Atom::Control(at, _) if at == control);
        clauses().any(|clause| clause.literals.iter().any(about))
    };
    let registers = (0..names.registers.len()).filter(|&register| given(register));
    let controls = (0..names.controls.len()).filter(|&control| asked(control));
    let registers = registers.map(|at| {
        (&names.registers[at], rows.iter().any(|row| row.action.registers[at] != NOTHING))
    });
    let controls = controls.map(|at| {
        (&names.controls[at].name, rows.iter().any(|row| row.action.controls[at] != NOTHING))
    });
    let all: Vec<(&String, bool)> = registers.chain(controls).collect();
    let list = |written: bool| {
        let names = all.iter().filter(|one| one.1 == written);
        names.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let (kept, written) = (list(false), list(true));
    let mut text = String::new();
    if !kept.is_empty() {
        text += &format!(" What the call sets is kept to its end: {kept}.");
    }
    if !written.is_empty() {
        text += &format!(" Steps write {written}: read them as they are at the end.");
    }
    text
}

/// Clauses on one line.
fn list<'c>(clauses: impl Iterator<Item = &'c Clause>) -> String {
    let one_line = |clause: &Clause| clause.text.split_whitespace().collect::<Vec<_>>().join(" ");
    clauses.map(|clause| format!("`{}`", one_line(clause))).collect::<Vec<_>>().join("; ")
}
