//! Where `init` runs and writes, and trees that are odd or large.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

use super::{MAKEFILE, make_tree, written};
use crate::kit::TestEnvironment;
use crate::kit::planted::{Planted, commit, put};

#[test]
fn a_file_that_is_there_is_left_alone() {
    let env = make_tree().env;
    fs::write(env.repo().join("oracle.toml"), "mine").unwrap();
    env.run(&["init"]).expect(2).says(&["is there already", "hint: write elsewhere", "--force"]);
    assert_eq!(written(&env), "mine");
    let shown = env.run(&["init", "-o", "-"]).expect(0);
    assert_eq!(written(&env), "mine");
    env.run(&["init", "--force"]).expect(0);
    assert_eq!(written(&env), shown.stdout);
    env.run(&["init", "-o", "other/none.toml"]).expect(5).says(&["cannot write other/none.toml"]);
}

#[test]
fn it_may_stand_below_beside_or_nowhere() {
    let env = make_tree().env;
    env.run_in(&env.repo().join("data"), &["init"]).expect(0);
    let text = fs::read_to_string(env.repo().join("data/oracle.toml")).unwrap();
    assert!(text.contains("text  = \"corpus.txt\""), "{text}");
    assert!(text.contains("make -C {src} BUILD="), "{text}");

    env.git(&["worktree", "add", "--quiet", "../linked"]);
    let said = env.run_in(&env.path("linked"), &["init"]).expect(2);
    said.says(&["no model was found"]);
    let model = env.repo().join("models/model.bin");
    let corpus = env.repo().join("data/corpus.txt");
    let words = ["init", "--model", model.to_str().unwrap(), "--text", corpus.to_str().unwrap()];
    env.run_in(&env.path("linked"), &words).expect(0);

    env.git(&["clone", "--quiet", "--bare", ".", "../bare"]);
    env.run_in(&env.path("bare"), &["init"]).expect(2).says(&["is a bare repository", "hint: "]);
    env.run_in(&env.path("tmp"), &["init"]).expect(2).says(&["not in a git repository"]);
}

#[test]
fn what_git_does_not_track_is_not_built() {
    let env = TestEnvironment::new();
    env.run(&["init"]).expect(2).says(&["no build file was found"]);
    put(&env.repo().join("Makefile"), MAKEFILE.as_bytes());
    env.run(&["init"])
        .expect(2)
        .says(&["Makefile lies here, but git does not track it", "git add Makefile"]);
}

#[test]
fn odd_trees_are_read_all_the_same() {
    use std::os::unix::ffi::OsStrExt;
    let Planted { env, .. } = make_tree();
    let odd = env.repo().join(std::ffi::OsStr::from_bytes(b"odd-\xff.c"));
    put(&odd, b"int x;\n");
    std::os::unix::fs::symlink("loop", env.repo().join("loop")).unwrap();
    std::os::unix::fs::symlink(".", env.repo().join("again")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", env.repo().join("zero.mk")).unwrap();
    put(&env.repo().join("two\nlines/Makefile"), b"\xff\xfe\nall: $(all\n");
    put(&env.repo().join("GNUmakefile"), format!("include zero.mk loop\n{MAKEFILE}").as_bytes());
    commit(&env, "odd things");
    env.run(&["init"]).expect(0);
    env.run(&["check"]).expect(0);
}

#[test]
fn a_hundred_thousand_files_take_a_moment() {
    let Planted { env, .. } = make_tree();
    let mut index = String::new();
    let blob = env.git(&["rev-parse", "HEAD:score.h"]);
    for number in 0..100_000 {
        let folder = number % 500;
        writeln!(index, "100644 {}\tlib/{folder}/{number}.c", blob.trim()).unwrap();
    }
    env.git_with_input(&["update-index", "--index-info"], index.as_bytes());
    let begun = std::time::Instant::now();
    env.run(&["init"]).expect(0);
    // This takes seconds in a debug build beside other tests. Reading each file takes far longer.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
