//! Data structures as programs, one a file.

use std::sync::Arc;

mod dsu;
mod forest;
mod heap;
mod lct;
mod splay;

pub use dsu::Dsu;
pub use forest::Forest;
pub use heap::Heap;
pub use lct::Lct;
pub use splay::Splay;

use crate::Program;

/// The names of all programs here.
pub const NAMES: [&str; 5] = ["dsu", "lct", "forest", "splay", "heap"];

/// The program of this name.
pub fn named(name: &str) -> Option<Arc<dyn Program>> {
    Some(match name {
        "dsu" => Arc::new(Dsu::new()),
        "lct" => Arc::new(Lct::new()),
        "forest" => Arc::new(Forest::new()),
        "splay" => Arc::new(Splay::new()),
        "heap" => Arc::new(Heap::new()),
        _ => return None,
    })
}
