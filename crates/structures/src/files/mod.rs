//! Files that are whole or not there: atomic writing, and tensors in `.safetensors` files whose
//! bytes depend on nothing but their contents.

mod atomic;
mod tensors;

pub use atomic::{atomic_write, atomic_write_with};
pub use tensors::{TensorReader, TensorWriter};
