//! Wrong input: arguments, files, repositories and machines. Each snapshot has the exit code,
//! stdout if there is any, and stderr. A message says what is wrong and what to do. No case loses
//! data.

mod case;
mod check;
mod configuration;
mod ends;
mod failure_hunts;
mod hunts;
mod inputs;
mod one_off;
mod output;
pub(crate) mod places;
mod revisions;
mod tools;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Oracle, Output, Snapshot, TestEnvironment, line};

/// The user `nobody`: not root, and the owner of no file.
const NOBODY: &str = "65534";

/// Exit code and output. Placeholders replace what differs from run to run.
pub(crate) fn seen(env: &TestEnvironment, output: &Output) -> String {
    let mut text = match output.code() {
        Some(code) => format!("exit code {code}\n"),
        None => format!("{:?}\n", output.status),
    };
    if !output.stdout.is_empty() {
        text.extend(["--- stdout\n", &output.stdout, "--- stderr\n"]);
    }
    text += &output.stderr;
    assert!(!text.contains("panicked"), "{text}");
    let root = env.path("").to_string_lossy().trim_end_matches('/').to_owned();
    let text = text.replace(&root, "[ROOT]").replace(TestEnvironment::product(), "bisect-ppl");
    let text = text.replace(TestEnvironment::fake(), "[ENGINE]");
    let patterns = [
        (r"\b2\d{7}-\d{6}(-\d+)?\b", "[HUNT]"),
        (r"/bisect-ppl/[0-9a-f]{12}/", "/bisect-ppl/[REPOSITORY]/"),
        (r"\b\d{16}-[0-9a-f]+-\d+\b", "[ATTEMPT]"),
        (r"\b[0-9a-f]{2}/[0-9a-f]{64}\b", "[KEY]"),
    ];
    patterns.iter().fold(text, |text, (pattern, name)| {
        regex::Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned()
    })
}

/// A small history with a configuration that fits it.
pub(crate) fn plain(words: &str) -> TestEnvironment {
    let env = TestEnvironment::new();
    line(words).build(&env);
    Oracle::new(&env).write(&env);
    env
}

/// Runs the product; fails if it starts a hunt or a build, or changes the user's repository.
pub(crate) fn refused(env: &TestEnvironment, args: &[&str]) -> String {
    refused_with(env, &env.repo(), args, &[])
}

pub(crate) fn refused_with(
    env: &TestEnvironment,
    folder: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
) -> String {
    let before = Snapshot::of(env);
    let output = env.run_with(folder, args, variables);
    before.assert_unchanged(env);
    assert_nothing_made(env);
    seen(env, &output)
}

/// Fails if a hunt or a build was started.
#[track_caller]
pub(crate) fn assert_nothing_made(env: &TestEnvironment) {
    let hunts = env.repo().join(".git/bisect-ppl/hunts");
    let made = std::fs::read_dir(&hunts).is_ok_and(|mut entries| entries.next().is_some());
    assert!(!made, "a hunt was begun");
    assert!(env.starts().is_empty(), "{:?}", env.starts());
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A command of a user to whom file permissions apply. They do not apply to root. So if the test
/// runs as root, the test's files are given to the user `nobody`, and the product runs as `nobody`.
pub(crate) fn as_somebody(env: &TestEnvironment, folder: &Path, args: &[&str]) -> Command {
    let program = PathBuf::from(TestEnvironment::product());
    if !is_root() {
        let mut command = env.command(&program, folder);
        command.args(args);
        return command;
    }
    // Other users may not be allowed to read the folder in which the product was built.
    let own = env.path("tmp/bisect-ppl");
    std::fs::copy(&program, &own).unwrap();
    let owner = format!("{NOBODY}:{NOBODY}");
    let root = env.path("");
    env.tool(&root, "chown", &["-R", &owner, root.to_str().unwrap()]).expect(0);
    let mut command = env.command("setpriv", folder);
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
    command.arg(own).args(args);
    command
}
