//! What the benchmark consists of: tasks, sizes, splits and where their files are.

use pgn_lab::Error;
use pgn_machines::programs;
use pgn_structures::{Family, Sampling, Split, Task};

use crate::Result;

/// The tasks, in the order of tables.
pub const TASKS: [&str; 11] = [
    "dsu",
    "dsu-by-size",
    "kruskal",
    "forest",
    "lct",
    "msf",
    "bst",
    "splay",
    "heap",
    "mtf",
    "ring",
];

/// The sizes of test sets: nodes, and sequences per family.
pub const SIZES: [(usize, usize); 6] =
    [(20, 35), (50, 35), (100, 15), (200, 7), (1000, 2), (10_000, 1)];

/// The nodes of training and validation sequences.
pub const TRAIN_NODES: usize = 20;
/// Training sequences. The first 70 are the paper's.
pub const TRAIN: usize = 1000;
/// Validation sequences.
pub const VALIDATION: usize = 100;

/// Up to so many nodes files have masks and pointers; n of them after each of 1.5 n operations
/// would be a gigabyte per sequence at 10,000.
pub const FULL_UP_TO: usize = 200;

/// The seed of all data.
const SEED: u64 = 0;

/// What `make` wrote, as `sha256sum` prints it.
const CHECKSUMS: &str = include_str!("checksums.txt");

/// One file of the benchmark.
///
/// ```
/// use pgn_benchmark::Set;
///
/// assert_eq!(Set::all().len(), 11 * (2 + 6));
/// assert_eq!(Set::test("lct", 1000)?.file(), "lct/test-1000.safetensors");
/// assert!(Set::test("lct", 30).unwrap_err().to_string().starts_with("the benchmark has no"));
/// # Ok::<(), pgn_lab::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set {
    /// The data structure.
    pub task: String,
    /// Nodes per sequence.
    pub nodes: usize,
    /// What it is for.
    pub split: Split,
}

impl Set {
    /// All files, task by task.
    pub fn all() -> Vec<Set> {
        let sets = TASKS.iter().flat_map(|&task| {
            let of = move |nodes, split| Set { task: task.to_owned(), nodes, split };
            let first = [Split::Train, Split::Validation].map(|split| of(TRAIN_NODES, split));
            first.into_iter().chain(SIZES.map(|(nodes, _)| of(nodes, Split::Test)))
        });
        sets.collect()
    }

    /// A test set.
    pub fn test(task: &str, nodes: usize) -> Result<Set> {
        Set::find(task, nodes, Split::Test)
    }

    /// The file of this task, size and split.
    pub fn find(task: &str, nodes: usize, split: Split) -> Result<Set> {
        let wanted = Set { task: task.to_owned(), nodes, split };
        match Set::all().contains(&wanted) {
            true => Ok(wanted),
            false => Err(Error::request(format!(
                "the benchmark has no {split} set of `{task}` with {nodes} nodes; expected one of \
                 the tasks {} with {TRAIN_NODES} nodes for training and validation, or {} for tests",
                TASKS.join(", "),
                SIZES.map(|(nodes, _)| nodes.to_string()).join(", ")
            ))),
        }
    }

    /// Its path below the benchmark's folder.
    pub fn file(&self) -> String {
        match self.split {
            Split::Test => format!("{}/test-{}.safetensors", self.task, self.nodes),
            split => format!("{}/{split}.safetensors", self.task),
        }
    }

    /// The families of its sequences, as many of each, one after the other.
    pub fn families(&self) -> &'static [Family] {
        match self.split {
            Split::Test => &Family::ALL,
            _ => &Family::ALL[..1],
        }
    }

    /// Whether its file has masks and pointers.
    pub fn is_full(&self) -> bool {
        self.nodes <= FULL_UP_TO
    }

    /// What is sampled of each family.
    pub fn sampling(&self) -> Sampling {
        let of_size = SIZES.iter().find(|(nodes, _)| *nodes == self.nodes);
        let count = match self.split {
            Split::Train => TRAIN,
            Split::Test => of_size.map_or(0, |&(_, count)| count),
            _ => VALIDATION,
        };
        let ops = Sampling::paper_ops(self.nodes);
        Sampling { nodes: self.nodes, ops, count, seed: SEED, split: self.split }
    }

    /// The data structure.
    pub fn task(&self) -> Result<Task> {
        programs::build_in_tasks();
        Ok(Task::named(&self.task)?)
    }

    /// The SHA-256 of its file, the same on every machine, in hexadecimal digits.
    pub fn checksum(&self) -> Option<&'static str> {
        let lines = CHECKSUMS.lines().filter_map(|line| line.split_once("  "));
        let file = self.file();
        lines.into_iter().find(|(_, name)| *name == file).map(|(checksum, _)| checksum)
    }
}

impl std::fmt::Display for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {} nodes ({})", self.task, self.nodes, self.split)
    }
}
