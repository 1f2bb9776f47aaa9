//! `pgn tasks`: every data structure in a line; and what help texts say about tasks.

use anyhow::Result;
use pgn_machines::programs;
use pgn_structures::{OperationKind, Task};
use serde::Serialize;

use crate::{listing, output};

/// List the data structures: what --task can name
///
/// Those marked "machine" have a program, so that `--model pgn-machine` can learn them micro-step by
/// micro-step. To add a structure of your own, see docs/adding-a-structure.md.
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
    /// Its kinds of operations.
    operations: Vec<OperationKind>,
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
                let mark = if task.machine { " [machine]" } else { "" };
                (task.name.clone(), format!("{}{mark}", task.summary))
            })
            .collect()
        };
        let groups = [
            ("The paper's data structures", lines(|task| task.in_paper)),
            ("Beyond the paper", lines(|task| !task.in_paper)),
        ];
        output::print(&listing::render(&groups))?;
        output::next("pgn generate --task dsu --nodes 20 --out train.safetensors");
        Ok(())
    }
}

fn all() -> Vec<Listed> {
    let listed = |task: Task| Listed {
        name: task.name().to_owned(),
        summary: task.summary().to_owned(),
        in_paper: task.is_in_paper(),
        operations: task.kinds().to_vec(),
        machine: programs::named(task.name()).is_some(),
    };
    Task::all().map(listed).collect()
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
    fn programs_are_tasks() {
        pgn_machines::programs::build_in_tasks();
        let all = super::all();
        for name in ["dsu", "splay"] {
            assert_eq!(all.iter().filter(|task| task.name == name).count(), 1, "{name}");
        }
        let splay = all.iter().find(|task| task.name == "splay").unwrap();
        assert!(splay.operations.len() == 3 && splay.machine);
        assert!(splay.summary.starts_with("splay tree"));
    }
}
