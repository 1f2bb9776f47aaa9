//! The loop that runs compiled code.

use pgn_structures::Recorder;

use super::code::{CONTROLS, Code, Instruction, Op, REGISTERS, SLOTS};
use crate::store::NIL;
use crate::{Error, Result, Store, Values};

/// How compiled code ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// In this state.
    Halt(u8),
    /// In this state, where what it read is not in the table; nothing was written since it began.
    Outside(u8),
}

impl Code {
    /// Runs from the beginning of `state` to an end.
    pub(super) fn run<R: Recorder, V: Values>(
        &self,
        store: &mut Store,
        state: u8,
        limit: u64,
        (recorder, values): (&mut R, &mut V),
    ) -> Result<End> {
        let notes = (recorder, values);
        // The compiler knows how long a node is in each copy of the loop.
        match self.stride {
            1 => self.run_with::<R, V, 1>(store, state, limit, notes),
            2 => self.run_with::<R, V, 2>(store, state, limit, notes),
            3 => self.run_with::<R, V, 3>(store, state, limit, notes),
            4 => self.run_with::<R, V, 4>(store, state, limit, notes),
            5 => self.run_with::<R, V, 5>(store, state, limit, notes),
            6 => self.run_with::<R, V, 6>(store, state, limit, notes),
            7 => self.run_with::<R, V, 7>(store, state, limit, notes),
            8 => self.run_with::<R, V, 8>(store, state, limit, notes),
            _ => self.run_with::<R, V, 9>(store, state, limit, notes),
        }
    }

    fn run_with<R: Recorder, V: Values, const STRIDE: usize>(
        &self,
        store: &mut Store,
        state: u8,
        limit: u64,
        (recorder, values): (&mut R, &mut V),
    ) -> Result<End> {
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
            let follow = |jump: bool| if jump { branch(target) } else { at + 1 };
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
                Op::Pull => {
                    if V::ACTIVE {
                        let node = slot!(a);
                        let first = (node as usize).wrapping_mul(STRIDE);
                        let words = &*words;
                        let fields = self.children.iter().map(|&field| first + usize::from(field));
                        let children = fields.filter_map(|place| words.get(place).copied());
                        values.pull(node, children.filter(|&child| child != NIL));
                    }
                    target
                }
                Op::Add => {
                    values.add(slot!(a));
                    target
                }
                Op::SetValue => {
                    values.set(slot!(a));
                    target
                }
                Op::Goto => target,
                Op::Halt => {
                    store.registers.copy_from_slice(&slots[registers]);
                    return Ok(End::Halt(a));
                }
                Op::Stray => {
                    store.registers.copy_from_slice(&slots[registers]);
                    let used = store.controls.len();
                    store.controls.copy_from_slice(&controls[..used]);
                    return Ok(End::Outside(a));
                }
            };
        }
        Err(Error::Endless { operation: "the compiled operation".to_owned(), steps: limit })
    }
}

/// Where a jump goes. The compiler must not know that it is nothing but its target, or it makes a
/// conditional move of the jump: the next instruction would then wait for what was loaded, where
/// the processor could have guessed.
#[inline(always)]
fn branch(target: usize) -> usize {
    std::hint::black_box(target)
}
