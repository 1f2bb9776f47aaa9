//! `pgn generate`: data sets, and what is inside them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use pgn_structures::{Dataset, Sampling, Statistics, Task};
use serde::Serialize;

use crate::{
    interrupt,
    output::{self, Usage},
    tasks, user_structure,
};

/// Sample operations with their ground truth, or describe a data-set file
///
/// Every node starts pointing to itself. Each operation is recorded with its answer, the nodes it
/// visited (mask 0), all pointers after it and, for structures such as lct, further fields. The
/// same options give the same bytes on every machine; sequence i does not depend on the count.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  The paper's training set, then what is in it
    pgn generate --task dsu --nodes 20 --count 70 --out train.safetensors
    pgn generate --describe train.safetensors

  Test sequences on 100 nodes
    pgn generate --task lct --nodes 100 --split test --out test.safetensors

  The ground truth of operations of your own
    pgn generate --task dsu --operations mine.csv --out mine.safetensors")]
pub struct Args {
    #[arg(
        long,
        required_unless_present_any = ["describe", "structure"],
        help = "The data structure (`pgn tasks` lists them)",
        long_help = tasks::help("The data structure", "")
    )]
    task: Option<String>,

    /// Nodes per sequence, at least 2; with a CSV [default: one more than the largest operand]
    #[arg(long, value_name = "N", required_unless_present_any = ["describe", "ops", "operations"])]
    nodes: Option<usize>,

    /// Operations per sequence [default: 1.5 × nodes, as in the paper]
    #[arg(long, value_name = "T")]
    ops: Vec<Ops>,

    /// Take the operations from this CSV file instead, and sample only priorities: `u,v` per line,
    /// a blank line between sequences; can be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ops", "count", "split"])]
    operations: Vec<PathBuf>,

    /// How many sequences [default: 70]
    #[arg(long, value_name = "C")]
    count: Option<usize>,

    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,

    /// The split: train, validation or test; each has its own random numbers
    /// [default: train]
    #[arg(long, value_parser = ["train", "validation", "test"])]
    split: Option<String>,

    /// Where to write the data set, a .safetensors file
    #[arg(long, value_name = "FILE", required_unless_present = "describe")]
    out: Option<PathBuf>,

    /// Overwrite --out if it exists
    #[arg(long)]
    force: bool,

    /// Describe a data-set file instead: statistics, and whether its ground truth is reproduced
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["task", "nodes", "ops", "operations", "count", "seed", "split", "out", "force"]
    )]
    describe: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> anyhow::Result<()> {
        if let Some(path) = &self.describe {
            let description = Description::of(path)?;
            return match self.json {
                true => output::print_json(&description),
                false => output::print(&description.text()),
            };
        }
        let out = self.out.as_ref().context("--out is missing")?;
        output::check_new(out, self.force)?;
        interrupt::leave_nothing()?;
        let dataset = self.dataset()?;
        dataset.save(out)?;
        let summary = Summary::of(out, &dataset);
        if self.json {
            return output::print_json(&summary);
        }
        output::print(&summary.text())?;
        output::next(&format!("pgn generate --describe {}", out.display()));
        Ok(())
    }

    fn dataset(&self) -> anyhow::Result<Dataset> {
        let name = user_structure::given(self.task.as_ref()).context("--task is missing")?;
        let task = Task::named(&name).map_err(output::misspelt)?;
        let ops = match &self.ops[..] {
            [] if self.operations.is_empty() => None,
            [Ops::Count(ops)] => Some(*ops),
            files => return self.of_files(&task, files),
        };
        let nodes = self.nodes.ok_or_else(|| Usage("--nodes is missing".into()))?;
        let sampling = Sampling {
            nodes,
            ops: ops.unwrap_or(Sampling::paper_ops(nodes)),
            count: self.count.unwrap_or(70),
            seed: self.seed,
            split: self.split.as_deref().unwrap_or("train").parse()?,
        };
        Ok(Dataset::sample(&task, &sampling)?.with_fields(&task)?)
    }

    fn of_files(&self, task: &Task, files: &[Ops]) -> anyhow::Result<Dataset> {
        if self.count.is_some() || self.split.is_some() {
            let what = "--count and --split are for sampled operations; --ops is a file";
            return Err(Usage(what.into()).into());
        }
        let path = |ops: &Ops| match ops {
            Ops::File(path) => Ok(path.clone()),
            Ops::Count(_) => {
                Err(Usage("--ops is given twice; expected one number or files".into()))
            }
        };
        let mut paths = files.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        paths.extend(self.operations.iter().cloned());
        Ok(Dataset::from_csv(&paths, task, self.nodes, self.seed)?.with_fields(task)?)
    }
}

/// How many operations, or which: older versions had files here too.
#[derive(Clone)]
enum Ops {
    Count(usize),
    File(PathBuf),
}

impl std::str::FromStr for Ops {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Ops, Self::Err> {
        Ok(text.parse().map_or_else(|_| Ops::File(text.into()), Ops::Count))
    }
}

/// What a file is, without looking at its values.
#[derive(Serialize)]
struct Summary {
    file: PathBuf,
    task: String,
    split: &'static str,
    seed: u64,
    count: usize,
    nodes: usize,
    ops: usize,
}

impl Summary {
    fn of(file: &Path, dataset: &Dataset) -> Self {
        Summary {
            file: file.to_path_buf(),
            task: dataset.task.clone(),
            split: dataset.split.name(),
            seed: dataset.seed,
            count: dataset.count(),
            nodes: dataset.nodes,
            ops: dataset.ops,
        }
    }

    fn text(&self) -> String {
        let Summary { file, task, split, seed, count, nodes, ops } = self;
        let plural = if *count == 1 { "" } else { "s" };
        format!(
            "{}: {count} sequence{plural} of {ops} operations on {nodes} nodes \
             (task {task}, split {split}, seed {seed})\n",
            file.display()
        )
    }
}

/// What is inside a file.
#[derive(Serialize)]
struct Description {
    #[serde(flatten)]
    summary: Summary,
    #[serde(flatten)]
    statistics: Statistics,
    /// Whether replaying the operations gives the same truth; nothing if the task is not ours.
    reproduced: Option<bool>,
    /// The tensors of further fields.
    fields: Vec<String>,
    /// The first sequence's, after its last operation.
    final_pointers: Vec<u32>,
}

impl Description {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let dataset = Dataset::load(path)?;
        let reproduced = match Task::named(&dataset.task) {
            Ok(task) => Some(dataset.agrees_with(&task)?),
            Err(_) => None,
        };
        let final_pointers = dataset.sequence(0).pointers_after(dataset.ops - 1).to_vec();
        Ok(Description {
            summary: Summary::of(path, &dataset),
            statistics: Statistics::of(&dataset),
            reproduced,
            fields: dataset.fields.names().collect(),
            final_pointers,
        })
    }

    fn text(&self) -> String {
        let figures = &self.statistics;
        let truth = match self.reproduced {
            Some(true) => "reproduced exactly by replaying the operations".to_string(),
            Some(false) => format!("NOT what this program's `{}` gives", self.summary.task),
            None => format!("not checked: the task `{}` is not built in", self.summary.task),
        };
        let mut text = self.summary.text();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<15}{value}");
        };
        line("answers 1", format!("{:.3}  of all operations", figures.answers_1));
        line("masks 0", format!("{:.3}  of all nodes, per operation: visited", figures.masks_zero));
        line(
            "self-pointing",
            format!("{:.3}  of all nodes, after each operation", figures.self_pointing),
        );
        line(
            "mean depth",
            format!(
                "{:.2} over all operations, {:.2} after the last",
                figures.mean_depth, figures.final_mean_depth
            ),
        );
        line("maximum depth", figures.max_depth.to_string());
        if !self.fields.is_empty() {
            line("further fields", self.fields.join(", "));
        }
        line("ground truth", truth);
        text
    }
}
