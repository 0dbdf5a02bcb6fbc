//! Histories with merges.

use super::hunt;
use crate::kit::{Oracle, Plan, TestEnvironment, graph};

#[test]
fn it_is_on_a_merged_side_branch() {
    let plan = graph(&[
        "a: g",
        "b < a: g",
        "c < b: g",
        "s1 < a: g",
        "s2 < s1: b",
        "s3 < s2: b",
        "m < c s3: b",
        "e < m: b",
    ]);
    let told = hunt(plan).finds("s2").costs(13, 7);
    assert_eq!(told.label(&told.hunt.report["culprit"]["parent"]), "s1");
}

#[test]
fn it_is_on_the_main_line_beside_a_good_branch() {
    let plan = graph(&["a: g", "b < a: b", "s1 < a: g", "s2 < s1: g", "m < b s2: b", "e < m: b"]);
    hunt(plan).finds("b").costs(15, 7);
}

#[test]
fn the_merge_itself_is_bad() {
    let plan = graph(&["a: g", "b < a: g", "s < a: g", "m < b s: b", "e < m: b"]);
    let told = hunt(plan).finds("m").costs(19, 8);
    let parents = ["b", "s"].map(|label| told.row.history.commit(label));
    assert_eq!(told.hunt.report["parents"], serde_json::json!(parents));
    for parent in ["b", "s"] {
        let samples = told.commit(parent)["samples"].as_array().unwrap();
        assert!(samples.iter().any(|s| s["phase"] == "confirm"), "{samples:#?}");
    }
}

#[test]
fn two_branches_that_are_good_alone_do_not_go_together() {
    // One branch begins to need a file, the other removes the file.
    let plan = graph(&["a: g", "b < a: g", "s < a: g", "m < b s: g", "e < m: g"])
        .file("a", "tables/rope", "x\n")
        .with("b", "needs = tables/rope")
        .without("s", "tables/rope")
        .with("m", "needs = tables/rope")
        .without("m", "tables/rope")
        .with("e", "needs = tables/rope");
    hunt(plan).finds("m").costs(20, 8);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_octopus_brings_it_with_its_third_branch() {
    let plan = graph(&["a: g", "b < a: g", "c < a: g", "d < a: b", "o < b c d: b", "e < o: b"]);
    hunt(plan).finds("d").costs(16, 8);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_octopus_itself_is_bad() {
    let plan = graph(&["a: g", "b < a: g", "c < a: g", "d < a: g", "o < b c d: b", "e < o: b"]);
    let told = hunt(plan).finds("o").costs(24, 10);
    assert_eq!(told.hunt.report["parents"].as_array().unwrap().len(), 3);
}

#[test]
fn a_step_is_measured_against_the_worst_parent() {
    // Both parents already have half of the change; the merge adds too little to be blamed.
    let plan = graph(&["a: 7.0", "b < a: 7.15", "s < a: 7.18", "m < b s: 7.26", "e < m: 7.26"]);
    hunt(plan).blames_nobody_for("m b").costs(18, 8);
}

#[test]
fn a_merge_that_takes_the_good_side_heals_it() {
    let healed = |last: &str| {
        let last = [format!("d < c: {last}"), format!("e < d: {last}")];
        let plan = ["a: g", "b < a: g", "s < a: b", "m < b s: g", "c < m: g", &last[0], &last[1]];
        hunt(graph(&plan))
    };
    let told = healed("7.6").finds("d").costs(13, 7);
    assert_eq!(told.env().runs_of("s"), 0, "what was healed is not asked for");
    // `d` makes the same change as `s`: the change landed again.
    let told = healed("b").finds("s d").costs(16, 10);
    assert_eq!(told.label(&told.hunt.report["culprit"]["commit"]), "d");
}

#[test]
fn what_good_has_is_not_found_behind_a_branch_that_lacks_it() {
    // The branch forks off before `b`, whose step the good end has. The merge is compared with `d`.
    let plan = graph(&[
        "a: 7.0",
        "b < a: 7.38",
        "c < b: 7.38",
        "d < c: 7.38",
        "s < a: 7.0",
        "t < s: 7.49",
        "m < d t: 7.87",
        "e < m: 7.87",
    ]);
    hunt(plan).between("c", "e").finds("t").costs(26, 11);
}

/// Git infers from `k`, which keeps the fix of `b`, that `s` is good, and never asks for `s`.
#[test]
fn a_merge_is_compared_without_a_branch_from_before_a_fix_that_git_took_for_good() {
    let chain = (1..=8).map(|n| {
        let before = if n == 1 { "k".to_owned() } else { (n - 1).to_string() };
        format!("{n} < {before}: g")
    });
    let commits = ["a: b", "b < a: g", "c < b: g", "s < a: b", "k < c s: g"].map(str::to_owned);
    let last = ["m < c s: 7.9", "n < 8 m: 7.9", "e < n: 7.9"].map(str::to_owned);
    let commits: Vec<String> = commits.into_iter().chain(chain).chain(last).collect();
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    let (told, history) = hunt(graph(&commits)).between("c", "e").hunted();
    assert_eq!(told.culprits(&history), ["m"], "{}", told.output.stdout);
    assert!(told.output.stderr.contains("set aside"), "{}", told.output.stderr);
}

/// The first build of this commit shows 7.5; all others show its own value. No two are equal.
pub(super) fn first_build_flips(plan: Plan, label: &str) -> Plan {
    // With this seed, the first random number is below 0.02, and the next 149 are not.
    plan.with(label, "build_flip = 0.02 7.5").with(label, "seed = 4379")
}

/// `s` forks off at `a`, whose first build by chance shows what `s` breaks.
#[test]
#[ignore = "long: scripts/test --long"]
fn one_build_of_the_commit_where_it_forks_off_does_not_set_a_branch_aside() {
    let commits = "a:g, b < a:g, c < b:g, d < c:g, s < a:b, m < d s:b, e < m:b";
    let plan = graph(&commits.split(',').collect::<Vec<_>>());
    let (told, history) = hunt(first_build_flips(plan, "a")).between("c", "e").hunted();
    assert!(told.output.stderr.contains("is bad already"), "{}", told.output.stderr);
    assert!(!told.output.stderr.contains("set aside"), "{}", told.output.stderr);
    let named = told.culprits(&history);
    let is_open = told.candidates(&history).contains(&"s".to_owned());
    assert!(named == ["s"] || (named.is_empty() && is_open), "{}", told.output.stdout);
}

/// The same, but `t` on the branch takes the fix over, and `m` brings in what `u` breaks then.
#[test]
fn a_merge_of_such_a_branch_is_not_named_if_the_branch_may_have_made_its_step() {
    let chain = (1..=8).map(|n| {
        let before = if n == 1 { "k".to_owned() } else { (n - 1).to_string() };
        format!("{n} < {before}: g")
    });
    let start = ["a: g", "b < a: g", "c < b: g", "s < a: g", "t < s: g", "u < t: g", "k < c u: g"];
    let last = ["m < c u: g", "n < 8 m: g", "e < n: g"].map(str::to_owned);
    let commits = start.map(str::to_owned).into_iter().chain(chain).chain(last);
    let commits: Vec<String> = commits.collect();
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    let fixed = [("a", 0.5), ("b", 0.0), ("t", 0.0)].map(|(at, adds)| (at, "fixed", adds));
    let broken = [("a", 0.0), ("u", 0.5), ("m", 0.5), ("n", 0.5)];
    let broken = broken.map(|(at, adds)| (at, "broken", adds));
    let plan = fixed.into_iter().chain(broken).fold(graph(&commits), |plan, (at, name, adds)| {
        plan.file(at, format!("kernels/{name}.conf"), &format!("ppl+{name} = {adds}\n"))
    });
    let (told, history) = hunt(plan).between("c", "e").hunted();
    assert_eq!(told.candidates(&history), ["m", "s", "t", "u"], "{}", told.output.stdout);
    assert!(told.culprits(&history).is_empty(), "{}", told.output.stdout);
}

/// The commits of a hunt between `c` and `e`. `k` merges `s`, which forks off before the fix `b`,
/// and keeps the fix. Eight good commits follow. `u` and `t` go on after `s`, and `m` merges them. Git
/// infers from `k` that `s` is good, so it claims `u`. `old`: the level of `a` and of the branch;
/// `new`: the level from `m` on.
fn merged_twice(old: &str, new: &str) -> Vec<String> {
    let chain = (1..=8).map(|n| {
        let before = if n == 1 { "k".to_owned() } else { (n - 1).to_string() };
        format!("{n} < {before}: g")
    });
    let start = [format!("a: {old}"), "b < a: g".to_owned(), "c < b: g".to_owned()];
    let first = [format!("s < a: {old}"), "k < c s: g".to_owned()];
    let later = ["u < s", "t < u"].map(|commit| format!("{commit}: {old}"));
    let last = ["m < 8 t", "n < m", "e < n"].map(|commit| format!("{commit}: {new}"));
    start.into_iter().chain(first).chain(chain).chain(later).chain(last).collect()
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_branch_from_before_a_fix_that_is_merged_twice_is_set_aside() {
    let commits = merged_twice("b", "7.9");
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    let (told, history) = hunt(graph(&commits)).between("c", "e").hunted();
    assert_eq!(told.culprits(&history), ["m"], "{}", told.output.stdout);
    assert!(told.output.stderr.contains("set aside"), "{}", told.output.stderr);
}

/// The same, but `u` breaks something, and `t` takes the fix over: all of the branch is bad.
#[test]
#[ignore = "long: scripts/test --long"]
fn if_such_a_branch_may_have_made_the_step_all_open_commits_are_candidates() {
    let commits = merged_twice("g", "g");
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    let fixed = [("a", 0.5), ("b", 0.0), ("t", 0.0)].map(|(at, adds)| (at, "fixed", adds));
    let broken = [("a", 0.0), ("u", 0.5), ("m", 0.5)].map(|(at, adds)| (at, "broken", adds));
    let plan = fixed.into_iter().chain(broken).fold(graph(&commits), |plan, (at, name, adds)| {
        plan.file(at, format!("kernels/{name}.conf"), &format!("ppl+{name} = {adds}\n"))
    });
    let (told, history) = hunt(plan).between("c", "e").hunted();
    assert!(told.culprits(&history).is_empty(), "{}", told.output.stdout);
    let open = told.candidates(&history);
    for commit in ["m", "u"] {
        assert!(open.iter().any(|one| one == commit), "{}", told.output.stdout);
    }
    assert!(open.iter().all(|one| one != "k" && one != "8"), "{}", told.output.stdout);
}

/// `m` merges `s`, which changes nothing that is measured, and takes most of the step of `c` back.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_that_a_merge_itself_takes_back_in_part_stays_named() {
    let commits = "a:g, b < a:g, s < a:g, c < b:g, d < c:g, m < d s:g, e < m:g";
    let plan = graph(&commits.split(',').collect::<Vec<_>>())
        .file("a", "kernels/a.conf", "ppl+a = 0\n")
        .file("a", "kernels/b.conf", "ppl+b = 0\n")
        .file("a", "kernels/counter.conf", "ppl+counter = 0\n")
        .file("s", "kernels/notes.conf", "# rows of four\n")
        .file("c", "kernels/a.conf", "ppl+a = 2.34\n")
        .file("c", "kernels/b.conf", "ppl+b = 0.81\n")
        .file("m", "kernels/notes.conf", "# rows of four\n")
        .file("m", "kernels/counter.conf", "ppl+counter = -2.34\n");
    let (told, history) = hunt(plan).hunted();
    assert_eq!(told.culprits(&history), ["c"], "{}", told.output.stdout);
}

/// `m` drops the change of `t`, and brings in `u`, which makes the same step and cannot be measured.
#[test]
fn the_commits_of_the_other_side_of_a_merge_are_candidates_too() {
    let commits = "a:g, t < a:g, s < t:g, u < a:n, m < u s:n, f < m:g, h < f:g, e < h:g";
    let plan = graph(&commits.split(',').collect::<Vec<_>>())
        .file("a", "kernels/t.conf", "ppl+t = 0\n")
        .file("a", "kernels/u.conf", "ppl+u = 0\n")
        .file("t", "kernels/t.conf", "ppl+t = 0.5\n")
        .file("u", "kernels/u.conf", "ppl+u = 0.5\n")
        .file("m", "kernels/t.conf", "ppl+t = 0\n");
    let (told, history) = hunt(plan).hunted();
    let (named, open) = (told.culprits(&history), told.candidates(&history));
    let is_open = open.contains(&"u".to_owned());
    assert!(named == ["u"] || is_open, "{}", told.output.stdout);
}

/// `s` makes the change and the merge does not, but `s` cannot be measured: it has the bug that `b`
/// fixes.
#[test]
fn a_merge_is_not_named_alone_if_its_branch_cannot_be_measured() {
    let plan = graph(&["a: n", "b < a: g", "c < b: g", "s < a: n", "m < c s: g", "e < m: g"])
        .file("a", "kernels/a.conf", "ppl+a = 0\n")
        .file("s", "kernels/a.conf", "ppl+a = 0.5\n")
        .file("m", "kernels/a.conf", "ppl+a = 0.5\n");
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.start(&["--good", history.commit("b"), "--bad", "main"]);
    let hunt = hunt.expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["m", "s"]);
    assert!(hunt.culprits(&history).is_empty(), "{}", hunt.output.stdout);
}

/// `x` makes a step. `l` makes up for a part of it on a branch that `m` merges. `p` and `q` cannot
/// be measured, and `n` merges `u`, whose branch forked off before `m`. `t` makes a step there,
/// from a better level than that of `m`: `u` is no worse than `x`, and counts as good after it.
fn branch_into_untestable_commits() -> Plan {
    let start = ["a: g", "x < a: g", "y1 < x: g"].map(str::to_owned).into_iter();
    let line = (2..=6).map(|n| format!("y{n} < y{}: g", n - 1));
    let branch = ["l < a: g", "f < l: g", "k < f: g", "m < k y6: g", "p < m: e", "q < p: e"];
    let end = ["s < f: g", "t < s: g", "u < t: g", "n < q u: g", "e < n: g"];
    let rest = branch.into_iter().chain(end).map(str::to_owned);
    let commits: Vec<String> = start.chain(line).chain(rest).collect();
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    let levels = [("x", "x", 0.65), ("l", "l", -0.3), ("m", "x", 0.65), ("t", "t", 0.7)];
    let kernels = ["x", "l", "t", "p"].map(|name| ("a", name, 0.0));
    let all = kernels.into_iter().chain(levels).chain([("n", "t", 0.7)]);
    all.fold(graph(&commits), |plan, (at, name, adds)| {
        plan.file(at, format!("kernels/{name}.conf"), &format!("ppl+{name} = {adds}\n"))
    })
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_of_a_good_branch_that_comes_in_behind_untestable_commits_is_named() {
    let (told, history) = hunt(branch_into_untestable_commits()).hunted();
    let mut named = told.culprits(&history);
    named.sort();
    assert_eq!(named, ["t", "x"], "{}", told.output.stdout);
}

/// An untestable commit makes a step too, so that the branch explains only a part of the span's.
#[test]
#[ignore = "long: scripts/test --long"]
fn the_commits_of_such_a_branch_are_candidates_if_untestable_ones_may_have_made_a_part() {
    let plan = branch_into_untestable_commits().file("p", "kernels/p.conf", "ppl+p = 0.4\n");
    let (told, history) = hunt(plan).hunted();
    let candidates = told.candidates(&history);
    for commit in ["p", "q", "n", "s", "t", "u"] {
        assert!(candidates.contains(&commit.to_owned()), "{commit}: {}", told.output.stdout);
    }
    assert!(!told.culprits(&history).contains(&"t".to_owned()), "{}", told.output.stdout);
    assert!(!candidates.contains(&"k".to_owned()), "{}", told.output.stdout);
}

#[test]
fn first_parent_names_the_merge_that_brought_it() {
    let plan = graph(&["a: g", "b < a: g", "s1 < a: g", "s2 < s1: b", "m < b s2: b", "e < m: b"]);
    let told = hunt(plan).with(&["--first-parent"]).finds("m").costs(14, 6);
    assert_eq!(["s1", "s2"].map(|label| told.env().runs_of(label)), [0, 0]);
}

/// The answer says nothing of the second parent, which was not measured, and how to go on. The
/// proposed hunt finds the commit of the branch.
#[test]
#[ignore = "long: scripts/test --long"]
fn first_parent_says_that_the_branch_was_not_searched() {
    let plan =
        || graph(&["a: g", "b < a: g", "s1 < a: g", "s2 < s1: b", "m < b s2: b", "e < m: b"]);
    let (told, history) = hunt(plan()).with(&["--first-parent"]).hunted();
    let [b, m] = ["b", "m"].map(|label| &history.commit(label)[..10]);
    let command = format!("`bisect-ppl start --good {b} --bad {m}` searches it");
    assert!(!told.output.stdout.contains("none of its"), "{}", told.output.stdout);
    assert_eq!(told.culprits(&history), ["m"], "{}", told.output.stdout);
    told.output.says(&["with --first-parent the merged branch was not searched", command.as_str()]);
    let (inside, history) = hunt(plan()).between("b", "m").hunted();
    assert_eq!(inside.culprits(&history), ["s2"], "{}", inside.output.stdout);
}

#[test]
fn a_root_of_its_own_is_merged_in() {
    let plan = graph(&["a: g", "b < a: g", "u1: g", "u2 < u1: g", "m < b u2: b", "e < m: b"]);
    hunt(plan).finds("m").costs(19, 8);
}

#[test]
fn a_bad_root_of_its_own_has_no_parent_to_be_measured_against() {
    let plan = graph(&["a: g", "b < a: g", "u1: b", "u2 < u1: b", "m < b u2: b", "e < m: b"]);
    hunt(plan).saying(&["no parent"]).leaves("u1").costs(6, 4);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_unbuildable_root_is_merged_in_as_a_subfolder_would_be() {
    let plan = graph(&["a: g", "b < a: g", "u1: x", "u2 < u1: x", "m < b u2: b", "e < m: b"]);
    hunt(plan).leaves("m u1 u2").costs(6, 8).agrees_with_git();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn many_branches_merged_one_after_another() {
    let mut commits = vec!["0: g".to_owned()];
    for index in 1..=8 {
        let before = index - 1;
        let word = if index >= 6 { "b" } else { "g" };
        let side = if index == 6 { "b" } else { "g" };
        commits.push(format!("s{index} < {before}: {}", if index > 6 { "b" } else { "g" }));
        commits.push(format!("t{index} < s{index}: {}", if index > 6 { "b" } else { side }));
        commits.push(format!("{index} < {before} t{index}: {word}"));
    }
    let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
    hunt(graph(&commits)).finds("t6").costs(15, 9);
}
