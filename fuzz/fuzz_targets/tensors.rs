//! Fuzzes a file with logits or tensors.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bisect_ppl::fuzzing::tensors(data));
