//! Training: gradients of a batch, and a step of Adam.

use pgn_structures::Transition;

use crate::{Error, Example, Losses, Model, Parameters, adam::Adam, processor::StepInputs};

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainerOptions {
    /// Adam's step size; 0.005 in the paper.
    pub learning_rate: f32,
    /// Scale gradients down to this norm if they are longer.
    pub clip: Option<f32>,
    /// Where sampled pointers come from, and which operations are teacher-forced.
    pub seed: u64,
    /// For models that aim their own pointers in training
    /// ([`Forcing::Own`](crate::Forcing::Own), [`Forcing::Free`](crate::Forcing::Free)): the
    /// probability that an operation leaves the truth's pointers behind instead. It is drawn anew
    /// for every operation of every sequence and step of Adam.
    pub teacher_probability: f32,
}

impl Default for TrainerOptions {
    fn default() -> Self {
        TrainerOptions { learning_rate: 0.005, clip: None, seed: 0, teacher_probability: 0.0 }
    }
}

/// Everything a trainer needs to go on where another stopped, of models and machines alike.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainerState {
    /// The weights.
    pub parameters: Parameters,
    /// Adam's running mean of the gradients.
    pub first_moment: Parameters,
    /// Adam's running mean of their squares.
    pub second_moment: Parameters,
    /// Steps of Adam taken.
    pub adam_steps: u64,
    /// Running share of right answers, the baseline of the DGM reward; 0.5 for machines, which have
    /// no use for it.
    pub running_accuracy: f32,
}

/// What a [`Trainer`] trains: a [`Model`] or a [`MachineNet`](crate::MachineNet).
pub trait Network {
    /// Its weights.
    fn parameters(&self) -> &Parameters;

    /// Changes the weights; names and shapes stay.
    fn update(&mut self, change: impl FnOnce(&mut Parameters));

    /// Whether it aims its own pointers in training, so that single operations can be teacher-forced
    /// ([`TrainerOptions::teacher_probability`]).
    fn aims_in_training(&self) -> bool {
        false
    }
}

/// A model or a machine's network in training.
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
pub struct Trainer<N = Model> {
    pub(crate) model: N,
    adam: Adam,
    options: TrainerOptions,
    running_accuracy: f32,
}

/// How slowly the running accuracy forgets: about the last 20 steps count.
const RUNNING_ACCURACY_DECAY: f32 = 0.95;

impl<N: Network> Trainer<N> {
    /// Training from the beginning.
    pub fn new(model: N, options: TrainerOptions) -> Result<Trainer<N>, Error> {
        let TrainerOptions { learning_rate, clip, teacher_probability, .. } = options;
        check_learning_rate(learning_rate)?;
        check_teacher_probability(teacher_probability, &model)?;
        if let Some(clip) = clip
            && (clip.is_nan() || clip <= 0.0)
        {
            return Err(Error::Input(format!(
                "gradients are clipped to norm {clip}; expected a number above 0"
            )));
        }
        let adam = Adam::new(model.parameters());
        Ok(Trainer { model, adam, options, running_accuracy: 0.5 })
    }

    /// Training from where `state` was taken. Its weights replace those of `model`.
    pub fn resume(
        model: N,
        options: TrainerOptions,
        state: TrainerState,
    ) -> Result<Trainer<N>, Error> {
        let mut trainer = Trainer::new(model, options)?;
        let TrainerState { parameters, first_moment, second_moment, adam_steps: steps, .. } = state;
        for part in [&parameters, &first_moment, &second_moment] {
            if part.tensors() != trainer.model.parameters().tensors() {
                return Err(Error::Input("the state of training is that of another model".into()));
            }
        }
        trainer.model.update(|weights| *weights = parameters);
        trainer.adam = Adam { first_moment, second_moment, steps };
        trainer.running_accuracy = state.running_accuracy;
        Ok(trainer)
    }

    /// The model as it is now.
    pub fn model(&self) -> &N {
        &self.model
    }

    /// Steps of Adam taken.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// Changes Adam's step size, for schedules.
    pub fn set_learning_rate(&mut self, learning_rate: f32) -> Result<(), Error> {
        check_learning_rate(learning_rate)?;
        self.options.learning_rate = learning_rate;
        Ok(())
    }

    /// Changes how likely an operation is teacher-forced, for schedules.
    pub fn set_teacher_probability(&mut self, probability: f32) -> Result<(), Error> {
        check_teacher_probability(probability, &self.model)?;
        self.options.teacher_probability = probability;
        Ok(())
    }

    /// What [`Trainer::resume`] needs.
    pub fn state(&self) -> TrainerState {
        TrainerState {
            parameters: self.model.parameters().clone(),
            first_moment: self.adam.first_moment.clone(),
            second_moment: self.adam.second_moment.clone(),
            adam_steps: self.adam.steps,
            running_accuracy: self.running_accuracy,
        }
    }

    /// A step of Adam down the gradients of a batch of this size and loss; none if it is empty.
    pub(crate) fn descend(
        &mut self,
        batch: usize,
        loss: f64,
        mut gradients: Parameters,
    ) -> Result<(), Error> {
        if batch == 0 {
            return Ok(());
        }
        // Adam squares gradients; a comparison with NaN is false.
        let is_sound = gradients.values().iter().all(|value| value.abs() < 1e19);
        if !is_sound || !loss.is_finite() {
            return Err(Error::Diverged(format!(
                "training diverged at step {}: the loss is {loss} and the gradient's norm {}; a \
                 lower learning rate or gradient clipping may help",
                self.adam.steps,
                norm(gradients.values())
            )));
        }
        if let Some(clip) = self.options.clip {
            let norm = norm(gradients.values());
            if norm > clip {
                gradients.values_mut().iter_mut().for_each(|value| *value *= clip / norm);
            }
        }
        self.model.update(|parameters| {
            self.adam.step(self.options.learning_rate, &gradients, parameters);
        });
        Ok(())
    }
}

impl Trainer {
    /// One step of Adam on a batch: forward, backward, update. Returns the losses before the step.
    /// An empty batch takes no step.
    ///
    /// Sequences are unrolled in parallel on the current rayon pool; the result is the same to
    /// the bit for any number of threads.
    pub fn step<'a, E>(&mut self, batch: &[E]) -> Result<Losses, Error>
    where
        E: Copy + Into<Example<'a>>,
    {
        let (losses, gradients) = self.gradients(batch)?;
        self.descend(batch.len(), losses.total, gradients)?;
        self.note_accuracy(
            &losses,
            batch.iter().map(|&example| example.into().sequence.ops()).sum(),
        );
        Ok(losses)
    }

    /// Follows the share of right answers of a batch with so many.
    fn note_accuracy(&mut self, losses: &Losses, answers: usize) {
        if answers > 0 {
            let accuracy = (losses.right as f64 / answers as f64) as f32;
            self.running_accuracy = RUNNING_ACCURACY_DECAY * self.running_accuracy
                + (1.0 - RUNNING_ACCURACY_DECAY) * accuracy;
        }
    }

    /// The losses of a batch and their gradients, without a step.
    pub fn gradients<'a, E>(&self, batch: &[E]) -> Result<(Losses, Parameters), Error>
    where
        E: Copy + Into<Example<'a>>,
    {
        let batch: Vec<Example<'a>> = batch.iter().map(|&example| example.into()).collect();
        batch.iter().try_for_each(|example| example.check(self.model.config()))?;
        let inputs = StepInputs {
            seed: self.options.seed,
            step: self.adam.steps,
            running_accuracy: self.running_accuracy,
            teacher_probability: self.options.teacher_probability,
        };
        Ok(self.model.processor().gradients(self.model.parameters(), &batch, inputs))
    }

    /// One step of Adam on a batch of transitions, for models with an iterated processor. Returns
    /// the losses before the step; the result is the same to the bit for any number of threads.
    ///
    /// ```
    /// use pgn_engine::{Config, Model, Trainer, TrainerOptions};
    /// use pgn_structures::{Curriculum, Task};
    ///
    /// let task = Task::named("forest")?;
    /// let model = Model::new(Config::preset("pgn-exact")?, 0)?;
    /// let mut trainer = Trainer::new(model, TrainerOptions::default())?;
    /// let owned = (0..64)
    ///     .map(|index| Curriculum::of_size(20).sample(&task, 0, 0, index))
    ///     .collect::<Result<Vec<_>, _>>()?;
    /// let batch: Vec<_> = owned.iter().map(|one| one.get()).collect();
    /// let first = trainer.step_on(&batch)?.total;
    /// for _ in 0..20 {
    ///     trainer.step_on(&batch)?;
    /// }
    /// assert!(trainer.step_on(&batch)?.total < first);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step_on(&mut self, batch: &[Transition<'_>]) -> Result<Losses, Error> {
        let (losses, gradients) = self.gradients_on(batch)?;
        self.descend(batch.len(), losses.total, gradients)?;
        self.note_accuracy(&losses, batch.len());
        Ok(losses)
    }

    /// The losses of a batch of transitions and their gradients, without a step.
    pub fn gradients_on(&self, batch: &[Transition<'_>]) -> Result<(Losses, Parameters), Error> {
        self.model.processor().gradients_on(self.model.parameters(), batch)
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

fn check_teacher_probability(probability: f32, model: &impl Network) -> Result<(), Error> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(Error::Input(format!(
            "the probability of teacher forcing is {probability}; expected a number from 0 to 1"
        )));
    }
    if probability > 0.0 && !model.aims_in_training() {
        return Err(Error::Input(format!(
            "the probability of teacher forcing is {probability}, which needs a model with forcing \
             own or free"
        )));
    }
    Ok(())
}

fn norm(values: &[f32]) -> f32 {
    values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt() as f32
}
