//! `pgn certify`: is a learned machine exact for every n?

use std::path::PathBuf;

use anyhow::{Result, bail};
use pgn_lab::machine::{MachineCertificate, MachineRun};

use crate::{listing, machine, output, threads::pool};

/// Prove that a learned machine is exact for every n, or show where it is wrong
///
/// Enumerates every view that the program's invariants allow and compares the network's action with
/// the program's on each. Writes certificate.json next to the model: program and version,
/// invariants, views by state, hash of the weights, and each view that is wrong. Takes about a
/// second. The exit code is 1 if the machine is not certified. For a built-in machine nothing is
/// written.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn certify lct
  pgn train --task lct --model pgn-machine --out runs/lct-machine && pgn certify runs/lct-machine
  pgn certify runs/lct-machine --json")]
pub struct Args {
    /// The run directory, or a built-in machine: dsu, lct, forest, splay or heap
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the certificate as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let run = machine::open(&self.run)?;
        let built_in = !self.run.exists();
        let certificate = pool(self.threads)?.install(|| match built_in {
            true => run.certify(),
            false => run.certify_in(&self.run),
        })?;
        if self.json {
            output::print_json(&certificate)?;
        } else {
            output::print(&render(&run, &certificate))?;
        }
        let MachineCertificate { certificate, .. } = certificate;
        if !certificate.certified {
            let wrong = certificate.views - certificate.right;
            bail!(
                "not certified: {wrong} of {} views are wrong; train it longer (--epochs), or \
                 choose another --seed",
                certificate.views
            );
        }
        if !self.json {
            output::next(&format!("pgn compile {} --emit rust", self.run.display()));
        }
        Ok(())
    }
}

fn render(run: &MachineRun, all: &MachineCertificate) -> String {
    let certificate = &all.certificate;
    let outcome = if certificate.certified { "certified" } else { "NOT CERTIFIED" };
    let mut text = format!(
        "{}: {outcome}, {} of {} consistent views right\nsmallest margin {:.2}\n\n",
        run.name(),
        certificate.right,
        certificate.views,
        all.margin
    );
    let width = certificate.states.iter().map(|state| state.state.len()).max().unwrap_or(0);
    for state in &certificate.states {
        text += &format!("  {:width$}  {:>5} of {:>5}\n", state.state, state.right, state.views);
    }
    text += "\nInvariants:\n";
    for invariant in &certificate.invariants {
        text += &format!("  {invariant}\n");
    }
    for failure in &certificate.failures {
        text += &format!(
            "\nWrong here:\n{}\n  program: {}\n  network: {}\n",
            failure.view, failure.expected, failure.found
        );
    }
    let hash = certificate.weights.as_deref().unwrap_or("none");
    text + &format!("\n{}\nWeights: {hash}\n", listing::wrap(&certificate.statement))
}
