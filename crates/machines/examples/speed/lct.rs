//! `lct` (version 2), compiled from a machine. Generated: do not edit.
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
    pub left: u32,
    pub right: u32,
    pub flip: bool,
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
    Order,
    StartLink,
    Splay,
    ReleaseGrandparent,
    ReleaseParent,
    ReleaseNode,
    ChooseRotation,
    FirstRotation,
    Rotation,
    ReleaseAtTheEnd,
    CutOffDeeper,
    Climb,
    Join,
    Turn,
    TurnAndEnd,
    WalkLeft,
    RootFound,
    GoOnWithV,
    CompareRoot,
    Cut,
    Attach,
    CheckRoot,
    Link,
    Connected,
    Path,
    ChangeValue,
    No,
    Yes,
    Done,
    Root,
    SameNode,
    NotARoot,
    AlreadyConnected,
    IsARoot,
    NotConnected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    ToggleEvertU,
    ToggleFindRootOfV,
    ToggleExposeRoot,
    ToggleCutV,
    ToggleLinkU,
    ToggleLinkToV,
    Evert,
    FindRoot,
    ExposeRoot,
    Cut,
    LinkU,
    LinkToV,
    ConnectedU,
    ConnectedV,
    PathEvertU,
    PathExposeV,
    Add,
    SetValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Return {
    First,
    PathParent,
    Again,
}

/// Registers, and small fields of the controller.
#[derive(Clone, Copy, Debug)]
struct Controller {
    u: u32,
    v: u32,
    t: u32,
    s: u32,
    x: u32,
    context: Context,
    return_: Return,
}

#[rustfmt::skip]
const START: Controller = Controller {
    u: NIL,
    v: NIL,
    t: NIL,
    s: NIL,
    x: NIL,
    context: Context::ToggleEvertU,
    return_: Return::First,
};

#[rustfmt::skip]
const ALONE: Node = Node {
    up: NIL,
    left: NIL,
    right: NIL,
    flip: false,
};

/// Values of nodes, and what is aggregated over them.
pub trait Values {
    /// Recomputes the aggregate of a node from its children's, of which some may be `NIL`.
    fn pull(&mut self, node: u32, children: [u32; 2]);
    /// Adds the operand of the operation to the value of a node.
    fn add(&mut self, node: u32);
    /// Sets the value of a node to the operand of the operation.
    fn set(&mut self, node: u32);
}

/// No values.
impl Values for () {
    fn pull(&mut self, _: u32, _: [u32; 2]) {}
    fn add(&mut self, _: u32) {}
    fn set(&mut self, _: u32) {}
}

/// The nodes, a key for each, and their values.
#[derive(Clone, Debug)]
pub struct Lct<V = ()> {
    pub nodes: Vec<Node>,
    pub keys: Vec<u32>,
    pub values: V,
}

impl<V: Values> Lct<V> {
    /// One node per key, all pointers nil.
    #[rustfmt::skip]
    pub fn new(keys: Vec<u32>, values: V) -> Self {
        let nodes = vec![ALONE; keys.len()];
        Lct { nodes, keys, values }
    }

    #[inline(always)]
    fn pull(&mut self, node: u32) {
        if let Some(found) = self.nodes.get(node as usize) {
            self.values.pull(node, [found.left, found.right]);
        }
    }

    pub fn query_toggle(&mut self, u: u32, v: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.v = v;
        c.context = Context::ToggleEvertU;
        self.run(State::Order, c)
    }

    pub fn link(&mut self, u: u32, v: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.v = v;
        c.context = Context::LinkU;
        self.run(State::StartLink, c)
    }

    pub fn cut(&mut self, u: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.context = Context::Cut;
        self.run(State::Start, c)
    }

    pub fn connected(&mut self, u: u32, v: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.v = v;
        c.context = Context::ConnectedU;
        self.run(State::Start, c)
    }

    pub fn find_root(&mut self, u: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.context = Context::FindRoot;
        self.run(State::Start, c)
    }

    pub fn evert(&mut self, u: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.context = Context::Evert;
        self.run(State::Start, c)
    }

    pub fn path_aggregate(&mut self, u: u32, v: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.v = v;
        c.context = Context::PathEvertU;
        self.run(State::Start, c)
    }

    pub fn add(&mut self, u: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.context = Context::Add;
        self.run(State::Start, c)
    }

    pub fn set_value(&mut self, u: u32) -> Outcome {
        let mut c = START;
        c.u = u;
        c.context = Context::SetValue;
        self.run(State::Start, c)
    }

    fn run(&mut self, mut state: State, mut c: Controller) -> Outcome {
        loop {
            state = match state {
                State::Start => {
                    self.step_start(&mut c);
                    self.step_splay(&mut c)
                }
                State::Order => self.step_order(&mut c),
                State::StartLink => self.step_start_link(&mut c),
                State::Splay => self.step_splay(&mut c),
                State::ReleaseGrandparent => {
                    self.step_release_grandparent(&mut c);
                    self.step_release_parent(&mut c);
                    self.step_release_node(&mut c);
                    self.step_choose_rotation(&mut c)
                }
                State::ReleaseParent => {
                    self.step_release_parent(&mut c);
                    self.step_release_node(&mut c);
                    self.step_choose_rotation(&mut c)
                }
                State::ReleaseNode => {
                    self.step_release_node(&mut c);
                    self.step_choose_rotation(&mut c)
                }
                State::ChooseRotation => self.step_choose_rotation(&mut c),
                State::FirstRotation => {
                    self.step_first_rotation(&mut c);
                    self.step_rotation(&mut c);
                    self.step_splay(&mut c)
                }
                State::Rotation => {
                    self.step_rotation(&mut c);
                    self.step_splay(&mut c)
                }
                State::ReleaseAtTheEnd => self.step_release_at_the_end(&mut c),
                State::CutOffDeeper => {
                    self.step_cut_off_deeper(&mut c);
                    self.step_climb(&mut c)
                }
                State::Climb => self.step_climb(&mut c),
                State::Join => {
                    self.step_join(&mut c);
                    self.step_splay(&mut c)
                }
                State::Turn => {
                    self.step_turn(&mut c);
                    self.step_go_on_with_v(&mut c);
                    self.step_splay(&mut c)
                }
                State::TurnAndEnd => self.step_turn_and_end(&mut c),
                State::WalkLeft => self.step_walk_left(&mut c),
                State::RootFound => {
                    self.step_root_found(&mut c);
                    self.step_splay(&mut c)
                }
                State::GoOnWithV => {
                    self.step_go_on_with_v(&mut c);
                    self.step_splay(&mut c)
                }
                State::CompareRoot => {
                    self.step_compare_root(&mut c);
                    self.step_splay(&mut c)
                }
                State::Cut => self.step_cut(&mut c),
                State::Attach => self.step_attach(&mut c),
                State::CheckRoot => self.step_check_root(&mut c),
                State::Link => self.step_link(&mut c),
                State::Connected => self.step_connected(&mut c),
                State::Path => self.step_path(&mut c),
                State::ChangeValue => self.step_change_value(&mut c),
                State::No => return Outcome::Answer(false),
                State::Yes => return Outcome::Answer(true),
                State::Done => return Outcome::Done,
                State::Root => return Outcome::Node((c.t != NIL).then_some(c.t)),
                State::SameNode => return Outcome::Refused("u and v are the same node"),
                State::NotARoot => return Outcome::Refused("u is not the root of its tree"),
                State::AlreadyConnected => {
                    return Outcome::Refused("u and v are already connected");
                }
                State::IsARoot => return Outcome::Refused("u is the root of its tree"),
                State::NotConnected => return Outcome::Refused("u and v are not connected"),
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
        c.t = u;
        c.s = u;
        c.return_ = Return::First;
        State::Splay
    }

    #[inline(always)]
    fn step_order(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let v = c.v;
        if v == u {
            return State::SameNode;
        }
        if self.keys[u as usize] < self.keys[v as usize] {
            c.u = v;
            c.v = u;
            c.t = v;
            c.s = v;
            c.return_ = Return::First;
            return State::Splay;
        }
        c.t = u;
        c.s = u;
        c.return_ = Return::First;
        State::Splay
    }

    #[inline(always)]
    fn step_start_link(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let v = c.v;
        if v == u {
            return State::SameNode;
        }
        c.t = u;
        c.s = u;
        c.return_ = Return::First;
        State::Splay
    }

    #[inline(always)]
    fn step_splay(&mut self, c: &mut Controller) -> State {
        let s = c.s;
        let s_up = self.node(s).up;
        if s_up == NIL {
            return State::ReleaseAtTheEnd;
        }
        let s_up_left = self.node(s_up).left;
        if s_up_left == s {
            let s_up_up = self.node(s_up).up;
            if s_up_up == NIL {
                return State::ReleaseParent;
            }
            let s_up_up_left = self.node(s_up_up).left;
            if s_up_up_left == s_up {
                return State::ReleaseGrandparent;
            }
            let s_up_up_right = self.node(s_up_up).right;
            if s_up_up_right == s_up {
                return State::ReleaseGrandparent;
            }
            return State::ReleaseParent;
        }
        let s_up_right = self.node(s_up).right;
        if s_up_right == s {
            let s_up_up = self.node(s_up).up;
            if s_up_up == NIL {
                return State::ReleaseParent;
            }
            let s_up_up_left = self.node(s_up_up).left;
            if s_up_up_left == s_up {
                return State::ReleaseGrandparent;
            }
            let s_up_up_right = self.node(s_up_up).right;
            if s_up_up_right == s_up {
                return State::ReleaseGrandparent;
            }
            return State::ReleaseParent;
        }
        State::ReleaseAtTheEnd
    }

    #[inline(always)]
    fn step_release_grandparent(&mut self, c: &mut Controller) -> State {
        let s = c.s;
        let s_up = self.node(s).up;
        let s_up_up = self.node(s_up).up;
        if self.node(s_up_up).flip {
            let s_up_up_left = self.node(s_up_up).left;
            if s_up_up_left == NIL {
                let s_up_up_right = self.node(s_up_up).right;
                if s_up_up_right == NIL {
                    self.node(s_up_up).left = NIL;
                    self.node(s_up_up).right = NIL;
                    self.node(s_up_up).flip ^= true;
                    return State::ReleaseParent;
                }
                self.node(s_up_up).left = s_up_up_right;
                self.node(s_up_up).right = NIL;
                self.node(s_up_up).flip ^= true;
                self.node(s_up_up_right).flip ^= true;
                return State::ReleaseParent;
            }
            let s_up_up_right = self.node(s_up_up).right;
            if s_up_up_right == NIL {
                self.node(s_up_up).left = NIL;
                self.node(s_up_up).right = s_up_up_left;
                self.node(s_up_up).flip ^= true;
                self.node(s_up_up_left).flip ^= true;
                return State::ReleaseParent;
            }
            self.node(s_up_up).left = s_up_up_right;
            self.node(s_up_up).right = s_up_up_left;
            self.node(s_up_up).flip ^= true;
            self.node(s_up_up_left).flip ^= true;
            self.node(s_up_up_right).flip ^= true;
            return State::ReleaseParent;
        }
        State::ReleaseParent
    }

    #[inline(always)]
    fn step_release_parent(&mut self, c: &mut Controller) -> State {
        let s = c.s;
        let s_up = self.node(s).up;
        if self.node(s_up).flip {
            let s_up_left = self.node(s_up).left;
            if s_up_left == NIL {
                let s_up_right = self.node(s_up).right;
                if s_up_right == NIL {
                    self.node(s_up).left = NIL;
                    self.node(s_up).right = NIL;
                    self.node(s_up).flip ^= true;
                    return State::ReleaseNode;
                }
                self.node(s_up).left = s_up_right;
                self.node(s_up).right = NIL;
                self.node(s_up).flip ^= true;
                self.node(s_up_right).flip ^= true;
                return State::ReleaseNode;
            }
            let s_up_right = self.node(s_up).right;
            if s_up_right == NIL {
                self.node(s_up).left = NIL;
                self.node(s_up).right = s_up_left;
                self.node(s_up).flip ^= true;
                self.node(s_up_left).flip ^= true;
                return State::ReleaseNode;
            }
            self.node(s_up).left = s_up_right;
            self.node(s_up).right = s_up_left;
            self.node(s_up).flip ^= true;
            self.node(s_up_left).flip ^= true;
            self.node(s_up_right).flip ^= true;
            return State::ReleaseNode;
        }
        State::ReleaseNode
    }

    #[inline(always)]
    fn step_release_node(&mut self, c: &mut Controller) -> State {
        let s = c.s;
        if self.node(s).flip {
            let s_left = self.node(s).left;
            if s_left == NIL {
                let s_right = self.node(s).right;
                if s_right == NIL {
                    self.node(s).left = NIL;
                    self.node(s).right = NIL;
                    self.node(s).flip ^= true;
                    return State::ChooseRotation;
                }
                self.node(s).left = s_right;
                self.node(s).right = NIL;
                self.node(s).flip ^= true;
                self.node(s_right).flip ^= true;
                return State::ChooseRotation;
            }
            let s_right = self.node(s).right;
            if s_right == NIL {
                self.node(s).left = NIL;
                self.node(s).right = s_left;
                self.node(s).flip ^= true;
                self.node(s_left).flip ^= true;
                return State::ChooseRotation;
            }
            self.node(s).left = s_right;
            self.node(s).right = s_left;
            self.node(s).flip ^= true;
            self.node(s_left).flip ^= true;
            self.node(s_right).flip ^= true;
            return State::ChooseRotation;
        }
        State::ChooseRotation
    }

    #[inline(always)]
    fn step_choose_rotation(&mut self, c: &mut Controller) -> State {
        let s = c.s;
        let s_up = self.node(s).up;
        let s_up_up = self.node(s_up).up;
        if s_up_up == NIL {
            return State::Rotation;
        }
        let s_up_up_left = self.node(s_up_up).left;
        if s_up_up_left == s_up {
            let s_up_left = self.node(s_up).left;
            if s_up_left == s {
                c.x = s_up;
                return State::FirstRotation;
            }
            c.x = s;
            return State::FirstRotation;
        }
        let s_up_up_right = self.node(s_up_up).right;
        if s_up_up_right == s_up {
            let s_up_left = self.node(s_up).left;
            if s_up_left == s {
                c.x = s;
                return State::FirstRotation;
            }
            c.x = s_up;
            return State::FirstRotation;
        }
        State::Rotation
    }

    #[inline(always)]
    fn step_first_rotation(&mut self, c: &mut Controller) -> State {
        let x = c.x;
        let x_up = self.node(x).up;
        let x_up_up = self.node(x_up).up;
        if x_up_up == NIL {
            let x_up_left = self.node(x_up).left;
            if x_up_left == x {
                let x_right = self.node(x).right;
                if x_right == NIL {
                    self.node(x).up = NIL;
                    self.node(x).right = x_up;
                    self.node(x_up).up = x;
                    self.node(x_up).left = NIL;
                    self.pull(x_up);
                    return State::Rotation;
                }
                self.node(x).up = NIL;
                self.node(x).right = x_up;
                self.node(x_up).up = x;
                self.node(x_up).left = x_right;
                self.node(x_right).up = x_up;
                self.pull(x_up);
                return State::Rotation;
            }
            let x_left = self.node(x).left;
            if x_left == NIL {
                self.node(x).up = NIL;
                self.node(x).left = x_up;
                self.node(x_up).up = x;
                self.node(x_up).right = NIL;
                self.pull(x_up);
                return State::Rotation;
            }
            self.node(x).up = NIL;
            self.node(x).left = x_up;
            self.node(x_up).up = x;
            self.node(x_up).right = x_left;
            self.node(x_left).up = x_up;
            self.pull(x_up);
            return State::Rotation;
        }
        let x_up_left = self.node(x_up).left;
        if x_up_left == x {
            let x_right = self.node(x).right;
            if x_right == NIL {
                let x_up_up_left = self.node(x_up_up).left;
                if x_up_up_left == x_up {
                    self.node(x).up = x_up_up;
                    self.node(x).right = x_up;
                    self.node(x_up).up = x;
                    self.node(x_up).left = NIL;
                    self.node(x_up_up).left = x;
                    self.pull(x_up);
                    return State::Rotation;
                }
                let x_up_up_right = self.node(x_up_up).right;
                if x_up_up_right == x_up {
                    self.node(x).up = x_up_up;
                    self.node(x).right = x_up;
                    self.node(x_up).up = x;
                    self.node(x_up).left = NIL;
                    self.node(x_up_up).right = x;
                    self.pull(x_up);
                    return State::Rotation;
                }
                self.node(x).up = x_up_up;
                self.node(x).right = x_up;
                self.node(x_up).up = x;
                self.node(x_up).left = NIL;
                self.pull(x_up);
                return State::Rotation;
            }
            let x_up_up_left = self.node(x_up_up).left;
            if x_up_up_left == x_up {
                self.node(x).up = x_up_up;
                self.node(x).right = x_up;
                self.node(x_up).up = x;
                self.node(x_up).left = x_right;
                self.node(x_right).up = x_up;
                self.node(x_up_up).left = x;
                self.pull(x_up);
                return State::Rotation;
            }
            let x_up_up_right = self.node(x_up_up).right;
            if x_up_up_right == x_up {
                self.node(x).up = x_up_up;
                self.node(x).right = x_up;
                self.node(x_up).up = x;
                self.node(x_up).left = x_right;
                self.node(x_right).up = x_up;
                self.node(x_up_up).right = x;
                self.pull(x_up);
                return State::Rotation;
            }
            self.node(x).up = x_up_up;
            self.node(x).right = x_up;
            self.node(x_up).up = x;
            self.node(x_up).left = x_right;
            self.node(x_right).up = x_up;
            self.pull(x_up);
            return State::Rotation;
        }
        let x_left = self.node(x).left;
        if x_left == NIL {
            let x_up_up_left = self.node(x_up_up).left;
            if x_up_up_left == x_up {
                self.node(x).up = x_up_up;
                self.node(x).left = x_up;
                self.node(x_up).up = x;
                self.node(x_up).right = NIL;
                self.node(x_up_up).left = x;
                self.pull(x_up);
                return State::Rotation;
            }
            let x_up_up_right = self.node(x_up_up).right;
            if x_up_up_right == x_up {
                self.node(x).up = x_up_up;
                self.node(x).left = x_up;
                self.node(x_up).up = x;
                self.node(x_up).right = NIL;
                self.node(x_up_up).right = x;
                self.pull(x_up);
                return State::Rotation;
            }
            self.node(x).up = x_up_up;
            self.node(x).left = x_up;
            self.node(x_up).up = x;
            self.node(x_up).right = NIL;
            self.pull(x_up);
            return State::Rotation;
        }
        let x_up_up_left = self.node(x_up_up).left;
        if x_up_up_left == x_up {
            self.node(x).up = x_up_up;
            self.node(x).left = x_up;
            self.node(x_up).up = x;
            self.node(x_up).right = x_left;
            self.node(x_left).up = x_up;
            self.node(x_up_up).left = x;
            self.pull(x_up);
            return State::Rotation;
        }
        let x_up_up_right = self.node(x_up_up).right;
        if x_up_up_right == x_up {
            self.node(x).up = x_up_up;
            self.node(x).left = x_up;
            self.node(x_up).up = x;
            self.node(x_up).right = x_left;
            self.node(x_left).up = x_up;
            self.node(x_up_up).right = x;
            self.pull(x_up);
            return State::Rotation;
        }
        self.node(x).up = x_up_up;
        self.node(x).left = x_up;
        self.node(x_up).up = x;
        self.node(x_up).right = x_left;
        self.node(x_left).up = x_up;
        self.pull(x_up);
        State::Rotation
    }

    #[inline(always)]
    fn step_rotation(&mut self, c: &mut Controller) -> State {
        let s = c.s;
        let s_up = self.node(s).up;
        let s_up_up = self.node(s_up).up;
        if s_up_up == NIL {
            let s_up_left = self.node(s_up).left;
            if s_up_left == s {
                let s_right = self.node(s).right;
                if s_right == NIL {
                    self.node(s).up = NIL;
                    self.node(s).right = s_up;
                    self.node(s_up).up = s;
                    self.node(s_up).left = NIL;
                    self.pull(s_up);
                    return State::Splay;
                }
                self.node(s).up = NIL;
                self.node(s).right = s_up;
                self.node(s_up).up = s;
                self.node(s_up).left = s_right;
                self.node(s_right).up = s_up;
                self.pull(s_up);
                return State::Splay;
            }
            let s_left = self.node(s).left;
            if s_left == NIL {
                self.node(s).up = NIL;
                self.node(s).left = s_up;
                self.node(s_up).up = s;
                self.node(s_up).right = NIL;
                self.pull(s_up);
                return State::Splay;
            }
            self.node(s).up = NIL;
            self.node(s).left = s_up;
            self.node(s_up).up = s;
            self.node(s_up).right = s_left;
            self.node(s_left).up = s_up;
            self.pull(s_up);
            return State::Splay;
        }
        let s_up_left = self.node(s_up).left;
        if s_up_left == s {
            let s_right = self.node(s).right;
            if s_right == NIL {
                let s_up_up_left = self.node(s_up_up).left;
                if s_up_up_left == s_up {
                    self.node(s).up = s_up_up;
                    self.node(s).right = s_up;
                    self.node(s_up).up = s;
                    self.node(s_up).left = NIL;
                    self.node(s_up_up).left = s;
                    self.pull(s_up);
                    return State::Splay;
                }
                let s_up_up_right = self.node(s_up_up).right;
                if s_up_up_right == s_up {
                    self.node(s).up = s_up_up;
                    self.node(s).right = s_up;
                    self.node(s_up).up = s;
                    self.node(s_up).left = NIL;
                    self.node(s_up_up).right = s;
                    self.pull(s_up);
                    return State::Splay;
                }
                self.node(s).up = s_up_up;
                self.node(s).right = s_up;
                self.node(s_up).up = s;
                self.node(s_up).left = NIL;
                self.pull(s_up);
                return State::Splay;
            }
            let s_up_up_left = self.node(s_up_up).left;
            if s_up_up_left == s_up {
                self.node(s).up = s_up_up;
                self.node(s).right = s_up;
                self.node(s_up).up = s;
                self.node(s_up).left = s_right;
                self.node(s_right).up = s_up;
                self.node(s_up_up).left = s;
                self.pull(s_up);
                return State::Splay;
            }
            let s_up_up_right = self.node(s_up_up).right;
            if s_up_up_right == s_up {
                self.node(s).up = s_up_up;
                self.node(s).right = s_up;
                self.node(s_up).up = s;
                self.node(s_up).left = s_right;
                self.node(s_right).up = s_up;
                self.node(s_up_up).right = s;
                self.pull(s_up);
                return State::Splay;
            }
            self.node(s).up = s_up_up;
            self.node(s).right = s_up;
            self.node(s_up).up = s;
            self.node(s_up).left = s_right;
            self.node(s_right).up = s_up;
            self.pull(s_up);
            return State::Splay;
        }
        let s_left = self.node(s).left;
        if s_left == NIL {
            let s_up_up_left = self.node(s_up_up).left;
            if s_up_up_left == s_up {
                self.node(s).up = s_up_up;
                self.node(s).left = s_up;
                self.node(s_up).up = s;
                self.node(s_up).right = NIL;
                self.node(s_up_up).left = s;
                self.pull(s_up);
                return State::Splay;
            }
            let s_up_up_right = self.node(s_up_up).right;
            if s_up_up_right == s_up {
                self.node(s).up = s_up_up;
                self.node(s).left = s_up;
                self.node(s_up).up = s;
                self.node(s_up).right = NIL;
                self.node(s_up_up).right = s;
                self.pull(s_up);
                return State::Splay;
            }
            self.node(s).up = s_up_up;
            self.node(s).left = s_up;
            self.node(s_up).up = s;
            self.node(s_up).right = NIL;
            self.pull(s_up);
            return State::Splay;
        }
        let s_up_up_left = self.node(s_up_up).left;
        if s_up_up_left == s_up {
            self.node(s).up = s_up_up;
            self.node(s).left = s_up;
            self.node(s_up).up = s;
            self.node(s_up).right = s_left;
            self.node(s_left).up = s_up;
            self.node(s_up_up).left = s;
            self.pull(s_up);
            return State::Splay;
        }
        let s_up_up_right = self.node(s_up_up).right;
        if s_up_up_right == s_up {
            self.node(s).up = s_up_up;
            self.node(s).left = s_up;
            self.node(s_up).up = s;
            self.node(s_up).right = s_left;
            self.node(s_left).up = s_up;
            self.node(s_up_up).right = s;
            self.pull(s_up);
            return State::Splay;
        }
        self.node(s).up = s_up_up;
        self.node(s).left = s_up;
        self.node(s_up).up = s;
        self.node(s_up).right = s_left;
        self.node(s_left).up = s_up;
        self.pull(s_up);
        State::Splay
    }

    #[inline(always)]
    fn step_release_at_the_end(&mut self, c: &mut Controller) -> State {
        match c.return_ {
            Return::First => {
                let s = c.s;
                if self.node(s).flip {
                    let s_left = self.node(s).left;
                    if s_left == NIL {
                        let s_right = self.node(s).right;
                        if s_right == NIL {
                            self.node(s).left = NIL;
                            self.node(s).right = NIL;
                            self.node(s).flip ^= true;
                            return State::CutOffDeeper;
                        }
                        self.node(s).left = s_right;
                        self.node(s).right = NIL;
                        self.node(s).flip ^= true;
                        self.node(s_right).flip ^= true;
                        return State::CutOffDeeper;
                    }
                    let s_right = self.node(s).right;
                    if s_right == NIL {
                        self.node(s).left = NIL;
                        self.node(s).right = s_left;
                        self.node(s).flip ^= true;
                        self.node(s_left).flip ^= true;
                        return State::CutOffDeeper;
                    }
                    self.node(s).left = s_right;
                    self.node(s).right = s_left;
                    self.node(s).flip ^= true;
                    self.node(s_left).flip ^= true;
                    self.node(s_right).flip ^= true;
                    return State::CutOffDeeper;
                }
                State::CutOffDeeper
            }
            Return::PathParent => {
                let s = c.s;
                if self.node(s).flip {
                    let s_left = self.node(s).left;
                    if s_left == NIL {
                        let s_right = self.node(s).right;
                        if s_right == NIL {
                            self.node(s).left = NIL;
                            self.node(s).right = NIL;
                            self.node(s).flip ^= true;
                            return State::Join;
                        }
                        self.node(s).left = s_right;
                        self.node(s).right = NIL;
                        self.node(s).flip ^= true;
                        self.node(s_right).flip ^= true;
                        return State::Join;
                    }
                    let s_right = self.node(s).right;
                    if s_right == NIL {
                        self.node(s).left = NIL;
                        self.node(s).right = s_left;
                        self.node(s).flip ^= true;
                        self.node(s_left).flip ^= true;
                        return State::Join;
                    }
                    self.node(s).left = s_right;
                    self.node(s).right = s_left;
                    self.node(s).flip ^= true;
                    self.node(s_left).flip ^= true;
                    self.node(s_right).flip ^= true;
                    return State::Join;
                }
                State::Join
            }
            _ => {
                let s = c.s;
                if self.node(s).flip {
                    let s_left = self.node(s).left;
                    if s_left == NIL {
                        let s_right = self.node(s).right;
                        if s_right == NIL {
                            self.node(s).left = NIL;
                            self.node(s).right = NIL;
                            self.node(s).flip ^= true;
                            self.pull(s);
                            return State::Climb;
                        }
                        self.node(s).left = s_right;
                        self.node(s).right = NIL;
                        self.node(s).flip ^= true;
                        self.node(s_right).flip ^= true;
                        self.pull(s);
                        return State::Climb;
                    }
                    let s_right = self.node(s).right;
                    if s_right == NIL {
                        self.node(s).left = NIL;
                        self.node(s).right = s_left;
                        self.node(s).flip ^= true;
                        self.node(s_left).flip ^= true;
                        self.pull(s);
                        return State::Climb;
                    }
                    self.node(s).left = s_right;
                    self.node(s).right = s_left;
                    self.node(s).flip ^= true;
                    self.node(s_left).flip ^= true;
                    self.node(s_right).flip ^= true;
                    self.pull(s);
                    return State::Climb;
                }
                self.pull(s);
                State::Climb
            }
        }
    }

    #[inline(always)]
    fn step_cut_off_deeper(&mut self, c: &mut Controller) -> State {
        let t = c.t;
        let t_right = self.node(t).right;
        if t_right == NIL {
            self.pull(t);
            return State::Climb;
        }
        self.node(t).right = NIL;
        self.pull(t);
        State::Climb
    }

    #[inline(always)]
    fn step_climb(&mut self, c: &mut Controller) -> State {
        match c.context {
            Context::ToggleExposeRoot => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::CompareRoot;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::ToggleLinkToV => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::Attach;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::Evert => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::TurnAndEnd;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::ExposeRoot => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::Root;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::LinkU => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::CheckRoot;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::LinkToV => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::Link;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::ConnectedV => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::Connected;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::PathExposeV => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::Path;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::ToggleEvertU | Context::PathEvertU => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::Turn;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::ToggleFindRootOfV | Context::FindRoot => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    c.x = t;
                    return State::WalkLeft;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::ToggleCutV | Context::Cut => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::Cut;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            Context::ToggleLinkU | Context::ConnectedU => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::GoOnWithV;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
            _ => {
                let t = c.t;
                let t_up = self.node(t).up;
                if t_up == NIL {
                    return State::ChangeValue;
                }
                c.s = t_up;
                c.return_ = Return::PathParent;
                State::Splay
            }
        }
    }

    #[inline(always)]
    fn step_join(&mut self, c: &mut Controller) -> State {
        let t = c.t;
        let s = c.s;
        let s_right = self.node(s).right;
        if s_right == t || s_right == NIL {
            self.node(s).right = t;
            c.s = t;
            c.return_ = Return::Again;
            self.pull(s);
            return State::Splay;
        }
        self.node(s).right = t;
        c.s = t;
        c.return_ = Return::Again;
        self.pull(s);
        State::Splay
    }

    #[inline(always)]
    fn step_turn(&mut self, c: &mut Controller) -> State {
        let t = c.t;
        if self.node(t).flip {
            self.node(t).flip ^= true;
            return State::GoOnWithV;
        }
        let t_left = self.node(t).left;
        if t_left == NIL {
            let t_right = self.node(t).right;
            if t_right == NIL {
                self.node(t).left = NIL;
                self.node(t).right = NIL;
                return State::GoOnWithV;
            }
            self.node(t).left = t_right;
            self.node(t).right = NIL;
            self.node(t_right).flip ^= true;
            return State::GoOnWithV;
        }
        let t_right = self.node(t).right;
        if t_right == NIL {
            self.node(t).left = NIL;
            self.node(t).right = t_left;
            self.node(t_left).flip ^= true;
            return State::GoOnWithV;
        }
        self.node(t).left = t_right;
        self.node(t).right = t_left;
        self.node(t_left).flip ^= true;
        self.node(t_right).flip ^= true;
        State::GoOnWithV
    }

    #[inline(always)]
    fn step_turn_and_end(&mut self, c: &mut Controller) -> State {
        let t = c.t;
        if self.node(t).flip {
            self.node(t).flip ^= true;
            return State::Done;
        }
        let t_left = self.node(t).left;
        if t_left == NIL {
            let t_right = self.node(t).right;
            if t_right == NIL {
                self.node(t).left = NIL;
                self.node(t).right = NIL;
                return State::Done;
            }
            self.node(t).left = t_right;
            self.node(t).right = NIL;
            self.node(t_right).flip ^= true;
            return State::Done;
        }
        let t_right = self.node(t).right;
        if t_right == NIL {
            self.node(t).left = NIL;
            self.node(t).right = t_left;
            self.node(t_left).flip ^= true;
            return State::Done;
        }
        self.node(t).left = t_right;
        self.node(t).right = t_left;
        self.node(t_left).flip ^= true;
        self.node(t_right).flip ^= true;
        State::Done
    }

    #[inline(always)]
    fn step_walk_left(&mut self, c: &mut Controller) -> State {
        let x = c.x;
        let x_left = self.node(x).left;
        if x_left == NIL {
            return State::RootFound;
        }
        if self.node(x_left).flip {
            let x_left_left = self.node(x_left).left;
            if x_left_left == NIL {
                let x_left_right = self.node(x_left).right;
                if x_left_right == NIL {
                    self.node(x_left).left = NIL;
                    self.node(x_left).right = NIL;
                    self.node(x_left).flip ^= true;
                    c.x = x_left;
                    return State::WalkLeft;
                }
                self.node(x_left).left = x_left_right;
                self.node(x_left).right = NIL;
                self.node(x_left).flip ^= true;
                self.node(x_left_right).flip ^= true;
                c.x = x_left;
                return State::WalkLeft;
            }
            let x_left_right = self.node(x_left).right;
            if x_left_right == NIL {
                self.node(x_left).left = NIL;
                self.node(x_left).right = x_left_left;
                self.node(x_left).flip ^= true;
                self.node(x_left_left).flip ^= true;
                c.x = x_left;
                return State::WalkLeft;
            }
            self.node(x_left).left = x_left_right;
            self.node(x_left).right = x_left_left;
            self.node(x_left).flip ^= true;
            self.node(x_left_left).flip ^= true;
            self.node(x_left_right).flip ^= true;
            c.x = x_left;
            return State::WalkLeft;
        }
        c.x = x_left;
        State::WalkLeft
    }

    #[inline(always)]
    fn step_root_found(&mut self, c: &mut Controller) -> State {
        match c.context {
            Context::FindRoot => {
                let x = c.x;
                c.t = x;
                c.s = x;
                c.context = Context::ExposeRoot;
                c.return_ = Return::First;
                State::Splay
            }
            _ => {
                let x = c.x;
                c.t = x;
                c.s = x;
                c.context = Context::ToggleExposeRoot;
                c.return_ = Return::First;
                State::Splay
            }
        }
    }

    #[inline(always)]
    fn step_go_on_with_v(&mut self, c: &mut Controller) -> State {
        match c.context {
            Context::ToggleEvertU => {
                let v = c.v;
                c.t = v;
                c.s = v;
                c.context = Context::ToggleFindRootOfV;
                c.return_ = Return::First;
                State::Splay
            }
            Context::ToggleLinkU => {
                let v = c.v;
                c.t = v;
                c.s = v;
                c.context = Context::ToggleLinkToV;
                c.return_ = Return::First;
                State::Splay
            }
            Context::PathEvertU => {
                let v = c.v;
                c.t = v;
                c.s = v;
                c.context = Context::PathExposeV;
                c.return_ = Return::First;
                State::Splay
            }
            _ => {
                let v = c.v;
                c.t = v;
                c.s = v;
                c.context = Context::ConnectedV;
                c.return_ = Return::First;
                State::Splay
            }
        }
    }

    #[inline(always)]
    fn step_compare_root(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let t = c.t;
        if t == u {
            let v = c.v;
            c.t = v;
            c.s = v;
            c.context = Context::ToggleCutV;
            c.return_ = Return::First;
            return State::Splay;
        }
        c.t = u;
        c.s = u;
        c.context = Context::ToggleLinkU;
        c.return_ = Return::First;
        State::Splay
    }

    #[inline(always)]
    fn step_cut(&mut self, c: &mut Controller) -> State {
        let t = c.t;
        let t_left = self.node(t).left;
        if t_left == NIL {
            return State::IsARoot;
        }
        match c.context {
            Context::Cut => {
                self.node(t).left = NIL;
                self.node(t_left).up = NIL;
                self.pull(t);
                State::Done
            }
            _ => {
                self.node(t).left = NIL;
                self.node(t_left).up = NIL;
                self.pull(t);
                State::Yes
            }
        }
    }

    #[inline(always)]
    fn step_attach(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let v = c.v;
        self.node(u).left = v;
        self.node(v).up = u;
        self.pull(u);
        State::No
    }

    #[inline(always)]
    fn step_check_root(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let u_left = self.node(u).left;
        if u_left == NIL {
            let v = c.v;
            c.t = v;
            c.s = v;
            c.context = Context::LinkToV;
            c.return_ = Return::First;
            return State::Splay;
        }
        State::NotARoot
    }

    #[inline(always)]
    fn step_link(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let u_up = self.node(u).up;
        if u_up == NIL {
            let v = c.v;
            self.node(u).left = v;
            self.node(v).up = u;
            self.pull(u);
            return State::Done;
        }
        State::AlreadyConnected
    }

    #[inline(always)]
    fn step_connected(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let u_up = self.node(u).up;
        if u_up == NIL {
            let v = c.v;
            if v == u {
                return State::Yes;
            }
            return State::No;
        }
        State::Yes
    }

    #[inline(always)]
    fn step_path(&mut self, c: &mut Controller) -> State {
        let u = c.u;
        let u_up = self.node(u).up;
        if u_up == NIL {
            let v = c.v;
            if v == u {
                return State::Root;
            }
            return State::NotConnected;
        }
        State::Root
    }

    #[inline(always)]
    fn step_change_value(&mut self, c: &mut Controller) -> State {
        match c.context {
            Context::Add => {
                let t = c.t;
                self.values.add(t);
                self.pull(t);
                State::Done
            }
            _ => {
                let t = c.t;
                self.values.set(t);
                self.pull(t);
                State::Done
            }
        }
    }
}
