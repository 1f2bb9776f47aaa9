//! The file that is checked: names, clauses, lenses, table and network.

use safetensors::SafeTensors;
use serde::Deserialize;

/// No node has been read, or nothing is written.
pub const NOTHING: i16 = -2;
/// No node.
pub const NIL: i16 = -1;

/// All that a proof is about. The weights are the tensors of the same file.
#[derive(Clone, Debug, Deserialize)]
pub struct Proof {
    pub signature: Signature,
    /// As text, in the language of [`crate::clause`].
    pub clauses: Vec<String>,
    /// What each state reads, in order.
    pub lenses: Vec<Vec<Read>>,
    pub rows: Vec<Row>,
    pub network: Network,
}

/// The names of a program, and how its operations start.
#[derive(Clone, Debug, Deserialize)]
pub struct Signature {
    pub name: String,
    pub version: u32,
    pub pointers: Vec<String>,
    pub bits: Vec<String>,
    pub marks: Vec<String>,
    pub registers: Vec<String>,
    pub controls: Vec<Control>,
    pub states: Vec<State>,
    pub operations: Vec<Operation>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Control {
    pub name: String,
    pub values: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct State {
    pub name: String,
    /// How an operation ends here, if it does.
    pub halt: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Operation {
    pub name: String,
    pub entry: usize,
    pub arguments: Vec<usize>,
    pub controls: Vec<(usize, usize)>,
    /// Conditions on the arguments, as clauses; other calls are refused.
    #[serde(default)]
    pub requires: Vec<String>,
}

/// Registers and pointers fill slots in order; what starts from an empty slot is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Read {
    Control(usize),
    Register(usize),
    /// Slot and field.
    Pointer(usize, usize),
    /// Slot and bit.
    Bit(usize, usize),
    /// Two slots.
    Less(usize, usize),
}

/// What a state can see. Nodes are numbered as they are found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub struct View {
    pub state: usize,
    pub nodes: usize,
    pub registers: Vec<i16>,
    pub controls: Vec<i16>,
    /// By node, then by field.
    pub pointers: Vec<i16>,
    pub bits: Vec<i16>,
    /// Two nodes, and 1 if the key of the first is less.
    pub less: Vec<(usize, usize, u8)>,
}

/// What is done then: a node, nil or nothing to write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Action {
    pub pointers: Vec<i16>,
    pub toggles: Vec<u8>,
    pub marks: Vec<u8>,
    pub registers: Vec<i16>,
    pub controls: Vec<i16>,
    pub next: usize,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    pub view: View,
    pub action: Action,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Network {
    pub k: usize,
    pub rounds: usize,
    pub cap: f32,
}

impl Proof {
    /// Reads the entry `proof` of the metadata of a safetensors file, and checks all sizes.
    pub fn read(bytes: &[u8]) -> Result<Proof, String> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let entry = header.metadata().as_ref().and_then(|entries| entries.get("proof"));
        let text = entry.ok_or("the file has no proof in its metadata")?;
        Proof::of_json(text)
    }

    pub fn of_json(text: &str) -> Result<Proof, String> {
        let proof: Proof = serde_json::from_str(text).map_err(|error| error.to_string())?;
        proof.fits()?;
        Ok(proof)
    }

    fn fits(&self) -> Result<(), String> {
        let names = &self.signature;
        let within = |numbers: &[i16], end: usize, lowest: i16| {
            numbers.iter().all(|&number| number >= lowest && i64::from(number) < end as i64)
        };
        let all = |lengths: &[(usize, usize)]| lengths.iter().all(|(found, due)| found == due);
        if self.lenses.len() != names.states.len() {
            return Err("there is not one lens per state".to_owned());
        }
        let Network { k, rounds, cap } = self.network;
        if !(1..=1024).contains(&k) || rounds > 64 || !(0.0..f32::INFINITY).contains(&cap) {
            return Err(format!("a network of k = {k}, rounds = {rounds} and cap = {cap}"));
        }
        for (lens, state) in self.lenses.iter().zip(&names.states) {
            let mut slots = 0;
            let fits = lens.iter().all(|read| match *read {
                Read::Control(control) => control < names.controls.len(),
                Read::Register(register) => {
                    slots += 1;
                    register < names.registers.len()
                }
                Read::Pointer(slot, field) => {
                    slots += 1;
                    slot < slots - 1 && field < names.pointers.len()
                }
                Read::Bit(slot, bit) => slot < slots && bit < names.bits.len(),
                Read::Less(a, b) => a.max(b) < slots,
            });
            if !fits {
                return Err(format!("the lens of `{}` reads what is not there", state.name));
            }
        }
        for operation in &names.operations {
            let register = |&register: &usize| register < names.registers.len();
            let control = |&(control, value): &(usize, usize)| {
                names.controls.get(control).is_some_and(|control| value < control.values.len())
            };
            if operation.entry >= names.states.len()
                || !operation.arguments.iter().all(register)
                || !operation.controls.iter().all(control)
            {
                return Err(format!("operation `{}` names what is not there", operation.name));
            }
        }
        for (index, Row { view, action }) in self.rows.iter().enumerate() {
            let (fields, bits) = (view.nodes * names.pointers.len(), view.nodes * names.bits.len());
            let lengths = all(&[
                (view.registers.len(), names.registers.len()),
                (view.controls.len(), names.controls.len()),
                (view.pointers.len(), fields),
                (view.bits.len(), bits),
                (action.registers.len(), names.registers.len()),
                (action.controls.len(), names.controls.len()),
                (action.pointers.len(), fields),
                (action.toggles.len(), bits),
                (action.marks.len(), view.nodes * names.marks.len()),
            ]);
            let values = |numbers: &[i16]| {
                let mut pairs = numbers.iter().zip(&names.controls);
                pairs.all(|(&value, control)| within(&[value], control.values.len(), NOTHING))
            };
            let numbers = view.nodes < 100
                && view.state.max(action.next) < names.states.len()
                && [&view.registers, &view.pointers, &action.registers, &action.pointers]
                    .iter()
                    .all(|numbers| within(numbers, view.nodes, NOTHING))
                && within(&view.bits, 2, NOTHING)
                && view.less.iter().all(|&(a, b, _)| a < view.nodes && b < view.nodes);
            if !(lengths && numbers && values(&view.controls) && values(&action.controls)) {
                return Err(format!("row {index} does not fit the signature"));
            }
        }
        Ok(())
    }
}

impl View {
    /// A picture in text: registers and controls, then the nodes a, b, c, …
    pub fn draw(&self, names: &Signature) -> String {
        let node = |node: i16| if node == NIL { "nil".to_owned() } else { letter(node as usize) };
        let mut text = format!("{}:", names.states[self.state].name);
        for (name, &to) in
            names.registers.iter().zip(&self.registers).filter(|one| *one.1 != NOTHING)
        {
            text += &format!(" {name}={}", node(to));
        }
        for (control, &value) in names.controls.iter().zip(&self.controls).filter(|one| *one.1 >= 0)
        {
            text += &format!(" {}={}", control.name, control.values[value as usize]);
        }
        for at in 0..self.nodes {
            text += &format!("\n  {}:", letter(at));
            let fields = names.pointers.len();
            for (name, &to) in names.pointers.iter().zip(&self.pointers[at * fields..]) {
                if to != NOTHING {
                    text += &format!(" {name}={}", node(to));
                }
            }
            for (name, &bit) in names.bits.iter().zip(&self.bits[at * names.bits.len()..]) {
                if bit != NOTHING {
                    text += &format!(" {name}={bit}");
                }
            }
        }
        for &(a, b, less) in &self.less {
            text += &format!("\n  {} {} {}", letter(a), ["≥", "<"][usize::from(less)], letter(b));
        }
        text
    }
}

/// a, b, …, z, a1, …
pub fn letter(node: usize) -> String {
    let letter = char::from(b'a' + (node % 26) as u8);
    if node < 26 { letter.to_string() } else { format!("{letter}{}", node / 26) }
}
