//! Input graphs: what a sequence is given besides its operations.

use std::collections::HashSet;

use crate::{Node, Operation, Rng};

/// An undirected edge of an input graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// One end.
    pub u: Node,
    /// The other, different from the first.
    pub v: Node,
    /// Its weight.
    pub weight: f32,
}

impl Edge {
    /// `count` different edges between `nodes` nodes, uniform, with weights uniform in [0, 1) and
    /// distinct; all edges if there are no more than that.
    pub fn sample_graph(nodes: Node, count: usize, rng: &mut Rng) -> Vec<Edge> {
        let all = nodes as usize * (nodes as usize).saturating_sub(1) / 2;
        let count = count.min(all);
        let (mut pairs, mut weights) = (HashSet::new(), HashSet::new());
        let mut edges = Vec::with_capacity(count);
        while edges.len() < count {
            let Operation { u, v, .. } = Operation::sample(nodes, rng);
            if !pairs.insert((u.min(v), u.max(v))) {
                continue;
            }
            let weight = loop {
                let weight = rng.unit_f32();
                if weights.insert(weight.to_bits()) {
                    break weight;
                }
            };
            edges.push(Edge { u, v, weight });
        }
        edges
    }

    /// The graph whose edges are given operations, the first the lightest; an edge that comes
    /// again is the same edge.
    pub fn of_operations(operations: &[Operation]) -> Vec<Edge> {
        let mut seen = HashSet::new();
        let new = |&&Operation { u, v, .. }: &&Operation| seen.insert((u.min(v), u.max(v)));
        let known: Vec<&Operation> = operations.iter().filter(new).collect();
        let weight = |index: usize| index as f32 / known.len() as f32;
        let edge =
            |(index, one): (usize, &&Operation)| Edge { u: one.u, v: one.v, weight: weight(index) };
        known.iter().enumerate().map(edge).collect()
    }
}
