//! Trees as a flat list of instructions; `run.rs` has the loop that runs them.
//!
//! What makes it fast: registers are slots, so that reading one costs nothing; a load and the
//! test of what it found are one instruction; every write names the instruction after it, so that
//! going to the next state costs nothing; and two writes share an instruction.

use super::tree::{Arm, Branch, Effect, Found, Test, Tree};
use crate::values::{ADD, MARKS, PULL, SET};
use crate::{Error, Result};

/// What an instruction does; its operands are `a` to `e` and `target`, the instruction that comes
/// next or, for tests, the one to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
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
    /// Recomputes the aggregate of slot a.
    Pull,
    /// Adds the operand to the value of slot a.
    Add,
    /// Sets the value of slot a to the operand.
    SetValue,
    /// Nothing but to go on at the target.
    Goto,
    /// Ends in state a.
    Halt,
    /// Ends because what was read in state a is not in the table.
    Stray,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub op: Op,
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub e: u8,
    pub target: u16,
}

/// All slots; a power of two, so that an index needs no check.
pub(super) const SLOTS: usize = 64;
/// Slots that a state may fill; then one for moves in a cycle, and one that is always nil.
const MOST_FILLED: u8 = 46;
const SPARE: u8 = 46;
const NIL_SLOT: u8 = 47;
/// The registers are the last 16 slots.
pub(super) const REGISTERS: u8 = 48;
pub(super) const CONTROLS: usize = 8;

/// A tree, flattened: eight bytes an instruction, no hashing, no allocation.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(super) instructions: Vec<Instruction>,
    /// Jump tables of `Switch`.
    pub(super) tables: Vec<u16>,
    /// Where the code of each state begins.
    pub(super) entries: Vec<u16>,
    pub(super) stride: usize,
    /// Fields that lead to children, if nodes have values.
    pub(super) children: Vec<u8>,
}

/// What code notes besides fields and registers.
#[derive(Clone, Copy)]
pub(super) struct Notes {
    /// The nodes it visits.
    pub visits: bool,
    /// Values and aggregates.
    pub values: bool,
}

/// Code under construction.
struct Writer {
    code: Code,
    notes: Notes,
    /// Where each slot of the present state is found: slots of registers are the registers.
    places: Vec<u8>,
    /// The present state.
    state: u8,
    /// Instructions that go to a state whose entry is not known yet.
    states: Vec<(usize, u8)>,
}

impl Code {
    /// The code of a tree, with or without visits and values.
    pub fn of(tree: &Tree, notes: Notes) -> Result<Self> {
        let signature = &tree.signature;
        let code = Code {
            instructions: Vec::new(),
            tables: Vec::new(),
            entries: vec![0; tree.states.len()],
            stride: signature.pointers.len() + usize::from(!signature.bits.is_empty()),
            children: signature.children.clone(),
        };
        let mut writer = Writer { code, notes, places: Vec::new(), state: 0, states: Vec::new() };
        for (state, branch) in tree.states.iter().enumerate() {
            writer.code.entries[state] = writer.position()?;
            match branch {
                None => {
                    writer.push(Op::Halt, [state as u8, 0, 0, 0, 0]);
                }
                Some(branch) => {
                    writer.places = (0..SLOTS as u8).collect();
                    writer.state = state as u8;
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
            Branch::Outside => {
                self.push(Op::Stray, [self.state, 0, 0, 0, 0]);
                return Ok(());
            }
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

    fn switch(&mut self, control: u8, outcomes: &[Arm]) -> Result<()> {
        let values = outcomes.iter().flat_map(|outcome| &outcome.found).filter_map(value_of);
        // A value above the largest goes the way of the largest: checked trees name them all.
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

    /// Writes to nodes first, then values, then registers, which the former may still need.
    fn act(&mut self, effects: &[Effect], next: u8) -> Result<()> {
        let start = self.code.instructions.len();
        let place_of = |writer: &Writer, to: Option<u8>| to.map_or(NIL_SLOT, |to| writer.place(to));
        let (mut sets, mut moves, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let valued = !self.code.children.is_empty();
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
                    if self.notes.visits {
                        self.push(Op::Visit, [self.place(slot), 0, 0, 0, 0]);
                    }
                }
                Effect::Mark { slot, mark } if valued && usize::from(mark) <= MARKS.len() => {
                    values.push((usize::from(mark), self.place(slot)));
                }
                // Nobody reads other marks.
                Effect::Mark { .. } => {}
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
        // Values come before aggregates, and both after pointers.
        values.sort_by_key(|&(mark, _)| mark == PULL);
        let noted = self.notes.values;
        for (mark, place) in values.into_iter().filter(|_| noted) {
            let op = match mark {
                ADD => Op::Add,
                SET => Op::SetValue,
                _ => Op::Pull,
            };
            self.push(op, [place, 0, 0, 0, 0]);
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
