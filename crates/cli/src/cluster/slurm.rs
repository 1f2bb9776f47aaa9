//! `pgn cluster slurm`: job arrays for a sweep.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use pgn_lab::{Experiments, Queue};
use pgn_runs::{Sweep, indices};

use super::{
    plan::Plan,
    scripts::{self, Place},
};
use crate::output;

/// Write and submit Slurm job arrays that run a sweep
///
/// The scripts are written to DIR/slurm/NNN and submitted with --submit. A run that learns from
/// another one starts after it. Short runs share a task. Before its time limit a task writes
/// checkpoints and is requeued; Slurm also requeues it when a node is lost. A last job writes
/// runs.json and tables.md. The same command again submits only runs that are not finished, not
/// running and not in Slurm's queue.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn cluster slurm --sweep sweep.toml --out /shared/sweep
  pgn cluster slurm --sweep sweep.toml --out /shared/sweep --submit \\
    --time 4:00:00 --at-once 50
  pgn sweep sweep.toml --out /shared/sweep --list")]
pub struct Args {
    /// What is run, as for pgn sweep
    #[arg(long, value_name = "SWEEP.toml")]
    sweep: PathBuf,
    /// Where the runs go: a folder that all nodes share
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Submit the jobs
    #[arg(long)]
    submit: bool,
    /// Put runs together in one task up to this many minutes of one core
    #[arg(long, value_name = "MINUTES", default_value_t = 30.0)]
    batch: f64,
    #[command(flatten)]
    resources: Resources,
}

/// What is asked of Slurm for each task.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "What each task asks of Slurm")]
pub struct Resources {
    /// Time limit, as sbatch --time takes it
    #[arg(long, value_name = "TIME", default_value = "2:00:00")]
    pub time: String,
    /// Seconds before the limit at which a task stops and is requeued
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub warning: u32,
    /// Cores
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub cpus: u32,
    /// Memory, as sbatch --mem takes it [default: the site's]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Partition [default: the site's]
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Account [default: yours]
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Tasks of an array that run at once [default: no limit]
    #[arg(long, value_name = "N")]
    pub at_once: Option<u32>,
    /// Another line for the scripts, as in --sbatch=--qos=low; may be given several times
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub sbatch: Vec<String>,
}

impl Default for Resources {
    fn default() -> Resources {
        Resources {
            time: "2:00:00".into(),
            warning: 120,
            cpus: 1,
            memory: None,
            partition: None,
            account: None,
            at_once: None,
            sbatch: Vec::new(),
        }
    }
}

/// The folder under --out in which submissions are kept, and the file with a submission's jobs.
const FOLDER: &str = "slurm";
const JOBS: &str = "jobs";

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if self.resources.cpus == 0 || self.resources.at_once == Some(0) {
            bail!("--cpus and --at-once must be at least 1");
        }
        if !(self.batch >= 0.0 && self.batch.is_finite()) {
            bail!("--batch is {}; expected a number of minutes from 0", self.batch);
        }
        let values = [&self.resources.time].into_iter().chain(&self.resources.sbatch);
        if let Some(value) = values.into_iter().find(|value| value.contains(['\n', '\r'])) {
            bail!("'{}' has several lines; expected one", value.escape_debug());
        }
        let out = std::path::absolute(&self.out)?;
        let queue = Sweep::load(&self.sweep)?.queue(Experiments, &out)?;
        let plan = Plan::new(&queue, &queued(&queue)?, 60.0 * self.batch)?;
        output::print(&summary(&queue, &plan))?;
        if plan.runs() == 0 {
            return Ok(());
        }
        let folder = self.write(&plan, &out)?;
        let script = folder.join("submit.sh");
        if !self.submit {
            return output::print(&format!("to submit them: bash {}\n", script.display()));
        }
        let submitted = Command::new("bash").arg(&script).output().context("cannot start bash")?;
        if !submitted.status.success() {
            let said = String::from_utf8_lossy(&submitted.stderr);
            bail!("{}: {}", script.display(), said.trim().replace('\n', "; "));
        }
        let jobs = String::from_utf8_lossy(&submitted.stdout);
        output::print(&jobs.lines().map(|job| format!("submitted {job}\n")).collect::<String>())
    }

    /// Writes the scripts to a folder of their own.
    fn write(&self, plan: &Plan, out: &Path) -> Result<PathBuf> {
        let number = submissions(out).len() + 1;
        let folder = out.join(FOLDER).join(format!("{number:03}"));
        let logs = folder.join("logs");
        std::fs::create_dir_all(&logs)
            .with_context(|| format!("cannot create {}", logs.display()))?;
        let sweep = std::fs::read(&self.sweep)
            .with_context(|| format!("cannot read {}", self.sweep.display()))?;
        output::write(&folder.join("sweep.toml"), &sweep)?;
        let program = program()?;
        let here = std::env::current_dir().context("cannot tell where this is")?;
        let place = Place { program: &program, out, here: &here, folder: &folder };
        for (name, batches) in arrays(plan) {
            if !batches.is_empty() {
                let script = scripts::array(name, batches.len(), &place, &self.resources);
                output::write(&folder.join(format!("{name}.sh")), script.as_bytes())?;
                let entries = scripts::entries(batches);
                output::write(&folder.join(format!("{name}.txt")), entries.as_bytes())?;
            }
        }
        let tables = scripts::tables(&place, &self.resources);
        output::write(&folder.join("tables.sh"), tables.as_bytes())?;
        output::write(&folder.join("submit.sh"), scripts::submit(plan, &place).as_bytes())?;
        Ok(folder)
    }
}

/// What the jobs call: this program, or whatever `pgn` there is where it runs inside of another one,
/// as in the Python package.
fn program() -> Result<PathBuf> {
    let here = std::env::current_exe().context("cannot tell where this program is")?;
    Ok(if here.file_stem().is_some_and(|name| name == "pgn") { here } else { "pgn".into() })
}

fn arrays(plan: &Plan) -> [(&'static str, &Vec<Vec<usize>>); 3] {
    [("teachers", &plan.teachers), ("others", &plan.others), ("students", &plan.students)]
}

fn summary(queue: &Queue, plan: &Plan) -> String {
    let Plan { finished, running, queued, blocked, .. } = plan;
    let mut text = format!(
        "{} runs: {finished} finished, {running} running, {queued} in Slurm's queue, {} to submit\n",
        queue.entries().len(),
        plan.runs()
    );
    for (name, batches) in arrays(plan) {
        if !batches.is_empty() {
            let runs: usize = batches.iter().map(Vec::len).sum();
            text += &format!("{name}: {runs} runs in {} tasks\n", batches.len());
        }
    }
    if *blocked > 0 {
        text += &format!(
            "{blocked} runs learn from one that is running or queued: start this command again \
             when it is finished\n"
        );
    }
    text
}

/// The folders of earlier submissions.
fn submissions(out: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(out.join(FOLDER)).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The entries that are in Slurm's queue, from earlier submissions.
fn queued(queue: &Queue) -> Result<BTreeSet<usize>> {
    let mut found = BTreeSet::new();
    let submitted: Vec<(PathBuf, String)> = submissions(queue.out())
        .into_iter()
        .filter_map(|folder| {
            Some((folder.clone(), std::fs::read_to_string(folder.join(JOBS)).ok()?))
        })
        .collect();
    if submitted.is_empty() {
        return Ok(found);
    }
    let asked = Command::new("squeue")
        .args(["--me", "--noheader", "--array", "--format=%i"])
        .output()
        .context("cannot start squeue")?;
    if !asked.status.success() {
        let said = String::from_utf8_lossy(&asked.stderr);
        bail!("squeue: {}", said.trim().replace('\n', "; "));
    }
    let tasks = String::from_utf8_lossy(&asked.stdout).into_owned();
    let tasks: BTreeSet<&str> = tasks.lines().map(str::trim).collect();
    for (folder, jobs) in submitted {
        // The sweep may have changed since: entries are told by their directories.
        let then = Sweep::load(&folder.join("sweep.toml"))?.queue(Experiments, queue.out())?;
        for (name, number) in jobs.lines().filter_map(|line| line.split_once(' ')) {
            let file = std::fs::read_to_string(folder.join(format!("{name}.txt")));
            for (task, line) in file.unwrap_or_default().lines().enumerate() {
                if !tasks.contains(&*format!("{number}_{task}")) {
                    continue;
                }
                for index in indices::parse(line).map_err(anyhow::Error::msg)? {
                    let directory = &then.entry(index)?.directory;
                    let same = queue.entries().iter().find(|entry| entry.directory == *directory);
                    found.extend(same.map(|entry| entry.index));
                }
            }
        }
    }
    Ok(found)
}
