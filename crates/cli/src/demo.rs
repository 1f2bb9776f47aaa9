//! `pgn demo`: a learned data structure that is right, next to the paper's model, in a minute.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use pgn_engine::{Model, Parameters};
use pgn_lab::{
    RunConfig, Stop, Table, TestConfig, files,
    machine::{
        MachineConfig, MachineOutcome, MachineResults, MachineRun, MachineSession, Mode,
        train_machine,
    },
};
use pgn_structures::{Dataset, Operation, Sampling, Split, Stream, Task, given_priorities};
use pgn_viewer::{Played, built_in_models};
use serde::Serialize;

use crate::{
    interrupt,
    output::{self, Interrupted},
    steps::Steps,
    threads::pool,
};

/// Train a data structure, prove it exact, and run it next to the paper's model
///
/// Takes about a minute. A machine learns the structure's micro-steps from random weights, on 20
/// nodes; it is certified, which proves it exact for every n; then it and the paper's `pgn`, a
/// trained model that comes with the program, carry out the same operations on 100,000 nodes. All
/// of it is written to --out, with a report to open in a browser.
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

/// Both models run the operations of this many nodes, among all the others. As in the paper there
/// are 1.5 operations a node, so that answers depend on earlier operations; drawn from all of
/// 100,000 nodes, the first operations would never meet.
const ACTIVE: usize = 300;

/// What came out.
#[derive(Serialize)]
struct Outcome {
    task: String,
    seed: u64,
    nodes: usize,
    train_seconds: f64,
    views: usize,
    views_right: usize,
    certified: bool,
    /// The machine alone: operations drawn from all nodes.
    alone: Alone,
    /// The same operations for both.
    machine: Did,
    pgn: Did,
    report: PathBuf,
}

#[derive(Serialize)]
struct Alone {
    operations: usize,
    exact: bool,
    seconds: f64,
}

/// What a model did on some operations.
#[derive(Serialize)]
struct Did {
    operations: usize,
    wrong_answers: usize,
    /// After the last operation.
    wrong_pointers: usize,
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
        let certificate = steps.step("certifying", || run.certify_in(&place))?.certificate;
        if !certificate.certified {
            bail!(
                "the machine in {} is not certified: {} of {} views are wrong; train it longer, or \
                 choose another --seed",
                place.display(),
                certificate.views - certificate.right,
                certificate.views
            );
        }
        let run = MachineRun::load(&place)?;
        let nodes = self.nodes as usize;
        let alone = steps.step("the machine alone", || self.alone(&run, nodes))?;
        let task = run.task()?;
        let pgn = built_in_pgn(&self.task)?;
        let (priorities, operations) = self.operations(nodes)?;
        let (machine, theirs) = steps.step("both on the same operations", || -> Result<_> {
            let machine = machine_on(&run, &task, &priorities, &operations)?;
            Ok((machine, pgn_on(&pgn, &task, &priorities, &operations)?))
        })?;
        let mut outcome = Outcome {
            task: self.task.clone(),
            seed: self.seed,
            nodes,
            train_seconds: results.results.timing.train_seconds,
            views: certificate.views,
            views_right: certificate.right,
            certified: certificate.certified,
            alone,
            machine,
            pgn: theirs,
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

    fn train(&self, place: &Path) -> Result<MachineResults> {
        let config = MachineConfig::new(&self.task, self.seed);
        let steps = Steps::new("training", config.epochs as usize);
        let mut shown = 0;
        let mut observe = |progress: pgn_lab::machine::MachineProgress| {
            steps.begin(&format!("{} of {} views right", progress.right, progress.of));
            while shown < progress.step {
                steps.done();
                shown += 1;
            }
        };
        let session = MachineSession {
            checkpoint_every: Duration::from_secs(30),
            stop: interrupt::flag()?,
            observe: &mut observe,
        };
        match train_machine(&config, place, session)? {
            MachineOutcome::Finished(results) | MachineOutcome::AlreadyFinished(results) => {
                Ok(*results)
            }
            MachineOutcome::Stopped { step } => Err(Interrupted(format!(
                "stopped after step {step} of {}; to continue, start the same command again",
                config.epochs
            ))
            .into()),
        }
    }

    fn alone(&self, run: &MachineRun, nodes: usize) -> Result<Alone> {
        let ops = Sampling::paper_ops(nodes);
        let test = TestConfig { nodes: vec![nodes], ops: vec![ops], sequences: 1 };
        let started = Instant::now();
        let scores = run.test(&test, self.seed, Mode::Compiled, Stop::NEVER)?;
        let exact = scores.iter().all(|set| set.scores.sequences_exact == Some(1.0));
        Ok(Alone { operations: ops, exact, seconds: started.elapsed().as_secs_f64() })
    }

    /// Priorities of all nodes, and the operations of the active ones, which lie anywhere.
    fn operations(&self, nodes: usize) -> Result<(Vec<f32>, Vec<Operation>)> {
        let priorities = given_priorities(nodes, self.seed)?;
        let mut rng = Stream::Verification.rng(self.seed, nodes as u64, 0);
        let mut all: Vec<u32> = (0..nodes as u32).collect();
        let active = ACTIVE.min(nodes);
        for place in 0..active {
            let other = place as u32 + rng.below((nodes - place) as u32);
            all.swap(place, other as usize);
        }
        let operations = (0..Sampling::paper_ops(active)).map(|_| {
            let Operation { u, v } = Operation::sample(active as u32, &mut rng);
            Operation { u: all[u as usize], v: all[v as usize] }
        });
        let operations = operations.collect();
        Ok((priorities, operations))
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
    let config: RunConfig = toml::from_str(&String::from_utf8_lossy(config))?;
    let parameters = Parameters::from_bytes(&config.network, model, Path::new(files::MODEL))?;
    Ok(Model::from_parameters(config.network, parameters)?)
}

fn machine_on(
    run: &MachineRun,
    task: &Task,
    priorities: &[f32],
    operations: &[Operation],
) -> Result<Did> {
    let executor = run.executor(Mode::Compiled)?;
    let mut store = executor.store(priorities);
    let started = Instant::now();
    let mut answers = Vec::with_capacity(operations.len());
    for operation in operations {
        let (outcome, _) = executor.apply(&mut store, 0, &[operation.u, operation.v])?;
        answers.push(outcome == pgn_machines::Outcome::Answer(true));
    }
    let seconds = started.elapsed().as_secs_f64();
    let program = executor.machine().program();
    judged(task, priorities, operations, &answers, seconds, |node| {
        program.node_pointer(&store, node)
    })
}

fn pgn_on(model: &Model, task: &Task, priorities: &[f32], operations: &[Operation]) -> Result<Did> {
    let mut state = model.start_with(priorities)?;
    let started = Instant::now();
    let mut answers = Vec::with_capacity(operations.len());
    for &operation in operations {
        answers.push(state.apply(operation)?.value());
    }
    let seconds = started.elapsed().as_secs_f64();
    let pointers = state.pointers();
    judged(task, priorities, operations, &answers, seconds, |node| pointers[node as usize])
}

/// Compares answers and final pointers with the data structure's own.
fn judged(
    task: &Task,
    priorities: &[f32],
    operations: &[Operation],
    answers: &[bool],
    seconds: f64,
    pointer: impl Fn(u32) -> u32,
) -> Result<Did> {
    let mut truth = task.make();
    truth.reset(priorities);
    let mut visited = pgn_structures::Visited::new(priorities.len());
    let mut wrong_answers = 0;
    for (&operation, &answer) in operations.iter().zip(answers) {
        visited.clear();
        wrong_answers += usize::from(truth.apply(operation, &mut visited)? != answer);
    }
    let nodes = 0..priorities.len() as u32;
    let wrong_pointers = nodes.filter(|&node| truth.pointer(node) != pointer(node)).count();
    Ok(Did { operations: operations.len(), wrong_answers, wrong_pointers, seconds })
}

impl Outcome {
    fn text(&self, task: &Task) -> String {
        let Outcome { alone, machine, pgn, .. } = self;
        let n = thousands(self.nodes);
        format!(
            "Trained: a {} from random weights, on 20 nodes, in {:.0} s.\n\
             Certified: right on all {} views it can ever see, so exact for every n.\n\
             At n = {n}: {} of {} answers wrong; the paper's pgn gets {} of {} wrong.\n\n\
             Compiled, it then made {} in {} more operations ({:.1} s).\n\
             Report: {}\n",
            task.title().to_lowercase(),
            self.train_seconds,
            self.views,
            machine.wrong_answers,
            thousands(machine.operations),
            pgn.wrong_answers,
            thousands(pgn.operations),
            if alone.exact { "no mistake" } else { "MISTAKES" },
            thousands(alone.operations),
            alone.seconds,
            self.report.display()
        )
    }

    fn table(&self) -> Table {
        let row = |name: &str, did: &Did| {
            vec![
                name.to_owned(),
                format!("{} of {}", did.wrong_answers, thousands(did.operations)),
                format!("{} of {}", thousands(did.wrong_pointers), thousands(self.nodes)),
                format!("{:.2} s", did.seconds),
            ]
        };
        let head = ["", "wrong answers", "wrong pointers at the end", "time"];
        Table {
            title: format!("The same operations on {} nodes", thousands(self.nodes)),
            header: head.map(str::to_owned).to_vec(),
            rows: vec![row("learned machine", &self.machine), row("the paper's `pgn`", &self.pgn)],
        }
    }
}

/// The report: what was done, and both models on a small test sequence, step by step.
fn report(
    outcome: &Outcome,
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
    let lines = [
        format!(
            "A machine learned the {} from random weights in {:.0} s, on sequences of 20 nodes. It \
             is right on all {} views that it can ever see.",
            task.title().to_lowercase(),
            outcome.train_seconds,
            outcome.views
        ),
        statement.to_owned(),
        format!(
            "Compiled to decision trees, it carried out {} operations on {} nodes in {:.1} s, \
             checked against the data structure after each: {}.",
            thousands(outcome.alone.operations),
            thousands(outcome.nodes),
            outcome.alone.seconds,
            if outcome.alone.exact { "all right" } else { "not all right" }
        ),
        format!(
            "The table compares it with the paper's `pgn` on {} operations among {} of the nodes. \
             `pgn` learns from whole operations, the machine from the micro-steps inside them.",
            thousands(outcome.machine.operations),
            ACTIVE.min(outcome.nodes)
        ),
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
