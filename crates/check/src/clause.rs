//! The language of clauses, which `docs/machines.md` describes.

use crate::proof::{Operation, Signature};

/// In some states, for all nodes, one of the literals holds.
#[derive(Clone, Debug)]
pub struct Clause {
    pub text: String,
    /// By state of the signature.
    pub states: Vec<bool>,
    pub variables: usize,
    pub literals: Vec<Literal>,
    pub effect: Option<Effect>,
}

/// What an operation that ends does to the equivalence `~`, if all literals are false.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    Join(Term, Term),
    Split(Term),
}

#[derive(Clone, Debug)]
pub struct Literal {
    pub positive: bool,
    pub atom: Atom,
}

#[derive(Clone, Debug)]
pub enum Atom {
    Equal(Term, Term),
    Field(usize, Term, Term),
    Bit(usize, Term),
    /// The second node is above the first in the order, or the same.
    Below(Term, Term),
    Less(Term, Term),
    Same(Term, Term),
    Control(usize, Vec<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    Nil,
    Register(usize),
    Variable(usize),
}

/// What the order of nodes is made of: one field upwards, or several downwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    None,
    Up(usize),
    Down(Vec<usize>),
}

impl Atom {
    pub fn terms(&self) -> Vec<Term> {
        match *self {
            Atom::Equal(a, b) | Atom::Field(_, a, b) | Atom::Below(a, b) => vec![a, b],
            Atom::Less(a, b) | Atom::Same(a, b) => vec![a, b],
            Atom::Bit(_, a) => vec![a],
            Atom::Control(..) => vec![],
        }
    }
}

impl Clause {
    pub fn terms(&self) -> impl Iterator<Item = Term> {
        let effect = match self.effect {
            None => vec![],
            Some(Effect::Join(a, b)) => vec![a, b],
            Some(Effect::Split(a)) => vec![a],
        };
        self.literals.iter().flat_map(|literal| literal.atom.terms()).chain(effect)
    }

    /// Whether both can apply where an operation ends: no field of the controller tells them apart.
    pub fn meets(&self, other: &Clause) -> bool {
        let apart = |one: &Literal, two: &Literal| match (&one.atom, &two.atom) {
            (Atom::Control(a, these), Atom::Control(b, those)) => {
                let given = !one.positive && !two.positive;
                a == b && given && !these.iter().any(|value| those.contains(value))
            }
            _ => false,
        };
        let excluded =
            self.literals.iter().any(|one| other.literals.iter().any(|two| apart(one, two)));
        !excluded && self.states.iter().zip(&other.states).any(|(a, b)| *a && *b)
    }

    /// Whether it speaks of neither registers nor fields of the controller.
    pub fn about_memory(&self) -> bool {
        let controls = self.literals.iter().any(|one| matches!(one.atom, Atom::Control(..)));
        !controls && !self.terms().any(|term| matches!(term, Term::Register(_)))
    }
}

/// Reads all clauses, and adds what `tree` says of its fields.
pub fn parse(signature: &Signature, texts: &[String]) -> Result<(Vec<Clause>, Order), String> {
    let (mut clauses, mut order) = (Vec::new(), Order::None);
    for text in texts {
        let wrong = |why: String| format!("the clause `{text}` is not understood: {why}");
        let (states, body) = states_of(signature, text).map_err(wrong)?;
        let mut reader = Reader { signature, rest: split(body), variables: Vec::new() };
        if let Some(found) = reader.order().map_err(wrong)? {
            if order != Order::None {
                return Err(wrong("there is an order already".to_owned()));
            }
            order = found;
            continue;
        }
        let clause = reader.clause(text).map_err(wrong)?;
        clauses.push(Clause {
            states: states.unwrap_or_else(|but| default(signature, &clause, but)),
            ..clause
        });
    }
    if let Order::Down(fields) = &order {
        for literal in clauses.iter_mut().flat_map(|clause| &mut clause.literals) {
            if let Atom::Below(from, to) = &mut literal.atom {
                std::mem::swap(from, to);
            }
        }
        let names: Vec<&str> = fields.iter().map(|&field| &*signature.pointers[field]).collect();
        for (at, one) in names.iter().enumerate() {
            for other in &names[at..] {
                let text = format!("p.{one} = c and q.{other} = c -> p = q");
                clauses.extend(parse(signature, &[text])?.0);
            }
            for other in &names[at + 1..] {
                clauses.extend(parse(signature, &[format!("p.{one} = c -> p.{other} != c")])?.0);
            }
        }
    }
    let ordered = order != Order::None;
    let below = |literal: &Literal| matches!(literal.atom, Atom::Below(..));
    match clauses.iter().find(|clause| !ordered && clause.literals.iter().any(below)) {
        Some(clause) => Err(format!("`{}` needs an order: `acyclic …` or `tree …`", clause.text)),
        None => Ok((clauses, order)),
    }
}

/// What is known of the arguments of a call: nodes, for which the preconditions hold. These are
/// looked up before the first step, so each is a field or a bit of an argument, or that two differ.
pub fn of_arguments(signature: &Signature, operation: &Operation) -> Result<Vec<Clause>, String> {
    let (mut known, _) = parse(signature, &operation.requires)?;
    for clause in &known {
        let argument = |term: Term| match term {
            Term::Register(register) => operation.arguments.contains(&register),
            other => other == Term::Nil,
        };
        let local =
            |one: &Literal| matches!(one.atom, Atom::Equal(..) | Atom::Field(..) | Atom::Bit(..));
        let single = clause.literals.len() == 1 && clause.literals.iter().all(local);
        if !single || clause.effect.is_some() || !clause.terms().all(argument) {
            return Err(format!("`{}` cannot be looked up when it is called", clause.text));
        }
    }
    for &register in &operation.arguments {
        let text = format!("{} != nil", signature.registers[register]);
        known.extend(parse(signature, &[text])?.0);
    }
    Ok(known)
}

/// Without states, what is about memory holds always, and the rest while an operation runs.
fn default(signature: &Signature, clause: &Clause, but: Vec<bool>) -> Vec<bool> {
    let runs = signature.states.iter().map(|state| state.halt.is_none());
    runs.zip(but).map(|(runs, but)| (runs || clause.about_memory()) && !but).collect()
}

/// The states that a clause names, or those that it excepts, and what follows.
type States = Result<Vec<bool>, Vec<bool>>;
fn states_of<'t>(signature: &Signature, text: &'t str) -> Result<(States, &'t str), String> {
    let none = vec![false; signature.states.len()];
    let Some((names, body)) = text.split_once(':').filter(|(names, _)| !names.contains('"')) else {
        return Ok((Err(none), text));
    };
    let except = names.trim().strip_prefix("except ");
    let mut named = none;
    for name in except.unwrap_or(names).split(',') {
        let state = number(signature.states.iter().map(|state| &state.name), name.trim(), "state")?;
        named[state] = true;
    }
    Ok((if except.is_some() { Err(named) } else { Ok(named) }, body))
}

fn number<'n>(
    mut names: impl Iterator<Item = &'n String>,
    name: &str,
    what: &str,
) -> Result<usize, String> {
    names.position(|known| known == name).ok_or_else(|| format!("there is no {what} `{name}`"))
}

/// Words, signs and quoted values, the last first.
fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut word = String::from(letter);
        match letter {
            ' ' | '\n' => continue,
            '"' => {
                word.clear();
                word.extend(letters.by_ref().take_while(|&letter| letter != '"'));
            }
            '!' | '-' => word.extend(letters.next()),
            '.' | ',' | '=' | '<' | '~' | '|' => {}
            _ => {
                while let Some(next) =
                    letters.next_if(|&next| next.is_alphanumeric() || next == '_' || next == '-')
                {
                    word.push(next);
                }
            }
        }
        words.push(word);
    }
    words.reverse();
    words
}

struct Reader<'s> {
    signature: &'s Signature,
    rest: Vec<String>,
    variables: Vec<String>,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<String, String> {
        self.rest.pop().ok_or_else(|| "it ends too early".to_owned())
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.rest.last().is_some_and(|next| next == word);
        found && self.rest.pop().is_some()
    }

    /// Takes one of two words: whether it is the first.
    fn either(&mut self, yes: &str, no: &str) -> Result<bool, String> {
        match self.next()? {
            word if word == yes => Ok(true),
            word if word == no => Ok(false),
            word => Err(format!("`{yes}` or `{no}` was expected, not `{word}`")),
        }
    }

    fn field(&mut self) -> Result<usize, String> {
        number(self.signature.pointers.iter(), &self.next()?, "pointer field")
    }

    fn end(&self) -> Result<(), String> {
        self.rest.last().map_or(Ok(()), |word| Err(format!("`{word}` was not expected")))
    }

    fn order(&mut self) -> Result<Option<Order>, String> {
        let first = self.rest.last().cloned().unwrap_or_default();
        if self.signature.registers.contains(&first) {
            return Ok(None);
        }
        let order = if self.eat("acyclic") {
            Order::Up(self.field()?)
        } else if self.eat("tree") {
            let mut fields = vec![self.field()?];
            while self.eat(",") {
                fields.push(self.field()?);
            }
            Order::Down(fields)
        } else {
            return Ok(None);
        };
        self.end().map(|()| Some(order))
    }

    fn clause(&mut self, text: &str) -> Result<Clause, String> {
        let mut literals = Vec::new();
        if self.rest.iter().any(|word| word == "->") {
            loop {
                let Literal { positive, atom } = self.literal()?;
                literals.push(Literal { positive: !positive, atom });
                if self.either("->", "and")? {
                    break;
                }
            }
        }
        let effect = if self.eat("join") {
            Some(Effect::Join(self.term()?, self.term()?))
        } else if self.eat("split") {
            Some(Effect::Split(self.term()?))
        } else {
            literals.push(self.literal()?);
            while self.eat("or") {
                literals.push(self.literal()?);
            }
            None
        };
        self.end()?;
        let variables = self.variables.len();
        Ok(Clause { text: text.to_owned(), states: vec![], variables, literals, effect })
    }

    fn literal(&mut self) -> Result<Literal, String> {
        let sign = !self.eat("not");
        let first = self.rest.last().cloned().unwrap_or_default();
        let signature = self.signature;
        if let Some(control) = signature.controls.iter().position(|one| one.name == first) {
            self.next()?;
            let equal = self.either("=", "!=")?;
            let mut values = Vec::new();
            loop {
                let value = self.next()?;
                values.push(number(signature.controls[control].values.iter(), &value, "value")?);
                if !self.eat("|") {
                    let atom = Atom::Control(control, values);
                    return Ok(Literal { positive: sign == equal, atom });
                }
            }
        }
        let left = self.term()?;
        if self.eat(".") {
            let name = self.next()?;
            let equal = self.either("=", "!=")?;
            if let Some(bit) = signature.bits.iter().position(|bit| *bit == name) {
                let one = self.either("1", "0")?;
                return Ok(Literal {
                    positive: sign == (equal == one),
                    atom: Atom::Bit(bit, left),
                });
            }
            let field = number(signature.pointers.iter(), &name, "field or bit")?;
            let atom = Atom::Field(field, left, self.term()?);
            return Ok(Literal { positive: sign == equal, atom });
        }
        let relation = self.next()?;
        let right = self.term()?;
        let (positive, atom) = match &*relation {
            "=" => (sign, Atom::Equal(left, right)),
            "!=" => (!sign, Atom::Equal(left, right)),
            "reaches" => (sign, Atom::Below(left, right)),
            "<" => (sign, Atom::Less(left, right)),
            "~" => (sign, Atom::Same(left, right)),
            other => return Err(format!("`{other}` is no relation")),
        };
        Ok(Literal { positive, atom })
    }

    fn term(&mut self) -> Result<Term, String> {
        let name = self.next()?;
        if name == "nil" {
            return Ok(Term::Nil);
        }
        if let Some(register) = self.signature.registers.iter().position(|known| *known == name) {
            return Ok(Term::Register(register));
        }
        if !name.starts_with(|letter: char| letter.is_alphabetic()) {
            return Err(format!("a node was expected, not `{name}`"));
        }
        let known = self.variables.iter().position(|known| *known == name);
        Ok(Term::Variable(known.unwrap_or_else(|| {
            self.variables.push(name);
            self.variables.len() - 1
        })))
    }
}
