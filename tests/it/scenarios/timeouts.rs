//! Commits that always reach the time limit, in a history where runs of one commit differ.

use std::fs;

use crate::kit::TestEnvironment;
use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{NUMBER, hunt_by, put_engine, subjects};

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_that_always_times_out_is_run_twice_also_where_runs_differ() {
    let env = TestEnvironment::new();
    let [count, runs] = ["count", "runs"].map(|name| env.path(name).display().to_string());
    // Commits without the step show its value in about 30 % of their runs.
    put_engine(
        &env,
        &format!(
            "n=$(($(cat {count} 2>/dev/null || echo 51) + 1)); echo $n > {count}\n\
             cat number >> {runs}\n\
             [ -f hangs ] && sleep 30\n\
             v=7; [ -f x ] && v=10; [ -f m ] && v=8; [ -f y ] && v=10\n\
             [ $v = 7 ] && [ -f flaky ] && [ $(( (n * 7919 + 104729) % 101 )) -lt 30 ] && v=10\n\
             echo \"e = $v\""
        ),
    );
    for number in 0..25 {
        let (name, is_there) = match number {
            1 => ("flaky", true),
            6 => ("x", true),
            12 => ("hangs", true),
            13 => ("m", true),
            14 => ("hangs", false),
            19 => ("y", true),
            24 => ("flaky", false),
            _ => ("note", true),
        };
        let file = env.repo().join(name);
        if is_there {
            put(&file, b"");
        } else {
            fs::remove_file(file).unwrap();
        }
        put(&env.repo().join("number"), format!("{number}\n").as_bytes());
        commit(&env, name);
        if number == 0 {
            env.git(&["tag", "v1"]);
        }
    }
    let measure = format!("{NUMBER}\ntimeout = \"2s\"");
    let hunt = hunt_by(&env, [measure.as_str(), "metric = \"e\"\nmax_increase = 0.5"]);
    assert!(subjects(&hunt).iter().all(|name| ["x", "y"].contains(&name.as_str())));
    let lines = fs::read_to_string(runs).unwrap();
    let runs_of = |number: &str| lines.lines().filter(|line| *line == number).count();
    // While the hunt looks for the commit that takes a part of the step back, it runs each commit
    // that it meets until chance hardly explains the result.
    assert!(runs_of("14") >= 4, "{lines}");
    // `m` itself cannot be tested. A third run would not change that.
    assert_eq!(["12", "13"].map(runs_of), [2, 2], "{}", hunt.output.stderr);
}
