//! Coverage: every view that the clauses allow is in the table.

use std::collections::HashMap;

use crate::proof::{NIL, NOTHING, Read, Row, View};
use crate::{Refutation, Theories, World};

/// Enumerates the views of all states; how many are possible.
pub fn check(world: &World, theories: &mut Theories) -> Result<usize, Refutation> {
    let mut rows: HashMap<&View, &Row> = HashMap::new();
    for row in &world.proof.rows {
        if rows.insert(&row.view, row).is_some() {
            return Err(world.refute("coverage", "a view is in the table twice", &row.view));
        }
    }
    let names = &world.proof.signature;
    let mut seen = 0;
    for (state, _) in names.states.iter().enumerate().filter(|(_, state)| state.halt.is_none()) {
        let empty = View {
            state,
            registers: vec![NOTHING; names.registers.len()],
            controls: vec![NOTHING; names.controls.len()],
            ..View::default()
        };
        let mut search = Search { world, theories, rows: &rows, state, seen: &mut seen };
        search.look(0, empty, Vec::new())?;
    }
    Ok(seen)
}

struct Search<'s> {
    world: &'s World,
    theories: &'s mut Theories,
    rows: &'s HashMap<&'s View, &'s Row>,
    state: usize,
    seen: &'s mut usize,
}

impl Search<'_> {
    /// Goes on with the read of this number, in every way that is not contradictory.
    fn look(&mut self, at: usize, view: View, slots: Vec<Option<usize>>) -> Result<(), Refutation> {
        let theory = self.theories.of(self.world, self.state, view.nodes);
        let mark = theory.solver.mark();
        theory.assume(&view);
        let possible = theory.solver.propagate();
        theory.solver.back_to(mark);
        if !possible {
            return Ok(());
        }
        let names = &self.world.proof.signature;
        let Some(&read) = self.world.proof.lenses[self.state].get(at) else {
            return self.arrive(&view);
        };
        let slot = |slot: usize| slots.get(slot).copied().flatten();
        match read {
            Read::Control(control) => {
                for value in 0..names.controls[control].values.len() {
                    let mut view = view.clone();
                    view.controls[control] = value as i16;
                    self.look(at + 1, view, slots.clone())?;
                }
                Ok(())
            }
            Read::Register(register) => {
                self.follow(at, &view, &slots, |view| &mut view.registers[register])
            }
            Read::Pointer(from, field) => match slot(from) {
                None => self.look(at + 1, view, [slots, vec![None]].concat()),
                Some(node) => {
                    let place = node * names.pointers.len() + field;
                    self.follow(at, &view, &slots, |view| &mut view.pointers[place])
                }
            },
            Read::Bit(from, bit) => {
                let place = slot(from).map(|node| node * names.bits.len() + bit);
                match place.filter(|&place| view.bits[place] == NOTHING) {
                    None => self.look(at + 1, view, slots),
                    Some(place) => [0, 1].into_iter().try_for_each(|value| {
                        let mut view = view.clone();
                        view.bits[place] = value;
                        self.look(at + 1, view, slots.clone())
                    }),
                }
            }
            Read::Less(a, b) => match (slot(a), slot(b)) {
                (Some(a), Some(b))
                    if a != b && !view.less.iter().any(|one| (one.0, one.1) == (a, b)) =>
                {
                    [0, 1].into_iter().try_for_each(|less| {
                        let mut view = view.clone();
                        view.less.push((a, b, less));
                        self.look(at + 1, view, slots.clone())
                    })
                }
                _ => self.look(at + 1, view, slots),
            },
        }
    }

    /// Reads a pointer: it is known already, or nil, or a node in sight, or another one.
    fn follow(
        &mut self,
        at: usize,
        view: &View,
        slots: &[Option<usize>],
        place: impl Fn(&mut View) -> &mut i16,
    ) -> Result<(), Refutation> {
        let known = *place(&mut view.clone());
        let choices = if known == NOTHING { NIL..=view.nodes as i16 } else { known..=known };
        for to in choices {
            let mut view = view.clone();
            if to == view.nodes as i16 {
                let names = &self.world.proof.signature;
                view.nodes += 1;
                view.pointers.resize(view.nodes * names.pointers.len(), NOTHING);
                view.bits.resize(view.nodes * names.bits.len(), NOTHING);
            }
            *place(&mut view) = to;
            let slot = (to != NIL).then_some(to as usize);
            self.look(at + 1, view, [slots, &[slot]].concat())?;
        }
        Ok(())
    }

    /// A view that nothing has excluded so far: it is in the table, or a search excludes it.
    fn arrive(&mut self, view: &View) -> Result<(), Refutation> {
        *self.seen += 1;
        if self.rows.contains_key(view) {
            return Ok(());
        }
        let unread: Vec<usize> = (0..view.registers.len())
            .filter(|&register| view.registers[register] == NOTHING)
            .collect();
        for more in 0..=unread.len() {
            let nodes = view.nodes + more;
            let theory = self.theories.of(self.world, self.state, nodes);
            let mark = theory.solver.mark();
            theory.assume(view);
            for &register in &unread {
                let places: Vec<_> =
                    (0..=nodes).map(|node| theory.register(register, node)).collect();
                theory.solver.add(&places);
            }
            let possible = theory.solver.satisfiable();
            let model = if possible { crate::draw(self.world, theory) } else { String::new() };
            theory.solver.back_to(mark);
            if possible {
                let why = format!(
                    "a view that the clauses allow is not in the table; for example with\n{model}"
                );
                return Err(self.world.refute("coverage", &why, view));
            }
        }
        *self.seen -= 1;
        Ok(())
    }
}
