//! Decision trees as Rust source that compiles on its own.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::rust_names::{camel, snake};
use super::tree::{Arm, Branch, Effect, Found, Test, Tree};
use crate::lens::Lens;
use crate::values::{ADD, PULL, SET};
use crate::{Condition, Halt, Signature};

/// A module with a type for the structure, a method per operation and a function per state.
pub(super) fn rust(tree: &Tree, lenses: &[Lens], known: &Known<'_>) -> String {
    let source = Source { tree, lenses, signature: &tree.signature };
    let mut text = source.head(known);
    text += &source.types();
    text += &source.operations();
    text += &source.dispatch();
    for (state, branch) in tree.states.iter().enumerate() {
        if let Some(branch) = branch {
            text += &source.state(state, branch);
        }
    }
    text + "}\n"
}

/// What the module claims.
pub(super) struct Known<'a> {
    pub clauses: &'a [String],
    pub views: usize,
    /// What was proved or tested, if anything.
    pub statement: Option<&'a str>,
}

struct Source<'a> {
    tree: &'a Tree,
    lenses: &'a [Lens],
    signature: &'a Signature,
}

impl Source<'_> {
    /// What the module does, and why one may believe it.
    fn head(&self, known: &Known<'_>) -> String {
        let Known { clauses, views, statement } = *known;
        let Signature { name, version, .. } = self.signature;
        let one_line = |clause: &String| clause.split_whitespace().collect::<Vec<_>>().join(" ");
        let clauses: String =
            clauses.iter().map(|clause| format!("//! - `{}`\n", one_line(clause))).collect();
        let statement = wrapped(statement.unwrap_or(
            "That no other view occurs is neither proved nor tested: this network has no \
             certificate from `pgn certify`, or its program has changed since.",
        ));
        let outside = match self.tree.is_checked() {
            true => "A view that is not in the table is refused.",
            false => {
                "It trusts that: in a memory that breaks the clauses its answers mean nothing. \
                 What\n//! `pgn compile --checked` writes refuses other views."
            }
        };
        format!(
            "//! `{name}` (version {version}), compiled from a machine. Generated: do not edit.\n\
             //!\n\
             //! Each call does what the program `{name}` does, for every number of nodes: the network \
             that this\n//! was made from gave the program's action on all {views} views that its \
             clauses allow.\n//!\n\
             {clauses}//!\n\
             {statement}//!\n\
             //! All this is about memories that begin empty and are changed by these operations \
             alone.\n\
             //! {outside}\n//!\n\
             //! Each `step_` function is the decision tree of a state: it reads what it needs around \
             the\n//! registers of the controller, writes, and names the next state. Nodes are numbers \
             below the\n//! number of keys.\n\
             #![allow(dead_code, non_snake_case)]\n\n\
             /// No node.\n\
             pub const NIL: u32 = u32::MAX;\n\n"
        )
    }

    fn types(&self) -> String {
        let signature = self.signature;
        let mut text = String::from(
            "/// What is stored per node.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n\
             pub struct Node {\n",
        );
        for field in &signature.pointers {
            text += &format!("    pub {}: u32,\n", snake(field));
        }
        for bit in &signature.bits {
            text += &format!("    pub {}: bool,\n", snake(bit));
        }
        text += "}\n\n";
        text += "/// How an operation ends.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n\
                 pub enum Outcome {\n    /// Nothing to say.\n    Done,\n    /// Yes or no.\n    \
                 Answer(bool),\n    /// A node, or none.\n    Node(Option<u32>),\n}\n\n";
        text += "/// Why a call was refused.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n\
                 pub struct Refused(pub &'static str);\n\n\
                 impl std::fmt::Display for Refused {\n    \
                 fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n        \
                 f.write_str(self.0)\n    }\n}\n\nimpl std::error::Error for Refused {}\n\n";
        text += "/// Where the program is.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n\
                 enum State {\n";
        for state in &signature.states {
            text += &format!("    {},\n", camel(&state.name));
        }
        text += if self.tree.is_checked() { "    NotInTable,\n}\n\n" } else { "}\n\n" };
        for control in &signature.controls {
            text += &format!(
                "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\nenum {} {{\n",
                camel(&control.name)
            );
            for value in &control.values {
                text += &format!("    {},\n", camel(value));
            }
            text += "}\n\n";
        }
        text += "/// Registers, and small fields of the controller.\n#[derive(Clone, Copy, Debug)]\n\
                 struct Controller {\n";
        for register in &signature.registers {
            text += &format!("    {}: u32,\n", snake(register));
        }
        for control in &signature.controls {
            text += &format!("    {}: {},\n", snake(&control.name), camel(&control.name));
        }
        text += "}\n\nconst START: Controller = Controller {\n";
        for register in &signature.registers {
            text += &format!("    {}: NIL,\n", snake(register));
        }
        for control in &signature.controls {
            let (name, first) = (camel(&control.name), camel(&control.values[0]));
            text += &format!("    {}: {name}::{first},\n", snake(&control.name));
        }
        text += "};\n\n";
        text += "const ALONE: Node = Node {\n";
        for field in &signature.pointers {
            text += &format!("    {}: NIL,\n", snake(field));
        }
        for bit in &signature.bits {
            text += &format!("    {}: false,\n", snake(bit));
        }
        text += "};\n\n";
        if !signature.children.is_empty() {
            return text + &self.valued();
        }
        let name = camel(&signature.name);
        text += &format!(
            "/// The nodes, and a key for each.\n#[derive(Clone, Debug)]\npub struct {name} {{\n    \
             pub nodes: Vec<Node>,\n    pub keys: Vec<u32>,\n}}\n\nimpl {name} {{\n    \
             /// One node per key, all pointers nil.\n    pub fn new(keys: Vec<u32>) -> Self {{\n        \
             let nodes = vec![ALONE; keys.len()];\n        {name} {{ nodes, keys }}\n    }}\n\n"
        );
        text
    }

    /// The structure, if its nodes have values.
    fn valued(&self) -> String {
        let name = camel(&self.signature.name);
        let children: Vec<String> = self
            .signature
            .children
            .iter()
            .map(|&field| format!("found.{}", snake(&self.signature.pointers[usize::from(field)])))
            .collect();
        format!(
            "/// Values of nodes, and what is aggregated over them.\npub trait Values {{\n    \
             /// Recomputes the aggregate of a node from its children's, of which some may be \
             `NIL`.\n    fn pull(&mut self, node: u32, children: [u32; {count}]);\n    \
             /// Adds the operand of the operation to the value of a node.\n    \
             fn add(&mut self, node: u32);\n    \
             /// Sets the value of a node to the operand of the operation.\n    \
             fn set(&mut self, node: u32);\n}}\n\n\
             /// No values.\nimpl Values for () {{\n    \
             fn pull(&mut self, _: u32, _: [u32; {count}]) {{}}\n    \
             fn add(&mut self, _: u32) {{}}\n    fn set(&mut self, _: u32) {{}}\n}}\n\n\
             /// The nodes, a key for each, and their values.\n#[derive(Clone, Debug)]\n\
             pub struct {name}<V = ()> {{\n    pub nodes: Vec<Node>,\n    pub keys: Vec<u32>,\n    \
             pub values: V,\n}}\n\nimpl<V: Values> {name}<V> {{\n    \
             /// One node per key, all pointers nil.\n        \
             pub fn new(keys: Vec<u32>, values: V) -> Self {{\n        \
             let nodes = vec![ALONE; keys.len()];\n        \
             {name} {{ nodes, keys, values }}\n    }}\n\n    \
             #[inline(always)]\n    fn pull(&mut self, node: u32) {{\n        \
             if let Some(found) = self.nodes.get(node as usize) {{\n            \
             self.values.pull(node, [{children}]);\n        }}\n    }}\n\n",
            count = children.len(),
            children = children.join(", ")
        )
    }

    fn operations(&self) -> String {
        let signature = self.signature;
        let mut text = String::new();
        for operation in &signature.operations {
            let arguments: Vec<String> = operation
                .arguments
                .iter()
                .map(|&register| snake(&signature.registers[usize::from(register)]))
                .collect();
            let parameters: Vec<String> =
                arguments.iter().map(|argument| format!("{argument}: u32")).collect();
            let mut settings: Vec<String> =
                arguments.iter().map(|argument| format!("{argument} = {argument}")).collect();
            for &(control, value) in &operation.controls {
                let control = &signature.controls[usize::from(control)];
                let (kind, value) =
                    (camel(&control.name), camel(&control.values[usize::from(value)]));
                settings.push(format!("{} = {kind}::{value}", snake(&control.name)));
            }
            let mut doc = format!(
                "    /// Carries out `{}`; refused if an argument is not a node",
                operation.name
            );
            let mut refusals = String::new();
            let mut refuse = |test: &str, reason: &str| {
                refusals += &format!(
                    "        if {test} {{\n            return Err(Refused({reason:?}));\n        }}\n"
                );
            };
            let missing: Vec<String> =
                arguments.iter().map(|one| format!("{one} as usize >= self.nodes.len()")).collect();
            if !missing.is_empty() {
                refuse(&missing.join(" || "), "an argument is not a node");
            }
            for one in &operation.requires {
                doc += &format!(",\n    /// or if {}", one.reason);
                refuse(&self.violated(one.holds, &arguments), &one.reason);
            }
            let settings: String =
                settings.iter().map(|setting| format!("        c_.{setting};\n")).collect();
            let _ = writeln!(
                text,
                "{doc}.\n    pub fn {}(&mut self, {}) -> Result<Outcome, Refused> {{\n{refusals}        \
                 let mut c_ = START;\n{settings}        self.run(State::{}, c_)\n    }}\n",
                snake(&operation.name),
                parameters.join(", "),
                camel(&signature.states[usize::from(operation.entry)].name)
            );
        }
        text
    }

    /// An expression that is true where a condition on arguments does not hold.
    fn violated(&self, condition: Condition, arguments: &[String]) -> String {
        let signature = self.signature;
        match condition {
            Condition::Different(a, b) => {
                format!("{} == {}", arguments[usize::from(a)], arguments[usize::from(b)])
            }
            Condition::Nil(a, field) => {
                let field = snake(&signature.pointers[usize::from(field)]);
                format!("self.node({}).{field} != NIL", arguments[usize::from(a)])
            }
            Condition::Bit(a, bit, set) => {
                let bit = snake(&signature.bits[usize::from(bit)]);
                format!("self.node({}).{bit} != {set}", arguments[usize::from(a)])
            }
        }
    }

    /// The loop over states. States with one successor run on into it without coming back here.
    fn dispatch(&self) -> String {
        let signature = self.signature;
        let mut text = String::from(
            "    fn run(&mut self, mut state: State, mut c_: Controller) -> Result<Outcome, Refused> {\n        \
             loop {\n            state = match state {\n",
        );
        for (state, declared) in signature.states.iter().enumerate() {
            let name = camel(&declared.name);
            let arm = match &declared.halt {
                None => {
                    let chain = self.chain(state);
                    let calls: Vec<String> = chain
                        .iter()
                        .map(|&state| {
                            let name = snake(&signature.states[state].name);
                            format!("self.step_{name}(&mut c_)")
                        })
                        .collect();
                    match &calls[..] {
                        [call] => format!("{call},\n"),
                        calls => {
                            let indent = "                    ";
                            let body = calls.join(&format!(";\n{indent}"));
                            format!("{{\n{indent}{body}\n                }}\n")
                        }
                    }
                }
                Some(Halt::Done) => "return Ok(Outcome::Done),\n".to_string(),
                Some(Halt::Answer(answer)) => format!("return Ok(Outcome::Answer({answer})),\n"),
                Some(Halt::Node(register)) => {
                    let register = snake(&signature.registers[usize::from(*register)]);
                    format!(
                        "return Ok(Outcome::Node((c_.{register} != NIL).then_some(c_.{register}))),\n"
                    )
                }
                Some(Halt::Refused(reason)) => format!("return Err(Refused({reason:?})),\n"),
            };
            text += &format!("                State::{name} => {arm}");
        }
        if self.tree.is_checked() {
            text += "                State::NotInTable => {\n                    return \
                     Err(Refused(\"what was read is not in the table\"));\n                }\n";
        }
        text + "            };\n        }\n    }\n\n    #[inline(always)]\n    fn node(&mut self, \
                node: u32) -> &mut Node {\n        &mut self.nodes[node as usize]\n    }\n"
    }

    /// The states that always follow each other from here on.
    fn chain(&self, state: usize) -> Vec<usize> {
        let mut chain = vec![state];
        loop {
            let mut next = BTreeSet::new();
            if let Some(branch) = &self.tree.states[chain[chain.len() - 1]] {
                self.successors(branch, &mut next);
            }
            match next.pop_first() {
                Some(only)
                    if next.is_empty()
                        && self.tree.states.get(only).is_some_and(Option::is_some)
                        && !chain.contains(&only) =>
                {
                    chain.push(only);
                }
                _ => return chain,
            }
        }
    }

    fn state(&self, state: usize, branch: &Branch) -> String {
        let name = snake(&self.signature.states[state].name);
        let mut text = format!(
            "\n    #[inline(always)]\n    fn step_{name}(&mut self, c_: &mut Controller) -> State {{\n"
        );
        self.branch(branch, &self.lenses[state], 2, true, &mut text);
        text + "    }\n"
    }

    /// The statements of a tree. At the end of a function or a block (`tail`) the next state is
    /// its value, elsewhere it is returned.
    fn branch(&self, branch: &Branch, lens: &Lens, depth: usize, tail: bool, text: &mut String) {
        let indent = "    ".repeat(depth);
        let (test, outcomes) = match branch {
            Branch::Act { effects, next } => {
                // Aggregates come last.
                let mut effects = effects.clone();
                effects.sort_by_key(|effect| {
                    matches!(effect, Effect::Mark { mark, .. } if usize::from(*mark) == PULL)
                });
                for effect in effects {
                    if let Some(statement) = self.effect(effect, lens) {
                        let _ = writeln!(text, "{indent}{statement}");
                    }
                }
                let next = camel(&self.signature.states[usize::from(*next)].name);
                let _ = match tail {
                    true => writeln!(text, "{indent}State::{next}"),
                    false => writeln!(text, "{indent}return State::{next};"),
                };
                return;
            }
            Branch::Outside => {
                let _ = match tail {
                    true => writeln!(text, "{indent}State::NotInTable"),
                    false => writeln!(text, "{indent}return State::NotInTable;"),
                };
                return;
            }
            Branch::Read { test, outcomes } => (*test, outcomes),
        };
        match test {
            Test::Control { control } => {
                *text += &indent;
                *text += if tail { "" } else { "return " };
                self.choice(usize::from(control), outcomes, lens, depth, text);
                *text += if tail { "\n" } else { ";\n" };
                return;
            }
            Test::Register { register, slot } => {
                let register = snake(&self.signature.registers[usize::from(register)]);
                let _ = writeln!(text, "{indent}let {} = c_.{register};", self.slot(slot, lens));
            }
            Test::Pointer { from, field, slot } => {
                let (from, to) = (self.slot(from, lens), self.slot(slot, lens));
                let field = snake(&self.signature.pointers[usize::from(field)]);
                let _ = writeln!(text, "{indent}let {to} = self.node({from}).{field};");
            }
            Test::Bit { .. } | Test::Less { .. } => {}
        }
        let Some((last, tested)) = outcomes.split_last() else { return };
        for outcome in tested {
            let condition: Vec<String> =
                outcome.found.iter().map(|&found| self.condition(test, found, lens)).collect();
            let _ = writeln!(text, "{indent}if {} {{", condition.join(" || "));
            self.branch(&outcome.then, lens, depth + 1, false, text);
            let _ = writeln!(text, "{indent}}}");
        }
        self.branch(&last.then, lens, depth, tail, text);
    }

    /// A match on a field of the controller; the outcome with most values comes last.
    fn choice(
        &self,
        control: usize,
        outcomes: &[Arm],
        lens: &Lens,
        depth: usize,
        text: &mut String,
    ) {
        let indent = "    ".repeat(depth);
        let control = &self.signature.controls[control];
        let mut outcomes: Vec<&Arm> = outcomes.iter().collect();
        outcomes.sort_by_key(|outcome| outcome.found.len());
        let _ = writeln!(text, "match c_.{} {{", snake(&control.name));
        for (index, outcome) in outcomes.iter().enumerate() {
            let values: Vec<String> = outcome
                .found
                .iter()
                .map(|&found| match found {
                    Found::Value(value) => {
                        let value = camel(&control.values[usize::from(value)]);
                        format!("{}::{value}", camel(&control.name))
                    }
                    _ => "_".to_string(),
                })
                .collect();
            let pattern = match index + 1 == outcomes.len() {
                true => "_".to_string(),
                false => values.join(" | "),
            };
            let _ = write!(text, "{indent}    {pattern} => ");
            if let Branch::Read { test: Test::Control { control }, outcomes } = &outcome.then {
                self.choice(usize::from(*control), outcomes, lens, depth + 1, text);
                *text += ",\n";
                continue;
            }
            let mut body = String::new();
            self.branch(&outcome.then, lens, depth + 2, true, &mut body);
            let _ = match body.lines().count() {
                1 => writeln!(text, "{},", body.trim()),
                _ => writeln!(text, "{{\n{body}{indent}    }}"),
            };
        }
        let _ = write!(text, "{indent}}}");
    }

    fn condition(&self, test: Test, found: Found, lens: &Lens) -> String {
        match (test, found) {
            (Test::Bit { slot, bit }, _) => {
                let bit = snake(&self.signature.bits[usize::from(bit)]);
                format!("self.node({}).{bit}", self.slot(slot, lens))
            }
            (Test::Less { a, b }, _) => {
                let (a, b) = (self.slot(a, lens), self.slot(b, lens));
                format!("self.keys[{a} as usize] < self.keys[{b} as usize]")
            }
            (Test::Register { slot, .. } | Test::Pointer { slot, .. }, Found::Same(same)) => {
                format!("{} == {}", self.slot(slot, lens), self.slot(same, lens))
            }
            (Test::Register { slot, .. } | Test::Pointer { slot, .. }, _) => {
                format!("{} == NIL", self.slot(slot, lens))
            }
            (Test::Control { .. }, _) => "true".to_string(),
        }
    }

    fn effect(&self, effect: Effect, lens: &Lens) -> Option<String> {
        let signature = self.signature;
        let value = |to: Option<u8>| to.map_or("NIL".to_string(), |to| self.slot(to, lens));
        Some(match effect {
            Effect::Pointer { slot, field, to } => {
                let field = snake(&signature.pointers[usize::from(field)]);
                format!("self.node({}).{field} = {};", self.slot(slot, lens), value(to))
            }
            Effect::Toggle { slot, bit } => {
                let bit = snake(&signature.bits[usize::from(bit)]);
                format!("self.node({}).{bit} ^= true;", self.slot(slot, lens))
            }
            Effect::Register { register, to } => {
                format!(
                    "c_.{} = {};",
                    snake(&signature.registers[usize::from(register)]),
                    value(to)
                )
            }
            Effect::Control { control, value } => {
                let control = &signature.controls[usize::from(control)];
                let value = camel(&control.values[usize::from(value)]);
                format!("c_.{} = {}::{value};", snake(&control.name), camel(&control.name))
            }
            Effect::Mark { slot, mark } if !signature.children.is_empty() => {
                let slot = self.slot(slot, lens);
                match usize::from(mark) {
                    PULL => format!("self.pull({slot});"),
                    ADD => format!("self.values.add({slot});"),
                    SET => format!("self.values.set({slot});"),
                    _ => return None,
                }
            }
            Effect::Mark { .. } => return None,
        })
    }

    /// The variable for a slot: its access path.
    fn slot(&self, slot: u8, lens: &Lens) -> String {
        match lens.paths.get(usize::from(slot)) {
            Some(path) => {
                // Two underscores keep the path `x.up` apart from a register `x_up`.
                let signature = self.signature;
                let fields =
                    path.fields.iter().map(|&field| &signature.pointers[usize::from(field)]);
                let register = &signature.registers[usize::from(path.register)];
                std::iter::once(register)
                    .chain(fields)
                    .map(|name| snake(name))
                    .collect::<Vec<_>>()
                    .join("__")
            }
            None => format!("slot_{slot}"),
        }
    }

    /// The states that a tree leads to; what is not in the table is one more.
    fn successors(&self, branch: &Branch, next: &mut BTreeSet<usize>) {
        match branch {
            Branch::Read { outcomes, .. } => {
                outcomes.iter().for_each(|outcome| self.successors(&outcome.then, next));
            }
            Branch::Act { next: state, .. } => {
                next.insert(usize::from(*state));
            }
            Branch::Outside => {
                next.insert(self.tree.states.len());
            }
        }
    }
}

/// A paragraph of a module's documentation.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::from("//!")];
    for word in text.split_whitespace() {
        let width = lines.last().map_or(0, |line| line.chars().count());
        if width + word.chars().count() >= 100 {
            lines.push(String::from("//!"));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}
