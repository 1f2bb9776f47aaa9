//! Models with an iterated processor: a [`Runner`] does the work.

use std::sync::Arc;

use pgn_structures::{Node, Operation};

use super::{Scratch, State, Top};
use crate::{
    graph::Neighbours,
    iterated::{LEFT_ALONE, Runner},
    model::Network,
    simd::with_simd,
};

/// An iterated processor's x and z are spread out over all nodes, for whoever looks at them, in
/// structures of up to this many.
const SPREAD: usize = 4096;

impl State {
    /// A fresh structure of a model with an iterated processor: O(n) memory for pointers and
    /// masks, nothing per node and latent.
    pub(super) fn iterated(model: Arc<Network>, priorities: &[f32]) -> State {
        let (n, k) = (priorities.len(), model.config().k);
        let spread = vec![0.0; if n <= SPREAD { n * k } else { 0 }];
        State {
            model,
            n,
            fixed: Vec::new(),
            h: spread.clone(),
            z: spread,
            sent: Vec::new(),
            sent_top: Vec::new(),
            mask_logits: vec![LEFT_ALONE; n],
            pointers: (0..n as Node).collect(),
            neighbours: Neighbours::default(),
            moved: false,
            top: Top::new(k),
            changed: Vec::new(),
            changed_from: Vec::new(),
            scratch: Scratch::new(0),
            runner: Some(Box::new(Runner::new(priorities))),
        }
    }

    /// One operation of a model with an iterated processor: the answer's logit.
    pub(super) fn iterate(&mut self, operation: Operation) -> Option<f32> {
        let (model, k) = (&self.model, self.model.config().k);
        let (runner, weights) = (self.runner.as_mut()?, model.iterated()?);
        let spread = self.n <= SPREAD;
        let place = |node: &Node| *node as usize * k..(*node as usize + 1) * k;
        if spread {
            for node in runner.participants() {
                self.z[place(node)].fill(0.0);
                self.h[place(node)].fill(0.0);
            }
        }
        let (pointers, masks) = (&mut self.pointers, &mut self.mask_logits);
        let mut changed = Vec::new();
        let logit = with_simd!(model.simd_level(), simd => {
            let changed = &mut changed;
            runner.apply(simd, model.config(), weights, operation, pointers, masks, changed)
        });
        self.changed.extend(changed.iter().map(|&(node, _)| node));
        self.changed_from.extend(changed.iter().map(|&(_, from)| from));
        if spread {
            let (z, x) = runner.latents();
            let rows = z.chunks_exact(k).zip(x.chunks_exact(k));
            for (node, (z, x)) in runner.participants().iter().zip(rows) {
                self.z[place(node)].copy_from_slice(z);
                self.h[place(node)].copy_from_slice(x);
            }
        }
        Some(logit)
    }
}
