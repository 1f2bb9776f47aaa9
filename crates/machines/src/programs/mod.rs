//! Data structures as programs, one a file.

mod dsu;

pub use dsu::Dsu;
