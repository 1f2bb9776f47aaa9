//! Threads that stay awake through a row of short parallel phases.
//!
//! One operation on a thousand nodes is three parallel phases of some 30 µs with a little serial
//! work between them. A thread that has nothing to do for that long goes to sleep, and waking it
//! takes as long as the phase.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// A watch that has found nothing to do for so long is over, whatever the others are doing. It may be
/// standing on a thread that somebody waits for.
const PATIENCE: Duration = Duration::from_micros(200);

/// How often the clock is looked at and other programs are let in while there is nothing to do.
const GLANCE: u32 = 64;

/// Runs `work` in the current rayon pool while up to `threads` of its threads stay awake for the
/// parallel parts of it.
pub fn keep_awake<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let over = &AtomicBool::new(false);
    rayon::scope(|scope| {
        let leader = rayon::current_thread_index();
        for _ in 1..threads.min(rayon::current_num_threads()) {
            scope.spawn(move |_| {
                // The leader may come by its own watch while it waits for a part of the work.
                if rayon::current_thread_index() != leader {
                    watch(over);
                }
            });
        }
        let _guard = End(over);
        work()
    })
}

/// Looks for work until it is all over.
fn watch(over: &AtomicBool) {
    let mut idle_since = Instant::now();
    loop {
        for _ in 0..GLANCE {
            if over.load(Ordering::Acquire) {
                return;
            }
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                idle_since = Instant::now();
            }
            std::hint::spin_loop();
        }
        if idle_since.elapsed() > PATIENCE {
            return;
        }
        thread::yield_now();
    }
}

/// Ends the watches when it is dropped, also by a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use rayon::prelude::*;

    use super::*;

    fn total(count: u32) -> u32 {
        (0..count).into_par_iter().with_max_len(1).sum()
    }

    /// Leaders on every thread of a pool, each of which may come by the others' watches.
    #[test]
    fn leaders_do_not_wait_for_each_other() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let totals: Vec<u32> = pool.install(|| {
                let leaders = (0..200).into_par_iter().with_max_len(1);
                leaders.map(|i| keep_awake(4, || total(i) + total(i))).collect()
            });
            let expected: Vec<u32> = (0..200).map(|i: u32| i * i.saturating_sub(1)).collect();
            assert_eq!(totals, expected);
        }
    }

    #[test]
    fn a_panic_ends_the_watch() {
        let result = catch_unwind(AssertUnwindSafe(|| keep_awake(4, || panic!("on purpose"))));
        assert!(result.is_err());
        assert_eq!(keep_awake(4, || total(10)), 45);
    }
}
