//! Hostile input: what other people put into the store, the cache, an engine's output folder, or a
//! commit's message. Nothing of it is run, waited for, followed, or sent to a terminal.

mod output_folder;
mod store;
mod terminal;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::bad_input::{is_root, plain};
use crate::kit::{Clock, Oracle, TestEnvironment, line};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_store_or_a_cache_that_all_may_write_to_is_refused() {
    let env = plain("g g b b");
    env.hunt().expect(0, "culprit");
    let store = env.repo().join(".git/bisect-ppl");
    let cache = fs::read_dir(env.path("cache/bisect-ppl")).unwrap();
    let cache = cache.map(|entry| entry.unwrap().path()).find(|path| path.join("slots").exists());
    let slots = cache.unwrap().join("slots");
    for (folder, what) in [(&store, "store"), (&slots, "cache")] {
        let before = (mode(folder), env.starts().len());
        set_mode(folder, 0o777);
        let words = [what, "can be written to by all users", "chmod o-w"];
        env.run(&["start", "--good", "v1"]).expect(2).says(&words);
        env.run(&["check", "--good", "v1"]).expect(1).says(&words[1..]);
        env.run(&["status"]).expect(0);
        set_mode(folder, before.0);
        assert_eq!(env.starts().len(), before.1);
    }
    env.hunt().expect(0, "culprit");
}

#[test]
fn a_store_or_a_cache_of_another_user_is_refused() {
    if !is_root() {
        return;
    }
    let env = plain("g g b b");
    env.hunt().expect(0, "culprit");
    for folder in [env.repo().join(".git/bisect-ppl"), env.path("cache/bisect-ppl")] {
        let give = |owner: &str| {
            env.tool(&folder, "chown", &["-R", owner, folder.to_str().unwrap()]).expect(0);
        };
        give("65534");
        env.run(&["start", "--good", "v1"]).expect(2).says(&["another user (uid 65534)", "chown"]);
        give("0");
    }
    env.hunt().expect(0, "culprit");
}

#[test]
fn a_store_that_the_umask_would_open_to_all_is_not_open() {
    let env = plain("g b");
    let script = "umask 0; exec bisect-ppl start --good v1 --no-localize";
    env.tool(&env.repo(), "sh", &["-c", script]).expect(0);
    assert_eq!(mode(&env.repo().join(".git/bisect-ppl")) & 0o002, 0);
    env.hunt().expect(0, "culprit");
}

#[test]
fn declared_secrets_are_for_nobody_else_to_read() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let store = env.repo().join(".git/bisect-ppl");
    Oracle::new(&env).write(&env);
    env.hunt().expect(0, "culprit");
    assert_eq!(mode(&store) & 0o055, 0o055, "without secrets the umask decides");
    let oracle = Oracle::new(&env).section(
        "[[override]]\nwhen = { missing = \"no-such-file\" }\nmeasure.ppl.env.HF_TOKEN = \"hunter2\"",
    );
    oracle.write(&env);
    env.hunt().expect(0, "culprit");
    assert_eq!(mode(&store), 0o700);
}

#[test]
fn a_clock_that_shows_no_date_is_refused() {
    let env = plain("g b");
    let clock = Clock::new(&env);
    let start = ["start", "--good", "v1"];
    // The year 10000.
    clock.stop_at(253_402_300_800);
    for args in [&start[..], &["status"], &["resume"], &["store", "ls"]] {
        let output = env.run_with(&env.repo(), args, &clock.variables()).expect(5);
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
        output.says(&["clock shows a year after 9999", "set the clock"]);
    }
    // The year 2600 is only odd.
    clock.stop_at(19_880_899_200);
    env.run_with(&env.repo(), &start, &clock.variables()).expect(0);
    env.run(&["status"]).expect(0).says(&["First bad commit"]);
}

/// A model with this name is read, and its name does no harm where it is shown.
fn is_read_and_shown(name: &str) {
    let env = TestEnvironment::new();
    line("g g b").build(&env);
    fs::write(env.path("inputs").join(name), "weights\n").unwrap();
    let written = toml_string(&format!("../inputs/{name}"));
    let text = Oracle::new(&env)
        .ppl_command("{build}/engine run ppl src={src} out={out} m={inputs.model}");
    let text = text.text().replace("\"../inputs/model.bin\"", &written);
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    let check = env.run(&["check", "--good", "v1"]).expect(0);
    let hunt = env.hunt().expect(0, "culprit");
    assert!(hunt.report["inputs"]["model"]["path"].as_str().unwrap().ends_with(name));
    let page = hunt.file("report.md");
    for text in [check.stdout, hunt.output.stdout, hunt.output.stderr, page] {
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}']), "{text:?}");
    }
    fs::remove_file(env.path("inputs").join(name)).unwrap();
    let missing = env.run(&["start", "--good", "v1"]).expect(2);
    assert!(!missing.stderr.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}']));
}

#[test]
fn a_model_with_a_hostile_name_is_read_and_shown_without_harm() {
    is_read_and_shown("we\u{1b}]0;title\u{7}ights.bin");
    is_read_and_shown("[");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn models_with_other_hostile_names_are_read_and_shown_without_harm() {
    is_read_and_shown("we[i]ghts*.bin");
    is_read_and_shown("a\u{202e}b\u{9b}31m");
}

fn toml_string(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
