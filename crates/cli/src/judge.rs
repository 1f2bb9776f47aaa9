//! `pgn judge`: problems of a public judge, answered by a learned structure.

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use pgn_lab::machine::{MachineRun, Mode};
use pgn_uses::{
    Graph, Problem,
    problems::{Solution, online_forest, spanning_forest},
};

use crate::{machine, output, threads::pool};

/// Answer a problem of the Library Checker (judge.yosupo.jp) with a learned structure
///
/// Reads the problem's input and prints its output, in the judge's own formats. The learned
/// structure moves every pointer; the host reads input, sorts edges and adds numbers.
///
/// unionfind: `0 u v` merges two sets, `1 u v` asks whether u and v are in one set (dsu).
/// minimum_spanning_tree: weight and edges, by Kruskal's algorithm (dsu).
/// dynamic_tree_vertex_add_path_sum: `0 u v w x` replaces an edge, `1 p x` adds, `2 u v` sums a
/// path (lct).
/// incremental_minimum_spanning_forest: for each new edge the edge that leaves (lct).
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  printf '4 3\\n0 0 1\\n1 0 1\\n1 0 2\\n' | pgn judge unionfind dsu
  pgn judge minimum_spanning_tree results/machines/dsu < input > output
  pgn judge minimum_spanning_tree dsu --graph roads.gr --stats > forest.txt
  pgn judge incremental_minimum_spanning_forest lct --mode network < small.in")]
pub struct Args {
    /// unionfind, minimum_spanning_tree, dynamic_tree_vertex_add_path_sum or
    /// incremental_minimum_spanning_forest
    #[arg(value_name = "PROBLEM", value_parser = problem)]
    problem: Problem,
    /// The run directory of a machine, or a built-in one: dsu or lct
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Read a graph from this file instead of standard input, for the two problems about
    /// spanning forests: .gr (DIMACS), .mtx (Matrix Market), .csv, else `u v weight` per line
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// How the machine is run: network, memoised, compiled or checked; the answers are the same
    #[arg(long, value_name = "MODE", default_value = "compiled", value_parser = machine::mode)]
    mode: Mode,
    /// Print operations and seconds as JSON on standard error; reading the input is part of the
    /// time, loading the machine is not
    #[arg(long)]
    stats: bool,
}

fn problem(name: &str) -> Result<Problem, String> {
    name.parse().map_err(|error: pgn_uses::Error| error.to_string())
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let run = machine::open(&self.run)?;
        let started = Instant::now();
        // One thread: the operations depend on each other.
        let solution = pool(Some(1))?.install(|| match &self.graph {
            Some(_) => self.solve_graph(&run),
            None => {
                let mut input = Vec::new();
                std::io::stdin().read_to_end(&mut input).context("cannot read standard input")?;
                Ok(self.problem.solve(&run, self.mode, &input)?)
            }
        })?;
        let seconds = started.elapsed().as_secs_f64();
        output::print_bytes(&solution.output)?;
        if self.stats {
            let stats = serde_json::json!({
                "problem": self.problem.name(),
                "machine": run.name(),
                "mode": self.mode.name(),
                "operations": solution.operations,
                "seconds": seconds,
            });
            output::tell(&stats.to_string());
        }
        Ok(())
    }

    fn solve_graph(&self, run: &MachineRun) -> Result<Solution> {
        let path = self.graph.as_deref().unwrap_or(std::path::Path::new(""));
        let graph = Graph::read(path)?;
        match self.problem {
            Problem::SpanningTree => {
                let (forest, operations) =
                    spanning_forest(run, self.mode, graph.nodes, &graph.edges)?;
                let mut text = format!("{}\n", graph.weight(forest.iter().copied()));
                let edges: Vec<String> = forest.iter().map(usize::to_string).collect();
                text += &edges.join(" ");
                text.push('\n');
                Ok(Solution { output: text.into_bytes(), operations })
            }
            Problem::IncrementalForest => {
                Ok(online_forest(run, self.mode, graph.nodes, &graph.edges)?)
            }
            _ => bail!(
                "--graph is for minimum_spanning_tree and incremental_minimum_spanning_forest; \
                 {} reads standard input",
                self.problem.name()
            ),
        }
    }
}
