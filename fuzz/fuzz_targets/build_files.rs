//! Fuzzes the files of build systems and compilers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::build(data));
