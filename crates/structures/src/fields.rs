//! Node state besides the learned pointers: further pointer fields, and bits.

use rayon::prelude::*;

use crate::sampling::filled;
use crate::schema;
use crate::structure::apply;
use crate::{Dataset, Error, Node, PointerStructure, Result, Schema, Task, Visited};

/// One field of every node, for any number of moments: \[moments, nodes\], row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<T> {
    /// Its name in the [`Schema`].
    pub name: String,
    /// \[moments, nodes\]
    pub values: Vec<T>,
}

impl<T: Copy + PartialOrd + std::fmt::Display> Field<T> {
    /// See [`Fields::check`]; no value may be above `most`.
    fn check(
        &self,
        tensor: &str,
        [count, ops, n]: [usize; 3],
        most: T,
    ) -> std::result::Result<(), String> {
        if !schema::is_name(&self.name) {
            return Err(format!("there is a field `{tensor}`; expected {}", schema::NAME));
        }
        if self.values.len() != count * ops * n {
            let (found, expected) = (self.values.len(), count * ops * n);
            return Err(format!("`{tensor}` has {found} values, expected {expected}"));
        }
        let Some(place) = self.values.iter().position(|&value| value > most) else { return Ok(()) };
        let (row, node, found) = (place / n, place % n, self.values[place]);
        let (sequence, step) = (row / ops, row % ops);
        Err(format!(
            "in sequence {sequence}, step {step}, `{tensor}` of node {node} is {found}, expected \
             at most {most}"
        ))
    }
}

/// All fields besides the learned pointers, in the order of the [`Schema`]. A pointer field that
/// is nil is the node itself; bits are 0 or 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Pointer fields, without the learned one.
    pub pointers: Vec<Field<Node>>,
    /// Bits.
    pub bits: Vec<Field<u8>>,
}

impl Fields {
    /// What a structure of `nodes` nodes holds now, besides its learned pointers.
    ///
    /// ```
    /// use pgn_structures::{Fields, LinkCutTree};
    ///
    /// let mut forest = LinkCutTree::new(&[0.9, 0.1]);
    /// forest.query_toggle(0, 1)?; // 1 becomes the left child of 0
    /// let now = Fields::of(&forest, 2)?;
    /// assert_eq!(now.pointer("left")?, [1, 1]); // node 1 has none, which is written as itself
    /// assert_eq!(now.bit("flip")?, [0, 0]);
    /// # Ok::<(), pgn_structures::Error>(())
    /// ```
    pub fn of(structure: &dyn PointerStructure, nodes: usize) -> Result<Fields> {
        Fields::now(structure, &checked(structure)?, nodes)
    }

    /// [`Fields::of`] a structure of this schema.
    pub(crate) fn now(
        structure: &dyn PointerStructure,
        schema: &Schema,
        nodes: usize,
    ) -> Result<Fields> {
        let mut fields = Fields::zeros(schema, nodes, || Ok(()))?;
        let piece = fields.pieces(nodes).next();
        if let Some(mut piece) = piece {
            piece.record(structure, schema, 0, nodes)?;
        }
        Ok(fields)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty() && self.bits.is_empty()
    }

    /// The pointer field of that name, which must not be the learned one.
    pub fn pointer(&self, name: &str) -> Result<&[Node]> {
        find(&self.pointers, name).ok_or_else(|| self.missing("pointer field", name))
    }

    /// The bit of that name.
    pub fn bit(&self, name: &str) -> Result<&[u8]> {
        find(&self.bits, name).ok_or_else(|| self.missing("bit", name))
    }

    /// What files call the fields: `pointers.<field>`, then `bits.<field>`.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let pointers = self.pointers.iter().map(|field| format!("pointers.{}", field.name));
        pointers.chain(self.bits.iter().map(|field| format!("bits.{}", field.name)))
    }

    /// Refuses names that files cannot carry, and values that no structure can have produced, in
    /// the words of a file's reader. `shape` is \[count, ops, nodes\].
    pub(crate) fn check(&self, shape: [usize; 3]) -> std::result::Result<(), String> {
        let names: Vec<String> = self.names().collect();
        if let Some(twice) = (1..names.len()).find(|&place| names[..place].contains(&names[place]))
        {
            return Err(format!("the field `{}` is there twice", names[twice]));
        }
        let (of_pointers, of_bits) = names.split_at(self.pointers.len());
        let most = shape[2].saturating_sub(1) as Node;
        for (tensor, field) in of_pointers.iter().zip(&self.pointers) {
            field.check(tensor, shape, most)?;
        }
        for (tensor, field) in of_bits.iter().zip(&self.bits) {
            field.check(tensor, shape, 1)?;
        }
        Ok(())
    }

    fn missing(&self, what: &str, name: &str) -> Error {
        let known = match self.is_empty() {
            true => "further fields were not recorded; Dataset::with_fields adds them".to_owned(),
            false => format!("recorded are {}", self.names().collect::<Vec<_>>().join(", ")),
        };
        Error::Request(format!("there is no {what} `{name}`: {known}"))
    }

    /// Room for `cells` values of every field; `go_on` as for [`filled`].
    fn zeros(schema: &Schema, cells: usize, go_on: impl Fn() -> Result<()>) -> Result<Fields> {
        let mut fields = Fields::default();
        for (_, name) in schema.extra() {
            let values = filled(0, cells, &go_on)?.ok_or_else(|| too_large(cells))?;
            fields.pointers.push(Field { name: name.to_owned(), values });
        }
        for name in schema.bits() {
            let values = filled(0, cells, &go_on)?.ok_or_else(|| too_large(cells))?;
            fields.bits.push(Field { name: name.clone(), values });
        }
        Ok(fields)
    }

    /// The fields in pieces of `cells` values each.
    fn pieces(&mut self, cells: usize) -> impl Iterator<Item = Piece<'_>> {
        let cells = cells.max(1);
        let mut pointers: Vec<_> =
            self.pointers.iter_mut().map(|field| field.values.chunks_exact_mut(cells)).collect();
        let mut bits: Vec<_> =
            self.bits.iter_mut().map(|field| field.values.chunks_exact_mut(cells)).collect();
        std::iter::from_fn(move || {
            let piece = Piece {
                pointers: pointers.iter_mut().filter_map(Iterator::next).collect(),
                bits: bits.iter_mut().filter_map(Iterator::next).collect(),
            };
            (!piece.pointers.is_empty() || !piece.bits.is_empty()).then_some(piece)
        })
    }
}

fn find<'a, T>(fields: &'a [Field<T>], name: &str) -> Option<&'a [T]> {
    fields.iter().find(|field| field.name == name).map(|field| &field.values[..])
}

fn too_large(cells: usize) -> Error {
    Error::Request(format!("further fields of {cells} nodes do not fit in memory"))
}

/// A structure's schema, if it makes sense.
fn checked(structure: &dyn PointerStructure) -> Result<Schema> {
    let schema = structure.schema();
    schema.check().map_err(|trouble| Error::structure(structure.name(), trouble))?;
    Ok(schema)
}

/// The fields of one sequence while they are recorded, each \[moments, nodes\].
struct Piece<'a> {
    pointers: Vec<&'a mut [Node]>,
    bits: Vec<&'a mut [u8]>,
}

impl Piece<'_> {
    /// Writes what `structure` holds now into row number `moment`, every value checked.
    fn record(
        &mut self,
        structure: &dyn PointerStructure,
        schema: &Schema,
        moment: usize,
        n: usize,
    ) -> Result<()> {
        let named = |error: Error| error.of_structure(structure.name());
        let wrong = |trouble: String| Err(Error::structure(structure.name(), trouble));
        for ((number, name), field) in schema.extra().zip(&mut self.pointers) {
            let row = &mut field[moment * n..][..n];
            structure.pointer_field(number, row).map_err(named)?;
            if let Some(node) = row.iter().position(|&pointer| pointer as usize >= n) {
                let found = row[node];
                return wrong(format!("made `{name}` of node {node} {found}, of {n} nodes"));
            }
        }
        for ((number, name), field) in schema.bits().iter().enumerate().zip(&mut self.bits) {
            let row = &mut field[moment * n..][..n];
            structure.bit_field(number, row).map_err(named)?;
            if let Some(node) = row.iter().position(|&bit| bit > 1) {
                let found = row[node];
                return wrong(format!("made `{name}` of node {node} {found}; expected 0 or 1"));
            }
        }
        Ok(())
    }
}

impl Dataset {
    /// This set with all fields that `task` declares, found by replaying the operations;
    /// refused where the replay gives other answers or learned pointers.
    ///
    /// Sampling leaves further fields out, as training does not read them and for a link/cut tree
    /// they triple the memory.
    ///
    /// ```
    /// use pgn_structures::{Dataset, Sampling, Task};
    ///
    /// let lct = Task::named("lct")?;
    /// let set = Dataset::sample(&lct, &Sampling::paper(20))?.with_fields(&lct)?;
    /// assert_eq!(set.fields.pointer("left")?.len(), set.pointers.len());
    /// assert_eq!(set.sequence(0).fields.bit("flip")?.len(), 30 * 20);
    /// # Ok::<(), pgn_structures::Error>(())
    /// ```
    pub fn with_fields(mut self, task: &Task) -> Result<Dataset> {
        let (n, ops) = (self.nodes, self.ops);
        let schema = checked(task.make().as_ref())?;
        let cells = self.pointers.len();
        let mut fields = Fields::zeros(&schema, cells, || task.check_stop())?;
        let replay = |structure: &mut dyn PointerStructure, (index, mut piece): (usize, Piece)| {
            let sequence = self.sequence(index);
            let (mut visited, mut pointers) = (Visited::new(n), vec![0; n]);
            structure.reset(sequence.priorities);
            for (t, &operation) in sequence.operations.iter().enumerate() {
                task.check_stop()?;
                task.check(operation, n)?;
                visited.clear();
                let answer = apply(structure, operation, &mut visited)?;
                structure.pointers(&mut pointers);
                if u8::from(answer) != sequence.answers[t] || pointers != sequence.pointers_after(t)
                {
                    let trouble = format!("does not give sequence {index} of the set, step {t}");
                    return Err(Error::structure(structure.name(), trouble));
                }
                piece.record(structure, &schema, t, n)?;
            }
            Ok(())
        };
        fields
            .pieces(ops * n)
            .enumerate()
            .collect::<Vec<_>>()
            .into_par_iter()
            .map_init(|| task.make(), |structure, one| replay(structure.as_mut(), one))
            // The first error by index, not by time.
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<()>>()?;
        self.fields = fields;
        Ok(self)
    }
}

/// Some consecutive rows of [`Fields`], borrowed: those of one sequence, or of one moment.
#[derive(Clone, Copy, Debug)]
pub struct FieldRows<'a> {
    fields: &'a Fields,
    start: usize,
    rows: usize,
    nodes: usize,
}

impl<'a> FieldRows<'a> {
    /// No fields.
    pub const NONE: FieldRows<'static> = FieldRows {
        fields: &Fields { pointers: Vec::new(), bits: Vec::new() },
        start: 0,
        rows: 0,
        nodes: 0,
    };

    /// `rows` rows of `nodes` values each, from row `start` on.
    ///
    /// # Panics
    ///
    /// When a field is asked for, if `fields` has fewer rows.
    pub fn new(fields: &'a Fields, start: usize, rows: usize, nodes: usize) -> Self {
        FieldRows { fields, start, rows, nodes }
    }

    /// Whether there are no fields.
    pub fn is_empty(self) -> bool {
        self.fields.is_empty()
    }

    /// The pointer field of that name \[rows, nodes\].
    pub fn pointer(self, name: &str) -> Result<&'a [Node]> {
        Ok(self.part(self.fields.pointer(name)?))
    }

    /// The bit of that name \[rows, nodes\].
    pub fn bit(self, name: &str) -> Result<&'a [u8]> {
        Ok(self.part(self.fields.bit(name)?))
    }

    /// Row `t` alone.
    pub fn row(self, t: usize) -> Self {
        FieldRows { start: self.start + t, rows: 1, ..self }
    }

    fn part<T>(self, values: &'a [T]) -> &'a [T] {
        &values[self.start * self.nodes..][..self.rows * self.nodes]
    }
}

/// No fields.
impl Default for FieldRows<'_> {
    fn default() -> Self {
        FieldRows::NONE
    }
}

/// Whether both have equal fields with equal values in their rows.
impl PartialEq for FieldRows<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.fields, other.fields);
        let mut pointers = mine.pointers.iter().zip(&theirs.pointers);
        let mut bits = mine.bits.iter().zip(&theirs.bits);
        mine.names().eq(theirs.names())
            && pointers.all(|(a, b)| self.part(&a.values) == other.part(&b.values))
            && bits.all(|(a, b)| self.part(&a.values) == other.part(&b.values))
    }
}
