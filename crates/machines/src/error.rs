//! What can go wrong, each as one sentence.

use pgn_structures::Node;

/// Anything this crate can fail with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program that contradicts itself.
    #[error("{0}")]
    Program(String),
    /// An operation the program does not have, or with wrong arguments.
    #[error("{0}")]
    Call(String),
    /// A call that violates a [precondition](crate::Precondition), for this reason.
    #[error("{0}")]
    Refused(String),
    /// An argument that does not exist.
    #[error("node {node} is out of range: there are {nodes} nodes, numbered from 0")]
    NodeOutOfRange {
        /// The node asked for.
        node: Node,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A step from a view on which the program is not defined, or which its clauses exclude.
    #[error("program `{program}` is not defined here:\n{view}")]
    Undefined {
        /// The program.
        program: String,
        /// A picture of the view.
        view: String,
    },
    /// An action that cannot be carried out.
    #[error("{trouble}, here:\n{view}")]
    Action {
        /// What is wrong with it.
        trouble: String,
        /// A picture of the view.
        view: String,
    },
    /// An operation that does not end.
    #[error("{operation} did not end within {steps} micro-steps")]
    Endless {
        /// The operation, and the state it was left in.
        operation: String,
        /// How many were allowed.
        steps: u64,
    },
    /// A compiled tree that does not fit its program.
    #[error("{0}")]
    Tree(String),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
