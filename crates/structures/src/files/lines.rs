//! A text line by line, so that no more of it is in memory than one line.

use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes.
const LONGEST: usize = 1 << 16;

/// The lines of a text, each of at most 65,536 bytes: a device would never end its first one.
///
/// ```
/// use pgn_structures::files::Lines;
///
/// let mut lines = Lines::new("0,1\n1,2\r\n".as_bytes());
/// assert_eq!(lines.next()?, Some((0, "0,1")));
/// assert_eq!(lines.next()?, Some((1, "1,2")));
/// assert_eq!(lines.next()?, None);
/// # Ok::<(), pgn_structures::files::BadLine>(())
/// ```
pub struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Lines read so far.
    read: usize,
}

/// A line that cannot be read as text.
#[derive(Debug)]
pub struct BadLine {
    /// Its number, counted from 0.
    pub line: usize,
    /// Why not; invalid data if the text is to blame.
    pub cause: io::Error,
}

impl<R: BufRead> Lines<R> {
    /// From the beginning of a text.
    pub fn new(reader: R) -> Lines<R> {
        Lines { reader, buffer: Vec::new(), read: 0 }
    }

    /// The next line with its number, counted from 0; `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "the line is only lent")]
    pub fn next(&mut self) -> Result<Option<(usize, &str)>, BadLine> {
        self.buffer.clear();
        let line = self.read;
        let bad = |cause| BadLine { line, cause };
        let invalid = |what: String| Err(bad(io::Error::new(io::ErrorKind::InvalidData, what)));
        let most = LONGEST as u64 + 1;
        let read = (&mut self.reader).take(most).read_until(b'\n', &mut self.buffer);
        let length = read.map_err(bad)?;
        if length == 0 {
            return Ok(None);
        }
        if length as u64 == most {
            return invalid(format!("it is longer than {LONGEST} bytes"));
        }
        let Ok(text) = std::str::from_utf8(&self.buffer) else {
            return invalid("it is not UTF-8 text".to_owned());
        };
        self.read += 1;
        Ok(Some((line, text.trim_end_matches(['\n', '\r']))))
    }
}
