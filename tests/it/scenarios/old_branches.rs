//! In noise: side branches that fork off before a fix that the good end has. Their first commits are
//! as bad as the commit where they fork off, and that is no part of what the hunt looks for.

use super::{Row, hunt};
use crate::kit::{Plan, graph};

/// Commit `f` takes `bug` away, and the good end `g` has that. The branch forks off at `a`; its
/// commits before `n` change nothing, and `n` adds `step`. `m` merges it and keeps the fix.
fn plan(before: usize, bug: f64, step: f64) -> Plan {
    let commits = "a:g, f < a:g, g < f:g, h < g:g, i < h:g";
    let mut all: Vec<String> = commits.split(", ").map(str::to_owned).collect();
    let mut tip = "a".to_owned();
    for number in 0..before {
        all.push(format!("q{number} < {tip}:g"));
        tip = format!("q{number}");
    }
    all.push(format!("n < {tip}:g"));
    let after = "s < n:g, t < s:g, m < i t:g, c < m:g, d < c:g, j < d:g, e < j:g";
    all.extend(after.split(", ").map(str::to_owned));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let adds = |name: &str, value: f64| format!("ppl+{name} = {value}\n");
    graph(&all)
        .file("a", "kernels/bug.conf", &adds("bug", bug))
        .file("a", "kernels/step.conf", &adds("step", 0.0))
        .file("f", "kernels/bug.conf", &adds("bug", 0.0))
        .file("n", "kernels/step.conf", &adds("step", step))
        .file("m", "kernels/step.conf", &adds("step", step))
        .with_all("noise = 0.02")
        .with_all("seed = 7")
}

fn row(plan: Plan) -> Row {
    hunt(plan).between("g", "e").oracle(|o| o.only_guard("metric = \"ppl\"\nmax_increase = 0.1"))
}

/// The hunt ends with an answer that has `commit`: named alone, or among the candidates.
fn answers_with(row: Row, commit: &str) {
    let (hunt, history) = row.hunted();
    let (stdout, stderr) = (&hunt.output.stdout, &hunt.output.stderr);
    assert!(!stderr.contains("not ancestors") && !stderr.contains("panicked"), "{stderr}");
    assert!(!stdout.contains("vary too much"), "{stdout}");
    match hunt.output.code() {
        Some(0) => assert_eq!(hunt.culprits(&history), [commit], "{stdout}"),
        Some(3) => assert!(hunt.candidates(&history).contains(&commit.to_owned()), "{stdout}"),
        code => panic!("{code:?}: {stderr}"),
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_first_commit_of_such_a_branch_makes_the_step() {
    answers_with(row(plan(0, 0.5, 0.3)), "n");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_as_large_as_the_fix_is_found_on_such_a_branch() {
    answers_with(row(plan(0, 0.5, 0.5)), "n");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_larger_than_the_fix_is_found_on_such_a_branch() {
    answers_with(row(plan(0, 0.2, 0.5)), "n");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_posterior_has_an_answer_too() {
    let row = row(plan(0, 0.5, 0.3)).with(&["--search", "posterior"]);
    answers_with(row, "n");
}

/// The bad end has the step of `n`, but is no worse than the parent of `n`, which lacks the fix.
#[test]
fn the_bad_end_is_not_compared_with_what_the_fix_took_away() {
    answers_with(row(plan(1, 0.5, 0.3)), "n");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_same_with_a_step_as_large_as_the_fix() {
    answers_with(row(plan(2, 0.5, 0.5)), "n");
}

/// The fix `n` lies on a branch that forks off before `f` made the bad end still worse.
#[test]
fn a_fix_on_a_branch_from_before_the_bad_end_got_worse_has_an_answer() {
    answers_with(row(plan(0, -0.5, -0.5)).for_the_fix(), "n");
}
