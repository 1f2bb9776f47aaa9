//! How much one request may ask for, so that no request can stall the machine.

use std::time::Duration;

use crate::refusal::{Answer, Refusal};

/// Nodes of a replay. More could be computed, but nobody could see them.
pub const NODES: usize = 500;
/// Operations of a replay.
pub const OPERATIONS: usize = 2000;
/// Operations × nodes of a replay.
pub const CELLS: usize = 200_000;
/// Test sequences that can be asked for by number.
pub const SEQUENCES: usize = 100;
/// Nodes for which α is told whole: n × n numbers.
pub const ALPHA: usize = 200;
/// Nodes for which latent states and messages are told: they are computed by the reference, slowly.
pub const EQUATIONS: usize = 50;
/// Micro-steps of one operation.
pub const MICRO_STEPS: usize = 20_000;
/// Bytes of a request's body.
pub const BODY: usize = 1 << 20;
/// Bytes of `metrics.jsonl` in one response; the page asks again for the rest.
pub const METRICS: u64 = 4 << 20;
/// Bytes of a text file that is shown whole: `config.toml`, `results.json`.
pub const TEXT: u64 = 4 << 20;
/// Folders that are looked into for runs, and how deep.
pub const FOLDERS: usize = 20_000;
/// How deep runs may lie.
pub const DEPTH: usize = 12;
/// Replays that are computed at the same time.
pub const REPLAYS: usize = 2;
/// Bytes of a `model.safetensors` or a teacher's: a hundred times what the largest model has.
pub const MODEL: u64 = 64 << 20;
/// Connections that are open at the same time.
pub const CONNECTIONS: usize = 256;
/// How long a request's headers may take to arrive, and how long a connection may wait for the
/// next request.
pub const HEADERS: Duration = Duration::from_secs(10);
/// How long a request may take, its body included.
pub const TIME: Duration = Duration::from_secs(30);
/// How long requests under way may take to end once the server is told to stop.
pub const FAREWELL: Duration = Duration::from_secs(2);

/// Refuses replays that are too large.
pub fn check(nodes: usize, operations: usize) -> Answer<()> {
    if !(2..=NODES).contains(&nodes) {
        return Err(Refusal::bad(format!("nodes is {nodes}; expected from 2 to {NODES}")));
    }
    if operations > OPERATIONS {
        return Err(Refusal::bad(format!(
            "{operations} operations were asked for; expected at most {OPERATIONS}"
        )));
    }
    if nodes * operations > CELLS {
        return Err(Refusal::bad(format!(
            "{operations} operations on {nodes} nodes are too many; expected at most {} for so \
             many nodes",
            CELLS / nodes
        )));
    }
    Ok(())
}
