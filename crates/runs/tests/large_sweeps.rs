//! A sweep of 100,000 seeds is made and listed with a fixed number of questions per run.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use pgn_runs::{Backend, Error, Outcome, Sweep};
use toml::Table;

/// Counts what it is asked.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Counting {
    fn asked<T>(&self, answer: T) -> T {
        self.0.fetch_add(1, Ordering::Relaxed);
        answer
    }
}

impl Backend for Counting {
    type Config = u64;
    type Progress = ();
    type Results = ();
    type Error = Error;

    fn teacher_of(&self, model: &str) -> Option<&'static str> {
        self.asked((model == "student").then_some("teacher"))
    }

    fn resolve(&self, settings: Table) -> Result<u64, Error> {
        self.asked(Ok(settings["seed"].as_integer().unwrap().unsigned_abs()))
    }

    fn default_epochs(&self, _: &str, _: &str) -> Result<u64, Error> {
        self.asked(Ok(1))
    }

    fn epochs_done(&self, _: &Path) -> Option<u64> {
        self.asked(None)
    }

    fn is_of(&self, _: &u64, _: &Path) -> bool {
        self.asked(true)
    }

    fn train(
        &self,
        _: &u64,
        _: &Path,
        _: Duration,
        _: &AtomicBool,
        _: &mut (dyn FnMut(&()) + Send),
    ) -> Result<Outcome<()>, Error> {
        unreachable!("nothing is trained")
    }
}

#[test]
fn a_sweep_of_100_000_seeds_is_linear() {
    let folder = tempfile::tempdir().unwrap();
    let questions = |seeds: usize| {
        let text = format!(
            "[sweep]\ntask = ['dsu']\nmodel = ['student', 'teacher']\nseed = '0-{}'\n",
            seeds - 1
        );
        let sweep = Sweep::parse(&text).unwrap();
        let queue = sweep.queue(Counting::default(), folder.path()).unwrap();
        assert_eq!(queue.entries().len(), 2 * seeds);
        for entry in queue.entries() {
            assert!(queue.state(entry).is_todo());
            assert_eq!(queue.waits_for(entry).is_some(), entry.depends_on.is_some());
        }
        queue.backend().0.load(Ordering::Relaxed)
    };
    let [few, many] = [500, 50_000].map(questions);
    // The models themselves are asked about a few times, whatever the number of seeds.
    assert!(many <= 100 * few, "{few} questions about 1,000 runs, {many} about 100,000");
}
