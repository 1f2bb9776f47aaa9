//! Every program is a task, with data sets like any other.

use std::sync::Arc;

use pgn_machines::{Definition, Halt, Signature, programs, task};
use pgn_structures::{Dataset, Feature, Operation, Sampling, Task, read_operations};

fn named(name: &str) -> Task {
    task(programs::named(name).unwrap()).unwrap()
}

#[test]
fn programs_without_a_hand_written_structure_are_built_in() {
    programs::build_in_tasks();
    programs::build_in_tasks();
    for name in programs::NAMES {
        let task = Task::named(name).unwrap();
        assert!(task.is_built_in());
        assert_eq!(task.has_kinds(), ["splay", "heap"].contains(&name), "{name}");
    }
    assert_eq!(Task::names().filter(|name| name == "heap").count(), 1);
    let heap = Task::named("heap").unwrap();
    assert_eq!(heap.features()[3..], [Feature::Kind(0), Feature::Kind(1), Feature::Kind(2)]);
    assert_eq!(heap.kinds()[1].operands, 1);
    assert_eq!(heap.operation(), "insert, pop_min, meld");
}

#[test]
fn data_sets_of_programs_survive_files() {
    programs::build_in_tasks();
    let folder = tempfile::tempdir().unwrap();
    for name in ["splay", "heap"] {
        let task = Task::named(name).unwrap();
        let set = Dataset::sample(&task, &Sampling::paper(20)).unwrap().with_fields(&task).unwrap();
        for kind in 0..task.kinds().len() as u8 {
            assert!(set.operations.iter().any(|operation| operation.kind == kind), "{name} {kind}");
        }
        let ones = set.answers.iter().filter(|&&answer| answer == 1).count();
        let share = ones as f64 / set.answers.len() as f64;
        assert!((0.2..0.9).contains(&share), "{name} answers 1 in {share}");
        let path = folder.path().join(name);
        set.save(&path).unwrap();
        assert_eq!(Dataset::load(&path).unwrap(), set, "{name}");
        assert!(set.agrees_with(&task).unwrap(), "{name}");
        // Two nodes are enough for both, if not for much.
        Dataset::sample(&task, &Sampling::paper(2)).unwrap();
    }
}

#[test]
fn programs_give_the_data_of_hand_written_structures() {
    for name in ["dsu", "lct", "forest"] {
        let hand_written = Task::named(name).unwrap();
        let truth = Dataset::sample(&hand_written, &Sampling::paper(20)).unwrap();
        assert!(truth.agrees_with(&named(name)).unwrap(), "{name}");
    }
}

#[test]
fn operations_that_the_program_does_not_have_are_refused() {
    let heap = named("heap");
    let replayed = |operation| {
        let set = Dataset::from_operations(&heap, 4, &[0.1, 0.2, 0.3, 0.4], &[operation]);
        set.map(|set| set.answers[0]).map_err(|error| error.to_string())
    };
    assert_eq!(replayed(Operation::of_kind(0, 0, 2)), Ok(1));
    assert_eq!(replayed(Operation::of_kind(1, 0, 0)), Ok(0)); // empty
    let error = replayed(Operation::of_kind(1, 0, 2)).unwrap_err();
    assert!(error.contains("has one operand"), "{error}");
    let error = replayed(Operation::of_kind(3, 0, 2)).unwrap_err();
    assert!(error.contains("kind 3, but there are 3"), "{error}");
}

#[test]
fn operations_are_written_by_name() {
    let heap = named("heap");
    let read = |text: &str| read_operations(text.as_bytes(), "mine.csv".as_ref(), &heap, 9);
    let expected = [Operation::of_kind(0, 0, 5), Operation::of_kind(1, 0, 0)];
    assert_eq!(read("insert,0,5\npop_min, 0 # the least\n").unwrap(), expected);
    for text in ["0,5\n", "insert,0\n", "pop_min,0,5\n", "pop,0\n"] {
        let error = read(text).unwrap_err().to_string();
        let forms = "expected one of `insert,u,v`, `pop_min,u`, `meld,u,v`; found";
        assert!(error.contains(forms), "{error}");
    }
}

#[test]
fn a_registered_program_is_a_task_and_can_be_replaced() {
    let program = |field: &str| {
        let signature = Signature::new("walker")
            .pointers(&[field])
            .registers(&["x"])
            .states(&["start", "end"])
            .halt("end", Halt::Done)
            .operation("walk", "start", &["x"], &[]);
        Arc::new(Definition::new(signature, |_, _| Some(1)))
    };
    for field in ["next", "up"] {
        programs::register(program(field)).unwrap();
        let task = Task::named("walker").unwrap();
        assert_eq!(task.schema().pointers()[task.schema().learned()], field);
        assert!(task.has_kinds() && !task.is_built_in());
        let set = Dataset::sample(&task, &Sampling::paper(3)).unwrap();
        assert!(set.operations.iter().all(|operation| operation.u == operation.v));
    }
}
