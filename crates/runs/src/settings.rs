//! Settings as TOML: laid over each other, compared, and found again in the file they came from.

use std::{collections::BTreeMap, path::Path};

use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use pgn_structures::did_you_mean;

use crate::{Error, files};

/// Lays `over` over `under`, table by table.
pub fn overlay(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => overlay(under, over),
            (Some(Value::Float(under)), Value::Integer(over)) => *under = over as f64,
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// Every value by its dotted key.
pub fn flat(value: Option<Value>) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    flatten("", value, &mut flat);
    flat
}

fn flatten(prefix: &str, value: Option<Value>, flat: &mut BTreeMap<String, String>) {
    match value {
        Some(Value::Table(table)) => {
            for (key, value) in table {
                let dot = if prefix.is_empty() { "" } else { "." };
                flatten(&format!("{prefix}{dot}{key}"), Some(value), flat);
            }
        }
        Some(value) => {
            flat.insert(prefix.to_owned(), value.to_string());
        }
        None => {}
    }
}

/// What a run is, first; then the other settings.
const FIRST: [&str; 4] = ["task", "model", "seed", "epochs"];

/// The first key whose values differ, with both: what is most telling comes first.
pub fn difference(
    ours: &BTreeMap<String, String>,
    theirs: &BTreeMap<String, String>,
) -> Option<(String, String, String)> {
    let first = FIRST.iter().map(|key| (*key).to_owned());
    let mut keys = first.chain(ours.keys().chain(theirs.keys()).cloned());
    keys.find(|key| ours.get(key) != theirs.get(key)).map(|key| {
        let value = |flat: &BTreeMap<String, String>| {
            flat.get(&key).cloned().unwrap_or_else(|| "absent".to_owned())
        };
        let values = (value(ours), value(theirs));
        (key, values.0, values.1)
    })
}

/// What the TOML reader says, for people who do not know Rust's types: in one line, and with the key
/// that was probably meant.
fn sentence(message: &str) -> String {
    let mut what = message.lines().collect::<Vec<_>>().join("; ");
    if let Some((rest, kind)) = what.rsplit_once(", expected ") {
        let kind = match kind {
            "f32" | "f64" => "a number",
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
            "a sequence" => "a list",
            "a boolean" => "true or false",
            other if other.starts_with("struct ") => "a table",
            other => other,
        };
        what = format!("{rest}, expected {kind}");
    }
    let unknown = what.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    let meant = unknown.map(|(given, known)| did_you_mean(given, known.split('`')));
    what + &meant.unwrap_or_default()
}

/// What is wrong with settings that are not read from a text: the key, and a sentence in one line.
pub fn wrong(error: &toml::de::Error) -> (String, String) {
    let what = sentence(error.message());
    let text = error.to_string();
    let key = text.lines().rev().find_map(|line| line.strip_prefix("in `")?.strip_suffix('`'));
    let table = key.unwrap_or_default();
    match (unknown(&what), table) {
        (Some((_, key)), "") => (key.to_owned(), what),
        (Some((_, key)), table) => (format!("{table}.{key}"), format!("{table}: {what}")),
        (None, "") => (String::new(), what),
        (None, key) => (key.to_owned(), format!("{key}: {what}")),
    }
}

/// What is wrong with a TOML file, in one sentence with its line and key.
pub fn wrong_in(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let what = sentence(error.message());
    let start = error.span().map(|span| span.start).filter(|&at| text.is_char_boundary(at));
    // What is missing has no line.
    let Some(start) = start.filter(|_| !what.starts_with("missing field")) else {
        return Error::file(path, what);
    };
    let line = text[..start].matches('\n').count();
    let key = text.lines().nth(line).and_then(|line| line.split_once('='));
    let key = key.map(|(key, _)| key.trim()).filter(|key| !what.contains(&format!("`{key}`")));
    let key = key.map_or(String::new(), |key| format!("{key}: "));
    Error::file(path, format!("line {}: {key}{what}", line + 1))
}

/// An error about the setting `key` with its file and line, if `path` has the setting and `over`,
/// the settings laid over the file's, does not.
///
/// Settings come from a file and from flags, and are checked together; this is for the error that
/// comes out of it.
pub fn located(key: &str, what: &str, path: &Path, over: &Table) -> Option<Error> {
    let line = line_of(&files::read_text(path).ok()?, key)?;
    (!has(over, key)).then(|| Error::file(path, format!("line {line}: {what}")))
}

/// The table, empty for the top level, and the key in a sentence about an unknown one.
pub fn unknown(what: &str) -> Option<(&str, &str)> {
    let (table, rest) = what.split_once("unknown field `")?;
    Some((table.trim_end_matches(": "), rest.split_once('`')?.0))
}

/// Whether there is a value at a dotted key.
fn has(table: &Table, key: &str) -> bool {
    match key.split_once('.') {
        None => table.contains_key(key),
        Some((first, rest)) => match table.get(first) {
            Some(Value::Table(inner)) => has(inner, rest),
            _ => false,
        },
    }
}

/// The line of a dotted key.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let (name, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        match (parts.peek(), value.get_ref()) {
            (None, _) => return Some(1 + text.get(..name.span().start)?.matches('\n').count()),
            (Some(_), DeValue::Table(inner)) => table = inner,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_found_in_its_file() {
        let text = "epochs = 3\n\n[data]\nnodes = [1]\n[network]\nlosses.query = 2\n";
        assert_eq!(line_of(text, "epochs"), Some(1));
        assert_eq!(line_of(text, "data.nodes"), Some(4));
        assert_eq!(line_of(text, "network.losses.query"), Some(6));
        assert_eq!(line_of(text, "data.ops"), None);
        assert_eq!(line_of("= broken", "epochs"), None);
    }

    #[test]
    fn types_are_named_for_people_and_misspelt_keys_are_guessed() {
        let what = sentence("invalid type: string \"x\", expected f64");
        assert_eq!(what, "invalid type: string \"x\", expected a number");
        let what = sentence("unknown field `epoch`, expected one of `task`, `epochs`");
        assert_eq!(
            what,
            "unknown field `epoch`, expected one of `task`, `epochs` (did you mean epochs?)"
        );
        assert_eq!(sentence("two\nlines"), "two; lines");
    }

    #[test]
    fn what_a_run_is_comes_before_how_it_was_trained() {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let ours: BTreeMap<_, _> = of(&[("batch", "1"), ("task", "dsu")]);
        let theirs: BTreeMap<_, _> = of(&[("batch", "2"), ("task", "lct")]);
        let (key, ..) = difference(&ours, &theirs).unwrap();
        assert_eq!(key, "task");
        assert_eq!(difference(&ours, &ours), None);
        let absent = difference(&ours, &of(&[("task", "dsu")])).unwrap();
        assert_eq!(absent, ("batch".into(), "1".into(), "absent".into()));
    }
}
