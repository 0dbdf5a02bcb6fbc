//! Malformed commits as real histories have them, and objects that vanish during a hunt.

use std::fs;

use super::{Row, hunt};
use crate::bad_input::places::shell_that_mounts;
use crate::kit::{Hunt, Oracle, Plan, TestEnvironment, line};

/// A hunt in a history in which one commit object is rewritten.
fn odd(plan: Plan, label: &str, change: impl Fn(&TestEnvironment, &str) -> String) -> Row {
    let mut row = hunt(plan);
    row.history = row.history.clone().rewritten(&row.env, label, |text| change(&row.env, text));
    row
}

// ---- headers of a commit ----

/// The commit's text with each header line that begins with `key` replaced.
fn with_lines(text: &str, key: &str, change: impl Fn(&str) -> String) -> String {
    let (header, message) = text.split_once("\n\n").unwrap();
    let lines = header.lines().map(|line| match line.strip_prefix(key) {
        Some(value) => change(value),
        None => line.to_owned(),
    });
    format!("{}\n\n{message}", lines.collect::<Vec<_>>().join("\n"))
}

/// The text of a commit that names its parent twice.
fn twice(_: &TestEnvironment, text: &str) -> String {
    with_lines(text, "parent ", |name| format!("parent {name}\nparent {name}"))
}

#[test]
fn a_commit_that_names_its_parent_twice_is_no_merge() {
    for label in ["1", "2"] {
        odd(line("g g b b"), label, twice).finds("2").costs(14, 6);
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nor_is_it_a_merge_in_a_search_by_the_posterior() {
    let plan = line("g g g b b b").with_all("noise = 0.02\nseed = 3");
    let (hunt, history) = odd(plan, "2", twice).with(&["--search", "posterior"]).hunted();
    hunt.names(&history, "3");
}

/// One commit has this committer, and another one this author.
fn stops_no_hunt(broken: &str, shown: &str) {
    let change = |text: &str, key: &str| with_lines(text, key, |_| format!("{key}{broken}"));
    let mut row = odd(line("g g b b"), "1", |_, text| change(text, "committer "));
    row.history = row.history.clone().rewritten(&row.env, "2", |text| change(text, "author "));
    let told = row.finds("2").costs(14, 6);
    let said = &told.hunt.output.stdout;
    assert!(!said.contains('\x1b'), "{said}");
    assert!(said.contains(shown), "{broken}: {said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_broken_line_of_an_author_or_a_date_stops_no_hunt() {
    stops_no_hunt("Ada \x1b[31m ada@example.org 1767000000 +0000", "Ada ");
    stops_no_hunt("Ada <ada@example.org> yesterday +0000", "yesterday +0000");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn other_broken_lines_of_an_author_or_a_date_stop_no_hunt() {
    let open = "Ada <ada@example.org 1767000000 +0000";
    stops_no_hunt(open, open);
    stops_no_hunt("Ada <ada@example.org> 1767000000 ~~~~~", "Ada <ada@example.org>");
    stops_no_hunt("", "");
}

// ---- commits that cannot be checked out ----

/// Fails unless commit 2 is untestable and the hunt goes on.
fn is_passed_over(row: Row, words: &str) {
    let row = row.oracle(|oracle| oracle.section("[failures]\nbuild = \"bad\""));
    let told = row.finds("4").costs(15, 7);
    let commit = told.commit("2");
    assert_eq!((&commit["verdict"], &commit["skip"]), (&"skip".into(), &"checkout".into()));
    let reason = commit["reason"].as_str().unwrap();
    assert!(reason.contains(words), "{reason}");
    let log = told.hunt.file(commit["builds"][0]["log"].as_str().unwrap());
    assert!(log.starts_with("# checkout\n2> ") && log.contains(words), "{log}");
}

#[test]
fn a_commit_that_git_does_not_take_is_untestable_where_something_is_laid_over_it_too() {
    let plan = line("g g g g b").file(0, "bench/tool", "old\n").file(4, "bench/tool", "new\n");
    let row = odd(plan, "2", |env, text| with_entry(env, text, "040000 tree $config\\tgit~1"));
    let overlay = "[[overlay]]\nfrom = \"main\"\npaths = [\"bench/**\"]";
    let row = row.oracle(|oracle| oracle.section(overlay));
    is_passed_over(row, "invalid path 'git~1/config'");
}

/// Adds an entry to the commit's tree that git itself would not make.
fn with_entry(env: &TestEnvironment, text: &str, entry: &str) -> String {
    let tree = text.lines().next().unwrap().strip_prefix("tree ").unwrap();
    let script = format!(
        "blob=$(git rev-parse {tree}:version)\n\
         config=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree)\n\
         (git ls-tree {tree}; printf \"{entry}\\n\") | git mktree"
    );
    let made = env.tool(&env.repo(), "sh", &["-c", &script]).expect(0).stdout;
    text.replace(tree, made.trim())
}

#[test]
fn a_commit_that_git_does_not_check_out_is_untestable() {
    let plan = || line("g g g g b");
    let folder =
        |env: &TestEnvironment, text: &str| with_entry(env, text, "040000 tree $config\\tgit~1");
    is_passed_over(odd(plan(), "2", folder), "invalid path 'git~1/config'");
    let link = |env: &TestEnvironment, text: &str| {
        with_entry(env, text, "120000 blob $blob\\t.gitmodules")
    };
    is_passed_over(odd(plan(), "2", link), "invalid path '.gitmodules'");
}

/// Commit 2 has a file with this path.
fn the_disk_does_not_take(path: &str) {
    let plan = line("g g g g b").file(2, path, "1\n").without(3, path);
    is_passed_over(hunt(plan), "File name too long");
}

#[test]
fn a_commit_that_the_disk_does_not_take_is_untestable() {
    the_disk_does_not_take(&"n".repeat(300));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_whose_path_is_too_long_as_a_whole_is_untestable() {
    the_disk_does_not_take(&vec!["d".repeat(100); 50].join("/"));
}

#[test]
fn a_commit_that_cannot_be_read_is_the_machines_fault() {
    let plan = line("g g g g b").file(2, "lost.c", "int lost;\n").without(3, "lost.c");
    let row = hunt(plan).given(|env, history| {
        let blob = env.git(&["rev-parse", &format!("{}:lost.c", history.commit(2))]);
        let objects = env.repo().join(".git/objects");
        let pack = objects.join("pack");
        let (kept, stream) = (env.path("tmp/pack"), env.path("tmp/pack/all"));
        fs::rename(&pack, &kept).unwrap();
        fs::create_dir(&pack).unwrap();
        for entry in fs::read_dir(&kept).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "pack") {
                fs::rename(path, &stream).unwrap();
                env.git_with_input(&["unpack-objects", "-q"], &fs::read(&stream).unwrap());
            }
        }
        let blob = blob.trim();
        fs::remove_file(objects.join(&blob[..2]).join(&blob[2..])).unwrap();
    });
    row.gets_stopped().saying(&["git fsck"]).costs(4, 2);
}

/// The disk for the slots is too small for the commit: the hunt stops, and goes on when there is
/// room.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_full_disk_is_the_machines_fault() {
    let large = "x".repeat(1 << 20);
    let plan = line("g g g g b").file(2, "large", &large).without(3, "large");
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).section("[worktree]\ndir = \"../slots\"").write(&env);
    fs::create_dir(env.path("slots")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=500k none '{0}'\n\
         rc=0; bisect-ppl start --good v1 || rc=$?\n\
         [ $rc = 5 ]\n\
         mount -o remount,size=8m '{0}'\n\
         bisect-ppl resume",
        env.path("slots").display()
    );
    let Some(command) = shell_that_mounts(&env, &script) else { return };
    let output = env.spawn(command).wait().expect(0);
    let found = format!("First bad commit: {}", history.commit(4));
    assert!(output.stdout.contains(&found), "{}", output.stdout);
    let hunt = Hunt::of(&env, output);
    assert_eq!(hunt.verdict(&history, "2"), "good");
}

// ---- objects and folders that vanish during a hunt ----

/// A hunt that stopped during its search.
fn stopped() -> super::PassedHunt {
    let mut plan = line("g g g g b b b b");
    for label in 1..7 {
        plan = plan.with(label, "break_world = broken");
    }
    let told = hunt(plan).gets_stopped().costs(7, 3);
    told.env().world("broken", false);
    told
}

#[test]
fn commits_that_git_removed_under_way_are_named_as_the_cause() {
    let told = stopped();
    let env = told.env();
    let kept = env.path("kept.git");
    env.git(&["clone", "--quiet", "--bare", ".", kept.to_str().unwrap()]);
    env.git(&["checkout", "--quiet", "--detach", "v1"]);
    env.git(&["branch", "--quiet", "-D", "main"]);
    env.git(&["reflog", "expire", "--expire=now", "--all"]);
    env.git(&["gc", "--quiet", "--prune=now"]);
    for _ in 0..2 {
        let said = env.resume().expect(5, "interrupted").output.stderr;
        assert!(said.contains("is no longer in "), "{said}");
        assert!(
            said.contains("git gc --prune=now") && said.contains("again, from the remote"),
            "{said}"
        );
        assert!(!said.contains("fsck"), "{said}");
    }
    env.git(&["fetch", "--quiet", kept.to_str().unwrap(), "main:main"]);
    told.resumed().finds("4").counting(18, 8).costs(11, 5);
}

#[test]
fn a_cache_folder_that_is_gone_is_made_again() {
    let told = stopped();
    let env = told.env();
    let slots = env.path("cache/bisect-ppl");
    let slots = fs::read_dir(slots).unwrap().map(|entry| entry.unwrap().path().join("slots"));
    let slots: Vec<_> = slots.filter(|folder| folder.join("0").is_dir()).collect();
    let [slots] = slots.as_slice() else { panic!("{slots:?}") };
    // A killed hunt leaves a worktree; then the cache folder vanishes with the worktree's files.
    let lose = |slot: &str| {
        let src = slots.join(slot).join("src");
        env.git(&["worktree", "prune"]);
        env.git(&["worktree", "add", "--quiet", "--detach", src.to_str().unwrap(), "v1"]);
        fs::remove_dir_all(env.path("cache")).unwrap();
    };
    let known = || env.git(&["worktree", "list"]).lines().count();
    lose("0");
    assert_eq!(known(), 2);
    env.run(&["measure", "v1", "--runs", "3"]).expect(0);
    assert_eq!(known(), 1);
    lose("1");
    env.run(&["store", "gc"]).expect(0);
    assert_eq!(known(), 1);
    lose("0");
    let (hunt, history) = told.resumed().hunted();
    hunt.names(&history, "4");
}
