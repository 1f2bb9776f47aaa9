//! What a node is told about the current operation: the vector eᵢ of section 2 of the paper.

use serde::{Deserialize, Serialize};

use crate::{Node, Operation};

/// One entry of a node's feature vector eᵢ.
///
/// The paper's two tasks use [`Feature::Priority`] and [`Feature::Operated`], in that order
/// ([`Feature::PAPER`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// rᵢ, the node's priority.
    Priority,
    /// 1 if the node is u or v, else 0.
    Operated,
    /// 1 if the node is u, the first operand.
    First,
    /// 1 if the node is v, the second operand.
    Second,
    /// 1 if the node points to itself before the operation.
    SelfPointing,
    /// 1 if the node is u or v and the operation is of this kind.
    Kind(u8),
}

impl Feature {
    /// eᵢ = rᵢ ‖ 𝕀(i = u ∨ i = v), appendix B.
    pub const PAPER: &'static [Feature] = &[Feature::Priority, Feature::Operated];

    /// u and v told apart, and whether a node is a root: all that an operation needs to know where
    /// no priorities matter.
    pub const ORDERED: &'static [Feature] =
        &[Feature::First, Feature::Second, Feature::SelfPointing];

    /// u and v told apart, and the priority: for models without pointers, too.
    pub const KEYED: &'static [Feature] = &[Feature::Priority, Feature::First, Feature::Second];

    /// The feature's value for `node`, whose pointer before the operation is `pointer`.
    pub fn value(self, node: Node, operation: Operation, priority: f32, pointer: Node) -> f32 {
        let flag = |yes: bool| if yes { 1.0 } else { 0.0 };
        match self {
            Feature::Priority => priority,
            Feature::Operated => flag(node == operation.u || node == operation.v),
            Feature::First => flag(node == operation.u),
            Feature::Second => flag(node == operation.v),
            Feature::SelfPointing => flag(node == pointer),
            Feature::Kind(kind) => {
                flag(kind == operation.kind && (node == operation.u || node == operation.v))
            }
        }
    }
}
