//! Fuzzes a report of somebody else.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::report(data));
