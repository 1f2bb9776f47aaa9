//! Weights as the kernels want them: \[in, out\], outputs padded to whole vectors.

use super::layout::{
    CONTROLLER, CONTROLLER_BIAS, ENCODER, Layout, MESSAGE, NODE, NODE_BIAS, padded,
};
use crate::Parameters;

/// A linear layer whose outputs are read.
#[derive(Clone, Debug, Default)]
pub struct OutputLayer {
    /// How many outputs there are.
    pub outputs: usize,
    /// How many there are, padded to whole vectors.
    pub width: usize,
    /// \[k, width\]
    pub forward: Vec<f32>,
    /// \[outputs, k\], as in the file: what the backward pass multiplies with.
    pub backward: Vec<f32>,
    /// \[width\]
    pub bias: Vec<f32>,
}

/// All weights of a network.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// \[features, k\]
    pub encoder: Vec<f32>,
    /// Per relation \[in, out\].
    pub forward: Vec<f32>,
    /// Per relation \[out, in\], as in the file.
    pub backward: Vec<f32>,
    pub node: OutputLayer,
    pub controller: OutputLayer,
}

impl Weights {
    pub fn of(layout: &Layout, parameters: &Parameters) -> Weights {
        let k = layout.k;
        let message = parameters.tensor(MESSAGE);
        let layer = |weight, bias| {
            let (weight, bias) = (parameters.tensor(weight), parameters.tensor(bias));
            let (outputs, width) = (bias.len(), padded(bias.len()));
            let mut forward = vec![0.0; k * width];
            transpose(weight, k, &mut forward, width);
            let bias = bias.iter().copied().chain(std::iter::repeat(0.0)).take(width).collect();
            OutputLayer { outputs, width, forward, backward: weight.to_vec(), bias }
        };
        let mut forward = vec![0.0; message.len()];
        for (from, to) in message.chunks_exact(k * k).zip(forward.chunks_exact_mut(k * k)) {
            transpose(from, k, to, k);
        }
        let mut encoder = vec![0.0; layout.features() * k];
        transpose(parameters.tensor(ENCODER), layout.features(), &mut encoder, k);
        Weights {
            encoder,
            forward,
            backward: message.to_vec(),
            node: layer(NODE, NODE_BIAS),
            controller: layer(CONTROLLER, CONTROLLER_BIAS),
        }
    }
}

/// Gradients, in the shapes the backward pass adds them up in.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// \[features, k\]
    pub encoder: Vec<f32>,
    /// As in the file.
    pub message: Vec<f32>,
    /// \[outputs padded, k\] and \[outputs padded\]
    pub node: (Vec<f32>, Vec<f32>),
    pub controller: (Vec<f32>, Vec<f32>),
}

impl Gradients {
    pub fn zeros(layout: &Layout) -> Gradients {
        let k = layout.k;
        let layer = |outputs: usize| (vec![0.0; padded(outputs) * k], vec![0.0; padded(outputs)]);
        Gradients {
            encoder: vec![0.0; layout.features() * k],
            message: vec![0.0; layout.relations() * k * k],
            node: layer(layout.node_outputs()),
            controller: layer(layout.controller_outputs()),
        }
    }

    fn parts(&mut self) -> [&mut Vec<f32>; 6] {
        let Gradients { encoder, message, node, controller } = self;
        [encoder, message, &mut node.0, &mut node.1, &mut controller.0, &mut controller.1]
    }

    pub fn clear(&mut self) {
        self.parts().into_iter().for_each(|part| part.fill(0.0));
    }

    pub fn add(&mut self, other: &mut Gradients) {
        for (ours, theirs) in self.parts().into_iter().zip(other.parts()) {
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += *theirs);
        }
    }

    /// Into the layout of the file.
    pub fn unpack(&self, layout: &Layout, into: &mut Parameters) {
        let encoder = into.tensor_mut(ENCODER);
        transpose(&self.encoder, layout.k, encoder, layout.features());
        for (name, part) in [
            (MESSAGE, &self.message),
            (NODE, &self.node.0),
            (NODE_BIAS, &self.node.1),
            (CONTROLLER, &self.controller.0),
            (CONTROLLER_BIAS, &self.controller.1),
        ] {
            let tensor = into.tensor_mut(name);
            tensor.copy_from_slice(&part[..tensor.len()]);
        }
    }
}

/// \[rows, columns\] as \[columns, rows\], into rows of length `stride`.
fn transpose(from: &[f32], columns: usize, into: &mut [f32], stride: usize) {
    for (i, row) in from.chunks_exact(columns).enumerate() {
        for (j, &value) in row.iter().enumerate() {
            into[j * stride + i] = value;
        }
    }
}
