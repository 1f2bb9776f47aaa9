//! The example of a third data structure does what it says.

use pgn_structures::{Dataset, Operation, Sampling, Task};

#[path = "../examples/move_to_front.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}

/// The same in the plainest way: a vector with the front first.
#[test]
fn the_list_is_a_list() {
    let task = Task::new(example::MoveToFront::default);
    let set = Dataset::sample(&task, &Sampling { ops: 60, ..Sampling::paper(8) }).unwrap();
    for sequence in set.sequences() {
        let mut list: Vec<u32> = Vec::new();
        let mut before = sequence.priorities.iter().zip(0..).map(|(_, i)| i).collect::<Vec<u32>>();
        for (step, &Operation { u, v, .. }) in sequence.operations.iter().enumerate() {
            let place = |node| list.iter().position(|&other| other == node);
            let answer = place(u).zip(place(v)).is_some_and(|(u, v)| u < v);
            assert_eq!(sequence.answers[step], u8::from(answer));

            list.retain(|&node| node != u);
            list.insert(0, u);
            let expected: Vec<u32> = (0..8)
                .map(|node| match list.iter().position(|&other| other == node) {
                    None | Some(0) => node,
                    Some(place) => list[place - 1],
                })
                .collect();
            assert_eq!(sequence.pointers_after(step), expected);
            // Whatever moved was visited.
            for node in 0..8 {
                let moved = before[node] != expected[node];
                assert!(!moved || sequence.mask(step)[node] == 0);
            }
            before = expected;
        }
    }
}
