//! Proof as far as it goes: every small case, and shapes of growing depth.
//!
//! For structures whose next pointers follow from their pointers and the operation alone, a model
//! that carries nothing but pointers is always right if it is right from every state. Small
//! states can all be tried.

use pgn_engine::Model;
use pgn_structures::{Node, Operation, OwnedTransition, Rng, Task, forest, random_forest};
use rayon::prelude::*;
use serde::Serialize;

use crate::{Error, Result, streams};

/// A transition that a model gets wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Pointers before the operation.
    pub before: Vec<Node>,
    /// First operand.
    pub u: Node,
    /// Second operand.
    pub v: Node,
    /// The true answer.
    pub answer: bool,
    /// The model's.
    pub guess: bool,
    /// The true pointers after the operation.
    pub after: Vec<Node>,
    /// The model's.
    pub guessed: Vec<Node>,
}

impl Failure {
    /// The case in a few lines.
    pub fn text(&self) -> String {
        let Failure { before, u, v, after, guessed, .. } = self;
        let [answer, guess] = [self.answer, self.guess].map(u8::from);
        format!(
            "Operation ({u}, {v}) on the pointers\n  {before:?}\nshould answer {answer} and give\n  \
             {after:?}\nbut the model answers {guess} and gives\n  {guessed:?}\n"
        )
    }
}

/// What trying all cases of one kind gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What was tried.
    pub cases: String,
    /// Nodes.
    pub nodes: usize,
    /// The longest path to a root among the forests tried.
    pub depth: u32,
    /// How many transitions were tried.
    pub transitions: u64,
    /// How many of them were wrong.
    pub wrong: u64,
    /// The most processor steps an operation took.
    pub max_steps: usize,
    /// The first that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl Verdict {
    fn new(cases: &str, nodes: usize) -> Verdict {
        let cases = cases.to_owned();
        Verdict { cases, nodes, depth: 0, transitions: 0, wrong: 0, max_steps: 0, failure: None }
    }

    /// Takes in what came later.
    fn join(&mut self, later: Verdict) {
        self.depth = self.depth.max(later.depth);
        self.transitions += later.transitions;
        self.wrong += later.wrong;
        self.max_steps = self.max_steps.max(later.max_steps);
        self.failure = self.failure.take().or(later.failure);
    }
}

/// Tries every forest on `nodes` nodes, (n + 1)ⁿ⁻¹ of them, with every ordered pair of operands
/// and, for a model that compares priorities, every order of those of the participants. In parallel
/// on the current rayon pool.
pub fn verify_all(model: &Model, task: &Task, nodes: usize) -> Result<Verdict> {
    if !(2..=8).contains(&nodes) {
        return Err(Error::request(format!(
            "all forests on {nodes} nodes cannot be tried; expected from 2 to 8"
        )));
    }
    let codes = (nodes as u64).pow(nodes as u32);
    let block = codes.div_ceil(256).max(1);
    let blocks: Vec<Verdict> = (0..codes.div_ceil(block))
        .into_par_iter()
        .map(|number| {
            let mut trial = Trial::new(model, task, "all forests", nodes)?;
            let mut pointers = vec![0; nodes];
            for code in number * block..codes.min((number + 1) * block) {
                let mut rest = code;
                for pointer in &mut pointers {
                    *pointer = (rest % nodes as u64) as Node;
                    rest /= nodes as u64;
                }
                if !is_forest(&pointers) {
                    continue;
                }
                for u in 0..nodes as Node {
                    for v in (0..nodes as Node).filter(|&v| v != u) {
                        trial.attempt_in_every_order(&pointers, Operation::new(u, v))?;
                    }
                }
            }
            Ok(trial.verdict)
        })
        .collect::<Result<_>>()?;
    let mut verdict = Verdict::new("all forests", nodes);
    blocks.into_iter().for_each(|later| verdict.join(later));
    Ok(verdict)
}

/// A kind of forest that can be made as deep as one likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One path.
    Chain,
    /// Two paths, side by side.
    TwoChains,
    /// A path with as many leaves at its lower end as it is long.
    Broom,
    /// All nodes but one point to one.
    Star,
    /// Random forests biased to be deep.
    Random,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 5] =
        [Shape::Chain, Shape::TwoChains, Shape::Broom, Shape::Star, Shape::Random];

    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Chain => "chain",
            Shape::TwoChains => "two chains",
            Shape::Broom => "broom",
            Shape::Star => "star",
            Shape::Random => "random forests",
        }
    }

    /// One of `nodes` nodes.
    fn make(self, nodes: usize, rng: &mut Rng) -> Vec<Node> {
        let half = (nodes / 2).max(1) as Node;
        let of_node = |node: Node| match self {
            Shape::Chain => node.saturating_sub(1),
            Shape::TwoChains if node == half => half,
            Shape::TwoChains => node.saturating_sub(1),
            Shape::Broom => node.saturating_sub(1).min(half - 1),
            Shape::Star | Shape::Random => 0,
        };
        match self {
            Shape::Random => random_forest(nodes, 1.0, rng),
            _ => (0..nodes as Node).map(of_node).collect(),
        }
    }
}

/// Tries forests of one shape on `nodes` nodes: operands at the ends of the paths, and `pairs`
/// random ones (for [`Shape::Random`], each on a forest of its own).
pub fn verify_shape(
    model: &Model,
    task: &Task,
    shape: Shape,
    nodes: usize,
    pairs: u64,
    seed: u64,
) -> Result<Verdict> {
    let mut rng = streams::VERIFICATION.rng(seed, nodes as u64, shape as u64);
    let mut trial = Trial::new(model, task, shape.name(), nodes)?;
    let mut pointers = shape.make(nodes, &mut rng);
    let last = nodes as Node - 1;
    let half = (nodes / 2) as Node;
    for (u, v) in [(last, 0), (0, last), (last, last - 1), (last, half), (half, last), (0, half)] {
        if u != v {
            trial.draw_priorities(&mut rng)?;
            trial.attempt(&pointers, Operation::new(u, v))?;
        }
    }
    for _ in 0..pairs {
        if shape == Shape::Random {
            pointers = shape.make(nodes, &mut rng);
        }
        trial.draw_priorities(&mut rng)?;
        trial.attempt(&pointers, Operation::sample(nodes as Node, &mut rng))?;
    }
    Ok(trial.verdict)
}

/// A model being tried, case by case.
struct Trial<'a> {
    model: &'a Model,
    /// Whether the model compares priorities.
    compares: bool,
    task: &'a Task,
    /// All zero if the model does not compare them.
    priorities: Vec<f32>,
    state: pgn_engine::State,
    depths: Vec<u32>,
    verdict: Verdict,
}

impl<'a> Trial<'a> {
    fn new(model: &'a Model, task: &'a Task, cases: &str, nodes: usize) -> Result<Trial<'a>> {
        let Some(settings) = model.config().iterated() else {
            return Err(Error::request(
                "a recurrent model cannot be verified: it carries latents from one operation to the \
                 next, so it cannot be tried from every state; pgn-exact and pgn-machine can",
            ));
        };
        if nodes < 2 {
            return Err(Error::request(format!("{nodes} nodes are too few; expected at least 2")));
        }
        let priorities = vec![0.0; nodes];
        let state = model.start_with(&priorities)?;
        let verdict = Verdict::new(cases, nodes);
        let compares = settings.compare_priorities;
        Ok(Trial { model, compares, task, priorities, state, depths: Vec::new(), verdict })
    }

    /// Other priorities, if the model compares them.
    fn set_priorities(&mut self, mut of_node: impl FnMut(usize) -> f32) -> Result<()> {
        if self.compares {
            let priorities = self.priorities.iter_mut().enumerate();
            priorities.for_each(|(node, priority)| *priority = of_node(node));
            self.state = self.model.start_with(&self.priorities)?;
        }
        Ok(())
    }

    fn draw_priorities(&mut self, rng: &mut Rng) -> Result<()> {
        self.set_priorities(|_| rng.unit_f32())
    }

    /// Only the order of the participants' priorities can matter: u, v and the nodes above them.
    fn attempt_in_every_order(&mut self, before: &[Node], operation: Operation) -> Result<()> {
        if !self.compares {
            return self.attempt(before, operation);
        }
        let mut participants = Vec::new();
        for mut node in [operation.u, operation.v] {
            while !participants.contains(&node) {
                participants.push(node);
                node = before[node as usize];
            }
        }
        let count = participants.len();
        for code in 0..(1..=count).product() {
            // The digits of `code` in the factorial number system are places among those left.
            let (mut rest, mut left): (usize, Vec<usize>) = (code, (0..count).collect());
            let mut ranks = vec![count; before.len()];
            for (place, &node) in participants.iter().enumerate() {
                ranks[node as usize] = left.remove(rest % (count - place));
                rest /= count - place;
            }
            self.set_priorities(|node| ranks[node] as f32)?;
            self.attempt(before, operation)?;
        }
        Ok(())
    }

    fn attempt(&mut self, before: &[Node], operation: Operation) -> Result<()> {
        let truth = OwnedTransition::of(self.task, &self.priorities, before, operation)?;
        let truth = truth.get();
        self.state.set_pointers(before)?;
        let guess = self.state.apply(operation)?.value();
        let verdict = &mut self.verdict;
        verdict.transitions += 1;
        verdict.max_steps = verdict.max_steps.max(self.state.processor_steps());
        forest::depths_into(before, &mut self.depths);
        verdict.depth = verdict.depth.max(self.depths.iter().copied().max().unwrap_or(0));
        if guess != (truth.answer == 1) || self.state.pointers() != truth.after {
            verdict.wrong += 1;
            verdict.failure.get_or_insert_with(|| Failure {
                before: before.to_vec(),
                u: operation.u,
                v: operation.v,
                answer: truth.answer == 1,
                guess,
                after: truth.after.to_vec(),
                guessed: self.state.pointers().to_vec(),
            });
        }
        Ok(())
    }
}

/// Whether no pointers form a cycle but those of roots to themselves.
fn is_forest(pointers: &[Node]) -> bool {
    let points_to_itself = |node: Node| pointers[node as usize] == node;
    (0..pointers.len() as Node).all(|start| {
        let mut node = start;
        for _ in 0..pointers.len() {
            node = pointers[node as usize];
        }
        points_to_itself(node)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_forests_as_cayley_says() {
        for n in 1..=5usize {
            let codes = n.pow(n as u32);
            let forests = (0..codes).filter(|code| {
                let pointers: Vec<Node> =
                    (0..n).map(|i| (code / n.pow(i as u32) % n) as Node).collect();
                is_forest(&pointers)
            });
            assert_eq!(forests.count(), (n + 1).pow(n as u32 - 1));
        }
    }

    #[test]
    fn shapes_are_forests_of_the_depth_they_promise() {
        let mut rng = Rng::new([0; 4]);
        for nodes in 2..20 {
            for shape in Shape::ALL {
                let pointers = shape.make(nodes, &mut rng);
                assert!(is_forest(&pointers), "{shape:?} {pointers:?}");
                let depth = forest::depths(&pointers).into_iter().max().unwrap() as usize;
                match shape {
                    Shape::Chain => assert_eq!(depth, nodes - 1),
                    Shape::TwoChains => assert_eq!(depth, (nodes - nodes / 2).max(1) - 1),
                    Shape::Broom => assert_eq!(depth, nodes / 2),
                    Shape::Star => assert_eq!(depth, 1),
                    Shape::Random => {}
                }
            }
        }
    }
}
