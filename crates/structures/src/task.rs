//! Tasks: named ways to make fresh structures.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    Bst, Dsu, Error, Feature, Kruskal, LinkCutTree, Linking, MoveToFront, OnlineMsf, Operation,
    OperationError, OperationKind, PointerStructure, Result, Ring, RootedForest, Schema, Split,
    TaskText,
};

/// A data structure to learn: makes fresh instances of it, one per thread that needs one.
///
/// ```
/// use pgn_structures::{Dsu, Task};
///
/// let built_in = Task::named("dsu")?;
/// let own = Task::new(Dsu::default); // or any other `PointerStructure`
/// assert_eq!(built_in.name(), own.name());
/// # Ok::<(), pgn_structures::Error>(())
/// ```
#[derive(Clone)]
pub struct Task {
    name: Arc<str>,
    text: Arc<TaskText>,
    kinds: Arc<[OperationKind]>,
    schema: Arc<Schema>,
    features: Arc<[Feature]>,
    make: Arc<dyn Fn() -> Box<dyn PointerStructure> + Send + Sync>,
    /// Set by whoever wants sampling to end early.
    stop: Option<Arc<AtomicBool>>,
}

type Make = fn() -> Box<dyn PointerStructure>;

/// The tasks that [`Task::named`] knows: a line here is all there is to registering one. The
/// paper's come first, in its order; everything else about a task is in its structure's file.
const REGISTRY: &[(&str, Origin, Make)] = &[
    ("dsu", Origin::Paper, || Box::new(Dsu::default())),
    ("lct", Origin::Paper, || Box::new(<LinkCutTree>::default())),
    ("dsu-by-size", Origin::Beyond, || Box::new(Dsu::linking(Linking::Size))),
    ("dsu-by-rank", Origin::Beyond, || Box::new(Dsu::linking(Linking::Rank))),
    ("dsu-ordered", Origin::Beyond, || Box::new(Dsu::linking(Linking::Operands))),
    ("kruskal", Origin::Beyond, || Box::new(Kruskal::default())),
    ("forest", Origin::Beyond, || Box::new(RootedForest::default())),
    ("msf", Origin::Beyond, || Box::new(OnlineMsf::default())),
    ("bst", Origin::Beyond, || Box::new(Bst::default())),
    ("mtf", Origin::Beyond, || Box::new(MoveToFront::default())),
    ("ring", Origin::Beyond, || Box::new(Ring::default())),
];

/// The tasks that this process was given by [`Task::register`] and [`Task::build_in`].
static REGISTERED: RwLock<Vec<(Origin, Task)>> = RwLock::new(Vec::new());

/// Where a task comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Paper,
    Beyond,
    User,
    /// A user's, which may be replaced and is not listed.
    Program,
}

impl Task {
    /// The task of imitating what `make` makes.
    pub fn new<S: PointerStructure + 'static>(
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        Task::boxed(move || Box::new(make()))
    }

    /// [`Task::new`] for structures whose type is not known when compiling.
    pub fn boxed(make: impl Fn() -> Box<dyn PointerStructure> + Send + Sync + 'static) -> Self {
        let sample = make();
        Task {
            name: sample.name().into(),
            text: sample.about().into(),
            kinds: sample.kinds().into(),
            schema: sample.schema().into(),
            features: sample.features().into(),
            make: Arc::new(make),
            stop: None,
        }
    }

    /// A copy of this task whose sampling and replaying end with an error once the flag is set.
    pub fn until(&self, stop: &Arc<AtomicBool>) -> Self {
        Task { stop: Some(Arc::clone(stop)), ..self.clone() }
    }

    /// An error if the flag of [`Task::until`] is set.
    pub(crate) fn check_stop(&self) -> Result<()> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => {
                Err(Error::structure(self.name(), "was interrupted"))
            }
            _ => Ok(()),
        }
    }

    /// Lets [`Task::named`] find this task, in this process: what a program with structures of its
    /// own does first. Refuses a name that is taken.
    ///
    /// ```
    /// use pgn_structures::{Dsu, Task};
    ///
    /// assert!(Task::new(Dsu::default).register().is_err()); // there is a `dsu`
    /// ```
    pub fn register(self) -> Result<()> {
        let name = self.name.clone();
        match self.add(Origin::User) {
            true => Ok(()),
            false => Err(Error::Request(format!(
                "there is a task '{name}' already; expected another name"
            ))),
        }
    }

    /// Lets [`Task::named`] find this task in place of an earlier one that was registered by this
    /// function; false if another task has its name. [`Task::all`] does not list it.
    pub fn register_again(self) -> bool {
        self.add(Origin::Program)
    }

    /// Lets [`Task::named`] find this task as a built-in one: for the crates of this project that
    /// bring structures of their own. A task of that name that is there already stays.
    pub fn build_in(self) {
        self.add(Origin::Beyond);
    }

    /// Makes the task known; false if there is one of its name that it may not replace.
    fn add(self, origin: Origin) -> bool {
        let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
        if origin == Origin::Program {
            registered.retain(|(old, task)| *old != Origin::Program || task.name != self.name);
        }
        let taken = REGISTRY.iter().any(|(name, ..)| *name == self.name())
            || registered.iter().any(|(_, task)| task.name == self.name);
        if !taken {
            registered.push((origin, self));
        }
        !taken
    }

    /// A task by its name: built in, or [registered](Task::register).
    pub fn named(name: &str) -> Result<Self> {
        if let Some((.., make)) = REGISTRY.iter().find(|(known, ..)| *known == name) {
            return Ok(Task::boxed(make));
        }
        Task::listed(|_| true).find(|task| task.name() == name).ok_or_else(|| {
            let known: Vec<String> = Task::all().map(|task| task.name().to_owned()).collect();
            Error::UnknownTask { name: name.to_string(), known: known.join(", ") }
        })
    }

    /// The names of the built-in tasks, the paper's first.
    pub fn names() -> impl Iterator<Item = String> {
        let others = Task::listed(|origin| origin == Origin::Beyond);
        let first = REGISTRY.iter().map(|(name, ..)| name.to_string());
        first.chain(others.map(|task| task.name().to_owned()))
    }

    /// All tasks: the paper's, other built-in ones, [registered](Task::register) ones.
    pub fn all() -> impl Iterator<Item = Task> {
        let first = REGISTRY.iter().map(|(.., make)| Task::boxed(make));
        let others = Task::listed(|origin| origin == Origin::Beyond);
        first.chain(others).chain(Task::listed(|origin| origin == Origin::User))
    }

    /// Those of [`REGISTERED`] whose origin is `wanted`.
    fn listed(wanted: fn(Origin) -> bool) -> impl Iterator<Item = Task> {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone();
        registered.into_iter().filter(move |(origin, _)| wanted(*origin)).map(|(_, task)| task)
    }

    /// Whether it has the name of a built-in task.
    pub fn is_built_in(&self) -> bool {
        Task::names().any(|name| name == self.name())
    }

    /// The names of the paper's tasks, in its order.
    pub fn of_paper() -> impl Iterator<Item = &'static str> {
        REGISTRY.iter().filter(|(_, origin, _)| *origin == Origin::Paper).map(|(name, ..)| *name)
    }

    /// What data-set files call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is called, for people.
    pub fn text(&self) -> &TaskText {
        &self.text
    }

    /// The structure as a heading, such as "Disjoint-set union".
    pub fn title(&self) -> &str {
        &self.text.title
    }

    /// The name of its operation, such as "query-union".
    pub fn operation(&self) -> &str {
        &self.text.operation
    }

    /// One line of help.
    pub fn summary(&self) -> &str {
        &self.text.summary
    }

    /// What the answers 0 and 1 mean.
    pub fn answers(&self) -> [&str; 2] {
        self.text.answers.each_ref().map(String::as_str)
    }

    /// Whether it is one of the paper's tasks.
    pub fn is_in_paper(&self) -> bool {
        Task::of_paper().any(|name| name == self.name())
    }

    /// What a node holds.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What a node is told about an operation.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The kinds of operations.
    pub fn kinds(&self) -> &[OperationKind] {
        &self.kinds
    }

    /// Whether its operations differ from the paper's, which are of one kind on two nodes.
    pub fn has_kinds(&self) -> bool {
        !OperationKind::is_plain(&self.kinds)
    }

    /// Whether its sequences come with a graph.
    pub fn has_input_graph(&self) -> bool {
        let mut structure = self.make();
        structure.reset(&[0.25, 0.75]);
        !structure.input_graph(2, 1, &mut Split::Given.rng(0, 2, 0)).is_empty()
    }

    /// Refuses an operation that the task does not have, or operands that it does not take.
    pub fn check(
        &self,
        operation: Operation,
        nodes: usize,
    ) -> std::result::Result<(), OperationError> {
        OperationKind::check(&self.kinds, operation, nodes)
    }

    /// A fresh structure, to be [`reset`](PointerStructure::reset) before use.
    pub fn make(&self) -> Box<dyn PointerStructure> {
        (self.make)()
    }
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("name", &self.name).field("features", &self.features).finish()
    }
}

impl std::str::FromStr for Task {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Task::named(name)
    }
}
