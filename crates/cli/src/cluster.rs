//! `pgn cluster slurm`: a sweep as a job array of identical workers.
//!
//! Nobody plans who does what: each worker is a `pgn sweep` on the shared folder, where leases keep
//! two from the same run.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use pgn_lab::Experiments;
use pgn_runs::{EntryState, Sweep};

use crate::output;

/// Run a sweep on a cluster
///
/// For Ray, see `python -m pgn.cluster.ray --help`.
#[derive(clap::Args)]
#[command(arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    engine: Engine,
}

#[derive(clap::Subcommand)]
enum Engine {
    Slurm(Box<Slurm>),
}

/// Write and submit a Slurm job array that runs a sweep
///
/// The tasks of the array are identical workers: each runs `pgn sweep` in the shared folder until
/// every run is finished, and leases keep two from the same run. Before its time limit a worker
/// writes checkpoints and is requeued; Slurm also requeues it when a node is lost, and meanwhile
/// another worker takes its runs over. The worker that finds everything finished writes runs.json
/// and tables.md. Submitting again adds workers.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn cluster slurm --sweep sweep.toml --out /shared/sweep
  pgn cluster slurm --sweep sweep.toml --out /shared/sweep --submit \\
    --time 4:00:00 --workers 50
  pgn sweep sweep.toml --out /shared/sweep --list")]
struct Slurm {
    /// What is run, as for pgn sweep
    #[arg(long, value_name = "SWEEP.toml")]
    sweep: PathBuf,
    /// Where the runs go: a folder that all nodes share
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Submit the job
    #[arg(long)]
    submit: bool,
    /// Workers [default: one for each run that is left, at most 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    workers: Option<u32>,
    /// Time limit of a worker, as sbatch --time takes it
    #[arg(long, value_name = "TIME", default_value = "2:00:00")]
    time: String,
    /// Seconds before the limit at which a worker stops and is requeued
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    warning: u32,
    /// Cores of a worker
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    cpus: u32,
    /// Memory of a worker, as sbatch --mem takes it [default: the site's]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Partition [default: the site's]
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Account [default: yours]
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Another line for the script, as in --sbatch=--qos=low; may be given several times
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    sbatch: Vec<String>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let Engine::Slurm(args) = self.engine;
        args.run()
    }
}

impl Slurm {
    fn run(self) -> Result<()> {
        let values = [&self.time].into_iter().chain(&self.sbatch);
        if let Some(value) = values.into_iter().find(|value| value.contains(['\n', '\r'])) {
            bail!("'{}' has several lines; expected one", value.escape_debug());
        }
        let out = std::path::absolute(&self.out)?;
        let queue = Sweep::load(&self.sweep)?.queue(Experiments, &out)?;
        let states: Vec<_> = queue.entries().iter().map(|entry| queue.state(entry)).collect();
        if let Some(other) = states.iter().position(|&state| state == EntryState::Other) {
            let entry = queue.entry(other)?;
            bail!(
                "{} holds a run with other settings than {}; choose another --out",
                entry.directory.display(),
                entry.name()
            );
        }
        let count = |state| states.iter().filter(|&&one| one == state).count();
        let (all, finished) = (states.len(), count(EntryState::Finished));
        let running = count(EntryState::Running);
        let left = all - finished;
        output::print(&format!(
            "{all} runs: {finished} finished, {running} running, {left} left\n"
        ))?;
        if left == 0 {
            return Ok(());
        }
        let workers = self.workers.map_or(left.min(32), |workers| workers as usize);
        let script = self.write(&out, workers)?;
        if !self.submit {
            return output::print(&format!("to submit it: sbatch {}\n", script.display()));
        }
        let submitted = Command::new("sbatch").arg("--parsable").arg(&script).output();
        let submitted = submitted.context("cannot start sbatch")?;
        if !submitted.status.success() {
            let answer = String::from_utf8_lossy(&submitted.stderr);
            bail!("{}: {}", script.display(), answer.trim().replace('\n', "; "));
        }
        let job = String::from_utf8_lossy(&submitted.stdout);
        output::print(&format!("submitted {workers} workers as job {}\n", job.trim()))
    }

    /// Writes the script to a folder of its own, with a copy of the sweep.
    fn write(&self, out: &Path, workers: usize) -> Result<PathBuf> {
        let earlier = std::fs::read_dir(out.join("slurm")).into_iter().flatten().count();
        let folder = out.join("slurm").join(format!("{:03}", earlier + 1));
        let logs = folder.join("logs");
        std::fs::create_dir_all(&logs)
            .with_context(|| format!("cannot create {}", logs.display()))?;
        let sweep = std::fs::read(&self.sweep)
            .with_context(|| format!("cannot read {}", self.sweep.display()))?;
        output::write(&folder.join("sweep.toml"), &sweep)?;
        let here = std::env::current_dir().context("cannot tell where this is")?;
        // This program, or whatever `pgn` there is where it runs inside of another one, as in the
        // Python package.
        let program = std::env::current_exe().context("cannot tell where this program is")?;
        let is_pgn = program.file_stem().is_some_and(|name| name == "pgn");
        let program = if is_pgn { program } else { "pgn".into() };
        let script = folder.join("worker.sh");
        output::write(&script, self.script(&program, out, &here, &folder, workers).as_bytes())?;
        Ok(script)
    }

    /// The script of a worker. One that is told to stop before its time limit (SIGUSR1) leaves
    /// checkpoints and is requeued; one that is cancelled (SIGTERM) leaves checkpoints and ends.
    fn script(
        &self,
        program: &Path,
        out: &Path,
        here: &Path,
        folder: &Path,
        workers: usize,
    ) -> String {
        let mut text = String::from("#!/bin/bash\n#SBATCH --job-name=pgn-sweep\n");
        // Slurm reads quotes in these lines as a shell would.
        let _ = writeln!(text, "#SBATCH --output=\"{}/logs/%a.log\"", folder.display());
        let _ = writeln!(text, "#SBATCH --open-mode=append\n#SBATCH --requeue");
        let _ = writeln!(text, "#SBATCH --array=0-{}", workers.saturating_sub(1));
        let _ =
            writeln!(text, "#SBATCH --cpus-per-task={}\n#SBATCH --time={}", self.cpus, self.time);
        let _ = writeln!(text, "#SBATCH --signal=B:USR1@{}", self.warning);
        for (flag, value) in
            [("partition", &self.partition), ("account", &self.account), ("mem", &self.memory)]
        {
            if let Some(value) = value {
                let _ = writeln!(text, "#SBATCH --{flag}={value}");
            }
        }
        for line in &self.sbatch {
            let _ = writeln!(text, "#SBATCH {line}");
        }
        let _ = write!(
            text,
            r#"
# Relative paths in the sweep are meant from here.
cd {here} || exit 1
echo "$(date '+%F %T') on ${{SLURMD_NODENAME:-$(hostname)}}, start $((${{SLURM_RESTART_COUNT:-0}} + 1))"
child= signalled= requeue=
trap 'signalled=yes requeue=yes; [ -z "$child" ] || kill -USR1 $child' USR1
trap 'signalled=yes; [ -z "$child" ] || kill -TERM $child' TERM
{program} sweep {folder}/sweep.toml --out {out} &
child=$!
[ -z "$requeue" ] || kill -USR1 $child
wait $child
code=$?
# A signal ends wait before the program has ended.
while [ -n "$signalled" ]; do
    signalled=
    wait $child
    code=$?
done
# {stopped}: stopped, with checkpoints. Above 128: the signal came before it could be handled.
if [ -n "$requeue" ] && [ $code -gt 128 ]; then
    scontrol requeue "$SLURM_JOB_ID" && exit 0
fi
exit $code
"#,
            here = quote(here),
            program = quote(program),
            folder = quote(folder),
            out = quote(out),
            stopped = output::STOPPED,
        );
        text
    }
}

/// A path as one word of a shell.
fn quote(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
