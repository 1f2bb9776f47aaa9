//! Writing the benchmark's files.

use std::{fmt::Write, path::Path};

use pgn_lab::Error;
use pgn_runs::files;
use pgn_structures::{Split, files::atomic_write};
use sha2::{Digest, Sha256};

use crate::{Data, Result, SIZES, Set, TASKS, TRAIN_NODES, lines};

/// Questions in words are written up to this size.
const TEXT_UP_TO: usize = 100;

/// Writes the data of some tasks below `folder`, with a README and checksums, and questions in words if
/// `text`. `tell` is called with every set before it is written.
///
/// It is an error if a file has another checksum than the one that this program expects.
pub fn make(folder: &Path, tasks: &[String], text: bool, mut tell: impl FnMut(&Set)) -> Result<()> {
    if let Some(other) = tasks.iter().find(|task| !TASKS.contains(&task.as_str())) {
        return Err(Set::test(other, TRAIN_NODES).map_or_else(|error| error, |_| unreachable!()));
    }
    let mut checksums = String::new();
    for set in Set::all().iter().filter(|set| tasks.is_empty() || tasks.contains(&set.task)) {
        tell(set);
        let path = folder.join(set.file());
        files::make_dir(path.parent().unwrap_or(folder))?;
        let data = Data::of(set)?;
        data.save(&path)?;
        let digest = Sha256::digest(files::read(&path)?);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(expected) = set.checksum().filter(|&expected| expected != digest) {
            return Err(Error::file(
                &path,
                format!(
                    "its checksum is {digest}; expected {expected}: this machine computes other data"
                ),
            ));
        }
        let _ = writeln!(checksums, "{digest}  {}", set.file());
        if text && set.split == Split::Test && set.nodes <= TEXT_UP_TO {
            atomic_write(path.with_extension("jsonl"), lines(&data)?.as_bytes())?;
        }
    }
    atomic_write(folder.join("checksums.txt"), checksums.as_bytes())?;
    atomic_write(folder.join("README.md"), readme()?.as_bytes())?;
    Ok(())
}

/// The data card.
pub fn readme() -> Result<String> {
    let mut tasks = String::new();
    for name in TASKS {
        let task = Set::test(name, TRAIN_NODES)?.task()?;
        let [zero, one] = task.answers();
        let features: Vec<String> = task.schema().pointers().to_vec();
        let _ = writeln!(
            tasks,
            "| `{name}` | {} | {} | {zero} / {one} | {} |",
            task.summary(),
            task.kinds().iter().map(|kind| kind.name.as_str()).collect::<Vec<_>>().join(", "),
            features.join(", "),
        );
    }
    let sizes = SIZES.map(|(nodes, count)| format!("{nodes} ({count})")).join(", ");
    Ok(include_str!("card.md").replace("TASKS\n", &tasks).replace("SIZES", &sizes))
}
