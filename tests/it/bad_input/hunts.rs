//! Names of no hunt or of several hunts, and hunts that already run, or do not run.

use std::fs;
use std::time::Duration;

use super::{plain, refused, seen};
use crate::kit::{Oracle, TestEnvironment, line, wait_until};

#[test]
fn none_yet() {
    let env = plain("g b");
    insta::assert_snapshot!(refused(&env, &["resume"]), @r"
    exit code 2
    error: there is no hunt in this repository yet
    hint: `bisect-ppl start --good REV` begins one
    ");
    insta::assert_snapshot!(refused(&env, &["status", "20260102"]), @r"
    exit code 2
    error: there is no hunt in this repository yet
    hint: `bisect-ppl start --good REV` begins one
    ");
    insta::assert_snapshot!(refused(&env, &["oracle", "--hunt", "20260102"]), @r"
    exit code 129
    error: there is no hunt in this repository yet
    hint: `bisect-ppl start --good REV` begins one
    ");
}

#[test]
fn a_name_that_none_has_or_several() {
    let env = plain("g g b b");
    env.hunt();
    env.hunt();
    for command in ["status", "report", "log", "stop", "resume"] {
        let said = seen(&env, &env.run(&[command, "1999"]));
        assert!(said.starts_with("exit code 2\n") && said.contains("`1999`"), "{said}");
    }
    insta::assert_snapshot!(seen(&env, &env.run(&["report", "1999"])), @r"
    exit code 2
    error: there is no hunt `1999`; the newest are: [HUNT], [HUNT]
    hint: `bisect-ppl store ls` lists them all
    ");
    insta::assert_snapshot!(seen(&env, &env.run(&["report", "2"])), @r"
    exit code 2
    error: `2` could be any of: [HUNT], [HUNT]
    hint: use more of the name
    ");
}

#[test]
fn one_that_runs_already_and_one_that_does_not() {
    let env = TestEnvironment::new();
    let plan = line("g g g b b").with_all("chunk_ms = 60");
    plan.build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(Duration::from_secs(20), || !env.starts().is_empty()));
    let again = seen(&env, &env.run(&["resume"]));
    let (holder, hint) = again.split_once("\nhint: ").unwrap();
    let process = running.pid();
    let expected = format!(
        "exit code 2\nhunt: [HUNT]\nerror: hunt [HUNT] is running already: process {process} on "
    );
    assert!(holder.starts_with(&expected) && holder.contains(", since 20"), "{holder}");
    let watch = "`bisect-ppl status --watch [HUNT]` shows it; `bisect-ppl stop [HUNT]` ends it";
    assert_eq!(hint.trim_end(), watch);
    insta::assert_snapshot!(seen(&env, &env.run(&["stop"])), @r"
    exit code 0
    hunt [HUNT] is stopped; `bisect-ppl resume` goes on
    ");
    insta::assert_snapshot!(seen(&env, &env.run(&["stop"])), @r"
    exit code 0
    hunt [HUNT] is not running
    ");
    running.wait().expect(130);
    env.assert_no_survivors();
}

#[test]
fn one_that_has_not_begun() {
    let env = plain("g b");
    let folder = env.repo().join(".git/bisect-ppl/hunts/20260102-030405");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("journal.jsonl"), "").unwrap();
    insta::assert_snapshot!(seen(&env, &env.run(&["report"])), @r"
    exit code 2
    error: hunt [HUNT] has not begun: its journal says nothing yet
    hint: start a new hunt; `bisect-ppl store gc` removes what has not begun
    ");
    insta::assert_snapshot!(seen(&env, &env.run(&["status"])), @r"
    exit code 2
    error: hunt [HUNT] has not begun: its journal says nothing yet
    hint: start a new hunt; `bisect-ppl store gc` removes what has not begun
    ");
    insta::assert_snapshot!(seen(&env, &env.run(&["log"])), @r"
    exit code 2
    error: the hunt's journal does not say how it began
    hint: start a new hunt; what was measured is used again
    ");
    insta::assert_snapshot!(seen(&env, &env.run(&["resume"])), @r"
    exit code 2
    hunt: [HUNT]
    error: the hunt's journal does not say how it began
    hint: start a new hunt; what was measured is used again
    ");
    env.run(&["store", "ls"]).expect(0).says(&["not begun"]);
    env.run(&["store", "gc"]).expect(0).says(&["1 leftover"]);
    env.run(&["status"]).expect(2).says(&["no hunt in this repository yet"]);
}

#[test]
fn a_store_of_a_newer_program_and_one_that_is_damaged() {
    let env = plain("g g b b");
    env.hunt();
    let store = env.repo().join(".git/bisect-ppl");
    fs::write(store.join("format"), "7\n").unwrap();
    insta::assert_snapshot!(seen(&env, &env.run(&["status"])), @r"
    exit code 2
    error: [ROOT]/repo/.git/bisect-ppl: store format 7, this program knows 1
    hint: use the newer bisect-ppl, or move that folder away
    ");
    insta::assert_snapshot!(seen(&env, &env.run(&["start", "--good", "v1"])), @r"
    exit code 2
    error: [ROOT]/repo/.git/bisect-ppl: store format 7, this program knows 1
    hint: use the newer bisect-ppl, or move that folder away
    ");
    fs::write(store.join("format"), "1\n").unwrap();
    let out = env.run(&["store", "show", "v1"]).expect(0).stdout;
    let log = out.lines().find_map(|line| line.trim().strip_prefix("log ")).unwrap();
    fs::write(log.replace(".log", ".json"), "{").unwrap();
    let output = env.run(&["start", "--good", "v1"]).expect(0);
    let said = seen(&env, &output);
    let note = said.lines().find(|line| line.starts_with("note: ")).unwrap();
    insta::assert_snapshot!(note, @"note: the run [ATTEMPT] is damaged: its record cannot be read (EOF while parsing an object at line 1 column 1); it lies in [ROOT]/repo/.git/bisect-ppl/runs/[KEY]/[ATTEMPT].json.damaged. It is ignored, and measured again if needed");
}
