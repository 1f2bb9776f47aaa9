//! The lease protocol as a model, every state of which is visited: processes that may stop or die
//! between any two steps, clocks that may step at any moment, files that others put in the way.
//!
//! A step of the model is one call of the file system in `src/lease`. Holds in every state:
//! nobody writes over what another holder has written since (no two writers), and a process that
//! is left alone gets the lease (no run is blocked for ever). That the search would notice is shown
//! by protocols with a flaw.

use std::collections::{HashSet, VecDeque};

/// What a protocol does differently, for the search to notice.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    /// Files are written in place, not by way of the holder's folder.
    NoFence,
    /// All of `.lease` is renamed away, and back if it is a fresh one.
    TakesAll,
    /// Stray files in `.lease` stay there.
    KeepsStrays,
    /// A heartbeat dated in the future never expires.
    TrustsTheFuture,
}

/// By the clock of whoever looks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Beat {
    Fresh,
    Old,
    Future,
}

/// `.lease`, or what was renamed away.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Folder {
    /// The process whose folder is in it, with its heartbeat.
    holder: Option<(u8, Beat)>,
    /// Whether a file lies in the holder's folder that is to be put in place.
    draft: bool,
    stray: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum At {
    /// Before the first step, or refused: it may try again.
    Outside,
    Look,
    /// It saw no holder: clears strays away, then renames its claim to `.lease`.
    Clear,
    Claim,
    /// It renamed its claim, whatever came of that.
    Confirm,
    /// It saw this holder, whose time is over.
    Take(u8),
    /// It has renamed away what was to be this holder's; only where all of `.lease` is taken.
    Compare(u8),
    Remove,
    Holding,
    Drafted,
    /// It has renamed its folder away, to give the lease back.
    Leaving,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Process {
    at: At,
    /// How often it may still look, try again and write.
    rounds: u8,
    tries: u8,
    writes: u8,
    /// How many writes there had been when it last read or wrote.
    known: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State<const P: usize> {
    lease: Option<Folder>,
    away: [Option<Folder>; P],
    processes: [Process; P],
    /// How many writes have been put in place.
    writes: u8,
    /// How often clocks may still step, and files be put in the way.
    disturbances: u8,
}

const ROUNDS: u8 = 3;

impl<const P: usize> State<P> {
    fn start(tries: u8, disturbances: u8) -> State<P> {
        let process = Process { at: At::Outside, rounds: 0, tries, writes: 0, known: 0 };
        State { lease: None, away: [None; P], processes: [process; P], writes: 0, disturbances }
    }

    fn holder(&self) -> Option<(u8, Beat)> {
        self.lease.and_then(|lease| lease.holder)
    }

    fn holds(&self, p: usize) -> bool {
        self.holder().is_some_and(|(holder, _)| usize::from(holder) == p)
    }

    /// What one step of a process leads to, or the sentence that says what is wrong with it.
    fn step(&self, p: usize, flaw: Flaw, found: &mut Vec<State<P>>) -> Result<(), String> {
        let process = self.processes[p];
        let with = |change: &dyn Fn(&mut State<P>)| {
            let mut next = *self;
            change(&mut next);
            next
        };
        let to = |at: At| with(&|next| next.processes[p].at = at);
        let empty = |lease: Option<Folder>| {
            lease.is_none_or(|lease| lease.holder.is_none() && !lease.stray)
        };
        let mine = Folder { holder: Some((p as u8, Beat::Fresh)), draft: false, stray: false };
        if !matches!(process.at, At::Outside | At::Dead) {
            found.push(to(At::Dead));
        }
        match process.at {
            At::Dead => {}
            At::Outside if process.tries == 0 => {}
            At::Outside => found.push(with(&|next| {
                let tries = process.tries - 1;
                let writes = 1;
                next.processes[p] =
                    Process { at: At::Look, rounds: ROUNDS, tries, writes, known: 0 };
            })),
            At::Look if process.rounds == 0 => found.push(to(At::Outside)),
            At::Look => {
                let at = match self.holder() {
                    None => At::Clear,
                    Some((_, Beat::Fresh)) => At::Outside,
                    Some((_, Beat::Future)) if flaw == Flaw::TrustsTheFuture => At::Outside,
                    Some((holder, Beat::Old)) => At::Take(holder),
                    Some((holder, Beat::Future)) => {
                        // Watched: a living holder beats, or is too slow.
                        let holds = [At::Confirm, At::Holding, At::Drafted];
                        if holds.contains(&self.processes[usize::from(holder)].at) {
                            found.push(to(At::Outside));
                        }
                        At::Take(holder)
                    }
                };
                let rounds = process.rounds - 1;
                found.push(with(&|next| {
                    (next.processes[p].at, next.processes[p].rounds) = (at, rounds)
                }));
            }
            At::Clear => found.push(with(&|next| {
                next.processes[p].at = At::Claim;
                if let Some(lease) = next.lease.as_mut().filter(|_| flaw != Flaw::KeepsStrays) {
                    lease.stray = false;
                }
            })),
            At::Claim => found.push(with(&|next| {
                next.processes[p].at = At::Confirm;
                if empty(next.lease) {
                    next.lease = Some(mine);
                }
            })),
            At::Confirm => found.push(with(&|next| {
                next.processes[p].at = if self.holds(p) { At::Holding } else { At::Look };
                next.processes[p].known = self.writes;
            })),
            At::Take(holder) if flaw == Flaw::TakesAll => found.push(with(&|next| {
                next.away[p] = next.lease.take();
                let taken = next.away[p].is_some();
                next.processes[p].at = if taken { At::Compare(holder) } else { At::Look };
            })),
            At::Take(holder) => found.push(with(&|next| {
                next.processes[p].at = At::Look;
                if self.holds(usize::from(holder)) {
                    next.away[p] = next.lease.map(|lease| Folder { stray: false, ..lease });
                    let stray = next.lease.is_some_and(|lease| lease.stray);
                    next.lease = Some(Folder { holder: None, draft: false, stray });
                    next.processes[p].at = At::Remove;
                }
            })),
            At::Compare(holder) => found.push(with(&|next| {
                let found = next.away[p].and_then(|away| away.holder);
                let is_it = found.is_some_and(|(found, _)| found == holder);
                next.processes[p].at = At::Remove;
                if !is_it && empty(next.lease) {
                    next.lease = next.away[p].take();
                    next.processes[p].at = At::Look;
                }
            })),
            At::Remove => found.push(with(&|next| {
                next.away[p] = None;
                next.processes[p].at = At::Look;
            })),
            At::Holding => {
                // Its heart beats, it gives the lease back, or it writes a draft.
                found.push(with(&|next| {
                    if let Some(lease) = next.lease.as_mut().filter(|_| self.holds(p)) {
                        lease.holder = mine.holder;
                    }
                }));
                found.push(with(&|next| {
                    if self.holds(p) {
                        let stray = next.lease.is_some_and(|lease| lease.stray);
                        next.lease = Some(Folder { holder: None, draft: false, stray });
                    }
                    next.processes[p].at = At::Leaving;
                }));
                let fenced = !self.holds(p) && flaw != Flaw::NoFence;
                found.push(match (process.writes, fenced) {
                    // Lost, which it notices.
                    (_, true) => to(At::Outside),
                    (0, false) => return Ok(()),
                    _ => with(&|next| {
                        next.processes[p].at = At::Drafted;
                        next.processes[p].writes -= 1;
                        if let Some(lease) = next.lease.as_mut().filter(|_| self.holds(p)) {
                            lease.draft = true;
                        }
                    }),
                });
            }
            At::Drafted => {
                let there = self.holds(p) && self.lease.is_some_and(|lease| lease.draft);
                if !there && flaw != Flaw::NoFence {
                    found.push(to(At::Outside));
                    return Ok(());
                }
                if process.known != self.writes {
                    return Err(format!("{p} writes over what another has written: {self:?}"));
                }
                found.push(with(&|next| {
                    next.writes += 1;
                    next.processes[p].known = next.writes;
                    next.processes[p].at = At::Holding;
                    if let Some(lease) = next.lease.as_mut() {
                        lease.draft = false;
                    }
                }));
            }
            At::Leaving => found.push(with(&|next| {
                if empty(next.lease) {
                    next.lease = None;
                }
                next.processes[p].at = At::Outside;
            })),
        }
        Ok(())
    }

    /// Clocks step, time goes by, somebody puts a file in the way.
    fn disturbed(&self) -> Vec<State<P>> {
        let (Some(lease), true) = (self.lease, self.disturbances > 0) else { return Vec::new() };
        let changed = |lease: Folder| State {
            lease: Some(lease),
            disturbances: self.disturbances - 1,
            ..*self
        };
        let mut found = vec![changed(Folder { stray: true, ..lease })];
        if let Some((holder, _)) = lease.holder {
            for beat in [Beat::Fresh, Beat::Old, Beat::Future] {
                found.push(changed(Folder { holder: Some((holder, beat)), ..lease }));
            }
        }
        found
    }

    /// Whether a process gets the lease if all others are gone and enough time goes by.
    fn gets_it_alone(&self, p: usize, flaw: Flaw) -> bool {
        let mut state = *self;
        for (other, process) in state.processes.iter_mut().enumerate() {
            process.at = if other == p { At::Outside } else { At::Dead };
        }
        state.processes[p].tries = 1;
        if let Some((_, beat @ Beat::Fresh)) = state.lease.as_mut().and_then(|l| l.holder.as_mut())
        {
            *beat = Beat::Old;
        }
        while state.processes[p].at != At::Holding {
            let mut next = Vec::new();
            state.step(p, flaw, &mut next).unwrap();
            // Not the one in which it dies.
            match next.into_iter().find(|next| next.processes[p].at != At::Dead) {
                Some(next) if next.processes[p].at != At::Outside => state = next,
                _ => return false,
            }
        }
        true
    }
}

/// Visits every state. Returns how many there are, or what is wrong with one of them.
fn search<const P: usize>(start: State<P>, flaw: Flaw) -> Result<usize, String> {
    let mut seen = HashSet::from([start]);
    let mut queue = VecDeque::from([start]);
    let mut next = Vec::new();
    while let Some(state) = queue.pop_front() {
        for p in 0..P {
            state.step(p, flaw, &mut next)?;
            if state.processes[p].at == At::Outside && !state.gets_it_alone(p, flaw) {
                return Err(format!("{p} is blocked for ever: {state:?}"));
            }
        }
        next.extend(state.disturbed());
        for state in next.drain(..) {
            if seen.insert(state) {
                queue.push_back(state);
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn two_and_three_processes_never_write_both_and_are_never_blocked() {
    let two = search(State::<2>::start(3, 2), Flaw::None).unwrap();
    let three = search(State::<3>::start(1, 1), Flaw::None).unwrap();
    assert!(two > 10_000 && three > 10_000, "{two} and {three} states");
}

#[test]
fn flaws_are_found() {
    for (flaw, what) in [
        (Flaw::NoFence, "writes over"),
        (Flaw::TakesAll, "writes over"),
        (Flaw::KeepsStrays, "blocked for ever"),
        (Flaw::TrustsTheFuture, "blocked for ever"),
    ] {
        let wrong = search(State::<3>::start(2, 1), flaw).unwrap_err();
        assert!(wrong.contains(what), "{wrong}");
    }
}
