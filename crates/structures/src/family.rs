//! Families of operations: the same task with operands drawn in other ways.

use crate::{
    Edge, Error, Feature, Node, Operation, OperationKind, PointerStructure, Result, Rng, Schema,
    Task, TaskText, Visited,
};

/// How the operands of a sequence are drawn.
///
/// A family is a graph on the nodes, in order of their priorities: operands u and v are the ends
/// of an edge of it, and operations on a single node walk along its edges. Which kind of operation
/// comes next is drawn as always.
///
/// ```
/// use pgn_structures::{Dataset, Family, Sampling, Task};
///
/// let star = Task::named("dsu")?.in_family(Family::Star);
/// let set = Dataset::sample(&star, &Sampling::paper(20))?;
/// let ends = |t: usize| [set.operations[t].u, set.operations[t].v];
/// let hub = ends(0).into_iter().find(|node| ends(1).contains(node)).unwrap();
/// assert!((0..30).all(|t| ends(t).contains(&hub)));
/// # Ok::<(), pgn_structures::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// As the task draws them: mostly uniform.
    Random,
    /// Neighbours on a path.
    Path,
    /// One node in the middle, and any other.
    Star,
    /// Nodes that are at most [`NEAR`] apart, on a ring.
    Local,
    /// The structure's bad cases ([`PointerStructure::adversary`]). Where it has none of its own:
    /// pairs that link all nodes in a chain, then pairs of its opposite ends; single nodes from
    /// alternating ends.
    Adversarial,
}

/// How far apart the operands of [`Family::Local`] are at most.
pub const NEAR: usize = 3;

/// How many operands are proposed before the task's own are taken.
const PROPOSALS: usize = 8;

impl Family {
    /// All families.
    pub const ALL: [Family; 5] =
        [Family::Random, Family::Path, Family::Star, Family::Local, Family::Adversarial];

    /// Its name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Random => "random",
            Family::Path => "path",
            Family::Star => "star",
            Family::Local => "local",
            Family::Adversarial => "adversarial",
        }
    }

    /// A neighbour of `place`, one of `places` ≥ 2 in order.
    fn neighbour(self, place: usize, places: usize, rng: &mut Rng) -> usize {
        let below = |n: usize, rng: &mut Rng| rng.below(n as u32) as usize;
        let hub = places / 2;
        match self {
            Family::Path if place == 0 => 1,
            Family::Path if place + 1 == places => place - 1,
            Family::Path => place + 1 - 2 * below(2, rng),
            Family::Star if place != hub => hub,
            Family::Local => {
                let by = 1 + below(NEAR.min(places - 1), rng);
                (place + if rng.below(2) == 0 { by } else { places - by }) % places
            }
            Family::Star | Family::Random | Family::Adversarial => {
                let other = below(places - 1, rng);
                other + usize::from(other >= place)
            }
        }
    }

    /// The places of two operands, in the order given.
    fn pair(self, step: usize, places: usize, rng: &mut Rng) -> [usize; 2] {
        if self == Family::Adversarial {
            return match step + 1 < places {
                true => [step, step + 1],
                false => {
                    let inwards = (step + 1 - places) % (places / 2);
                    [inwards, places - 1 - inwards]
                }
            };
        }
        let start = match self {
            Family::Star => places / 2,
            _ => rng.below(places as u32) as usize,
        };
        let end = self.neighbour(start, places, rng);
        if rng.below(2) == 0 { [start, end] } else { [end, start] }
    }

    /// The place of a single operand, after `last`.
    fn single(self, last: Option<usize>, step: usize, places: usize, rng: &mut Rng) -> usize {
        match (self, last) {
            (Family::Adversarial, _) => alternating(step, places),
            (_, None) => rng.below(places as u32) as usize,
            (_, Some(last)) => self.neighbour(last, places, rng),
        }
    }
}

/// From alternating ends towards the middle, again and again: 0, n − 1, 1, n − 2, …
pub(crate) fn alternating(step: usize, places: usize) -> usize {
    let (step, from_end) = (step % places, step % places % 2 == 1);
    if from_end { places - 1 - step / 2 } else { step / 2 }
}

impl Task {
    /// Draws the operations of this task from a family; its name stays.
    pub fn in_family(&self, family: Family) -> Task {
        if family == Family::Random {
            return self.clone();
        }
        let task = self.clone();
        Task::boxed(move || {
            let inner = task.make();
            let (order, places, script) = (Vec::new(), Vec::new(), Vec::new());
            Box::new(InFamily { inner, family, order, places, step: 0, last: None, script })
        })
    }
}

/// A structure that draws its operations from a family, and is the inner one otherwise.
struct InFamily {
    inner: Box<dyn PointerStructure>,
    family: Family,
    /// The nodes that operands are drawn from, by priority.
    order: Vec<Node>,
    /// The place of every node in that order.
    places: Vec<usize>,
    /// Operations so far.
    step: usize,
    /// The place of the last operation's second operand.
    last: Option<usize>,
    /// All operations, where they are the edges of an input graph.
    script: Vec<Operation>,
}

impl InFamily {
    /// Draws an operation in place of `drawn`.
    fn draw(&self, drawn: Operation, rng: &mut Rng) -> Operation {
        let handles = self.inner.handles();
        let adversary = || self.inner.adversary(self.step, &self.order);
        if let (Family::Adversarial, Some(operation)) = (self.family, adversary()) {
            return operation;
        }
        let Operation { u, v, kind } = drawn;
        let places = self.order.len();
        if places < 2 || u.max(v) < handles {
            return drawn;
        }
        let mut last = self.last;
        for _ in 0..PROPOSALS {
            let proposed = if u == v || u.min(v) < handles {
                let place = self.family.single(last, self.step, places, rng);
                last = Some(place);
                let node = self.order[place];
                let fixed = |operand: Node| if operand < handles { operand } else { node };
                Operation::of_kind(kind, fixed(u), fixed(v))
            } else {
                let [a, b] = self.family.pair(self.step, places, rng).map(|i| self.order[i]);
                Operation::of_kind(kind, a, b)
            };
            if self.inner.allows(proposed) {
                return proposed;
            }
        }
        drawn
    }
}

impl PointerStructure for InFamily {
    fn reset(&mut self, priorities: &[f32]) {
        self.inner.reset(priorities);
        let handles = self.inner.handles();
        self.order = (handles..priorities.len() as Node).collect();
        let key = |node: Node| priorities[node as usize];
        self.order.sort_by(|&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        self.places = vec![0; priorities.len()];
        for (place, &node) in self.order.iter().enumerate() {
            self.places[node as usize] = place;
        }
        (self.step, self.last) = (0, None);
        self.script.clear();
    }

    /// As many edges as operations, the lightest first, some perhaps several times.
    fn input_graph(&mut self, nodes: Node, ops: usize, rng: &mut Rng) -> Vec<Edge> {
        if self.inner.input_graph(nodes, ops, rng).is_empty() {
            return Vec::new();
        }
        for step in 0..ops {
            self.step = step;
            let operation = self.draw(self.inner.sample(nodes, rng), rng);
            self.script.push(operation);
        }
        self.step = 0;
        let weighed = self.script.iter().enumerate();
        weighed
            .map(|(t, &Operation { u, v, .. })| Edge { u, v, weight: t as f32 / ops as f32 })
            .collect()
    }

    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        match self.step.checked_rem(self.script.len()) {
            Some(next) => self.script[next],
            None => self.draw(self.inner.sample(nodes, rng), rng),
        }
    }

    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> Result<bool> {
        self.step += 1;
        if operation.v >= self.inner.handles() {
            self.last = Some(self.places[operation.v as usize]);
        }
        self.inner.apply(operation, visited)
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn about(&self) -> TaskText {
        self.inner.about()
    }

    fn schema(&self) -> Schema {
        self.inner.schema()
    }

    fn features(&self) -> &[Feature] {
        self.inner.features()
    }

    fn kinds(&self) -> Vec<OperationKind> {
        self.inner.kinds()
    }

    fn pointer(&self, node: Node) -> Node {
        self.inner.pointer(node)
    }

    fn pointers(&self, row: &mut [Node]) {
        self.inner.pointers(row);
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        self.inner.start_from(pointers)
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> Result<()> {
        self.inner.pointer_field(field, row)
    }

    fn bit_field(&self, bit: usize, row: &mut [u8]) -> Result<()> {
        self.inner.bit_field(bit, row)
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Family {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Family::ALL.into_iter().find(|family| family.name() == name).ok_or_else(|| {
            let known = Family::ALL.map(Family::name).join(", ");
            Error::Request(format!("there is no family '{name}'; expected one of {known}"))
        })
    }
}
