//! The network of machines: from what a micro-step sees to what it writes.
//!
//! A [`View`](pgn_machines::View) is a small graph. Its nodes and its controller are rows x of k
//! numbers. What a row is given of itself (nil, unread and held pointers, bits, the state, fields
//! of the controller) is a sum of columns of the encoder, z; then messages travel for a few
//! rounds, with one matrix per relation, shared by all rounds:
//!
//! x⁰ = σ(z), xᵗ⁺¹ᵢ = σ(zᵢ + Σᵣ Σⱼ Mᵣ xᵗⱼ over all j that r relates to i), σ(x) = min(max(x, 0), cap).
//!
//! Relations: a node to itself; to the node that a pointer field holds, and back; the outcomes of
//! comparisons, in both directions; the controller to the node in a register, to every node, and
//! both back; the controller to itself. `layout.rs` numbers them.
//!
//! At the end every pointer of every node is a choice between *keep*, *nil* and the nodes of the
//! view: two logits that are linear in xᵢ, and
//!
//! ⟨query xᵢ, key xⱼ⟩ / √k + Σᵣ 𝕀(r relates j to i) · biasᵣ(xᵢ)
//!
//! for each node j. Registers are the same with the controller's x. A bit is toggled, and a mark
//! set, where its logit is positive; fields of the controller (keep, or a value) and the next
//! state are classifications. The loss is the cross-entropy of all decisions of a view, summed,
//! and the mean of that over a batch. Of equal scores the first wins: keep, nil, node 0, 1, …
//!
//! | file | what |
//! | --- | --- |
//! | `settings.rs` | the choices |
//! | `layout.rs` | which number is which feature, relation and output |
//! | `graph.rs` | a batch of views as rows, features and relations |
//! | `weights.rs` | weights laid out for the kernels |
//! | `encoder.rs`, `layer.rs`, `output_layer.rs` | the layers, each forward and backward: features, a round of messages, outputs |
//! | `rounds.rs` | the network, a list of them |
//! | `scores.rs` | the outputs of one pointer |
//! | `decisions.rs` | actions and margins from the outputs |
//! | `losses.rs` | losses and their gradients |
//! | `net.rs`, `trainer.rs` | what users call |

mod decisions;
mod encoder;
mod graph;
mod layer;
mod layout;
mod losses;
mod net;
mod output_layer;
mod rounds;
mod scores;
mod settings;
mod trainer;
mod weights;

pub use decisions::Prediction;
pub use losses::MachineLosses;
pub use net::MachineNet;
pub use settings::MachineSettings;
