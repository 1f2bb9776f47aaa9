//! Rows of equal width in a flat array.

/// A view of rows: row i is `data[i * width..][..width]`.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    pub data: &'a [f32],
    pub width: usize,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    pub fn new(data: &'a [f32], width: usize) -> Rows<'a> {
        Rows { data, width }
    }

    /// Row number `i`.
    #[inline(always)]
    pub fn row(self, i: usize) -> &'a [f32] {
        &self.data[i * self.width..][..self.width]
    }

    /// All rows, in order.
    #[inline(always)]
    pub fn iter(self) -> std::slice::ChunksExact<'a, f32> {
        self.data.chunks_exact(self.width)
    }
}

/// [`Rows`], to change.
#[derive(Debug)]
pub struct RowsMut<'a> {
    pub data: &'a mut [f32],
    pub width: usize,
}

impl<'a> RowsMut<'a> {
    #[inline(always)]
    pub fn new(data: &'a mut [f32], width: usize) -> RowsMut<'a> {
        RowsMut { data, width }
    }

    /// Row number `i`.
    #[inline(always)]
    pub fn row(&mut self, i: usize) -> &mut [f32] {
        &mut self.data[i * self.width..][..self.width]
    }
}
