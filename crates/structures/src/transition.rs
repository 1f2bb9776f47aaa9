//! Single operations from any state: what a network that carries nothing but pointers from one
//! operation to the next is trained on.

use serde::{Deserialize, Serialize};

use crate::cycles::{self, Cycles};
use crate::structure::apply;
use crate::{
    Error, Node, Operation, PointerStructure, Result, Rng, Sampling, Shape, Stream, Task, Visited,
};

/// One operation with the pointers before it and its ground truth, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition<'a> {
    /// rᵢ \[nodes\]
    pub priorities: &'a [f32],
    /// π before the operation \[nodes\]
    pub before: &'a [Node],
    /// The operation.
    pub operation: Operation,
    /// ŷ, 0 or 1
    pub answer: u8,
    /// μ̂ \[nodes\]; 0 visited, 1 left alone
    pub mask: &'a [u8],
    /// π̂ after the operation \[nodes\]
    pub after: &'a [Node],
}

/// A [`Transition`] that owns its memory.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedTransition {
    priorities: Vec<f32>,
    before: Vec<Node>,
    operation: Operation,
    answer: u8,
    mask: Vec<u8>,
    after: Vec<Node>,
}

impl OwnedTransition {
    /// What `task` does to a structure with these priorities and learned pointers, which are all of
    /// its state. Refuses pointers out of range, and cycles unless the task's
    /// [`Schema`](crate::Schema) allows them.
    ///
    /// ```
    /// use pgn_structures::{Operation, OwnedTransition, Task};
    ///
    /// let forest = Task::named("forest")?;
    /// let one = OwnedTransition::of(&forest, &[0.0; 3], &[1, 1, 2], Operation::new(0, 2))?;
    /// assert_eq!(one.get().after, [2, 0, 2]);
    /// # Ok::<(), pgn_structures::Error>(())
    /// ```
    pub fn of(
        task: &Task,
        priorities: &[f32],
        before: &[Node],
        operation: Operation,
    ) -> Result<OwnedTransition> {
        check_pointers(before, task.schema().shape()).map_err(Error::Request)?;
        if priorities.len() != before.len() {
            let (found, expected) = (priorities.len(), before.len());
            return Err(Error::Request(format!(
                "there are {found} priorities; expected one for each of the {expected} pointers"
            )));
        }
        task.check(operation, before.len())?;
        let mut structure = task.make();
        structure.reset(priorities);
        start_from(structure.as_mut(), before)?;
        OwnedTransition::record(structure.as_mut(), priorities.to_vec(), before.to_vec(), operation)
    }

    /// Borrows it.
    pub fn get(&self) -> Transition<'_> {
        Transition {
            priorities: &self.priorities,
            before: &self.before,
            operation: self.operation,
            answer: self.answer,
            mask: &self.mask,
            after: &self.after,
        }
    }

    fn record(
        structure: &mut dyn PointerStructure,
        priorities: Vec<f32>,
        before: Vec<Node>,
        operation: Operation,
    ) -> Result<OwnedTransition> {
        let n = before.len();
        let mut visited = Visited::new(n);
        let answer = u8::from(apply(structure, operation, &mut visited)?);
        let mut after = vec![0; n];
        structure.pointers(&mut after);
        let mask = (0..n as Node).map(|node| u8::from(!visited.contains(node))).collect();
        Ok(OwnedTransition { priorities, before, operation, answer, mask, after })
    }
}

/// Which transitions to train on.
///
/// A share of them starts from random forests, of which many are deep, the others from what random
/// operations have made of a fresh structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curriculum {
    /// Numbers of nodes, drawn from uniformly.
    pub nodes: Vec<usize>,
    /// The share of transitions that start from a random forest, from 0 to 1.
    pub forests: f64,
    /// How much random forests are biased to be deep, from 0 (a node hangs from a random earlier
    /// one) to 1 (half of the forests are close to chains).
    pub depth: f64,
}

impl Curriculum {
    /// Half from operations, half from forests biased to be deep, all of `nodes` nodes.
    pub fn of_size(nodes: usize) -> Self {
        Curriculum { nodes: vec![nodes], forests: 0.5, depth: 1.0 }
    }

    /// Refuses what cannot be drawn from.
    pub fn check(&self) -> Result<()> {
        let refuse = |sentence: String| Err(Error::Request(sentence));
        if self.nodes.is_empty() {
            return refuse("a curriculum has no sizes; expected at least one".into());
        }
        if let Some(n) = self.nodes.iter().find(|&&n| !(2..=Sampling::MAX_NODES).contains(&n)) {
            return refuse(format!(
                "a curriculum has size {n}; expected from 2 to {}",
                Sampling::MAX_NODES
            ));
        }
        for (name, share) in [("forests", self.forests), ("depth", self.depth)] {
            if !(0.0..=1.0).contains(&share) {
                return refuse(format!(
                    "{name} of a curriculum is {share}; expected a number from 0 to 1"
                ));
            }
        }
        Ok(())
    }

    /// Draws transition number `index` of step `step`. It depends on these and the seed alone.
    pub fn sample(&self, task: &Task, seed: u64, step: u64, index: u64) -> Result<OwnedTransition> {
        self.check()?;
        let mut rng = Stream::TRANSITIONS.rng(seed, step, index);
        let n = self.nodes[rng.below(self.nodes.len() as u32) as usize];
        let mut structure = task.make();
        let mut priorities = vec![0.0; n];
        crate::sampling::draw_priorities(&mut rng, &mut priorities);
        structure.reset(&priorities);
        if rng.unit_f64() < self.forests {
            start_from(structure.as_mut(), &random_forest(n, self.depth, &mut rng))?;
        } else {
            let mut visited = Visited::new(n);
            for _ in 0..rng.below(Sampling::paper_ops(n) as u32) {
                let operation = structure.sample(n as Node, &mut rng);
                task.check(operation, n)?;
                apply(structure.as_mut(), operation, &mut visited)?;
            }
        }
        let mut before = vec![0; n];
        structure.pointers(&mut before);
        let operation = structure.sample(n as Node, &mut rng);
        task.check(operation, n)?;
        OwnedTransition::record(structure.as_mut(), priorities, before, operation)
    }
}

/// Refuses pointers from outside that no structure of this shape can have.
fn check_pointers(pointers: &[Node], shape: Shape) -> std::result::Result<(), String> {
    let n = pointers.len();
    if let Some(node) = pointers.iter().find(|&&node| node as usize >= n) {
        return Err(format!(
            "a pointer aims at node {node}, but there are {n} nodes, numbered from 0"
        ));
    }
    match shape {
        Shape::Any => Ok(()),
        Shape::Forest => match Cycles::new(n).find(pointers, 0..n as Node) {
            None => Ok(()),
            Some(cycle) => Err(cycles::describe(&cycle)),
        },
    }
}

fn start_from(structure: &mut dyn PointerStructure, pointers: &[Node]) -> Result<()> {
    match structure.start_from(pointers) {
        true => Ok(()),
        false => {
            let trouble = "has hidden state: `pgn-exact` cannot learn it; use `dsu`, `dsu-ordered` or `forest`";
            Err(Error::structure(structure.name(), trouble))
        }
    }
}

/// A random forest. Nodes arrive in random order; each is a new root, or hangs from the node that
/// came before it, or from any earlier one, with shares that are drawn anew for every forest.
///
/// `depth` is as in [`Curriculum`].
pub fn random_forest(nodes: usize, depth: f64, rng: &mut Rng) -> Vec<Node> {
    let mut order: Vec<Node> = (0..nodes as Node).collect();
    for last in (1..nodes).rev() {
        order.swap(last, rng.below(last as u32 + 1) as usize);
    }
    let roots = 0.3 * rng.unit_f64();
    let chains = match rng.below(2) {
        0 => depth * (1.0 - 0.1 * rng.unit_f64()),
        _ => depth * rng.unit_f64(),
    };
    let mut pointers: Vec<Node> = (0..nodes as Node).collect();
    for place in 1..nodes {
        if rng.unit_f64() < roots {
            continue;
        }
        let above = match rng.unit_f64() < chains {
            true => place - 1,
            false => rng.below(place as u32) as usize,
        };
        pointers[order[place] as usize] = order[above];
    }
    pointers
}
