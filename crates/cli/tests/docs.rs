//! What the documentation says about settings is what the program does.

use std::{collections::BTreeMap, path::Path};

use pgn_lab::{MachineConfig, RunConfig};
use toml::{Table, Value};

/// The rows of the tables under a heading of docs/reference.md: key and second column.
fn documented(heading: &str) -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("## {heading}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut all = BTreeMap::new();
    for row in rows {
        let mut cells = row.split(" | ");
        let key = cells.next().unwrap().trim_end_matches('`').to_owned();
        let value = cells.next().unwrap().trim_matches('`').to_owned();
        assert!(cells.next().is_some_and(|meaning| meaning.len() > 5), "{row}");
        assert!(all.insert(key.clone(), value).is_none(), "{key} is documented twice");
    }
    all
}

fn flat(prefix: &str, table: &Table, all: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        let key = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => flat(&format!("{key}."), inner, all),
            value => drop(all.insert(key, value.to_string())),
        }
    }
}

fn defaults(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    flat("", &text.parse().unwrap(), &mut all);
    all
}

#[test]
fn every_setting_is_documented_with_its_default() {
    let config = RunConfig::resolve(Table::new()).unwrap();
    assert_eq!(documented("All models but `pgn-machine`"), defaults(&config.to_toml()));
    let config = MachineConfig::resolve(Table::new()).unwrap();
    let mut all = documented("All models but `pgn-machine`");
    all.retain(|key, _| !key.starts_with("network."));
    all.extend(documented("`pgn-machine`"));
    assert_eq!(all, defaults(&config.to_toml()));
}

#[test]
fn every_setting_that_is_written_only_if_used_exists() {
    for (key, value) in documented("Keys that are written only if used") {
        let settings: Table = format!("{key} = {value}").parse().unwrap();
        let error = RunConfig::resolve(settings).map_or_else(|e| e.to_string(), |_| String::new());
        // Alone it may be refused, for want of a file or of another model, but it is known.
        assert!(!error.contains("unknown"), "{key}: {error}");
    }
}

#[path = "../examples/commands.rs"]
mod commands;

#[test]
fn the_page_of_commands_has_every_command_and_fits_80_columns() {
    let page = commands::markdown();
    for command in pgn_cli::command().get_subcommands() {
        assert!(page.contains(&format!("\n## pgn {}\n", command.get_name())), "{page}");
    }
    assert!(page.contains("\n## pgn cluster slurm\n"));
    let wide: Vec<&str> = page.lines().filter(|line| line.chars().count() > 80).collect();
    // The introduction, and examples that are meant to be pasted.
    let pasted = |line: &&str| line.starts_with("  pgn ") || line.starts_with("The help of");
    assert!(wide.iter().all(pasted), "{wide:#?}");
}

fn commands_below(command: &clap::Command) -> Vec<clap::Command> {
    let below = command.get_subcommands().flat_map(commands_below);
    std::iter::once(command.clone()).chain(below).collect()
}

#[test]
fn no_example_is_wrapped_in_a_terminal_of_80_columns() {
    let mut examples = 0;
    for command in commands_below(&pgn_cli::command()) {
        let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let lines = text.lines().filter(|line| line.starts_with("  "));
        for line in lines {
            examples += 1;
            assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
        }
    }
    assert!(examples > 40, "{examples}");
}

#[test]
fn a_structure_of_ones_own_is_offered_where_it_works() {
    let offers = |name: &str| {
        let mut program = pgn_cli::command();
        let command = program.find_subcommand_mut(name).unwrap();
        command.render_long_help().to_string().contains("--structure")
    };
    for name in ["train", "eval", "generate", "certify", "serve", "tasks"] {
        assert!(offers(name), "{name}");
    }
    for name in ["judge", "figures", "benchmark", "bench", "demo", "reproduce"] {
        assert!(!offers(name), "{name}");
    }
}
