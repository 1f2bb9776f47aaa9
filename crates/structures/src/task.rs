//! Tasks: named ways to make fresh structures.

use std::sync::Arc;

use crate::{Dsu, Error, Feature, LinkCutTree, Linking, PointerStructure, Result, RootedForest};

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
    features: Arc<[Feature]>,
    make: Arc<dyn Fn() -> Box<dyn PointerStructure> + Send + Sync>,
}

type Make = fn() -> Box<dyn PointerStructure>;

/// The tasks that [`Task::named`] knows: this table is all there is to registering one.
const REGISTRY: &[(&str, Make)] = &[
    ("dsu", || Box::new(Dsu::default())),
    ("lct", || Box::new(<LinkCutTree>::default())),
    ("dsu-ordered", || Box::new(Dsu::linking(Linking::Operands))),
    ("forest", || Box::new(RootedForest::default())),
];

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
            features: sample.features().into(),
            make: Arc::new(make),
        }
    }

    /// A built-in task: `dsu`, `lct`, `dsu-ordered` or `forest`.
    pub fn named(name: &str) -> Result<Self> {
        match REGISTRY.iter().find(|(known, _)| *known == name) {
            Some((_, make)) => Ok(Task::boxed(make)),
            None => {
                let known = Task::names().collect::<Vec<_>>().join(", ");
                Err(Error::UnknownTask { name: name.to_string(), known })
            }
        }
    }

    /// The names [`Task::named`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        REGISTRY.iter().map(|(name, _)| *name)
    }

    /// What data-set files call it.
    pub fn name(&self) -> &str {
        &self.name
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
