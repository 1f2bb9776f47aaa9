//! Checks that a learned data structure is exact for every n: a small program that shares no code
//! with those that it judges.
//!
//! Its input is one file: names and lenses of a program, clauses that are said to hold before
//! every micro-step, a table of views and actions, and the weights of a network. [`check`] verifies
//!
//! | | |
//! | --- | --- |
//! | *coverage* | every view that the clauses allow is in the table (`views.rs`) |
//! | *induction* | after every row the clauses hold again, of nodes outside the view too (`induction.rs`) |
//! | *start* | they hold in the initial memory, and when an operation starts with arguments that its preconditions allow |
//! | *answers* | what clauses say of halting states |
//! | *arithmetic* | the network decides as the table does, by more than all rounding errors (`network.rs`) |
//!
//! and gives a [`Report`], or a [`Refutation`] with a counterexample. `docs/machines.md` has the
//! language of clauses, the theorem and what is left to believe.

mod clause;
mod induction;
mod network;
mod proof;
mod solver;
mod statement;
mod theory;
mod views;

use std::{collections::HashMap, fmt};

use clause::{Atom, Clause, Order};
use proof::{NIL, NOTHING, Proof, Row, View};
use statement::Claims;
use theory::Theory;

/// What was proved, and how much there was to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Name and version of the program.
    pub program: String,
    /// Views that the clauses allow.
    pub views: usize,
    /// Rows of the table.
    pub rows: usize,
    /// Clauses, with those that an order of nodes implies.
    pub clauses: usize,
    /// Obligations that a clause holds after a row.
    pub induction: usize,
    /// Those of them in which the row writes nothing that the clause is about.
    pub untouched: usize,
    /// Pointers that must not close a cycle.
    pub acyclic: usize,
    /// Obligations for the initial memory and the start of operations.
    pub start: usize,
    /// Obligations about answers.
    pub answers: usize,
    /// Decisions of the network; 0 if only the table was checked.
    pub decisions: usize,
    /// The smallest lead of a decision.
    pub margin: f64,
    /// The largest share of a lead that rounding errors can use up.
    pub rounding: f64,
    claims: Claims,
}

/// Why nothing is proved.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refutation {
    /// Which part: coverage, induction, start, arithmetic or file.
    pub part: String,
    /// What is wrong.
    pub why: String,
    /// The clause that is violated, if it is one.
    pub clause: Option<String>,
    /// Where, as a picture.
    pub view: String,
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.why)?;
        if self.view.is_empty() { Ok(()) } else { write!(f, "\nhere:\n{}", self.view) }
    }
}

impl std::error::Error for Refutation {}

/// Checks everything in a file.
pub fn check(bytes: &[u8]) -> Result<Report, Refutation> {
    let proof = Proof::read(bytes).map_err(file)?;
    let mut report = table(proof.clone())?;
    let margins = network::check(&proof, bytes).map_err(|(why, row)| Refutation {
        part: "arithmetic".to_owned(),
        why,
        clause: None,
        view: proof.rows.get(row).map_or(String::new(), |row| row.view.draw(&proof.signature)),
    })?;
    report.decisions = margins.decisions;
    report.margin = margins.margin;
    report.rounding = margins.used;
    Ok(report)
}

/// Checks the table alone, given as JSON: a program whose network is not trained yet.
pub fn check_table(json: &str) -> Result<Report, Refutation> {
    table(Proof::of_json(json).map_err(file)?)
}

/// All clauses of a table that are not inductive, by text: for whoever looks for some that are. An
/// error is what no choice of clauses would mend.
pub fn not_inductive(json: &str) -> Result<Vec<String>, Refutation> {
    let world = World::new(Proof::of_json(json).map_err(file)?).map_err(file)?;
    let mut broken = Some(Default::default());
    induction::check(&world, &mut Theories::default(), &mut broken)?;
    Ok(broken.unwrap_or_default().into_iter().collect())
}

fn file(why: String) -> Refutation {
    Refutation { part: "file".to_owned(), why, clause: None, view: String::new() }
}

fn table(proof: Proof) -> Result<Report, Refutation> {
    let world = World::new(proof).map_err(file)?;
    let mut theories = Theories::default();
    let views = views::check(&world, &mut theories)?;
    let counts = induction::check(&world, &mut theories, &mut None)?;
    let names = &world.proof.signature;
    Ok(Report {
        program: format!("{} (version {})", names.name, names.version),
        views,
        rows: world.proof.rows.len(),
        clauses: world.clauses.len() + usize::from(world.order != Order::None),
        induction: counts.induction,
        untouched: counts.untouched,
        acyclic: counts.acyclic,
        start: counts.start,
        answers: counts.answers,
        decisions: 0,
        margin: f64::INFINITY,
        rounding: 0.0,
        claims: Claims::of(&world),
    })
}

/// A proof with its clauses.
struct World {
    proof: Proof,
    clauses: Vec<Clause>,
    order: Order,
    /// By operation, what is known of its arguments.
    calls: Vec<Vec<Clause>>,
    /// Whether anything is compared, and whether `~` is used.
    compares: bool,
    ghost: bool,
}

impl World {
    /// In place of a state: between operations, and where nothing is assumed.
    const IDLE: usize = usize::MAX;
    const NOTHING_KNOWN: usize = usize::MAX - 1;

    fn new(proof: Proof) -> Result<World, String> {
        let (clauses, order) = clause::parse(&proof.signature, &proof.clauses)?;
        let halts = |state: usize| proof.signature.states[state].halt.is_some();
        let effects = || clauses.iter().filter(|clause| clause.effect.is_some());
        for clause in effects() {
            let controls = clause.literals.iter().all(|one| matches!(one.atom, Atom::Control(..)));
            let ends = (0..clause.states.len()).all(|state| !clause.states[state] || halts(state));
            if clause.variables > 0 || !controls || !ends {
                return Err(format!(
                    "`{}`: an effect is about registers, where an operation ends",
                    clause.text
                ));
            }
            // Each is computed from what was, so two at once would not add up.
            let at_once = |other: &&Clause| !std::ptr::eq(*other, clause) && clause.meets(other);
            if let Some(other) = effects().find(at_once) {
                let both = (&clause.text, &other.text);
                return Err(format!("`{}` and `{}` can happen at once", both.0, both.1));
            }
        }
        let calls = proof.signature.operations.iter().map(|operation| {
            clause::of_arguments(&proof.signature, operation)
                .map_err(|why| format!("operation `{}`: {why}", operation.name))
        });
        let calls = calls.collect::<Result<_, _>>()?;
        let uses = |what: fn(&Atom) -> bool| {
            clauses.iter().flat_map(|clause| &clause.literals).any(|literal| what(&literal.atom))
        };
        let ghost = uses(|atom| matches!(atom, Atom::Same(..)));
        let reads = proof.lenses.iter().flatten().any(|read| matches!(read, proof::Read::Less(..)));
        let compares = reads || uses(|atom| matches!(atom, Atom::Less(..)));
        Ok(World { compares, ghost, clauses, order, calls, proof })
    }

    /// What holds between operations: clauses about memory that hold wherever one ends.
    fn idle(&self) -> impl Iterator<Item = &Clause> {
        let halting = self.proof.signature.states.iter().map(|state| state.halt.is_some());
        let halting: Vec<bool> = halting.collect();
        self.clauses.iter().filter(move |clause| {
            let everywhere =
                clause.states.iter().zip(&halting).all(|(applies, halts)| *applies || !halts);
            everywhere && clause.effect.is_none() && clause.about_memory()
        })
    }

    fn refute(&self, part: &str, why: &str, view: &View) -> Refutation {
        let clause = why.split('`').nth(1).map(str::to_owned);
        let clause = clause.filter(|text| self.clauses.iter().any(|clause| clause.text == *text));
        Refutation {
            part: part.to_owned(),
            why: why.to_owned(),
            clause,
            view: view.draw(&self.proof.signature),
        }
    }

    fn draw_action(&self, row: &Row) -> String {
        let (names, action) = (&self.proof.signature, &row.action);
        let node = |to: i16| if to == NIL { "nil".to_owned() } else { proof::letter(to as usize) };
        let mut parts = Vec::new();
        for (place, &to) in action.pointers.iter().enumerate().filter(|one| *one.1 != NOTHING) {
            let fields = names.pointers.len();
            let (from, field) = (proof::letter(place / fields), &names.pointers[place % fields]);
            parts.push(format!("{from}.{field}={}", node(to)));
        }
        for (name, &to) in
            names.registers.iter().zip(&action.registers).filter(|one| *one.1 != NOTHING)
        {
            parts.push(format!("{name}={}", node(to)));
        }
        format!("{} → {}", parts.join(" "), names.states[action.next].name)
    }
}

/// Theories by state and number of nodes, made when they are first needed.
#[derive(Default)]
struct Theories(HashMap<(usize, usize), Theory>);

impl Theories {
    fn of(&mut self, world: &World, state: usize, nodes: usize) -> &mut Theory {
        self.0.entry((state, nodes)).or_insert_with(|| match state {
            World::IDLE => Theory::new(world, world.idle(), nodes),
            World::NOTHING_KNOWN => Theory::new(world, std::iter::empty(), nodes),
            _ => {
                let here = |clause: &&Clause| clause.states[state] && clause.effect.is_none();
                Theory::new(world, world.clauses.iter().filter(here), nodes)
            }
        })
    }
}

/// A picture of the memory that a solver has found: what is known to hold in it.
fn draw(world: &World, theory: &Theory) -> String {
    let names = &world.proof.signature;
    let holds = |lit| theory.solver.value(lit) == Some(true);
    let name =
        |node: usize| if node == theory.nodes { "nil".to_owned() } else { proof::letter(node) };
    let mut parts = Vec::new();
    for (register, text) in names.registers.iter().enumerate() {
        let held = (0..=theory.nodes).filter(|&node| holds(theory.register(register, node)));
        parts.extend(held.map(|node| format!("{text}={}", name(node))));
    }
    for (control, field) in names.controls.iter().enumerate() {
        let values = (0..field.values.len()).filter(|&value| holds(theory.control(control, value)));
        parts.extend(values.map(|value| format!("{}={}", field.name, field.values[value])));
    }
    let mut text = format!("  {}", parts.join(" "));
    for a in 0..theory.nodes {
        text += &format!("\n  {}:", name(a));
        for (f, field) in names.pointers.iter().enumerate() {
            let to = (0..=theory.nodes).filter(|&b| holds(theory.field(f, a, b)));
            to.for_each(|b| text += &format!(" {field}={}", name(b)));
        }
        for (bit, field) in names.bits.iter().enumerate() {
            if let Some(set) = theory.solver.value(theory.bit(bit, a)) {
                text += &format!(" {field}={}", u8::from(set));
            }
        }
        let others = || (0..theory.nodes).filter(|&b| b != a);
        for b in others().filter(|&b| holds(theory.below(a, b))) {
            text += &format!(" below {}", name(b));
        }
        for b in others().filter(|&b| world.ghost && holds(theory.same(a, b))) {
            text += &format!(" ~{}", name(b));
        }
    }
    text
}

impl Report {
    /// What is proved, and what is left to believe, in one paragraph.
    pub fn statement(&self) -> String {
        self.claims.statement(&self.program, self.rows, self.decisions > 0)
    }
}
