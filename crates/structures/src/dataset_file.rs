//! Data-set files: `docs/reference.md` has the contract.

use std::path::Path;

use crate::cycles::{self, Cycles};
use crate::files::{TensorReader, TensorWriter};
use crate::sampling::check_priorities;
use crate::{Dataset, Edge, Error, Field, Fields, Node, Operation, Result, Shape, Split, Task};

/// What sets without further fields are written as: the paper's field is all there is.
const PLAIN: u32 = 1;

/// What sets with further fields are written as.
const WITH_FIELDS: u32 = 2;

/// What sets with input graphs are written as.
const WITH_GRAPHS: u32 = 3;

/// What sets with kinds of operations are written as, and the newest version that is read.
const WITH_KINDS: u32 = 4;

/// What the names of further tensors begin with.
const POINTERS: &str = "pointers.";
const BITS: &str = "bits.";

impl Dataset {
    /// Writes the set to a `.safetensors` file, atomically; the same set, the same bytes.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let (count, ops, nodes) = (self.count(), self.ops, self.nodes);
        let operands: Vec<u32> = self.operations.iter().flat_map(|op| [op.u, op.v]).collect();
        let mut file = TensorWriter::new();
        let further: Vec<String> = self.fields.names().collect();
        let kinds: Vec<u8> = self.operations.iter().map(|op| op.kind).collect();
        let version = match (self.has_kinds(), self.edges.is_empty(), further.is_empty()) {
            (true, ..) => WITH_KINDS,
            (_, true, true) => PLAIN,
            (_, true, false) => WITH_FIELDS,
            (_, false, _) => WITH_GRAPHS,
        };
        file.metadata("format_version", version);
        if version != PLAIN {
            file.metadata("fields", further.join(","));
        }
        file.metadata("task", &self.task);
        file.metadata("nodes", nodes);
        file.metadata("ops", ops);
        file.metadata("seed", self.seed);
        file.metadata("split", self.split);
        file.f32("priorities", &[count, nodes], &self.priorities);
        file.u32("operands", &[count, ops, 2], &operands);
        file.u8("answers", &[count, ops], &self.answers);
        file.u8("masks", &[count, ops, nodes], &self.masks);
        file.u32("pointers", &[count, ops, nodes], &self.pointers);
        let (pointers, bits) = (&self.fields.pointers, &self.fields.bits);
        for (name, field) in further.iter().zip(pointers) {
            file.u32(name, &[count, ops, nodes], &field.values);
        }
        for (name, field) in further[pointers.len()..].iter().zip(bits) {
            file.u8(name, &[count, ops, nodes], &field.values);
        }
        let ends: Vec<u32> = self.edges.iter().flat_map(|edge| [edge.u, edge.v]).collect();
        let weights: Vec<f32> = self.edges.iter().map(|edge| edge.weight).collect();
        if version == WITH_KINDS {
            file.u8("kinds", &[count, ops], &kinds);
        }
        if !self.edges.is_empty() {
            let edges = self.edges.len() / count;
            file.u32("edges", &[count, edges, 2], &ends);
            file.f32("weights", &[count, edges], &weights);
        }
        file.save(path)
    }

    /// Reads a data-set file and checks all of it: types, shapes and every value.
    pub fn load(path: impl AsRef<Path>) -> Result<Dataset> {
        Dataset::read(&TensorReader::open(path)?)
    }

    /// [`Dataset::load`], from a file that is already open.
    pub fn read(file: &TensorReader) -> Result<Dataset> {
        if let Some(what) = other_kind(file) {
            return Err(file.error(format!("it is {what}; expected a data set (pgn generate)")));
        }
        let version: u32 = file.parse("format_version", "a whole number")?;
        if !(PLAIN..=WITH_KINDS).contains(&version) {
            return Err(file.error(format!(
                "it has format version {version}, but this program knows only versions up to \
                 {WITH_KINDS}"
            )));
        }
        let task: String = file.parse("task", "a name")?;
        let nodes: usize = file.parse("nodes", "a whole number")?;
        let ops: usize = file.parse("ops", "a whole number")?;
        let seed: u64 = file.parse("seed", "a whole number")?;
        // Files made by other programs need not say what they are for.
        let split = match file.metadata("split") {
            None => Split::Given,
            Some(_) => file.parse("split", "the name of a split")?,
        };
        if nodes < 2 || ops == 0 {
            return Err(file.error(format!(
                "its metadata says nodes = {nodes} and ops = {ops}, but a sequence needs at least \
                 two nodes and one operation"
            )));
        }
        let shape = file.shape("priorities");
        let shape = shape.ok_or_else(|| file.error("it has no tensor `priorities`"))?;
        let count = match shape[..] {
            [count, _] if count > 0 => count,
            _ => {
                return Err(file.error(format!(
                    "`priorities` has shape {shape:?}, expected [count, {nodes}] with count ≥ 1"
                )));
            }
        };
        let operands = file.u32("operands", &[count, ops, 2])?;
        let kinds = match version {
            WITH_KINDS => file.u8("kinds", &[count, ops])?,
            _ => vec![0; count * ops],
        };
        let pairs = operands.as_chunks().0.iter().zip(kinds);
        let has_graphs = match version {
            WITH_KINDS => file.shape("weights").is_some(),
            _ => version == WITH_GRAPHS,
        };
        let dataset = Dataset {
            task,
            seed,
            split,
            nodes,
            ops,
            priorities: file.f32("priorities", &[count, nodes])?,
            operations: pairs.map(|(&[u, v], kind)| Operation::of_kind(kind, u, v)).collect(),
            answers: file.u8("answers", &[count, ops])?,
            masks: file.u8("masks", &[count, ops, nodes])?,
            pointers: file.u32("pointers", &[count, ops, nodes])?,
            fields: match version {
                PLAIN => Fields::default(),
                _ => read_fields(file, &[count, ops, nodes])?,
            },
            edges: if has_graphs { read_edges(file, count)? } else { Vec::new() },
        };
        dataset.check_values().map_err(|trouble| file.error(trouble))?;
        Ok(dataset)
    }

    /// Refuses values that no structure can have produced, as reading a file does: for sets whose
    /// arrays come from elsewhere. The lengths of the arrays must fit each other.
    pub fn check(&self) -> Result<()> {
        self.check_values().map_err(Error::Request)
    }

    /// Refuses values that no structure can have produced, in the words of a file's reader.
    fn check_values(&self) -> std::result::Result<(), String> {
        self.fields.check([self.count(), self.ops, self.nodes])?;
        for &Edge { u, v, weight } in &self.edges {
            let (n, edge) = (self.nodes, Operation::new(u, v));
            edge.check(n).map_err(|source| format!("an edge of an input graph: {source}"))?;
            if !weight.is_finite() {
                return Err(format!(
                    "the edge ({u}, {v}) has the weight {weight}, expected a number"
                ));
            }
        }
        // Only of known tasks is it known what their operations and pointers look like.
        let task = Task::named(&self.task).ok();
        let shape = task.as_ref().map_or(Shape::Any, |task| task.schema().shape());
        let has_kinds = self.operations.iter().any(|operation| operation.kind != 0);
        let mut cycles = Cycles::new(self.nodes);
        let fresh: Vec<Node> = (0..self.nodes as Node).collect();
        for (index, sequence) in self.sequences().enumerate() {
            let within = |trouble: String| format!("in sequence {index}, {trouble}");
            check_priorities(sequence.priorities).map_err(within)?;
            for (step, (operation, answer)) in
                sequence.operations.iter().zip(sequence.answers).enumerate()
            {
                let at = |trouble: String| format!("in sequence {index}, step {step}, {trouble}");
                let checked = match &task {
                    Some(task) => task.check(*operation, self.nodes),
                    None if has_kinds => operation.check_range(self.nodes),
                    None => operation.check(self.nodes),
                };
                checked.map_err(|source| at(source.to_string()))?;
                if *answer > 1 {
                    return Err(at(format!("the answer is {answer}, expected 0 or 1")));
                }
                let mask = sequence.mask(step);
                if let Some(node) = mask.iter().position(|&mask| mask > 1) {
                    let found = mask[node];
                    return Err(at(format!("the mask of node {node} is {found}, expected 0 or 1")));
                }
                let pointers = sequence.pointers_after(step);
                if let Some(node) = pointers.iter().position(|&p| p as usize >= self.nodes) {
                    let (found, n) = (pointers[node], self.nodes);
                    return Err(at(format!(
                        "node {node} points to {found}, but there are {n} nodes, numbered from 0"
                    )));
                }
                if shape == Shape::Forest {
                    // The pointers before form a forest, so a cycle goes through a pointer that
                    // has changed.
                    let before = match step {
                        0 => &fresh[..],
                        _ => sequence.pointers_after(step - 1),
                    };
                    let both = before.iter().zip(pointers);
                    let changed =
                        (0..).zip(both).filter(|(_, (a, b))| a != b).map(|(node, _)| node);
                    if let Some(cycle) = cycles.find(pointers, changed) {
                        return Err(at(cycles::describe(&cycle)));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The input graphs, as many edges in each.
fn read_edges(file: &TensorReader, count: usize) -> Result<Vec<Edge>> {
    let shape = file.shape("weights");
    let edges = match shape.as_deref() {
        Some(&[_, edges]) => edges,
        _ => return Err(file.error("it has no tensor `weights` of shape [count, edges]")),
    };
    let weights = file.f32("weights", &[count, edges])?;
    let ends = file.u32("edges", &[count, edges, 2])?;
    let pairs = ends.as_chunks().0.iter().zip(weights);
    Ok(pairs.map(|(&[u, v], weight)| Edge { u, v, weight }).collect())
}

/// The further fields that the metadata list, each of this shape; all of them must be there, and
/// no others.
fn read_fields(file: &TensorReader, shape: &[usize]) -> Result<Fields> {
    let listed: String = file.parse("fields", "a list of tensors")?;
    let listed: Vec<&str> = listed.split(',').filter(|name| !name.is_empty()).collect();
    let mut fields = Fields::default();
    for (place, &tensor) in listed.iter().enumerate() {
        if listed[..place].contains(&tensor) {
            return Err(file.error(format!("its metadata lists the field `{tensor}` twice")));
        }
        if let Some(name) = tensor.strip_prefix(POINTERS) {
            let values = file.u32(tensor, shape)?;
            fields.pointers.push(Field { name: name.to_owned(), values });
        } else if let Some(name) = tensor.strip_prefix(BITS) {
            let values = file.u8(tensor, shape)?;
            fields.bits.push(Field { name: name.to_owned(), values });
        } else {
            return Err(file.error(format!(
                "its metadata lists the field `{tensor}`; expected pointers.<name> or bits.<name>"
            )));
        }
    }
    let is_field = |name: &str| name.starts_with(POINTERS) || name.starts_with(BITS);
    match file.names().iter().find(|name| is_field(name) && !listed.contains(&name.as_str())) {
        None => Ok(fields),
        Some(name) => Err(file.error(format!(
            "it has a tensor `{name}`, which is not among the fields that its metadata lists"
        ))),
    }
}

/// What a file of ours is, if it is not a data set.
fn other_kind(file: &TensorReader) -> Option<&'static str> {
    let format = file.metadata("format").unwrap_or_default();
    if format.starts_with("pgn-rollout") {
        return Some("a rollout (pgn rollout --out): what a model did on a data set");
    }
    if format.contains("checkpoint") {
        return Some("the checkpoint of a run");
    }
    file.shape("encoder.weight").map(|_| "the weights of a model")
}
