//! A file line by line, so that no more of it is in memory than one line.

use std::io::{BufRead, Read};

use super::wrong;
use crate::Result;

/// The longest line that is read, in bytes.
const LONGEST: usize = 1 << 16;

pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Lines read so far.
    read: usize,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Lines<R> {
        Lines { reader, buffer: Vec::new(), read: 0 }
    }

    /// The next line with its number, counted from 0; `None` after the last.
    pub fn next(&mut self) -> Result<Option<(usize, &str)>> {
        self.buffer.clear();
        let line = self.read;
        let most = LONGEST as u64 + 1;
        let length = (&mut self.reader)
            .take(most)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|error| wrong(line, error.to_string()))?;
        if length == 0 {
            return Ok(None);
        }
        if length as u64 == most {
            return Err(wrong(line, format!("it is longer than {LONGEST} bytes")));
        }
        self.read += 1;
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| wrong(line, format!("it is not UTF-8 text ({error})")))?;
        Ok(Some((line, text.trim_end_matches(['\n', '\r']))))
    }
}
