//! Weights as the kernels want them: \[in, out\], outputs padded to whole vectors.

use super::layout::{
    CONTROLLER, CONTROLLER_BIAS, ENCODER, Layout, MESSAGE, NODE, NODE_BIAS, padded,
};
use crate::{
    Parameters,
    packing::{Matrix, Packer, Packing, transposed},
};

/// A linear layer whose outputs are read.
#[derive(Clone, Debug)]
pub struct OutputLayer {
    /// How many outputs there are.
    pub outputs: usize,
    /// How many there are, padded to whole vectors.
    pub width: usize,
    pub forward: Vec<f32>, // [k, width]
    pub weight: Matrix,    // [width, k], as in the file: what the backward pass multiplies with
    pub bias: Matrix,      // [width]
}

impl OutputLayer {
    fn new(k: usize, outputs: usize, names: [&'static str; 2], packer: &mut Packer) -> OutputLayer {
        let width = padded(outputs);
        let weight = packer.copy(names[0], width * k);
        let bias = packer.copy(names[1], width);
        OutputLayer { outputs, width, forward: weight.transposed(k), weight, bias }
    }
}

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
