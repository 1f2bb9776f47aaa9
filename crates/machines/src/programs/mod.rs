//! Data structures as programs, one a file.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

mod dsu;
mod forest;
mod heap;
mod lct;
mod splay;
mod tree;

pub use dsu::dsu;
pub use forest::forest;
pub use heap::heap;
pub use lct::lct;
pub use splay::splay;

use crate::{Error, Program, Result};

/// Programs that come from elsewhere.
static REGISTERED: RwLock<Option<HashMap<String, Arc<dyn Program>>>> = RwLock::new(None);

/// The names of all programs here.
pub const NAMES: [&str; 5] = ["dsu", "lct", "forest", "splay", "heap"];

/// What a program here is, in a few words.
///
/// ```
/// use pgn_machines::programs;
/// assert!(programs::NAMES.iter().all(|name| programs::summary(name).is_some()));
/// ```
pub fn summary(name: &str) -> Option<&'static str> {
    Some(match name {
        "dsu" => "disjoint-set union with path compression",
        "lct" => "link/cut tree",
        "forest" => "rooted forest whose paths are reversed",
        "splay" => "splay tree: a search tree that moves what it finds to the root",
        "heap" => "pairing heap: a priority queue that can be merged",
        _ => return None,
    })
}

/// The program of this name.
pub fn named(name: &str) -> Option<Arc<dyn Program>> {
    Some(match name {
        "dsu" => Arc::new(dsu()),
        "lct" => Arc::new(lct()),
        "forest" => Arc::new(forest()),
        "splay" => Arc::new(splay()),
        "heap" => Arc::new(heap()),
        _ => {
            let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
            return registered.as_ref()?.get(name).cloned();
        }
    })
}

/// Makes a program from elsewhere, another language for example, known to [`named`] in this
/// process. It takes the place of an earlier one of its name, but not of those in [`NAMES`].
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
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.get_or_insert_default().insert(name, program);
    Ok(())
}
