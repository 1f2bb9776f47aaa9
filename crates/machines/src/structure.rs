//! Every program is a task: interpreted, it gives pointers, visited nodes and answers.

use std::sync::Arc;

use pgn_structures::{
    Error, Feature, Node, Operation, OperationKind, PointerStructure, Result, Rng, Schema, Task,
    TaskText, Visited,
};

use crate::{Outcome, Program, Store, interpret, programs};

/// A program as a [`PointerStructure`].
struct ProgramStructure {
    program: Arc<dyn Program>,
    features: Vec<Feature>,
    store: Store,
}

/// The task of imitating a program whose operations have one or two operands each, so that the
/// paper's models can learn it.
///
/// - Its kinds of operations are the program's, each with one or two operands.
/// - Nodes are told their key, which operand they are, and the kind of the operation.
/// - The answer is yes or no: what the operation [answered](Outcome::as_answer).
/// - The learned pointer is the program's first field; the others are further fields.
///
/// ```
/// use pgn_machines::{programs, task};
/// use pgn_structures::{Dataset, Sampling};
///
/// let heap = task(programs::named("heap").unwrap())?;
/// let set = Dataset::sample(&heap, &Sampling::paper(20))?;
/// assert!(set.operations.iter().any(|operation| operation.kind == 1)); // pop_min
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn task(program: Arc<dyn Program>) -> crate::Result<Task> {
    let signature = program.signature();
    signature.check().map_err(crate::Error::Program)?;
    let takes = |operands: usize| (1..=2).contains(&operands);
    if let Some(other) = signature.operations.iter().find(|one| !takes(one.arguments.len())) {
        return Err(crate::Error::Program(format!(
            "operation `{}` of program `{}` takes {} nodes; operations of tasks take one or two",
            other.name,
            signature.name,
            other.arguments.len()
        )));
    }
    Ok(Task::new(move || ProgramStructure::new(program.clone())))
}

impl ProgramStructure {
    fn new(program: Arc<dyn Program>) -> Self {
        let signature = program.signature();
        let mut features = vec![Feature::Priority, Feature::First, Feature::Second];
        if signature.operations.len() > 1 {
            features.extend((0..signature.operations.len() as u8).map(Feature::Kind));
        }
        ProgramStructure { features, store: Store::new(signature, &[]), program }
    }

    fn call(&mut self, operation: Operation) -> crate::Result<Outcome> {
        let (kind, operands) = (usize::from(operation.kind), self.operands(operation));
        let arguments = &[operation.u, operation.v][..operands];
        interpret(&*self.program, &mut self.store, &mut (), kind, arguments)
    }

    /// How many operands the operation has.
    fn operands(&self, operation: Operation) -> usize {
        let declared = self.program.signature().operations.get(usize::from(operation.kind));
        declared.map_or(2, |operation| operation.arguments.len()).min(2)
    }
}

impl PointerStructure for ProgramStructure {
    fn name(&self) -> &str {
        &self.program.signature().name
    }

    fn about(&self) -> TaskText {
        self.program.about()
    }

    fn schema(&self) -> Schema {
        let signature = self.program.signature();
        let schema = Schema::new(&names(&signature.pointers), &names(&signature.bits));
        // Nothing is known of the pointers of a user's program.
        if programs::NAMES.contains(&self.name()) { schema } else { schema.with_cycles() }
    }

    fn features(&self) -> &[Feature] {
        &self.features
    }

    fn kinds(&self) -> Vec<OperationKind> {
        let operations = self.program.signature().operations.iter();
        operations.map(|one| OperationKind::new(&one.name, one.arguments.len())).collect()
    }

    fn reset(&mut self, priorities: &[f32]) {
        self.store = Store::new(self.program.signature(), priorities);
    }

    fn sample(&self, _: Node, rng: &mut Rng) -> Operation {
        let call = self.program.sample(&self.store, rng);
        let u = call.arguments.first().copied().unwrap_or_default();
        let v = call.arguments.get(1).copied().unwrap_or(u);
        Operation::of_kind(call.operation as u8, u, v)
    }

    fn handles(&self) -> Node {
        self.program.handles()
    }

    fn allows(&self, operation: Operation) -> bool {
        let arguments = &[operation.u, operation.v][..self.operands(operation)];
        let kind = usize::from(operation.kind);
        self.program.signature().refusal(&self.store, kind, arguments).is_none()
    }

    fn apply(&mut self, operation: Operation, visited: &mut Visited) -> Result<bool> {
        let outcome = self.call(operation).map_err(|error| Error::failed(self.name(), error))?;
        self.store.visited().nodes().iter().for_each(|&node| visited.insert(node));
        Ok(outcome.as_answer())
    }

    fn pointer(&self, node: Node) -> Node {
        self.program.node_pointer(&self.store, node)
    }

    fn pointer_field(&self, field: usize, row: &mut [Node]) -> Result<()> {
        for (node, pointer) in (0..).zip(row) {
            *pointer = self.store.pointer(node, field).unwrap_or(node);
        }
        Ok(())
    }

    fn bit_field(&self, bit: usize, row: &mut [u8]) -> Result<()> {
        for (node, set) in (0..).zip(row) {
            *set = u8::from(self.store.bit(node, bit));
        }
        Ok(())
    }
}

fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}
