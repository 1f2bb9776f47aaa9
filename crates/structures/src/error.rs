//! What can go wrong, each as one sentence.

use std::path::PathBuf;

use crate::Node;

/// An operation that a structure cannot carry out. The structure is left as it was, as a set
/// of connected components; a self-adjusting one may have moved pointers inside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// A node that does not exist.
    #[error("node {node} is out of range: there are {nodes} nodes, numbered from 0")]
    NodeOutOfRange {
        /// The node asked for.
        node: Node,
        /// How many nodes there are.
        nodes: usize,
    },
    /// An operation on a node and itself.
    #[error("u and v are both {node}: an operation needs two different nodes")]
    SameNode {
        /// The node given twice.
        node: Node,
    },
    /// An operation of a kind that the structure does not have.
    #[error("the operation is of kind {kind}, but there are {kinds}, numbered from 0")]
    NoSuchKind {
        /// The kind given.
        kind: u8,
        /// How many there are.
        kinds: usize,
    },
    /// Two operands of an operation that has one.
    #[error("u is {u} and v is {v}: this operation has one operand, which is given twice")]
    OneOperand {
        /// The operand.
        u: Node,
        /// What should be the operand again.
        v: Node,
    },
    /// `link` inside one tree would close a cycle.
    #[error("nodes {u} and {v} are already connected: linking them would close a cycle")]
    AlreadyConnected {
        /// The first operand.
        u: Node,
        /// The second operand.
        v: Node,
    },
    /// `link` of a node that is not the root of its tree.
    #[error("node {node} is not the root of its tree: evert it before linking it")]
    NotARoot {
        /// The node given.
        node: Node,
    },
    /// `cut` of a root, which has no parent to be cut from.
    #[error("node {node} is the root of its tree: it has no parent to be cut from")]
    IsARoot {
        /// The node given.
        node: Node,
    },
}

/// Anything this crate can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// See [`OperationError`].
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// A task name nobody registered.
    #[error("there is no task '{name}'; expected one of {known}{}", crate::did_you_mean(name, known.split(", ")))]
    UnknownTask {
        /// The name given.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// A split name nobody registered.
    #[error("unknown split `{name}`: the known ones are {known}")]
    UnknownSplit {
        /// The name given.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// A request that makes no sense, such as one node.
    #[error("{0}")]
    Request(String),
    /// A structure broke its contract.
    #[error("the structure `{task}` {trouble}")]
    Structure {
        /// Its name.
        task: String,
        /// What it did.
        trouble: String,
    },
    /// A structure could not carry out an operation.
    #[error("the structure `{task}` failed: {cause}")]
    Failed {
        /// Its name.
        task: String,
        /// Why. Part of the sentence already, so not this error's `source`.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file that cannot be read or written.
    #[error("cannot {verb} {}: {cause}", path.display())]
    Io {
        /// What was tried: "read", "write".
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not. Part of the sentence already, so not this error's `source`.
        cause: std::io::Error,
    },
    /// A file whose contents are not what they should be.
    #[error("{}: {trouble}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        trouble: String,
    },
}

impl Error {
    /// The structure called `task` broke its contract; `trouble` continues the sentence.
    pub fn structure(task: &str, trouble: impl Into<String>) -> Error {
        Error::Structure { task: task.to_owned(), trouble: trouble.into() }
    }

    /// The structure called `task` could not carry out an operation.
    pub fn failed(task: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Failed { task: task.to_owned(), cause: cause.into() }
    }

    /// What a structure returned, with its name if it has none yet.
    pub(crate) fn of_structure(self, task: &str) -> Error {
        match self {
            Error::Structure { .. } | Error::Failed { .. } => self,
            other => Error::failed(task, other),
        }
    }
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
