//! Fuzzes text for a terminal.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::terminal(data));
