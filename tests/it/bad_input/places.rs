//! Folders in which the product works or refuses: outside a repository, or in a repository that
//! belongs to somebody else, is not writable, or is on a full disk.

use std::fs;
use std::process::Command;

use super::{as_somebody, is_root, plain, refused_with, seen};
use crate::kit::{History, Hunt, Oracle, Snapshot, TestEnvironment, line};

const START: [&str; 3] = ["start", "--good", "v1"];

#[test]
fn outside_of_a_repository_every_command_says_so() {
    let env = plain("g b");
    let outside = env.path("home");
    let config = env.repo().join("oracle.toml");
    let config = config.to_str().unwrap();
    let start = ["start", "--good", "v1", "--config", config];
    insta::assert_snapshot!(refused_with(&env, &outside, &start, &[]), @r"
    exit code 2
    error: [ROOT]/home is not in a git repository
    hint: change into the engine's clone, or clone it first
    ");
    let said = refused_with(&env, &outside, &["status"], &[]);
    let commands: [&[&str]; 9] = [
        &["resume"],
        &["stop"],
        &["log"],
        &["report"],
        &["status", "--wait"],
        &["store", "ls"],
        &["store", "show", "x"],
        &["store", "gc"],
        &["measure", "HEAD", "--config", config],
    ];
    for args in commands {
        assert_eq!(refused_with(&env, &outside, args, &[]), said, "{args:?}");
    }
}

#[test]
fn a_folder_that_is_gone() {
    let env = plain("g b");
    let script = "mkdir gone && cd gone && rmdir ../gone && exec bisect-ppl status";
    let output = env.tool(&env.path("tmp"), "sh", &["-c", script]);
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 2
    error: the current folder does not exist
    caused by: No such file or directory (os error 2)
    hint: change into a folder that exists
    ");
}

/// A hunt that a fault of the machine stopped, to be resumed from elsewhere.
fn stopped() -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::new();
    let mut plan = line("g g g b b");
    for label in 1..4 {
        plan = plan.with(label, "break_world = broken");
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    env.world("broken", false);
    (env, history, hunt)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn anywhere_in_a_repository_every_command_works() {
    let (env, history, hunt) = stopped();
    let below = env.repo().join("deep/down");
    fs::create_dir_all(&below).unwrap();
    let linked = env.path("linked");
    env.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let inside = env.repo().join(".git");
    let deeper = inside.join("refs/heads");
    for folder in [&below, &linked, &inside, &deeper] {
        env.run_in(folder, &["status"]).expect(0).says(&[&hunt.id()]);
        env.run_in(folder, &["report"]).expect(0).says(&["Endpoints"]);
        env.run_in(folder, &["log"]).expect(0).says(&["git bisect start"]);
        env.run_in(folder, &["stop"]).expect(0).says(&["is not running"]);
        env.run_in(folder, &["store", "ls"]).expect(0).says(&[&hunt.id()]);
        env.run_in(folder, &["store", "show", "v1"]).expect(0).says(&["ppl 7 "]);
        env.run_in(folder, &["store", "gc", "--dry-run"]).expect(0);
    }
    let output = env.run_in(&inside, &["resume"]).expect(0);
    output.says(&["First bad commit", history.commit(3)]);
}

#[test]
fn in_a_bare_repository() {
    let env = plain("g g g b b");
    let bare = env.path("bare.git");
    env.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    // Without a checkout there is no default configuration.
    insta::assert_snapshot!(refused_with(&env, &bare, &START, &[]), @r"
    exit code 2
    error: there is no oracle.toml here
    hint: `bisect-ppl init --model F --text F` writes one, and so does `start` with these options; --config FILE names another file
    ");
    let config = env.repo().join("oracle.toml");
    let args = ["start", "--good", "v1", "--config", config.to_str().unwrap()];
    env.run_in(&bare, &args).expect(0).says(&["First bad commit"]);
    env.run_in(&bare, &["status"]).expect(0).says(&["First bad commit"]);
    env.run_in(&bare, &["store", "ls"]).expect(0).says(&["culprit"]);
}

#[test]
fn in_somebody_elses_repository() {
    if !is_root() {
        println!("only root can give a repository to somebody else");
        return;
    }
    let env = plain("g b");
    let owner = env.repo();
    env.tool(&env.path(""), "chown", &["-R", "1234:1234", owner.to_str().unwrap()]).expect(0);
    let output = env.run(&START);
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 2
    error: git does not trust [ROOT]/repo: it belongs to another user
    hint: if you trust it: git config --global --add safe.directory [ROOT]/repo
    ");
}

#[test]
fn in_a_repository_that_cannot_be_written_to() {
    let env = plain("g g b b");
    let git = env.repo().join(".git");
    env.tool(&env.path(""), "chmod", &["-R", "a-w", git.to_str().unwrap()]).expect(0);
    let run = |args: &[&str]| env.spawn(as_somebody(&env, &env.repo(), args)).wait();
    let output = run(&START);
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 5
    error: [ROOT]/repo/.git/bisect-ppl: Permission denied (os error 13)
    hint: the repository's git directory must be writable: what is measured is kept in it
    ");
    let output = run(&["measure", "HEAD"]);
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 5
    error: [ROOT]/repo/.git/bisect-ppl: Permission denied (os error 13)
    hint: the repository's git directory must be writable: what is measured is kept in it
    ");
    // Commands that only read still work.
    run(&["store", "ls"]).expect(0).says(&["no hunts"]);
    run(&["status"]).expect(2).says(&["no hunt"]);
    run(&["check"]).expect(1).says(&["FAIL  store", "writable"]);
    env.tool(&env.path(""), "chmod", &["-R", "u+w", git.to_str().unwrap()]).expect(0);
}

#[test]
fn with_a_cache_folder_that_cannot_be_written_to() {
    let env = plain("g g b b");
    env.tool(&env.path(""), "chmod", &["a-w", env.path("cache").to_str().unwrap()]).expect(0);
    let run = |args: &[&str]| env.spawn(as_somebody(&env, &env.repo(), args)).wait();
    let output = run(&START);
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 5
    hunt: [HUNT]
    good end 317bf99e7c change 0
    bad end  db6955cd27 change 3
    range    3 commits
    error: slot [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots: Permission denied (os error 13)
    hint: commits are built there: make it writable, set XDG_CACHE_HOME, or name another place with `dir` under [worktree]; after that, `bisect-ppl resume` goes on where it was
    ");
    run(&["check"]).expect(1).says(&["FAIL  cache", "XDG_CACHE_HOME"]);
    env.tool(&env.path(""), "chmod", &["u+w", env.path("cache").to_str().unwrap()]).expect(0);
    // `resume` continues the stopped hunt.
    run(&["resume"]).expect(0).says(&["First bad commit"]);
}

#[test]
fn with_a_file_where_the_cache_folder_should_be() {
    let env = plain("g g b b");
    fs::remove_dir(env.path("cache")).unwrap();
    fs::write(env.path("cache"), "").unwrap();
    let output = env.run(&START);
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 5
    hunt: [HUNT]
    good end 317bf99e7c change 0
    bad end  db6955cd27 change 3
    range    3 commits
    error: slot [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots: Not a directory (os error 20)
    hint: commits are built there: make it writable, set XDG_CACHE_HOME, or name another place with `dir` under [worktree]; after that, `bisect-ppl resume` goes on where it was
    ");
}

#[test]
fn without_a_home() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let mut command = env.command(TestEnvironment::product(), &env.repo());
    command.args(START).env_remove("HOME").env_remove("XDG_CACHE_HOME");
    env.spawn(command).wait().expect(0).says(&["First bad commit", history.commit(2)]);
    before.assert_unchanged(&env);
}

/// A shell in its own mount namespace, in which file systems may be mounted; `None` if that is
/// not allowed.
pub(crate) fn shell_that_mounts(env: &TestEnvironment, script: &str) -> Option<Command> {
    let flags = if is_root() { "-m" } else { "-rm" };
    let probe = "mount -t tmpfs -o size=64k none /mnt";
    if env.tool(&env.repo(), "unshare", &[flags, "sh", "-c", probe]).code() != Some(0) {
        println!("file systems cannot be mounted here, not even in a namespace of one's own");
        return None;
    }
    let mut command = env.command("unshare", &env.repo());
    command.args([flags, "sh", "-eu", "-c", script]);
    let own = std::path::Path::new(TestEnvironment::product()).parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", own.display()));
    Some(command)
}

#[test]
fn in_a_repository_on_a_disk_that_is_mounted_for_reading() {
    let env = plain("g g b b");
    let script = "mount --bind . . && mount -o remount,ro,bind . && cd . && cd \"$PWD\" && \
                  exec bisect-ppl start --good v1";
    let Some(command) = shell_that_mounts(&env, script) else { return };
    let before = Snapshot::of(&env);
    let output = env.spawn(command).wait();
    before.assert_unchanged(&env);
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 5
    error: [ROOT]/repo/.git/bisect-ppl: Read-only file system (os error 30)
    hint: the repository's git directory must be writable: what is measured is kept in it
    ");
}

/// The store has its own disk, which grows a little each time it is full. The hunt stops and is
/// resumed many times, at any point, and finds the right answer.
#[test]
fn on_a_disk_that_fills_up_nothing_is_lost() {
    let env = TestEnvironment::new();
    let history = line("g g g g g b b b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let store = env.repo().join(".git/bisect-ppl");
    fs::create_dir_all(&store).unwrap();
    let script = format!(
        "disk='{store}'\n\
         mount -t tmpfs -o size=16k,mode=755 none \"$disk\"\n\
         words='start --good v1'\n\
         for kilobytes in $(seq 60 60 1200); do\n\
           rc=0; bisect-ppl $words >'{out}.out' 2>'{out}.err' || rc=$?\n\
           echo \"$rc $kilobytes\"\n\
           [ $rc = 0 ] && break\n\
           cat '{out}.err' >&2\n\
           if ls \"$disk\"/hunts/*/journal.jsonl >/dev/null 2>&1; then words=resume; fi\n\
           mount -o remount,size=${{kilobytes}}k \"$disk\"\n\
         done\n\
         cp -r \"$disk\"/hunts '{out}'\n\
         cat '{out}.out'\n",
        store = store.display(),
        out = env.path("tmp/full").display()
    );
    let Some(command) = shell_that_mounts(&env, &script) else { return };
    let output = env.spawn(command).wait().expect(0);
    before.assert_unchanged(&env);
    let (codes, answer) = output.stdout.split_once("First bad commit: ").expect(&output.stderr);
    assert!(answer.starts_with(history.commit(5)), "{}", output.stdout);
    let codes: Vec<&str> = codes.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(codes.len() > 3, "the disk was never full: {codes:?}");
    let (last, full) = codes.split_last().unwrap();
    assert!(*last == "0" && full.iter().all(|code| *code == "5"), "{codes:?}\n{}", output.stderr);
    // Each stop says what to do, and no completed measurement runs again.
    let said = output.stderr.matches("hint: ").count();
    assert_eq!(said, full.len(), "{}", output.stderr);
    assert_eq!(output.stderr.matches("free some space").count(), full.len(), "{}", output.stderr);
    assert!(env.runs().len() <= 15 + full.len(), "{:?}\n{}", env.runs(), output.stderr);
    env.assert_no_survivors();
}
