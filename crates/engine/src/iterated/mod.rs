//! The iterated processor: many steps per operation, nothing carried but pointers.
//!
//! The paper's processor looks at every node once per operation and carries h along. This one
//! starts from x = 0 at every operation and takes as many steps as messages need to travel:
//!
//! x ← min(ReLU(update\[z ‖ x ‖ parent ‖ children ‖ global\]), cap)
//!
//! Each relation has a message function of its own, ReLU(Mᵣ xⱼ): a node hears the one it points
//! to, the strongest of those that point to it (element by element), and the strongest of all. At
//! the end x takes the place of h: decoder and masks read \[z ‖ x\] as ever (equations 3 and 4), and
//! a node with mask 0 is re-aimed (equation 6) by the score
//!
//! ⟨query\[zᵢ ‖ xᵢ ‖ max x\], key\[zⱼ ‖ xⱼ\]⟩ / √k + Σᵣ 𝕀(r relates i to j) · relationᵣ\[zᵢ ‖ xᵢ ‖ max x\].
//!
//! As no state but the pointers passes from one operation to the next, a single
//! [`Transition`](pgn_structures::Transition) is all that training looks at, and an operation
//! costs what its paths are long, whatever n is.
//!
//! | file | what |
//! | --- | --- |
//! | `settings.rs` | the choices, as part of a [`Config`](crate::Config) |
//! | `blocks.rs` | weights laid out for the kernels |
//! | `reach.rs` | which nodes take part, step by step |
//! | `step.rs` | one processor step, forward and backward |
//! | `heads.rs` | answer, masks and pointers from the last x, forward and backward |
//! | `transition.rs` | one transition: losses and gradients |
//! | `training.rs` | batches of transitions |
//! | `runner.rs` | free rollouts |

mod blocks;
mod heads;
mod reach;
mod runner;
mod settings;
mod step;
mod training;
mod transition;

pub(crate) use blocks::{RELATIONS, Weights};
pub(crate) use runner::{LEFT_ALONE, Runner};
pub use settings::{Iterated, Participants, ProcessorKind, Relation};
