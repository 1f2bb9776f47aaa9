//! The readers of `crates/viewer/tests/fuzz`, for libFuzzer.

use std::{collections::HashMap, sync::OnceLock};

#[path = "../crates/viewer/tests/fuzz/readers.rs"]
pub mod readers;

type Read = fn(&[u8]) -> bool;

/// Lets the reader of this name have the bytes.
pub fn read(name: &str, data: &[u8]) {
    static READERS: OnceLock<HashMap<&str, Read>> = OnceLock::new();
    let all = || readers::all().into_iter().map(|reader| (reader.name, reader.read)).collect();
    if let Some(read) = READERS.get_or_init(all).get(name) {
        read(data);
    }
}
