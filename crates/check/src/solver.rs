//! A small SAT solver: unit propagation over two watched literals, and learning from conflicts.

/// A variable and its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lit(u32);

impl Lit {
    /// Always true: the first variable of every solver.
    pub const TRUE: Lit = Lit(0);
    pub const FALSE: Lit = Lit(1);

    pub fn positive(variable: usize) -> Lit {
        Lit(2 * variable as u32)
    }

    fn variable(self) -> usize {
        (self.0 / 2) as usize
    }

    fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What is known of a variable: its value, after how many decisions, and from which clause.
#[derive(Clone, Copy, Default)]
struct Known {
    value: Option<bool>,
    level: usize,
    reason: Option<usize>,
}

/// Clauses, and what is known so far.
pub struct Solver {
    variables: Vec<Known>,
    trail: Vec<Lit>,
    /// How much of the trail has been propagated.
    head: usize,
    /// Where each decision is on the trail.
    decisions: Vec<usize>,
    /// Each is watched by its first two literals.
    clauses: Vec<Vec<Lit>>,
    /// By literal, the clauses to look at when it becomes false.
    watches: Vec<Vec<usize>>,
    /// Whether there is a contradiction without any decision.
    contradiction: bool,
}

/// A point to go back to.
pub struct Mark {
    trail: usize,
    clauses: usize,
    variables: usize,
    contradiction: bool,
}

impl Solver {
    pub fn new(variables: usize) -> Solver {
        let mut solver = Solver {
            variables: vec![Known::default(); variables.max(1)],
            trail: Vec::new(),
            head: 0,
            decisions: Vec::new(),
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * variables.max(1)],
            contradiction: false,
        };
        solver.set(Lit::TRUE, None);
        solver
    }

    pub fn fresh(&mut self) -> Lit {
        self.variables.push(Known::default());
        self.watches.extend([Vec::new(), Vec::new()]);
        Lit::positive(self.variables.len() - 1)
    }

    pub fn value(&self, lit: Lit) -> Option<bool> {
        self.variables[lit.variable()].value.map(|value| value == lit.is_positive())
    }

    /// Adds a clause, simplified by what is known now: it must be dropped before that is.
    pub fn add(&mut self, clause: &[Lit]) {
        let mut rest: Vec<Lit> = Vec::with_capacity(clause.len());
        for &lit in clause {
            match self.value(lit) {
                Some(true) => return,
                None if rest.contains(&!lit) => return,
                None if !rest.contains(&lit) => rest.push(lit),
                _ => {}
            }
        }
        match rest[..] {
            [] => self.contradiction = true,
            [only] => self.set(only, None),
            _ => self.watch(rest),
        }
    }

    fn watch(&mut self, clause: Vec<Lit>) {
        for lit in &clause[..2] {
            self.watches[lit.0 as usize].push(self.clauses.len());
        }
        self.clauses.push(clause);
    }

    pub fn mark(&self) -> Mark {
        Mark {
            trail: self.trail.len(),
            clauses: self.clauses.len(),
            variables: self.variables.len(),
            contradiction: self.contradiction,
        }
    }

    /// Forgets variables, clauses and values since the mark.
    pub fn back_to(&mut self, mark: Mark) {
        self.undo(mark.trail);
        self.decisions.clear();
        for index in mark.clauses..self.clauses.len() {
            for at in 0..2 {
                let lit = self.clauses[index][at];
                self.watches[lit.0 as usize].retain(|&watching| watching != index);
            }
        }
        self.clauses.truncate(mark.clauses);
        self.variables.truncate(mark.variables);
        self.watches.truncate(2 * mark.variables);
        self.contradiction = mark.contradiction;
    }

    fn set(&mut self, lit: Lit, reason: Option<usize>) {
        let level = self.decisions.len();
        self.variables[lit.variable()] = Known { value: Some(lit.is_positive()), level, reason };
        self.trail.push(lit);
    }

    fn undo(&mut self, trail: usize) {
        for lit in self.trail.drain(trail..) {
            self.variables[lit.variable()] = Known::default();
        }
        self.head = self.head.min(trail);
    }

    /// Draws all conclusions from what is known; false on a contradiction.
    pub fn propagate(&mut self) -> bool {
        self.contradiction = self.contradiction || self.conflict().is_some();
        !self.contradiction
    }

    /// Draws conclusions from clauses of which one literal is left, up to a clause that is false.
    fn conflict(&mut self) -> Option<usize> {
        while let Some(&done) = self.trail.get(self.head) {
            let gone = !done;
            self.head += 1;
            let mut watching = std::mem::take(&mut self.watches[gone.0 as usize]);
            let (mut kept, mut found) = (0, None);
            for at in 0..watching.len() {
                let index = watching[at];
                if found.is_some() || !self.watches_another(index, gone) {
                    watching[kept] = index;
                    kept += 1;
                    let first = self.clauses[index][0];
                    match self.value(first) {
                        _ if found.is_some() => {}
                        Some(true) => {}
                        Some(false) => found = Some(index),
                        None => self.set(first, Some(index)),
                    }
                }
            }
            watching.truncate(kept);
            self.watches[gone.0 as usize] = watching;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Finds a clause another literal to watch for the one that is gone, if it needs one.
    fn watches_another(&mut self, index: usize, gone: Lit) -> bool {
        let mut clause = std::mem::take(&mut self.clauses[index]);
        if clause[0] == gone {
            clause.swap(0, 1);
        }
        let mut moved = false;
        if self.value(clause[0]) != Some(true)
            && let Some(at) = (2..clause.len()).find(|&at| self.value(clause[at]) != Some(false))
        {
            clause.swap(1, at);
            self.watches[clause[1].0 as usize].push(index);
            moved = true;
        }
        self.clauses[index] = clause;
        moved
    }

    /// Whether all clauses can hold; if so, the values are left as found, and what has none may
    /// be false.
    pub fn satisfiable(&mut self) -> bool {
        if self.contradiction {
            return false;
        }
        loop {
            if let Some(conflict) = self.conflict() {
                if self.decisions.is_empty() {
                    self.contradiction = true;
                    return false;
                }
                self.learn(conflict);
            } else if let Some(lit) = self.open() {
                self.decisions.push(self.trail.len());
                self.set(lit, None);
            } else {
                return true;
            }
        }
    }

    /// A literal of the last clause that would be false if all that is unknown were.
    fn open(&self) -> Option<Lit> {
        let open = |clause: &&Vec<Lit>| {
            clause.iter().all(|&lit| match self.value(lit) {
                None => lit.is_positive(),
                value => value == Some(false),
            })
        };
        let clause = self.clauses.iter().rev().find(open)?;
        clause.iter().copied().find(|&lit| self.value(lit).is_none())
    }

    /// Takes decisions back until the clause that follows from a conflict has a conclusion: the
    /// one that resolves the conflict with its reasons until only one literal is of this level.
    fn learn(&mut self, conflict: usize) {
        let level = self.decisions.len();
        let mut seen = vec![false; self.variables.len()];
        let (mut learned, mut open) = (Vec::new(), 0);
        let (mut clause, mut at) = (conflict, self.trail.len());
        let asserted = loop {
            for &lit in &self.clauses[clause] {
                let known = self.variables[lit.variable()];
                if known.value.is_some() && known.level > 0 && !seen[lit.variable()] {
                    seen[lit.variable()] = true;
                    match known.level == level {
                        true => open += 1,
                        false => learned.push(lit),
                    }
                }
            }
            let lit = loop {
                at -= 1;
                if seen[self.trail[at].variable()] {
                    break self.trail[at];
                }
            };
            open -= 1;
            match self.variables[lit.variable()].reason {
                Some(reason) if open > 0 => clause = reason,
                _ => break !lit,
            }
        };
        // The literal of the next level comes second, to be watched.
        let levels = |lit: &Lit| self.variables[lit.variable()].level;
        learned.sort_by_key(|lit| std::cmp::Reverse(levels(lit)));
        let back = learned.first().map_or(0, levels);
        let trail = self.decisions[back];
        self.decisions.truncate(back);
        self.undo(trail);
        learned.insert(0, asserted);
        match learned.len() {
            1 => self.set(asserted, None),
            _ => {
                self.watch(learned);
                self.set(asserted, Some(self.clauses.len() - 1));
            }
        }
    }
}
