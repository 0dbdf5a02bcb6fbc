//! Overlays on commits before the build: files of another revision, and patches.

use std::fs;

use super::{PassedHunt, Row, hunt};
use crate::kit::{Oracle, Plan, TestEnvironment, line};

/// Commits 0 to 2 lack the bench that the measure needs. Commit 3 adds it.
fn without_a_bench() -> Plan {
    line("g g b b b b")
        .with_all("needs = bench/tool")
        .file(3, "bench/tool", "old\n")
        .file(3, "bench/extra", "gone later\n")
        .file(5, "bench/tool", "new\n")
        .without(5, "bench/extra")
}

fn bench_of(row: Row, from: &str) -> Row {
    let section = format!("[[overlay]]\nfrom = \"{from}\"\npaths = [\"bench/**\"]");
    row.oracle(|oracle| oracle.section(&section))
}

/// With an `oracle.toml` without overlays and patches.
fn afresh(row: Row) -> Row {
    let plain = Oracle::new(&row.env);
    row.oracle(|_| plain)
}

/// The output of `reproduce.sh` for both commits.
fn reproduced(told: &PassedHunt) -> String {
    let script = told.hunt.folder.join("reproduce.sh");
    let output = told.env().tool(&told.env().repo(), "sh", &[script.to_str().unwrap()]);
    output.stdout
}

#[test]
fn without_it_the_good_endpoint_cannot_be_measured() {
    hunt(without_a_bench()).cannot_be_measured().costs(6, 2);
}

#[test]
fn an_overlay_makes_old_commits_measurable() {
    let told = bench_of(hunt(without_a_bench()), "HEAD").finds("2").costs(17, 9);
    let shown = reproduced(&told);
    assert!(shown.contains("Final estimate: PPL = 7.0") && shown.contains("7.5"), "{shown}");
}

#[test]
fn what_the_revision_does_not_have_is_removed_and_builds_and_runs_change_nothing_of_it() {
    let plan = without_a_bench()
        .with_all("lacks = bench/extra")
        .with_all("needs_text = bench/tool new")
        .with_all("build_dirty = bench/tool")
        .with_all("dirty = bench/tool");
    bench_of(hunt(plan), "main").finds("2").costs(17, 9);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_overlay_of_equal_content_from_another_revision_is_the_same_to_the_store() {
    let plan = without_a_bench().file(4, "bench/tool", "new\n").without(4, "bench/extra");
    let told = bench_of(hunt(plan), "main").finds("2").costs(17, 9);
    let [three, four] = ["3", "4"].map(|label| told.row.history.commit(label).to_owned());
    // Commits 4 and 5 have the same bench.
    let told = bench_of(afresh(told.again()), &four).finds("2").costs(0, 0);
    bench_of(afresh(told.again()), &three).finds("2").costs(17, 9);
}

#[test]
fn an_overlay_of_nothing_is_refused() {
    let row = hunt(without_a_bench()).oracle(|oracle| {
        oracle.section("[[overlay]]\nfrom = \"main\"\npaths = [\"bench/**\", \"bnech/**\"]")
    });
    row.gets_refused(&["`bnech/**`", "nothing to lay", "hint:"]).costs(0, 0);
    let row = bench_of(hunt(without_a_bench()), "nowhere");
    row.gets_refused(&["unknown revision `nowhere`"]).costs(0, 0);
}

#[test]
fn a_submodule_is_not_laid_over() {
    let pin = "1".repeat(40);
    let plan = without_a_bench().pin(5, "bench/sub", &pin);
    bench_of(hunt(plan), "HEAD").gets_refused(&["`bench/sub` is a submodule"]).costs(0, 0);
}

#[test]
fn an_overlay_that_begins_at_the_step_is_no_ones_fault() {
    // The bench of commit 5 makes the engine print 7.5, and is laid over commits that have a bench.
    let plan = line("g g g g g g").file(3, "kernels/bench.conf", "ppl = 7.0\n").file(
        5,
        "kernels/bench.conf",
        "ppl = 7.5\n",
    );
    let section = "[[overlay]]\nfrom = \"main\"\npaths = [\"kernels/**\"]\n\
                   when = { exists = \"kernels/bench.conf\" }";
    let row = hunt(plan).oracle(|oracle| oracle.section(section));
    let row = row.saying(&[
        "the recipe changes at",
        "both sides are bad with the newer recipe",
        "of a later commit",
    ]);
    // Without the overlay, commit 5 would be to blame.
    row.leaves("3 4 5").costs(19, 11);
}

/// Commits 2 to 4 do not build, and 3 is the first bad one.
fn with_a_broken_range() -> Plan {
    let mut plan = line("g g g b b b");
    for broken in 2..=4 {
        plan = plan.with(broken, "build_exit = 1");
    }
    plan
}

const FIX: &str = "diff --git a/kernels/fix.conf b/kernels/fix.conf\nnew file mode 100644\n\
                   --- /dev/null\n+++ b/kernels/fix.conf\n@@ -0,0 +1 @@\n+build_exit =\n";

fn patched(row: Row, patch: &str, keys: &str) -> Row {
    let row = row.given(|env, _| fs::write(env.repo().join("fix.diff"), patch).unwrap());
    let section = format!("[[patch]]\nfile = \"fix.diff\"\n{keys}");
    row.oracle(|oracle| oracle.section(&section))
}

#[test]
fn without_a_patch_a_range_that_does_not_build_hides_the_answer() {
    hunt(with_a_broken_range()).leaves("2 3 4 5").costs(5, 10);
}

#[test]
fn a_patch_opens_a_range_that_does_not_build() {
    let told = patched(hunt(with_a_broken_range()), FIX, "").finds("3").costs(15, 7);
    let shown = reproduced(&told);
    assert!(shown.contains("Final estimate: PPL = 7.0") && shown.contains("7.5"), "{shown}");
}

/// Adds a commit `fix` beside the line. The commit only makes one file.
fn with_a_fix(row: Row, path: &str, text: &str) -> Row {
    row.given(|env: &mut TestEnvironment, _| {
        let file = env.repo().join(path);
        env.git(&["checkout", "--quiet", "--detach", "v1"]);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "-m", "mend the build"]);
        env.git(&["tag", "fix"]);
        env.git(&["checkout", "--quiet", "main"]);
    })
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_patch_may_come_from_a_commit_and_is_passed_over_where_its_content_is() {
    let plan = with_a_broken_range().file(5, "kernels/fix.conf", "build_exit =\n");
    let row = with_a_fix(hunt(plan), "kernels/fix.conf", "build_exit =\n");
    let row = row.oracle(|oracle| oracle.section("[[patch]]\ncommit = \"fix\""));
    row.finds("3").costs(15, 7);
}

#[test]
fn where_a_patch_does_not_apply_the_commit_is_untestable_and_never_bad() {
    let plan = with_a_broken_range().file(2, "kernels/fix.conf", "in the way = 1\n");
    let plan = plan.file(5, "kernels/fix.conf", "build_exit =\n").without(4, "kernels/fix.conf");
    let row = hunt(plan).oracle(|oracle| oracle.section("[failures]\nbuild = \"bad\""));
    let told = patched(row, FIX, "").leaves("2 3 4").costs(6, 4);
    for label in ["2", "3"] {
        assert_eq!(told.verdict(label), "skip");
        assert_eq!(told.commit(label)["skip"], "patch");
        let log = told.commit(label)["builds"][0]["log"].as_str().unwrap();
        let text = told.hunt.file(log);
        assert!(text.contains("fix.diff") && text.contains("already exists"), "{text}");
    }
}

#[test]
fn a_bad_endpoint_that_takes_no_patch_is_no_target() {
    let plan = line("g g b b").file(3, "kernels/fix.conf", "in the way = 1\n");
    let row = patched(hunt(plan), FIX, "").saying(&["rejects a patch"]);
    row.cannot_be_measured().costs(1, 1);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn keys_know_a_patch_by_what_it_makes_of_a_commit() {
    let told = patched(hunt(with_a_broken_range()), FIX, "").finds("3").costs(15, 7);
    // Another header and another file name leave the content the same.
    let header = format!("Subject: mend the build\n\n{FIX}");
    let told = patched(afresh(told.again()), &header, "").finds("3").costs(0, 0);
    let other = FIX.replace("+1 @@\n+build_exit =", "+1,2 @@\n+build_exit =\n+mended = 1");
    patched(afresh(told.again()), &other, "").finds("3").costs(15, 7);
}

#[test]
fn a_patch_only_where_it_is_wanted() {
    let keys = "when = { contains = [\"engine.conf\", \"build_exit\"] }";
    let row = patched(hunt(with_a_broken_range()), FIX, keys);
    // Commit 3 and its parent both get the patch. Where the patch begins or
    // ends, no commit is blamed.
    row.finds("3").costs(15, 7);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn patches_and_revisions_are_frozen_with_the_hunt() {
    let mut plan = with_a_broken_range().with_all("needs = bench/tool");
    plan = plan.file(5, "bench/tool", "new\n");
    for label in 1..5 {
        plan = plan.with(label, "break_world = broken");
    }
    let row = patched(bench_of(hunt(plan), "moves"), FIX, "");
    let row = row.given(|env, _| drop(env.git(&["tag", "moves", "main"])));
    let told = row.gets_stopped().costs(7, 3);
    told.env().world("broken", false);
    fs::remove_file(told.env().repo().join("fix.diff")).unwrap();
    told.env().git(&["tag", "--delete", "moves"]);
    told.resumed().finds("3").counting(18, 8).costs(11, 5);
}

#[test]
fn a_bisect_of_ones_own_lays_them_too_and_freezes_what_moves_with_it() {
    // The first call has HEAD at 2. The second has HEAD at 1, which has no bench.
    let plan = line("g b b b b b").with_all("needs = bench/tool").file(2, "bench/tool", "new\n");
    let row = bench_of(hunt(plan), "HEAD");
    row.write_oracle();
    let Row { env, history, .. } = row;
    env.git(&["bisect", "start", "main", "v1"]);
    let said = env.tool(&env.repo(), "git", &["bisect", "run", "bisect-ppl", "oracle"]).expect(0);
    let first = format!("{} is the first bad commit", history.commit("1"));
    assert!(said.stdout.contains(&first), "{}\n{}", said.stdout, said.stderr);
}

#[test]
fn what_is_no_patch_is_refused() {
    let row = patched(hunt(line("g b")), "nothing of the kind\n", "");
    row.gets_refused(&["fix.diff is not a valid patch", "hint:"]).costs(0, 0);
    let section = "[[patch]]\nfile = \"absent.diff\"";
    let row = hunt(line("g b")).oracle(|oracle| oracle.section(section));
    row.gets_refused(&["absent.diff cannot be read", "[[patch]]"]).costs(0, 0);
}
