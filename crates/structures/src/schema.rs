//! What a node holds: named pointer fields and named bits.

/// The state of a node: its pointer fields, its bits, and which pointer field is learned.
///
/// The paper's models learn one pointer per node, the *learned* field: π̂ in equations, `pointers`
/// in data sets. A structure may declare extra fields, which data sets carry beside it.
///
/// ```
/// use pgn_structures::{Schema, Task};
///
/// assert_eq!(Task::named("dsu")?.schema(), &Schema::default()); // one pointer field, `parent`
///
/// let lct = Task::named("lct")?;
/// assert_eq!(lct.schema(), &Schema::new(&["up", "left", "right"], &["flip"]));
/// assert_eq!(lct.schema().pointers()[lct.schema().learned()], "up");
/// # Ok::<(), pgn_structures::Error>(())
/// ```
///
/// # Nil
///
/// Arrays have no value for "no node": a field that is nil is written as the node itself, as the
/// paper's roots point to themselves. A field must therefore not point to its own node for any
/// other reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    pointers: Vec<String>,
    bits: Vec<String>,
    learned: usize,
    shape: Shape,
}

/// What the learned pointers of all nodes look like together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No cycles: from every node, the pointers lead to a node that points to itself.
    Forest,
    /// Anything, cycles included.
    Any,
}

/// One pointer field, `parent`; the pointers form a forest.
impl Default for Schema {
    fn default() -> Self {
        Schema::new(&["parent"], &[])
    }
}

impl Schema {
    /// These pointer fields, of which the first is learned, and these bits. The learned pointers
    /// form a forest.
    pub fn new(pointers: &[&str], bits: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Schema { pointers: owned(pointers), bits: owned(bits), learned: 0, shape: Shape::Forest }
    }

    /// This schema with pointer field number `field` as the learned one.
    pub fn learning(mut self, field: usize) -> Self {
        self.learned = field;
        self
    }

    /// This schema for a structure whose learned pointers may form cycles, and which can start from
    /// such pointers.
    pub fn with_cycles(mut self) -> Self {
        self.shape = Shape::Any;
        self
    }

    /// The names of the pointer fields.
    pub fn pointers(&self) -> &[String] {
        &self.pointers
    }

    /// The names of the bits.
    pub fn bits(&self) -> &[String] {
        &self.bits
    }

    /// The number of the learned pointer field.
    pub fn learned(&self) -> usize {
        self.learned
    }

    /// What the learned pointers look like together.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The pointer fields besides the learned one: number and name.
    pub fn extra(&self) -> impl Iterator<Item = (usize, &str)> {
        let named = self.pointers.iter().map(String::as_str).enumerate();
        named.filter(|&(field, _)| field != self.learned)
    }

    /// Whether the learned field is all there is.
    pub fn is_single(&self) -> bool {
        self.pointers.len() == 1 && self.bits.is_empty()
    }

    /// Refuses names that files cannot carry, and a learned field that does not exist; the error
    /// says what the structure did wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.learned >= self.pointers.len() {
            return Err(format!(
                "learns pointer field number {}, but declares {}",
                self.learned,
                self.pointers.len()
            ));
        }
        for names in [&self.pointers, &self.bits] {
            for (place, name) in names.iter().enumerate() {
                if !is_name(name) {
                    return Err(format!("declares a field `{name}`; expected {NAME}"));
                }
                if names[..place].contains(name) {
                    return Err(format!("declares the field `{name}` twice"));
                }
            }
        }
        Ok(())
    }
}

/// What [`is_name`] accepts, in words.
pub(crate) const NAME: &str = "a name of letters, digits, `-` and `_`";

/// Whether files can carry a field of that name.
pub(crate) fn is_name(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.bytes().all(fine)
}
