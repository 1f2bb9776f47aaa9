//! The network.
