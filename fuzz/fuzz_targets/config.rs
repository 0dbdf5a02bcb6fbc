//! Fuzzes an `oracle.toml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::config(data));
