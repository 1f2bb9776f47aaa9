//! Operations carried out by a trained machine, in four ways with the same outcome.

use std::{collections::HashMap, sync::Arc};

use pgn_machines::{Action, Compiled, Machine, Outcome, Store, Values, View};
use pgn_structures::Node;
use serde::{Deserialize, Serialize};

use super::MachineRun;
use crate::{Error, Result};

/// How a machine is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The network computes every micro-step.
    Network,
    /// The network's actions on all consistent views are looked up in a table.
    #[default]
    Memoised,
    /// A decision tree made of that table; only for certified machines. If the machine is proved, it
    /// trusts the proof that no other view occurs; all other modes draw such a view and stop.
    Compiled,
    /// Compiled, and every view is looked up: one that is not in the table is an error.
    Checked,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 4] = [Mode::Network, Mode::Memoised, Mode::Compiled, Mode::Checked];

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Network => "network",
            Mode::Memoised => "memoised",
            Mode::Compiled => "compiled",
            Mode::Checked => "checked",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| {
            let known = Mode::ALL.map(Mode::name).join(", ");
            Error::request(format!("there is no mode '{name}'; expected one of {known}"))
        })
    }
}

/// Carries out operations of a machine.
pub struct Executor<'a> {
    run: &'a MachineRun,
    table: HashMap<View, Action>,
    compiled: Option<Arc<Compiled>>,
}

impl MachineRun {
    /// The network's action on every consistent view.
    pub fn table(&self) -> Result<Vec<(View, Action)>> {
        let views: Vec<View> =
            self.machine().consistent().iter().map(|(view, _)| view.clone()).collect();
        let predictions = self.net().predictions(&views.iter().collect::<Vec<_>>())?;
        let actions = predictions.into_iter().map(|prediction| prediction.action);
        Ok(views.into_iter().zip(actions).collect())
    }

    /// The machine as decision trees; refused if the network differs from the program on any
    /// consistent view. That is found out anew here, whatever a certificate says: settings,
    /// weights or the program may have changed since. With `checked`, or without a proof, the trees
    /// look whether every view is in the table.
    pub fn compile(&self, checked: bool) -> Result<Compiled> {
        let (table, statement) = (self.right_table()?, self.statement());
        let trees = match checked || !self.is_proved() {
            true => Compiled::checked(self.machine(), &table)?,
            false => Compiled::new(self.machine(), &table)?,
        };
        Ok(trees.stating(statement))
    }

    fn right_table(&self) -> Result<Vec<(View, Action)>> {
        let table = self.table()?;
        let truth = self.machine().consistent();
        let wrong = table.iter().zip(truth).filter(|(ours, theirs)| ours.1 != theirs.1).count();
        if wrong > 0 {
            return Err(Error::request(format!(
                "{} differs from its program on {wrong} of {} consistent views, so it gets no \
                 certificate and is not compiled; `pgn certify` shows them",
                self.name(),
                table.len()
            )));
        }
        Ok(table)
    }

    /// Ready to carry out operations.
    pub fn executor(&self, mode: Mode) -> Result<Executor<'_>> {
        let table = match mode {
            Mode::Memoised => self.table()?.into_iter().collect(),
            _ => HashMap::new(),
        };
        let compiled = match mode {
            Mode::Compiled => Some(Arc::new(self.compile(false)?)),
            Mode::Checked => Some(Arc::new(self.compile(true)?)),
            _ => None,
        };
        Ok(Executor { run: self, table, compiled })
    }

    /// Ready at once: with what [`MachineRun::compile`] made of this machine before.
    pub fn executor_of(&self, compiled: Arc<Compiled>) -> Executor<'_> {
        Executor { run: self, table: HashMap::new(), compiled: Some(compiled) }
    }
}

impl Executor<'_> {
    pub(crate) fn run(&self) -> &MachineRun {
        self.run
    }

    /// The program.
    pub fn machine(&self) -> &Machine {
        self.run.machine()
    }

    /// An empty memory whose nodes have these keys.
    pub fn store(&self, keys: &[f32]) -> Store {
        Store::new(self.machine().signature(), keys)
    }

    /// Carries out an operation: how it ended, and how many micro-steps it took (0 if compiled,
    /// where nobody counts). An untrained network may fail to end or to make sense; that is an
    /// error, and leaves the memory as it is at that point.
    pub fn apply(
        &self,
        store: &mut Store,
        operation: usize,
        arguments: &[Node],
    ) -> Result<(Outcome, u64)> {
        if let Some(compiled) = &self.compiled {
            return Ok((compiled.run_recording(store, operation, arguments)?, 0));
        }
        let mut steps = 0;
        let mut policy = |view: &View| {
            steps += 1;
            self.action(view)
        };
        let outcome = self.machine().run(store, operation, arguments, &mut policy)?;
        Ok((outcome, steps))
    }

    /// Carries out an operation on nodes with values. Compiled machines note no visited nodes
    /// here, which makes them faster.
    pub fn run_with(
        &self,
        store: &mut Store,
        values: &mut impl Values,
        operation: usize,
        arguments: &[Node],
    ) -> Result<Outcome> {
        if let Some(compiled) = &self.compiled {
            return Ok(compiled.run_with(store, values, operation, arguments)?);
        }
        let mut policy = |view: &View| self.action(view);
        Ok(self.machine().run_with(store, values, operation, arguments, &mut policy)?)
    }

    fn action(&self, view: &View) -> Action {
        match self.table.get(view) {
            Some(action) => action.clone(),
            // Only without a table: the machine asks for views that are in it, and an empty action
            // would be refused.
            None => self.run.net().predict(view).unwrap_or_default(),
        }
    }
}
