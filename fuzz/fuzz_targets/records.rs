//! Fuzzes a record of the store, or a log.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::records(data));
