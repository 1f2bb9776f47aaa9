#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pgn_fuzz::read("graph", data));
