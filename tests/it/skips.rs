//! Commits that cannot be tested.

use crate::kit::{History, Oracle, TestEnvironment, line};

fn hunt_in(words: &str) -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let history = line(words).build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

/// What git itself says when it bisects the same history, told the truth by hand.
fn git_says(env: &TestEnvironment, history: &History) -> Vec<String> {
    let truth = "case $(cat engine.conf) in *build_exit*) exit 125;; *7.5*) exit 1;; esac";
    let clone = env.path("clone");
    env.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    env.tool(&clone, "git", &["bisect", "run", "sh", "-c", truth]);
    let log = env.git_in(&clone, &["bisect", "log"]);
    let marker = "# possible first bad commit: [";
    let mut labels: Vec<String> = log
        .lines()
        .filter_map(|line| line.strip_prefix(marker))
        .map(|rest| history.label(&rest[..40]).to_owned())
        .collect();
    labels.sort();
    labels
}

#[test]
fn unbuildable_commits_around_it_leave_the_candidates_git_names() {
    let (env, history) = hunt_in("g g g x x b b b");
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["3", "4", "5"]);
    assert_eq!(hunt.candidates(&history), git_says(&env, &history));
    assert!(hunt.report["culprit"].is_null(), "nobody is blamed");
    assert_eq!(hunt.verdict(&history, 3), "skip");
    assert_eq!(env.runs_of(3), 0);
}

#[test]
fn unbuildable_commits_elsewhere_do_no_harm() {
    let (env, history) = hunt_in("g x g g b x b x b");
    env.hunt().names(&history, 4);
}

#[test]
fn a_commit_that_cannot_be_built_is_built_once() {
    let (env, history) = hunt_in("g x b");
    env.hunt().expect(3, "candidates");
    assert_eq!(env.builds_of(1), 1);
    let again = env.hunt().expect(3, "candidates");
    assert_eq!(again.candidates(&history), ["1", "2"]);
    assert_eq!(env.builds_of(1), 1, "a failed build is a fact too");
}

#[test]
fn output_that_stops_before_its_end_is_taken_again_and_never_bad() {
    let (env, history) = hunt_in("g i b");
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
    assert_eq!(hunt.verdict(&history, 1), "skip");
    assert_eq!(env.runs_of(1), 2, "once more, then untestable");
}

#[test]
fn output_that_stopped_once_counts_when_it_is_whole() {
    let env = TestEnvironment::new();
    let history = line("g g b").with(1, "fate = cut well well well well").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
    assert!(env.runs_of(1) >= 3, "cut, whole, confirmed: {:?}", env.runs());
}

#[test]
fn what_does_not_show_the_required_line_is_untestable() {
    let require = "[[require]]\nmeasure = \"ppl\"\npattern = \"backend: cpu\"";
    for backend in ["none", "gpu"] {
        let env = TestEnvironment::new();
        // The value alone would make it bad.
        let history = line("g b b").with(1, &format!("backend = {backend}")).build(&env);
        Oracle::new(&env).section(require).write(&env);
        let hunt = env.hunt().expect(3, "candidates");
        assert_eq!(hunt.candidates(&history), ["1", "2"]);
        assert_eq!(hunt.verdict(&history, 1), "skip");
    }
}

#[test]
fn a_good_endpoint_that_does_not_show_it_cannot_be_measured() {
    let env = TestEnvironment::new();
    line("g b b").with(0, "backend = none").build(&env);
    let require = "[[require]]\nmeasure = \"ppl\"\npattern = \"backend: cpu\"";
    Oracle::new(&env).section(require).write(&env);
    env.hunt().expect(4, "endpoint-unmeasurable").output.says(&["backend: cpu"]);
}

#[test]
fn no_value_at_all_is_untestable() {
    let (env, history) = hunt_in("g - b");
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
}

#[test]
fn a_commit_named_with_skip_is_not_run() {
    let (env, history) = hunt_in("g g g b b");
    let skip = history.commit(2).to_owned();
    let hunt = env.start(&["--good", "v1", "--skip", &skip]).expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["2", "3"]);
    assert_eq!(env.runs_of(2), 0);
}
