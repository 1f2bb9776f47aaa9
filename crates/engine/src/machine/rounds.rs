//! The network as a list of layers: encoder, rounds of messages, outputs.

use fearless_simd::prelude::*;

use super::{
    MachineSettings, encoder,
    graph::Graph,
    layer::{Layer, clamp, gate},
    layout::Layout,
    weights::Weights,
};
use crate::kernels::rows::add;

/// What a forward pass leaves behind; buffers of one thread. rows, slots: of the graph.
#[derive(Debug, Default)]
pub struct Tape {
    pub graph: Graph,
    z: Vec<f32>,              // [rows, k]
    x: Vec<f32>,              // [rounds + 1, rows, k]
    sums: Vec<f32>,           // [rounds, slots, k]: sums of what each slot reads
    products: Vec<f32>,       // [slots, k]: their products
    pub node: Vec<f32>,       // [nodes, width]: outputs
    pub controller: Vec<f32>, // [views, width]
    pub d_node: Vec<f32>,
    pub d_controller: Vec<f32>,
    d_x: Vec<f32>,        // [rows, k]
    d_z: Vec<f32>,        // [rows, k]
    d_products: Vec<f32>, // [slots, k]
}

/// Outputs of all rows of `tape.graph`.
#[inline(always)]
pub fn forward<S: Simd>(
    simd: S,
    settings: &MachineSettings,
    layout: &Layout,
    weights: &Weights,
    tape: &mut Tape,
) {
    let k = layout.k;
    let Tape { graph, z, x, sums, products, node, controller, .. } = tape;
    let (rows, slots) = (graph.rows(), graph.slots[layout.relations()]);
    let layer = Layer { k, cap: settings.cap, weights, graph };
    reset(z, rows * k);
    reset(x, (settings.rounds + 1) * rows * k);
    reset(sums, settings.rounds * slots * k);
    reset(products, slots * k);
    encoder::forward(simd, k, &weights.encoder, graph, z);
    x[..rows * k].copy_from_slice(z);
    clamp(simd, settings.cap, &mut x[..rows * k]);
    for (round, sums) in sums.chunks_exact_mut((slots * k).max(1)).enumerate() {
        let (before, after) = x[round * rows * k..].split_at_mut(rows * k);
        layer.forward(simd, (z, before), sums, products, &mut after[..rows * k]);
    }
    let last = &x[settings.rounds * rows * k..];
    let (nodes, controllers) = last.split_at(graph.nodes() * k);
    reset(node, graph.nodes() * weights.node.width);
    reset(controller, graph.views() * weights.controller.width);
    weights.node.forward(simd, k, nodes, node);
    weights.controller.forward(simd, k, controllers, controller);
}

/// Adds the gradients of all weights, given those of the outputs in `tape.d_node` and
/// `tape.d_controller`.
#[inline(always)]
pub fn backward<S: Simd>(
    simd: S,
    settings: &MachineSettings,
    layout: &Layout,
    weights: &Weights,
    tape: &mut Tape,
    gradients: &mut [f32],
) {
    let k = layout.k;
    let Tape { graph, x, sums, d_node, d_controller, d_x, d_z, d_products, products, .. } = tape;
    let (rows, slots) = (graph.rows(), graph.slots[layout.relations()]);
    let layer = Layer { k, cap: settings.cap, weights, graph };
    reset(d_x, rows * k);
    reset(d_z, rows * k);
    reset(d_products, slots * k);
    let last = &x[settings.rounds * rows * k..];
    let (nodes, controllers) = last.split_at(graph.nodes() * k);
    let (d_nodes, d_controllers) = d_x.split_at_mut(graph.nodes() * k);
    weights.node.backward(simd, k, nodes, d_node, gradients, d_nodes);
    weights.controller.backward(simd, k, controllers, d_controller, gradients, d_controllers);
    for round in (0..settings.rounds).rev() {
        let after = &x[(round + 1) * rows * k..][..rows * k];
        let sums = &sums[round * slots * k..][..slots * k];
        layer.backward(simd, (sums, after), (d_products, products), (d_x, d_z), gradients);
    }
    gate(simd, &x[..rows * k], settings.cap, d_x);
    add(simd, d_x, d_z);
    encoder::backward(simd, k, &weights.encoder, graph, d_z, gradients);
}

/// An empty buffer of this length.
pub fn reset(buffer: &mut Vec<f32>, length: usize) {
    buffer.clear();
    buffer.resize(length, 0.0);
}
