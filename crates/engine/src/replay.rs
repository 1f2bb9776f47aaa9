//! The one loop over operations: everything that rolls a model out goes through it.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use pgn_structures::{Edge, Node, Operation};

use crate::{Answer, Error, Example, Model, Move, Pointers, State, config::is_default};

/// What one operation of a replay gave. The model's [`State`] after it is at hand for more.
#[derive(Clone, Copy, Debug)]
pub struct Step<'s> {
    /// The number of the operation, from 0.
    pub t: usize,
    /// The operation.
    pub operation: Operation,
    /// The decoder's output; above 0 means yes (1).
    pub logit: f32,
    state: &'s State,
}

impl<'s> Step<'s> {
    /// The answer, with the nodes whose pointer moved and where all point now.
    pub fn answer(&self) -> Answer<'s> {
        self.state.answer(self.logit)
    }

    /// The pointers that moved, in ascending order of their nodes. Those that the model is given
    /// count too.
    pub fn moved(&self) -> impl Iterator<Item = Move> + 's {
        self.state.moved()
    }

    /// Where every node points after it. Every node points to itself in models without pointers.
    pub fn pointers(&self) -> &'s [Node] {
        self.state.pointers()
    }

    /// ψ's logits, \[n\]; see [`State::mask_logits`].
    pub fn mask_logits(&self) -> &'s [f32] {
        self.state.mask_logits()
    }

    /// The state after the operation.
    pub fn state(&self) -> &'s State {
        self.state
    }
}

/// Where the operations of a replay come from, and what becomes of its steps: for operations that
/// are made one at a time. Sequences have [`Model::replay`].
pub trait Driver {
    /// What may go wrong besides the model.
    type Error: From<Error>;

    /// The next operation; `None` at the end.
    fn next_operation(&mut self) -> Result<Option<Operation>, Self::Error>;

    /// The pointers that the model is given after the last operation; `None` if it has its own.
    fn given(&self) -> Option<&[Node]> {
        None
    }

    /// The pointers of extra type `number` that it is given, counted from 0.
    fn given_extra(&self, number: usize) -> Option<&[Node]> {
        let _ = number;
        None
    }

    /// The graph that comes with the operations; without edges unless overridden.
    fn input_graph(&self) -> &[Edge] {
        &[]
    }

    /// Told after every operation; may stop the replay.
    fn observe(&mut self, step: Step<'_>) -> Result<ControlFlow<()>, Self::Error>;
}

impl Model {
    /// Runs the model freely over an example, one operation after the other, and shows every step
    /// to `observe`, which may stop it. The model reads its own pointers and masks, never the truth's;
    /// models with given pointers read those.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use pgn_engine::{Config, Model};
    /// use pgn_structures::{Dataset, Sampling, Task};
    ///
    /// let data = Dataset::sample(&Task::named("dsu")?, &Sampling::paper(20))?;
    /// let model = Model::new(Config::preset("pgn")?, 0)?;
    /// let (mut right, mut moved) = (0, 0);
    /// model.replay(data.sequence(0), |step| {
    ///     right += u32::from(step.answer().value() == (data.answers[step.t] == 1));
    ///     moved += step.moved().count();
    ///     if step.t < 9 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// })?;
    /// assert!(right <= 10 && moved <= 10 * 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replay<'a>(
        &self,
        example: impl Into<Example<'a>>,
        observe: impl FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let example: Example<'_> = example.into();
        example.check(self.config())?;
        let types = &self.config().pointer_types;
        self.drive(example.sequence.priorities, &mut Along { example, types, t: 0, observe })
    }

    /// Runs the model over an example, as [`Model::replay`] does, until another thread sets `stop`. Even a long operation is then abandoned, and
    /// not shown to `observe`, so steps may be missing.
    pub fn replay_until<'a>(
        &self,
        example: impl Into<Example<'a>>,
        stop: &Arc<AtomicBool>,
        observe: impl FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let example: Example<'_> = example.into();
        example.check(self.config())?;
        let types = &self.config().pointer_types;
        let mut along = Along { example, types, t: 0, observe };
        self.drive_until(example.sequence.priorities, &mut along, Some(stop))
    }

    /// Runs the model over operations that a [`Driver`] makes as it goes, in O(n) memory; one node
    /// per priority.
    pub fn drive<D: Driver>(&self, priorities: &[f32], driver: &mut D) -> Result<(), D::Error> {
        self.drive_until(priorities, driver, None)
    }

    fn drive_until<D: Driver>(
        &self,
        priorities: &[f32],
        driver: &mut D,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<(), D::Error> {
        let mut state = self.start_with(priorities)?;
        if !is_default(&self.config().input_graph) {
            state.set_input_graph(driver.input_graph())?;
        }
        if let Some(stop) = stop {
            state.stop_when(Arc::clone(stop));
        }
        let mut t = 0;
        while let Some(operation) = driver.next_operation()? {
            let logit = state.apply(operation)?.logit;
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                break;
            }
            if self.config().pointers == Pointers::Given
                && let Some(given) = driver.given()
            {
                state.set_pointers(given)?;
                for number in 0..self.config().pointer_types.len() {
                    if let Some(given) = driver.given_extra(number) {
                        state.set_extra_pointers(number, given)?;
                    }
                }
            }
            if driver.observe(Step { t, operation, logit, state: &state })?.is_break() {
                break;
            }
            t += 1;
        }
        Ok(())
    }
}

/// The operations of an example.
struct Along<'a, F> {
    example: Example<'a>,
    /// Extra pointer types.
    types: &'a [String],
    /// Operations handed out.
    t: usize,
    observe: F,
}

impl<F: FnMut(Step<'_>) -> ControlFlow<()>> Driver for Along<'_, F> {
    type Error = Error;

    fn next_operation(&mut self) -> Result<Option<Operation>, Error> {
        let next = self.example.sequence.operations.get(self.t).copied();
        self.t += usize::from(next.is_some());
        Ok(next)
    }

    fn given(&self) -> Option<&[Node]> {
        self.example.given_after(self.t.checked_sub(1)?)
    }

    fn given_extra(&self, number: usize) -> Option<&[Node]> {
        let fields = self.example.sequence.fields_after(self.t.checked_sub(1)?);
        fields.pointer(&self.types[number]).ok()
    }

    fn input_graph(&self) -> &[Edge] {
        self.example.sequence.edges
    }

    fn observe(&mut self, step: Step<'_>) -> Result<ControlFlow<()>, Error> {
        Ok((self.observe)(step))
    }
}
