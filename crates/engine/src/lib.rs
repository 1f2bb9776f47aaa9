//! The pointer graph network on the CPU: forward, backward, Adam and free rollouts. The paper's ten
//! models are points of one [`Config`] space. The engine knows sequences, not experiments.
//!
//! | if you want … | look at |
//! | --- | --- |
//! | a model | [`Config::preset`], [`Model::new`], [`Model::load`] |
//! | to train it | [`Trainer`] |
//! | to run it on recorded sequences | [`Model::rollout`], [`Model::replay`] |
//! | to run it one operation at a time | [`Model::start`], [`State::apply`] |
//! | the network of learned machines | [`MachineNet`] |
//!
//! `examples/train.rs` uses all but the last.
//!
//! # Letters
//!
//! n nodes, T operations, k latent features, m entries of a feature vector e. Per node: h the
//! latents, z the encoded operation, a and b the receiver's and sender's halves of a message, m the
//! strongest message, μ the mask, π the pointer, α attention.
//!
//! # Where the equations are
//!
//! | equation | what | file |
//! | --- | --- | --- |
//! | 1 | z = encoder\[e ‖ h\] | `features.rs`, `recurrent/step.rs` |
//! | 2, 8 | h = U(z, max M(z, z')) | `aggregation/`, `recurrent/step.rs` |
//! | 3 | y = decoder\[max z ‖ max h\] | `aggregation/`, `recurrent/step.rs` |
//! | 4, 5 | masks | `readout.rs` |
//! | 6 | attention | `attention.rs`, `recurrent/pointers.rs` |
//! | 7 | symmetrised pointers | `graph.rs` |
//!
//! That is the paper's processor, [`ProcessorKind::Recurrent`]. [`ProcessorKind::Iterated`] has its
//! own step, in `iterated/`, over the same kernels. [`MachineNet`], in `machine/`, is the network of
//! learned machines: it sees a micro-step's view instead of a structure.

mod adam;
mod aggregation;
mod attention;
mod awake;
mod buffer_pool;
mod config;
pub mod cost;
mod error;
mod example;
mod features;
mod graph;
mod initialisation;
mod iterated;
mod kernels;
mod losses;
mod machine;
mod model;
mod parameters;
mod preset;
mod processor;
mod readout;
mod recurrent;
mod replay;
mod rows;
mod search;
mod simd;
mod state;
mod trainer;

pub use aggregation::Aggregation;
pub use config::{
    AttentionInput, Candidates, Config, Forcing, Graph, InputGraph, Pointers, TestLayers,
};
pub use error::Error;
pub use example::Example;
pub use initialisation::Initialisation;
pub use iterated::{Iterated, Participants, ProcessorKind, Relation};
pub use losses::{Loss, LossWeights, Losses, MeanLosses};
pub use machine::{MachineLosses, MachineNet, MachineSettings, Prediction};
pub use model::{Model, Rollout};
pub use parameters::{Parameters, Tensor};
pub use preset::{PointerSource, Preset};
pub use readout::left_alone;
pub use replay::{Driver, Step};
pub use search::{Lsh, Search};
pub use simd::SimdLevel;
pub use state::{Answer, Move, State};
pub use trainer::{Network, Trainer, TrainerOptions, TrainerState};
