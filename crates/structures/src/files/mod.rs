//! Files that are whole or not there: atomic writing, and tensors in `.safetensors` files whose
//! bytes depend on nothing but their contents.

mod atomic;
mod lines;
mod regular;
mod tensors;

pub use atomic::{
    atomic_write, atomic_write_with, check_replaceable, remove_stale, remove_temporaries,
};
pub use lines::{BadLine, Lines};
pub use regular::read_regular;
pub use tensors::{TensorReader, TensorWriter};
