//! The random streams that networks draw from; `docs/reference.md` lists the numbers of all streams.

use pgn_structures::Stream;

/// Initial weights: number of the tensor, part.
pub const WEIGHTS: Stream = Stream::numbered(16);
/// Noise while training or sampling: Adam step, index of the sequence.
pub const NOISE: Stream = Stream::numbered(17);
/// Which operations are teacher-forced: Adam step, index of the sequence.
pub const FORCING: Stream = Stream::numbered(23);
