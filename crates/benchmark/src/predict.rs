//! Predictions of our own: rules without a model, trained models and machines.

use std::{path::Path, time::Instant};

use pgn_lab::{
    AnyRun, Counting, Run,
    machine::{MachineRun, Mode},
    rollouts::RolloutArrays,
};
use pgn_runs::Stop;
use pgn_structures::{Node, Sequence};
use rayon::prelude::*;

use crate::{Data, Predictions, Result, Set};

/// What answers.
pub enum Predictor {
    /// One answer, always.
    Always(bool),
    /// How often u and v were operated on before.
    Counting,
    /// A trained model or machine.
    Run(Box<AnyRun>),
}

/// \[ops\], and \[ops, nodes\] of masks and pointers where there are some.
type Predicted = (Vec<u8>, Option<Vec<u8>>, Option<Vec<Node>>);

impl Predictor {
    /// `always-0`, `always-1`, `counting`, a run directory or a built-in machine.
    pub fn open(name: &str) -> Result<Predictor> {
        Ok(match name {
            "always-0" => Predictor::Always(false),
            "always-1" => Predictor::Always(true),
            "counting" => Predictor::Counting,
            place => Predictor::Run(Box::new(AnyRun::open(Path::new(place))?)),
        })
    }

    /// Whether it was made for the task of a set.
    pub fn is_for(&self, set: &Set) -> Result<bool> {
        Ok(match self {
            Predictor::Run(run) => run.task()?.name() == set.task,
            _ => true,
        })
    }

    /// Predicts a set: the answers, and pointers and masks where it has them and the set is
    /// [full](Set::is_full). The time includes all threads of the current rayon pool, as one.
    pub fn predict(&self, data: &Data) -> Result<Predictions> {
        let rows = data.rows();
        let started = Instant::now();
        let (mut seed, count) = (0, rows.len());
        let each: Vec<Predicted> = match self {
            Predictor::Always(one) => {
                let answers = |row: &Sequence<'_>| vec![u8::from(*one); row.ops()];
                rows.iter().map(|row| (answers(row), None, None)).collect()
            }
            Predictor::Counting => {
                let rule = Counting::of_seed(&data.set.task()?, data.set.sampling().seed)?;
                let answers = |row: &Sequence<'_>| {
                    let mut counted = rule.start(row.nodes());
                    row.operations.iter().map(|&one| u8::from(counted.answer(one))).collect()
                };
                rows.iter().map(|row| (answers(row), None, None)).collect()
            }
            Predictor::Run(run) => {
                seed = run.key().2;
                let mode = match &**run {
                    AnyRun::Machine(run) if run.certificate().is_some() => Mode::Compiled,
                    _ => Mode::Memoised,
                };
                match &**run {
                    run if data.set.is_full() => run
                        .rollouts(data.sequences.clone(), mode, Stop::NEVER)?
                        .into_iter()
                        .map(|one| of_rollout(RolloutArrays::join(vec![one])))
                        .collect(),
                    AnyRun::Model(run) => of_model(run, &rows)?,
                    AnyRun::Machine(run) => of_machine(run, mode, &rows)?,
                }
            }
        };
        let seconds = Some(started.elapsed().as_secs_f64());
        let (mut answers, mut masks, mut pointers) = (Vec::new(), Vec::new(), Vec::new());
        for (row, mask, pointer) in each {
            answers.extend(row);
            masks.extend(mask);
            pointers.extend(pointer);
        }
        // A model has them for all sequences or for none.
        let (masks, pointers) = (
            (masks.len() == count).then(|| masks.concat()),
            (pointers.len() == count).then(|| pointers.concat()),
        );
        Ok(Predictions { set: data.set.clone(), seed, seconds, answers, masks, pointers })
    }
}

fn of_model(run: &Run, rows: &[Sequence<'_>]) -> Result<Vec<Predicted>> {
    let model = run.model();
    let one = |row: &Sequence<'_>| {
        let mut state = model.start_with(row.priorities)?;
        if !row.edges.is_empty() {
            state.set_input_graph(row.edges)?;
        }
        let answers = row.operations.iter().map(|&one| Ok(u8::from(state.apply(one)?.value())));
        Ok((answers.collect::<Result<Vec<u8>>>()?, None, None))
    };
    rows.par_iter().with_max_len(1).map(one).collect()
}

fn of_machine(run: &MachineRun, mode: Mode, rows: &[Sequence<'_>]) -> Result<Vec<Predicted>> {
    let executor = run.executor(mode)?;
    let one = |row: &Sequence<'_>| {
        let mut store = executor.store(row.priorities);
        // Nothing can be said after an operation that could not be carried out.
        let mut failed = false;
        let answers = row.operations.iter().map(|&operation| {
            let done = (!failed).then(|| run.apply(&executor, &mut store, operation));
            let answer = done.and_then(std::result::Result::ok);
            failed |= answer.is_none();
            answer.map_or(0, |(answer, _)| u8::from(answer))
        });
        (answers.collect(), None, None)
    };
    Ok(rows.par_iter().with_max_len(1).map(one).collect())
}

fn of_rollout(rollout: RolloutArrays) -> Predicted {
    let bits = |logits: Vec<f32>| logits.iter().map(|&logit| u8::from(logit > 0.0)).collect();
    (bits(rollout.query_logits), rollout.mask_logits.map(bits), rollout.pointers)
}
