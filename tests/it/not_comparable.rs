//! Commits whose output looks good or bad, but says nothing: a NaN that no pattern of digits
//! matches, a part of a duration, a number with another unit, a test that did not run.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{self, PARITY, hunt_by, is_candidate, notes, put_engine};
use crate::kit::{Hunt, TestEnvironment};

/// A hunt over a line of twenty commits. The engine is a shell script; `steps` says at which commit
/// a file appears and, if so, at which commit it goes away. Subjects are `FILE` and `no FILE`.
pub(crate) fn hunt(
    env: &TestEnvironment,
    engine: &str,
    keys: [&str; 2],
    steps: &[(&str, usize, Option<usize>)],
) -> Hunt {
    let repo = env.repo();
    put_engine(env, engine);
    for number in 0..20 {
        put(&repo.join("notes"), number.to_string().as_bytes());
        let mut subject = format!("note {number}");
        for (file, from, until) in steps {
            if number == *from {
                put(&repo.join(file), b"1");
                (*file).clone_into(&mut subject);
            } else if Some(number) == *until {
                std::fs::remove_file(repo.join(file)).unwrap();
                subject = format!("no {file}");
            }
        }
        commit(env, &subject);
        if number == 0 {
            env.git(&["tag", "v1"]);
        }
    }
    hunt_by(env, keys)
}

/// Expects candidates, with the commit of this subject among them.
pub(crate) fn expect_candidate(env: &TestEnvironment, hunt: Hunt, subject: &str) {
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(env, &hunt, subject), "{}", hunt.report["candidates"]);
}

/// The keys of a measure that reads a number with this pattern.
fn regex(pattern: &str) -> String {
    format!("parser = \"regex\"\npattern = '{pattern}'")
}

pub(crate) const PPL: [&str; 2] =
    ["parser = \"regex\"\npattern = 'ppl = ([0-9.]+)'", "metric = \"e\"\nmax_increase = 0.05"];

#[test]
#[ignore = "long: scripts/test --long"]
fn a_chunk_that_is_nan_is_the_runs_last_number() {
    let engine = "v=7.4; [ -f worse ] && v=8; [ -f nan ] && v=nan\n\
                  echo chunk 1 ppl = 7.1; echo chunk 2 ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("nan", 5, None)]).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "nan");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_run_with_nan_in_place_of_its_only_number_is_bad() {
    let engine = "v=7.4; [ -f nan ] && v=-nan; echo ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("nan", 5, None)]).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "nan");
}

#[test]
fn a_chunk_without_a_number_says_nothing() {
    let engine = "v=7.4; [ -f worse ] && v=8; [ -f lost ] && v=---\n\
                  echo chunk 1 ppl = 7.1; echo chunk 2 ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("lost", 5, Some(14)), ("worse", 9, None)]);
    expect_candidate(&env, hunt, "worse");
}

const TIME: [&str; 2] =
    ["parser = \"regex\"\npattern = 'took ([0-9.]+)'", "metric = \"e\"\nmax_increase_percent = 5"];
const TOOK: &str = "m=7; s=0.007; [ -f worse ] && { m=12; s=0.012; }\n\
                    if [ -f seconds ]; then echo took $s s; else echo took $m ms; fi";

#[test]
fn a_commit_that_prints_another_unit_says_nothing() {
    let env = TestEnvironment::new();
    let hunt = hunt(&env, TOOK, TIME, &[("seconds", 5, Some(13)), ("worse", 9, None)]);
    expect_candidate(&env, hunt, "worse");
}

#[test]
fn ends_with_different_units_are_not_compared() {
    let env = TestEnvironment::new();
    let hunt = hunt(&env, TOOK, TIME, &[("worse", 9, None), ("seconds", 13, None)]);
    let said = ["e has another unit there: s, but ms at the good endpoint"];
    hunt.expect(4, "endpoint-unmeasurable").output.says(&said);
}

/// For a while, the engine prints `seconds` in place of `plain`.
fn with_and_without_a_unit(measure: &str, seconds: &str, plain: &str) {
    let engine = format!(
        "m=7; s=0.007; [ -f worse ] && {{ m=12; s=0.012; }}\n\
         if [ -f seconds ]; then echo {seconds}; else echo {plain}; fi"
    );
    let env = TestEnvironment::new();
    let steps = [("seconds", 5, Some(13)), ("worse", 9, None)];
    let found = hunt(&env, &engine, [measure, TIME[1]], &steps);
    expect_candidate(&env, found, "worse");
    let env = TestEnvironment::new();
    let steps = [("worse", 9, None), ("seconds", 13, None)];
    let found = hunt(&env, &engine, [measure, TIME[1]], &steps);
    found.expect(4, "endpoint-unmeasurable").output.says(&["e has another unit there: "]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn far_numbers_with_and_without_a_unit_are_not_compared() {
    with_and_without_a_unit(TIME[0], "took $s", "took $m ms");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn far_numbers_beside_units_in_json_are_not_compared() {
    let json = "parser = \"json\"\npointer = \"/t\"";
    let seconds = "'{\"unit\": \"s\", \"t\": '$s}";
    let plain = "'{\"unit\": \"ms\", \"t\": '$m}";
    with_and_without_a_unit(json, seconds, plain);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn another_word_in_place_of_the_last_number_says_nothing() {
    let engine = "v=7.4; [ -f worse ] && v=8; [ -f lost ] && v=OOM\n\
                  echo chunk 1 ppl = 7.1; echo chunk 2 ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("lost", 5, Some(14)), ("worse", 9, None)]);
    expect_candidate(&env, hunt, "worse");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_decimal_comma_is_a_part_of_the_number() {
    let engine = "v=7.05; [ -f worse ] && v=7.95; [ -f locale ] && v=$(echo $v | tr . ,)\n\
                  echo ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("locale", 5, Some(14)), ("worse", 9, None)]);
    expect_candidate(&env, hunt, "worse");
}

/// The engine exchanges two numbers that have the same words around them, for a while.
fn two_numbers_exchanged(keys: &str, print: &str) {
    let engine = format!(
        "v=7.0000; [ -f worse ] && v=7.5000; c=7.0100; a=wiki; b=c4\n\
         if [ -f order ]; then w=$v; v=$c; c=$w; a=c4; b=wiki; fi\n{print}"
    );
    let env = TestEnvironment::new();
    let steps = [("order", 5, Some(14)), ("worse", 9, None)];
    expect_candidate(&env, hunt(&env, &engine, [keys, PPL[1]], &steps), "worse");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn numbers_below_headers_that_change_places_are_no_step() {
    let lines = "echo == $b; echo ppl = $c; echo == $a; echo ppl = $v";
    two_numbers_exchanged(PPL[0], lines);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn columns_and_elements_that_change_places_are_no_step() {
    two_numbers_exchanged(&regex("^wiki,([0-9.]+)"), "echo wiki,$v,$c");
    let json = "parser = \"json\"\npointer = \"/ppl/0\"";
    two_numbers_exchanged(json, "echo \"{\\\"ppl\\\": [$v, $c]}\"");
}

/// A program that prints two results and the one that it chose still shows which commit changed
/// the choice.
#[test]
fn another_choice_of_two_printed_numbers_is_a_step() {
    let engine = "v=7.0100; [ -f worse ] && v=7.5000\n\
                  echo fast: 7.5000; echo exact: 7.0100; echo ppl = $v";
    expect_worse("ppl = ([0-9.]+)", PPL[1], engine, &[("worse", 9, None)]);
}

const RATE: &str = "metric = \"e\"\nmax_decrease_percent = 5";

/// This pattern reads both.
fn a_time_and_a_rate(pattern: &str) {
    // Twice as slow: 0.75 it/s, then 0.65 it/s.
    let engine = "a=1.50; b=1.33; [ -f worse ] && { a=1.30; b=1.54; }\n\
                  if [ -f slow ]; then echo at ${b}s/it; else echo at ${a}it/s; fi";
    let env = TestEnvironment::new();
    let steps = [("slow", 5, Some(14)), ("worse", 9, None)];
    let hunt = hunt(&env, engine, [&regex(pattern), RATE], &steps);
    expect_candidate(&env, hunt, "worse");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_time_for_each_thing_is_not_compared_with_a_rate() {
    a_time_and_a_rate("at ([0-9.]+)");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_pattern_for_either_does_not_compare_a_time_for_each_thing_with_a_rate() {
    a_time_and_a_rate("([0-9.]+)(?:it/s|s/it)");
}

/// Expects that a hunt over this engine names `worse`.
pub(crate) fn expect_worse(
    pattern: &str,
    guard: &str,
    engine: &str,
    steps: &[(&str, usize, Option<usize>)],
) {
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, [&regex(pattern), guard], steps).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "worse", "{pattern}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn another_word_for_the_same_unit_is_no_other_unit() {
    let engine = "v=101.5; [ -f worse ] && v=4.1; u=t/s; [ -f renamed ] && u=tok/s; echo at $v $u";
    let steps = [("renamed", 5, None), ("worse", 9, None)];
    expect_worse("at ([0-9.]+)", RATE, engine, &steps);
}

/// The engine prints its number between these words.
fn a_number_behind(pattern: &str, before: &str, behind: &str) {
    let engine = format!("v=07.05; [ -f worse ] && v=12.34; echo '{before}'$v'{behind}'");
    expect_worse(pattern, TIME[1], &engine, &[("worse", 9, None)]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn numbers_behind_a_colon_are_no_seconds() {
    a_number_behind("([0-9.]+) ms", "GPU 1:", " ms");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn numbers_behind_other_colons_are_no_seconds() {
    a_number_behind("([0-9.]+)$", "12:", "");
    a_number_behind("([0-9.]+) ms", "ctx 4096:", " ms");
    a_number_behind("([0-9.]+)elapsed", "0.10system 0:", "elapsed");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_nan_of_another_name_behind_the_number_is_not_in_its_place() {
    let engine = "v=7.05; [ -f worse ] && v=12.34; echo ppl = $v, sd = nan";
    expect_worse(".*= ([0-9.]+)", TIME[1], engine, &[("worse", 9, None)]);
}

/// Expects that no pattern reads a part of what the bad end prints.
fn expect_unreadable(engine: &str, patterns: [&str; 2], said: &str) {
    for pattern in patterns {
        let env = TestEnvironment::new();
        let hunt = hunt(&env, engine, [&regex(pattern), TIME[1]], &[("worse", 9, None)]);
        hunt.expect(4, "endpoint-unmeasurable").output.says(&[said]);
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn minutes_with_units_are_not_read_as_minutes() {
    let engine = "v=58.1s; [ -f worse ] && v=1m2.1s; echo took $v";
    let patterns = ["took ([0-9.]+)", "took.*?([0-9.]+)s"];
    expect_unreadable(engine, patterns, "of the duration `1m2.1");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn minutes_and_seconds_are_not_read_as_minutes() {
    let engine = "v=58; [ -f worse ] && v=1:02; echo took $v s";
    let patterns = ["took ([0-9.]+)", "([0-9.]+) s"];
    expect_unreadable(engine, patterns, "of the duration `1:02`; let");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_checksum_with_more_digits_than_a_number_keeps_is_read_as_a_fact_only() {
    let engine = "v=12345678901234567890; [ -f worse ] && v=12345678901234567891; echo sum $v";
    let guard = "metric = \"e\"\nunchanged = true";
    let keys = regex("sum ([0-9]+)");
    let worse = [("worse", 9, None)];
    let env = TestEnvironment::new();
    let refused = hunt(&env, engine, [&keys, guard], &worse).expect(4, "endpoint-unmeasurable");
    refused.output.says(&["set `kind = \"fact\"`"]);
    let env = TestEnvironment::new();
    let keys = format!("{keys}\nkind = \"fact\"");
    let found = hunt(&env, engine, [&keys, guard], &worse).expect(0, "culprit");
    assert_eq!(found.report["culprit"]["subject"], "worse");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_pattern_that_leaves_out_the_sign_of_its_number_is_refused() {
    let engine = "v=0.3; [ -f worse ] && v=-0.3; echo diff = $v";
    let patterns = ["diff.*?([0-9.]+)", "diff = .*?([0-9.]+)"];
    expect_unreadable(engine, patterns, "leaves out the minus sign of `-0.3`");
}

/// From `worse` on, a check prints this word.
fn a_check_ended_with(word: &str) {
    let engine = format!("s=PASS; [ -f worse ] && s={word}; echo gelu PASS; echo norm $s");
    let env = TestEnvironment::new();
    let hunt = hunt(&env, &engine, FAILED, &[("worse", 9, None)]).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "worse", "{word}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_check_that_crashed_or_timed_out_failed() {
    a_check_ended_with("TIMEOUT");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_check_that_ctest_calls_failed_failed() {
    a_check_ended_with("Failed");
}

/// A suite whose test `rope` fails from some commit on, and does something else for a while.
fn suite(meanwhile: &str) -> String {
    format!(
        "check() {{ [ -f fails-$1 ] && echo $1 FAIL || echo $1 PASS; }}\n\
         check norm; if [ -f off ]; then {meanwhile}; else check rope; fi"
    )
}

const FAILED: [&str; 2] = [PARITY, "metric = \"e.failed\"\nmax = 0"];

/// The suite does this in place of the test for a while.
fn does_not_run(meanwhile: &str) {
    let env = TestEnvironment::new();
    let steps = [("off", 5, Some(14)), ("fails-rope", 9, None)];
    let hunt = hunt(&env, &suite(meanwhile), FAILED, &steps);
    expect_candidate(&env, hunt, "fails-rope");
}

#[test]
fn a_test_that_does_not_run_for_a_while_did_not_pass() {
    does_not_run(":");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_test_that_is_skipped_for_a_while_did_not_pass() {
    does_not_run("echo rope SKIP");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_test_that_the_good_end_skips_did_not_pass_before_it_ran() {
    let env = TestEnvironment::new();
    let steps = [("off", 0, Some(14)), ("fails-rope", 9, None)];
    let hunt = hunt(&env, &suite("echo rope SKIP"), FAILED, &steps);
    expect_candidate(&env, hunt, "fails-rope");
}

#[test]
fn a_test_that_the_bad_end_does_not_run_is_told() {
    let env = TestEnvironment::new();
    let steps = [("fails-rope", 9, None), ("off", 14, None)];
    let hunt = hunt(&env, &suite(":"), FAILED, &steps).expect(4, "no-regression");
    hunt.output.says(&["did not run checks at the bad end that pass at the good end (rope)"]);
}

#[test]
fn a_new_test_that_fails_is_the_fault_of_its_commit() {
    let env = TestEnvironment::new();
    let steps = [("off", 0, Some(14)), ("fails-rope", 0, None)];
    let hunt = hunt(&env, &suite(":"), FAILED, &steps).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "no off");
}

#[test]
fn a_distance_does_not_need_checks_that_are_close_at_the_bad_end() {
    let engine = "d=1e-5; [ -f worse ] && d=1e-3; echo gelu max_diff=$d PASS\n\
                  [ -f off ] || echo rope max_diff=1e-6 PASS";
    let keys = [PARITY, "metric = \"e.max_diff\"\nmax_increase = 1e-4"];
    let env = TestEnvironment::new();
    let steps = [("off", 5, Some(14)), ("worse", 9, None)];
    let hunt = hunt(&env, engine, keys, &steps).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "worse");
}

#[test]
fn a_new_test_that_comes_back_may_have_been_broken_while_it_was_away() {
    let engine = "check() { [ -f fails-$1 ] && echo $1 FAIL || echo $1 PASS; }\n\
                  check norm; if [ -f rope ]; then check rope; fi";
    let mut commits = vec![("start", "0")];
    for step in [("rope", "1"), ("rope", ""), ("fails-rope", "1"), ("rope", "1")] {
        commits.extend(notes(4));
        commits.push(step);
    }
    commits.extend(notes(4));
    let env = TestEnvironment::new();
    let hunt = shell_engine::hunt(&env, engine, FAILED, &commits);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "fails-rope"), "{}", hunt.report["candidates"]);
}
