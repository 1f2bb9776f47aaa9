//! What help texts say about tasks, from the tasks themselves.

use pgn_structures::Task;

/// `lead: dsu (what it is), lct (what it is) or …`, then `tail`.
pub fn help(lead: &str, tail: &str) -> String {
    let tasks: Vec<String> =
        Task::all().map(|task| format!("{} ({})", task.name(), task.summary())).collect();
    let list = match tasks.split_last() {
        Some((last, [_, ..])) => {
            format!("{} or {last}", tasks[..tasks.len() - 1].join(", "))
        }
        _ => tasks.concat(),
    };
    format!("{lead}: {list}{tail}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_task_is_in_the_help() {
        let text = super::help("The data structure", " [default: dsu]");
        assert!(text.starts_with("The data structure: dsu (disjoint-set union"), "{text}");
        for name in pgn_structures::Task::names() {
            assert!(text.contains(&format!("{name} (")), "{text}");
        }
        assert!(text.contains(") or ") && text.ends_with(") [default: dsu]"), "{text}");
    }
}
