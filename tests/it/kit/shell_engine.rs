//! Hunts with an engine that is a shell script, in repositories where each commit changes a file
//! that the script reads.

use std::fs;

use super::planted::{commit, put};
use super::{Hunt, TestEnvironment};

/// The keys of a measure that reads a number, a fact, or the results of checks.
pub(crate) const NUMBER: &str = "parser = \"regex\"\npattern = '^e = ([0-9.]+)'";
pub(crate) const FACT: &str = "parser = \"regex\"\nkind = \"fact\"\npattern = '^e = (.*)'";
pub(crate) const PARITY: &str = "parser = \"parity\"";

/// Makes these commits, and hunts from the first one, which is `v1`, to the last one. Commit i puts
/// the i-th text into the i-th file; an empty text removes the file. `a+b` are two files with the
/// same text. The subject of each commit is the name of its file.
pub(crate) fn hunt(
    env: &TestEnvironment,
    engine: &str,
    keys: [&str; 2],
    commits: &[(&str, &str)],
) -> Hunt {
    make(env, engine, commits);
    hunt_by(env, keys)
}

/// Makes these commits, without a hunt.
pub(crate) fn make(env: &TestEnvironment, engine: &str, commits: &[(&str, &str)]) {
    put_engine(env, engine);
    for (number, (files, text)) in commits.iter().enumerate() {
        for file in files.split('+') {
            let path = env.repo().join(file);
            if text.is_empty() {
                std::fs::remove_file(path).unwrap();
            } else {
                put(&path, text.as_bytes());
            }
        }
        commit(env, files);
        if number == 0 {
            env.git(&["tag", "v1"]);
        }
    }
}

/// Puts the script into the repository, without a commit.
pub(crate) fn put_engine(env: &TestEnvironment, engine: &str) {
    put(&env.repo().join("engine.sh"), format!("cd \"$(dirname \"$0\")\"\n{engine}").as_bytes());
    put(&env.repo().join(".gitignore"), b"oracle.toml\n");
}

/// Makes the first commit, `v1`: the script, and what the repository has so far.
pub(crate) fn begin(env: &TestEnvironment, engine: &str) {
    put_engine(env, engine);
    commit(env, "start");
    env.git(&["tag", "v1"]);
}

/// Makes a commit that puts this text into a file.
pub(crate) fn step(env: &TestEnvironment, subject: &str, file: &str, text: &str) {
    put(&env.repo().join(file), text.as_bytes());
    commit(env, subject);
}

/// The commit of HEAD, from git's file: git itself takes far longer.
fn head(env: &TestEnvironment) -> String {
    let read = |name: &str| fs::read_to_string(env.git_folder().join(name));
    let head = read("HEAD").unwrap();
    head.strip_prefix("ref: ").map_or(Ok(head.clone()), |branch| read(branch.trim())).unwrap()
}

/// Makes commits that change nothing.
pub(crate) fn commit_notes(env: &TestEnvironment, count: usize) {
    for number in 0..count {
        let before = head(env);
        step(env, "note", "notes", &format!("{number} after {before}"));
    }
}

/// A hunt in this repository for what the script prints, with these keys of the measure `e` and of
/// the guard.
pub(crate) fn hunt_by(env: &TestEnvironment, keys: [&str; 2]) -> Hunt {
    write_oracle(env, keys);
    env.hunt()
}

/// Writes the configuration of such a hunt.
pub(crate) fn write_oracle(env: &TestEnvironment, [keys, guard]: [&str; 2]) {
    let text = format!("version = 1\n{}\n[[guard]]\n{guard}\n", measure("e", keys));
    put(&env.repo().join("oracle.toml"), text.as_bytes());
}

/// A measure of what the script prints.
pub(crate) fn measure(name: &str, keys: &str) -> String {
    format!("[[measure]]\nname = \"{name}\"\ncommand = \"sh {{src}}/engine.sh\"\n{keys}")
}

/// Commits that change nothing, to have more commits between the others.
pub(crate) fn notes<'a>(count: usize) -> impl Iterator<Item = (&'a str, &'a str)> {
    let texts = ["1", "2", "3", "4", "5", "6", "7", "8"].into_iter().cycle();
    texts.take(count).map(|text| ("notes", text))
}

/// These commits, with notes around them.
pub(crate) fn among_notes<'a>(steps: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all: Vec<_> = [("start", "0")].into_iter().chain(notes(3)).collect();
    for step in steps {
        all.push(*step);
        all.extend(notes(4));
    }
    all
}

/// The subjects of the named commits.
pub(crate) fn subjects(hunt: &Hunt) -> Vec<String> {
    let culprits = hunt.report["culprits"].as_array().unwrap();
    culprits.iter().map(|one| one["subject"].as_str().unwrap().to_owned()).collect()
}

/// Fails unless the hunt names exactly these commits, or leaves the last of them as a candidate.
#[track_caller]
pub(crate) fn names_or_leaves_open(env: &TestEnvironment, hunt: &Hunt, named: &[&str]) {
    let last = named.last().unwrap();
    let is_named = hunt.report["outcome"] == "culprit" && subjects(hunt) == named;
    let is_open = hunt.report["outcome"] == "candidates" && is_candidate(env, hunt, last);
    assert!(is_named || is_open, "{}", hunt.output.stdout);
}

/// Whether the last commit with this subject is a candidate.
pub(crate) fn is_candidate(env: &TestEnvironment, hunt: &Hunt, subject: &str) -> bool {
    let commit = env.git(&["log", "-1", "--format=%H", &format!("--grep=^{subject}$")]);
    let candidates = hunt.report["candidates"].as_array().unwrap();
    candidates.iter().any(|one| one == commit.trim())
}
