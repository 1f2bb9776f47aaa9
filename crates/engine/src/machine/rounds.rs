//! The encoder and the rounds of messages, forward and backward.

use fearless_simd::{f32x8, prelude::*};

use super::{
    MachineSettings,
    graph::Graph,
    layout::Layout,
    weights::{OutputLayer, Weights},
};
use crate::kernels::{
    matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
    rows::{add, add_rows, chunks, load, store},
};

/// What a forward pass leaves behind; buffers of one thread. rows, slots: of the graph.
#[derive(Debug, Default)]
pub struct Tape {
    pub graph: Graph,
    z: Vec<f32>,              // [rows, k]
    x: Vec<f32>,              // [rounds + 1, rows, k]
    heard: Vec<f32>,          // [rounds, slots, k]: sums of what each slot reads
    said: Vec<f32>,           // [slots, k]: their products
    pub node: Vec<f32>,       // [nodes, width]: outputs
    pub controller: Vec<f32>, // [views, width]
    pub d_node: Vec<f32>,
    pub d_controller: Vec<f32>,
    d_x: Vec<f32>,    // [rows, k]
    d_z: Vec<f32>,    // [rows, k]
    d_said: Vec<f32>, // [slots, k]
}

/// Where a part of an array of rows is.
fn row(index: u32, k: usize) -> std::ops::Range<usize> {
    index as usize * k..(index as usize + 1) * k
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
    let Tape { graph, z, x, heard, said, node, controller, .. } = tape;
    let (rows, slots) = (graph.rows(), graph.slots[layout.relations()]);
    reset(z, rows * k);
    for &(i, feature) in &graph.features {
        add(simd, &weights.encoder[row(feature, k)], &mut z[row(i, k)]);
    }
    reset(x, (settings.rounds + 1) * rows * k);
    reset(heard, settings.rounds * slots * k);
    reset(said, slots * k);
    clamp(simd, z, settings.cap, &mut x[..rows * k]);
    for (round, heard) in heard.chunks_exact_mut((slots * k).max(1)).enumerate() {
        let (before, after) = x[round * rows * k..].split_at_mut(rows * k);
        for &(slot, from) in &graph.reads {
            add(simd, &before[row(from, k)], &mut heard[row(slot, k)]);
        }
        for relation in 0..layout.relations() {
            let (first, end) = (graph.slots[relation], graph.slots[relation + 1]);
            matmul(
                simd,
                (end - first, k, k),
                mat(&heard[first * k..end * k], k),
                mat(&weights.forward[relation * k * k..][..k * k], k),
                Start::Zero,
                Then::Store,
                mat_mut(&mut said[first * k..end * k], k),
            );
        }
        let after = &mut after[..rows * k];
        after.copy_from_slice(z);
        for &(slot, to) in &graph.writes {
            add(simd, &said[row(slot, k)], &mut after[row(to, k)]);
        }
        clamp_in_place(simd, settings.cap, after);
    }
    let last = &x[settings.rounds * rows * k..];
    let (nodes, views) = (graph.nodes(), graph.views());
    for (layer, count, first, into) in
        [(&weights.node, nodes, 0, node), (&weights.controller, views, nodes, controller)]
    {
        reset(into, count * layer.width);
        matmul(
            simd,
            (count, k, layer.width),
            mat(&last[first * k..][..count * k], k),
            mat(&layer.forward, layer.width),
            Start::Row(&layer.bias),
            Then::Store,
            mat_mut(into, layer.width),
        );
    }
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
    let Tape { graph, x, heard, d_node, d_controller, d_x, d_z, d_said, said, .. } = tape;
    let (rows, slots) = (graph.rows(), graph.slots[layout.relations()]);
    let (nodes, views) = (graph.nodes(), graph.views());
    reset(d_x, rows * k);
    reset(d_z, rows * k);
    reset(d_said, slots * k);
    let last = &x[settings.rounds * rows * k..];
    let (d_nodes, d_controllers) = d_x.split_at_mut(nodes * k);
    output_backward(simd, k, &weights.node, nodes, last, d_node, gradients, d_nodes);
    let last = &last[nodes * k..];
    output_backward(
        simd,
        k,
        &weights.controller,
        views,
        last,
        d_controller,
        gradients,
        d_controllers,
    );
    for round in (0..settings.rounds).rev() {
        gate(simd, &x[(round + 1) * rows * k..][..rows * k], settings.cap, d_x);
        add(simd, d_x, d_z);
        d_said.fill(0.0);
        for &(slot, to) in &graph.writes {
            add(simd, &d_x[row(to, k)], &mut d_said[row(slot, k)]);
        }
        let heard = &heard[round * slots * k..][..slots * k];
        for relation in 0..layout.relations() {
            let (first, end) = (graph.slots[relation], graph.slots[relation + 1]);
            let d_said = mat(&d_said[first * k..end * k], k);
            let into = &mut weights.message.gradient(gradients)[relation * k * k..][..k * k];
            matmul_transposed(
                simd,
                (k, end - first, k),
                d_said,
                mat(&heard[first * k..end * k], k),
                mat_mut(into, k),
            );
            matmul(
                simd,
                (end - first, k, k),
                d_said,
                mat(&weights.message[relation * k * k..][..k * k], k),
                Start::Zero,
                Then::Store,
                mat_mut(&mut said[first * k..end * k], k),
            );
        }
        d_x.fill(0.0);
        for &(slot, from) in &graph.reads {
            add(simd, &said[row(slot, k)], &mut d_x[row(from, k)]);
        }
    }
    gate(simd, &x[..rows * k], settings.cap, d_x);
    add(simd, d_x, d_z);
    let into = weights.encoder.gradient(gradients);
    for &(i, feature) in &graph.features {
        add(simd, &d_z[row(i, k)], &mut into[row(feature, k)]);
    }
}

#[allow(clippy::too_many_arguments)] // a layer, what it read, and the gradients on both sides
#[inline(always)]
fn output_backward<S: Simd>(
    simd: S,
    k: usize,
    layer: &OutputLayer,
    count: usize,
    x: &[f32],
    d_outputs: &[f32],
    gradients: &mut [f32],
    d_x: &mut [f32],
) {
    if count == 0 {
        return;
    }
    let d_outputs = mat(&d_outputs[..count * layer.width], layer.width);
    matmul_transposed(
        simd,
        (layer.width, count, k),
        d_outputs,
        mat(x, k),
        mat_mut(layer.weight.gradient(gradients), k),
    );
    add_rows(simd, d_outputs.data, layer.width, layer.bias.gradient(gradients));
    let weight = mat(&layer.weight, k);
    let shape = (count, layer.outputs, k);
    matmul(simd, shape, d_outputs, weight, Start::Zero, Then::Store, mat_mut(d_x, k));
}

/// An empty buffer of this length.
pub fn reset(buffer: &mut Vec<f32>, length: usize) {
    buffer.clear();
    buffer.resize(length, 0.0);
}

/// y = min(max(x, 0), cap).
#[inline(always)]
fn clamp<S: Simd>(simd: S, x: &[f32], cap: f32, y: &mut [f32]) {
    y.copy_from_slice(x);
    clamp_in_place(simd, cap, y);
}

#[inline(always)]
fn clamp_in_place<S: Simd>(simd: S, cap: f32, x: &mut [f32]) {
    let (zero, cap) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, cap));
    for at in chunks(x.len()) {
        store(load(simd, x, at).max(zero).min(cap), x, at);
    }
}

/// d = 0 where the output `x` was cut off at either end.
#[inline(always)]
fn gate<S: Simd>(simd: S, x: &[f32], cap: f32, d: &mut [f32]) {
    let (zero, cap) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, cap));
    for at in chunks(d.len()) {
        let x = load(simd, x, at);
        let below = x.simd_lt(cap).select(load(simd, d, at), zero);
        store(x.simd_gt(zero).select(below, zero), d, at);
    }
}
