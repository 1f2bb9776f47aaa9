//! `pgn tasks`: every data structure in a line; and what help texts say about tasks.

use anyhow::Result;
use pgn_machines::programs;
use pgn_structures::Task;
use serde::Serialize;

use crate::{listing, output};

/// List the data structures: what --task can name
///
/// Those marked "machine" also have a program, so that `--model pgn-machine` can learn them
/// micro-step by micro-step. Some programs have no data sets and are for `pgn-machine` only. To add
/// a structure of your own, see docs/adding-a-structure.md.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn tasks
  pgn tasks --json")]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A data structure that can be learned.
#[derive(Serialize)]
struct Listed {
    name: String,
    summary: String,
    /// Whether it is one of the paper's.
    in_paper: bool,
    /// Whether there are data sets of it, and so the models that are trained on those.
    data_sets: bool,
    /// Whether there is a program of it, for `pgn-machine`.
    machine: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let all = all();
        if self.json {
            return output::print_json(&all);
        }
        let lines = |wanted: fn(&Listed) -> bool| {
            let some = all.iter().filter(|task| wanted(task));
            some.map(|task| {
                let mark = if task.machine && task.data_sets { " [machine]" } else { "" };
                (task.name.clone(), format!("{}{mark}", task.summary))
            })
            .collect()
        };
        let groups = [
            ("The paper's data structures", lines(|task| task.in_paper)),
            ("Beyond the paper", lines(|task| task.data_sets && !task.in_paper)),
            ("Programs for pgn-machine only", lines(|task| !task.data_sets)),
        ];
        output::print(&listing::render(&groups))?;
        output::next("pgn generate --task dsu --nodes 20 --out train.safetensors");
        Ok(())
    }
}

fn all() -> Vec<Listed> {
    let has_program = |name: &str| programs::NAMES.contains(&name);
    let tasks = Task::all().map(|task| Listed {
        name: task.name().to_owned(),
        summary: task.summary().to_owned(),
        in_paper: task.is_in_paper(),
        data_sets: true,
        machine: has_program(task.name()),
    });
    let mut all: Vec<Listed> = tasks.collect();
    for name in programs::NAMES {
        if all.iter().any(|task| task.name == name) {
            continue;
        }
        let operations = programs::named(name).map_or(Vec::new(), |program| {
            program.signature().operations.iter().map(|operation| operation.name.clone()).collect()
        });
        let what = programs::summary(name).unwrap_or("a program");
        all.push(Listed {
            name: name.to_owned(),
            summary: format!("{what}; operations: {}", operations.join(", ")),
            in_paper: false,
            data_sets: false,
            machine: true,
        });
    }
    all
}

/// `lead: dsu (what it is), lct (what it is) or …`, then `tail`.
pub fn help(lead: &str, tail: &str) -> String {
    let tasks: Vec<String> =
        Task::all().map(|task| format!("{} ({})", task.name(), task.summary())).collect();
    let list = match tasks.split_last() {
        Some((last, [_, ..])) => {
            format!("{} or {last}", tasks[..tasks.len() - 1].join(", "))
        }
        _ => tasks.concat(),
    };
    format!("{lead}: {list}{tail}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_task_is_in_the_help() {
        let text = super::help("The data structure", " [default: dsu]");
        assert!(text.starts_with("The data structure: dsu (disjoint-set union"), "{text}");
        for name in pgn_structures::Task::names() {
            assert!(text.contains(&format!("{name} (")), "{text}");
        }
        assert!(text.contains(") or ") && text.ends_with(") [default: dsu]"), "{text}");
    }

    #[test]
    fn programs_without_data_sets_are_listed_once() {
        let all = super::all();
        for name in ["dsu", "splay"] {
            assert_eq!(all.iter().filter(|task| task.name == name).count(), 1, "{name}");
        }
        let splay = all.iter().find(|task| task.name == "splay").unwrap();
        assert!(!splay.data_sets && splay.machine && splay.summary.starts_with("splay tree"));
    }
}
