//! `pgn demo`: a learned data structure next to the paper's model and the baselines.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use pgn_engine::{Model, Parameters};
use pgn_lab::{
    Counting, MachineConfig, Results, RunConfig, Session,
    collection::Table,
    machine::{MACHINE_MODEL, MachineRun, Mode},
};
use pgn_runs::files;
use pgn_structures::{Dataset, Operation, Sampling, SequenceStream, Split, Task};
use pgn_viewer::{Played, built_in_models};
use serde::Serialize;

use crate::{
    interrupt,
    output::{self, Interrupted},
    progress::Display,
    steps::Steps,
    threads::pool,
};

/// Train a data structure, prove it right, and compare it with the paper's model
///
/// Takes a few seconds. A network learns the micro-steps of the structure from traces of the
/// program on 20 nodes, starting from random weights. It is compared with the program on every view
/// that can occur (certified), proved for every n, and compiled. Then the machine, the
/// paper's `pgn` (a trained model that comes with the program), counting and constant answers are
/// scored on the same operations, 1.5 per node. `pgn` is run on 1,000 nodes only: each of its
/// operations takes time proportional to n. All of it is written to --out, with a report to open in
/// a browser.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn demo
  pgn demo --task dsu --out runs/demo-dsu")]
pub struct Args {
    /// The data structure: lct (link/cut tree) or dsu (disjoint-set union)
    #[arg(long, default_value = "lct", value_parser = ["lct", "dsu"])]
    task: String,
    /// Where the run and the report go
    #[arg(long, value_name = "DIR", default_value = "runs/demo")]
    out: PathBuf,
    /// Nodes of the large test
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    nodes: u32,
    /// Seed of the training and of the operations
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Threads to use; the outcome is the same for any number [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print the numbers as JSON
    #[arg(long)]
    json: bool,
}

/// Nodes on which the recurrent model is run too: a few seconds of its time.
const RECURRENT_NODES: usize = 1000;

/// What came out.
#[derive(Serialize)]
struct Compared {
    task: String,
    seed: u64,
    train_seconds: f64,
    views: usize,
    views_right: usize,
    views_met: usize,
    certified: bool,
    proved: bool,
    /// One for each number of nodes; the first one has the recurrent model.
    tests: Vec<Test>,
    report: PathBuf,
}

/// Everyone's answers to the same operations, 1.5 per node.
#[derive(Serialize)]
struct Test {
    nodes: usize,
    operations: usize,
    machine: Did,
    #[serde(skip_serializing_if = "Option::is_none")]
    pgn: Option<Did>,
    counting: Did,
    always_0: Did,
    always_1: Did,
}

/// What one of them did.
#[derive(Serialize)]
struct Did {
    wrong_answers: usize,
    /// After the last operation; absent for baselines, which have no pointers.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_pointers: Option<usize>,
    seconds: f64,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        pool(self.threads)?.install(|| self.demonstrate())
    }

    fn demonstrate(&self) -> Result<()> {
        let place = self.out.join("machine");
        let results = self.train(&place)?;
        let steps = Steps::new("demo", 4);
        let run = MachineRun::load(&place)?;
        let checked = steps.step("certifying", || run.certify_in(&place))?;
        let certificate = checked.certificate;
        if !certificate.certified {
            bail!(
                "the machine in {} is not certified: {} of {} views are wrong; choose another --seed",
                place.display(),
                certificate.views - certificate.right,
                certificate.views
            );
        }
        let run = MachineRun::load(&place)?;
        let task = run.task()?;
        let pgn = built_in_pgn(&self.task)?;
        let counting = Counting::of_seed(&task, self.seed)?;
        let sizes = [RECURRENT_NODES.min(self.nodes as usize), self.nodes as usize];
        let mut tests = Vec::new();
        for (place, nodes) in sizes.into_iter().enumerate() {
            let what = format!("{} nodes", thousands(nodes));
            let pgn = (place == 0).then_some(&pgn);
            let test = || self.test(&run, pgn, &counting, &task, nodes);
            tests.push(steps.step(&what, test)?);
        }
        let mut outcome = Compared {
            task: self.task.clone(),
            seed: self.seed,
            train_seconds: results.timing.train_seconds,
            views: certificate.views,
            views_right: certificate.right,
            views_met: results.views.as_ref().map_or(0, |views| views.met),
            certified: certificate.certified,
            proved: checked.proof.is_some_and(|proof| proof.proved),
            tests,
            report: self.out.join("report.html"),
        };
        let html = steps.step("writing the report", || {
            report(&outcome, &run, &pgn, &task, &certificate.statement)
        })?;
        output::write(&outcome.report, html.as_bytes())?;
        drop(steps);
        if self.json {
            return output::print_json(&outcome);
        }
        outcome.report = std::path::absolute(&outcome.report).unwrap_or(outcome.report);
        let text = outcome.text(&task);
        output::print(&format!("{text}Next: pgn serve {}\n", self.out.display()))
    }

    fn train(&self, place: &Path) -> Result<Results> {
        let config = MachineConfig::defaults(&self.task, MACHINE_MODEL, self.seed)?;
        let mut display = Display::new(config.name(), config.epochs, false);
        let session = Session {
            task: None,
            initial: None,
            checkpoint_every: Duration::from_secs(30),
            stop: interrupt::flag()?,
            observe: &mut |progress| display.show(progress),
        };
        let outcome = pgn_lab::train(&config, place, session);
        display.finish();
        match outcome? {
            pgn_lab::Outcome::Finished(results) | pgn_lab::Outcome::AlreadyFinished(results) => {
                Ok(*results)
            }
            pgn_lab::Outcome::Stopped { epoch } => Err(Interrupted(format!(
                "stopped after step {epoch} of {}; to continue, start the same command again",
                config.epochs
            ))
            .into()),
        }
    }

    /// A test sequence of `nodes` nodes, answered by everyone.
    fn test(
        &self,
        run: &MachineRun,
        pgn: Option<&Model>,
        counting: &Counting,
        task: &Task,
        nodes: usize,
    ) -> Result<Test> {
        let sampling =
            Sampling { count: 1, seed: self.seed, split: Split::Test, ..Sampling::paper(nodes) };
        let mut stream = SequenceStream::new(task, &sampling, 0)?;
        let truth: Vec<(Operation, bool)> =
            (0..sampling.ops).map(|_| stream.advance()).collect::<pgn_structures::Result<_>>()?;
        let priorities = stream.priorities();
        let wrong_pointers = |pointer: &dyn Fn(u32) -> u32| {
            (0..nodes as u32).filter(|&node| stream.pointer(node) != pointer(node)).count()
        };

        let executor = run.executor(Mode::Compiled)?;
        let mut store = executor.store(priorities);
        let mut machine = Did::count(&truth, |operation| {
            let (outcome, _) = executor.apply(&mut store, 0, &[operation.u, operation.v])?;
            Ok(outcome == pgn_machines::Outcome::Answer(true))
        })?;
        let program = executor.machine().program();
        machine.wrong_pointers = Some(wrong_pointers(&|node| program.node_pointer(&store, node)));

        let pgn = pgn.map(|model| -> Result<Did> {
            let mut state = model.start_with(priorities)?;
            let mut did = Did::count(&truth, |operation| Ok(state.apply(operation)?.value()))?;
            did.wrong_pointers = Some(wrong_pointers(&|node| state.pointers()[node as usize]));
            Ok(did)
        });
        let mut rule = counting.start(nodes);
        Ok(Test {
            nodes,
            operations: truth.len(),
            machine,
            pgn: pgn.transpose()?,
            counting: Did::count(&truth, |operation| Ok(rule.answer(operation)))?,
            always_0: Did::count(&truth, |_| Ok(false))?,
            always_1: Did::count(&truth, |_| Ok(true))?,
        })
    }
}

impl Did {
    /// Compares answers with the truth's.
    fn count(
        truth: &[(Operation, bool)],
        mut answer: impl FnMut(Operation) -> Result<bool>,
    ) -> Result<Did> {
        let started = Instant::now();
        let mut wrong_answers = 0;
        for &(operation, truth) in truth {
            wrong_answers += usize::from(answer(operation)? != truth);
        }
        let seconds = started.elapsed().as_secs_f64();
        Ok(Did { wrong_answers, wrong_pointers: None, seconds })
    }
}

/// The paper's `pgn` for a task, trained, as it comes with the program.
fn built_in_pgn(task: &str) -> Result<Model> {
    let (_, found) = built_in_models()
        .find(|(name, _)| *name == task)
        .with_context(|| format!("there is no built-in model of {task}"))?;
    let file = |wanted: &str| found.iter().find(|(name, _)| *name == wanted).map(|(_, b)| *b);
    let (config, model) =
        file(files::CONFIG).zip(file(files::MODEL)).context("a file is missing")?;
    let config = RunConfig::from_toml(&String::from_utf8_lossy(config), Path::new(task))?;
    let parameters = Parameters::from_bytes(&config.network, model, Path::new(files::MODEL))?;
    Ok(Model::from_parameters(config.network, parameters)?)
}

impl Compared {
    fn text(&self, task: &Task) -> String {
        format!(
            "Trained: a {} from random weights, in {:.1} s, on traces of\n\
             operations on 20 nodes, which met {} views (small parts of the structure).\n\
             {}: it equals the program on all {} views that can occur.\n\n\
             {}Report: {}\n",
            task.title().to_lowercase(),
            self.train_seconds,
            self.views_met,
            if self.proved { "Proved, for every n" } else { "Certified" },
            self.views,
            self.table().text(),
            self.report.display()
        )
    }

    /// Wrong answers, by number of nodes.
    fn table(&self) -> Table {
        let row = |name: &str, did: &dyn Fn(&Test) -> Option<&Did>| {
            let cells = self.tests.iter().map(|test| match did(test) {
                Some(did) => thousands(did.wrong_answers),
                None => "not run".to_owned(),
            });
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        let heads = self.tests.iter().map(|test| {
            format!("n = {}, {} ops", thousands(test.nodes), thousands(test.operations))
        });
        Table {
            title: "Wrong answers".to_owned(),
            header: std::iter::once(String::new()).chain(heads).collect(),
            rows: vec![
                row("learned machine, compiled", &|test| Some(&test.machine)),
                row("the paper's `pgn`", &|test| test.pgn.as_ref()),
                row("counting, no model", &|test| Some(&test.counting)),
                row("always 0", &|test| Some(&test.always_0)),
                row("always 1", &|test| Some(&test.always_1)),
            ],
        }
    }
}

/// The report: what was done, and both models on a small test sequence, step by step.
fn report(
    outcome: &Compared,
    run: &MachineRun,
    pgn: &Model,
    task: &Task,
    statement: &str,
) -> Result<String> {
    let sampling =
        Sampling { count: 1, seed: outcome.seed, split: Split::Test, ..Sampling::paper(16) };
    let set = Dataset::sample(task, &sampling)?;
    let machine = run.rollout(&run.executor(Mode::Compiled)?, set.sequence(0));
    let theirs = pgn.rollout(set.sequence(0))?;
    let timed = |test: &Test| {
        let pointers = test.machine.wrong_pointers.unwrap_or_default();
        format!(
            "{} operations on {} nodes in {:.1} s, after which {} of its pointers were wrong",
            thousands(test.operations),
            thousands(test.nodes),
            test.machine.seconds,
            thousands(pointers)
        )
    };
    let lines = [
        format!(
            "A network learned the {} from random weights in {:.1} s, from traces of operations on \
             20 nodes, which met {} views. It equals the program on all {} views that can occur.",
            task.title().to_lowercase(),
            outcome.train_seconds,
            outcome.views_met,
            outcome.views
        ),
        statement.to_owned(),
        format!(
            "Compiled to decision trees, it carried out {}.",
            outcome.tests.iter().map(timed).collect::<Vec<_>>().join("; and ")
        ),
        "The paper's `pgn` learns from whole operations, the machine from the micro-steps inside \
         them: it is told more. Counting sees only how often u and v have appeared before."
            .to_owned(),
    ];
    let players = [
        Played { title: "The learned machine, step by step", rollout: &machine },
        Played { title: "The paper's pgn on the same operations", rollout: &theirs },
    ];
    let title = format!("A learned {}", task.title().to_lowercase());
    Ok(pgn_viewer::page(&title, &lines, &outcome.table(), task.name(), set.sequence(0), &players)?)
}

/// 1234567 as 1,234,567.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_numbers_are_readable() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(super::thousands(number), text);
        }
    }
}
