//! The pointer graph network on the CPU: forward, backward, Adam and free rollouts. The paper's ten
//! models are points of one [`Config`] space; [`MachineNet`] is the network of learned machines.
//!
//! Train a model on a disjoint-set union, then use it as a data structure:
//!
//! ```
//! use pgn_engine::{Config, Model, Trainer, TrainerOptions};
//! use pgn_structures::{Dataset, Operation, Sampling, Task};
//!
//! let data = Dataset::sample(&Task::named("dsu")?, &Sampling::paper(20))?;
//! let sequences: Vec<_> = data.sequences().collect();
//! let mut trainer = Trainer::new(Model::new(Config::preset("pgn")?, 0)?, TrainerOptions::default())?;
//! for _ in 0..5 {
//!     trainer.step(&sequences)?;
//! }
//! let mut structure = trainer.model().start(50)?;
//! let answer = structure.apply(Operation::new(3, 7))?;
//! println!("in different sets: {} (P = {:.2})", answer.value(), answer.probability);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | if you want … | look at |
//! | --- | --- |
//! | a model | [`Config::preset`], [`Model::new`], [`Model::load`] |
//! | to train it | [`Trainer`] |
//! | to run it on recorded sequences | [`Model::rollout`], [`Model::replay`] |
//! | to run it one operation at a time | [`Model::start`], [`State::apply`] |
//! | the network of learned machines | [`MachineNet`] |
//! | the equations of the paper in plain code | [`mod@reference`] |
//!
//! # Letters
//!
//! n nodes, T operations, k latent features, m entries of a feature vector e. Per node: h the
//! latents, z the encoded operation, a and b the receiver's and sender's halves of a message, m the
//! strongest message, μ the mask, π the pointer, α attention.
//!
//! # Where the equations are
//!
//! [`mod@reference`] has a table from each equation to its plain function and to its fast path. The fast
//! path of the paper's processor, [`ProcessorKind::Recurrent`], is in `recurrent/`;
//! [`ProcessorKind::Iterated`] has its own step, in `iterated/`, over the same kernels; `machine/`
//! sees a micro-step's view instead of a structure.

mod adam;
mod aggregation;
mod attention;
mod buffer_pool;
mod config;
pub mod cost;
mod error;
mod example;
mod graph;
mod initialisation;
mod iterated;
mod kernels;
mod losses;
mod machine;
mod masks;
mod model;
mod packing;
mod parameters;
mod preset;
mod processor;
mod recurrent;
pub mod reference;
mod replay;
mod rows;
mod simd;
mod spin_pool;
mod state;
mod streams;
mod trainer;

pub use aggregation::Aggregation;
pub use config::{
    AttentionInput, Candidates, Config, Forcing, Graph, InputGraph, Pointers, TestLayers,
};
pub use error::Error;
pub use example::Example;
pub use initialisation::Initialisation;
pub use iterated::{Iterated, Participants, Relation};
pub use losses::{Loss, LossWeights, Losses};
pub use machine::{MachineLosses, MachineNet, MachineSettings, Prediction};
pub use masks::left_alone;
pub use model::{Model, Rollout};
pub use parameters::{Parameters, Tensor};
pub use preset::{PointerSource, Preset};
pub use processor::ProcessorKind;
pub use replay::{Driver, Step};
pub use simd::SimdLevel;
pub use state::{Answer, Move, State};
pub use trainer::{Network, Trainer, TrainerOptions, TrainerState};
