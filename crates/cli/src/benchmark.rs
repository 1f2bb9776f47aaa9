//! `pgn benchmark`: data, predictions and scores for comparing any models.

use std::path::PathBuf;

use anyhow::Result;
use pgn_benchmark::{Entry, Predictions, Predictor, SIZES, Set, make, score, table};
use pgn_structures::Split;

use crate::{
    interrupt,
    output::{self, Usage},
    threads::pool,
};

/// Compare models, of any framework, on tasks, sizes and families of operations
///
/// `make` writes the data. Train on TASK/train.safetensors, predict the answers of TASK/test-N, and let
/// `score` compare them with the truth, next to constants and counting. `table` makes a leaderboard.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn benchmark make data
  pgn benchmark make data --task dsu --text
  pgn benchmark predict counting --task dsu --out predictions
  pgn benchmark score predictions/*.safetensors --out scores.json
  pgn benchmark score mine.safetensors --data test.safetensors
  pgn benchmark table entries > leaderboard.md")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write the data: about 300 MB, the same bytes on every machine
    Make {
        /// Where to
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Only these tasks [default: all]
        #[arg(long, value_name = "TASK", value_delimiter = ',')]
        task: Vec<String>,
        /// Also write questions and answers in words, as JSON lines, up to 100 nodes
        #[arg(long)]
        text: bool,
    },
    /// Predict with a rule or a run of our own
    Predict {
        /// always-0, always-1, counting, run directories or built-in machines
        #[arg(value_name = "WHAT", required = true)]
        what: Vec<String>,
        /// Where to write the predictions, a file per task, size and seed
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Only these tasks [default: all, or the run's]
        #[arg(long, value_name = "TASK", value_delimiter = ',')]
        task: Vec<String>,
        /// Only these sizes [default: all]
        #[arg(long, value_name = "N", value_delimiter = ',')]
        nodes: Vec<usize>,
        /// Threads to use [default: one per core]
        #[arg(long, value_name = "N")]
        threads: Option<usize>,
    },
    /// Score predictions files against the truth
    Score {
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Write all scores to this JSON file, as entries have it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Print all scores as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the leaderboard of a folder of entries as Markdown
    Table {
        /// A folder of folders with card.toml and scores.json
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The size whose scores are compared
        #[arg(long, value_name = "N", default_value_t = 200)]
        nodes: usize,
    },
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        match self.command {
            Command::Make { folder, task, text } => {
                interrupt::leave_nothing()?;
                make(&folder, &task, text, |set| output::remark(&format!("{set}")))?;
                output::remark(&format!("Written to {}.", folder.display()));
                output::next("pgn benchmark predict counting --out predictions");
                Ok(())
            }
            Command::Predict { what, out, task, nodes, threads } => {
                interrupt::leave_nothing()?;
                let chosen = |set: &Set| {
                    set.split == Split::Test
                        && (task.is_empty() || task.contains(&set.task))
                        && (nodes.is_empty() || nodes.contains(&set.nodes))
                };
                let sets: Vec<Set> = Set::all().into_iter().filter(chosen).collect();
                if sets.is_empty() {
                    let sizes = SIZES.map(|(nodes, _)| nodes.to_string()).join(", ");
                    return Err(Usage(format!("no such set; sizes are {sizes}")).into());
                }
                pool(threads)?.install(|| predict(&what, &sets, &out))
            }
            Command::Score { files, out, json } => {
                let records = files
                    .iter()
                    .map(|path| score(path))
                    .collect::<pgn_benchmark::Result<Vec<_>>>()?;
                if let Some(out) = &out {
                    let lines = records.iter().map(serde_json::to_string);
                    let lines = lines.collect::<Result<Vec<_>, _>>()?.join(",\n");
                    output::write(out, format!("[\n{lines}\n]\n").as_bytes())?;
                }
                if json {
                    return output::print_json(&records);
                }
                let mut text = String::from(
                    "| task | n | seed | F₁ | always 1 | counting | accuracy | pointers | first error |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
                );
                for one in &records {
                    let (scores, shown) = (&one.all.scores, |value: Option<f64>| {
                        value.map_or("–".to_owned(), |value| format!("{value:.3}"))
                    });
                    text += &format!(
                        "| {} | {} | {} | {:.3} | {:.3} | {} | {:.3} | {} | {} |\n",
                        one.task,
                        one.nodes,
                        one.seed,
                        scores.f1,
                        scores.f1_always_1,
                        shown(one.all.counting_f1),
                        scores.accuracy,
                        shown(scores.pointer_accuracy),
                        one.all.first_error.map_or("none".to_owned(), |step| step.to_string()),
                    );
                }
                output::print(&text)
            }
            Command::Table { folder, nodes } => {
                output::print(&table(&Entry::load_all(&folder)?, nodes))
            }
        }
    }
}

fn predict(what: &[String], sets: &[Set], out: &std::path::Path) -> Result<()> {
    for name in what {
        let predictor = Predictor::open(name)?;
        let mut written = 0;
        for set in sets {
            let Some(predictions) = Predictions::of(&predictor, set)? else { continue };
            let file = format!("{}-{}-{}.safetensors", set.task, set.nodes, predictions.seed);
            std::fs::create_dir_all(out)?;
            predictions.save(&out.join(&file))?;
            output::remark(&file);
            written += 1;
        }
        if written == 0 {
            anyhow::bail!("{name} was made for none of the tasks and sizes asked for");
        }
    }
    Ok(())
}
