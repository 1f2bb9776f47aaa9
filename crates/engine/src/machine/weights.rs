//! Weights as the kernels want them: \[in, out\], outputs padded to whole vectors.

use super::{
    layout::{CONTROLLER, CONTROLLER_BIAS, ENCODER, Layout, MESSAGE, NODE, NODE_BIAS},
    output_layer::OutputLayer,
};
use crate::{
    Parameters,
    packing::{Matrix, Packer, Packing, transposed},
};

/// All weights of a network.
#[derive(Clone, Debug)]
pub struct Weights {
    pub encoder: Matrix,   // [features, k]
    pub forward: Vec<f32>, // per relation [in, out]
    pub message: Matrix,   // per relation [out, in], as in the file
    pub node: OutputLayer,
    pub controller: OutputLayer,
    pub packing: Packing,
}

impl Weights {
    pub fn of(layout: &Layout, parameters: &Parameters) -> Weights {
        let (k, features) = (layout.k, layout.features());
        let mut packer = Packer::new(parameters);
        let mut encoder = packer.zeros(features * k);
        packer.columns(&mut encoder, ENCODER, 0..features, 0, k);
        let message = packer.copy(MESSAGE, layout.relations() * k * k);
        let (nodes, controllers) = (layout.node_outputs(), layout.controller_outputs());
        Weights {
            encoder,
            forward: message.chunks_exact(k * k).flat_map(|one| transposed(one, k)).collect(),
            message,
            node: OutputLayer::new(k, nodes, [NODE, NODE_BIAS], &mut packer),
            controller: OutputLayer::new(
                k,
                controllers,
                [CONTROLLER, CONTROLLER_BIAS],
                &mut packer,
            ),
            packing: std::mem::take(packer.packing()),
        }
    }
}
