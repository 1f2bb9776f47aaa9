//! Clauses as text.

use super::{Atom, Clause, Clauses, Literal, Order, Term};
use crate::Signature;

pub fn clauses(signature: &Signature, texts: &[String]) -> Result<Clauses, String> {
    let mut all = Clauses::default();
    for text in texts {
        let trouble = |what: String| {
            format!("program `{}`: the clause `{text}` is not understood: {what}", signature.name)
        };
        let (states, body) = split_states(signature, text).map_err(trouble)?;
        let mut reader = Reader { signature, tokens: tokens(body), at: 0, variables: Vec::new() };
        let (clause, order) = reader.clause().map_err(trouble)?;
        if order.is_some() && all.order.replace(order.unwrap_or(Order::Along(0))).is_some() {
            return Err(trouble("a program has one order of nodes".to_owned()));
        }
        let memory = clause.iter().all(|literal| literal.about_memory());
        let running = |state: usize| signature.states[state].halt.is_none();
        let everywhere = |state: usize| memory || running(state);
        let applies = |state: usize| match &states {
            States::All => everywhere(state),
            States::Only(named) => named.contains(&state),
            States::Except(named) => everywhere(state) && !named.contains(&state),
        };
        all.clauses.push(Clause {
            text: text.clone(),
            states: (0..signature.states.len()).map(applies).collect(),
            variables: reader.variables.len(),
            literals: clause,
        });
    }
    let reaches = |clause: &Clause| {
        clause.literals.iter().any(|literal| matches!(literal.atom, Atom::Reaches(..)))
    };
    match all.clauses.iter().find(|clause| reaches(clause)) {
        Some(clause) if all.order.is_none() => Err(format!(
            "program `{}`: `{}` needs a clause `acyclic FIELD` or `tree FIELD, FIELD`",
            signature.name, clause.text
        )),
        _ => Ok(all),
    }
}

enum States {
    All,
    Only(Vec<usize>),
    Except(Vec<usize>),
}

/// The states before a colon. Values of controls may have colons, in quotation marks.
fn split_states<'t>(signature: &Signature, text: &'t str) -> Result<(States, &'t str), String> {
    let Some((names, body)) = text.split_once(':').filter(|(names, _)| !names.contains('"')) else {
        return Ok((States::All, text));
    };
    let (except, names) = match names.trim().strip_prefix("except ") {
        Some(names) => (true, names),
        None => (false, names),
    };
    let number = |name: &str| {
        let found = signature.states.iter().position(|state| state.name == name.trim());
        found.ok_or_else(|| format!("there is no state `{}`", name.trim()))
    };
    let states = names.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
    Ok((if except { States::Except(states) } else { States::Only(states) }, body))
}

fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            '-' | '!' => 2.min(rest.len()),
            letter if letter.is_alphanumeric() || letter == '_' => rest
                .find(|letter: char| !letter.is_alphanumeric() && !"_-".contains(letter))
                .unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

struct Reader<'t> {
    signature: &'t Signature,
    tokens: Vec<&'t str>,
    at: usize,
    variables: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<&'t str, String> {
        self.at += 1;
        self.tokens.get(self.at - 1).copied().ok_or_else(|| "it ends too early".to_owned())
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.tokens.get(self.at) == Some(&token);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.next()? {
            found if found == token => Ok(()),
            found => Err(format!("`{token}` was expected instead of `{found}`")),
        }
    }

    fn clause(&mut self) -> Result<(Vec<Literal>, Option<Order>), String> {
        // A register may have one of these names.
        let declares = |word: &str| {
            self.tokens[0] == word && !self.signature.registers.iter().any(|name| name == word)
        };
        let (along, tree) = (declares("acyclic"), declares("tree"));
        if along && self.eat("acyclic") {
            let field = self.field()?;
            return self.end((Vec::new(), Some(Order::Along(field))));
        }
        if tree && self.eat("tree") {
            let mut fields = vec![self.field()?];
            while self.eat(",") {
                fields.push(self.field()?);
            }
            return self.end((Vec::new(), Some(Order::Tree(fields))));
        }
        let mut literals = Vec::new();
        if self.tokens.contains(&"->") {
            loop {
                let mut literal = self.literal()?;
                literal.positive ^= true;
                literals.push(literal);
                if !self.eat("and") {
                    break;
                }
            }
            self.expect("->")?;
        }
        if self.eat("join") {
            self.term()?;
            self.term()?;
            return self.end((Vec::new(), None));
        }
        if self.eat("split") {
            self.term()?;
            return self.end((Vec::new(), None));
        }
        loop {
            literals.push(self.literal()?);
            if !self.eat("or") {
                return self.end((literals, None));
            }
        }
    }

    fn end<T>(&self, value: T) -> Result<T, String> {
        match self.tokens.get(self.at) {
            None => Ok(value),
            Some(token) => Err(format!("`{token}` was not expected")),
        }
    }

    fn field(&mut self) -> Result<usize, String> {
        let name = self.next()?;
        let found = self.signature.pointers.iter().position(|field| field == name);
        found.ok_or_else(|| format!("there is no pointer field `{name}`"))
    }

    fn literal(&mut self) -> Result<Literal, String> {
        let positive = !self.eat("not");
        let name = self.tokens.get(self.at).copied().unwrap_or("");
        let control = self.signature.controls.iter().position(|control| control.name == name);
        if let Some(control) = control {
            self.at += 1;
            let equal = self.equality()?;
            let mut values = vec![self.value(control)?];
            while self.eat("|") {
                values.push(self.value(control)?);
            }
            return Ok(Literal {
                positive: positive == equal,
                atom: Atom::Control(control, values),
            });
        }
        let left = self.term()?;
        if self.eat(".") {
            let name = self.next()?;
            if let Some(bit) = self.signature.bits.iter().position(|bit| bit == name) {
                let equal = self.equality()?;
                let value = match self.next()? {
                    "0" => false,
                    "1" => true,
                    other => return Err(format!("a bit is 0 or 1, not `{other}`")),
                };
                return Ok(Literal {
                    positive: positive == (equal == value),
                    atom: Atom::Bit(left, bit),
                });
            }
            self.at -= 1;
            let field = self.field()?;
            let equal = self.equality()?;
            let atom = Atom::Field(left, field, self.term()?);
            return Ok(Literal { positive: positive == equal, atom });
        }
        let (equal, atom) = match self.next()? {
            "=" => (true, Atom::Equal(left, self.term()?)),
            "!=" => (false, Atom::Equal(left, self.term()?)),
            "reaches" => (true, Atom::Reaches(left, self.term()?)),
            "<" => (true, Atom::Less(left, self.term()?)),
            "~" => {
                self.term()?;
                (true, Atom::Ghost)
            }
            other => {
                return Err(format!(
                    "`=`, `!=`, `reaches`, `<` or `~` was expected, not `{other}`"
                ));
            }
        };
        Ok(Literal { positive: positive == equal, atom })
    }

    fn equality(&mut self) -> Result<bool, String> {
        match self.next()? {
            "=" => Ok(true),
            "!=" => Ok(false),
            other => Err(format!("`=` or `!=` was expected instead of `{other}`")),
        }
    }

    fn value(&mut self, control: usize) -> Result<u8, String> {
        let name = self.next()?.trim_matches('"');
        let control = &self.signature.controls[control];
        let found = control.values.iter().position(|value| value == name);
        found
            .map(|value| value as u8)
            .ok_or_else(|| format!("`{}` has no value `{name}`", control.name))
    }

    fn term(&mut self) -> Result<Term, String> {
        let name = self.next()?;
        if name == "nil" {
            return Ok(Term::Nil);
        }
        if let Some(register) = self.signature.registers.iter().position(|known| known == name) {
            return Ok(Term::Register(register));
        }
        if !name.starts_with(char::is_alphabetic) {
            return Err(format!("a node was expected instead of `{name}`"));
        }
        let known = self.variables.iter().position(|known| *known == name);
        Ok(Term::Variable(known.unwrap_or_else(|| {
            self.variables.push(name);
            self.variables.len() - 1
        })))
    }
}

impl Literal {
    fn about_memory(&self) -> bool {
        let plain = |term: Term| !matches!(term, Term::Register(_));
        match self.atom {
            Atom::Equal(a, b) | Atom::Field(a, _, b) | Atom::Reaches(a, b) | Atom::Less(a, b) => {
                plain(a) && plain(b)
            }
            Atom::Bit(a, _) => plain(a),
            Atom::Ghost => true,
            Atom::Control(..) => false,
        }
    }
}
