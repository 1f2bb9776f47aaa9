//! Event files read by TensorBoard itself.
//!
//! Needs a Python with `tensorboard`: the one named by `PGN_PYTHON`, or `python3`, or else a
//! virtual environment that is made under the target directory. If none is available, the
//! test says so and checks nothing; `pgn-lab` reads the files with a reader of its own in any case.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn has_tensorboard(python: &Path) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", "import tensorboard"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A Python with TensorBoard, or why there is none.
fn python() -> Result<PathBuf, String> {
    if let Some(python) = std::env::var_os("PGN_PYTHON") {
        let python = PathBuf::from(python);
        return has_tensorboard(&python)
            .then_some(python)
            .ok_or_else(|| "the Python named by PGN_PYTHON has no tensorboard".to_owned());
    }
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tensorboard-venv");
    let ours = venv.join("bin/python");
    for python in [PathBuf::from("python3"), ours.clone()] {
        if has_tensorboard(&python) {
            return Ok(python);
        }
    }
    let step = |what: &str, command: &mut Command| {
        let output = command.output().map_err(|error| format!("cannot {what} ({error})"))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = text.lines().last().unwrap_or_default().to_owned();
        Err(format!("cannot {what} ({last})"))
    };
    step("make a virtual environment", Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    step(
        "install tensorboard",
        Command::new(&ours)
            .args(["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "10"])
            // TensorBoard imports pkg_resources, which newer setuptools no longer have.
            .args(["tensorboard", "setuptools<80"]),
    )?;
    has_tensorboard(&ours)
        .then_some(ours)
        .ok_or_else(|| "tensorboard was installed but cannot be imported".to_owned())
}

#[test]
fn tensorboard_reads_the_event_file() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => {
            // Not a macro, whose output the test harness would hide.
            let _ = writeln!(std::io::stderr(), "NOT CHECKED with TensorBoard: {why}");
            return;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    common::stdout(here, &format!("train --epochs 7 --decay cosine --out run {}", common::SMALL));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tensorboard/check.py");
    let output = Command::new(python).arg(script).arg(here.join("run")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("12 curves of 7 epochs agree"), "{printed}");
}
