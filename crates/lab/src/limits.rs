//! What a machine cannot do is refused in a sentence, before it is tried.

use pgn_engine::Config;

use crate::{Error, Result, RunConfig};

/// The most threads that are worth starting: more than machines have cores.
pub const MAX_THREADS: usize = 1024;

/// Refuses work that certainly needs more memory than there is. `bytes` is a lower bound, so that
/// nothing is refused that would have worked.
///
/// ```
/// use pgn_lab::check_memory;
///
/// check_memory(1e3, "a small table").unwrap();
/// if let Err(error) = check_memory(1e18, "a large table") {
///     assert!(error.to_string().starts_with("a large table takes at least 931322574.6 GiB"));
/// }
/// ```
pub fn check_memory(bytes: f64, what: &str) -> Result<()> {
    match available_memory() {
        Some(available) if bytes > available as f64 => Err(Error::request(format!(
            "{what} takes at least {}, but there are only {} of memory",
            gibibytes(bytes),
            gibibytes(available as f64)
        ))),
        _ => Ok(()),
    }
}

/// Refuses to train what does not fit in memory: a thread keeps the latents z, m and h of every
/// node at every step of its sequence for the backward pass.
pub(crate) fn check_training(config: &RunConfig) -> Result<()> {
    let threads = rayon::current_num_threads().min(config.batch) as f64;
    let cells = config.data.nodes.iter().zip(&config.data.ops);
    let cells = cells.map(|(&n, &ops)| n as f64 * ops as f64).fold(0.0, f64::max);
    let steps = if config.data.transitions.is_some() { 0.0 } else { cells };
    check_memory(
        threads * steps * 3.0 * latents(&config.network),
        &format!("training on {:?} nodes, {:?} operations", config.data.nodes, config.data.ops),
    )
}

/// Refuses rollouts that do not fit in memory: z, m and h of every node.
pub(crate) fn check_rollouts(network: &Config, nodes: usize, sequences: usize) -> Result<()> {
    if network.iterated().is_some() {
        return Ok(());
    }
    let threads = rayon::current_num_threads().min(sequences) as f64;
    let bytes = threads * nodes as f64 * 3.0 * latents(network);
    check_memory(bytes, &format!("a rollout on {nodes} nodes"))
}

/// Bytes of the latents of one node.
fn latents(network: &Config) -> f64 {
    network.k as f64 * size_of::<f32>() as f64
}

fn gibibytes(bytes: f64) -> String {
    format!("{:.1} GiB", bytes / f64::from(1 << 30))
}

/// Bytes of memory that are available without swapping; `None` where that is not known.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    // A control group may allow less.
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some((kibibytes * 1024).min(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_and_what_fits_is_not() {
        let mut config = RunConfig::defaults("dsu", "pgn", 0).unwrap();
        check_training(&config).unwrap();
        check_rollouts(&config.network, 10_000, 35).unwrap();
        (config.data.nodes, config.data.ops) = (vec![1 << 20], vec![1 << 21]);
        let error = check_training(&config).unwrap_err().to_string();
        assert!(error.starts_with("training on [1048576] nodes, [2097152] operations takes at "));
        assert!(error.ends_with("GiB of memory"), "{error}");
    }
}
