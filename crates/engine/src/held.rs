//! How a [`State`](crate::State) holds its model: borrowed, or shared with others.

use std::{ops::Deref, sync::Arc};

use crate::Model;

/// A model that lives at least as long as `'m`.
#[derive(Clone, Debug)]
pub(crate) enum Held<'m> {
    Borrowed(&'m Model),
    /// For holders that cannot borrow, such as objects of another language.
    Shared(Arc<Model>),
}

impl Deref for Held<'_> {
    type Target = Model;

    #[inline]
    fn deref(&self) -> &Model {
        match self {
            Held::Borrowed(model) => model,
            Held::Shared(model) => model,
        }
    }
}
