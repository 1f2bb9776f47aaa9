//! Invariants as data: clauses that hold before every micro-step.
//!
//! A clause is a line of text. Names of registers stand for the nodes that they hold, `nil` for no
//! node, and every other name for *any* node:
//!
//! | text | says |
//! | --- | --- |
//! | `acyclic up` | following `up` never leads back to a node; `reaches` follows `up` |
//! | `tree child, next` | the same of both fields, and no two of them point to one node |
//! | `p.left = c -> c.up = p` | of all nodes p and c |
//! | `climb, compress: s reaches root` | in these states; a node reaches itself |
//! | `except start: s != nil` | in all running states but this one |
//! | `link: goal = union \| same` | of a field of the controller, in one state |
//! | `x.held = 0 and x.next = y -> not x < y` | bits, and the order of keys |
//! | `p reaches q -> p ~ q` | `~` is an equivalence of nodes that only proofs know: the sets of a union-find, say |
//! | `yes: goal = union -> join u v` | what an operation that ends here does to it; also `split v`: what reaches v is set apart |
//!
//! Without states, a clause about memory alone holds at all times, also between operations; one
//! with registers or fields of the controller holds in all states in which an operation runs.
//! A clause about registers in a halting state says what the answer means, and is for proofs only.
//!
//! Each clause is universal: what a part of a memory violates, the whole violates. So an
//! enumeration that leaves out the views which violate a clause leaves out nothing that occurs.

mod evaluate;
mod parse;

use crate::{Signature, View};

/// The clauses of a program.
#[derive(Clone, Debug, Default)]
pub struct Clauses {
    clauses: Vec<Clause>,
    order: Option<Order>,
}

/// A clause: in some states, of all nodes, one of these literals holds.
#[derive(Clone, Debug)]
struct Clause {
    text: String,
    /// By state of the signature.
    states: Vec<bool>,
    variables: usize,
    /// Empty for what the order of nodes says by itself, and for effects.
    literals: Vec<Literal>,
}

#[derive(Clone, Debug)]
struct Literal {
    positive: bool,
    atom: Atom,
}

#[derive(Clone, Debug)]
enum Atom {
    Equal(Term, Term),
    Field(Term, usize, Term),
    Bit(Term, usize),
    Reaches(Term, Term),
    Less(Term, Term),
    /// The equivalence that only proofs know.
    Ghost,
    /// A field of the controller has one of these values.
    Control(usize, Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    Nil,
    Register(usize),
    Variable(usize),
}

/// What `reaches` follows.
#[derive(Clone, Debug)]
enum Order {
    /// This field.
    Along(usize),
    /// Any of these fields; no two point to the same node.
    Tree(Vec<usize>),
}

impl Clauses {
    /// Reads clauses; an error is one sentence.
    pub fn parse(signature: &Signature, texts: &[String]) -> Result<Self, String> {
        parse::clauses(signature, texts)
    }

    /// The first clause that cannot hold in any memory that has this view.
    pub fn violated(&self, view: &View) -> Option<&str> {
        evaluate::violated(self, view).map(|clause| clause.text.as_str())
    }
}
