//! `dsu` (version 1), compiled from a machine. Generated: do not edit.
//!
//! Each function is the decision tree of a state: it reads what it needs around the
//! registers of the controller, writes, and names the next state. Nodes are numbers
//! below the number of keys; what is visited is not noted.
#![allow(dead_code)]

/// No node.
pub const NIL: u32 = u32::MAX;

/// What is stored per node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub up: u32,
}

/// How an operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Answer(bool),
    Node(Option<u32>),
    Refused(&'static str),
}

/// Where the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Climb,
    Compress,
    Found,
    Link,
    No,
    Yes,
    Root,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Union,
    Same,
    Find,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Second {
    No,
    Yes,
}

/// Registers, and small fields of the controller.
#[derive(Clone, Copy, Debug)]
struct Controller {
    u: u32,
    v: u32,
    s: u32,
    root: u32,
    x: u32,
    goal: Goal,
    second: Second,
}

#[rustfmt::skip]
const START: Controller = Controller {
    u: NIL,
    v: NIL,
    s: NIL,
    root: NIL,
    x: NIL,
    goal: Goal::Union,
    second: Second::No,
};

#[rustfmt::skip]
const ALONE: Node = Node {
    up: NIL,
};

/// The nodes, and a key for each.
#[derive(Clone, Debug)]
pub struct Dsu {
    pub nodes: Vec<Node>,
    pub keys: Vec<u32>,
}

impl Dsu {
    /// One node per key, all pointers nil.
    pub fn new(keys: Vec<u32>) -> Self {
        let nodes = vec![ALONE; keys.len()];
        Dsu { nodes, keys }
    }

    pub fn query_union(&mut self, u: u32, v: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.v = v;
        c.goal = Goal::Union;
        self.run(State::Start, c)
    }

    pub fn union(&mut self, u: u32, v: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.v = v;
        c.goal = Goal::Union;
        self.run(State::Start, c)
    }

    pub fn same(&mut self, u: u32, v: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.v = v;
        c.goal = Goal::Same;
        self.run(State::Start, c)
    }

    pub fn find(&mut self, u: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.goal = Goal::Find;
        self.run(State::Start, c)
    }

    fn run(&mut self, mut state: State, mut c: Controller) -> Outcome {
        loop {
            state = match state {
                State::Start => {
                    self.step_start(&mut c);
                    self.step_climb(&mut c)
                }
                State::Climb => self.step_climb(&mut c),
                State::Compress => self.step_compress(&mut c),
                State::Found => self.step_found(&mut c),
                State::Link => self.step_link(&mut c),
                State::No => return Outcome::Answer(false),
                State::Yes => return Outcome::Answer(true),
                State::Root => return Outcome::Node((c.root != NIL).then_some(c.root)),
            };
        }
    }

    #[inline(always)]
    fn node(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    #[inline(always)]
    fn step_start(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        c.s = u;
        c.root = u;
        State::Climb
    }

    #[inline(always)]
    fn step_climb(&mut self, c: &mut Controller) -> State {
        let root = c.root;
        let root_up = self.node(root).up;
        if root_up == NIL {
            return State::Compress;
        }
        c.root = root_up;
        State::Climb
    }

    #[inline(always)]
    fn step_compress(&mut self, c: &mut Controller) -> State {
        let s = c.s;
        let root = c.root;
        if root == s {
            return State::Found;
        }
        let s_up = self.node(s).up;
        if s_up == root {
            return State::Found;
        }
        self.node(s).up = root;
        c.s = s_up;
        State::Compress
    }

    #[inline(always)]
    fn step_found(&mut self, c: &mut Controller) -> State {
        match c.goal {
            Goal::Find => State::Root,
            _ => match c.second {
                Second::No => {
                    let v = c.v;
                    let root = c.root;
                    c.s = v;
                    c.root = v;
                    c.x = root;
                    c.second = Second::Yes;
                    State::Climb
                }
                _ => State::Link,
            },
        }
    }

    #[inline(always)]
    fn step_link(&mut self, c: &mut Controller) -> State {
        match c.goal {
            Goal::Same => {
                let root = c.root;
                let x = c.x;
                if x == root {
                    return State::Yes;
                }
                State::No
            }
            _ => {
                let root = c.root;
                let x = c.x;
                if x == root {
                    return State::No;
                }
                if self.keys[x as usize] < self.keys[root as usize] {
                    self.node(x).up = root;
                    return State::Yes;
                }
                self.node(root).up = x;
                State::Yes
            }
        }
    }
}
