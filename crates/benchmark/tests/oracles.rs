//! The truth of every task against an implementation that shares no code with it, over 10,000
//! operations of each family.

use std::collections::{BTreeSet, HashSet, VecDeque};

use petgraph::unionfind::UnionFind;
use pgn_benchmark::{SIZES, Set, TASKS};
use pgn_structures::{Dataset, Family, Node, Operation, Sampling, Sequence, Split};

const NODES: usize = 40;

/// What an oracle says about an operation: the answer, and whether the pointers after it are right.
type Oracle = Box<dyn FnMut(Operation, &[Node]) -> (bool, bool)>;

#[test]
fn every_truth_agrees_with_an_independent_one() {
    for name in TASKS {
        let task = Set::test(name, 20).unwrap().task().unwrap();
        for family in Family::ALL {
            let sampling =
                Sampling { nodes: NODES, ops: 200, count: 50, seed: 9, split: Split::Test };
            let set = Dataset::sample(&task.in_family(family), &sampling).unwrap();
            let mut answers = [0; 2];
            for sequence in set.sequences() {
                let mut oracle = oracle(name, sequence);
                for (t, &operation) in sequence.operations.iter().enumerate() {
                    let (answer, right) = oracle(operation, sequence.pointers_after(t));
                    let at = format!("{name}, {family}, step {t}: {operation:?}");
                    assert_eq!(sequence.answers[t] == 1, answer, "{at}");
                    assert!(right, "{at}: {:?}", sequence.pointers_after(t));
                    answers[usize::from(answer)] += 1;
                }
                // Masks of the other programs say which nodes they look at.
                if !["splay", "heap"].contains(&name) {
                    visited_where_moved(sequence);
                }
            }
            let both = answers.iter().all(|&count| count > 50);
            assert!(both || name == "heap", "{name} {family} {answers:?}");
        }
    }
}

/// No pointer moves whose node was not visited.
fn visited_where_moved(sequence: Sequence<'_>) {
    let mut before: Vec<Node> = (0..sequence.nodes() as Node).collect();
    for t in 0..sequence.ops() {
        let after = sequence.pointers_after(t);
        for node in 0..sequence.nodes() {
            let fine = before[node] == after[node] || sequence.mask(t)[node] == 0;
            assert!(fine, "step {t}, {:?}: node {node}", sequence.operations[t]);
        }
        before = after.to_vec();
    }
}

fn oracle(name: &str, sequence: Sequence<'_>) -> Oracle {
    let keys = sequence.priorities.to_vec();
    let n = keys.len();
    match name {
        "dsu" | "dsu-by-size" | "kruskal" => {
            let mut sets = UnionFind::<u32>::new(n);
            Box::new(move |Operation { u, v, .. }, pointers| {
                let joined = sets.union(u, v);
                (joined, (0..n as u32).all(|node| sets.equiv(node, pointers[node as usize])))
            })
        }
        "forest" | "lct" => toggled_edges(name == "forest", n),
        "msf" => spanning_forest(keys),
        "bst" => cartesian_tree(keys),
        "splay" => ordered_set(keys),
        "heap" => queues(keys),
        "mtf" => list(n),
        "ring" => permutation(n),
        _ => panic!("{name} has no oracle"),
    }
}

/// The nodes that `start` is connected to by edges of the set.
fn reached(edges: &HashSet<(Node, Node)>, start: Node) -> HashSet<Node> {
    let (mut seen, mut queue) = (HashSet::from([start]), VecDeque::from([start]));
    while let Some(node) = queue.pop_front() {
        for &(a, b) in edges {
            let other = if a == node { b } else { a };
            if (a == node || b == node) && seen.insert(other) {
                queue.push_back(other);
            }
        }
    }
    seen
}

fn pair(a: Node, b: Node) -> (Node, Node) {
    (a.min(b), a.max(b))
}

/// Connectivity by search in the graph of edges. Which edge a cut removes follows from the pointers
/// of `forest`; those of `lct` are splay trees, whose nodes must be those of the trees.
fn toggled_edges(pointers_are_edges: bool, n: usize) -> Oracle {
    let mut edges: HashSet<(Node, Node)> = HashSet::new();
    let mut lct = lctree_free(n);
    Box::new(move |operation, pointers| {
        let Operation { u, v, .. } = operation;
        if !pointers_are_edges {
            return lct(operation, pointers);
        }
        let connected = reached(&edges, u).contains(&v);
        if connected {
            // The neighbour of v on the only path to u: without it u is out of reach.
            let near: Vec<(Node, Node)> =
                edges.iter().copied().filter(|&(a, b)| a == v || b == v).collect();
            for edge in near {
                edges.remove(&edge);
                if !reached(&edges, u).contains(&v) {
                    break;
                }
                edges.insert(edge);
            }
        } else {
            edges.insert(pair(u, v));
        }
        let found: HashSet<(Node, Node)> = (0..n as Node)
            .filter(|&node| pointers[node as usize] != node)
            .map(|node| pair(node, pointers[node as usize]))
            .collect();
        (connected, found == edges)
    })
}

/// The same for a link/cut tree, whose operands are ordered by it, not by the caller: whatever edge
/// at v it has cut, the rest must be connected as its pointers say.
fn lctree_free(n: usize) -> Oracle {
    let mut edges: HashSet<(Node, Node)> = HashSet::new();
    Box::new(move |Operation { u, v, .. }, pointers| {
        let connected = reached(&edges, u).contains(&v);
        let groups = |edges: &HashSet<(Node, Node)>| -> Vec<BTreeSet<Node>> {
            (0..n as Node).map(|node| reached(edges, node).into_iter().collect()).collect()
        };
        let by_pointers: HashSet<(Node, Node)> = (0..n as Node)
            .filter(|&node| pointers[node as usize] != node)
            .map(|node| pair(node, pointers[node as usize]))
            .collect();
        let truth = groups(&by_pointers);
        if !connected {
            edges.insert(pair(u, v));
            return (false, groups(&edges) == truth);
        }
        let near: Vec<(Node, Node)> = edges
            .iter()
            .copied()
            .filter(|&(a, b)| [a, b].contains(&u) || [a, b].contains(&v))
            .collect();
        for edge in near {
            edges.remove(&edge);
            if !reached(&edges, u).contains(&v) && groups(&edges) == truth {
                return (true, true);
            }
            edges.insert(edge);
        }
        (true, false)
    })
}

/// Kruskal's algorithm over all edges so far, again after every one of them.
fn spanning_forest(keys: Vec<f32>) -> Oracle {
    let (n, mut all) = (keys.len(), Vec::<(f32, usize, Node, Node)>::new());
    let forest = move |all: &[(f32, usize, Node, Node)]| -> HashSet<(Node, Node)> {
        let (mut sorted, mut sets) = (all.to_vec(), UnionFind::<u32>::new(n));
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let kept = sorted.into_iter().filter(|&(.., u, v)| sets.union(u, v));
        kept.map(|(.., u, v)| pair(u, v)).collect()
    };
    Box::new(move |Operation { u, v, .. }, pointers| {
        let before = forest(&all);
        all.push(((keys[u as usize] - keys[v as usize]).abs(), all.len(), u, v));
        let after = forest(&all);
        let found: HashSet<(Node, Node)> = (0..n as Node)
            .filter(|&node| pointers[node as usize] != node)
            .map(|node| pair(node, pointers[node as usize]))
            .collect();
        (before != after, found == after)
    })
}

/// A search tree is the Cartesian tree of when its nodes took their places: the parent of a node is
/// the later of the nearest earlier ones on either side.
fn cartesian_tree(keys: Vec<f32>) -> Oracle {
    let n = keys.len();
    let mut order: Vec<Node> = (0..n as Node).collect();
    order.sort_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize]));
    let rank: Vec<usize> =
        (0..n as Node).map(|node| order.iter().position(|&other| other == node).unwrap()).collect();
    // By rank: when the place was taken, if the node is in the tree.
    let (mut since, mut clock) = (vec![None::<usize>; n], 0);
    let near = |since: &[Option<usize>], rank: usize, right: bool| -> Option<usize> {
        let held = |&place: &usize| since[place].is_some();
        if right { (rank + 1..since.len()).find(held) } else { (0..rank).rev().find(held) }
    };
    Box::new(move |Operation { u, v, kind, .. }, pointers| {
        let (place, other) = (rank[u as usize], rank[v as usize]);
        clock += 1;
        let answer = match kind {
            0 => {
                let new = since[place].is_none();
                since[place] = since[place].or(Some(clock));
                new
            }
            1 => {
                let (left, right) = (near(&since, place, false), near(&since, place, true));
                let held = since[place].is_some();
                // With children on both sides, the next in order takes the place.
                let below = |side: Option<usize>| side.filter(|&side| since[side] > since[place]);
                if let (true, Some(_), Some(heir)) = (held, below(left), below(right)) {
                    since[heir] = since[place];
                }
                since[place] = None;
                held
            }
            // v is met if nothing between it and u is older.
            _ => {
                let between = place.min(other)..=place.max(other);
                let oldest =
                    between.filter(|&place| since[place].is_some()).min_by_key(|&p| since[p]);
                u != v && oldest == Some(other)
            }
        };
        let parent = |node: Node| -> Node {
            let place = rank[node as usize];
            let Some(own) = since[place] else { return node };
            let older = |&other: &usize| since[other].is_some_and(|time| time < own);
            let sides = [(0..place).rev().find(older), (place + 1..n).find(older)];
            let last = sides.into_iter().flatten().max_by_key(|&side| since[side]);
            last.map_or(node, |place| order[place])
        };
        (answer, (0..n as Node).all(|node| parent(node) == pointers[node as usize]))
    })
}

/// A sorted set for the answers. A splay tree is one under its node 0: `up` must lead all held
/// nodes to it, and no others.
fn ordered_set(_: Vec<f32>) -> Oracle {
    let mut set = BTreeSet::new();
    Box::new(move |Operation { v: x, kind, .. }, pointers| {
        let answer = match kind {
            0 => set.insert(x),
            1 => set.contains(&x),
            _ => set.remove(&x),
        };
        let root = |mut node: Node| {
            while pointers[node as usize] != node {
                node = pointers[node as usize];
            }
            node
        };
        let right = |node: Node| (root(node) == 0) == set.contains(&node);
        (answer, (1..pointers.len() as Node).all(right))
    })
}

/// Two sorted lists for the answers, and the least node on top.
fn queues(keys: Vec<f32>) -> Oracle {
    let mut queues = [Vec::<Node>::new(), Vec::new()];
    Box::new(move |Operation { u: heap, v: x, kind, .. }, pointers| {
        let queue = heap as usize;
        let answer = match kind {
            0 => {
                queues[queue].push(x);
                true
            }
            1 => {
                queues[queue].sort_by(|&a, &b| keys[b as usize].total_cmp(&keys[a as usize]));
                queues[queue].pop().is_some()
            }
            _ => {
                let others = std::mem::take(&mut queues[x as usize]);
                queues[queue].extend(others);
                true
            }
        };
        let least = |queue: usize| {
            let by_key = |&&a: &&Node, &&b: &&Node| keys[a as usize].total_cmp(&keys[b as usize]);
            queues[queue].iter().min_by(by_key).copied().unwrap_or(queue as Node)
        };
        (answer, (0..2).all(|queue| pointers[queue] == least(queue)))
    })
}

/// A vector with the front first.
fn list(n: usize) -> Oracle {
    let mut list: Vec<Node> = Vec::new();
    Box::new(move |Operation { u, v, .. }, pointers| {
        let place = |node| list.iter().position(|&other| other == node);
        let answer = place(u).zip(place(v)).is_some_and(|(u, v)| u < v);
        list.retain(|&node| node != u);
        list.insert(0, u);
        let before = |node: Node| match list.iter().position(|&other| other == node) {
            None | Some(0) => node,
            Some(place) => list[place - 1],
        };
        (answer, (0..n as Node).all(|node| pointers[node as usize] == before(node)))
    })
}

/// Rings as lists of their nodes, rotated and cut.
fn permutation(n: usize) -> Oracle {
    let mut rings: Vec<Vec<Node>> = (0..n as Node).map(|node| vec![node]).collect();
    Box::new(move |Operation { u, v, .. }, pointers| {
        let find = |rings: &[Vec<Node>], node| rings.iter().position(|ring| ring.contains(&node));
        let mut one = rings.remove(find(&rings, u).unwrap());
        let place = one.iter().position(|&node| node == u).unwrap();
        one.rotate_left(place);
        // After u comes what came after v, and the other way round.
        let answer = match one.iter().position(|&node| node == v) {
            Some(place) => {
                let inner = one[1..=place].to_vec();
                one.drain(1..=place);
                rings.push(inner);
                true
            }
            None => {
                let mut other = rings.remove(find(&rings, v).unwrap());
                let place = other.iter().position(|&node| node == v).unwrap();
                other.rotate_left(place + 1);
                one.splice(1..1, other);
                false
            }
        };
        rings.push(one);
        let next = |node: Node| {
            let ring = &rings[find(&rings, node).unwrap()];
            ring[(ring.iter().position(|&other| other == node).unwrap() + 1) % ring.len()]
        };
        (answer, (0..n as Node).all(|node| pointers[node as usize] == next(node)))
    })
}

/// What each family is for: the operands are where it says.
#[test]
fn operands_are_those_of_the_family() {
    let task = Set::test("forest", 20).unwrap().task().unwrap();
    for family in Family::ALL {
        let sampling = Sampling { split: Split::Test, count: 4, ..Sampling::paper(30) };
        let set = Dataset::sample(&task.in_family(family), &sampling).unwrap();
        for sequence in set.sequences() {
            let mut order: Vec<usize> = (0..30).collect();
            order.sort_by(|&a, &b| sequence.priorities[a].total_cmp(&sequence.priorities[b]));
            let place =
                |node: Node| order.iter().position(|&other| other == node as usize).unwrap();
            for (t, operation) in sequence.operations.iter().enumerate() {
                let (a, b) = (place(operation.u), place(operation.v));
                let apart = a.abs_diff(b);
                let fits = match family {
                    Family::Random => true,
                    Family::Path => apart == 1,
                    Family::Star => a == 15 || b == 15,
                    Family::Local => apart.min(30 - apart) <= 3,
                    Family::Adversarial => t >= 29 || (a, b) == (t, t + 1),
                };
                assert!(fits, "{family} {t} {a} {b}");
            }
        }
    }
    // Deep chains are deep: a tree of all 30 nodes, whose ends are then 29 apart.
    let hard = Dataset::sample(&task.in_family(Family::Adversarial), &Sampling::paper(30)).unwrap();
    let visited = |t: usize| hard.sequence(0).mask(t).iter().filter(|&&mask| mask == 0).count();
    assert_eq!(visited(29), 30);
    assert_eq!(SIZES[0].0, 20);
}
