//! The random streams of experiments; `docs/reference.md` lists the numbers of all streams.

use pgn_structures::Stream;

/// The order of batches: number of sequences or views, epoch or pass.
pub const BATCHES: Stream = Stream::numbered(18);
/// Seeds of sequences that are sampled anew in every epoch: 0, epoch.
pub const FRESH: Stream = Stream::numbered(19);
/// Random cases that a model is verified on: nodes, shape or index.
pub const VERIFICATION: Stream = Stream::numbered(21);
