//! One round of messages: xᵗ⁺¹ᵢ = σ(zᵢ + Σᵣ Σⱼ Mᵣ xᵗⱼ), σ(x) = min(max(x, 0), cap).
//!
//! A slot of a relation reads the sum of some rows, is multiplied by the relation's matrix, and is
//! written to others.

use fearless_simd::{f32x8, prelude::*};

use super::{graph::Graph, weights::Weights};
use crate::kernels::{
    matmul::{Start, Then, mat, mat_mut, matmul, matmul_transposed},
    rows::{add, chunks, load, store},
};

/// What a round reads of the network.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    pub k: usize,
    pub cap: f32,
    pub weights: &'a Weights,
    pub graph: &'a Graph,
}

impl Layer<'_> {
    /// The next x \[rows, k\] from z and the x before; `sums` \[slots, k\] is 0 at first and keeps
    /// what each slot reads, `products` \[slots, k\] their products.
    #[inline(always)]
    pub fn forward<S: Simd>(
        self,
        simd: S,
        (z, before): (&[f32], &[f32]),
        sums: &mut [f32],
        products: &mut [f32],
        after: &mut [f32],
    ) {
        let k = self.k;
        for &(slot, from) in &self.graph.reads {
            add(simd, &before[row(from, k)], &mut sums[row(slot, k)]);
        }
        for (relation, slots) in self.graph.slots.windows(2).enumerate() {
            let (first, end) = (slots[0], slots[1]);
            let weight = &self.weights.forward[relation * k * k..][..k * k];
            let sums = mat(&sums[first * k..end * k], k);
            let products = mat_mut(&mut products[first * k..end * k], k);
            let shape = (end - first, k, k);
            matmul(simd, shape, sums, mat(weight, k), Start::Zero, Then::Store, products);
        }
        after.copy_from_slice(z);
        for &(slot, to) in &self.graph.writes {
            add(simd, &products[row(slot, k)], &mut after[row(to, k)]);
        }
        clamp(simd, self.cap, after);
    }

    /// From ∂ of the x after a round to that of the x before, both in `d_x` \[rows, k\]; adds to ∂z
    /// and to the gradients of the matrices. `d_products` and `d_heard` \[slots, k\] are scratch.
    #[inline(always)]
    pub fn backward<S: Simd>(
        self,
        simd: S,
        (sums, after): (&[f32], &[f32]),
        (d_products, d_heard): (&mut [f32], &mut [f32]),
        (d_x, d_z): (&mut [f32], &mut [f32]),
        gradients: &mut [f32],
    ) {
        let k = self.k;
        gate(simd, after, self.cap, d_x);
        add(simd, d_x, d_z);
        d_products.fill(0.0);
        for &(slot, to) in &self.graph.writes {
            add(simd, &d_x[row(to, k)], &mut d_products[row(slot, k)]);
        }
        for (relation, slots) in self.graph.slots.windows(2).enumerate() {
            let (first, end) = (slots[0], slots[1]);
            let message = &self.weights.message;
            let d_products = mat(&d_products[first * k..end * k], k);
            let sums = mat(&sums[first * k..end * k], k);
            let into = &mut message.gradient(gradients)[relation * k * k..][..k * k];
            matmul_transposed(simd, (k, end - first, k), d_products, sums, mat_mut(into, k));
            let weight = mat(&message[relation * k * k..][..k * k], k);
            let into = mat_mut(&mut d_heard[first * k..end * k], k);
            matmul(simd, (end - first, k, k), d_products, weight, Start::Zero, Then::Store, into);
        }
        d_x.fill(0.0);
        for &(slot, from) in &self.graph.reads {
            add(simd, &d_heard[row(slot, k)], &mut d_x[row(from, k)]);
        }
    }
}

/// Where a row of k numbers is.
pub fn row(index: u32, k: usize) -> std::ops::Range<usize> {
    index as usize * k..(index as usize + 1) * k
}

/// σ, in place.
#[inline(always)]
pub fn clamp<S: Simd>(simd: S, cap: f32, x: &mut [f32]) {
    let (zero, cap) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, cap));
    for at in chunks(x.len()) {
        store(load(simd, x, at).max(zero).min(cap), x, at);
    }
}

/// d = 0 where the output `x` of σ was cut off at either end.
#[inline(always)]
pub fn gate<S: Simd>(simd: S, x: &[f32], cap: f32, d: &mut [f32]) {
    let (zero, cap) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, cap));
    for at in chunks(d.len()) {
        let x = load(simd, x, at);
        let below = x.simd_lt(cap).select(load(simd, d, at), zero);
        store(x.simd_gt(zero).select(below, zero), d, at);
    }
}
