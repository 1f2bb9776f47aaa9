//! Names of a signature as identifiers of Rust.

use std::collections::BTreeMap;

use crate::Signature;

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

/// The words of a name.
fn words(name: &str) -> Vec<String> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// A name as a variable or function.
pub(super) fn snake(name: &str) -> String {
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
pub(super) fn camel(name: &str) -> String {
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
