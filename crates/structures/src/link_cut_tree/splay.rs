//! The machinery of appendix C: release, rotate, splay, expose and what rests on them.
//!
//! Names and order follow the paper's pseudocode, with its slips mended: `splay` has an `else`
//! after the single rotation, a root points nowhere (`NIL`) rather than to itself, and `expose`
//! repeats until its node has no path-parent left.
//!
//! Whether `up` is a parent or a path-parent is not stored: it is a parent exactly if the node
//! above knows this node as a child. Turning one into the other therefore writes nothing here,
//! but counts as an assignment of the pointer, and is recorded as one.

use super::{Aggregate, LinkCutTree};
use crate::{Node, Recorder};

/// No node.
pub(super) const NIL: Node = Node::MAX;

/// What is stored per node: 16 bytes if nothing is aggregated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<A> {
    /// p̂ or p̂p: the parent in the splay tree, or the path-parent of a splay tree's root.
    pub up: Node,
    /// Left (closer to the root of the tree that is modelled), then right.
    pub child: [Node; 2],
    /// φ: the children of this node, and so on down, are still to be swapped.
    pub flip: bool,
    /// The node's own value.
    pub value: A,
    /// The values of the whole splay subtree, combined.
    pub sum: A,
}

impl<A: Aggregate> Link<A> {
    /// A node that is a tree by itself.
    pub fn alone(value: A) -> Self {
        Link { up: NIL, child: [NIL, NIL], flip: false, value, sum: value }
    }
}

impl<A: Aggregate> LinkCutTree<A> {
    #[inline(always)]
    fn link_of(&mut self, node: Node) -> &mut Link<A> {
        &mut self.links[node as usize]
    }

    /// p̂ of u: its parent in the splay tree, or `NIL`.
    #[inline]
    pub(super) fn parent(&self, u: Node) -> Node {
        let up = self.links[u as usize].up;
        if up != NIL && self.links[up as usize].child.contains(&u) { up } else { NIL }
    }

    /// Which child of v node u is: 0 left, 1 right.
    #[inline]
    fn side(&self, u: Node, v: Node) -> usize {
        usize::from(self.links[v as usize].child[1] == u)
    }

    /// Recomputes the sum of u from its children's. Compiled to nothing where A is `()`.
    #[inline]
    pub(super) fn sum_up(&mut self, u: Node) {
        let link = self.links[u as usize];
        let mut sum = link.value;
        for child in link.child {
            if child != NIL {
                sum = sum.combine(self.links[child as usize].sum);
            }
        }
        self.link_of(u).sum = sum;
    }

    /// `Release(u)`: swaps the children of u if that is still to be done, and passes it on.
    #[inline]
    fn release(&mut self, u: Node, recorder: &mut impl Recorder) {
        recorder.visit(u);
        let link = self.link_of(u);
        if link.flip {
            link.flip = false;
            link.child.swap(0, 1);
            for child in link.child {
                if child != NIL {
                    self.link_of(child).flip ^= true;
                }
            }
        }
    }

    /// `Rotate(u)`: brings u one level up in its splay tree, over its parent v.
    ///
    /// ```text
    ///       w             w
    ///       |             |
    ///       v             u
    ///      / \    zig    / \
    ///     u   C  ---->  A   v
    ///    / \               / \
    ///   A   B             B   C
    /// ```
    #[inline]
    fn rotate(&mut self, u: Node, recorder: &mut impl Recorder) {
        let v = self.links[u as usize].up;
        let w = self.links[v as usize].up;
        let side = self.side(u, v);
        let inner = self.links[u as usize].child[1 - side];

        self.link_of(v).child[side] = inner;
        if inner != NIL {
            self.link_of(inner).up = v;
            recorder.visit(inner);
        }
        self.link_of(u).child[1 - side] = v;
        // A parent w takes u for v; a path-parent knows no child, and passes from v to u as is.
        if w != NIL {
            for child in &mut self.link_of(w).child {
                if *child == v {
                    *child = u;
                }
            }
        }
        self.link_of(u).up = w;
        recorder.visit(u);
        self.link_of(v).up = u;
        recorder.visit(v);

        self.link_of(u).sum = self.links[v as usize].sum;
        self.sum_up(v);
    }

    /// `Splay(u)`: makes u the root of its splay tree.
    fn splay(&mut self, u: Node, recorder: &mut impl Recorder) {
        loop {
            let v = self.parent(u);
            if v == NIL {
                break;
            }
            let w = self.parent(v);
            if w != NIL {
                self.release(w, recorder);
            }
            self.release(v, recorder);
            self.release(u, recorder);
            if w == NIL {
                self.rotate(u, recorder); // zig
            } else if self.side(v, w) == self.side(u, v) {
                self.rotate(v, recorder); // zig-zig
                self.rotate(u, recorder);
            } else {
                self.rotate(u, recorder); // zig-zag
                self.rotate(u, recorder);
            }
        }
        self.release(u, recorder);
    }

    /// The nodes deeper than u, the root of its splay tree, become a path of their own.
    #[inline]
    fn cut_off_deeper(&mut self, u: Node, recorder: &mut impl Recorder) {
        let right = self.links[u as usize].child[1];
        if right != NIL {
            recorder.visit(right); // its parent u is now its path-parent
            self.link_of(u).child[1] = NIL;
        }
    }

    /// `Expose(u)`: makes the path from the root of the tree to u preferred, and u the root of
    /// the topmost splay tree, with no right child.
    pub(super) fn expose_node(&mut self, u: Node, recorder: &mut impl Recorder) {
        self.splay(u, recorder);
        self.cut_off_deeper(u, recorder);
        self.sum_up(u);
        loop {
            let w = self.links[u as usize].up;
            if w == NIL {
                break;
            }
            self.splay(w, recorder);
            self.cut_off_deeper(w, recorder);
            self.link_of(w).child[1] = u;
            recorder.visit(u); // its path-parent w is now its parent
            self.sum_up(w);
            self.splay(u, recorder); // which leaves u without a right child again
        }
    }

    /// `Find-Root(u)`: exposes u, follows left children to the shallowest node of the path and
    /// exposes that one, so that asking again is cheap.
    pub(super) fn find_root_of(&mut self, u: Node, recorder: &mut impl Recorder) -> Node {
        self.expose_node(u, recorder);
        let mut root = u;
        loop {
            let left = self.links[root as usize].child[0];
            if left == NIL {
                break;
            }
            root = left;
            self.release(root, recorder);
        }
        self.expose_node(root, recorder);
        root
    }

    /// The end of `Link(u, v)`, both exposed and u a root: v becomes u's left child.
    pub(super) fn attach(&mut self, u: Node, v: Node, recorder: &mut impl Recorder) {
        self.link_of(u).child[0] = v;
        self.link_of(v).up = u;
        recorder.visit(v);
        self.sum_up(u);
    }

    /// `Cut(u)`: removes the edge from u to its parent; whether it had one.
    pub(super) fn cut_node(&mut self, u: Node, recorder: &mut impl Recorder) -> bool {
        self.expose_node(u, recorder);
        let left = self.links[u as usize].child[0];
        if left == NIL {
            return false;
        }
        self.link_of(left).up = NIL;
        recorder.visit(left);
        self.link_of(u).child[0] = NIL;
        self.sum_up(u);
        true
    }

    /// `Evert(u)`: makes u the root of its tree by turning round the path above it.
    pub(super) fn evert_node(&mut self, u: Node, recorder: &mut impl Recorder) {
        self.expose_node(u, recorder);
        self.link_of(u).flip ^= true;
        self.release(u, recorder);
    }

    /// The splay tree below `top`, from left to right.
    pub(super) fn in_order(&mut self, top: Node) -> Vec<Node> {
        let (mut path, mut above, mut node) = (Vec::new(), Vec::new(), top);
        loop {
            while node != NIL {
                self.release(node, &mut ());
                above.push(node);
                node = self.links[node as usize].child[0];
            }
            let Some(next) = above.pop() else { return path };
            path.push(next);
            node = self.links[next as usize].child[1];
        }
    }
}
