//! Tasks: named ways to make fresh structures.

use std::sync::Arc;

use crate::{
    About, Dsu, Error, Feature, LinkCutTree, Linking, PointerStructure, Result, RootedForest,
    Schema,
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
    about: Arc<About>,
    schema: Arc<Schema>,
    features: Arc<[Feature]>,
    make: Arc<dyn Fn() -> Box<dyn PointerStructure> + Send + Sync>,
}

type Make = fn() -> Box<dyn PointerStructure>;

/// The tasks that [`Task::named`] knows: a line here is all there is to registering one. The
/// paper's come first, in its order; everything else about a task is in its structure's file.
const REGISTRY: &[(&str, Origin, Make)] = &[
    ("dsu", Origin::Paper, || Box::new(Dsu::default())),
    ("lct", Origin::Paper, || Box::new(<LinkCutTree>::default())),
    ("dsu-ordered", Origin::Beyond, || Box::new(Dsu::linking(Linking::Operands))),
    ("forest", Origin::Beyond, || Box::new(RootedForest::default())),
];

/// Whether a task is one of the paper's two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Paper,
    Beyond,
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
            about: sample.about().into(),
            schema: sample.schema().into(),
            features: sample.features().into(),
            make: Arc::new(make),
        }
    }

    /// A built-in task, one of [`Task::names`].
    pub fn named(name: &str) -> Result<Self> {
        match REGISTRY.iter().find(|(known, ..)| *known == name) {
            Some((.., make)) => Ok(Task::boxed(make)),
            None => {
                let known = Task::names().collect::<Vec<_>>().join(", ");
                Err(Error::UnknownTask { name: name.to_string(), known })
            }
        }
    }

    /// The names [`Task::named`] knows, the paper's first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        REGISTRY.iter().map(|(name, ..)| *name)
    }

    /// All built-in tasks, the paper's first.
    pub fn all() -> impl Iterator<Item = Task> {
        REGISTRY.iter().map(|(.., make)| Task::boxed(make))
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
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The structure as a heading, such as "Disjoint-set union".
    pub fn title(&self) -> &str {
        &self.about.title
    }

    /// The name of its operation, such as "query-union".
    pub fn operation(&self) -> &str {
        &self.about.operation
    }

    /// One line of help.
    pub fn summary(&self) -> &str {
        &self.about.summary
    }

    /// What the answers 0 and 1 mean.
    pub fn answers(&self) -> [&str; 2] {
        self.about.answers.each_ref().map(String::as_str)
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
