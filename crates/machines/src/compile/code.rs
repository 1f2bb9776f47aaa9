//! Trees as a flat list of instructions, and the loop that runs them.

use pgn_structures::{Node, Recorder};

use super::tree::{Branch, Effect, Found, Test, Tree};
use crate::store::NIL;
use crate::{Error, Result, Store};

/// What an instruction does; its operands are `a`, `b`, `c`, `d` and `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    /// Slot a = register b.
    Register,
    /// Slot a = register b; to the target if it is nil.
    RegisterIfNil,
    /// Slot a = field c of slot b.
    Load,
    /// Slot a = field c of slot b; to the target if it is nil.
    LoadIfNil,
    /// Slot a = field c of slot b; to the target if it is slot d.
    LoadIfSame,
    /// To the target if slot a is nil.
    IfNil,
    /// To the target if slots a and b are the same.
    IfSame,
    /// To the target if bit b of slot a is set.
    IfSet,
    /// To the target if the key of slot a is less than that of slot b.
    IfLess,
    /// To the target that is listed for the value of control a, from the target on.
    Switch,
    /// Field c of slot a = slot b.
    Set,
    /// Field c of slot a = nil.
    SetNil,
    /// Toggles bit b of slot a.
    Toggle,
    /// Register a = slot b.
    SetRegister,
    /// Register a = nil.
    SetRegisterNil,
    /// Control a = b.
    SetControl,
    /// Visits slot a.
    Visit,
    /// Sets mark b of slot a.
    Mark,
    /// To the target.
    Goto,
    /// Ends in state a.
    Halt,
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    op: Op,
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    target: u16,
}

impl Instruction {
    fn new(op: Op, operands: [u8; 4], target: u16) -> Self {
        let [a, b, c, d] = operands;
        Instruction { op, a, b, c, d, target }
    }
}

/// Slots a state may have; a power of two, so that an index needs no check.
const SLOTS: usize = 64;
const REGISTERS: usize = 16;
const CONTROLS: usize = 8;

/// A tree, flattened: eight bytes an instruction, no hashing, no allocation.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    instructions: Vec<Instruction>,
    /// Jump tables of `Switch`.
    tables: Vec<u16>,
    /// Where the code of each state begins.
    entries: Vec<u16>,
    stride: usize,
}

impl Code {
    /// The code of a tree, with or without its marks.
    pub fn of(tree: &Tree, marks: bool) -> Result<Self> {
        let signature = &tree.signature;
        let mut code = Code {
            instructions: Vec::new(),
            tables: Vec::new(),
            entries: vec![0; tree.states.len()],
            stride: signature.pointers.len() + usize::from(!signature.bits.is_empty()),
        };
        // States that end an operation come first, so that all others can jump to them.
        for (state, branch) in tree.states.iter().enumerate() {
            if branch.is_none() {
                code.entries[state] = code.position()?;
                code.push(Op::Halt, [state as u8, 0, 0, 0], 0);
            }
        }
        for (state, branch) in tree.states.iter().enumerate() {
            if let Some(branch) = branch {
                code.entries[state] = code.position()?;
                code.branch(branch, marks)?;
            }
        }
        // Until now, a Goto held the number of a state.
        for index in 0..code.instructions.len() {
            if code.instructions[index].op == Op::Goto {
                let state = usize::from(code.instructions[index].target);
                let entry = code.entries.get(state).copied();
                code.instructions[index].target = entry.ok_or_else(|| {
                    Error::Tree(format!("the tree goes to state {state}, which does not exist"))
                })?;
            }
        }
        Ok(code)
    }

    fn position(&self) -> Result<u16> {
        u16::try_from(self.instructions.len())
            .map_err(|_| Error::Tree("the tree has more than 65,535 instructions".to_string()))
    }

    fn push(&mut self, op: Op, operands: [u8; 4], target: u16) -> usize {
        self.instructions.push(Instruction::new(op, operands, target));
        self.instructions.len() - 1
    }

    fn branch(&mut self, branch: &Branch, marks: bool) -> Result<()> {
        let (test, outcomes) = match branch {
            Branch::Act { effects, next } => {
                self.act(effects, marks);
                self.push(Op::Goto, [0; 4], u16::from(*next));
                return Ok(());
            }
            Branch::Read { test, outcomes } => (*test, outcomes),
        };
        let Some((last, tested)) = outcomes.split_last() else {
            return Err(Error::Tree("the tree has a read without outcomes".to_string()));
        };
        if let Test::Control { control } = test {
            return self.switch(control, outcomes, marks);
        }
        if let Test::Register { register, slot } = test {
            self.push(Op::Register, [slot, register, 0, 0], 0);
        } else if let Test::Pointer { from, field, slot } = test {
            self.push(Op::Load, [slot, from, field, 0], 0);
        }
        // Tests jump to what comes then; the last outcome follows at once.
        let mut jumps = Vec::new();
        for (index, outcome) in tested.iter().enumerate() {
            for &found in &outcome.found {
                jumps.push((self.test(test, found)?, index));
            }
        }
        self.branch(&last.then, marks)?;
        for (index, outcome) in tested.iter().enumerate() {
            let here = self.position()?;
            for &(jump, _) in jumps.iter().filter(|(_, of)| *of == index) {
                self.instructions[jump].target = here;
            }
            self.branch(&outcome.then, marks)?;
        }
        Ok(())
    }

    /// A jump on one outcome of a test, to be aimed later. Joined to the load before it if it can
    /// be.
    fn test(&mut self, test: Test, found: Found) -> Result<usize> {
        let previous = self.instructions.last().copied();
        let jump = match (test, found) {
            (Test::Register { slot, .. } | Test::Pointer { slot, .. }, Found::Nil) => {
                let joined = match previous.map(|previous| previous.op) {
                    Some(Op::Load) => Some(Op::LoadIfNil),
                    Some(Op::Register) => Some(Op::RegisterIfNil),
                    _ => None,
                };
                if let (Some(op), Some(previous)) = (joined, previous) {
                    self.instructions.pop();
                    let Instruction { a, b, c, .. } = previous;
                    return Ok(self.push(op, [a, b, c, 0], 0));
                }
                (Op::IfNil, [slot, 0, 0, 0])
            }
            (Test::Register { slot, .. } | Test::Pointer { slot, .. }, Found::Same(other)) => {
                if let Some(Instruction { op: Op::Load, a, b, c, .. }) = previous {
                    self.instructions.pop();
                    return Ok(self.push(Op::LoadIfSame, [a, b, c, other], 0));
                }
                (Op::IfSame, [slot, other, 0, 0])
            }
            (Test::Bit { slot, bit }, Found::Truth(true)) => (Op::IfSet, [slot, bit, 0, 0]),
            (Test::Less { a, b }, Found::Truth(true)) => (Op::IfLess, [a, b, 0, 0]),
            _ => return Err(Error::Tree(format!("the tree tests {test:?} for {found:?}"))),
        };
        Ok(self.push(jump.0, jump.1, 0))
    }

    fn switch(
        &mut self,
        control: u8,
        outcomes: &[super::tree::Outcome],
        marks: bool,
    ) -> Result<()> {
        let values = outcomes.iter().flat_map(|outcome| &outcome.found).filter_map(value_of);
        let most = values.max().unwrap_or(0);
        let table = self.tables.len();
        self.tables.resize(table + usize::from(most) + 1, 0);
        let aim = u16::try_from(table)
            .map_err(|_| Error::Tree("the tree has too many jump tables".to_string()))?;
        self.push(Op::Switch, [control, most, 0, 0], aim);
        for outcome in outcomes {
            let here = self.position()?;
            for value in outcome.found.iter().filter_map(value_of) {
                self.tables[table + usize::from(value)] = here;
            }
            self.branch(&outcome.then, marks)?;
        }
        Ok(())
    }

    fn act(&mut self, effects: &[Effect], marks: bool) {
        for &effect in effects {
            match effect {
                Effect::Pointer { slot, field, to: Some(to) } => {
                    self.push(Op::Set, [slot, to, field, 0], 0)
                }
                Effect::Pointer { slot, field, to: None } => {
                    self.push(Op::SetNil, [slot, 0, field, 0], 0)
                }
                Effect::Toggle { slot, bit } => self.push(Op::Toggle, [slot, bit, 0, 0], 0),
                Effect::Register { register, to: Some(to) } => {
                    self.push(Op::SetRegister, [register, to, 0, 0], 0)
                }
                Effect::Register { register, to: None } => {
                    self.push(Op::SetRegisterNil, [register, 0, 0, 0], 0)
                }
                Effect::Control { control, value } => {
                    self.push(Op::SetControl, [control, value, 0, 0], 0)
                }
                Effect::Mark { slot, mark: 0 } if marks => self.push(Op::Visit, [slot, 0, 0, 0], 0),
                Effect::Mark { slot, mark } if mark > 0 => {
                    self.push(Op::Mark, [slot, mark, 0, 0], 0)
                }
                Effect::Mark { .. } => continue,
            };
        }
    }

    /// Runs from the beginning of `state` to an end; gives the state it ends in.
    pub fn run<R: Recorder>(
        &self,
        store: &mut Store,
        state: u8,
        limit: u64,
        recorder: &mut R,
        mark: &mut impl FnMut(u8, Node),
    ) -> Result<u8> {
        // The compiler knows how long a node is in each copy of the loop.
        match self.stride {
            1 => self.run_with::<R, 1>(store, state, limit, recorder, mark),
            2 => self.run_with::<R, 2>(store, state, limit, recorder, mark),
            3 => self.run_with::<R, 3>(store, state, limit, recorder, mark),
            4 => self.run_with::<R, 4>(store, state, limit, recorder, mark),
            5 => self.run_with::<R, 5>(store, state, limit, recorder, mark),
            6 => self.run_with::<R, 6>(store, state, limit, recorder, mark),
            7 => self.run_with::<R, 7>(store, state, limit, recorder, mark),
            8 => self.run_with::<R, 8>(store, state, limit, recorder, mark),
            _ => self.run_with::<R, 9>(store, state, limit, recorder, mark),
        }
    }

    fn run_with<R: Recorder, const STRIDE: usize>(
        &self,
        store: &mut Store,
        state: u8,
        limit: u64,
        recorder: &mut R,
        mark: &mut impl FnMut(u8, Node),
    ) -> Result<u8> {
        let mut slots = [NIL; SLOTS];
        let mut registers = [NIL; REGISTERS];
        let mut controls = [0u8; CONTROLS];
        registers[..store.registers.len()].copy_from_slice(&store.registers);
        controls[..store.controls.len()].copy_from_slice(&store.controls);
        let bits = store.fields;
        let (words, keys) = (store.words.as_mut_slice(), store.keys.as_slice());
        let mut at = usize::from(self.entries[usize::from(state)]);
        let mut steps = 0;
        let stray = || Error::Tree("the tree does not fit the memory it runs on".to_string());
        macro_rules! slot {
            ($operand:expr) => {
                slots[usize::from($operand) % SLOTS]
            };
        }
        macro_rules! word {
            ($slot:expr, $field:expr) => {
                match words.get_mut(slot!($slot) as usize * STRIDE + $field) {
                    Some(word) => word,
                    None => return Err(stray()),
                }
            };
        }
        loop {
            let Some(&Instruction { op, a, b, c, d, target }) = self.instructions.get(at) else {
                return Err(stray());
            };
            at += 1;
            let jump = usize::from(target);
            match op {
                Op::Register => slot!(a) = registers[usize::from(b) % REGISTERS],
                Op::RegisterIfNil => {
                    slot!(a) = registers[usize::from(b) % REGISTERS];
                    at = if slot!(a) == NIL { jump } else { at };
                }
                Op::Load => slot!(a) = *word!(b, usize::from(c)),
                Op::LoadIfNil => {
                    let found = *word!(b, usize::from(c));
                    slot!(a) = found;
                    if found == NIL {
                        at = jump;
                    }
                }
                Op::LoadIfSame => {
                    let found = *word!(b, usize::from(c));
                    slot!(a) = found;
                    if found == slot!(d) {
                        at = jump;
                    }
                }
                Op::IfNil => {
                    if slot!(a) == NIL {
                        at = jump;
                    }
                }
                Op::IfSame => {
                    if slot!(a) == slot!(b) {
                        at = jump;
                    }
                }
                Op::IfSet => {
                    if *word!(a, bits) >> b & 1 == 1 {
                        at = jump;
                    }
                }
                Op::IfLess => {
                    let key = |node: u32| keys.get(node as usize).copied().unwrap_or(0);
                    if key(slot!(a)) < key(slot!(b)) {
                        at = jump;
                    }
                }
                Op::Switch => {
                    let value = controls[usize::from(a) % CONTROLS].min(b);
                    match self.tables.get(jump + usize::from(value)) {
                        Some(&entry) => at = usize::from(entry),
                        None => return Err(stray()),
                    }
                }
                Op::Set => {
                    let to = slot!(b);
                    *word!(a, usize::from(c)) = to;
                }
                Op::SetNil => *word!(a, usize::from(c)) = NIL,
                Op::Toggle => *word!(a, bits) ^= 1 << b,
                Op::SetRegister => registers[usize::from(a) % REGISTERS] = slot!(b),
                Op::SetRegisterNil => registers[usize::from(a) % REGISTERS] = NIL,
                Op::SetControl => controls[usize::from(a) % CONTROLS] = b,
                Op::Visit => recorder.visit(slot!(a)),
                Op::Mark => mark(b, slot!(a)),
                Op::Goto => {
                    at = jump;
                    steps += 1;
                    if steps > limit {
                        return Err(Error::Endless { steps: limit });
                    }
                }
                Op::Halt => {
                    let len = store.registers.len();
                    store.registers.copy_from_slice(&registers[..len]);
                    return Ok(a);
                }
            }
        }
    }
}

fn value_of(found: &Found) -> Option<u8> {
    match found {
        Found::Value(value) => Some(*value),
        _ => None,
    }
}
