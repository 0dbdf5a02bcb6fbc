//! Disks that ignore case in names. Each test mounts a real one, if that is allowed.

use super::places::shell_that_mounts;
use super::seen;
use crate::kit::{History, Hunt, Oracle, Plan, Snapshot, TestEnvironment, line};

/// Mounts such a disk: the first of these file systems that this system supports.
const MOUNT: &str = r#"
image="$disk.image"
fresh() { rm -f "$image"; truncate -s 64M "$image"; }
ext4() {
  mkfs.ext4 -q -O casefold -E encoding=utf8 "$image" && mount -o loop "$image" "$disk" &&
    mkdir "$disk/slots" && chattr +F "$disk/slots"
}
vfat() { mkfs.vfat "$image" && mount -o loop "$image" "$disk"; }
exfat() {
  device=$(losetup --find --show "$image") || return 1
  mkfs.exfat "$device" && mount.exfat-fuse "$device" "$disk"; rc=$?
  losetup --detach "$device"
  return $rc
}
mkdir "$disk"
for kind in ext4 vfat exfat none; do
  [ $kind = none ] && exit 77
  fresh
  if $kind >"$disk.said" 2>&1; then break; fi
done
trap 'umount "$disk"' EXIT
echo "a disk that folds case: $kind" >&2
"#;

/// Runs a script in which `$disk` is such a disk; `None` if none can be mounted.
fn on_such_a_disk(env: &TestEnvironment, script: &str) -> Option<crate::kit::Output> {
    let disk = env.path("disk");
    let script = format!("disk='{}'\n{MOUNT}\n{script}", disk.display());
    let output = env.spawn(shell_that_mounts(env, &script)?).wait();
    if output.code() == Some(77) {
        println!(
            "no disk that folds case can be mounted here: it takes root, and a kernel with vfat \
             or ext4 with casefold, or mount.exfat-fuse"
        );
        return None;
    }
    Some(output)
}

/// An oracle.toml with slots on such a disk. A commit that does not build counts as bad.
fn there(env: &TestEnvironment) -> Oracle {
    Oracle::new(env)
        .section("[failures]\nbuild = \"bad\"")
        .section("[worktree]\ndir = \"../disk/slots\"")
}

/// Hunts with slots on such a disk.
fn hunt_there(plan: Plan) -> Option<(TestEnvironment, History, Hunt)> {
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    // Each build lists the source files in its log, and leaves a file in the source.
    let build = format!("{} build {{src}} {{build}}", TestEnvironment::fake());
    // The folder's exact name is needed: some drivers make no file under another spelling.
    let leave = "sh -c \"cd [Kk]er[Nn] && touch q.o\"";
    let list = "find . -name .git -prune -o -type f -printf \"lies: %P\\\\n\"";
    let build = format!("{leave}', '{list}', '{build}");
    there(&env).build_command(&build).write(&env);
    let before = Snapshot::of(&env);
    let output = on_such_a_disk(&env, "bisect-ppl start --good v1")?;
    before.assert_unchanged(&env);
    let hunt = Hunt::of(&env, output);
    Some((env, history, hunt))
}

/// The files in the slot's folders when the commit was built. Files at the top are left out.
fn listed(hunt: &Hunt, history: &History, label: &str) -> Vec<String> {
    let builds = hunt.commit(history, label)["builds"].as_array().unwrap();
    let log = hunt.file(builds.last().unwrap()["log"].as_str().unwrap());
    let names = log.lines().filter_map(|line| line.split("lies: ").nth(1));
    let mut names: Vec<String> =
        names.filter(|name| name.contains('/')).map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn a_commit_is_built_with_its_own_spelling() {
    let plan = line("g g g g b")
        .file(0, "Kern/Q4.c", "1\n")
        .file(0, "Kéy/a.c", "1\n")
        // A folder and a file with unchanged content, and a name with a letter outside ASCII.
        .without(2, "Kern/Q4.c")
        .file(2, "kern/q4.c", "1\n")
        .without(2, "Kéy/a.c")
        .file(2, "KÉY/a.c", "2\n")
        .without(3, "kern/q4.c")
        .file(3, "kerN/Q4.c", "1\n");
    let Some((_env, history, hunt)) = hunt_there(plan) else { return };
    let hunt = hunt.expect(0, "culprit").names(&history, 4);
    let listed = |label| listed(&hunt, &history, label);
    assert_eq!(listed("0"), ["Kern/Q4.c", "Kern/q.o", "Kéy/a.c"]);
    assert_eq!(listed("2"), ["KÉY/a.c", "kern/q.o", "kern/q4.c"]);
    for label in ["3", "4"] {
        assert_eq!(listed(label), ["KÉY/a.c", "kerN/Q4.c", "kerN/q.o"], "{label}");
    }
}

#[test]
fn a_commit_with_names_that_are_one_is_untestable_and_elsewhere_is_not() {
    let plan = line("g g b b").file(0, "kern/q4.c", "1\n").file(1, "Kern/q5.c", "2\n");
    let Some((env, history, hunt)) = hunt_there(plan.without(2, "Kern/q5.c")) else { return };
    let hunt = hunt.expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
    let twins = hunt.commit(&history, "1");
    assert_eq!((&twins["verdict"], &twins["skip"]), (&"skip".into(), &"checkout".into()));
    assert_eq!(
        twins["reason"],
        "`Kern` and `kern` are the same name on the disk where commits are checked out; set `dir` \
         under [worktree] to a folder on a case-sensitive disk"
    );
    let log = hunt.file(twins["builds"][0]["log"].as_str().unwrap());
    assert!(log.starts_with("# checkout\n2> `Kern` and `kern` are the same name"), "{log}");
    assert_eq!(listed(&hunt, &history, "2"), ["kern/q.o", "kern/q4.c"]);
    // The disk is at fault, so the failure is not stored for the commit.
    Oracle::new(&env).write(&env);
    env.hunt().expect(0, "culprit").names(&history, 2);
}

#[test]
fn an_endpoint_with_such_names_cannot_be_measured_there() {
    let env = TestEnvironment::new();
    line("g g b").file(2, "Tile.c", "1\n").file(2, "tile.c", "2\n").build(&env);
    there(&env).write(&env);
    // Whether this machine has ccache does not matter here.
    let script = "bisect-ppl check --good v1 | grep -e ^warn -e ^FAIL; bisect-ppl start --good v1";
    let Some(output) = on_such_a_disk(&env, script) else { return };
    let said = seen(&env, &output);
    let lines = said.lines().filter(|line| !line.contains("a disk that folds case: "));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r"
    exit code 4
    --- stdout
    warn  path         `[ROOT]/world` is named in build.env and not in [inputs]: stored results do not depend on its content; if the build reads it, add it to [inputs] and write {inputs.NAME}; if the build writes it, let it write below {build}, since all commits share this place
    FAIL  names        HEAD: `Tile.c` and `tile.c` are the same name on the disk where commits are checked out; set `dir` under [worktree] to a folder on a case-sensitive disk
    No search is possible between the endpoints
    the bad endpoint cannot be measured: it cannot be checked out here (`Tile.c` and `tile.c` are the same name on the disk where commits are checked out; set `dir` under [worktree] to a folder on a case-sensitive disk)
    report: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/report.html (report.md, report.json and reproduce.sh are beside it)
    --- stderr
    hunt: [HUNT]
    good end 317bf99e7c change 0
    bad end  0735e2db2a change 2
    range    2 commits
    good end 317bf99e7c  ppl 7
    ");
}
