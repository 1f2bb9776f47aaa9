//! Training: gradients of a batch, in parallel over its sequences, and a step of Adam.

use pgn_structures::{Rng, Stream};
use rayon::prelude::*;

use crate::{
    Config, Error, Example, Model, Parameters,
    adam::Adam,
    backward::backward,
    forward::{Share, forward},
    simd::{SimdLevel, with_simd},
    spare::Spare,
    tape::Tape,
    weights::{WeightGradients, Weights},
};

/// The losses of a batch, each unweighted, as means over its sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Binary cross-entropy of the answers, mean over steps.
    pub query: f64,
    /// Cross-entropy of the pointers, summed over re-aimed nodes, divided by steps × nodes.
    pub pointers: f64,
    /// Binary cross-entropy of the masks, mean over steps and nodes.
    pub masks: f64,
    /// The DGM reward loss.
    pub dgm: f64,
    /// The weighted sum that is minimised.
    pub total: f64,
    /// How many answers were right.
    pub right: u64,
}

impl Losses {
    pub(crate) fn add(&mut self, other: &Losses) {
        self.query += other.query;
        self.pointers += other.pointers;
        self.masks += other.masks;
        self.dgm += other.dgm;
        self.right += other.right;
    }

    /// Sets the total to the config's weighted sum.
    pub(crate) fn weigh(&mut self, config: &Config) {
        let weights = config.losses;
        self.total = f64::from(weights.query) * self.query
            + f64::from(weights.pointers) * self.pointers
            + f64::from(weights.masks) * self.masks
            + f64::from(weights.dgm) * self.dgm;
    }
}

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainerOptions {
    /// Adam's step size; 0.005 in the paper.
    pub learning_rate: f32,
    /// Scale gradients down to this norm if they are longer.
    pub clip: Option<f32>,
    /// Where sampled pointers come from.
    pub seed: u64,
}

impl Default for TrainerOptions {
    fn default() -> Self {
        TrainerOptions { learning_rate: 0.005, clip: None, seed: 0 }
    }
}

/// Everything a trainer needs to go on where another stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainerState {
    /// The weights.
    pub parameters: Parameters,
    /// Adam's running mean of the gradients.
    pub first_moment: Parameters,
    /// Adam's running mean of their squares.
    pub second_moment: Parameters,
    /// Steps taken.
    pub steps: u64,
    /// Running share of right answers, the baseline of the DGM reward.
    pub running_accuracy: f32,
}

/// A model in training.
///
/// ```
/// use pgn_engine::{Config, Model, Trainer, TrainerOptions};
/// use pgn_structures::{Dataset, Sampling, Task};
///
/// let data = Dataset::sample(&Task::named("dsu")?, &Sampling::paper(20))?;
/// let sequences: Vec<_> = data.sequences().collect();
/// let model = Model::new(Config::preset("pgn")?, 0)?;
/// let mut trainer = Trainer::new(model, TrainerOptions::default())?;
/// let first = trainer.step(&sequences)?.total;
/// for _ in 0..20 {
///     trainer.step(&sequences)?;
/// }
/// assert!(trainer.step(&sequences)?.total < first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Trainer {
    model: Model,
    adam: Adam,
    options: TrainerOptions,
    running_accuracy: f32,
    tapes: Spare<Tape>,
    spare_gradients: Spare<WeightGradients>,
}

/// How slowly the running accuracy forgets: about the last 20 steps count.
const RUNNING_ACCURACY_DECAY: f32 = 0.95;

impl Trainer {
    /// Training from the beginning.
    pub fn new(model: Model, options: TrainerOptions) -> Result<Trainer, Error> {
        let adam = Adam::new(model.config());
        Trainer::with(model, adam, options, 0.5)
    }

    /// Training from where `state` was taken.
    pub fn resume(
        config: Config,
        options: TrainerOptions,
        state: TrainerState,
    ) -> Result<Trainer, Error> {
        let zeros = Parameters::zeros(&config);
        for part in [&state.first_moment, &state.second_moment] {
            if part.tensors() != zeros.tensors() {
                return Err(Error::Input("the optimiser's moments are of another model".into()));
            }
        }
        let TrainerState { parameters, first_moment, second_moment, steps, running_accuracy } =
            state;
        let model = Model::from_parameters(config, parameters)?;
        Trainer::with(model, Adam { first_moment, second_moment, steps }, options, running_accuracy)
    }

    fn with(
        model: Model,
        adam: Adam,
        options: TrainerOptions,
        running_accuracy: f32,
    ) -> Result<Trainer, Error> {
        let TrainerOptions { learning_rate, clip, .. } = options;
        check_learning_rate(learning_rate)?;
        if let Some(clip) = clip
            && (clip.is_nan() || clip <= 0.0)
        {
            return Err(Error::Input(format!(
                "gradients are clipped to norm {clip}; expected a number above 0"
            )));
        }
        let (tapes, spare_gradients) = (Spare::new(), Spare::new());
        Ok(Trainer { model, adam, options, running_accuracy, tapes, spare_gradients })
    }

    /// The model as it is now.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Changes Adam's step size, for schedules.
    pub fn set_learning_rate(&mut self, learning_rate: f32) -> Result<(), Error> {
        check_learning_rate(learning_rate)?;
        self.options.learning_rate = learning_rate;
        Ok(())
    }

    /// What [`Trainer::resume`] needs.
    pub fn state(&self) -> TrainerState {
        TrainerState {
            parameters: self.model.parameters().clone(),
            first_moment: self.adam.first_moment.clone(),
            second_moment: self.adam.second_moment.clone(),
            steps: self.adam.steps,
            running_accuracy: self.running_accuracy,
        }
    }

    /// One step of Adam on a batch: forward, backward, update. Returns the losses before the step.
    ///
    /// Sequences are unrolled in parallel on the current rayon pool; the result is the same to
    /// the bit for any number of threads.
    pub fn step<'a, E>(&mut self, batch: &[E]) -> Result<Losses, Error>
    where
        E: Copy + Into<Example<'a>>,
    {
        let (losses, gradients) = self.gradients(batch)?;
        let answers = batch.iter().map(|&example| example.into().sequence.ops()).sum();
        self.descend(losses, gradients, answers)
    }

    /// A step of Adam down these gradients, of a batch with so many answers.
    pub(crate) fn descend(
        &mut self,
        losses: Losses,
        mut gradients: Parameters,
        answers: usize,
    ) -> Result<Losses, Error> {
        let norm = norm(gradients.values());
        if !norm.is_finite() || !losses.total.is_finite() {
            return Err(Error::Diverged(format!(
                "training diverged at step {}: the loss is {} and the gradient's norm {norm}; \
                 a lower learning rate or gradient clipping may help",
                self.adam.steps, losses.total
            )));
        }
        if let Some(clip) = self.options.clip
            && norm > clip
        {
            gradients.values_mut().iter_mut().for_each(|value| *value *= clip / norm);
        }
        self.model.update(|parameters| {
            self.adam.step(self.options.learning_rate, &gradients, parameters);
        });
        if answers > 0 {
            let accuracy = (losses.right as f64 / answers as f64) as f32;
            self.running_accuracy = RUNNING_ACCURACY_DECAY * self.running_accuracy
                + (1.0 - RUNNING_ACCURACY_DECAY) * accuracy;
        }
        Ok(losses)
    }

    /// The losses of a batch and their gradients, without a step.
    pub fn gradients<'a, E>(&self, batch: &[E]) -> Result<(Losses, Parameters), Error>
    where
        E: Copy + Into<Example<'a>>,
    {
        let batch: Vec<Example<'a>> = batch.iter().map(|&example| example.into()).collect();
        let config = self.model.config();
        for example in &batch {
            example.check(config)?;
        }
        if let Some(weights) = self.model.network().iterated() {
            return Ok(self.unrolled_gradients(weights, &batch));
        }
        let pass = Pass {
            config,
            weights: self.model.network().weights(),
            level: self.model.simd_level(),
            scale: 1.0 / batch.len() as f32,
            running_accuracy: self.running_accuracy,
        };
        let (seed, step) = (self.options.seed, self.adam.steps);
        // One sequence a task: they are long enough, and the threads finish together.
        let shares: Vec<(Losses, WeightGradients)> = batch
            .par_iter()
            .with_max_len(1)
            .enumerate()
            .map(|(index, &example)| {
                let key = [seed, Stream::Noise.number(), step, index as u64];
                let mut tape = self.tapes.take(Tape::default);
                let mut gradients = self.spare_gradients.take(|| WeightGradients::zeros(config));
                gradients.clear();
                let noise = &mut Rng::new(key);
                let losses = pass.sequence(example, noise, &mut tape, &mut gradients);
                self.tapes.put_back(tape);
                (losses, gradients)
            })
            .collect();
        let mut losses = Losses::default();
        let mut gradients = Parameters::zeros(config);
        // Sums run in the order of the batch, whichever thread finished first.
        let mut sum: Option<WeightGradients> = None;
        for (share, gradient) in shares {
            losses.add(&share);
            match &mut sum {
                None => sum = Some(gradient),
                Some(sum) => {
                    sum.add(&gradient);
                    self.spare_gradients.put_back(gradient);
                }
            }
        }
        losses.weigh(config);
        if let Some(sum) = sum {
            sum.unpack(config, self.model.parameters(), &mut gradients);
            self.spare_gradients.put_back(sum);
        }
        Ok((losses, gradients))
    }
}

/// What all sequences of a batch share.
struct Pass<'a> {
    config: &'a Config,
    weights: &'a Weights,
    level: SimdLevel,
    scale: f32,
    running_accuracy: f32,
}

impl Pass<'_> {
    fn sequence(
        &self,
        example: Example,
        noise: &mut Rng,
        tape: &mut Tape,
        gradients: &mut WeightGradients,
    ) -> Losses {
        let mut share = Share { scale: self.scale, running_accuracy: self.running_accuracy, noise };
        with_simd!(self.level, simd => {
            let losses = forward(simd, self.config, self.weights, example, &mut share, tape);
            backward(simd, self.config, self.weights, example.sequence, tape, gradients);
            losses
        })
    }
}

fn check_learning_rate(learning_rate: f32) -> Result<(), Error> {
    if learning_rate.is_finite() && learning_rate >= 0.0 {
        return Ok(());
    }
    Err(Error::Input(format!(
        "the learning rate is {learning_rate}; expected a finite number of at least 0"
    )))
}

fn norm(values: &[f32]) -> f32 {
    values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt() as f32
}
