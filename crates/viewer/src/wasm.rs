//! The API in a browser: what a page without a server calls.
//!
//! JavaScript writes a request into the room it is given, asks for the answer, and reads it from
//! where it is told. Nothing but whole numbers crosses the border.
#![allow(unsafe_code, reason = "an export needs its name")]

use std::cell::RefCell;

use crate::Api;

struct Border {
    api: Api,
    /// `METHOD ADDRESS`, a line feed, and the body; after that the answer.
    text: Vec<u8>,
}

thread_local! {
    static BORDER: RefCell<Border> =
        RefCell::new(Border { api: Api::built_in(), text: Vec::new() });
}

/// Where a request of so many bytes is to be written.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    BORDER.with_borrow_mut(|border| {
        border.text = vec![0; bytes];
        border.text.as_mut_ptr()
    })
}

/// Answers the request that was written; the status.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> u32 {
    BORDER.with_borrow_mut(|Border { api, text }| {
        let request = std::mem::take(text);
        let end = request.iter().position(|&byte| byte == b'\n').unwrap_or(request.len());
        let head = String::from_utf8_lossy(&request[..end]);
        let (method, address) = head.split_once(' ').unwrap_or(("", &head));
        let body = request.get(end + 1..).unwrap_or_default();
        let (status, json) = api.answer(method, address, body);
        *text = json;
        status.into()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> *const u8 {
    BORDER.with_borrow(|border| border.text.as_ptr())
}

/// How many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn reply_bytes() -> usize {
    BORDER.with_borrow(|border| border.text.len())
}
