//! `measure`.

use crate::kit::{Oracle, Snapshot, TestEnvironment, line};

#[test]
fn measure_numbers_its_runs_and_tells_stored_ones() {
    let env = TestEnvironment::new();
    line("7.0 7.5").build(&env);
    Oracle::new(&env).write(&env);
    let said = |args: &[&str]| {
        let output = env.run(args).expect(0).stdout;
        let times = regex::Regex::new(r"(wall_s|peak_rss_mib) [0-9.e-]+( ± [0-9.e-]+)?").unwrap();
        let stored = regex::Regex::new(r"of \d\d:\d\d\)").unwrap();
        stored.replace_all(&times.replace_all(&output, "$1 [N]"), "of [TIME])").into_owned()
    };
    insta::assert_snapshot!(said(&["measure", "HEAD"]), @r"
    run 1 of ppl
      ppl 7.5
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    ");
    insta::assert_snapshot!(said(&["measure", "HEAD", "--runs", "2"]), @r"
    run 1 of ppl  (stored result of [TIME])
      ppl 7.5
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    run 2 of ppl
      ppl 7.5
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    median of 2 runs of ppl ± noise
      ppl 7.5 ± 0
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    ");
}

#[test]
fn measure_shows_one_evaluation() {
    let env = TestEnvironment::new();
    line("g x b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    assert!(env.run(&["measure", "v1"]).expect(0).stdout.contains('7'));
    assert!(env.run(&["measure", "HEAD"]).expect(0).stdout.contains("7.5"));
    env.run(&["measure", "HEAD~1"]).expect(1).says(&["build"]);
    env.run(&["measure", "nowhere"]).expect(2).says(&["nowhere"]);
    before.assert_unchanged(&env);
    env.assert_no_survivors();
}
