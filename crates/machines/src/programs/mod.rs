//! Data structures as programs, one a file.

use std::{
    collections::HashMap,
    sync::{Arc, Once, PoisonError, RwLock},
};

// Not by the macro below, so that rustfmt finds them.
mod dsu;
mod forest;
mod heap;
mod lct;
mod splay;
mod tree;

use crate::{Error, Program, Result, task};

/// Programs that come from elsewhere.
static REGISTERED: RwLock<Option<HashMap<String, Arc<dyn Program>>>> = RwLock::new(None);

/// The one list of built-in programs, each of which is a file here with a function of its name:
/// calls a macro with their names. `pgn-lab` has a trained machine of each.
#[macro_export]
macro_rules! with_built_in_programs {
    ($then:ident) => {
        $then!(dsu, lct, forest, splay, heap);
    };
}

macro_rules! programs {
    ($($name:ident),*) => {
        $(pub use $name::$name;)*

        /// The names of all programs here.
        pub const NAMES: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];

        fn built_in(name: &str) -> Option<Arc<dyn Program>> {
            $(if name == stringify!($name) {
                return Some(Arc::new($name()));
            })*
            None
        }
    };
}

with_built_in_programs!(programs);

/// The program of this name.
pub fn named(name: &str) -> Option<Arc<dyn Program>> {
    built_in(name).or_else(|| {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        registered.as_ref()?.get(name).cloned()
    })
}

/// Lets [`Task::named`](pgn_structures::Task::named) find every program here, unless there is a hand-written structure of its
/// name, which is faster and independent of the program. Whatever takes names of tasks from users
/// calls this first; all calls but the first do nothing.
///
/// ```
/// pgn_machines::programs::build_in_tasks();
/// assert_eq!(pgn_structures::Task::named("heap")?.kinds().len(), 3);
/// # Ok::<(), pgn_structures::Error>(())
/// ```
pub fn build_in_tasks() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        for program in NAMES.into_iter().filter_map(named) {
            if let Ok(task) = task(program) {
                task.build_in();
            }
        }
    });
}

/// Makes a program from elsewhere, another language for example, known to [`named`] in this
/// process, and to [`Task::named`](pgn_structures::Task::named) if its operations are those of a [`task`]. It takes the place of an earlier one of its name, but not of those in [`NAMES`].
///
/// ```
/// use std::sync::Arc;
/// use pgn_machines::{Definition, Halt, Memory, Signature, programs};
///
/// let signature = Signature::new("nothing")
///     .registers(&["x"])
///     .states(&["start", "end"])
///     .halt("end", Halt::Done)
///     .operation("nothing", "start", &["x"], &[]);
/// programs::register(Arc::new(Definition::new(signature, |_, _: &mut dyn Memory| Some(1))))?;
/// assert!(programs::named("nothing").is_some());
/// assert!(programs::register(Arc::new(programs::dsu())).is_err());
/// # Ok::<(), pgn_machines::Error>(())
/// ```
pub fn register(program: Arc<dyn Program>) -> Result<()> {
    let name = program.signature().name.clone();
    if NAMES.contains(&&*name) {
        return Err(Error::Program(format!(
            "the program `{name}` has the name of a built-in one; choose another name"
        )));
    }
    program.signature().check().map_err(Error::Program)?;
    if let Ok(task) = task(program.clone()) {
        task.register_again();
    }
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.get_or_insert_default().insert(name, program);
    Ok(())
}
