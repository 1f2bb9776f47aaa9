//! Answers, masks and pointers of the link/cut tree against a second implementation that
//! follows appendix C line by line: parents and path-parents in arrays of their own, `nil` for
//! what is not there, every assignment written down where the paper has it in blue.

use std::collections::BTreeSet;

use pgn_structures::{Dataset, Operation, Sampling, Task};

const NIL: usize = usize::MAX;

#[derive(Default)]
struct Paper {
    p: Vec<usize>,
    pp: Vec<usize>,
    left: Vec<usize>,
    right: Vec<usize>,
    phi: Vec<bool>,
    visited: BTreeSet<usize>,
}

impl Paper {
    fn new(n: usize) -> Self {
        let nil = || vec![NIL; n];
        Paper {
            p: nil(),
            pp: nil(),
            left: nil(),
            right: nil(),
            phi: vec![false; n],
            visited: BTreeSet::new(),
        }
    }

    fn set_p(&mut self, u: usize, value: usize) {
        self.visited.insert(u);
        self.p[u] = value;
    }

    fn set_pp(&mut self, u: usize, value: usize) {
        self.visited.insert(u);
        self.pp[u] = value;
    }

    fn release(&mut self, u: usize) {
        if u == NIL {
            return;
        }
        self.visited.insert(u);
        if self.phi[u] {
            std::mem::swap(&mut self.left[u], &mut self.right[u]);
            if self.left[u] != NIL {
                self.phi[self.left[u]] ^= true;
            }
            if self.right[u] != NIL {
                self.phi[self.right[u]] ^= true;
            }
            self.phi[u] = false;
        }
    }

    fn rotate(&mut self, u: usize) {
        let v = self.p[u];
        let w = self.p[v];
        if self.left[v] == u {
            self.left[v] = self.right[u];
            if self.right[u] != NIL {
                self.set_p(self.right[u], v);
            }
            self.right[u] = v;
        } else {
            self.right[v] = self.left[u];
            if self.left[u] != NIL {
                self.set_p(self.left[u], v);
            }
            self.left[u] = v;
        }
        self.set_pp(u, self.pp[v]);
        self.set_p(v, u);
        self.set_pp(v, NIL);
        if w != NIL {
            if self.left[w] == v {
                self.left[w] = u;
            } else {
                self.right[w] = u;
            }
        }
        self.set_p(u, w);
    }

    fn splay(&mut self, u: usize) {
        while self.p[u] != NIL {
            let v = self.p[u];
            let w = self.p[v];
            self.release(w);
            self.release(v);
            self.release(u);
            if w == NIL {
                self.rotate(u);
            } else if (self.left[w] == v) == (self.left[v] == u) {
                self.rotate(v);
                self.rotate(u);
            } else {
                self.rotate(u);
                self.rotate(u);
            }
        }
        self.release(u);
    }

    fn expose(&mut self, u: usize) {
        loop {
            self.splay(u);
            if self.right[u] != NIL {
                self.set_p(self.right[u], NIL);
                self.set_pp(self.right[u], u);
                self.right[u] = NIL;
            }
            let w = self.pp[u];
            if w == NIL {
                break;
            }
            self.splay(w);
            if self.right[w] != NIL {
                self.set_p(self.right[w], NIL);
                self.set_pp(self.right[w], w);
            }
            self.right[w] = u;
            self.set_p(u, w);
            self.set_pp(u, NIL);
        }
    }

    fn find_root(&mut self, u: usize) -> usize {
        self.expose(u);
        let mut root = u;
        while self.left[root] != NIL {
            root = self.left[root];
            self.release(root);
        }
        self.expose(root);
        root
    }

    fn query_toggle(&mut self, u: usize, v: usize) -> u8 {
        self.visited = BTreeSet::from([u, v]);
        // evert(u)
        self.expose(u);
        self.phi[u] ^= true;
        self.release(u);
        if self.find_root(v) != u {
            // link(u, v)
            self.expose(u);
            self.expose(v);
            self.left[u] = v;
            self.set_p(v, u);
            0
        } else {
            // cut(v)
            self.expose(v);
            if self.left[v] != NIL {
                self.set_p(self.left[v], NIL);
                self.left[v] = NIL;
            }
            1
        }
    }

    fn pointer(&self, u: usize) -> u32 {
        assert!(self.p[u] == NIL || self.pp[u] == NIL, "a node has one pointer");
        [self.p[u], self.pp[u], u].into_iter().find(|&node| node != NIL).unwrap() as u32
    }
}

#[test]
fn sampled_sequences_follow_the_paper() {
    for (nodes, count) in [(2, 50), (3, 100), (5, 200), (20, 200), (50, 50), (200, 10)] {
        let sampling = Sampling { ops: 3 * nodes, count, ..Sampling::paper(nodes) };
        let task = Task::named("lct").unwrap();
        let set = Dataset::sample(&task, &sampling).unwrap().with_fields(&task).unwrap();
        for sequence in set.sequences() {
            let mut paper = Paper::new(nodes);
            for (step, &Operation { u, v, .. }) in sequence.operations.iter().enumerate() {
                let (u, v) = (u as usize, v as usize);
                let swap = sequence.priorities[u] < sequence.priorities[v];
                let (u, v) = if swap { (v, u) } else { (u, v) };
                assert_eq!(sequence.answers[step], paper.query_toggle(u, v));
                let fields = sequence.fields_after(step);
                let (left, right) =
                    (fields.pointer("left").unwrap(), fields.pointer("right").unwrap());
                let flip = fields.bit("flip").unwrap();
                for node in 0..nodes {
                    let or_itself = |other: usize| if other == NIL { node } else { other } as u32;
                    assert_eq!(left[node], or_itself(paper.left[node]));
                    assert_eq!(right[node], or_itself(paper.right[node]));
                    assert_eq!(flip[node], u8::from(paper.phi[node]), "{nodes} {step} {node}");
                    let visited = sequence.mask(step)[node] == 0;
                    assert_eq!(visited, paper.visited.contains(&node), "mask of {node}");
                    assert_eq!(sequence.pointers_after(step)[node], paper.pointer(node));
                }
            }
        }
    }
}
