//! `pgn._native`: what the Python package `pgn` calls. `python/pgn` has what its users call.
//!
//! Thin on purpose: arrays come in as borrowed slices and go out by moving vectors into numpy;
//! settings and scores pass as JSON; everything else is the other crates' work. The interpreter's
//! lock is released wherever there is work to do.

mod command_line;
mod dataset;
mod error;
mod machine;
mod machine_values;
mod model;
mod node;
mod ordinary;
mod pool;
mod program;
mod rng;
mod rollout;
mod score;
mod state;
mod structures;
mod suite;
mod sweep;
mod train;
mod unfinished;
mod user_structure;
mod viewer;
mod work;

use pyo3::prelude::*;

/// The native half of `pgn`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    pgn_machines::programs::build_in_tasks();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<structures::DisjointSet>()?;
    module.add_class::<structures::LinkCutTree>()?;
    module.add_class::<structures::RootedForest>()?;
    module.add_class::<rng::Rng>()?;
    module.add_class::<user_structure::Recorded>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<machine::Registered>()?;
    module.add_class::<machine::Machine>()?;
    module.add_class::<machine::MachineMemory>()?;
    module.add_class::<state::State>()?;
    for function in [
        wrap_pyfunction!(command_line::main, module)?,
        wrap_pyfunction!(command_line::check_class, module)?,
        wrap_pyfunction!(command_line::register_task, module)?,
        wrap_pyfunction!(dataset::sample, module)?,
        wrap_pyfunction!(dataset::replay, module)?,
        wrap_pyfunction!(dataset::given_priorities, module)?,
        wrap_pyfunction!(dataset::load_dataset, module)?,
        wrap_pyfunction!(dataset::save_dataset, module)?,
        wrap_pyfunction!(dataset::statistics, module)?,
        wrap_pyfunction!(rollout::save_rollout, module)?,
        wrap_pyfunction!(score::score, module)?,
        wrap_pyfunction!(viewer::player, module)?,
        wrap_pyfunction!(viewer::pretrained, module)?,
        wrap_pyfunction!(suite::suite_sets, module)?,
        wrap_pyfunction!(suite::suite_make, module)?,
        wrap_pyfunction!(suite::suite_save, module)?,
        wrap_pyfunction!(suite::suite_score, module)?,
        wrap_pyfunction!(suite::suite_table, module)?,
        wrap_pyfunction!(sweep::sweep_list, module)?,
        wrap_pyfunction!(sweep::sweep_run, module)?,
        wrap_pyfunction!(sweep::sweep_tables, module)?,
        wrap_pyfunction!(machine::built_in_machine, module)?,
        wrap_pyfunction!(machine::built_in_machines, module)?,
        wrap_pyfunction!(train::resolve, module)?,
        wrap_pyfunction!(train::train, module)?,
        wrap_pyfunction!(unfinished::unfinished, module)?,
        wrap_pyfunction!(model::with_paths, module)?,
        wrap_pyfunction!(user_structure::tasks, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
