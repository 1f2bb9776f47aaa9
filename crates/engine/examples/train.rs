//! Trains the paper's model on a disjoint-set union, then uses it as one.
//!
//! ```text
//! cargo run --release -p pgn-engine --example train
//! ```

use pgn_engine::{Config, Model, Trainer, TrainerOptions};
use pgn_structures::{Dataset, Operation, Sampling, Split, Task};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = Task::named("dsu")?;
    let train = Dataset::sample(&task, &Sampling::paper(20))?;
    let sequences: Vec<_> = train.sequences().collect();

    let model = Model::new(Config::preset("pgn")?, 0)?;
    let options = TrainerOptions { clip: Some(1.0), ..TrainerOptions::default() };
    let mut trainer = Trainer::new(model, options)?;
    for epoch in 1..=100 {
        let losses = trainer.step(&sequences)?;
        if epoch % 20 == 0 {
            println!("epoch {epoch}: loss {:.3}", losses.total);
        }
    }

    // A free rollout: the model reads its own pointers and masks, never the true ones.
    let test = Dataset::sample(&task, &Sampling { split: Split::Test, ..Sampling::paper(50) })?;
    let (mut right, mut all) = (0, 0);
    for sequence in test.sequences() {
        let rollout = trainer.model().rollout(sequence)?;
        let said = rollout.query_logits.iter().map(|logit| u8::from(*logit > 0.0));
        right += said.zip(sequence.answers).filter(|(said, truth)| said == *truth).count();
        all += sequence.answers.len();
    }
    println!("{right} of {all} answers right at n = 50");

    // One operation at a time.
    let mut sets = trainer.model().start(4)?;
    for (u, v) in [(0, 1), (2, 3), (0, 1)] {
        let answer = sets.apply(Operation::new(u, v))?;
        println!("query-union({u}, {v}): {} ({:.3})", answer.value(), answer.probability);
    }
    Ok(())
}
