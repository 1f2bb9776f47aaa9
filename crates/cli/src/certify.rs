//! `pgn certify`: is a learned machine exact for every n?

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use pgn_lab::machine::{MachineCertificate, MachineRun, suggest};

use crate::{interrupt, listing, machine, output, threads::pool};

/// Compare a learned machine with its program on every view, and prove that no other view occurs
///
/// Enumerates every view that the program's clauses allow, compares the network's action with the
/// program's on each, and has the checker prove the rest (see `pgn check`). Where the clauses are
/// not inductive, they are tested on random runs instead. Writes certificate.json and
/// proof.safetensors next to the model. Takes about a second. The exit code is 1 if the machine is
/// not certified. For a built-in machine nothing is written.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn certify lct
  pgn train --task lct --model pgn-machine --out runs/lct-machine
  pgn certify runs/lct-machine --json
  pgn certify runs/mine --suggest           (clauses for a program of your own)")]
pub struct Args {
    /// The run directory, or a built-in machine: dsu, lct, forest, splay or heap
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Instead, look for clauses that prove the program, in its random runs, and print them
    #[arg(long, conflicts_with = "json")]
    suggest: bool,
    /// Print the certificate as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        interrupt::leave_nothing()?;
        let run = machine::open(&self.run)?;
        if self.suggest {
            return self.suggest(&run);
        }
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
                "not certified: {wrong} of {} views are wrong; {}",
                certificate.views,
                advice(&self.run)
            );
        }
        if !self.json {
            output::next(&format!("pgn compile {} --emit rust", self.run.display()));
        }
        Ok(())
    }
}

impl Args {
    fn suggest(&self, run: &MachineRun) -> Result<()> {
        let found = pool(self.threads)?.install(|| suggest(run.machine().shared()))?;
        let clauses: String =
            found.clauses.iter().map(|clause| format!("{}\n", one_line(clause))).collect();
        output::print(&clauses)?;
        match (found.views, found.refutation) {
            (Some(views), _) => output::remark(&format!(
                "These {} clauses prove the program; they allow {views} views.",
                found.clauses.len()
            )),
            (None, Some(refutation)) => {
                return Err(anyhow::Error::new(refutation).context(
                    "these clauses do not prove the program; declare one that excludes the memory \
                     below, and try again",
                ));
            }
            (None, None) => {}
        }
        Ok(())
    }
}

/// What may help a machine that is not certified, by what its training says of its views.
pub fn advice(run: &Path) -> &'static str {
    let views = pgn_lab::Results::load(run).ok().and_then(|results| results.views);
    match views {
        Some(views) if views.met_right == views.met => {
            "every view met in training is right, so longer training does not help; train on more \
             sequences (--sequences), or on all consistent views (data.consistent = true)"
        }
        _ => "train it longer (--epochs), or choose another --seed",
    }
}

fn one_line(clause: &str) -> String {
    clause.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn render(run: &MachineRun, all: &MachineCertificate) -> String {
    let certificate = &all.certificate;
    let proof = all.proof.as_ref();
    let outcome = match (certificate.certified, proof.is_some_and(|proof| proof.proved)) {
        (false, _) => "NOT CERTIFIED",
        (true, false) => "certified and tested, not proved",
        (true, true) => "certified and proved",
    };
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
    text += "\nClauses:\n";
    for clause in &certificate.clauses {
        text += &format!("  {}\n", one_line(clause));
    }
    if let Some(refutation) = proof.and_then(|proof| proof.refutation.as_ref()) {
        text += &format!("\nNot proved: {refutation}\n");
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
