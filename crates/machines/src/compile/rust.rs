//! Decision trees as Rust source that compiles on its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::tree::{Arm, Branch, Effect, Found, Test, Tree};
use crate::lens::Lens;
use crate::values::{ADD, PULL, SET};
use crate::{Condition, Halt, Signature};

/// A module with a type for the structure, a method per operation and a function per state.
pub(super) fn rust(tree: &Tree, lenses: &[Lens]) -> String {
    let source = Source { tree, lenses, signature: &tree.signature };
    let mut text = source.head();
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

struct Source<'a> {
    tree: &'a Tree,
    lenses: &'a [Lens],
    signature: &'a Signature,
}

impl Source<'_> {
    fn head(&self) -> String {
        let Signature { name, version, .. } = self.signature;
        format!(
            "//! `{name}` (version {version}), compiled from a machine. Generated: do not edit.\n\
             //!\n\
             //! Each function is the decision tree of a state: it reads what it needs around the\n\
             //! registers of the controller, writes, and names the next state. Nodes are numbers\n\
             //! below the number of keys; what is visited is not noted.\n\
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
                 pub enum Outcome {\n    Done,\n    Answer(bool),\n    Node(Option<u32>),\n    \
                 Refused(&'static str),\n}\n\n";
        text += "/// Where the program is.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n\
                 enum State {\n";
        for state in &signature.states {
            text += &format!("    {},\n", camel(&state.name));
        }
        text += "}\n\n";
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
            let refusals: String = operation
                .requires
                .iter()
                .map(|one| {
                    let test = match one.holds {
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
                    };
                    let reason = &one.reason;
                    format!("        if {test} {{\n            return Outcome::Refused({reason:?});\n        }}\n")
                })
                .collect();
            let settings: String =
                settings.iter().map(|setting| format!("        c_.{setting};\n")).collect();
            let _ = writeln!(
                text,
                "    pub fn {}(&mut self, {}) -> Outcome {{\n{refusals}        let mut c_ = START;\n\
                 {settings}        self.run(State::{}, c_)\n    }}\n",
                snake(&operation.name),
                parameters.join(", "),
                camel(&signature.states[usize::from(operation.entry)].name)
            );
        }
        text
    }

    /// The loop over states. States with one successor run on into it without coming back here.
    fn dispatch(&self) -> String {
        let signature = self.signature;
        let mut text = String::from(
            "    fn run(&mut self, mut state: State, mut c_: Controller) -> Outcome {\n        \
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
                Some(Halt::Done) => "return Outcome::Done,\n".to_string(),
                Some(Halt::Answer(answer)) => format!("return Outcome::Answer({answer}),\n"),
                Some(Halt::Node(register)) => {
                    let register = snake(&signature.registers[usize::from(*register)]);
                    format!(
                        "return Outcome::Node((c_.{register} != NIL).then_some(c_.{register})),\n"
                    )
                }
                Some(Halt::Refused(reason)) => format!("return Outcome::Refused({reason:?}),\n"),
            };
            text += &format!("                State::{name} => {arm}");
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
                successors(branch, &mut next);
            }
            match next.pop_first() {
                Some(only)
                    if next.is_empty()
                        && self.tree.states[only].is_some()
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
}

/// Refuses names that would be one name in Rust, such as the registers `x-up` and `x_up`.
pub(crate) fn check_names(signature: &Signature) -> Result<(), String> {
    let clash = |what: &str, names: Vec<(String, String)>| {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for (identifier, name) in names {
            if let Some(other) = seen.insert(identifier, name.clone()) {
                return Err(format!(
                    "program `{}`: {what} `{other}` and `{name}` are too similar: expected names \
                     that differ in letters or digits",
                    signature.name
                ));
            }
        }
        Ok(())
    };
    let as_snake = |name: &String| (snake(name), name.clone());
    let as_camel = |name: &String| (camel(name), name.clone());
    let states = || signature.states.iter().map(|state| &state.name);
    let controls = || signature.controls.iter().map(|control| &control.name);
    let operations = signature.operations.iter().map(|operation| as_snake(&operation.name));
    let steps = states().map(|state| (format!("step_{}", snake(state)), state.clone()));
    let types = ["State", "Node", "Outcome", "Controller", "Values"];
    let types = types.map(|name| (name.to_owned(), name.to_owned()));
    let named = controls().chain([&signature.name]).map(as_camel);
    clash("fields", signature.pointers.iter().chain(&signature.bits).map(as_snake).collect())?;
    clash("registers", signature.registers.iter().chain(controls()).map(as_snake).collect())?;
    clash("states", states().map(as_camel).collect())?;
    clash("operations or states", operations.chain(steps).collect())?;
    clash("controller fields", types.into_iter().chain(named).collect())?;
    for control in &signature.controls {
        clash("values", control.values.iter().map(as_camel).collect())?;
    }
    Ok(())
}

fn successors(branch: &Branch, next: &mut BTreeSet<usize>) {
    match branch {
        Branch::Read { outcomes, .. } => {
            outcomes.iter().for_each(|outcome| successors(&outcome.then, next));
        }
        Branch::Act { next: state, .. } => {
            next.insert(usize::from(*state));
        }
    }
}

/// The words of a name.
fn words(name: &str) -> Vec<String> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// A name as a variable or function.
fn snake(name: &str) -> String {
    let joined = words(name).join("_");
    match joined.as_str() {
        "as" | "break" | "const" | "continue" | "else" | "enum" | "extern" | "false" | "fn"
        | "for" | "if" | "impl" | "in" | "let" | "loop" | "match" | "mod" | "move" | "mut"
        | "pub" | "ref" | "return" | "static" | "struct" | "trait" | "true" | "type" | "use"
        | "unsafe" | "where" | "while" | "async" | "await" | "dyn" | "gen" | "yield" | "final"
        | "box" | "do" | "macro" | "override" | "priv" | "try" | "virtual" | "abstract"
        | "become" | "typeof" | "unsized" | "node" | "run" | "pull" | "new" | "self" | "super"
        | "crate" => joined + "_",
        _ if joined.starts_with(|first: char| first.is_ascii_digit()) || joined.is_empty() => {
            format!("n{joined}")
        }
        _ => joined,
    }
}

/// A name as a type or variant.
fn camel(name: &str) -> String {
    let joined: String =
        words(name).iter().map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
    match joined.as_str() {
        "Self" => "Self_".to_string(),
        _ if joined.starts_with(|first: char| first.is_ascii_digit()) || joined.is_empty() => {
            format!("N{joined}")
        }
        _ => joined,
    }
}
