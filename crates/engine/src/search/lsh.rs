//! Approximate search: keys in buckets of equal hashes.
//!
//! A bit of a hash says on which side of a random hyperplane a vector lies. Keys are first moved, so
//! that their mean is 0: this changes all scores of a query alike. Then they are lifted to a sphere,
//! x ↦ (x, √(M² − ‖x‖²)) with M the longest key's length, and queries to (q, 0): the key with the
//! highest score is the one at the smallest angle.

use fearless_simd::prelude::*;
use pgn_structures::Node;
use rayon::prelude::*;

use super::{Champion, Lsh};
use crate::kernels::rows::{axpy, dot};

/// The hash tables of one operation's keys.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    planes: Vec<f32>, // [tables, bits, w]
    lifts: Vec<f32>,  // [tables, bits]: the last coordinate of each
    lsh: Option<(Lsh, usize)>,
    tables: Vec<Table>,
}

/// One of them.
#[derive(Clone, Debug, Default)]
struct Table {
    starts: Vec<u32>, // [2^bits + 1]: where each bucket begins
    nodes: Vec<Node>, // [n]: by bucket, ascending in each
    hashes: Vec<u32>, // [n], scratch
}

impl Tables {
    /// Hashes all keys.
    #[inline(always)]
    pub fn build<S: Simd>(&mut self, simd: S, lsh: Lsh, w: usize, keys: &[f32]) {
        if self.lsh != Some((lsh, w)) {
            self.draw(lsh, w);
        }
        let mut mean = vec![0.0; w];
        let share = 1.0 / (keys.len() / w).max(1) as f32;
        keys.chunks_exact(w).for_each(|key| axpy(simd, share, key, &mut mean));
        // ‖x − mean‖²
        let fixed = dot(simd, &mean, &mean);
        let square = |key| dot(simd, key, key) - 2.0 * dot(simd, key, &mean) + fixed;
        let squares: Vec<f32> = keys.chunks_exact(w).map(square).collect();
        let longest = squares.iter().fold(0.0f32, |most, &square| most.max(square));
        let Lsh { bits, .. } = lsh;
        let planes = self.planes.par_chunks(bits * w).zip(self.lifts.par_chunks(bits));
        self.tables.par_iter_mut().zip(planes).for_each(|(table, (planes, lifts))| {
            simd.vectorize(
                #[inline(always)]
                || table.fill(simd, (keys, &mean), (&squares, longest), (planes, lifts)),
            );
        });
    }

    /// Draws the hyperplanes: the same for every operation and every structure.
    fn draw(&mut self, lsh: Lsh, w: usize) {
        let Lsh { tables, bits } = lsh;
        let mut rng = crate::streams::SEARCH.rng(0, tables as u64, bits as u64);
        // A sum of twelve uniform numbers is as good as normal here, and the same on every machine.
        let mut draw = || (0..12).map(|_| rng.unit_f32()).sum::<f32>() - 6.0;
        self.planes = (0..tables * bits * w).map(|_| draw()).collect();
        self.lifts = (0..tables * bits).map(|_| draw()).collect();
        self.tables = vec![Table::default(); tables];
        self.lsh = Some((lsh, w));
    }

    /// For every query the best key of its buckets, its present target and itself included.
    #[inline(always)]
    pub fn find<S: Simd>(
        &self,
        simd: S,
        w: usize,
        q: &[f32],
        keys: &[f32],
        best: &mut [(f32, Node)],
    ) {
        let Some((Lsh { bits, .. }, _)) = self.lsh else { return };
        for (q, best) in q.chunks_exact(w).zip(best) {
            let mut champion = Champion::NOBODY;
            champion.see_key(simd, q, keys, best.1);
            for (table, planes) in self.tables.iter().zip(self.planes.chunks_exact(bits * w)) {
                let sides = planes.chunks_exact(w).map(|plane| dot(simd, plane, q) > 0.0);
                for &node in table.bucket(join(sides)) {
                    champion.see_key(simd, q, keys, node);
                }
            }
            champion.take(best);
        }
    }
}

impl Table {
    /// Sorts all nodes by their hashes.
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        (keys, mean): (&[f32], &[f32]),
        (squares, longest): (&[f32], f32),
        (planes, lifts): (&[f32], &[f32]),
    ) {
        let (bits, w) = (lifts.len(), mean.len());
        let middles: Vec<f32> =
            planes.chunks_exact(w).map(|plane| dot(simd, plane, mean)).collect();
        self.starts.clear();
        self.starts.resize((1 << bits) + 1, 0);
        self.hashes.clear();
        for (key, &square) in keys.chunks_exact(w).zip(squares) {
            let lift = (longest - square).max(0.0).sqrt();
            let each = planes.chunks_exact(w).zip(lifts.iter().zip(&middles));
            let side = |(plane, (at, middle)): (&[f32], (&f32, &f32))| {
                dot(simd, plane, key) - middle + at * lift > 0.0
            };
            let hash = join(each.map(side));
            self.hashes.push(hash);
            self.starts[hash as usize + 1] += 1;
        }
        for bucket in 1..self.starts.len() {
            self.starts[bucket] += self.starts[bucket - 1];
        }
        let mut next = self.starts.clone();
        self.nodes.resize(squares.len(), 0);
        for (node, &hash) in self.hashes.iter().enumerate() {
            let place = &mut next[hash as usize];
            self.nodes[*place as usize] = node as Node;
            *place += 1;
        }
    }

    fn bucket(&self, hash: u32) -> &[Node] {
        let at = hash as usize;
        &self.nodes[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// The bits of a hash.
#[inline(always)]
fn join(sides: impl Iterator<Item = bool>) -> u32 {
    sides.fold(0, |hash, side| hash << 1 | u32::from(side))
}
