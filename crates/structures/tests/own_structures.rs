//! Structures the crate has never heard of: they work, and mistakes in them are reported.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use pgn_structures::{
    Dataset, Error, Feature, Node, Operation, PointerStructure, Result, Rng, Sampling, Task,
    Visited,
};

/// Answers whether u < v, and always works on neighbours; its pointers go `off` by so much.
struct Neighbours {
    nodes: usize,
    off: Node,
}

impl PointerStructure for Neighbours {
    fn name(&self) -> &str {
        "neighbours"
    }

    fn features(&self) -> &[Feature] {
        &[Feature::First, Feature::Second]
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.nodes = priorities.len();
    }

    fn sample(&self, nodes: Node, rng: &mut Rng) -> Operation {
        let u = rng.below(nodes - 1);
        Operation::new(u, u + 1)
    }

    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> Result<bool> {
        visited.insert(operation.v);
        Ok(operation.u < operation.v)
    }

    fn pointer(&self, node: Node) -> Node {
        node + self.off
    }
}

#[test]
fn sampling_uses_only_the_trait() {
    let task = Task::new(|| Neighbours { nodes: 0, off: 0 });
    assert_eq!(task.name(), "neighbours");
    assert_eq!(task.features(), [Feature::First, Feature::Second]);
    let set = Dataset::sample(&task, &Sampling::paper(6)).unwrap();
    assert_eq!(set.task, "neighbours");
    for sequence in set.sequences() {
        for (step, operation) in sequence.operations.iter().enumerate() {
            assert_eq!(operation.v, operation.u + 1);
            assert_eq!(sequence.answers[step], 1);
            let visited = (0..6).filter(|&node| sequence.mask(step)[node] == 0);
            assert!(visited.eq([operation.v as usize]));
            assert_eq!(sequence.pointers_after(step), [0, 1, 2, 3, 4, 5]);
        }
    }
}

/// Counts resets, and sets the flag with its first operation.
struct Interrupted(Arc<AtomicBool>, Arc<AtomicUsize>);

impl PointerStructure for Interrupted {
    fn name(&self) -> &str {
        "interrupted"
    }

    fn reset(&mut self, _: &[f32]) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> Result<bool> {
        self.0.store(true, Ordering::Relaxed);
        visited.insert(operation.u);
        Ok(true)
    }

    fn pointer(&self, node: Node) -> Node {
        node
    }
}

#[test]
fn sampling_ends_early() {
    let (stop, resets) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let shared = (Arc::clone(&stop), Arc::clone(&resets));
    let task = Task::new(move || Interrupted(Arc::clone(&shared.0), Arc::clone(&shared.1)));
    let sampling = Sampling { count: 10_000, ..Sampling::paper(4) };
    let error = Dataset::sample(&task.until(&stop), &sampling).unwrap_err();
    assert!(error.to_string().contains("was interrupted"), "{error}");
    assert!(resets.load(Ordering::Relaxed) < 10_000, "sequences were begun after the interruption");
    // What is not yet filled with zeros is not filled any more.
    assert!(Dataset::sample(&task.until(&stop), &sampling).is_err());
    assert!(Dataset::sample(&task, &sampling).is_ok());
}

/// The registry is the one place that knows what tasks are called.
#[test]
fn every_task_can_be_put_in_words() {
    for task in Task::all() {
        let name = task.name();
        assert_eq!(task.is_in_paper(), ["dsu", "lct"].contains(&name));
        assert!(task.title() != name && task.operation() != name, "{name}");
        assert!(!task.summary().is_empty() && !task.summary().ends_with('.'), "{name}");
        assert_ne!(task.answers()[0], task.answers()[1]);
    }
    let dsu = Task::named("dsu").unwrap();
    assert_eq!((dsu.title(), dsu.operation()), ("Disjoint-set union", "query-union"));
    let own = Task::new(|| Neighbours { nodes: 0, off: 0 });
    assert_eq!((own.title(), own.operation()), ("neighbours", "neighbours"));
    assert_eq!(own.answers(), ["no", "yes"]);
}

#[test]
fn pointers_out_of_range_are_reported() {
    let task = Task::new(|| Neighbours { nodes: 0, off: 1 });
    let error = Dataset::sample(&task, &Sampling::paper(6)).unwrap_err();
    assert!(matches!(error, Error::Structure { .. }));
    let sentence = "the structure `neighbours` made node 5 point to 6, of 6 nodes";
    assert_eq!(error.to_string(), sentence);
}

#[test]
fn unknown_tasks_are_answered_with_the_known_ones() {
    let known = Task::names().collect::<Vec<_>>();
    assert!(known.contains(&"dsu".to_owned()) && known.contains(&"lct".to_owned()));
    for name in &known {
        assert_eq!(Task::named(name).unwrap().name(), name);
    }
    for name in ["dsu", "lct"] {
        assert_eq!(Task::named(name).unwrap().features(), Feature::PAPER);
    }
    assert!(Task::of_paper().eq(["dsu", "lct"]));
    let error = Task::named("heap").unwrap_err().to_string();
    assert_eq!(error, format!("there is no task 'heap'; expected one of {}", known.join(", ")));
    let error = Task::named("forrest").unwrap_err().to_string();
    assert!(error.ends_with(" (did you mean forest?)"), "{error}");
}
