//! What a request that cannot be answered gets: a status and one sentence, as JSON.

use serde_json::json;

/// A request refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// As HTTP numbers them.
    pub status: u16,
    pub sentence: String,
}

/// What a handler returns.
pub type Answer<T> = std::result::Result<T, Refusal>;

impl Refusal {
    pub fn new(status: u16, sentence: impl Into<String>) -> Refusal {
        Refusal { status, sentence: sentence.into() }
    }

    /// The request makes no sense.
    pub fn bad(sentence: impl Into<String>) -> Refusal {
        Refusal::new(400, sentence)
    }

    /// There is no such thing.
    pub fn missing(sentence: impl Into<String>) -> Refusal {
        Refusal::new(404, sentence)
    }

    /// A file in the folder is not what it should be.
    pub fn damaged(error: impl std::fmt::Display) -> Refusal {
        Refusal::new(422, error.to_string())
    }

    /// The JSON of it.
    pub fn json(&self) -> Vec<u8> {
        json!({ "error": self.sentence }).to_string().into_bytes()
    }
}
