//! Node state with more than one pointer: a structure declares it, and everything carries it.

use pgn_structures::{
    Dataset, Error, Fields, LinkCutTree, Node, Operation, OwnedTransition, PointerStructure,
    Result, Sampling, Schema, SequenceStream, Task, Visited,
};

/// Points `last` of u to v and `first` of u to its first partner; `odd` counts u's operations.
/// The second field is the learned one.
#[derive(Default)]
struct Partners {
    first: Vec<Node>,
    last: Vec<Node>,
    odd: Vec<bool>,
    /// Fails when it comes to this operand.
    fails_at: Option<Node>,
}

impl PointerStructure for Partners {
    fn name(&self) -> &str {
        "partners"
    }

    fn schema(&self) -> Schema {
        Schema::new(&["first", "last"], &["odd"]).learning(1).with_cycles()
    }

    fn reset(&mut self, priorities: &[f32]) {
        let n = priorities.len();
        self.first = (0..n as Node).collect();
        self.last = self.first.clone();
        self.odd = vec![false; n];
    }

    fn apply(&mut self, Operation { u, v, .. }: Operation, visited: &mut Visited) -> Result<bool> {
        if self.fails_at == Some(u) {
            return Err(Error::Request(format!("node {u} has no more room")));
        }
        visited.insert(u);
        let u = u as usize;
        if self.first[u] as usize == u {
            self.first[u] = v;
        }
        self.odd[u] ^= true;
        Ok(std::mem::replace(&mut self.last[u], v) == v)
    }

    fn pointer(&self, node: Node) -> Node {
        self.last[node as usize]
    }

    fn pointer_field(&self, _: usize, row: &mut [Node]) -> Result<()> {
        row.copy_from_slice(&self.first);
        Ok(())
    }

    fn bit_field(&self, _: usize, row: &mut [u8]) -> Result<()> {
        row.iter_mut().zip(&self.odd).for_each(|(bit, &odd)| *bit = u8::from(odd));
        Ok(())
    }

    fn start_from(&mut self, pointers: &[Node]) -> bool {
        self.last.copy_from_slice(pointers);
        true
    }
}

fn small() -> Sampling {
    Sampling { nodes: 6, ops: 20, count: 4, ..Sampling::paper(6) }
}

#[test]
fn a_structure_with_two_pointers_and_a_bit() {
    let task = Task::new(Partners::default);
    assert_eq!(task.schema().pointers()[task.schema().learned()], "last");
    assert!(task.schema().extra().eq([(0, "first")]) && !task.schema().is_single());
    let plain = Dataset::sample(&task, &small()).unwrap();
    assert!(plain.fields.is_empty());
    let set = plain.clone().with_fields(&task).unwrap();
    assert_eq!(set.fields.names().collect::<Vec<_>>(), ["pointers.first", "bits.odd"]);
    assert_eq!(Dataset { fields: Fields::default(), ..set.clone() }, plain);
    assert!(set.agrees_with(&task).unwrap() && plain.agrees_with(&task).unwrap());

    // The truth, from the operations alone.
    for (index, sequence) in set.sequences().enumerate() {
        let mut stream = SequenceStream::new(&task, &small(), index as u64).unwrap();
        let (first, odd) =
            (sequence.fields.pointer("first").unwrap(), sequence.fields.bit("odd").unwrap());
        for t in 0..sequence.ops() {
            stream.advance().unwrap();
            let now = Fields::of(stream.structure(), 6).unwrap();
            assert_eq!(sequence.fields_after(t).pointer("first").unwrap(), &now.pointers[0].values);
            for node in 0..6 {
                let mut mine = sequence.operations[..=t].iter().filter(|op| op.u == node);
                let (at, count) = (t * 6 + node as usize, mine.clone().count());
                assert_eq!(first[at], mine.next().map_or(node, |op| op.v));
                assert_eq!(odd[at], count as u8 % 2);
                assert_eq!(sequence.pointers[at], mine.next_back().map_or(first[at], |op| op.v));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("partners.safetensors");
    set.save(&path).unwrap();
    assert_eq!(Dataset::load(&path).unwrap(), set);

    let error = set.fields.pointer("last").unwrap_err().to_string();
    let sentence = "there is no pointer field `last`: recorded are pointers.first, bits.odd";
    assert_eq!(error, sentence);
    let error = plain.fields.bit("odd").unwrap_err().to_string();
    assert!(error.starts_with("there is no bit `odd`: further fields were not rec"), "{error}");
}

/// What the fields of a link/cut tree must satisfy among themselves, whatever the operations.
#[test]
fn the_link_cut_tree_shows_what_it_stores() {
    let lct = Task::named("lct").unwrap();
    let sampling = Sampling { count: 10, ..Sampling::paper(30) };
    let set = Dataset::sample(&lct, &sampling).unwrap().with_fields(&lct).unwrap();
    let (mut children, mut paths, mut flips) = (0, 0, 0);
    for sequence in set.sequences() {
        for t in 0..sequence.ops() {
            let (up, fields) = (sequence.pointers_after(t), sequence.fields_after(t));
            let sides = ["left", "right"].map(|name| fields.pointer(name).unwrap());
            for node in 0..30 {
                for side in sides {
                    let child = side[node as usize];
                    if child != node {
                        assert_eq!(up[child as usize], node, "children point up");
                        children += 1;
                    }
                }
                let (left, right) = (sides[0][node as usize], sides[1][node as usize]);
                assert!(left != right || left == node);
                let above = up[node as usize] as usize;
                let is_child = sides.iter().any(|side| side[above] == node);
                paths += u32::from(above != node as usize && !is_child);
            }
            flips += fields.bit("flip").unwrap().iter().map(|&bit| u32::from(bit)).sum::<u32>();
        }
    }
    // All of it occurs: children, path-parents, and flips that are still pending.
    assert!(children > 0 && paths > 0 && flips > 0, "{children} {paths} {flips}");
}

#[test]
fn nil_is_the_node_itself() {
    let mut forest = LinkCutTree::new(&[0.9, 0.5, 0.1]);
    forest.query_toggle(0, 1).unwrap();
    let mut row = [7; 3];
    for (field, expected) in [(0, [0, 0, 2]), (1, [1, 1, 2]), (2, [0, 1, 2])] {
        forest.pointer_field(field, &mut row).unwrap();
        assert_eq!(row, expected, "{field}");
    }
    let mut flips = [7; 3];
    forest.bit_field(0, &mut flips).unwrap();
    assert_eq!(flips, [0, 0, 0]);
    assert!(forest.pointer_field(3, &mut row).is_err() && forest.bit_field(1, &mut flips).is_err());
}

/// Today's structures with one pointer: nothing changes, and nothing is recorded.
#[test]
fn one_pointer_has_no_further_fields() {
    for name in ["dsu", "dsu-ordered", "forest"] {
        let task = Task::named(name).unwrap();
        assert_eq!(task.schema(), &Schema::default());
        let set = Dataset::sample(&task, &small()).unwrap();
        assert_eq!(set.clone().with_fields(&task).unwrap(), set);
    }
}

#[test]
fn a_structure_that_fails_is_named() {
    let task = Task::new(|| Partners { fails_at: Some(3), ..Partners::default() });
    let sentence = "the structure `partners` failed: node 3 has no more room";
    let error = Dataset::sample(&task, &small()).unwrap_err();
    assert!(matches!(error, Error::Failed { .. }), "{error:?}");
    assert_eq!(error.to_string(), sentence);
    let mut stream = SequenceStream::new(&task, &small(), 0).unwrap();
    let error = (0..20).find_map(|_| stream.advance().err()).unwrap();
    assert_eq!(error.to_string(), sentence);
    let error =
        OwnedTransition::of(&task, &[0.0; 4], &[0, 1, 2, 3], Operation::new(3, 1)).unwrap_err();
    assert_eq!(error.to_string(), sentence);
}

/// Declares what `schema` says and reports only its pointer.
struct Silent(fn() -> Schema);

impl PointerStructure for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn schema(&self) -> Schema {
        (self.0)()
    }

    fn reset(&mut self, _: &[f32]) {}

    fn apply(&mut self, _: Operation, _: &mut Visited) -> Result<bool> {
        Ok(true)
    }

    fn pointer(&self, node: Node) -> Node {
        node
    }
}

#[test]
fn schemas_without_sense_are_refused() {
    type Make = fn() -> Schema;
    let cases: [(Make, &str); 6] = [
        (|| Schema::new(&["up", "left"], &[]), "does not report its pointer field `left`"),
        (|| Schema::new(&["up"], &["flip"]), "does not report its bit `flip`"),
        (|| Schema::new(&["up", "up"], &[]), "declares the field `up` twice"),
        (|| Schema::new(&["up", "a.b"], &[]), "declares a field `a.b`; expected a name of"),
        (|| Schema::new(&["up"], &[""]), "declares a field ``"),
        (|| Schema::new(&["up"], &[]).learning(1), "learns pointer field number 1, but declares 1"),
    ];
    for (schema, sentence) in cases {
        let task = Task::new(move || Silent(schema));
        // Sampling needs none of them.
        let set = Dataset::sample(&task, &small()).unwrap();
        let error = set.with_fields(&task).unwrap_err().to_string();
        assert!(error.starts_with("the structure `silent` "), "{error}");
        assert!(error.contains(sentence), "{error}");
    }
}

#[test]
fn fields_of_another_structure_are_refused() {
    let (lct, partners) = (Task::named("lct").unwrap(), Task::new(Partners::default));
    let set = Dataset::sample(&lct, &small()).unwrap();
    let error = set.with_fields(&partners).unwrap_err().to_string();
    assert!(error.starts_with("the structure `partners` does not give sequence 0"), "{error}");
}

/// Pointers from outside are checked before a structure sees them. Following the first one never
/// ended.
#[test]
fn cycles_are_refused_where_a_forest_is_needed() {
    for name in ["forest", "dsu-ordered", "dsu"] {
        let task = Task::named(name).unwrap();
        for (pointers, sentence) in [
            (&[1, 0, 2][..], "the pointers form a cycle, 0 → 1 → 0; expected a forest"),
            (&[0, 3, 3, 4, 2], "the pointers form a cycle, 2 → 3 → 4 → 2; expected a forest"),
            (&[0, 1, 3], "a pointer aims at node 3, but there are 3 nodes"),
        ] {
            let error = OwnedTransition::of(
                &task,
                &vec![0.0; pointers.len()],
                pointers,
                Operation::new(0, 1),
            )
            .unwrap_err();
            assert!(error.to_string().contains(sentence), "{error}");
        }
        assert!(OwnedTransition::of(&task, &[0.0; 3], &[1, 2, 2], Operation::new(0, 1)).is_ok());
    }
}
