//! Programs that are missing or too old, or only seem to be the right one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::{plain, refused_with, seen};
use crate::kit::{Oracle, TestEnvironment, line};

const START: [&str; 3] = ["start", "--good", "v1"];

/// A PATH with these programs and no others.
fn path_of(env: &TestEnvironment, programs: &[&str]) -> PathBuf {
    let folder = env.path("bin");
    fs::create_dir_all(&folder).unwrap();
    for program in programs {
        let found = env.tool(&env.repo(), "sh", &["-c", &format!("command -v {program}")]);
        symlink(found.expect(0).stdout.trim(), folder.join(program)).unwrap();
    }
    folder
}

#[test]
fn no_git() {
    let env = plain("g b");
    let path = path_of(&env, &[]);
    let variables = [("PATH", path.to_str().unwrap())];
    insta::assert_snapshot!(refused_with(&env, &env.repo(), &START, &variables), @r"
    exit code 5
    error: git is not installed, or not in PATH
    hint: install git 2.30.0 or newer, or put its folder into PATH
    ");
    let output = env.run_with(&env.repo(), &["check"], &variables).expect(1);
    output.says(&["FAIL  git", "install git"]);
}

#[test]
fn an_old_git() {
    let env = plain("g b");
    let path = path_of(&env, &[]);
    // The only fake git in the tests: machines no longer have a git from 2018.
    fs::write(path.join("git"), "#!/bin/sh\necho git version 2.20.1\n").unwrap();
    fs::set_permissions(path.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let variables = [("PATH", path.to_str().unwrap())];
    insta::assert_snapshot!(refused_with(&env, &env.repo(), &START, &variables), @r"
    exit code 5
    error: git 2.20.1 is too old: at least 2.30.0 is needed
    hint: install git 2.30.0 or newer and put it first in PATH
    ");
    fs::write(path.join("git"), "#!/bin/sh\necho I am no git\n").unwrap();
    insta::assert_snapshot!(refused_with(&env, &env.repo(), &START, &variables), @r"
    exit code 5
    error: `git version` said `I am no git`, which holds no version number
    hint: install git 2.30.0 or newer and put it first in PATH
    ");
    fs::write(path.join("git"), "#!/no/such/shell\n").unwrap();
    insta::assert_snapshot!(refused_with(&env, &env.repo(), &START, &variables), @r"
    exit code 5
    error: git is not installed, or not in PATH
    hint: install git 2.30.0 or newer, or put its folder into PATH
    ");
}

/// A hunt whose build calls a program that is not in PATH. It goes on once the program is there.
fn without(program: &str) -> (String, TestEnvironment) {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    let build = format!("{program} {} build {{src}} {{build}}", TestEnvironment::fake());
    Oracle::new(&env).build_command(&build).write(&env);
    let path = path_of(&env, &["git", "sh"]);
    let variables = [("PATH", path.to_str().unwrap())];
    let output = env.run_with(&env.repo(), &START, &variables);
    let said = seen(&env, &output);
    assert!(env.starts().is_empty(), "{:?}", env.starts());
    // A stand-in for the compiler that runs its arguments as a command.
    fs::write(path.join(program), "#!/bin/sh\nexec \"$@\"\n").unwrap();
    fs::set_permissions(path.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    let output = env.run_with(&env.repo(), &["resume"], &variables).expect(0);
    output.says(&["First bad commit", history.commit(2)]);
    (said, env)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn no_compiler_and_no_make() {
    insta::assert_snapshot!(without("cc").0, @r"
    exit code 5
    hunt: [HUNT]
    good end 317bf99e7c change 0
    bad end  db6955cd27 change 3
    range    3 commits
    error: [build] needs the program `cc`, which was not found
    hint: if the name is wrong, correct [build] commands and start a new hunt; else install `cc` or add its folder to PATH; after that, `bisect-ppl resume` goes on where it was
    ");
    insta::assert_snapshot!(without("make").0, @r"
    exit code 5
    hunt: [HUNT]
    good end 317bf99e7c change 0
    bad end  db6955cd27 change 3
    range    3 commits
    error: [build] needs the program `make`, which was not found
    hint: if the name is wrong, correct [build] commands and start a new hunt; else install `make` or add its folder to PATH; after that, `bisect-ppl resume` goes on where it was
    ");
}

#[test]
fn check_names_the_programs_that_are_missing() {
    let env = plain("g b");
    Oracle::new(&env)
        .build_command("make -C {src}")
        .section("[environment]\nprobe = ['cc --version']")
        .write(&env);
    let path = path_of(&env, &["git"]);
    let variables = [("PATH", path.to_str().unwrap())];
    let output = env.run_with(&env.repo(), &["check"], &variables).expect(1);
    for program in ["cc", "make"] {
        let line = format!("FAIL  tool         `{program}` is not there; install it");
        assert!(output.stdout.contains(&line), "{}", output.stdout);
    }
}
