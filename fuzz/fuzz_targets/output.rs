//! Fuzzes what an engine prints.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::output(data));
