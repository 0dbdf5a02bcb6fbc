//! Ranges of untestable commits. The candidates are exactly those that plain `git bisect run`
//! leaves if each exit code is right.
//!
//! The builds include controls, builds of the good endpoint: at the second, fourth and eighth
//! failure since a build last worked.

use super::{PassedHunt, hunt};
use crate::kit::line;

const TRUTH: &str = "case $(cat engine.conf) in *build_exit*) exit 125;; *7.5*) exit 1;; esac";

impl PassedHunt {
    /// Fails unless plain git, with right exit codes in a clone, finds the same candidates or the
    /// same first bad commit.
    #[track_caller]
    pub(crate) fn agrees_with_git(self) -> Self {
        let (env, history) = (&self.row.env, &self.row.history);
        let clone = env.path("clone");
        env.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
        env.git_in(&clone, &["bisect", "start", &self.row.bad, &self.row.good]);
        env.tool(&clone, "git", &["bisect", "run", "sh", "-c", TRUTH]);
        let log = env.git_in(&clone, &["bisect", "log"]);
        let named = |line: &str| {
            let rest = ["# possible first bad commit: [", "# first bad commit: ["]
                .iter()
                .find_map(|marker| line.strip_prefix(*marker))?;
            Some(history.label(&rest[..40]).to_owned())
        };
        let mut said: Vec<String> = log.lines().filter_map(named).collect();
        said.sort();
        said.dedup();
        assert_eq!(self.hunt.candidates(history), said, "{log}");
        self
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn right_after_good() {
    hunt(line("g x x g g b b b")).finds("5").costs(15, 7).agrees_with_git();
}

#[test]
fn right_before_it() {
    let told = hunt(line("g g g x b b b b")).leaves("3 4").costs(6, 6).agrees_with_git();
    assert!(told.hunt.report["culprit"].is_null(), "no single commit is blamed");
    assert_eq!(told.verdict("3"), "skip");
    assert_eq!(told.env().runs_of(3), 0);
    assert!(told.hunt.output.stdout.contains(": 0 explained"), "{}", told.hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn right_after_it() {
    hunt(line("g g g g b x x b")).finds("4").costs(16, 12).agrees_with_git();
}

#[test]
fn it_cannot_be_built_itself() {
    hunt(line("g g g x b b b")).leaves("3 4").costs(6, 6).agrees_with_git();
}

#[test]
fn around_it() {
    hunt(line("g g x b x x b b")).leaves("2 3").costs(6, 11).agrees_with_git();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn right_before_bad() {
    hunt(line("g g g b b x x b")).finds("3").costs(17, 14).agrees_with_git();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn everything_between_the_endpoints() {
    hunt(line("g x x x x b")).leaves("1 2 3 4 5").costs(4, 12).agrees_with_git();
}

#[test]
fn here_and_there() {
    hunt(line("g x g g b x b x b")).finds("4").costs(18, 14).agrees_with_git();
}

#[test]
#[ignore = "long: scripts/test --long"]
fn three_quarters_of_a_long_line() {
    let words: Vec<&str> = (0..24)
        .map(|index| match index {
            0..=4 => "g",
            5..=21 => "x",
            _ => "b",
        })
        .collect();
    let in_question: Vec<String> = (5..=22).map(|index| index.to_string()).collect();
    hunt(line(&words.join(" "))).leaves(&in_question.join(" ")).costs(6, 43).agrees_with_git();
}

#[test]
fn a_side_branch_that_never_builds() {
    let plan = crate::kit::graph(&[
        "a: g",
        "b < a: g",
        "s1 < a: x",
        "s2 < s1: x",
        "m < b s2: g",
        "c < m: b",
        "d < c: b",
    ]);
    hunt(plan).finds("c").costs(16, 13).agrees_with_git();
}

#[test]
fn a_failed_build_is_a_fact_too() {
    let told = hunt(line("g x b")).leaves("1 2").costs(4, 4);
    assert_eq!(told.env().builds_of(1), 2);
    told.again().leaves("1 2").costs(0, 0);
}

#[test]
fn a_skipped_commit_is_not_tested() {
    let told = hunt(line("g g g b b")).skipping("2").leaves("2 3").costs(6, 4);
    assert_eq!(told.env().builds_of(2), 0);
}

#[test]
fn a_skipped_commit_elsewhere_does_no_harm() {
    hunt(line("g g g g b b b b")).skipping("1 6").finds("4").costs(15, 7);
}

#[test]
fn output_that_stops_before_its_end_is_taken_again_and_never_bad() {
    let told = hunt(line("g i b")).leaves("1 2").costs(6, 3);
    assert_eq!(told.verdict("1"), "skip");
    assert_eq!(told.env().runs_of(1), 2, "once more, then untestable");
}

#[test]
fn output_that_stopped_once_counts_when_it_is_whole() {
    let plan = line("g g b").with(1, "fate = cut well well well well");
    hunt(plan).finds("2").costs(12, 5);
}

#[test]
fn no_value_at_all() {
    hunt(line("g - b")).leaves("1 2").costs(5, 3);
}

const REQUIRE: &str = "[[require]]\nmeasure = \"ppl\"\npattern = \"backend: cpu\"";

#[test]
fn a_required_line_that_does_not_show() {
    for backend in ["none", "gpu"] {
        // The value alone would make the commit bad.
        let plan = line("g b b").with(1, &format!("backend = {backend}"));
        let row = hunt(plan).oracle(|oracle| oracle.section(REQUIRE));
        let told = row.leaves("1 2").costs(5, 3);
        assert_eq!(told.verdict("1"), "skip");
    }
}

#[test]
fn a_required_line_that_does_not_show_at_the_good_end() {
    let plan = line("g b b").with(0, "backend = none");
    let row = hunt(plan).oracle(|oracle| oracle.section(REQUIRE)).saying(&["backend: cpu"]);
    row.cannot_be_measured().costs(4, 2);
}

#[test]
fn crashes_on_the_way_are_nobodys_fault() {
    hunt(line("g s g b b")).finds("3").costs(14, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn hangs_on_the_way_are_nobodys_fault() {
    let plan = line("g g b").with(1, "fate = hang-hard");
    hunt(plan).oracle(|oracle| oracle.timeout("2s")).leaves("1 2").costs(7, 3);
}
