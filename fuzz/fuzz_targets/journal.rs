//! Fuzzes a hunt's journal.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::journal(data));
