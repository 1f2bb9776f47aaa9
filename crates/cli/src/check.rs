//! `pgn check`: is a certified machine proved?

use std::{path::PathBuf, time::Instant};

use anyhow::Result;
use pgn_check::Report;
use pgn_lab::machine::MachineRun;
use pgn_runs::files;
use serde_json::json;

use crate::{listing, machine, output};

/// Prove that a machine is exact for every n, with a small independent checker
///
/// Reads proof.safetensors, which `pgn certify` writes: names, clauses, the table of views and
/// actions, and the network. The checker shares no code with what made the file. It verifies
/// coverage, induction, start, answers and arithmetic, or draws the first counterexample. The exit
/// code is 0 only if everything is proved. For a built-in machine the file is made in memory. A
/// table without a network can be given as a JSON file: what the metadata of a proof has.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn check lct
  pgn certify runs/lct-machine && pgn check runs/lct-machine
  pgn check runs/lct-machine/proof.safetensors --json")]
pub struct Args {
    /// A run directory, a proof, or a built-in machine: dsu, lct, forest, splay or heap
    #[arg(value_name = "DIR|FILE")]
    place: PathBuf,
    /// Print what was proved, or what refutes it, as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let json = self.place.extension().is_some_and(|extension| extension == "json");
        let bytes = if self.place.is_file() {
            files::read(&self.place)?
        } else if self.place.is_dir() {
            MachineRun::load(&self.place)?.proof_in(&self.place)?
        } else {
            machine::open(&self.place)?.proof()
        };
        let start = Instant::now();
        let checked = match json {
            true => pgn_check::check_table(&String::from_utf8_lossy(&bytes)),
            false => pgn_check::check(&bytes),
        };
        let report = match checked {
            Ok(report) => report,
            Err(refutation) => {
                if self.json {
                    output::print_json(&json!({
                        "proved": false,
                        "part": refutation.part,
                        "why": refutation.why,
                        "clause": refutation.clause,
                        "view": refutation.view,
                    }))?;
                }
                return Err(anyhow::Error::from(refutation).context("not proved"));
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        if self.json {
            return output::print_json(&json!({
                "program": report.program,
                "proved": true,
                "statement": report.statement(),
                "views": report.views,
                "clauses": report.clauses,
                "induction": report.induction,
                "acyclic": report.acyclic,
                "start": report.start,
                "answers": report.answers,
                "decisions": report.decisions,
                "margin": report.margin,
                "rounding": report.rounding,
            }));
        }
        output::print(&render(&report, seconds))
    }
}

fn render(report: &Report, seconds: f64) -> String {
    let mut text = format!("{}: proved in {seconds:.2} s\n\n", report.program);
    for (what, count, of) in [
        ("coverage", report.views, "views that the clauses allow, all in the table"),
        ("induction", report.induction, "clauses after rows of the table"),
        ("", report.acyclic, "pointers that close no cycle"),
        ("start", report.start, "clauses in the initial memory and when operations start"),
        ("answers", report.answers, "clauses about answers"),
        ("arithmetic", report.decisions, "decisions of the network"),
    ] {
        text += &format!("  {what:<10}  {count:>6} {of}\n");
    }
    text += &format!(
        "\nSmallest lead of a decision {:.2}; rounding errors use up at most {:.0} % of one.\n\n",
        report.margin,
        100.0 * report.rounding
    );
    text + &listing::wrap(&report.statement()) + "\n"
}
