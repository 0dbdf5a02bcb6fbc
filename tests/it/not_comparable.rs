//! Commits whose output looks good or bad, but says nothing: a NaN that no pattern of digits
//! matches, a number with another unit, a test that did not run.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{PARITY, hunt_by, is_candidate, put_engine};
use crate::kit::{Hunt, TestEnvironment};

/// A hunt over a line of twenty commits. The engine is a shell script; `steps` says at which commit
/// a file appears and, if so, at which commit it goes away. Subjects are `FILE` and `no FILE`.
fn hunt(
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
fn expect_candidate(env: &TestEnvironment, hunt: Hunt, subject: &str) {
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(env, &hunt, subject), "{}", hunt.report["candidates"]);
}

const PPL: [&str; 2] =
    ["parser = \"regex\"\npattern = 'ppl = ([0-9.]+)'", "metric = \"e\"\nmax_increase = 0.05"];

#[test]
fn a_chunk_that_is_nan_is_the_runs_last_number() {
    let engine = "v=7.4; [ -f worse ] && v=8; [ -f nan ] && v=nan\n\
                  echo chunk 1 ppl = 7.1; echo chunk 2 ppl = $v";
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

/// A suite whose test `rope` fails from some commit on, and does something else for a while.
fn suite(meanwhile: &str) -> String {
    format!(
        "check() {{ [ -f fails-$1 ] && echo $1 FAIL || echo $1 PASS; }}\n\
         check norm; if [ -f off ]; then {meanwhile}; else check rope; fi"
    )
}

const FAILED: [&str; 2] = [PARITY, "metric = \"e.failed\"\nmax = 0"];

#[test]
fn a_test_that_does_not_run_for_a_while_did_not_pass() {
    for meanwhile in [":", "echo rope SKIP"] {
        let env = TestEnvironment::new();
        let steps = [("off", 5, Some(14)), ("fails-rope", 9, None)];
        let hunt = hunt(&env, &suite(meanwhile), FAILED, &steps);
        expect_candidate(&env, hunt, "fails-rope");
    }
}

#[test]
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
