//! Numbers from text, with the line that is to blame if something is wrong.

use std::fmt::Display;

use pgn_structures::{Node, shown};

use crate::{Error, Result};

/// A text of whole numbers between blanks and line ends.
///
/// ```
/// use pgn_uses::Input;
///
/// let mut input = Input::new(b"3 -7\nx");
/// assert_eq!(input.number("N", 0, 10)?, 3);
/// assert_eq!(input.number("w", -9, 9)?, -7);
/// let error = input.number("u", 0, 9).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: found `x`; expected u, a whole number from 0 to 9");
/// # Ok::<(), pgn_uses::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the last word began.
    word: usize,
}

impl<'a> Input<'a> {
    /// From the beginning of a text.
    pub fn new(text: &'a [u8]) -> Self {
        Input { text, at: 0, word: 0 }
    }

    /// An error in the line of the last word that was read.
    pub fn error(&self, trouble: impl Display) -> Error {
        let before = &self.text[..self.word.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Error::Input { line, trouble: trouble.to_string() }
    }

    fn next_word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let length = rest[blanks..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        self.word = self.at + blanks;
        self.at = self.word + length;
        &self.text[self.word..self.at]
    }

    /// The next number, called `what` in errors.
    pub fn number(&mut self, what: &str, least: i64, most: i64) -> Result<i64> {
        let word = self.next_word();
        match parse(word) {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            _ if word.is_empty() => Err(self.error(format!(
                "the input ends here; expected {what}, a whole number from {least} to {most}"
            ))),
            _ => Err(self.error(format!(
                "found `{}`; expected {what}, a whole number from {least} to {most}",
                shown(&String::from_utf8_lossy(&word[..word.len().min(200)]))
            ))),
        }
    }

    /// The next number, as one of `nodes` nodes.
    pub fn node(&mut self, what: &str, nodes: usize) -> Result<Node> {
        Ok(self.number(what, 0, nodes as i64 - 1)? as Node)
    }

    /// The next number, as a count.
    pub fn count(&mut self, what: &str, least: usize, most: usize) -> Result<usize> {
        Ok(self.number(what, least as i64, most as i64)? as usize)
    }

    /// Makes sure that nothing is left.
    pub fn end(mut self) -> Result<()> {
        let word = self.next_word();
        match word {
            [] => Ok(()),
            _ => Err(self.error(format!(
                "found `{}`; expected the end of the input",
                shown(&String::from_utf8_lossy(&word[..word.len().min(200)]))
            ))),
        }
    }
}

/// A whole number of at most 18 digits.
fn parse(word: &[u8]) -> Option<i64> {
    let (digits, sign) = match word {
        [b'-', digits @ ..] => (digits, -1),
        digits => (digits, 1),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(sign * number)
}
