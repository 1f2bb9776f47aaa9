//! Data structures as programs, one a file.

use std::sync::Arc;

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

use crate::Program;

/// The names of all programs here.
pub const NAMES: [&str; 5] = ["dsu", "lct", "forest", "splay", "heap"];

/// The program of this name.
pub fn named(name: &str) -> Option<Arc<dyn Program>> {
    Some(match name {
        "dsu" => Arc::new(dsu()),
        "lct" => Arc::new(lct()),
        "forest" => Arc::new(forest()),
        "splay" => Arc::new(splay()),
        "heap" => Arc::new(heap()),
        _ => return None,
    })
}
