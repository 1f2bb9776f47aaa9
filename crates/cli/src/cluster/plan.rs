//! Which entries of a queue go into which task of which array job.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use pgn_lab::{Queue, collection::Estimate};
use pgn_runs::{Entry, EntryState};

/// What is submitted, and what is not.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// Runs that others of this plan depend on, by task.
    pub teachers: Vec<Vec<usize>>,
    /// Runs that depend on those: task k on task k of the teachers.
    pub students: Vec<Vec<usize>>,
    /// Runs that depend on nothing unfinished, by task.
    pub others: Vec<Vec<usize>>,
    /// Runs that are finished, have a process at them, and are in the scheduler's queue.
    pub finished: usize,
    pub running: usize,
    pub queued: usize,
    /// Runs that depend on one that is running or queued.
    pub blocked: usize,
}

impl Plan {
    /// Plans the entries that nobody is at and that are not `queued`. Short runs are put together
    /// until a task takes about `seconds` on one core.
    ///
    /// Refuses a queue with an entry whose directory holds another run: its task would fail.
    pub fn new(queue: &Queue, queued: &BTreeSet<usize>, seconds: f64) -> Result<Plan> {
        let mut plan = Plan::default();
        let mut todo = BTreeSet::new();
        for entry in queue.entries() {
            match queue.state(entry) {
                EntryState::Finished => plan.finished += 1,
                _ if queued.contains(&entry.index) => plan.queued += 1,
                EntryState::Running => plan.running += 1,
                EntryState::Other => bail!(
                    "{} holds a run with other settings than {}; choose another --out",
                    entry.directory.display(),
                    entry.name()
                ),
                EntryState::Waiting | EntryState::Stopped { .. } => drop(todo.insert(entry.index)),
            }
        }
        let entry = |index: &usize| &queue.entries()[*index];
        let unfinished_teacher =
            |index: &usize| queue.waits_for(entry(index)).map(|teacher| teacher.index);
        let teachers: BTreeSet<usize> = todo
            .iter()
            .filter_map(unfinished_teacher)
            .filter(|index| todo.contains(index))
            .collect();
        let estimate = Estimate::new(queue);
        let time = |index: usize| estimate.seconds(queue, &queue.entries()[index]).unwrap_or(0.0);
        plan.teachers = batches(teachers.iter().copied(), seconds, time);
        for teachers in &plan.teachers {
            let depends =
                |student: &Entry| student.depends_on.is_some_and(|on| teachers.contains(&on));
            let students = todo.iter().copied().filter(|index| depends(entry(index)));
            plan.students.push(students.collect());
        }
        let students: BTreeSet<usize> = plan.students.iter().flatten().copied().collect();
        let free = |index: &usize| unfinished_teacher(index).is_none();
        let rest = todo
            .iter()
            .copied()
            .filter(|index| !teachers.contains(index) && !students.contains(index));
        let (others, blocked): (Vec<usize>, Vec<usize>) = rest.partition(free);
        plan.others = batches(others.into_iter(), seconds, time);
        plan.blocked = blocked.len();
        Ok(plan)
    }

    /// The runs in it.
    pub fn runs(&self) -> usize {
        [&self.teachers, &self.students, &self.others].into_iter().flatten().map(Vec::len).sum()
    }
}

/// Puts neighbours together up to a time; what alone takes longer stays alone.
fn batches(
    indices: impl Iterator<Item = usize>,
    limit: f64,
    time: impl Fn(usize) -> f64,
) -> Vec<Vec<usize>> {
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut filled = 0.0;
    for index in indices {
        let time = time(index);
        match batches.last_mut() {
            Some(batch) if filled + time <= limit => batch.push(index),
            _ => {
                filled = 0.0;
                batches.push(vec![index]);
            }
        }
        filled += time;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue {
        let text =
            "epochs = 100\n[sweep]\ntask = ['dsu']\nmodel = ['gnn', 'pgn-ptrs']\nseed = '0-2'\n";
        pgn_runs::Sweep::parse(text)
            .unwrap()
            .queue(pgn_lab::Experiments, "nowhere".as_ref())
            .unwrap()
    }

    #[test]
    fn students_are_in_the_task_of_their_teachers_number() {
        // gnn, pgn, pgn-ptrs of each seed.
        let alone = Plan::new(&queue(), &BTreeSet::new(), 0.0).unwrap();
        assert_eq!(alone.teachers, [[1], [4], [7]]);
        assert_eq!(alone.students, [[2], [5], [8]]);
        assert_eq!(alone.others, [[0], [3], [6]]);
        assert_eq!(alone.runs(), 9);

        let together = Plan::new(&queue(), &BTreeSet::new(), 7.0).unwrap();
        assert_eq!(together.teachers, [vec![1, 4], vec![7]]);
        assert_eq!(together.students, [vec![2, 5], vec![8]]);
        assert_eq!(together.others, [vec![0, 3], vec![6]]);
    }

    #[test]
    fn what_is_queued_is_left_alone_and_so_is_what_depends_on_it() {
        let plan = Plan::new(&queue(), &BTreeSet::from([0, 1]), 0.0).unwrap();
        assert_eq!((plan.queued, plan.blocked, plan.runs()), (2, 1, 6));
        assert_eq!(plan.others, [[3], [6]]);
        let all = Plan::new(&queue(), &(0..9).collect(), 0.0).unwrap();
        assert_eq!((all.runs(), all.queued), (0, 9));
    }

    #[test]
    fn long_runs_stay_alone() {
        let time = |index: usize| [1.0, 1.0, 9.0, 1.0, 1.0, 1.0][index];
        assert_eq!(batches(0..6, 2.0, time), [vec![0, 1], vec![2], vec![3, 4], vec![5]]);
    }
}
