//! Replays the seeds of the fuzzers, each also cut and with single bytes changed, and the inputs
//! that fuzzing found to reach further code.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use bisect_ppl::fuzzing;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// The inputs of a fuzzer's packed corpus.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let packed = fs::File::open(fuzz().join(format!("corpus/{name}.tar.zst"))).unwrap();
    let mut archive = tar::Archive::new(zstd::Decoder::new(packed).unwrap());
    let files = archive.entries().unwrap().map(Result::unwrap);
    files
        .filter(|file| file.header().entry_type().is_file())
        .map(|mut file| {
            let mut input = Vec::new();
            file.read_to_end(&mut input).unwrap();
            input
        })
        .collect()
}

/// Calls a fuzzer with each input of its corpus, and with each seed as it is, with its beginnings,
/// and with changed bytes.
fn replay(name: &str, fuzzer: fn(&[u8]), steps: usize) {
    let found = corpus(name);
    assert!(!found.is_empty(), "{name} has no corpus");
    for input in found {
        fuzzer(&input);
    }
    let folder = fuzz().join("seeds").join(name);
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let seed = fs::read(entry.unwrap().path()).unwrap();
        count += 1;
        fuzzer(&seed);
        for step in 0..steps.min(seed.len()) {
            let at = step * seed.len() / steps.min(seed.len());
            fuzzer(&seed[..at]);
            for byte in [0, 0x1b, b'"', b'9', 0xff] {
                let mut changed = seed.clone();
                changed[at] = byte;
                fuzzer(&changed);
            }
        }
    }
    assert!(count > 0, "{name} has no seeds");
}

#[test]
fn what_engines_print() {
    replay("output", fuzzing::output, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_engines_print_cut_and_changed_at_more_places() {
    replay("output", fuzzing::output, 40);
}

#[test]
fn configurations() {
    replay("config", fuzzing::config, 60);
}

#[test]
fn journals_and_records() {
    replay("journal", fuzzing::journal, 200);
    replay("records", fuzzing::records, 200);
}

#[test]
fn dumps() {
    replay("tensors", fuzzing::tensors, 60);
}

#[test]
fn texts_for_a_terminal() {
    replay("terminal", fuzzing::terminal, 200);
}

#[test]
fn reports_of_others() {
    replay("report", fuzzing::report, 40);
}

#[test]
fn files_of_build_systems() {
    replay("build_files", fuzzing::build, 100);
}

/// Cargo refuses a target with the name of one of its own folders, and then builds no fuzzer at
/// all.
#[test]
fn each_fuzzer_has_seeds_and_a_name_that_cargo_takes() {
    let fuzz = fuzz();
    let targets = fs::read_dir(fuzz.join("fuzz_targets")).unwrap();
    let names: Vec<String> = targets
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(!names.is_empty());
    for name in names {
        assert!(!["build", "deps", "examples", "incremental"].contains(&&*name), "{name}");
        assert!(fuzz.join("seeds").join(&name).is_dir(), "{name} has no seeds");
    }
}
