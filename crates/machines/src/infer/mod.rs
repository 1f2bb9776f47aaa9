//! Programs inferred from ordinary code: states, registers and lenses are found, not given.
//!
//! [`Code`] is a data structure as one would write it, over a [`CodeMemory`] that notes loads,
//! stores and comparisons. [`Inference`] turns what it noted into a [`Program`](crate::Program):
//!
//! 1. States: what is just after the same access at the same program point; or, if program points
//!    are not told, nodes of the tree of all traces, merged as long as what follows is explained.
//! 2. What a state does next: a decision tree over what was found at earlier states.
//! 3. Registers: one for every value that is needed later, shared where two are never needed at
//!    once.
//! 4. Operations on which the program differs from the code are new traces, until none is found.
//!
//! That the program equals the code is tested, on random and adversarial operations. What a proof
//! says of the program does not depend on it.
//!
//! ```
//! use std::sync::Arc;
//! use pgn_machines::infer::{Code, CodeMemory, Inference};
//! use pgn_machines::{Machine, Outcome, Result, Signature};
//!
//! /// Lists: `put` hangs y below x, where both are ends; `last` walks to the end.
//! struct Chain(Signature);
//!
//! impl Code for Chain {
//!     fn signature(&self) -> &Signature {
//!         &self.0
//!     }
//!
//!     fn run(&self, operation: usize, list: &mut CodeMemory, on: &[u32]) -> Result<Outcome> {
//!         let mut x = on[0];
//!         if operation == 1 {
//!             if x != on[1] && list.load(x, 0).is_none() && list.load(on[1], 0).is_none() {
//!                 list.store(x, 0, Some(on[1]));
//!             }
//!             return Ok(Outcome::Done);
//!         }
//!         while let Some(next) = list.load(x, 0) {
//!             x = next;
//!         }
//!         Ok(Outcome::Node(Some(x)))
//!     }
//! }
//!
//! let names = Signature::new("chain")
//!     .pointers(&["next"])
//!     .registers(&["x", "y"])
//!     .operation("last", "", &["x"], &[])
//!     .operation("put", "", &["x", "y"], &[]);
//! let code: Arc<dyn Code> = Arc::new(Chain(names));
//! let learned = Inference::default().infer(&code, &mut |_| {})?;
//! assert_eq!(learned.program.size().0, 4); // states
//! let machine = Machine::new(Arc::new(learned.program))?;
//! # assert!(machine.consistent().len() > 4);
//! # Ok::<(), pgn_machines::Error>(())
//! ```

mod automaton;
mod blocks;
mod program;
mod registers;
mod search;
mod trace;
mod trees;

pub use program::Inferred;
pub use search::{Inference, InferenceProgress, Learned};
pub use trace::{Access, Calls, Code, CodeMemory, Event, Found};
