//! `pgn benchmark`: data, predictions and scores for comparing any models.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use pgn_benchmark::{
    Entry, Predictions, Predictor, Record, SIZES, Scored, Set, make, score, table,
};
use pgn_lab::{
    Counting, TrivialRules,
    evaluate::{Prediction, score_predictions},
};
use pgn_structures::{Dataset, Split, Task, files::TensorReader};

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
        /// The truth is in this data-set file of your own, of any task
        #[arg(long, value_name = "FILE")]
        data: Option<PathBuf>,
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
            Command::Score { files, data, out, json } => {
                let data = data.map(Dataset::load).transpose()?;
                let one = |path: &PathBuf| match &data {
                    Some(data) => score_on(data, path).with_context(|| path.display().to_string()),
                    None => Ok(score(path)?),
                };
                let records = files.iter().map(one).collect::<Result<Vec<_>>>()?;
                if let Some(out) = &out {
                    let lines = records.iter().map(serde_json::to_string);
                    let lines = lines.collect::<Result<Vec<_>, _>>()?.join(",\n");
                    output::write(out, format!("[\n{lines}\n]\n").as_bytes())?;
                }
                if json {
                    return output::print_json(&records);
                }
                let mut text = String::from(
                    "| task | n | seed | F₁ | always 1 | counting | accuracy | always 0 | always 1 | \
                     pointers | all to self | never moved | first error |\n",
                );
                text += &("|".to_owned() + &" --- |".repeat(13) + "\n");
                for one in &records {
                    let (scores, shown) = (&one.all.scores, |value: Option<f64>| {
                        value.map_or("–".to_owned(), |value| format!("{value:.3}"))
                    });
                    text += &format!(
                        "| {} | {} | {} | {:.3} | {:.3} | {} | {:.3} | {:.3} | {:.3} | {} | {} | {} | {} |\n",
                        one.task,
                        one.nodes,
                        one.seed,
                        scores.f1,
                        scores.f1_always_1,
                        shown(one.all.counting_f1),
                        scores.accuracy,
                        1.0 - scores.answers_1,
                        scores.answers_1,
                        shown(scores.pointer_accuracy),
                        shown(one.all.trivial.map(|rules| rules.point_to_self)),
                        shown(one.all.trivial.map(|rules| rules.keep_pointers)),
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

fn predict(what: &[String], sets: &[Set], out: &Path) -> Result<()> {
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

/// Scores a predictions file on a data set of the user's own, whatever its task.
fn score_on(data: &Dataset, file: &Path) -> Result<Record> {
    let tensors = TensorReader::open(file)?;
    let (steps, cells) = ([data.count(), data.ops], [data.count(), data.ops, data.nodes]);
    let has = |name: &str| tensors.shape(name).is_some();
    let ones = |all: Vec<f32>| all.iter().map(|&logit| u8::from(logit > 0.0)).collect::<Vec<_>>();
    let answers: Vec<u8> = match has("answers") {
        true => tensors.u8("answers", &steps)?,
        false => ones(tensors.f32("query_logits", &steps)?),
    };
    let masks: Option<Vec<u8>> = match (has("masks"), has("mask_logits")) {
        (true, _) => Some(tensors.u8("masks", &cells)?),
        (_, true) => Some(ones(tensors.f32("mask_logits", &cells)?)),
        _ => None,
    };
    let pointers = has("pointers").then(|| tensors.u32("pointers", &cells)).transpose()?;
    let truth: Vec<_> = data.sequences().collect();
    let (ops, all) = (data.ops, data.ops * data.nodes);
    let predictions: Vec<Prediction<'_>> = (0..truth.len())
        .map(|index| Prediction {
            answers: &answers[index * ops..][..ops],
            masks: masks.as_ref().map(|masks| &masks[index * all..][..all]),
            pointers: pointers.as_ref().map(|pointers| &pointers[index * all..][..all]),
        })
        .collect();
    let task = Task::named(&data.task)?;
    let rule = task.is_built_in().then(|| Counting::of_seed(&task, data.seed)).transpose()?;
    let scored = score_predictions(&truth, &predictions, rule.as_ref())?;
    let has_nodes = masks.is_some() || pointers.is_some();
    let trivial = has_nodes.then(|| TrivialRules::of(truth.iter().copied())).flatten();
    Ok(Record {
        task: data.task.clone(),
        nodes: data.nodes,
        seed: data.seed,
        operations: truth.len() * ops,
        seconds: None,
        all: Scored { predictions: scored, trivial },
        families: BTreeMap::new(),
    })
}
