//! An experiment as a program: trains a run, scores it at a size it has not seen, and compares it
//! with counting.
//!
//! ```text
//! cargo run --release -p pgn-lab --example experiment
//! ```

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};

use pgn_lab::{Run, RunConfig, Session, TestSets, train};
use pgn_runs::Stop;

fn main() -> pgn_lab::Result<()> {
    // The keys of config.toml; whatever is missing is the paper's protocol.
    let config = RunConfig::resolve(toml::toml! {
        task = "dsu"
        model = "pgn"
        epochs = 100
    })?;
    let out = Path::new("runs/experiment");
    let session = Session {
        task: None,
        initial: None,
        checkpoint_every: Duration::from_secs(30),
        stop: &AtomicBool::new(false),
        observe: &mut |progress| {
            if progress.epoch.is_multiple_of(20) {
                let (f1, _) = progress.best.unwrap_or_default();
                println!("epoch {}: best validation F1 so far {f1:.3}", progress.epoch);
            }
        },
    };
    // Run it again and it resumes, or finds that it is finished.
    train(&config, out, session)?;

    let run = Run::load(out)?;
    let sizes = TestSets { nodes: Some(vec![500]), count: Some(5), ..TestSets::default() };
    for test in run.test(&sizes, Stop::NEVER)? {
        let counting = test.counting_f1.unwrap_or(f64::NAN);
        println!("n = {}: F1 {:.3}, counting {counting:.3}", test.nodes, test.scores.f1);
    }
    Ok(())
}
