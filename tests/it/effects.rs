//! Commits with several effects, of which a later commit takes one back, and plain results that are
//! mended and made again within a few commits.

use crate::kit::planted::put;
use crate::kit::shell_engine::{
    NUMBER, among_notes, begin, commit_notes, hunt, hunt_by, is_candidate, measure,
    names_or_leaves_open, notes, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

/// A perplexity, and the backend in use: as a fact, or as the count of one test.
const ENGINE: &str = "a=0; . ./a.conf; b=0; [ -f B ] && b=20; [ -f D ] && back=1\n\
                      echo e = 6.$((25 + a + b)); echo back = $back";

/// These commits in this order, among notes. `A` (`a.conf+A`) makes both worse, and `B` the
/// perplexity. `mend` takes the backend back by hand, in another line of `a.conf`. `D` breaks it
/// again in its own file.
fn steps(order: &[&'static str]) -> Vec<(&'static str, &'static str)> {
    let mut all = vec![("a.conf", "a=0\nback=0\n")];
    for step in order {
        all.extend(notes(6));
        match *step {
            "A" => all.push(("a.conf+A", "a=30\nback=1\n")),
            "mend" => all.push(("a.conf", "# again in May\na=30 # ok\nback=0 # for now\n")),
            file => all.push((file, "1")),
        }
    }
    all.extend(notes(3));
    all
}

fn hunt_two_guards(env: &TestEnvironment, is_fact: bool, order: &[&'static str]) -> Hunt {
    hunt_both(env, is_fact, ENGINE, &steps(order))
}

/// A hunt for the numbers or facts `e` and `back` that an engine prints.
fn hunt_both(env: &TestEnvironment, is_fact: bool, engine: &str, commits: &[(&str, &str)]) -> Hunt {
    let (kind, guard) =
        if is_fact { ("kind = \"fact\"\n", "unchanged = true") } else { ("", "max_increase = 0") };
    let back = format!("parser = \"regex\"\n{kind}pattern = '^back = ([0-9]+)'");
    let measures = format!("{NUMBER}\n{}", measure("f", &back));
    let guards = format!("metric = \"e\"\nmax_increase = 0.1\n[[guard]]\nmetric = \"f\"\n{guard}");
    hunt(env, engine, [&measures, &guards], commits)
}

/// The metrics that a commit is said to have moved.
fn moved_by(hunt: &Hunt, subject: &str) -> Vec<String> {
    let culprits = hunt.report["culprits"].as_array().unwrap().iter();
    let own = culprits.filter(|one| one["subject"] == subject);
    let effects = own.flat_map(|one| one["effects"].as_array().unwrap());
    effects.map(|effect| effect["metric"].as_str().unwrap().to_owned()).collect()
}

/// `mend` takes one of the two effects of `A` back, and `D` makes it again.
fn one_effect_is_mended(is_fact: bool, order: [&'static str; 4]) {
    let env = TestEnvironment::localizing();
    let hunt = hunt_two_guards(&env, is_fact, &order);
    let said = &hunt.output.stdout;
    let moved = moved_by(&hunt, "a.conf+A");
    assert!(!moved.contains(&"f".to_owned()), "{order:?}: {said}");
    if hunt.output.code() == Some(0) {
        assert_eq!((moved.len(), moved_by(&hunt, "D").len()), (1, 1), "{order:?}: {said}");
    } else {
        assert_eq!(hunt.output.code(), Some(3), "{order:?}: {said}");
    }
}

#[test]
fn each_effect_of_a_commit_must_last() {
    one_effect_is_mended(true, ["A", "B", "mend", "D"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn each_effect_of_a_commit_must_last_in_other_orders() {
    one_effect_is_mended(false, ["B", "A", "mend", "D"]);
    one_effect_is_mended(true, ["A", "mend", "D", "B"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn effects_that_last_stay_with_their_commit() {
    let env = TestEnvironment::localizing();
    let hunt = hunt_two_guards(&env, false, &["A", "B"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["a.conf+A", "B"]);
    assert_eq!(moved_by(&hunt, "a.conf+A").len(), 2);
}

/// One commit has its two effects from two files.
fn effects_of_two_files(is_fact: bool) {
    let engine = "e=6; back=0; [ -f x ] && e=7; [ -f y ] && back=1; [ -f z ] && e=$((e + 2))\n\
                  echo e = $e; echo back = $back";
    let env = TestEnvironment::localizing();
    let commits = among_notes(&[("x+y", "1")]);
    let alone = hunt_both(&env, is_fact, engine, &commits).expect(0, "culprit");
    assert_eq!(subjects(&alone), ["x+y"]);
    assert_eq!(moved_by(&alone, "x+y").len(), 2);
    alone.output.says(&["reverting the whole commit heals the bad end"]);
    let env = TestEnvironment::localizing();
    let commits = among_notes(&[("x+y", "1"), ("z", "1")]);
    let beside = hunt_both(&env, is_fact, engine, &commits).expect(0, "culprit");
    assert_eq!(subjects(&beside), ["x+y", "z"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_effects_of_a_commit_may_come_from_different_files() {
    effects_of_two_files(true);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_numbers_of_a_commit_may_come_from_different_files() {
    effects_of_two_files(false);
}

/// `x` makes the perplexity worse, another file switches that off, and `y` makes the same step
/// again, beside one in the other metric.
fn y_makes_it_again(env: &TestEnvironment, is_fact: bool) -> Hunt {
    let engine = "e=6.25; t=0; [ -f x ] && e=6.75; [ -f off ] && e=6.25\n\
                  [ -f y ] && e=6.75 && t=1\necho e = $e; echo back = $t";
    let start = [("start", "0")].into_iter().chain(notes(2)).chain([("x", "1")]);
    let again = notes(7).chain([("off", "1"), ("y", "1")]).chain(notes(2));
    hunt_both(env, is_fact, engine, &start.chain(again).collect::<Vec<_>>())
}

/// `y` is found for the one metric, and its step in the other one is its own.
fn y_has_both_effects(env: &TestEnvironment) {
    let hunt = y_makes_it_again(env, false).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["y"], "{}", hunt.output.stdout);
    assert_eq!(moved_by(&hunt, "y").len(), 2, "{}", hunt.output.stdout);
}

#[test]
fn an_effect_that_a_commit_found_for_another_guard_makes_again_is_its_effect() {
    y_has_both_effects(&TestEnvironment::localizing());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn without_localisation_an_effect_that_is_made_again_is_the_later_commits_too() {
    y_has_both_effects(&TestEnvironment::new());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_effect_that_is_made_again_beside_a_fact_is_the_later_commits() {
    let env = TestEnvironment::localizing();
    let hunt = y_makes_it_again(&env, true).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["y"], "{}", hunt.output.stdout);
}

/// `x` makes the perplexity worse and the engine faster, and `y` makes it slower again. Without `x`,
/// the bad end loses just what `x` gained, so this is no doubt.
#[test]
fn a_commit_that_trades_exactness_for_speed_is_as_sure_as_any_other() {
    let engine = "e=7; s=40; [ -f x ] && e=7.5 && s=52; [ -f y ] && s=$((s - 12))\n\
                  echo e = $e; echo back = $s";
    let speed = measure("f", "parser = \"regex\"\npattern = '^back = ([0-9]+)'");
    let measures = format!("{NUMBER}\n{speed}");
    let guards = "metric = \"e\"\nmax_increase = 0.1\n\
                  [[guard]]\nmetric = \"f\"\nmax_decrease_percent = 5";
    let env = TestEnvironment::localizing();
    let commits = among_notes(&[("x", "1"), ("y", "1")]);
    let hunt = hunt(&env, engine, [&measures, guards], &commits).expect(0, "culprit");
    let said = hunt.output.stdout.clone();
    assert_eq!(subjects(&hunt), ["x"], "{said}");
    assert_eq!(hunt.report["cause"]["revert"]["traded"], "f goes from 40 to 28", "{said}");
    assert!(hunt.report["culprit"]["confidence"].as_f64().unwrap() > 0.98, "{said}");
    hunt.output.says(&["it also takes back the effect of this change on another guard"]);
}

/// The perplexity, and another measure that fails where the file `broken` is.
fn perplexity_and_failure() -> String {
    format!(
        "{NUMBER}\n[[measure]]\nname = \"f\"\ncommand = \"sh {{src}}/engine.sh f\"\n\
         parser = \"regex\"\npattern = '^back = ([0-9]+)'"
    )
}

const GUARDS_OF_NUMBERS: &str = "metric = \"e\"\nmax_increase = 0.1\n\
                                 [[guard]]\nmetric = \"f\"\nmax_increase = 0";

#[test]
#[ignore = "long: scripts/test --long"]
fn a_guard_beside_a_failure_is_tested_at_the_bad_end_too() {
    // `off` takes the step of `x` back in another file, and `z` makes it again.
    let engine = "[ \"$1\" = f ] && [ -f broken ] && exit 7\n\
                  e=6.25; [ -f x ] && e=6.75; [ -f off ] && e=6.25; [ -f z ] && e=6.75\n\
                  echo e = $e; echo back = 0";
    let start = [("start", "0")].into_iter().chain(notes(2)).chain([("x", "1")]);
    let again = notes(7).chain([("off", "1"), ("z", "1")]).chain(notes(2));
    let commits: Vec<_> = start.chain(again).chain([("broken", "1")]).chain(notes(2)).collect();
    let env = TestEnvironment::localizing();
    let hunt = hunt(&env, engine, [&perplexity_and_failure(), GUARDS_OF_NUMBERS], &commits);
    let said = hunt.output.stdout.clone();
    names_or_leaves_open(&env, &hunt, &["z", "broken"]);
    assert!(hunt.report["outcome"] == "culprit" || is_candidate(&env, &hunt, "z"), "{said}");
}

/// `x+broken` makes the perplexity worse in one file and fails in the other. `off` takes the step
/// back in a file of its own, and `z` makes it again.
fn fails_and_steps(env: &TestEnvironment, steps: &[(&str, &str)]) -> Hunt {
    let engine = "[ \"$1\" = f ] && [ -f broken ] && exit 7\n\
                  e=6.25; [ -f x ] && e=6.75; [ -f off ] && e=6.25; [ -f z ] && e=6.75\n\
                  echo e = $e; echo back = 0";
    hunt(env, engine, [&perplexity_and_failure(), GUARDS_OF_NUMBERS], &among_notes(steps))
}

#[test]
fn a_guard_that_the_rest_of_a_failing_commit_breaks_needs_no_other_commit() {
    let env = TestEnvironment::localizing();
    let hunt = fails_and_steps(&env, &[("x+broken", "1")]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x+broken"]);
    hunt.output.says(&["reverting the whole commit heals the bad end"]);
}

#[test]
fn a_guard_that_stays_broken_without_the_whole_failing_commit_is_another_commits() {
    let env = TestEnvironment::localizing();
    let steps = [("x+broken", "1"), ("off", "1"), ("z", "1")];
    let hunt = fails_and_steps(&env, &steps).expect(3, "candidates");
    assert_eq!(subjects(&hunt), ["x+broken"]);
    hunt.output.says(&[
        "bad end without broken and x: no step",
        "the bad end still breaks another guard: another commit does that",
    ]);
}

#[test]
fn a_measure_that_fails_does_not_hide_a_step_of_another_measure() {
    // The measure `f` fails among the commits where `y` makes the perplexity worse.
    let engine = "[ \"$1\" = f ] && [ -f broken ] && exit 7\n\
                  e=6.25; [ -f y ] && e=6.75; b=0; [ -f x ] && b=1\n\
                  echo e = $e; echo back = $b";
    let start = [("start", "0")].into_iter().chain(notes(2)).chain([("broken", "1")]);
    let within = notes(2).chain([("x", "1"), ("y", "1")]).chain(notes(2)).chain([("broken", "")]);
    let commits: Vec<_> = start.chain(within).chain(notes(3)).collect();
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, [&perplexity_and_failure(), GUARDS_OF_NUMBERS], &commits);
    let hunt = hunt.expect(3, "candidates");
    assert_eq!(subjects(&hunt), ["y"], "{}", hunt.output.stdout);
    assert!(is_candidate(&env, &hunt, "x"), "{}", hunt.output.stdout);
}

/// The keys of a measure of the perplexity, and a second measure, of the fact `f`.
fn perplexity_and_fact() -> String {
    let fact = "parser = \"regex\"\nkind = \"fact\"\npattern = '^f = (.*)'";
    format!("{NUMBER}\n{}", measure("f", fact))
}

const GUARDS_OF_BOTH: &str = "metric = \"e\"\nmax_increase = 0.1\n\
                              [[guard]]\nmetric = \"f\"\nunchanged = true";

#[test]
#[ignore = "long: scripts/test --long"]
fn after_one_effect_was_made_again_another_one_is_still_followed() {
    let engine = "a=0; b=0; n=0; f=384; . ./a.conf; [ -f b.conf ] && . ./b.conf\n\
                  echo e = 6.$((25 + a + b)); echo f = $f; echo n = $n";
    let count = measure("n", "parser = \"regex\"\npattern = '^n = ([0-9]+)'");
    let measures = format!("{}\n{count}", perplexity_and_fact());
    let guards = format!("{GUARDS_OF_BOTH}\n[[guard]]\nmetric = \"n\"\nmax_increase = 0");
    let text = |[n, a, f, last]: [&str; 4]| {
        let apart =
            |name: &str| ["0", "1", "2", "3"].map(|line| format!("# {name}{line}\n")).concat();
        let [n, a, f] = [["n", n], ["a", a], ["f", f]]
            .map(|[name, value]| format!("{}{name}={value}\n", apart(name)));
        [n, a, f, apart("z"), last.to_owned()].concat()
    };
    let env = TestEnvironment::localizing();
    put(&env.repo().join("a.conf"), text(["0", "0", "384", ""]).as_bytes());
    begin(&env, engine);
    commit_notes(&env, 4);
    step(&env, "A", "a.conf", &text(["1", "30", "128", ""]));
    commit_notes(&env, 6);
    step(&env, "mends n", "a.conf", &text(["1", "30", "128", "n=0\n"]));
    step(&env, "n again", "a.conf", &text(["1", "30", "128", ""]));
    commit_notes(&env, 1);
    step(&env, "B", "b.conf", "b=20\n");
    commit_notes(&env, 7);
    step(&env, "mends a", "a.conf", &text(["1", "0", "128", ""]));
    step(&env, "a again", "a.conf", &text(["1", "30 # again", "128", ""]));
    commit_notes(&env, 8);
    let hunt = hunt_by(&env, [&measures, &guards]);
    let said = &hunt.output.stdout;
    if hunt.output.code() == Some(0) {
        assert_eq!(moved_by(&hunt, "a again"), ["e"], "{said}");
        assert!(!moved_by(&hunt, "A").contains(&"e".to_owned()), "{said}");
    } else {
        assert_eq!(hunt.output.code(), Some(3), "{said}");
        assert!(is_candidate(&env, &hunt, "a again"), "{said}");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_whose_effect_another_commit_makes_too_is_not_certain() {
    // Another file takes the fact of `A` back, and `again` makes it in a file of its own.
    let engine = "a=0; f=384; g=0; . ./k; [ -f over ] && . ./over; [ -f y ] && . ./y\n\
                  [ $g = 1 ] && f=128; echo e = 6.$((25 + a)); echo f = $f";
    let env = TestEnvironment::localizing();
    put(&env.repo().join("k"), b"# one\nf=384\n# two\n");
    begin(&env, engine);
    commit_notes(&env, 4);
    step(&env, "A", "k", "# one\nf=128\n# two\n");
    commit_notes(&env, 6);
    step(&env, "mend", "over", "f=384\n");
    step(&env, "again", "y", "g=1\na=30\n");
    commit_notes(&env, 6);
    step(&env, "tidy", "k", "# one\n  f=128\n# two\n");
    commit_notes(&env, 10);
    let hunt = hunt_by(&env, [&perplexity_and_fact(), GUARDS_OF_BOTH]);
    names_or_leaves_open(&env, &hunt, &["again"]);
}

#[test]
fn without_localisation_a_result_that_may_have_come_back_is_not_certain() {
    // `m` takes the step of `k` back in another file, and the next commit makes it again, with the
    // same digits.
    let mut commits = vec![("k", "0")];
    commits.extend(notes(11));
    commits.extend([("k", "1"), ("notes", "between"), ("m", "1"), ("D", "1")]);
    commits.extend(notes(25));
    let engine = "read r < k; [ -f m ] && r=0; [ -f D ] && r=1; echo e = 5.906$((6 + r))";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, [NUMBER, "metric = \"e\"\nmax_increase = 0"], &commits);
    let hunt = hunt.expect(0, "culprit");
    let confidence = hunt.report["culprit"]["confidence"].as_f64().unwrap();
    assert!(confidence <= 0.98, "{confidence}");
    hunt.output.says(&["--no-localize left out the test", "every run repeated bit for bit"]);
}
