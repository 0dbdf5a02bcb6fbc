//! Hunts in which many commits touch the file of the named commit's change.

use crate::kit::shell_engine::{NUMBER, hunt, measure, names_or_leaves_open, notes, subjects};
use crate::kit::{Hunt, TestEnvironment};

const GUARD: [&str; 2] = [NUMBER, "metric = \"e\"\nmax_increase = 0.5"];
const STRICT_GUARD: [&str; 2] = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];

/// A value, and so many lines of comments, of which the first has this text.
fn file(value: &str, first: &str, lines: usize) -> String {
    let more: Vec<String> = (1..8 + lines).map(|number| format!("# {number}\n")).collect();
    format!("scale={value}\n# {first}\n{}", more.concat())
}

/// The first commit, that of the step, and later ones, with notes before and after the step.
fn history<'t>(
    first: (&'t str, &'t str),
    step: (&'t str, &'t str),
    later: Vec<(&'t str, &'t str)>,
) -> Vec<(&'t str, &'t str)> {
    let (before, after) = (notes(3), notes(2));
    let head = [first].into_iter().chain(before).chain([step]).chain(after);
    head.chain(later).chain(notes(3)).collect()
}

/// Commits that put these texts into `k`, one each.
fn touches(texts: &[String]) -> Vec<(&str, &str)> {
    texts.iter().map(|text| ("k", text.as_str())).collect()
}

/// A hunt in which one commit changes the value in `k` from 6 to 7, and the commits `later` follow.
/// `first` and `step` are the files of the first commit and of the step.
fn hunt_of_value(
    env: &TestEnvironment,
    engine: &str,
    keys: [&str; 2],
    [first, step]: [&str; 2],
    later: Vec<(&str, &str)>,
) -> Hunt {
    let [before, after] = ["6", "7"].map(|value| file(value, "0", 0));
    let commits = history((first, before.as_str()), (step, after.as_str()), later);
    hunt(env, engine, keys, &commits)
}

/// A hunt in which 30 commits touch the file of the step, `k+test`, and the first of them edits the
/// line of the step. `line`: that line after the step, in each of these commits.
fn hunt_of_edited_lines(env: &TestEnvironment, line: &dyn Fn(usize) -> &'static str) -> Hunt {
    let texts: Vec<String> = (0..30).map(|number| file(line(number), "0", number)).collect();
    let mut later = touches(&texts);
    later[14].0 = "k+again";
    hunt_of_value(env, ". ./k; echo e = $scale", GUARD, ["k", "k+test"], later)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn only_commits_that_edit_the_lines_are_measured_if_the_bad_end_needs_these_lines() {
    let env = TestEnvironment::localizing();
    let hunt = hunt_of_edited_lines(&env, &|_| "7 # tidied").expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["k+test"]);
}

#[test]
fn a_commit_that_mends_the_lines_is_found_among_them() {
    let env = TestEnvironment::localizing();
    let hunt = hunt_of_edited_lines(&env, &|number| match number {
        12 | 13 => "6 # for now",
        14.. => "7 # again",
        _ => "7 # tidied",
    });
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["k+again"]);
}

#[test]
fn commits_that_keep_the_lines_are_measured_if_the_bad_end_does_not_need_these_lines() {
    let texts: Vec<String> = (0..22)
        .map(|number| {
            let mend = if number < 11 { "" } else { "scale=5.95\n" };
            file("7", "the scale", number) + mend
        })
        .collect();
    let mut later = touches(&texts);
    later.insert(12, ("y", "again"));
    let env = TestEnvironment::localizing();
    let engine = ". ./k; grep -q again y && scale=7; echo e = $scale";
    let hunt = hunt_of_value(&env, engine, GUARD, ["k+y", "k"], later).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["y"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_end_that_loses_a_part_of_the_step_with_the_old_lines_has_another_commit() {
    let line = |number| if number < 11 { "7 # tidied" } else { "6.2 # for now" };
    let texts: Vec<String> = (0..20).map(|number| file(line(number), "0", number)).collect();
    let mut later = touches(&texts);
    later.insert(12, ("more", "more=0.8\n"));
    let env = TestEnvironment::localizing();
    let engine = ". ./more; . ./k; echo e = $(awk \"BEGIN { print $scale + ${more:-0} }\")";
    let hunt = hunt_of_value(&env, engine, STRICT_GUARD, ["k+more", "k"], later);
    hunt.expect(3, "candidates").output.says(&["keeps a part of the step"]);
}

#[test]
fn a_bad_end_that_is_far_better_than_the_good_end_without_the_lines_needs_more_than_these() {
    // `mend` takes the step back in another line, and `again` makes it again in the line of `k`.
    let texts: Vec<String> = (0..20)
        .map(|number| {
            let line = if number < 13 { "7 # tidied" } else { "8 # wider" };
            let more = if number < 12 { "" } else { "more=-1\n" };
            file(line, "0", number) + more
        })
        .collect();
    let mut later = touches(&texts);
    later[13].0 = "k+again";
    let env = TestEnvironment::localizing();
    let engine = "more=0; . ./k; echo e = $(awk \"BEGIN { print $scale + $more }\")";
    let hunt = hunt_of_value(&env, engine, STRICT_GUARD, ["k", "k+step"], later);
    let named = subjects(&hunt);
    assert_ne!((hunt.output.code(), &named[..]), (Some(0), &["k+step".to_owned()][..]));
}

#[test]
fn an_effect_that_repeats_does_not_vouch_for_the_one_beside_it() {
    // A line below takes `b` back, and `y` makes it again, a little smaller. The last engine needs
    // the line of the step that is not measured, so the bad end cannot run without the step.
    let text = |[a, b, api]: [&str; 3], lines: usize, below: &str| {
        let more: Vec<String> = (0..8 + lines).map(|number| format!("# {number}\n")).collect();
        format!("a={a}\nb={b}\napi={api}\n{}{below}", more.concat())
    };
    let (before, after) = (text(["0", "0", "1"], 0, ""), text(["30", "40", "2"], 0, ""));
    let below = |number| if number < 5 { "" } else { "b=0\n" };
    let texts: Vec<String> =
        (1..21).map(|number| text(["30", "40", "2"], number, below(number))).collect();
    let mut later = touches(&texts);
    later.insert(6, ("y", "g=38\n"));
    later.push(("need", "1"));
    let commits = history(("k", before.as_str()), ("k", after.as_str()), later);
    let env = TestEnvironment::localizing();
    let engine = "g=0; . ./k; [ -f y ] && . ./y; [ -f need ] && [ $api != 2 ] && exit 9\n\
                  echo e = 6.$((25 + a)); echo s = 3.$((25 + b + g))";
    let second = measure("s", "parser = \"regex\"\npattern = '^s = ([0-9.]+)'");
    let measures = format!("{NUMBER}\n{second}");
    let guards = "metric = \"e\"\nmax_increase = 0.1\n\
                  [[guard]]\nmetric = \"s\"\nmax_increase = 0.1";
    let hunt = hunt(&env, engine, [&measures, guards], &commits);
    names_or_leaves_open(&env, &hunt, &["k", "y"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_improvement_in_the_same_file_undoes_none_of_several_commits() {
    let apart = "#\n# Nothing here.\n".repeat(4);
    let text = |[a, b, c]: [&str; 3]| format!("{a}\n{apart}{b}\n# b\n{apart}{c}\n");
    let texts = [
        ["a=0", "b=0", "c=0"],
        ["a=1", "b=0", "c=0"],
        ["# the a\na=1 # measured", "b=0", "c=0"],
        ["# the a\na=1 # measured", "b=0", "c=0.6 # a better rounding"],
        ["# the a\na=1 # measured", "b=1.5", "c=0.6 # a better rounding"],
    ]
    .map(text);
    let [start, one, tidied, better, two] = texts.each_ref().map(String::as_str);
    let commits = [
        [("k", start)].to_vec(),
        notes(7).collect(),
        [("k+one", one)].to_vec(),
        notes(8).collect(),
        [("k", tidied)].to_vec(),
        notes(6).collect(),
        [("k", better)].to_vec(),
        notes(8).collect(),
        [("k+two", two)].to_vec(),
        notes(8).collect(),
    ]
    .concat();
    let env = TestEnvironment::localizing();
    let engine = ". ./k; echo e = $(awk \"BEGIN { print 6 + $a + $b - $c }\")";
    let hunt = hunt(&env, engine, STRICT_GUARD, &commits).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["k+one", "k+two"]);
}
