//! Random numbers that are the same on every platform, for years.
//!
//! The generator is ChaCha8 (Bernstein 2008) with a zero nonce, read one 32-bit word at a time.
//! How its words become integers and fractions is fixed here and nowhere else, and committed
//! test vectors hold it in place. `docs/reference.md` describes it for other languages.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

use crate::{Error, Result};

/// A stream of random numbers, determined by its four-part key.
///
/// ```
/// use pgn_structures::{Rng, Stream};
///
/// // What sequence 3 of the training set over 20 nodes is drawn from, at seed 1:
/// let mut rng = Rng::new([1, Stream::TRAIN.number(), 20, 3]);
/// assert!(rng.below(20) < 20);
/// assert!((0.0..1.0).contains(&rng.unit_f32()));
/// ```
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream whose 256-bit ChaCha key is these four numbers, little-endian, in order.
    ///
    /// By convention they are the seed, the [`Stream`], the number of nodes and the index of the
    /// sequence, so that no stream depends on how many others are drawn.
    pub fn new(key: [u64; 4]) -> Self {
        let mut bytes = [0; 32];
        for (chunk, part) in bytes.chunks_exact_mut(8).zip(key) {
            chunk.copy_from_slice(&part.to_le_bytes());
        }
        Rng(ChaCha8Rng::from_seed(bytes))
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// An integer uniform in 0..`n`, without bias (Lemire 2019, on 32-bit words).
    ///
    /// `n` should not be 0; if it is, so is the result.
    pub fn below(&mut self, n: u32) -> u32 {
        let mut product = u64::from(self.next_u32()) * u64::from(n);
        if (product as u32) < n {
            // 2³² mod n words would favour some results; draw again when one of them comes up.
            let surplus = n.wrapping_neg() % n;
            while (product as u32) < surplus {
                product = u64::from(self.next_u32()) * u64::from(n);
            }
        }
        (product >> 32) as u32
    }

    /// A multiple of 2⁻²⁴ uniform in [0, 1): the upper 24 bits of one word.
    pub fn unit_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 / (1 << 24) as f32
    }

    /// A multiple of 2⁻⁵³ uniform in [0, 1): 27 bits of one word, then 26 of the next.
    pub fn unit_f64(&mut self) -> f64 {
        let high = u64::from(self.next_u32() >> 5);
        let low = u64::from(self.next_u32() >> 6);
        (high << 26 | low) as f64 / (1u64 << 53) as f64
    }

    /// How many words were drawn so far.
    #[cfg(test)]
    pub(crate) fn words(&self) -> u128 {
        self.0.get_word_pos()
    }
}

/// What random numbers are for. Each purpose has a stream of its own, so that all models at one
/// seed see the same data, whatever else they draw.
///
/// Its number never changes: it is part of the keys, and so of every data set and every trained
/// model. A crate names the streams that it draws from; `docs/reference.md` lists all numbers.
///
/// ```
/// use pgn_structures::Stream;
///
/// const NOISE: Stream = Stream::numbered(17);
/// let mut rng = NOISE.rng(7, 0, 0); // seed 7, and two numbers that the stream documents
/// assert!(rng.unit_f64() < 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(u64);

impl Stream {
    /// Training sequences: nodes, index.
    pub const TRAIN: Stream = Stream(0);
    /// Validation sequences: nodes, index.
    pub const VALIDATION: Stream = Stream(1);
    /// Test sequences: nodes, index.
    pub const TEST: Stream = Stream(2);
    /// Priorities for operations that came from a user: nodes, index.
    pub const GIVEN: Stream = Stream(3);
    /// Single operations to train on: Adam step, index.
    pub const TRANSITIONS: Stream = Stream(20);

    /// The stream of this number, which no other purpose may have.
    pub const fn numbered(number: u64) -> Stream {
        Stream(number)
    }

    /// The second part of the key of [`Rng::new`].
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The generator of this stream at `seed`; the last two parts of its key are as documented
    /// for each stream.
    pub fn rng(self, seed: u64, third: u64, fourth: u64) -> Rng {
        Rng::new([seed, self.0, third, fourth])
    }
}

/// Which set a sequence belongs to. Each split is sampled from a [`Stream`] of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Split {
    /// Training sequences.
    Train,
    /// Validation sequences, for early stopping.
    Validation,
    /// Test sequences; each size is a stream of its own, as the key holds the number of nodes.
    Test,
    /// Operations that came from a user; only priorities may be drawn.
    Given,
}

impl Split {
    /// All splits.
    pub const ALL: [Split; 4] = [Split::Train, Split::Validation, Split::Test, Split::Given];

    /// What its sequences are drawn from.
    pub const fn stream(self) -> Stream {
        match self {
            Split::Train => Stream::TRAIN,
            Split::Validation => Stream::VALIDATION,
            Split::Test => Stream::TEST,
            Split::Given => Stream::GIVEN,
        }
    }

    /// The generator of sequence `index` over `nodes` nodes at `seed`.
    pub fn rng(self, seed: u64, nodes: usize, index: u64) -> Rng {
        self.stream().rng(seed, nodes as u64, index)
    }

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Validation => "validation",
            Split::Test => "test",
            Split::Given => "given",
        }
    }
}

impl std::fmt::Display for Split {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Parses the names of [`Split::ALL`].
impl std::str::FromStr for Split {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Split::ALL.into_iter().find(|split| split.name() == name).ok_or_else(|| {
            let known = Split::ALL.map(Split::name).join(", ");
            Error::UnknownSplit { name: name.to_string(), known }
        })
    }
}
