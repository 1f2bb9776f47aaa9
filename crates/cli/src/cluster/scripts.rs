//! The scripts that Slurm runs.

use std::{fmt::Write, path::Path};

use pgn_runs::indices;

use crate::output;

use super::{plan::Plan, slurm::Resources};

/// Where everything is that the scripts name.
pub struct Place<'a> {
    /// The program.
    pub program: &'a Path,
    /// Where the runs go.
    pub out: &'a Path,
    /// Where the command was started.
    pub here: &'a Path,
    /// The folder of this submission: scripts, logs, a copy of the sweep.
    pub folder: &'a Path,
}

/// The file of an array job that has the entries of each task, a line each.
pub fn entries(batches: &[Vec<usize>]) -> String {
    batches.iter().map(|batch| indices::format(batch) + "\n").collect()
}

/// The script of an array job. A task that is told to stop before its time limit (SIGUSR1) leaves
/// checkpoints and is requeued; one that is cancelled (SIGTERM) leaves checkpoints and ends.
pub fn array(name: &str, tasks: usize, place: &Place<'_>, resources: &Resources) -> String {
    let folder = quote(place.folder);
    let limit = resources.at_once.map_or(String::new(), |most| format!("%{most}"));
    let mut text = header(name, &format!("{name}-%a"), place, resources);
    let _ = writeln!(text, "#SBATCH --array=0-{}{limit}", tasks.saturating_sub(1));
    let _ = writeln!(text, "#SBATCH --cpus-per-task={}", resources.cpus);
    let _ = writeln!(text, "#SBATCH --time={}", resources.time);
    let _ = writeln!(text, "#SBATCH --signal=B:USR1@{}", resources.warning);
    text.push_str("#SBATCH --requeue\n");
    let _ = write!(
        text,
        r#"
entries=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" {folder}/{name}.txt)
echo "$(date '+%F %T') entries $entries on ${{SLURMD_NODENAME:-$(hostname)}}, start $((${{SLURM_RESTART_COUNT:-0}} + 1))"
child= signalled= requeue=
trap 'signalled=yes requeue=yes; [ -z "$child" ] || kill -USR1 $child' USR1
trap 'signalled=yes; [ -z "$child" ] || kill -TERM $child' TERM
{program} sweep {folder}/sweep.toml --out {out} --only "$entries" &
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
        program = quote(place.program),
        out = quote(place.out),
        stopped = output::STOPPED,
    );
    text
}

/// The script of the last job: tables of whatever is finished by then.
pub fn tables(place: &Place<'_>, resources: &Resources) -> String {
    let mut text = header("tables", "tables", place, resources);
    text.push_str("#SBATCH --time=10\n");
    let _ = write!(
        text,
        "\n{} sweep {}/sweep.toml --out {} --tables\n",
        quote(place.program),
        quote(place.folder),
        quote(place.out)
    );
    text
}

/// The script that submits the others and notes the numbers of the jobs in the file `jobs`.
pub fn submit(plan: &Plan, place: &Place<'_>) -> String {
    let mut text = format!(
        "#!/bin/bash\nset -euo pipefail\n# Relative paths in the sweep are meant from here.\ncd {}\n\
         folder={}\nsubmit() {{\n    local name=$1 number\n    shift\n    \
         number=$(sbatch --parsable \"$@\" \"$folder/$name.sh\")\n    number=${{number%%;*}}\n    \
         echo \"$name $number\" >>\"$folder/jobs\"\n    echo \"$number\"\n}}\n",
        quote(place.here),
        quote(place.folder)
    );
    let mut all = String::new();
    let jobs = [
        ("teachers", &plan.teachers, ""),
        ("others", &plan.others, ""),
        // Task k of the students may begin when task k of the teachers has succeeded.
        ("students", &plan.students, " --dependency=aftercorr:$teachers --kill-on-invalid-dep=yes"),
    ];
    for (name, batches, flags) in jobs {
        if !batches.is_empty() {
            let _ = writeln!(text, "{name}=$(submit {name}{flags})");
            let _ = write!(all, ":${name}");
        }
    }
    let _ = writeln!(text, "submit tables --dependency=afterany{all} >/dev/null");
    text.push_str("cat \"$folder/jobs\"\n");
    text
}

fn header(name: &str, log: &str, place: &Place<'_>, resources: &Resources) -> String {
    let mut text = format!("#!/bin/bash\n#SBATCH --job-name=pgn-{name}\n");
    let log = place.folder.join("logs").join(format!("{log}.log"));
    // Slurm reads quotes in these lines as a shell would.
    let _ = writeln!(text, "#SBATCH --output=\"{}\"", log.display());
    text.push_str("#SBATCH --open-mode=append\n");
    for (flag, value) in [
        ("partition", &resources.partition),
        ("account", &resources.account),
        ("mem", &resources.memory),
    ] {
        if let Some(value) = value {
            let _ = writeln!(text, "#SBATCH --{flag}={value}");
        }
    }
    for line in &resources.sbatch {
        let _ = writeln!(text, "#SBATCH {line}");
    }
    text
}

/// A path as one word of a shell.
fn quote(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_one_word() {
        for path in ["/a b/c", "/it's", "/$HOME/`x`", "/a\"b"] {
            let echo = format!("printf %s {}", quote(Path::new(path)));
            let output = std::process::Command::new("sh").args(["-c", &echo]).output().unwrap();
            assert_eq!(output.stdout, path.as_bytes());
        }
    }

    #[test]
    fn every_script_is_valid_shell() {
        let place = Place {
            program: Path::new("/opt/it's/pgn"),
            out: Path::new("/data/a b"),
            here: Path::new("/home"),
            folder: Path::new("/data/a b/slurm/001"),
        };
        let resources =
            Resources { partition: Some("short".into()), at_once: Some(3), ..Resources::default() };
        let plan = Plan {
            teachers: vec![vec![0, 2]],
            students: vec![vec![1, 3]],
            others: vec![vec![4], vec![5]],
            ..Plan::default()
        };
        let scripts = [
            array("others", 2, &place, &resources),
            tables(&place, &resources),
            submit(&plan, &place),
        ];
        for script in &scripts {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("script.sh");
            std::fs::write(&path, script).unwrap();
            let checked = std::process::Command::new("bash").arg("-n").arg(&path).output().unwrap();
            assert!(checked.status.success(), "{script}");
        }
        assert!(scripts[0].contains("#SBATCH --array=0-1%3\n"), "{}", scripts[0]);
        assert!(scripts[0].contains("#SBATCH --partition=short\n"), "{}", scripts[0]);
        assert!(scripts[2].contains("afterany:$teachers:$others:$students"), "{}", scripts[2]);
        assert_eq!(entries(&[vec![0, 1, 2], vec![7]]), "0-2\n7\n");
    }
}
