//! The functions that the fuzzers in `fuzz/` call. Each takes any bytes, and panics only if this
//! program has a fault. A test replays the seeds.

use std::path::Path;
use std::sync::LazyLock;

use crate::build::parse_dependencies;
use crate::config::{Config, Measure};
use crate::differ::{self, BuildFolders};
use crate::evaluation::{Compiled, Ended, RunRecord, Stream};
use crate::measure::Reader;
use crate::process::Log;
use crate::report;
use crate::store::journal::{Entry, Journal, LimitsInForce};
use crate::store::{BuildRecord, Confirmation};
use crate::tensor::{Dump, TensorSet};
use crate::ui;

/// One measure for each parser that reads output.
const MEASURES: &str = r#"
version = 1
[[measure]]
name = "a"
command = "x"
parser = "llama-perplexity"
[[measure]]
name = "b"
command = "x"
parser = "llama-bench"
[[measure]]
name = "c"
command = "x"
parser = "llama-kld"
[[measure]]
name = "d"
command = "x"
parser = "llama-eval-callback"
[[measure]]
name = "e"
command = "x"
parser = "text"
[[measure]]
name = "f"
command = "x"
parser = "tensors"
[[measure]]
name = "g"
command = "x"
parser = "lm-eval"
file = "{out}/*.json"
[[measure]]
name = "h"
command = "x"
parser = "parity"
[[measure]]
name = "i"
command = "x"
parser = "junit"
file = "{out}/*.xml"
[[measure]]
name = "j"
command = "x"
parser = "regex"
pattern = '(?<key>[a-z]+): (?<value>[0-9.]+)'
[[measure]]
name = "k"
command = "x"
parser = "json"
pointer = "/a/0/b"
[[measure]]
name = "l"
command = "x"
parser = "exit-code"
[[guard]]
metric = "a"
max_increase = 1
"#;

static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    Config::parse(MEASURES, Path::new("/"), "fuzzing").expect("the measures are correct")
});

/// What an engine prints, for each parser. A line begins with the number of its stream (`1`, `2`,
/// `3`). The lines that the log must keep give the same reading again, or fail again.
pub fn output(data: &[u8]) {
    let lines: Vec<(Stream, &[u8])> = data.split(|byte| *byte == b'\n').map(line).collect();
    for measure in &CONFIG.measures {
        for ended in [Ended::Exited(0), Ended::Signaled(11)] {
            let mut reader = Reader::new(measure, &CONFIG.requires);
            let kept: Vec<_> =
                lines.iter().filter(|(stream, line)| reader.line(*stream, line)).collect();
            assert_eq!(reading(reader, &ended), again(measure, &kept, &ended), "{}", measure.name);
        }
    }
}

fn line(line: &[u8]) -> (Stream, &[u8]) {
    match line.split_first() {
        Some((b'2', rest)) => (Stream::Err, rest),
        Some((b'3', rest)) => (Stream::File, rest),
        Some((b'1', rest)) => (Stream::Out, rest),
        _ => (Stream::Out, line),
    }
}

fn again(measure: &Measure, kept: &[&(Stream, &[u8])], ended: &Ended) -> String {
    let mut reader = Reader::new(measure, &CONFIG.requires);
    for (stream, line) in kept {
        reader.line(*stream, line);
    }
    reading(reader, ended)
}

/// The reading as text, since NaN is not equal to itself. Of a failure only the fact counts,
/// because its text may quote lines that the log need not keep.
fn reading(reader: Reader, ended: &Ended) -> String {
    format!("{:?}", reader.finish(ended).map_err(drop))
}

/// An `oracle.toml`.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Config::parse(text, Path::new("/nowhere"), "oracle.toml") {
        // A hunt stores a copy of this text, which must be readable too.
        Ok(config) => {
            let again = Config::parse(config.text(), Path::new("/nowhere"), "oracle.toml");
            assert!(again.is_ok(), "{again:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A hunt's journal.
pub fn journal(data: &[u8]) {
    let entries = Journal::parse(data);
    let limits = LimitsInForce::of(&entries);
    for entry in &entries {
        let text = serde_json::to_vec(entry).expect("an event is plain data");
        let again: Entry = serde_json::from_slice(&text).expect("an event that was read is read");
        assert_eq!(serde_json::to_vec(&again).expect("an event is plain data"), text);
    }
    assert!(limits.made as usize <= entries.len());
}

/// A record of the store, or a log.
pub fn records(data: &[u8]) {
    let _ = serde_json::from_slice::<RunRecord>(data);
    let _ = serde_json::from_slice::<BuildRecord>(data);
    let _ = serde_json::from_slice::<Confirmation>(data);
    let log = Log::from(data.to_vec());
    assert!(log.lines().map(|(_, line)| line.len()).sum::<usize>() <= data.len());
    assert!(log.header().count() <= data.len());
}

/// A file with logits or tensors, in a temporary folder.
pub fn tensors(data: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    for name in ["a.npy", "a.safetensors", "a.txt"] {
        let file = folder.path().join(name);
        if std::fs::write(&file, data).is_err() {
            return;
        }
        let _ = Dump::open(&file, None);
        let _ = TensorSet::open(&file);
    }
}

/// A report of somebody else: `report.json`, or a bundle.
pub fn report(data: &[u8]) {
    if let Ok(read) = report::from_json(data) {
        let text = report::json(&read);
        let again = report::from_json(text.as_bytes()).expect("a report that was read is read");
        assert_eq!(report::json(&again), text);
    }
    let Ok(folder) = tempfile::tempdir() else { return };
    let file = folder.path().join("hunt.tar.zst");
    if std::fs::write(&file, data).is_ok() {
        let _ = report::unpack(&file);
    }
}

/// A file that a build system or a compiler wrote.
pub fn build(data: &[u8]) {
    parse_dependencies(data);
    let text = String::from_utf8_lossy(data);
    let commit = "1".repeat(40).parse().expect("a commit's name");
    let place = BuildFolders::new(Path::new("/s/src"), Path::new("/s/build"), &commit);
    let entries = differ::cmake_cache(&text, &place);
    assert!(entries.len() <= text.lines().count());
    let mut compiled = Compiled::default();
    differ::compile_commands(&text, &place, &mut compiled);
    differ::flags_make(&text, "engine", &place, &mut compiled);
    text.lines().for_each(|line| differ::printed_command(line, &place, &mut compiled));
    let _ = differ::packages::lock_file(&text);
}

/// Text for a terminal, and as JSON.
pub fn terminal(data: &[u8]) {
    let clean = ui::printable(data);
    assert!(clean.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    let text = String::from_utf8_lossy(data);
    let json = serde_json::to_string(&text).expect("a text is plain data");
    let plain = ui::plain_json(&json);
    assert!(plain.chars().all(|c| !c.is_control()));
    assert_eq!(serde_json::from_str::<String>(&plain).expect("it is JSON still"), text);
}
