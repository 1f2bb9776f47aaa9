//! Trees as a flat list of instructions, and the loop that runs them.
//!
//! What makes it fast: registers are slots, so that reading one costs nothing; a load and the
//! test of what it found are one instruction; every write names the instruction after it, so that
//! going to the next state costs nothing; and two writes share an instruction.

use pgn_structures::{Node, Recorder};

use super::tree::{Branch, Effect, Found, Outcome, Test, Tree};
use crate::store::NIL;
use crate::{Error, Result, Store};

/// What an instruction does; its operands are `a` to `e` and `target`, the instruction that comes
/// next or, for tests, the one to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    /// Slot a = field c of slot b.
    Load,
    /// Slot a = field c of slot b; jumps if it is nil.
    LoadIfNil,
    /// Slot a = field c of slot b; jumps if it is slot d.
    LoadIfSame,
    /// Jumps if slot a is nil.
    IfNil,
    /// Jumps if slots a and b are the same.
    IfSame,
    /// Jumps if bit b of slot a is set.
    IfSet,
    /// Jumps if the key of slot a is less than that of slot b.
    IfLess,
    /// Jumps to the entry for the value of control a in the table that begins at the target.
    Switch,
    /// Field c of slot a = slot b.
    Set,
    /// Field c / 16 of slot a = slot b, field c % 16 of slot d = slot e.
    SetTwo,
    /// Toggles bit b of slot a.
    Toggle,
    /// Slot a = slot b.
    Move,
    /// Slot a = slot b, then slot d = slot e.
    MoveTwo,
    /// Control a = b.
    SetControl,
    /// Visits slot a.
    Visit,
    /// Sets mark b of slot a.
    Mark,
    /// Nothing but to go on at the target.
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
    e: u8,
    target: u16,
}

/// All slots; a power of two, so that an index needs no check.
const SLOTS: usize = 64;
/// Slots that a state may fill; then one for moves in a cycle, and one that is always nil.
const MOST_FILLED: u8 = 46;
const SPARE: u8 = 46;
const NIL_SLOT: u8 = 47;
/// The registers are the last 16 slots.
const REGISTERS: u8 = 48;
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

/// Code under construction.
struct Writer {
    code: Code,
    /// Whether visits are noted.
    visits: bool,
    /// Where each slot of the present state is found: slots of registers are the registers.
    places: Vec<u8>,
    /// Instructions that go to a state whose entry is not known yet.
    states: Vec<(usize, u8)>,
}

impl Code {
    /// The code of a tree, with or without its visits.
    pub fn of(tree: &Tree, visits: bool) -> Result<Self> {
        let signature = &tree.signature;
        let code = Code {
            instructions: Vec::new(),
            tables: Vec::new(),
            entries: vec![0; tree.states.len()],
            stride: signature.pointers.len() + usize::from(!signature.bits.is_empty()),
        };
        let mut writer = Writer { code, visits, places: Vec::new(), states: Vec::new() };
        for (state, branch) in tree.states.iter().enumerate() {
            writer.code.entries[state] = writer.position()?;
            match branch {
                None => {
                    writer.push(Op::Halt, [state as u8, 0, 0, 0, 0]);
                }
                Some(branch) => {
                    writer.places = (0..SLOTS as u8).collect();
                    writer.branch(branch)?;
                }
            }
        }
        let Writer { mut code, states, .. } = writer;
        for (instruction, state) in states {
            let entry = code.entries.get(usize::from(state)).copied();
            code.instructions[instruction].target = entry.ok_or_else(|| {
                Error::Tree(format!("the tree goes to state {state}, which does not exist"))
            })?;
        }
        Ok(code)
    }
}

impl Writer {
    fn position(&self) -> Result<u16> {
        u16::try_from(self.code.instructions.len())
            .map_err(|_| Error::Tree("the tree has more than 65,535 instructions".to_string()))
    }

    fn push(&mut self, op: Op, operands: [u8; 5]) -> usize {
        let [a, b, c, d, e] = operands;
        let at = self.code.instructions.len();
        // Unless it is aimed elsewhere, the next instruction follows.
        let target = (at + 1) as u16;
        self.code.instructions.push(Instruction { op, a, b, c, d, e, target });
        at
    }

    fn place(&self, slot: u8) -> u8 {
        self.places[usize::from(slot) % SLOTS]
    }

    fn branch(&mut self, branch: &Branch) -> Result<()> {
        let (test, outcomes) = match branch {
            Branch::Act { effects, next } => return self.act(effects, *next),
            Branch::Read { test, outcomes } => (*test, outcomes),
        };
        let Some((last, tested)) = outcomes.split_last() else {
            return Err(Error::Tree("the tree has a read without outcomes".to_string()));
        };
        match test {
            Test::Control { control } => return self.switch(control, outcomes),
            Test::Register { slot, register } => {
                self.places[usize::from(slot) % SLOTS] = REGISTERS + register % 16;
            }
            Test::Pointer { from, field, slot } => {
                if slot >= MOST_FILLED {
                    return Err(Error::Tree(format!(
                        "a state fills more than {MOST_FILLED} slots"
                    )));
                }
                let from = self.place(from);
                self.push(Op::Load, [slot, from, field, 0, 0]);
            }
            Test::Bit { .. } | Test::Less { .. } => {}
        }
        // Tests jump to what comes then; the last outcome follows at once.
        let mut jumps = Vec::new();
        for (index, outcome) in tested.iter().enumerate() {
            for &found in &outcome.found {
                jumps.push((self.test(test, found)?, index));
            }
        }
        self.branch(&last.then)?;
        for (index, outcome) in tested.iter().enumerate() {
            let here = self.position()?;
            for &(jump, _) in jumps.iter().filter(|(_, of)| *of == index) {
                self.code.instructions[jump].target = here;
            }
            self.branch(&outcome.then)?;
        }
        Ok(())
    }

    /// A jump on one outcome of a test, to be aimed later; joined to the load before it if there
    /// is one.
    fn test(&mut self, test: Test, found: Found) -> Result<usize> {
        let load = self.code.instructions.last().copied().filter(|last| {
            matches!(test, Test::Pointer { slot, .. } if last.op == Op::Load && last.a == slot)
        });
        let (op, operands) = match (test, found, load) {
            (Test::Pointer { .. }, Found::Nil, Some(load)) => {
                self.code.instructions.pop();
                (Op::LoadIfNil, [load.a, load.b, load.c, 0, 0])
            }
            (Test::Pointer { .. }, Found::Same(other), Some(load)) => {
                self.code.instructions.pop();
                (Op::LoadIfSame, [load.a, load.b, load.c, self.place(other), 0])
            }
            (Test::Register { slot, .. } | Test::Pointer { slot, .. }, Found::Nil, _) => {
                (Op::IfNil, [self.place(slot), 0, 0, 0, 0])
            }
            (Test::Register { slot, .. } | Test::Pointer { slot, .. }, Found::Same(other), _) => {
                (Op::IfSame, [self.place(slot), self.place(other), 0, 0, 0])
            }
            (Test::Bit { slot, bit }, Found::Truth(true), _) => {
                (Op::IfSet, [self.place(slot), bit, 0, 0, 0])
            }
            (Test::Less { a, b }, Found::Truth(true), _) => {
                (Op::IfLess, [self.place(a), self.place(b), 0, 0, 0])
            }
            _ => return Err(Error::Tree(format!("the tree tests {test:?} for {found:?}"))),
        };
        Ok(self.push(op, operands))
    }

    fn switch(&mut self, control: u8, outcomes: &[Outcome]) -> Result<()> {
        let values = outcomes.iter().flat_map(|outcome| &outcome.found).filter_map(value_of);
        let most = values.max().unwrap_or(0);
        let table = self.code.tables.len();
        self.code.tables.resize(table + usize::from(most) + 1, 0);
        let target = u16::try_from(table)
            .map_err(|_| Error::Tree("the tree has too many jump tables".to_string()))?;
        let switch = self.push(Op::Switch, [control, most, 0, 0, 0]);
        self.code.instructions[switch].target = target;
        for outcome in outcomes {
            let here = self.position()?;
            for value in outcome.found.iter().filter_map(value_of) {
                self.code.tables[table + usize::from(value)] = here;
            }
            self.branch(&outcome.then)?;
        }
        Ok(())
    }

    /// Writes to nodes first, then to registers, which the former may still need.
    fn act(&mut self, effects: &[Effect], next: u8) -> Result<()> {
        let start = self.code.instructions.len();
        let place_of = |writer: &Writer, to: Option<u8>| to.map_or(NIL_SLOT, |to| writer.place(to));
        let mut sets = Vec::new();
        let mut moves = Vec::new();
        for &effect in effects {
            match effect {
                Effect::Pointer { slot, field, to } => {
                    sets.push((self.place(slot), place_of(self, to), field));
                }
                Effect::Register { register, to } => {
                    moves.push((REGISTERS + register % 16, place_of(self, to)));
                }
                Effect::Toggle { slot, bit } => {
                    self.push(Op::Toggle, [self.place(slot), bit, 0, 0, 0]);
                }
                Effect::Control { control, value } => {
                    self.push(Op::SetControl, [control, value, 0, 0, 0]);
                }
                Effect::Mark { slot, mark: 0 } => {
                    if self.visits {
                        self.push(Op::Visit, [self.place(slot), 0, 0, 0, 0]);
                    }
                }
                Effect::Mark { slot, mark } => {
                    self.push(Op::Mark, [self.place(slot), mark, 0, 0, 0]);
                }
            }
        }
        for pair in sets.chunks(2) {
            match *pair {
                [(a, b, first), (d, e, second)] => {
                    self.push(Op::SetTwo, [a, b, first << 4 | second, d, e])
                }
                _ => self.push(Op::Set, [pair[0].0, pair[0].1, pair[0].2, 0, 0]),
            };
        }
        for pair in in_order(moves).chunks(2) {
            match *pair {
                [(a, b), (d, e)] => self.push(Op::MoveTwo, [a, b, 0, d, e]),
                _ => self.push(Op::Move, [pair[0].0, pair[0].1, 0, 0, 0]),
            };
        }
        if self.code.instructions.len() == start {
            self.push(Op::Goto, [0; 5]);
        }
        self.position()?;
        self.states.push((self.code.instructions.len() - 1, next));
        Ok(())
    }
}

/// Moves that are meant to happen at once, in an order in which none overwrites what a later one
/// needs.
fn in_order(mut moves: Vec<(u8, u8)>) -> Vec<(u8, u8)> {
    let mut ordered = Vec::new();
    moves.retain(|(to, from)| to != from);
    while !moves.is_empty() {
        let free = (0..moves.len()).find(|&index| {
            let others = moves.iter().enumerate().filter(|(other, _)| *other != index);
            others.into_iter().all(|(_, &(_, from))| from != moves[index].0)
        });
        match free {
            Some(index) => ordered.push(moves.remove(index)),
            None => {
                // Only cycles are left: one value waits in the spare slot.
                let (to, _) = moves[0];
                ordered.push((SPARE, to));
                for (_, from) in moves.iter_mut().filter(|(_, from)| *from == to) {
                    *from = SPARE;
                }
            }
        }
    }
    ordered
}

fn value_of(found: &Found) -> Option<u8> {
    match found {
        Found::Value(value) => Some(*value),
        _ => None,
    }
}

impl Code {
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
        let mut controls = [0u8; CONTROLS];
        let registers = usize::from(REGISTERS)..usize::from(REGISTERS) + store.registers.len();
        slots[registers.clone()].copy_from_slice(&store.registers);
        controls[..store.controls.len()].copy_from_slice(&store.controls);
        let bits = store.fields;
        let (words, keys) = (store.words.as_mut_slice(), store.keys.as_slice());
        let (instructions, tables) = (self.instructions.as_slice(), self.tables.as_slice());
        let mut at = usize::from(self.entries[usize::from(state)]);
        let stray = || Error::Tree("the tree does not fit the memory it runs on".to_string());
        macro_rules! slot {
            ($operand:expr) => {
                slots[usize::from($operand) % SLOTS]
            };
        }
        macro_rules! word {
            ($slot:expr, $field:expr) => {
                match words.get_mut((slot!($slot) as usize).wrapping_mul(STRIDE) + $field) {
                    Some(word) => word,
                    None => return Err(stray()),
                }
            };
        }
        // No micro-step has more instructions than this.
        for _ in 0..limit.saturating_mul(256) {
            let Some(&Instruction { op, a, b, c, d, e, target }) = instructions.get(at) else {
                return Err(stray());
            };
            let target = usize::from(target);
            let follow = |jump: bool| if jump { target } else { at + 1 };
            at = match op {
                Op::Load => {
                    slot!(a) = *word!(b, usize::from(c));
                    target
                }
                Op::LoadIfNil => {
                    let found = *word!(b, usize::from(c));
                    slot!(a) = found;
                    follow(found == NIL)
                }
                Op::LoadIfSame => {
                    let found = *word!(b, usize::from(c));
                    slot!(a) = found;
                    follow(found == slot!(d))
                }
                Op::IfNil => follow(slot!(a) == NIL),
                Op::IfSame => follow(slot!(a) == slot!(b)),
                Op::IfSet => follow(*word!(a, bits) >> b & 1 == 1),
                Op::IfLess => {
                    let key = |node: u32| keys.get(node as usize).copied().unwrap_or(0);
                    follow(key(slot!(a)) < key(slot!(b)))
                }
                Op::Switch => {
                    let value = controls[usize::from(a) % CONTROLS].min(b);
                    let Some(&entry) = tables.get(target + usize::from(value)) else {
                        return Err(stray());
                    };
                    usize::from(entry)
                }
                Op::Set => {
                    let to = slot!(b);
                    *word!(a, usize::from(c)) = to;
                    target
                }
                Op::SetTwo => {
                    let (first, second) = (slot!(b), slot!(e));
                    *word!(a, usize::from(c >> 4)) = first;
                    *word!(d, usize::from(c & 15)) = second;
                    target
                }
                Op::Toggle => {
                    *word!(a, bits) ^= 1 << b;
                    target
                }
                Op::Move => {
                    slot!(a) = slot!(b);
                    target
                }
                Op::MoveTwo => {
                    slot!(a) = slot!(b);
                    slot!(d) = slot!(e);
                    target
                }
                Op::SetControl => {
                    controls[usize::from(a) % CONTROLS] = b;
                    target
                }
                Op::Visit => {
                    recorder.visit(slot!(a));
                    target
                }
                Op::Mark => {
                    mark(b, slot!(a));
                    target
                }
                Op::Goto => target,
                Op::Halt => {
                    store.registers.copy_from_slice(&slots[registers]);
                    return Ok(a);
                }
            };
        }
        Err(Error::Endless { steps: limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_happen_at_once() {
        // Every way to fill three places from five.
        for choice in 0..125u32 {
            let sources = [choice % 5, choice / 5 % 5, choice / 25].map(|from| 48 + from as u8);
            let moves: Vec<(u8, u8)> = (48..).zip(sources).collect();
            let mut values: Vec<u32> = (0..64).collect();
            for (to, from) in in_order(moves) {
                values[usize::from(to)] = values[usize::from(from)];
            }
            for (to, from) in (48..).zip(sources) {
                assert_eq!(values[to], u32::from(from), "{sources:?}");
            }
        }
    }
}
